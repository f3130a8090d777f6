//! What changes a chip for good is found, and ordinary options are left alone.

use super::*;

fn found(path: &str, text: &str) -> Vec<(bool, String)> {
    let path = ProjectPath::new(path).unwrap();
    let source = SourceText::new(&path, text);
    let rules = RULES.as_ref().expect("the table is right");
    let found = in_source(rules, &source, Some("esp32")).into_iter();
    found.map(|place| (place.is_sure, place.what)).collect()
}

#[track_caller]
fn stops(path: &str, texts: &[&str]) {
    let is_sure = |text: &&&str| !found(path, text).iter().any(|(is_sure, _)| *is_sure);
    let missed: Vec<_> = texts.iter().filter(is_sure).collect();
    assert!(missed.is_empty(), "{path}: {missed:#?}");
}

#[track_caller]
fn clean(path: &str, texts: &[&str]) {
    let all = texts.iter().map(|text| (text, found(path, text)));
    let wrong: Vec<_> = all.filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{path}: {wrong:#?}");
}

#[test]
fn addresses_of_the_controller_are_found_in_python() {
    let code = "from machine import mem32\nEF = 0x3FF5A000\nmem32[EF + 0x104] = 2\n";
    let wanted = "holds an address of the eFuse controller's registers";
    assert_eq!(found("boot.py", code), [(false, wanted.to_owned())]);
    clean("boot.py", &["mem32[0x3FF44004] = 1 << 2\n", "EF = 0x3FF5A000\n"]);
}

#[test]
fn configurations_that_burn_are_found() {
    for path in
        ["sdkconfig", "sdkconfig.defaults", "sdkconfig.defaults.esp32s3", "sdkconfig.ci.release"]
    {
        stops(
            path,
            &[
                "CONFIG_SECURE_FLASH_ENC_ENABLED=y",
                "  CONFIG_SECURE_BOOT=y  ",
                "CONFIG_SECURE_BOOT_V2_ENABLED=y",
                "CONFIG_SECURE_BOOT_ENABLE_AGGRESSIVE_KEY_REVOKE=y",
                "CONFIG_ESP32_DISABLE_BASIC_ROM_CONSOLE=y",
                "CONFIG_BOOTLOADER_APP_ANTI_ROLLBACK=y",
                "CONFIG_BOOTLOADER_APP_SECURE_VERSION=2",
                "CONFIG_SECURE_DISABLE_ROM_DL_MODE=y\r\n",
                "CONFIG_SECURE_ENABLE_SECURE_ROM_DL_MODE=y",
                "CONFIG_BOOT_ROM_LOG_ALWAYS_OFF=y",
                "CONFIG_NVS_SEC_HMAC_EFUSE_KEY_ID=0",
            ],
        );
        clean(
            path,
            &[
                "# CONFIG_SECURE_BOOT is not set",
                "CONFIG_SECURE_BOOT=n",
                "#CONFIG_SECURE_BOOT=y",
                "CONFIG_SECURE_BOOT_V2_RSA_SUPPORTED=y\nCONFIG_SECURE_ROM_DL_MODE_ENABLED=y",
                "CONFIG_NVS_SEC_HMAC_EFUSE_KEY_ID=-1",
                "CONFIG_BOOTLOADER_APP_SECURE_VERSION=0",
                "CONFIG_ESP_CONSOLE_USB_SERIAL_JTAG=y",
                "CONFIG_EFUSE_VIRTUAL=y",
                "CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE=y",
                "CONFIG_EFUSE_MAX_BLK_LEN=192",
                "CONFIG_NVS_ENCRYPTION=n",
            ],
        );
    }
    let all = found(
        "sdkconfig",
        "CONFIG_SECURE_FLASH_ENC_ENABLED=y\nCONFIG_SECURE_FLASH_ENCRYPTION_MODE_RELEASE=y\n",
    );
    assert_eq!(all[1].1, "enables flash encryption in release mode");
}

#[test]
fn options_are_found_wherever_they_are_set() {
    stops("platformio.ini", &["custom_sdkconfig =\n  CONFIG_SECURE_BOOT=y"]);
    stops(
        "CMakeLists.txt",
        &[
            "file(WRITE sdkconfig.defaults \"CONFIG_SECURE_BOOT=y\\n\")",
            "set(X \"-DCONFIG_SECURE_FLASH_ENC_ENABLED=y\")",
            "add_custom_target(burn COMMAND espefuse.py --port ${PORT} burn_efuse JTAG_DISABLE)",
            "execute_process(COMMAND ${PYTHON} -m espefuse --do-not-confirm burn-key BLOCK1 key.bin secure_boot_v2)",
            "execute_process(COMMAND idf.py efuse-burn JTAG_DISABLE)",
        ],
    );
    stops(
        "components/x/Kconfig.projbuild",
        &[
            "config MINE\n  bool\n  default y\n  select SECURE_FLASH_ENC_ENABLED\n",
            "config SECURE_BOOT\n  bool\n  default y\n",
            "config MINE\n  bool\n  imply SECURE_BOOT\n",
        ],
    );
    stops("tools/options.json", &["{\"CONFIG_SECURE_BOOT\": \"y\"}"]);
    stops(".github/build.yml", &["env:\n  CONFIG_SECURE_BOOT: y\n"]);
    clean("sdkconfig.defaults", &["CONFIG_SECURE_BOOT: y", "CONFIG_SECURE_BOOT y"]);
    clean("tools/list.sh", &["for name in CONFIG_SECURE_BOOT y; do echo $name; done"]);
    stops("main/include/conf.h", &["#define CONFIG_SECURE_BOOT 1"]);
    stops("Makefile", &["burn:\n\tespefuse.py burn_efuse JTAG_DISABLE 1"]);
    stops(
        "tools/go.sh",
        &[
            "espefuse set_flash_voltage 3.3V",
            "python -m espefuse \\\n  $ARGS",
            "E=espefuse.py; $E burn_key x",
        ],
    );
    stops(
        "tools/go.py",
        &[
            "subprocess.run(['espefuse.py', 'burn_efuse', 'X'])",
            "espefuse.main(args)",
            "ctypes.cdll.x.esp_efuse_write_key()",
        ],
    );
    stops(
        "main/esp_efuse_custom_table.csv",
        &["# name, block, start, count, comment\nSERIAL, EFUSE_BLK3, 0, 32, serial\n"],
    );
    clean(
        "tools/go.sh",
        &["espefuse.py summary", "# espefuse.py burn_efuse", "espefuse.py --port $P \\\n dump"],
    );
    clean(
        "README.md",
        &["Run `espefuse.py burn_efuse` never.", "CONFIG_SECURE_BOOT=y burns eFuses."],
    );
    clean("partitions.csv", &["nvs,data,nvs,0x9000,0x6000", "efuse_em, data, efuse, , 0x2000"]);
    clean(
        "main/CMakeLists.txt",
        &["idf_component_register(SRCS main.c PRIV_REQUIRES efuse bootloader_support)"],
    );
    clean("main/Kconfig.projbuild", &["config MINE\n  depends on !SECURE_BOOT\n  default n\n"]);
}

#[test]
fn code_that_burns_is_found_in_every_guise() {
    stops(
        "main/main.c",
        &[
            "esp_efuse_write_field_bit(ESP_EFUSE_DIS_PAD_JTAG);",
            "esp_efuse_batch_write_commit();",
            "esp_efuse_set_write_protect(EFUSE_BLK3);",
            "esp_efuse_set_key_dis_read(EFUSE_BLK_KEY0);",
            "esp_flash_encryption_set_release_mode();",
            "esp_efuse_update_secure_version(3);",
            "esp_efuse_utility_burn_chip();",
            "ets_efuse_program(2);",
            "REG_WRITE(EFUSE_CONF_REG, 0x5A5A);",
            "REG_WRITE(EFUSE_PGM_DATA0_REG, 1);",
            "SET_PERI_REG_MASK(EFUSE_CMD_REG, EFUSE_PGM_CMD);",
            "EFUSE.conf.op_code = 0x5a5a;",
            "EFUSE.pgm_data0.val = 1;",
            "#define LATER esp_efuse_write_block\nvoid f(void) { LATER(1, 2); }",
            "typedef int (*fn)(void); static const fn go = esp_efuse_batch_write_commit;",
            "#define CAT(a, b) a##b\nCAT(esp_efuse_write_, field_bit)(x);",
            "#define CAT(a, b) a##b\nCAT(esp_efuse_, write_key)(x);",
            "#define A esp_efuse_wri\n#define GO(x) A##x\nesp_efuse_wri##te_key(1);",
            "#define GO(x) esp_efuse_##x\n",
            "extern int go(void) __asm__(\"esp_efuse_batch_write_commit\");",
            "*(volatile uint32_t *)0x3FF5A104 = 2;",
            "REG_WRITE(0x3ff5a0fcUL, 0x5A5A);",
            "esp_ef\\\nuse_write_key(1);",
            "esp_ota_revoke_secure_boot_public_key(0);",
            "#if 1\nesp_efuse_write_key(1);\n#endif",
        ],
    );
    stops("src/main.rs", &["unsafe { esp_idf_sys::esp_efuse_write_field_bit(x) };"]);
    clean(
        "main/main.c",
        &[
            "uint8_t mac[6]; esp_efuse_mac_get_default(mac);",
            "esp_efuse_read_field_blob(ESP_EFUSE_MAC, mac, 48);",
            "esp_efuse_get_chip_ver(); esp_efuse_get_write_protect_of_digest_revoke(0);",
            "// esp_efuse_write_key(1);\n/* esp_efuse_burn() */",
            "#if 0\nesp_efuse_write_key(1);\n#endif",
            "ESP_LOGI(TAG, \"never call esp_efuse_write_key\");",
            "uint32_t v = REG_READ(EFUSE_BLK0_RDATA0_REG);",
            "uint32_t v = REG_READ(0x3FF5A000);",
            "if (esp_flash_encryption_enabled()) {} if (esp_secure_boot_enabled()) {}",
            "esp_ota_mark_app_valid_cancel_rollback();",
            "#include \"esp_efuse.h\"\n#include \"esp_efuse_table.h\"\nesp_efuse_desc_t d;",
            "#if CONFIG_SECURE_BOOT\nint a;\n#endif",
            "efuse_enable(POWER_SWITCH);",
            "uint32_t *gpio = (uint32_t *)0x3FF44004; *gpio = 1;",
        ],
    );
}
