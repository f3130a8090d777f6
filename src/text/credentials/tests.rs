//! Keys and passwords are found, and stand-ins are left alone.

use super::*;

fn lines(path: &str, text: &str) -> Vec<usize> {
    let found = secrets(path, text).into_iter();
    found.map(|secret| text[..secret.range.start].matches('\n').count() + 1).collect()
}

#[track_caller]
fn bad(path: &str, texts: &[&str]) {
    let missed: Vec<&&str> = texts.iter().filter(|text| secrets(path, text).is_empty()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for text in texts {
        for secret in secrets(path, text) {
            assert!(text.get(secret.range.clone()).is_some(), "{text}");
            assert!(!secret.what.contains("hunter"), "{secret:?}");
        }
    }
}

#[track_caller]
fn good(path: &str, texts: &[&str]) {
    let found = texts.iter().map(|text| (text, secrets(path, text)));
    let wrong: Vec<_> = found.filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_about_passwords_and_markers_of_keys_are_no_secrets() {
    good(
        "main/mq.c",
        &[
            "return e == BAD_USER ? \"bad user name or password\" : \"other reason\";",
            "const char *t = failed ? \"wrong \" \"password\" : \"network not found\";",
            "if (strstr(s, \"-----BEGIN EC PRIVATE KEY-----\")) { handlePrivateKeyMaterial(s); }",
            "#define OTA_SECRET \"CHANGE_ME_BEFORE_FLASHING\"",
            "#define API_KEY \"replace-with-your-key\"",
            "#define GIT_REVISION \"9f2c4be1d07a6358c1e4f0a97b2d865341fe09ac\"",
        ],
    );
    good(
        "tools/a.py",
        &[
            "p = os.path.join(\"logs\", \"violations\")",
            "join(\"logs\", \"old\")",
            "PASSWORD = \"test-password\"\nTOKEN = \"dummy-token\"\n",
        ],
    );
    good(
        "web/src/login.tsx",
        &[
            "<input type=\"password\" onInput={(e) => set({ ...state, password: e.currentTarget.value })} />",
        ],
    );
    good(
        "web/src/login.test.ts",
        &["expect(check({ user: \"a\", password: \"short\" })).toBe(false);"],
    );
    good(
        "tests/test_url.c",
        &["parse(\"mqtt://alice:s3cret@10.0.0.1\");", "#define TOKEN \"dummy-token-for-tests\""],
    );
    bad(
        "main/mq.c",
        &[
            "const char *t = { \"password\": \"Spaten77x\" };",
            "const char k[] = \"-----BEGIN EC PRIVATE KEY-----\\n\"\n    \"bWFkZSB1cCBmb3IgdGVzdA\\n\";",
            "bool ok = wifi.join(\"halle3\", \"Spaten77x\");",
        ],
    );
    bad("web/src/login.tsx", &["const password = \"Spaten77x\";"]);
    bad("tests/test_url.c", &["parse(\"mqtt://alice:Spaten77x@10.0.0.1\");"]);
}

#[test]
fn pages_names_and_tests_of_rules_are_no_secrets() {
    good(
        "main/page.cpp",
        &[
            "const char FORM[] = R\"html(<form onsubmit=\"send\"><input type=\"password\" name=\"pass\">\n<script>\nconst pass = e.target.pass.value;\n</script>)html\";",
            "const char LOGIN[] = R\"(<script>const password = form.elements[\"password\"].value;</script>)\";",
            "const char *const kTokenNames[] = {\"number\", \"word\", \"symbol\"};",
            "constexpr const char *kPasswordChars = \"abcdefghijklmnopqrstuvwxyz0123456789\";",
            "inline constexpr std::string_view kSecretMenu = \"service\";",
            "const char *ssid = \"Gartenhaus\";\nvoid f(void) { derive_psk(ssid, given, psk); }",
        ],
    );
    good(
        "test/test_relay/test_relay.cpp",
        &[
            "const char *const kBadPasswords[] = {\"\", \"1234567\", \"password\", \"admin\", \"letmein\"};",
            "TEST_ASSERT_FALSE(portal_password_ok(\"1234567\"));",
            "TEST_ASSERT_TRUE(portal_password_ok(\"garden shed 7\"));",
            "const char *password = \"12345678\";",
            "TEST_ASSERT_EQUAL_STRING(\"Basic dGVzdDp0ZXN0\", header(\"test\", \"test\"));",
            "#define FAKE_TOKEN \"TEST-ONLY-NOT-A-REAL-TOKEN-00000\"",
        ],
    );
    bad(
        "main/page.cpp",
        &[
            "const char LOGIN[] = R\"(<script>const password = \"Spaten77x\";</script>)\";",
            "const char *password = \"12345678\";",
            "const char *CODE = \"hunter2222\";\nvoid f(void) { set_password(CODE); }",
            "void f(void) { set_token(\"9f8e7d6c5b4a\"); }",
        ],
    );
    bad(
        "test/test_wifi.c",
        &["#define WIFI_PASS \"Spaten&Harke77\"", "check(\"Basic aGl2ZTpUcjB1YjRkb3I3eA==\");"],
    );
    good("platformio.ini", &["; built from 4b825dc642cb6eb9a060e54bf8d69288fbee4904, see CHANGES"]);
}

#[test]
fn literals_in_sources_are_found_in_every_guise() {
    bad(
        "main/wifi.c",
        &[
            "#define WIFI_PASS \"hunter2222\"",
            "#define EXAMPLE_ESP_WIFI_PASS      \"hunter2222\"",
            "const char *password = \"hunter2222\";",
            "static const char wifiPassword[] = \"hunter2222\";",
            "wifi_config_t c = { .sta = { .ssid = \"home\", .password = \"hunter2222\" } };",
            "#define P \"hun\" \"ter2222\"\nwifi_config_t c = { .sta.password = P };",
            "const char *pw = \"hun\"\n  \"ter2222\";",
            "#define A \"hun\"\n#define B \"ter2222\"\n#define WIFI_PASSWORD A B",
            "char pass[] = {'h','u','n','t','e','r','2','2',0};",
            "char password[] = {0x68, 0x75, 0x6e, 0x74, 0x65, 0x72, 0x32, 0x00};",
            "const uint8_t aes_key[16] = {0x8f,0x3a,0x91,0xd4,0x55,0xe0,0x12,0xb7,0x6c,0x29,0xfe,0x43,0x08,0xa1,0xcd,0x7b};",
            "strcpy((char *)cfg.sta.password, \"hunter2222\");",
            "strlcpy((char *)cfg.sta.password, HOME, 8);\n#define HOME \"hunter2222\"",
            "nvs_set_str(h, \"wifi_pass\", \"hunter2222\");",
            "esp_mqtt_client_config_t m = { .credentials.authentication.password = \"hunter2222\" };",
            "// wifi password: hunter2222",
            "/* the password is \"hunter\" */",
            "// const char *pass = \"hunter2222\";",
            "const char *json = \"{\\\"password\\\":\\\"hunter2222\\\"}\";",
            "const char *url = \"mqtt://device:hunter2222@broker.lan\";",
            "const char *h = \"Authorization: Bearer 9a8b7c6d5e4f3a2b1c0d9e8f\";",
            "const char *k = \"-----BEGIN RSA \"\n \"PRIVATE KEY-----\\nMIIE\";",
            "const char *x = \"kX9vQ2mZ7LpR4tYw8BnC1dFgH5jK3sUa6eVxTqMzPy0=\";",
            "std::string token{\"9f8e7d6c5b4a\"};",
            "struct cred credentials[] = {{\"home\", \"hunter2222\"}};",
            "#define MQTT_PW \"correct horse battery staple\"",
            "#define WIFI_PASS L\"hunter2222\"",
            "#if 1\n#define WIFI_\\\nPASS \"hunter2222\"\n#endif",
        ],
    );
    bad(
        "main/app.ino",
        &[
            "void setup() { WiFi.begin(\"home\", \"hunter2222\"); }",
            "WiFi.softAP(ssid, \"hunter2222\");",
            "String pass = \"hun\" + \"ter2222\";",
            "client.connect(\"id\", \"user\", \"hunter2222\");",
        ],
    );
    bad(
        "src/main.rs",
        &[
            "const PASSWORD: &str = \"hunter2222\";",
            "let c = Config { password: \"hunter2222\".into() };",
        ],
    );
    bad(
        "tools/up.py",
        &["API_KEY = 'a8f5f167f44f4964e6c998dee827110c'", "d = {\"password\": \"hunter2222\"}"],
    );
}

#[test]
fn sources_without_secrets_are_clean() {
    good(
        "main/wifi.c",
        &[
            "#define WIFI_PASS CONFIG_ESP_WIFI_PASSWORD",
            "#define WIFI_PASS \"your-password\"",
            "#define EXAMPLE_ESP_WIFI_PASS \"mypassword\"",
            ".password = \"\",",
            ".password = EXAMPLE_ESP_WIFI_PASS,",
            "ESP_LOGI(TAG, \"connected to ap SSID:%s password:%s\", ssid, pass);",
            "nvs_get_str(h, \"wifi_pass\", buf, &len);",
            "#define NVS_KEY_PASSWORD \"wifi_pass\"",
            "#define KEY_TOKEN \"mqtt_token\"",
            "printf(\"enter the password\");",
            "cJSON *token = cJSON_GetObjectItem(root, \"status\");",
            "// password: the passphrase of the network, 8-63 characters",
            "/* @param password  pointer to a buffer of 64-byte */",
            "// The token is stored in NVS under wifi_pass.",
            "const char *token = strtok(line, \", \");",
            "if (key == 'a') {}",
            "static const uint8_t crc_table[16] = {0x00,0x31,0x62,0x53,0xc4,0xf5,0xa6,0x97,0xb9,0x88,0xdb,0xea,0x7d,0x4c,0x1f,0x2e};",
            "static const uint8_t test_key[16] = {0x2b,0x7e,0x15,0x16,0x28,0xae,0xd2,0xa6,0xab,0xf7,0x15,0x88,0x09,0xcf,0x4f,0x3c};",
            "static const uint8_t key[16] = {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15};",
            "#define SERVICE_UUID \"4fafc201-1fb5-459e-8fcc-c5c9c331914b\"",
            "const char *fw_sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\";",
            "const char *url = \"https://example.com:8883/a\";",
            "extern const uint8_t server_cert_pem_start[] asm(\"_binary_ca_cert_pem_start\");",
            "static const char *cert = \"-----BEGIN CERTIFICATE-----\\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\";",
            "const char *alphabet = \"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\";",
            "Serial.begin(115200, SERIAL_8N1, 16, 17);",
            "httpd_query_key_value(query, \"password\", pass, sizeof(pass));",
            "if (strcmp(key, \"humidity\") == 0) {}",
            "lcd.begin(16, 2);",
            "esp_netif_set_hostname(netif, \"water-tank\");",
            "uint8_t mac[6] = {0x24, 0x0a, 0xc4, 0x00, 0x01, 0x10};",
            "char *pass = getenv(\"WIFI_PASS\");",
            "wifi.authmode = WIFI_AUTH_WPA2_PSK;",
            "pinMode(pass_led, OUTPUT);",
        ],
    );
    good(
        "tools/x.py",
        &["token = os.environ['API_TOKEN']", "key = 'humidity'", "password = input('Password: ')"],
    );
}

#[test]
fn settings_hold_secrets_and_stand_ins() {
    bad(
        "sdkconfig.defaults",
        &["CONFIG_ESP_WIFI_PASSWORD=\"hunter2222\"", "CONFIG_MQTT_PASSWORD=\"hunter2222\""],
    );
    bad(
        "main/CMakeLists.txt",
        &[
            "target_compile_definitions(${COMPONENT_LIB} PRIVATE WIFI_PASS=\"hunter2222\")",
            "add_compile_options(-DWIFI_PASS=\\\"hunter2222\\\")",
            "set(WIFI_PASSWORD \"hunter2222\")",
        ],
    );
    bad(
        "platformio.ini",
        &[
            "build_flags = -DWIFI_PASS='\"hunter2222\"'",
            "upload_flags = --auth=hunter2222\npassword = hunter2222",
        ],
    );
    bad("secrets.yaml", &["wifi_password: hunter2222", "api:\n  token: 'k3jh4k5jh345'"]);
    bad(".env", &["WIFI_PASSWORD=hunter2222", "export API_KEY=abc123def456"]);
    bad("nvs.csv", &["wifi_pass,data,string,hunter2222"]);
    bad("data/config.json", &["{\"ssid\":\"home\",\"password\":\"hunter2222\"}"]);
    bad(
        "main/Kconfig.projbuild",
        &["config ESP_WIFI_PASSWORD\n  string \"Password\"\n  default \"hunter2222\"\n"],
    );
    bad("README.md", &["The WiFi password is `hunter2222`."]);
    good(
        "sdkconfig",
        &[
            "CONFIG_ESP_WIFI_PASSWORD=\"mypassword\"",
            "CONFIG_ESP_WIFI_PASSWORD=\"\"",
            "CONFIG_SECURE_BOOT_SIGNING_KEY=\"secure_boot_signing_key.pem\"",
            "CONFIG_MBEDTLS_PSK_MODES=y",
            "CONFIG_MBEDTLS_KEY_EXCHANGE_RSA=y",
            "CONFIG_ESP_WIFI_ENABLE_WPA3_SAE=y\nCONFIG_WPA_PASSPHRASE_MAX=64",
        ],
    );
    good(
        "dependencies.lock",
        &["component_hash: 28c6509a727ef74925b372ed404772aeedf11cce10b78c3f69b3c66799095e2d"],
    );
    good(
        "main/Kconfig.projbuild",
        &[
            "config ESP_WIFI_PASSWORD\n  string \"WiFi Password\"\n  default \"mypassword\"\n  help\n    Password for the example to use.\n",
        ],
    );
    good(".github/workflows/b.yml", &["token: ${{ secrets.GITHUB_TOKEN }}", "password: $PASS"]);
    good(
        "main/CMakeLists.txt",
        &[
            "idf_component_register(SRCS main.c keypad.c REQUIRES esp_wifi)",
            "set(KEY_FILE \"${CMAKE_CURRENT_LIST_DIR}/server.key\")",
        ],
    );
    good("README.md", &["Set the WiFi password in menuconfig.", "The token is required."]);
    good("partitions.csv", &["nvs_key,data,nvs_keys,,0x1000"]);
}

#[test]
fn keys_of_services_are_found_anywhere() {
    assert!(lines("main/a.c", "f(\"AKIAIOSFODNN7EXAMPLE\");\n").is_empty(), "it is in the manual");
    assert!(lines("test/a.cpp", "parseCreds(\"id=abc\", c);\n").is_empty(), "it asks");
    let key = format!("sk-ant-{}", "a1B2".repeat(8));
    let text = format!("int a;\nx = \"{key}\";\n-----BEGIN EC PRIVATE KEY-----\nbWFkZSB1cCBmb3I\n");
    assert_eq!(lines("main/a.c", &text), [2, 3]);
    bad(
        "notes.txt",
        &[
            "AKIAIOSFODNN7EXAMPLA",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "glpat-abcdefghij0123456789",
            "https://user:hunter2222@example.com/x",
            "123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA",
            "MIIEpAIBAAKCAQEA7x2mZ7LpR4tYw8BnC1dFgH5jK3sUa6eVxTqMzPy0",
        ],
    );
    good(
        "notes.txt",
        &[
            "-----BEGIN PUBLIC KEY-----",
            "https://user:password@example.com/x",
            "see http://a.b:80/c@d",
        ],
    );
}

#[test]
fn calls_and_comparisons_give_secrets_away() {
    let bytes = "0x1f, 0x93, 0x2a, 0x77, 0xc4, 0x05, 0x5e, 0xb1, 0x68, 0xd2, 0x3b, 0x90, 0xee, \
                 0x41, 0x7c, 0x0a";
    for code in [
        "bool ok(const char *given) { return strcmp(given, \"Giesskanne#42\") == 0; }",
        "bool ok() { return given == \"Giesskanne#42\"; }",
        "void f() { wifi_join(\"halle3\", \"Spaten&Harke77\"); }",
        "void f() { portal_login(\"anna\", \"sonnenblume\"); }",
        "void f() { net_connect(\"halle3\", \"Spaten77\"); }",
        "void f() { esp_aes_setkey(&ctx, (const uint8_t *)\"k8Jq2mVt9wLzR4xP\", 128); }",
        "void f() { mbedtls_md_hmac_starts(&ctx, (const unsigned char *)\"k8Jq2mVt9wLz\", 12); }",
        &format!("static const uint8_t lmk[] = {{ {bytes} }};"),
        &format!("static const uint8_t k[16] = {{ {bytes} }};"),
    ] {
        assert_eq!(secrets("main/a.cpp", code).len(), 1, "{code}");
    }
    for code in [
        "#define CMD_PASSWORD \"AT+PASSWORD\"\n#define NVS_PASSWORD \"sta.pswd\"",
        "static const char *const TOPIC_TOKEN = \"gh/token/refresh\";",
        "#define URL_PASSWORD_RESET \"https://example.com/password/reset\"",
        "#define EVENT_TOKEN_EXPIRED \"TOKEN_EXPIRED\"",
        "void f() { if (strcmp(cmd, \"led-on2\") == 0) go(); }",
        "void f() { mqtt_connect(\"broker.example.com\", \"pump\"); }",
        "void f() { json_set_key(obj, \"temperature\"); ESP_LOGI(TAG, \"joined\"); }",
        "void f() { wifi_join(\"myssid\", \"your-password\"); }",
    ] {
        assert_eq!(secrets("main/a.cpp", code), [], "{code}");
    }
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let code =
        format!("import hashlib\n\n\nA = 1\nB = 2\nV = [\n    (b'x',\n     '{digest}'),\n]\n");
    assert_eq!(secrets("test/test_image.py", &code), []);
    assert_eq!(secrets("tools/image.py", &code).len(), 1);
}

#[test]
fn secrets_are_found_behind_neutral_names_casts_and_in_numbers() {
    let reported = |text: &str| {
        let found = secrets("main/a.cpp", text);
        found.into_iter().map(|secret| secret.what).collect::<Vec<_>>()
    };
    for text in [
        "static const char fallback[] = { 'N', 'u', 's', 's', '4', '2', 0 };\n\
         void f(void) {\n memcpy(config.sta.password, fallback, sizeof(fallback));\n}\n",
        "void f(void) {\n const uint8_t *p = (const uint8_t *)\"\\x4c\\x69ndenhof12\";\n\
         memcpy(config.sta.password, p, 11);\n}\n",
        "const uint8_t kDoorKey[16] = {0x9e, 0x37, 0xc4, 0x1b, 0x5f, 0xa2, 0x68, 0xd0, 0x73, 0x0c, \
         0xe9, 0x84, 0x2d, 0xb6, 0x41, 0xfa};\n",
        "void f(void) { NimBLEDevice::setSecurityPasskey(482913); }\n",
        "uint32_t passkey = 482913;\n",
    ] {
        assert_eq!(reported(text).len(), 1, "{text}: {:?}", reported(text));
    }
    for text in [
        "static const char digits[] = { '0', '1', '2', '3', '4', 0 };\nputs(digits);\n",
        "const uint8_t kPublicKey[16] = {0x9e, 0x37, 0xc4, 0x1b, 0x5f, 0xa2, 0x68, 0xd0, 0x73, 0x0c, \
         0xe9, 0x84, 0x2d, 0xb6, 0x41, 0xfa};\n",
        "void f(void) { setSecurityPasskey(passkey()); if (passkey == 482913) return; }\n",
        "const char *p = (const char *)\"plain text\"; puts(p);\n",
    ] {
        assert_eq!(reported(text), [] as [String; 0], "{text}");
    }
}

#[test]
fn an_array_of_rust_is_read_with_its_type() {
    let bytes = "0x8b, 0x1f, 0xd2, 0x47, 0xc9, 0x60, 0x3e, 0xa5, 0x14, 0xf8, 0x72, 0xbd, 0x09, 0xe6, 0x5c, 0x33";
    let all = [
        format!("const APP_KEY: [u8; 16] = [\n    {bytes},\n];\n"),
        format!("const APP_KEY: &[u8] = &[{bytes}];\n"),
        format!("pub static APP_KEY: &[u8; 16] = &[{bytes}];\npub fn join() {{}}\n"),
        format!("let app_key: Vec<u8> = vec![{bytes}];\n"),
        format!("use sha2::Sha256;\n\nconst FLEET_KEY: [u8; 16] = [\n    {bytes},\n];\n"),
        format!("let app_key = [{bytes}];\nclient.publish(app_key);\n"),
    ];
    bad("src/a.rs", &all.each_ref().map(String::as_str));
    let all = [
        format!("const DEV_EUI: [u8; 16] = [{bytes}];\n"),
        format!("const TABLE: &[u8] = &[{bytes}];\n"),
        format!("// The public key of the server.\nconst SERVER_KEY: [u8; 16] = [{bytes}];\n"),
        "const APP_KEY: [u8; 16] = [0; 16];\n".to_owned(),
    ];
    good("src/a.rs", &all.each_ref().map(String::as_str));
}

#[test]
fn what_stands_in_for_a_variable_and_what_becomes_a_key_is_a_secret() {
    bad(
        "src/a.rs",
        &[
            "const fn psk() -> &'static str {\n    match option_env!(\"WIFI_PSK\") {\n        Some(s) => s,\n        None => \"Kartoffel!Acker_1974\",\n    }\n}\n",
            "const P: &str = option_env!(\"MQTT_PASSWORD\").unwrap_or(\"Kartoffel!Acker_1974\");\n",
        ],
    );
    good(
        "src/a.rs",
        &[
            "match option_env!(\"WIFI_SSID\") {\n    Some(s) => s,\n    None => \"barn-north\",\n}\n",
            "match option_env!(\"WIFI_PSK\") {\n    Some(s) => s,\n    None => \"\",\n}\n",
            "match found {\n    Some(s) => s,\n    None => \"Kartoffel!Acker_1974\",\n}\n",
        ],
    );
    bad("src/a.cpp", &["const char *wifi_pswd = \"Kartoffel!Acker_1974\";\n"]);
    bad("sdkconfig.defaults", &["CONFIG_WIFI_PSWD=\"Kartoffel!Acker_1974\"\n"]);
    let peer = "const char *PEER_PUBLIC_KEY = \"uSnsZewat0JuUuJaWhI4C1fy1inZLEmeAsOoRc9mHGw=\";\n";
    good("src/a.cpp", &[peer]);
    bad("src/a.cpp", &[&peer.replace("PUBLIC", "PRIVATE")]);
    let node = "external_components:\n  - source:\n      type: git\n      NAME: 6ccaccdb251bce79793a67c9e2ed829af48d9d59\n";
    good("node.yaml", &[&node.replace("NAME", "ref")]);
    bad("node.yaml", &[&node.replace("NAME", "psk")]);
    good("src/a.cpp", &["LittleFS.begin(false, \"/littlefs\", 10, kLabel);\n"]);
    let bytes = "0x9e, 0x41, 0x07, 0xd3, 0x5c, 0xb8, 0x2a, 0xf6, 0x13, 0x88, 0xe0, 0x6b, 0x94, 0x3d, 0xc7, 0x52";
    let array = format!("static const uint8_t k_initial[16] = {{ {bytes} }};\n");
    let with = |code: &str| format!("{array}void f(void) {{ {code} }}\n");
    for code in ["memcpy(s_key, k_initial, 16);", "mbedtls_aes_setkey_enc(&ctx, k_initial, 128);"] {
        bad("main/a.c", &[&with(code)]);
    }
    for code in
        ["memcpy(s_icon, k_initial, 16);", "draw(k_initial, 16);", "other(key); go(k_initial);"]
    {
        good("main/a.c", &[&with(code)]);
    }
}

#[test]
fn a_pair_of_a_name_and_a_password_in_a_comment_is_a_secret() {
    bad(
        "main/main.c",
        &[
            "// the wifi is HomeNet / blaubeere77\n",
            "/* login admin:Tr0ub4dor&3 */\n",
            "// default credentials root/toor1234\n",
            "// ssid=Home psk=correcthorse\n",
            "// user: jan, password: qwertz\n",
            "// connect with \"HomeNet\" and \"s3cretpw!\"\n",
            "// mot de passe: Soleil22\n",
            "// Zugangsdaten: admin / Schnee-88\n",
        ],
    );
    good(
        "main/main.c",
        &[
            "// password must be at least 8 characters\n",
            "// user/password pair as in RFC7617\n",
            "// the wifi is on channel 6 / bandwidth20\n",
            "// user: name, password: see menuconfig\n",
            "// ssid: %s, psk: %s\n",
            "// network 192.168.10.0/255.255.255.0\n",
            "// login: POST /api/v2/session\n",
            "// wifi: WPA2/WPA3-transition\n",
            "// ssid=<your network> password=<your password>\n",
            "// account for drift of sensor2/sensor3\n",
            "// connect with \"esp32-c3\" and \"esp32-s3\"\n",
        ],
    );
}

#[test]
fn calls_that_are_left_out_and_logins_give_secrets_away() {
    for (path, text) in [
        ("a.ino", "void f() {\n  // WiFi.begin(\"Mooshof\", \"Birke77!lang\");\n}\n"),
        ("a.c", "/* old: esp_http_client_set_password(c, \"Birke77!lang\"); */\n"),
        ("a.c", "#if 0\nWiFi.begin(\"Mooshof\", \"Birke77!lang\");\n#endif\n"),
        ("NOTES.md", "Then `WiFi.begin(\"Mooshof\", \"Birke77!lang\")` is called.\n"),
        (".netrc", "machine h.example\n  login u\n  password Birke77lang\n"),
        (".netrc", "machine h.example login u password Birke77lang\n"),
        ("platformio.ini", "upload_flags =\n  --auth=birkenwald\n"),
        ("platformio.ini", "upload_flags = --auth \"Birke77lang\"\n"),
        ("sdkconfig.defaults", "CONFIG_HUB_CRED=\"h3:Birke77lang\"\n"),
    ] {
        assert_eq!(secrets(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("a.ino", "// WiFi.begin(\"your-ssid\", \"your-password\");\n"),
        ("a.c", "// Call http_get(\"/api/state\") before log_init(\"main\", LEVEL).\n"),
        ("README.md", "Use `WiFi.begin(ssid, \"<password>\")`.\n"),
        (".netrc", "machine h.example login u password ${HUB_PASSWORD}\n"),
        ("platformio.ini", "upload_flags =\n  --auth=${sysenv.OTA_PASSWORD}\n  --port=3232\n"),
        ("deploy.sh", "http --auth digest https://h.example\nmosquitto --password \"$PASS\"\n"),
        ("sdkconfig", "CONFIG_HUB_CRED_TYPE=\"certificate1\"\n"),
    ] {
        assert_eq!(secrets(path, text), [], "{path}: {text}");
    }
}

#[test]
fn what_a_function_hands_on_as_a_password_is_one() {
    let joins = "bool attempt(const char *name, const char *key, unsigned long ms) {\n  \
                 WiFi.begin(name, key);\n  return up(ms);\n}\n";
    let with = |call: &str| format!("{joins}bool f() {{\n  return {call};\n}}\n");
    assert_eq!(lines("a.cpp", &with("attempt(\"Mooshof-5G\", \"Birke77!lang\", 9)")), [6]);
    good(
        "a.cpp",
        &[
            &with("attempt(name, pass, 9)"),
            &with("attempt(\"your-ssid\", \"your-password\", 9)"),
            &with("other(\"Mooshof-5G\", \"Birke77!lang\", 9)"),
        ],
    );
}
