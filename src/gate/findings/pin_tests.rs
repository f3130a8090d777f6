//! Pins that must not be used are found, and free ones are left alone.

use super::*;
use crate::text::c_tokens::{Style, tokens};

fn found(chip: &str, path: &str, text: &str) -> Vec<(FindingLevel, String)> {
    let path = ProjectPath::new(path).unwrap();
    let source = SourceText::new(&path, text);
    let chip = Some(chip).filter(|chip| !chip.is_empty());
    in_source(&source, chip, &OuterConstants::default())
        .into_iter()
        .map(|found| (found.level, found.text))
        .collect()
}

#[test]
fn a_file_for_another_chip_is_judged_by_that_chip() {
    let levels = |path: &str, text: &str| -> Vec<FindingLevel> {
        let all = found("esp32", path, text).into_iter().map(|(level, _)| level);
        all.filter(|level| *level > FindingLevel::Note).collect()
    };
    use FindingLevel::Stop;
    assert_eq!(levels("sdkconfig.defaults.esp32s3", "CONFIG_LED_GPIO=9\n"), []);
    assert_eq!(levels("sdkconfig.defaults.esp32s3", "CONFIG_LED_GPIO=27\n"), [Stop]);
    assert_eq!(levels("sdkconfig.defaults", "CONFIG_LED_GPIO=9\n"), [Stop]);
    let text = "CONFIG_IDF_TARGET=\"esp32c6\"\nCONFIG_LED_GPIO=6\nCONFIG_FAN_GPIO=26\n";
    assert_eq!(levels("sdkconfig.bench", text), [Stop]);
    let text = "[env:a]\nboard = esp32dev\nbuild_flags = -DLED_PIN=7\n\
                [env:b]\nboard = esp32-s3-devkitc-1\nbuild_flags = -DLED_PIN=8 -D TFT_DC=9\n";
    assert_eq!(levels("platformio.ini", text), [Stop]);
    let text = "[env:a]\nboard = esp32dev\nbuild_flags =\n  -D TFT_DC=9\n  -D TFT_RST=-1\n";
    assert_eq!(levels("platformio.ini", text), [Stop]);
}

#[test]
fn rows_of_a_file_that_others_take_in_are_read() {
    let levels = |path: &str, text: &str| -> Vec<FindingLevel> {
        found("esp32", path, text).into_iter().map(|(level, _)| level).collect()
    };
    let rows = "// name, pin\nOUTPUT(led, GPIO_NUM_4)\nOUTPUT(buzzer, GPIO_NUM_9)\n";
    assert_eq!(levels("main/outputs.def", rows), [FindingLevel::Stop]);
    assert_eq!(levels("main/outputs.def", &rows.replace("NUM_9", "NUM_19")), []);
    let compared = "_Static_assert(PIN_SDA != GPIO_NUM_9 && PIN_SCL != GPIO_NUM_9);\n";
    assert_eq!(levels("main/outputs.c", compared), []);
}

#[test]
fn the_pins_of_a_loop_are_read() {
    let sweep = |head: &str, first: &str| {
        format!(
            "void park(void) {{\n    for ({head}) {{\n        {first}\n        gpio_config_t io = {{\n            \
                 .pin_bit_mask = 1ULL << pin,\n            .mode = GPIO_MODE_INPUT,\n        }};\n        \
                 gpio_config(&io);\n    }}\n}}\n"
        )
    };
    let stops = |text: &str| -> usize {
        let all = found("esp32", "main/a.c", text);
        all.iter().filter(|(level, _)| *level == FindingLevel::Stop).count()
    };
    for head in ["int pin = 4; pin < 20; pin++", "int pin = 0; pin <= 39; ++pin"] {
        assert!(stops(&sweep(head, "")) > 0, "{head}");
    }
    assert_eq!(stops(&sweep("int pin = 12; pin < 20; pin++", "")), 0);
    assert!(stops(&sweep("int pin = 4; pin <= 6; pin++", "")) > 0, "the last one counts");
    assert_eq!(stops(&sweep("int pin = 4; pin < 6; pin++", "")), 0);
    let skipped = "if (pin >= 6 && pin <= 11) continue;";
    assert_eq!(stops(&sweep("int pin = 4; pin < 20; pin++", skipped)), 0);
    let named = "if (is_flash_pin(pin)) continue;";
    assert_eq!(stops(&sweep("int pin = 4; pin < 20; pin++", named)), 0);
    let helper = format!(
        "bool taken(int pin) {{ return pin > 5 && pin < 12; }}\n{}",
        sweep("int pin = 4; pin < 20; pin++", "if (taken(pin)) continue;")
    );
    assert_eq!(stops(&helper), 0);
    let index = "const int pins[] = {4, 5};\nvoid f(void) {\n    for (int i = 0; i < 20; i++) {\n        \
                 gpio_set_level(pins[i], 0);\n    }\n}\n";
    assert_eq!(stops(index), 0);
}

#[track_caller]
fn expect(level: FindingLevel, cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (chip, text, says) in cases {
        let all = found(chip, "main/a.c", text);
        if !all.iter().any(|(found, reported)| *found == level && reported.contains(says)) {
            wrong.push((chip, text, all));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const PINS_THAT_MUST_NOT_BE_USED_A_1: &[(&str, &str, &str)] = &[
    ("esp32", "gpio_set_direction(GPIO_NUM_9, GPIO_MODE_OUTPUT);", "uses GPIO9, a flash pin"),
    ("esp32", "gpio_set_direction(6, GPIO_MODE_INPUT);", "GPIO6"),
    (
        "esp32",
        "template <uint8_t Pin, bool Low = true> class Relay { void begin() { pinMode(Pin, OUTPUT); } };\nRelay<11, false> heater;",
        "GPIO11",
    ),
    (
        "esp32",
        "#define OUTPUTS(X) \\\n X(LED, 4) \\\n X(BUZZER, 11)\n#define AS_ENUM(n, p) PIN_##n = p,\nenum pins { OUTPUTS(AS_ENUM) };",
        "GPIO11",
    ),
    ("esp32", "#define OUTPUTS(X) X(LED, GPIO_NUM_4) X(BUZZER, GPIO_NUM_7)\n", "GPIO7"),
    ("esp32", "OUTPUT(LED, GPIO_NUM_4)\nOUTPUT(BUZZER, GPIO_NUM_7)\n", "GPIO7"),
    (
        "esp32",
        "#define OUTPUTS(ROW) ROW(A, 4) ROW(B, 8)\n#define INIT(n, p) gpio_set_direction(p, GPIO_MODE_OUTPUT);\nvoid f(void) { OUTPUTS(INIT) }",
        "GPIO8",
    ),
    (
        "esp32",
        "template <gpio_num_t P> struct Lamp { void on(); };\nLamp<GPIO_NUM_8> lamp;",
        "GPIO8",
    ),
    (
        "esp32",
        "template <int P> void blink() { digitalWrite(P, HIGH); }\nvoid f() { blink<7>(); }",
        "GPIO7",
    ),
    (
        "esp32",
        "enum class Io : int { A = 5, B = 9 };\nconstexpr gpio_num_t num(Io io) { return static_cast<gpio_num_t>(io); }\nvoid f() { gpio_reset_pin(num(Io::B)); }",
        "GPIO9",
    ),
    ("esp32", "#define LED 9\nvoid f(void) { gpio_set_level(LED, 1); }", "GPIO9"),
    ("esp32", "#define A 9\n#define B A\nvoid f(void) { gpio_reset_pin(B); }", "GPIO9"),
    ("esp32", "static const int k = 11; void f(void) { gpio_reset_pin(k); }", "GPIO11"),
    ("esp32", "enum { A = 5, B }; void f(void) { gpio_reset_pin((gpio_num_t)B); }", "GPIO6"),
    (
        "esp32",
        "gpio_config_t c = { .pin_bit_mask = 1ULL << 7, .mode = GPIO_MODE_OUTPUT };",
        "GPIO7",
    ),
    ("esp32", "gpio_config_t c = { .pin_bit_mask = (1ULL<<GPIO_NUM_4) | BIT64(8) };", "GPIO8"),
    (
        "esp32",
        "#define SEL ((1ULL<<4) | (1ULL<<10))\ngpio_config_t c; void f(void) { c.pin_bit_mask = SEL; }",
        "GPIO10",
    ),
    ("esp32", "i2c_config_t c = { .sda_io_num = 6, .scl_io_num = 22 };", "GPIO6"),
    ("esp32", "bus_config_t c = { .data_gpio_nums = {4, 7, 13} };", "GPIO7"),
    (
        "esp32",
        "i2s_std_config_t c = { .clk_cfg = { 1 }, .gpio_cfg = { .inv = { .x = 1 }, .ws = 9 } };",
        "GPIO9",
    ),
    ("esp32", "sdmmc_slot_config_t s; void f(void) { s.width = 1; s.clk = 6; }", "GPIO6"),
    ("esp32", "void f(sdmmc_slot_config_t *slot) { slot->d1 = 8; }", "GPIO8"),
    ("esp32", "bus_config_t c = { .data_gpio_nums = {[0] = 4, [1] = 8} };", "GPIO8"),
    ("esp32", "void f(void) { bus.data_gpio_nums[0] = 4; bus.data_gpio_nums[1] = 11; }", "GPIO11"),
    ("esp32", "void f(void) { REG_WRITE(GPIO_PIN9_REG, 4); }", "GPIO9"),
    ("esp32", "void f(void) { GPIO.out_w1ts = (1 << 4) | (1 << 10); }", "GPIO10"),
    ("esp32", "void f(void) { GPIO.pin[8].int_type = 1; }", "GPIO8"),
    ("esp32", "void f(void) { *(volatile uint32_t *)0x3FF44008 = 1 << 6; }", "GPIO6"),
    ("esp32", "#define OUT GPIO_OUT_W1TS_REG\nvoid f(void) { REG_WRITE(OUT, BIT(7)); }", "GPIO7"),
    ("esp32", "void f(void) { PIN_FUNC_SELECT(PERIPHS_IO_MUX_SD_CMD_U, 2); }", "GPIO11"),
    ("esp32", "spi_bus_config_t c = { .mosi_io_num = 34 };", "drives GPIO34, which is input-only"),
    ("esp32", "#define PIN_DIR 35", "drives GPIO35, which is input-only"),
    ("esp32", "gpio_set_direction(GPIO_NUM_35, GPIO_MODE_OUTPUT);", "GPIO35"),
    (
        "esp32",
        "gpio_config_t c = { .pin_bit_mask = 1ULL << 36, .mode = GPIO_MODE_OUTPUT };",
        "GPIO36",
    ),
    (
        "esp32",
        "gpio_config_t c = {};\nvoid f(void) { c.mode = GPIO_MODE_OUTPUT; c.pin_bit_mask = BIT64(39); gpio_config(&c); }",
        "GPIO39",
    ),
    ("esp32", "void setup() { pinMode(34, OUTPUT); }", "GPIO34"),
    ("esp32", "Servo flap;\nvoid setup() { flap.attach(36); }", "drives GPIO36"),
    ("esp32", "Adafruit_NeoPixel ring(12, 7, NEO_GRB);", "GPIO7, a flash pin"),
    ("esp32", "#define TFT_MOSI 23\n#define TFT_SCLK 35\n", "drives GPIO35"),
    ("esp32s3", "#define LCD_SCLK 12\n#define LCD_CS 29\n", "GPIO29, a flash pin"),
    ("esp32", "uart_set_pin(UART_NUM_1, 34, 35, -1, -1);", "GPIO34"),
    ("esp32", "gpio_reset_pin(24);", "does not have"),
    ("esp32", "ledc_channel_config_t c = { .gpio_num = 41 };", "GPIO41"),
    ("esp32", "#define LED_PIN 8", "GPIO8"),
    ("esp32", "static const gpio_num_t RELAY = GPIO_NUM_7;", "GPIO7"),
    ("esp32", "const int ledPins[] = {2, 4, 6};", "GPIO6"),
    ("esp32s3", "gpio_reset_pin(GPIO_NUM_30);", "flash pin of the ESP32-S3"),
    ("esp32c3", "gpio_reset_pin(14);", "flash pin of the ESP32-C3"),
    ("esp32c3", "gpio_reset_pin(25);", "does not have"),
    ("esp32", "Wire.begin(6, 7);", "GPIO6"),
];

#[test]
fn pins_that_must_not_be_used_are_found() {
    expect(FindingLevel::Stop, PINS_THAT_MUST_NOT_BE_USED_A_1);
    expect(
        FindingLevel::Warning,
        &[
            ("esp32", "gpio_set_direction(12, GPIO_MODE_OUTPUT);", "strapping"),
            ("esp32", "pinMode(0, OUTPUT);", "strapping"),
            ("esp32c3", "gpio_set_level(9, 1);", "strapping"),
            ("esp32s3", "gpio_set_level(45, 1);", "strapping"),
            ("esp32s3", "gpio_set_direction(19, GPIO_MODE_OUTPUT);", "USB"),
            ("esp32c3", "i2c_config_t c = { .sda_io_num = 18 };", "USB"),
            ("esp32", "pinMode(36, INPUT_PULLUP);", "pulls"),
            ("", "gpio_reset_pin(9);", "the default chip"),
        ],
    );
}

#[test]
fn ordinary_pins_raise_no_alarm() {
    for (chip, text) in [
        (
            "esp32",
            "#define BLINK_GPIO 2\nvoid f(void) { gpio_reset_pin(BLINK_GPIO); gpio_set_direction(BLINK_GPIO, GPIO_MODE_OUTPUT); }",
        ),
        ("esp32", "i2c_config_t c = { .sda_io_num = 21, .scl_io_num = 22 };"),
        (
            "esp32",
            "gpio_config_t c = { .pin_bit_mask = 1ULL << 0, .mode = GPIO_MODE_INPUT, .pull_up_en = 1 };",
        ),
        ("esp32", "gpio_config_t c = { .pin_bit_mask = 1ULL << 34, .mode = GPIO_MODE_INPUT };"),
        ("esp32", "int v = analogRead(34); digitalRead(35);"),
        (
            "esp32",
            "spi_bus_config_t c = { .miso_io_num = 19, .mosi_io_num = 23, .sclk_io_num = 18, .quadwp_io_num = -1 };",
        ),
        ("esp32", "Serial2.begin(9600, SERIAL_8N1, 16, 17);"),
        ("esp32", "uart_set_pin(1, 17, 16, UART_PIN_NO_CHANGE, UART_PIN_NO_CHANGE);"),
        ("esp32", "gpio_set_level(LED, 6); vTaskDelay(7); int a[9]; foo(8);"),
        ("esp32", "void f(void) { if (GPIO.out == (1 << 6)) { go(); } }"),
        ("esp32", "void f(void) { while (GPIO.out != (1 << 6)) { } go(GPIO.out >= (1 << 7)); }"),
        ("esp32", "void f(void) { GPIO.out_w1ts = 0xffffffff; GPIO.pin[4].int_type = 9; }"),
        ("esp32", "void f(void) { GPIO.out_w1ts = (1 << 4) | BIT(5); other = 1 << 6; }"),
        ("esp32", "#define LED_COUNT 6\n#define PIN_COUNT 8\n#define RETRIES 9"),
        ("esp32", "// gpio_reset_pin(9);\n/* pinMode(6, OUTPUT) */"),
        (
            "esp32",
            "#if CONFIG_IDF_TARGET_ESP32C3\n#define LED_PIN 8\n#else\n#define LED_PIN 2\n#endif\nvoid f(void) { gpio_reset_pin(LED_PIN); }",
        ),
        ("esp32c3", "gpio_set_level(8, 1); gpio_reset_pin(4);"),
        ("esp32s3", "gpio_set_level(48, 1); gpio_set_level(35, 1);"),
        ("esp32c3", "gpio_config_t c = { .pin_bit_mask = BIT64(9), .mode = GPIO_MODE_INPUT };"),
        ("", "gpio_reset_pin(GPIO_NUM_12); gpio_reset_pin(48); pinMode(34, OUTPUT);"),
        ("esp32", "struct point p = { .x = 6, .pin = 7 };"),
        ("esp32", "adc_channel_t c = ADC_CHANNEL_6; x.channel = 7;"),
        (
            "esp32",
            "sdmmc_slot_config_t s = { .clk = GPIO_NUM_14, .cmd = GPIO_NUM_15, .d0 = GPIO_NUM_2 };",
        ),
    ] {
        let all = found(chip, "main/a.c", text);
        assert!(
            all.iter().all(|(level, _)| *level == FindingLevel::Note),
            "{chip} {text}: {all:?}"
        );
    }
}

#[test]
fn configurations_and_rust_name_pins_too() {
    let stops = |path: &str, text: &str| {
        found("esp32", path, text).iter().any(|(level, _)| *level == FindingLevel::Stop)
    };
    assert!(stops("sdkconfig.defaults", "CONFIG_BLINK_GPIO=6\n"));
    assert!(stops("src/main.rs", "let led = Output::new(peripherals.GPIO6, Level::Low);"));
    assert!(!stops(
        "sdkconfig",
        "CONFIG_D0WD_PSRAM_CS_IO=10\nCONFIG_SOC_GPIO_PIN_COUNT=40\nCONFIG_BLINK_GPIO=5\n"
    ));
    assert!(!stops("src/main.rs", "let led = Output::new(peripherals.GPIO5, Level::Low);"));
}

#[test]
fn pins_are_followed_through_names() {
    let set = "gpio_set_direction";
    for (code, wanted) in [
        (format!("static const int leds[] = {{ 4, 13 }};\nvoid f(void) {{ for (int i = 0; i < 2; i++) {{ {set}(leds[i], GPIO_MODE_OUTPUT); }} }}\n"), 13),
        (format!("enum {{ P = 25, Q = 34, }};\nstatic const int o[] = {{ P, Q }};\nvoid f(void) {{ gpio_reset_pin(o[0]); {set}(o[1], GPIO_MODE_OUTPUT); }}\n"), 34),
        (format!("static void out(int pin)\n{{\n {set}(pin, GPIO_MODE_OUTPUT);\n}}\nvoid f(void) {{ out(4); out(15); }}\n"), 15),
        (format!("typedef struct {{ int pin; int ch; }} m_t;\nstatic const m_t m[] = {{ {{ 4, 0 }}, {{ 17, 1 }}, }};\nvoid f(void) {{ {set}(m[1].pin, GPIO_MODE_OUTPUT); }}\n"), 17),
        (format!("typedef struct {{ int pin; int ch; }} m_t;\nstatic const m_t m[] = {{ {{ .pin = 4 }}, {{ .pin = 17, .ch = 1 }}, }};\nvoid f(const m_t *c) {{ int p = c->pin; {set}(p, GPIO_MODE_OUTPUT); }}\n"), 17),
        ("struct row { const char *name; gpio_num_t io; };\nstatic struct row rows[] = { { \"a\", 4 }, { \"b\", 31 } };\n".to_owned(), 31),
        (format!("constexpr std::array<gpio_num_t, 2> kRows = {{ GPIO_NUM_4, GPIO_NUM_30 }};\nvoid f() {{ for (auto r : kRows) {{ {set}(r, GPIO_MODE_OUTPUT); }} }}\n"), 30),
        (format!("class Led {{ public: explicit Led(gpio_num_t pin) : pin_(pin) {{ {set}(pin_, GPIO_MODE_OUTPUT); }} gpio_num_t pin_; }};\nstatic Led led(GPIO_NUM_29);\n"), 29),
        ("static const motor_t ms[] = { { .pin = 9 } };\nvoid f(void) { ledc_channel_config_t ch = { .gpio_num = ms[0].pin, .duty = 0 }; }\n".to_owned(), 9),
        ("static int a = 11;\nvoid f(void) { gpio_config_t c = { .pin_bit_mask = 1ULL << a, .mode = GPIO_MODE_OUTPUT }; }\n".to_owned(), 11),
    ] {
        let used = pin_uses::find(&tokens(&code, Style::C), "esp32c3", &OuterConstants::default().values);
        assert!(used.iter().any(|used| used.number == wanted), "{wanted}: {code}{used:?}");
    }
    for code in [
        "static const int leds[] = { 4, 13 };\nint f(int i) { return leds[i]; }\n".to_owned(),
        format!("static void out(int pin, int level) {{ {set}(pin, GPIO_MODE_OUTPUT); gpio_set_level(pin, level); }}\nvoid f(void) {{ out(4, 13); }}\n"),
        "typedef struct { int pin; int ch; } m_t;\nstatic const m_t m[] = { { 4, 13 } };\nvoid f(void) { gpio_reset_pin(m[0].pin); }\n".to_owned(),
        format!("void g(void) {{ int n = 13; use(n); }}\nvoid f(void) {{ int n = 4; {set}(n, GPIO_MODE_OUTPUT); }}\n"),
    ] {
        let used = pin_uses::find(&tokens(&code, Style::C), "esp32c3", &OuterConstants::default().values);
        assert!(used.iter().all(|used| used.number != 13), "{code}{used:?}");
    }
}

#[test]
fn a_default_of_an_option_is_judged_at_its_line() {
    let text = "config PUMP_GPIO\n    int \"Pump\"\n    default 4 if IDF_TARGET_ESP32C3\n    \
                default 7\n";
    for (name, chip, levels) in [
        ("main/Kconfig.projbuild", "esp32", Vec::from([FindingLevel::Stop])),
        ("components/pump/Kconfig", "esp32", Vec::from([FindingLevel::Stop])),
        ("main/Kconfig.projbuild", "esp32c3", Vec::from([FindingLevel::Note])),
    ] {
        let found = found(chip, name, text);
        let reported: Vec<FindingLevel> = found.iter().map(|(level, _)| *level).collect();
        assert_eq!(reported, levels, "{name} {chip}: {found:?}");
    }
}

/// What is found in a file of a project with these others.
fn in_project(files: &[(&str, &str)], path: &str, text: &str) -> Vec<(FindingLevel, String)> {
    let read = |wanted: &str| {
        let found = files.iter().find(|(path, _)| *path == wanted);
        found.map(|(_, text)| (*text).to_owned())
    };
    let path = ProjectPath::new(path).unwrap();
    let outer = OuterConstants::of(&path, text, read);
    let found = in_source(&SourceText::new(&path, text), Some("esp32s3"), &outer);
    found.into_iter().map(|found| (found.level, found.text)).collect()
}

#[test]
fn constants_of_other_files_are_followed() {
    const USE: &str = "#include \"board.h\"\nvoid f(void) { gpio_reset_pin(RELAY); }\n";
    let flash = [(FindingLevel::Stop, "uses GPIO30, a flash pin of the ESP32-S3".to_owned())];
    for files in [
        &[("main/board.h", "#define RELAY 30\n")] as &[(&str, &str)],
        &[("main/include/board.h", "enum { FAN = 29, RELAY };\n")],
        &[("include/board.h", "#include \"rev.h\"\n"), ("include/rev.h", "#define RELAY 30\n")],
        &[("platformio.ini", "[env:a]\nbuild_flags =\n  -DRELAY=30\n")],
        &[("main/CMakeLists.txt", "target_compile_definitions(x PRIVATE RELAY=30)\n")],
        &[
            ("main/board.h", "#define RELAY CONFIG_RELAY\n"),
            ("sdkconfig.defaults", "CONFIG_RELAY=30\n"),
        ],
        &[
            ("main/board.h", "#define RELAY CONFIG_RELAY\n"),
            ("main/Kconfig.projbuild", "config RELAY\n  int \"x\"\n  default 30\n"),
        ],
    ] {
        assert_eq!(in_project(files, "main/a.c", USE), flash, "{files:?}");
    }
    for files in [
        &[("main/board.h", "#define RELAY 4\n"), ("platformio.ini", "x = -DFAN=30\n")]
            as &[(&str, &str)],
        &[("other/board.h", "#define RELAY 30\n")],
        &[("main/board.h", "#include \"board.h\"\n")],
    ] {
        assert_eq!(in_project(files, "main/a.c", USE), [], "{files:?}");
    }
}

#[test]
fn pins_of_octal_memory_are_taken_where_the_project_has_it() {
    const USE: &str = "void f(void) { gpio_reset_pin(GPIO_NUM_35); }\n";
    let level = |text: &str| in_project(&[("sdkconfig.defaults", text)], "main/a.c", USE)[0].0;
    assert_eq!(level("CONFIG_SPIRAM_MODE_OCT=y\n"), FindingLevel::Stop);
    assert_eq!(level("CONFIG_SPIRAM_MODE_QUAD=y\n"), FindingLevel::Note);
    let board = |text: &str| in_project(&[("sketch.yaml", text)], "main/a.c", USE)[0].0;
    assert_eq!(board("default_fqbn: esp32:esp32:esp32s3:PSRAM=opi\n"), FindingLevel::Stop);
    assert_eq!(board("default_fqbn: esp32:esp32:esp32s3:FlashMode=opi\n"), FindingLevel::Stop);
    assert_eq!(board("default_fqbn: esp32:esp32:esp32s3:PSRAM=disabled\n"), FindingLevel::Note);
    assert_eq!(board("# esp32:esp32:esp32s3:PSRAM=opi\n"), FindingLevel::Note);
    let node = |mode: &str| {
        let text = format!("psram:\n  mode: {mode}\n  speed: 80MHz\n\ni2c:\n  sda: GPIO35\n");
        in_project(&[], "node.yaml", &text)[0].0
    };
    assert_eq!((node("octal"), node("quad")), (FindingLevel::Stop, FindingLevel::Note));
}

#[test]
fn pins_of_a_port_expander_are_not_those_of_the_chip() {
    let rows = "struct S { const char *n; uint8_t out; };\n\
                const S ALL[] = {{\"a\", 6}, {\"b\", 11}};\n";
    let with = |call: &str| {
        let code =
            format!("{rows}void setup() {{ for (const S &s : ALL) {call}(s.out, OUTPUT); }}\n");
        found("esp32", "src/a.cpp", &code)
    };
    assert_eq!(with("expander.pinMode"), []);
    assert_eq!(with("pinMode").len(), 2);
}

#[test]
fn pins_of_a_bus_are_driven_low_and_no_address_is_a_pin() {
    let input_only = "drives GPIO34, which is input-only";
    expect(FindingLevel::Stop, &[("esp32", "Wire.begin(34, 35);", input_only)]);
    assert!(found("esp32", "a.ino", "Wire.begin(8);").is_empty());
    let usual = found("esp32c3", "a.ino", "Wire.begin(8, 9);");
    assert!(usual.iter().all(|(level, _)| *level == FindingLevel::Note), "{usual:?}");
    expect(
        FindingLevel::Warning,
        &[("esp32c3", "for (int pin : {3, 10, 18, 19}) pinMode(pin, OUTPUT);", "USB")],
    );
}

#[test]
fn a_contact_on_a_pin_that_starts_the_boot_loader_is_told_and_a_button_is_usual() {
    let level = |name: &str| {
        let text = format!(
            "#define {name} GPIO_NUM_9\nvoid f(void) {{\n    gpio_config_t io = {{\n        .pin_bit_mask = 1ULL << {name},\n        \
             .mode = GPIO_MODE_INPUT,\n        .pull_up_en = GPIO_PULLUP_ENABLE,\n    }};\n    gpio_config(&io);\n}}\n"
        );
        found("esp32h2", "main/a.c", &text).into_iter().map(|(level, _)| level).max()
    };
    assert_eq!(level("DOOR_GPIO"), Some(FindingLevel::Warning));
    assert_eq!(level("BUTTON_GPIO"), Some(FindingLevel::Note));
}
