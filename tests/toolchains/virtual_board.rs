//! Compiles and runs real small projects on the virtual board.

use std::sync::Arc;
use std::time::Duration;

use crate::board_bench::{Bench, HELLO};
use firmhand::model::{BuildOutcome, FlashRegion, Memory, NvsPlan, Severity, UserError};
use firmhand::toolchain::nvs::{self, EntryChange, Planned, Rewritten};

#[tokio::test(flavor = "multi_thread")]
async fn hello_is_built_flashed_and_heard() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    let report = bench.build().await;
    assert_eq!(
        (report.outcome, report.diagnostics),
        (BuildOutcome::Passed, vec![]),
        "{}",
        bench.log()
    );
    let mut port = bench.flash().await;
    let heard = port.until("hello from the board").await;
    assert!(heard.contains("rst:0x1 (POWERON_RESET)"), "{heard}");
    assert!(heard.contains("virtual board: a simulated esp32"), "{heard}");
    assert!(heard.contains("\u{1b}[0;32mI ("), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scan_finds_both_devices_and_reads_a_plausible_temperature() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/scan.c"))]);
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    let heard = port.until("scan done").await;
    let found: Vec<_> = heard.lines().filter_map(|line| line.split("found 0x").nth(1)).collect();
    assert_eq!(found.len(), 2, "{heard}");
    assert!(found[0].starts_with("3c") && found[1].starts_with("76"), "{heard}");
    assert!(heard.contains("chip id 0x60"), "{heard}");
    let centidegrees: i32 = crate::board_bench::number_after(&heard, "temperature ");
    assert!((2100..2500).contains(&centidegrees), "{heard}");
    assert!(heard.contains("nobody: ESP_ERR_INVALID_STATE"), "{heard}");
}

#[tokio::test]
async fn a_missing_include_gives_the_compilers_error() {
    let source = "#include \"esp_log.h\"\n\nvoid app_main(void)\n{\n    \
                  i2c_master_bus_handle_t bus = NULL;\n    vTaskDelay(1);\n    (void)bus;\n}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Failed);
    let errors: Vec<_> = report
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| (found.file.as_deref(), found.line, found.message.as_str()))
        .collect();
    assert!(
        errors[0].0 == Some("main/main.c")
            && errors[0].1 == Some(5)
            && errors[0].2.contains("i2c_master_bus_handle_t"),
        "{errors:?}"
    );
    assert!(errors.iter().any(|e| e.1 == Some(6) && e.2.contains("vTaskDelay")), "{errors:?}");
    let log = bench.log();
    assert!(log.contains("FAILED: esp-idf/main/CMakeFiles/__idf_main.dir/main.c.o"), "{log}");
    assert!(log.ends_with("ninja: build stopped: subcommand failed.\n"), "{log}");
}

#[tokio::test]
async fn headers_outside_of_the_subset_say_so_at_the_include() {
    let source = "#include <stdio.h>\n#include \"esp_wifi.h\"\nvoid app_main(void) {}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    let report = bench.build().await;
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("main/main.c"), Some(2)));
    assert!(first.message.contains("the virtual board does not have Wi-Fi"));

    bench.write("main/main.c", "#include \"no_such.h\"\nvoid app_main(void) {}\n");
    let report = bench.build().await;
    assert!(report.diagnostics[0].hint.contains("neither the include folders"), "{report:?}");
}

#[tokio::test]
async fn requirements_decide_which_headers_are_seen() {
    let cmake = "idf_component_register(SRCS main.c REQUIRES esp_driver_gpio)\n";
    let source = "#include \"driver/gpio.h\"\n#include \"esp_timer.h\"\nvoid app_main(void) {}\n";
    let bench = Bench::new(&[("main/CMakeLists.txt", cmake), ("main/main.c", source)]);
    let report = bench.build().await;
    let first = &report.diagnostics[0];
    assert_eq!((first.line, first.message.contains("esp_timer.h")), (Some(2), true));
    assert!(first.hint.contains("add esp_timer to REQUIRES or PRIV_REQUIRES"), "{first:?}");

    bench.write("main/CMakeLists.txt", "\nidf_component_register(SRCS main.c REQUIRES oled)\n");
    let report = bench.build().await;
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("main/CMakeLists.txt"), Some(2)));
    assert_eq!(
        first.message,
        "Failed to resolve component 'oled' required by component 'main': unknown name."
    );
}

#[tokio::test]
async fn only_what_changed_is_compiled_again() {
    let files = [
        ("main/CMakeLists.txt", "idf_component_register(SRCS main.c a.c INCLUDE_DIRS .)\n"),
        ("main/main.c", "#include \"a.h\"\nvoid app_main(void) { a(); }\n"),
        ("main/a.c", "#include \"a.h\"\nint a(void) { return A; }\n"),
        ("main/a.h", "#define A 1\nint a(void);\n"),
    ];
    let bench = Bench::new(&files);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    bench.build().await;
    assert!(bench.log().contains("ninja: no work to do."), "{}", bench.log());

    bench.write("main/a.c", "#include \"a.h\"\nint a(void) { return A + 1; }\n");
    bench.build().await;
    let steps = bench.steps();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].starts_with("[1/2] Building C object") && steps[0].ends_with("a.c.o"));

    bench.write("main/a.h", "#define A 2\nint a(void);\n");
    bench.build().await;
    assert_eq!(bench.steps().len(), 3, "{:?}", bench.steps());
}

#[tokio::test]
async fn an_undefined_function_is_placed_at_its_call() {
    let source = "void display_init(void);\nvoid app_main(void)\n{\n    display_init();\n}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Failed);
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("main/main.c"), Some(4)), "{report:?}");
    assert!(first.message.contains("undefined reference to `display_init'"));
}

#[tokio::test(flavor = "multi_thread")]
async fn panics_have_the_chips_format_and_real_addresses() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/panics.c"))]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    let heard = port.until("stays halted").await;
    let expected = [
        "abort() was called at PC 0x",
        "assert failed: app_main main.c:",
        "(ESP_ERR_NOT_FOUND) at 0x",
        "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.",
        "Guru Meditation Error: Core  0 panic'ed (InstrFetchProhibited). Exception was unhandled.",
        "***ERROR*** A stack overflow in task main has been detected.",
    ];
    let mut rest = heard.as_str();
    for text in expected {
        let at = rest.find(text).unwrap_or_else(|| panic!("no `{text}` in:\n{rest}"));
        rest = &rest[at + text.len()..];
    }
    assert_eq!(heard.matches("\nBacktrace: 0x").count(), 6, "{heard}");
    assert_eq!(heard.matches("Rebooting...").count(), 6, "{heard}");
    assert_eq!(heard.matches("rst:0xc (SW_CPU_RESET)").count(), 5, "{heard}");
    assert!(heard.contains("EXCVADDR: 0x00000010"), "{heard}");
    let at = heard.find("(LoadProhibited)").unwrap();
    let counters = crate::board_bench::backtrace(&heard[at..]);
    let Some(places) = bench.resolve(&counters) else { return };
    assert!(places[0].starts_with("read_sensor ") && places[0].ends_with("main.c:9"), "{places:?}");
    assert!(places[1].starts_with("app_main "), "{places:?}");
}

#[tokio::test]
async fn a_build_that_hangs_is_ended_with_everything_it_started() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    // The child is known by its time, as its number is another one outside of the sandbox.
    let child = format!("sleep 300.{}", std::process::id());
    let bench = bench.with_compiler_script(&format!("#!/bin/sh\n{child} &\nwait\n"));
    let is_running = || crate::board_bench::is_running(&child);
    let (report, ()) = tokio::join!(
        bench.build_within(Duration::from_secs(3)),
        crate::board_bench::wait_until("the compiler's child runs", is_running),
    );
    assert_eq!(report.outcome, BuildOutcome::TimedOut);
    crate::board_bench::wait_until("the compiler's child is gone", || !is_running()).await;
}

#[tokio::test]
async fn a_build_can_be_cancelled() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    let bench = bench.with_compiler_script("#!/bin/sh\nexec sleep 300\n");
    let cancel = bench.cancel.clone();
    let (report, ()) = tokio::join!(bench.build(), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    assert_eq!(report.outcome, BuildOutcome::Cancelled);
}

#[tokio::test]
async fn without_a_compiler_the_person_is_told_what_to_install() {
    let missing = UserError::new("cannot build", "there is no C compiler", "install one");
    let bench = Bench::new(&[("main/main.c", HELLO)]).with_compiler(Err(missing.clone()));
    assert_eq!(bench.build().await.outcome, BuildOutcome::NotRun(missing));
}

#[tokio::test]
async fn output_never_leaves_the_project() {
    let object = "build/esp-idf/main/CMakeFiles/__idf_main.dir/main.c.o";
    let folders = ["build", "build/config", "build/esp-idf/main", "build/virtual", "build/other"];
    let files = ["build/config/sdkconfig.h", "build/config/project_name.c.o", "build/hello.elf"];
    let files = files
        .map(str::to_owned)
        .into_iter()
        .chain(["", ".d", ".cmd"].map(|ending| format!("{object}{ending}")));
    let folders = folders.map(|place| (place.to_owned(), ""));
    for (place, target) in folders.into_iter().chain(files.map(|place| (place, "precious"))) {
        let bench = Bench::new(&[("main/main.c", HELLO)]);
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("precious"), "precious").unwrap();
        std::fs::create_dir_all(bench.path(&place).parent().unwrap()).unwrap();
        let target = elsewhere.path().join(target);
        std::os::unix::fs::symlink(target, bench.path(&place)).unwrap();
        let outcome = bench.build().await.outcome;
        let BuildOutcome::NotRun(error) = outcome else { panic!("{place}: it was run") };
        assert!(error.why.contains(&format!("`{place}` is a symbolic link")), "{place}: {error}");
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1, "{place}");
        let precious = std::fs::read_to_string(elsewhere.path().join("precious")).unwrap();
        assert_eq!(precious, "precious", "{place}");
    }
}

#[tokio::test]
async fn another_name_of_a_file_outside_is_not_written_through() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    let elsewhere = tempfile::tempdir_in(bench.path("..")).unwrap();
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let object = "build/esp-idf/main/CMakeFiles/__idf_main.dir/main.c.o";
    let places = ["build/config/sdkconfig.h", object, "build/hello.elf"];
    let names: Vec<_> = places.iter().filter(|place| bench.path(place).exists()).collect();
    assert!(names.len() >= 2, "{names:?}");
    for (number, place) in names.iter().enumerate() {
        let precious = elsewhere.path().join(number.to_string());
        std::fs::write(&precious, "precious").unwrap();
        std::fs::remove_file(bench.path(place)).unwrap();
        std::fs::hard_link(&precious, bench.path(place)).unwrap();
    }
    bench.write("main/main.c", &format!("{HELLO}\n"));
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    for (number, name) in names.iter().enumerate() {
        let content = std::fs::read(elsewhere.path().join(number.to_string())).unwrap();
        assert_eq!(content, b"precious", "{name}");
    }
}

#[tokio::test]
async fn what_never_ends_is_refused_by_name() {
    for name in ["sdkconfig", "sdkconfig.defaults", "CMakeLists.txt", "main/CMakeLists.txt"] {
        for kind in ["pipe", "zero", "long"] {
            let bench = Bench::new(&[("main/main.c", HELLO)]);
            let file = bench.path(name);
            std::fs::remove_file(&file).ok();
            match kind {
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
                    assert!(made.success());
                }
                "zero" => std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
                _ => std::fs::File::create(&file).unwrap().set_len(3 << 30).unwrap(),
            }
            let started = std::time::Instant::now();
            let outcome = bench.build_within(Duration::from_secs(60)).await.outcome;
            assert!(started.elapsed() < Duration::from_secs(20), "{name} {kind}");
            let told = format!("{outcome:?} {}", bench.log());
            let why = match kind {
                "pipe" => "named pipe",
                "zero" => "a device",
                _ => "3221225472 bytes",
            };
            let is_told = told.contains(why) && told.contains(name);
            assert!(is_told && outcome != BuildOutcome::Passed, "{name} {kind}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_waits_for_its_reader_and_loses_nothing() {
    let source = "#include <stdio.h>\nvoid app_main(void)\n{\n    \
                  for (int i = 0; i < 20000; i++) printf(\"line %d\\n\", i);\n    puts(\"the end\");\n}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    let heard = port.until("the end").await;
    let lines: Vec<_> = heard.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 20_000);
    assert_eq!(lines[19_999], "line 19999");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_stays_when_the_firmware_dies_and_is_flashed_again() {
    let source = "#include <stdlib.h>\n#include <stdio.h>\nvoid app_main(void)\n{\n    \
                  puts(\"going\");\n    exit(3);\n}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    let heard = port.until("the firmware has ended").await;
    assert!(heard.contains("going"), "{heard}");
    bench.write("main/main.c", HELLO);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let again = bench.flash().await;
    assert_eq!(again.path, port.path);
    port.until("hello from the board").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nvs_outlives_a_restart_and_tasks_talk_through_queues() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/kernel.c"))]);
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{}", bench.log());
    let heard = bench.flash().await.until("boots 2").await;
    for text in ["sum 45", "mutex ok", "timer 3", "event 3", "late 0", "notified 7", "reset 3"] {
        assert!(heard.contains(text), "no `{text}` in {heard}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn erasing_forgets_the_settings_or_everything() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/kernel.c"))]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    port.until("boots 2").await;
    port.forget();
    bench.erase(Some("nvs")).await.unwrap();
    // It counts from the start again; the third boot would be told otherwise.
    let heard = port.until("boots 2").await;
    assert!(heard.contains("sum 45"), "{heard}");
    let error = bench.erase(Some("phy_init")).await.unwrap_err();
    assert!(error.why.contains("phy_init") && !error.fix.is_empty(), "{error:?}");
    bench.erase(None).await.unwrap();
    assert!(bench.memory().is_empty(), "{:?}", bench.memory());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_is_what_the_board_holds() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/kernel.c"))]);
    assert_eq!(bench.read(0x9000, 0x6000).await.unwrap(), vec![0xff; 0x6000]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    bench.flash().await.until("boots 2").await;
    // The settings are a partition as ESP-IDF writes it: a page in use, and the rest erased.
    let settings = bench.read(0x9000, 0x6000).await.unwrap();
    assert_eq!(settings[..9], [0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xfe]);
    assert!(settings.windows(6).any(|part| part == b"boots\0"));
    assert!(settings[0x1000..].iter().all(|byte| *byte == 0xff));
    assert_eq!(bench.read(0x9040, 0x20).await.unwrap(), settings[0x40..0x60]);
    let program = std::fs::read(bench.path("build/bench.elf")).unwrap();
    let held = bench.read(0x1_0000, 0x10_0000).await.unwrap();
    assert!(held.starts_with(&program), "not the program that was loaded");
    assert!(held[program.len()..].iter().all(|byte| *byte == 0xff));
    for (offset, bytes) in [(0x8000, 0xc00), (0, 0x40_0000), (0xe000, 0x2000), (0x10_f000, 0x2000)]
    {
        let error = bench.read(offset, bytes).await.unwrap_err();
        assert!(error.why.contains("`factory` (0x10000 – 0x110000)"), "{error:?}");
        assert!(!error.fix.is_empty(), "{error:?}");
    }
    bench.erase(Some("factory")).await.unwrap();
    assert_eq!(bench.read(0x1_0000, 0x1000).await.unwrap(), vec![0xff; 0x1000]);
    assert_eq!(bench.read(0x9000, 0x6000).await.unwrap(), settings);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_firmware_reads_what_was_written_into_its_settings() {
    let bench = Bench::new(&[("main/main.c", include_str!("board_bench/settings.c"))]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let mut port = bench.flash().await;
    let heard = port.until("settings told").await;
    assert!(heard.contains("wifi: ESP_ERR_NVS_NOT_FOUND"), "{heard}");
    port.forget();
    // What ESP-IDF's own generator has made, with one entry changed and one removed.
    let generated = include_bytes!("../data/nvs/settings.bin");
    let wish = |namespace: &str, key: &str, value: Option<nvs::StoredValue>| EntryChange {
        namespace: namespace.into(),
        key: key.into(),
        value,
    };
    let value = Some(nvs::value("string", "another network").unwrap());
    let wishes = vec![wish("wifi", "ssid", value), wish("wifi", "channel", None)];
    let Planned { base, image, edits, space } = nvs::plan(generated, wishes).unwrap();
    let (board, region) =
        (bench.plan().board, FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 });
    let plan = NvsPlan { board, region, base, image, edits, space };
    let Rewritten::Image(image) = nvs::rewrite(&plan, generated) else { panic!("not written") };
    let written = image.clone();
    bench.rewrite(Arc::new(move |_| Some(written.clone()))).await.unwrap();
    let heard = port.until("settings told").await;
    for told in [
        "ssid another network",
        "channel ESP_ERR_NVS_NOT_FOUND",
        "big -5000000000",
        "blob 9000 bytes, 1147092 in all",
        "long 3900 characters",
    ] {
        assert!(heard.contains(told), "no `{told}` in {heard}");
    }
    // What the firmware adds leaves the rest as it was, and reads as before.
    let held = bench.read(0x9000, 0x6000).await.unwrap();
    let wish = wish("app", "told", None);
    let planned = nvs::plan(&held, vec![wish]).unwrap();
    assert_eq!(planned.edits[0].before.as_ref().unwrap().shown, "1");
    // Nothing is made of it: the firmware starts anew, and the settings stay.
    port.forget();
    bench.rewrite(Arc::new(|_| None)).await.unwrap();
    port.until("settings told").await;
    assert_eq!(bench.read(0x9000, 0x6000).await.unwrap().len(), 0x6000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_changed_since_the_plan_is_refused() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let plan = bench.plan();
    assert!(plan.board.simulated);
    assert_eq!((plan.images[0].offset, plan.images.len()), (0x10000, 1));
    std::fs::write(bench.path(&plan.images[0].file), b"something else").unwrap();
    let error = bench.flash_plan(plan).await.unwrap_err();
    assert!(error.why.contains("has changed since it was approved"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_firmware_sees_no_secrets_and_ends_with_the_board() {
    let source = "#include <stdio.h>\nextern char **environ;\n\
                  void app_main(void)\n{\n    for (char **e = environ; *e; e++) puts(*e);\n    \
                  puts(\"that was all\");\n}\n";
    let bench = Bench::new(&[("main/main.c", source)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let heard = bench.flash().await.until("that was all").await;
    assert!(!heard.contains("PATH=") && !heard.contains("HOME="), "{heard}");
    let image = bench.path("..").canonicalize().unwrap().join("board/flash.elf");
    let is_running = move || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let mut programs = all.filter_map(|one| std::fs::read_link(one.path().join("exe")).ok());
        programs.any(|program| program == image)
    };
    assert!(is_running());
    drop(bench);
    crate::board_bench::wait_until("the firmware is gone", || !is_running()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sketch_of_several_tabs_is_built_flashed_and_heard() {
    let main = "#include <Wire.h>\n#include <Preferences.h>\nvoid setup() {\n  \
                Serial.print(\"lost\");\n  Serial.begin(115200);\n  Wire.begin();\n  \
                Preferences kept;\n  kept.begin(\"test\");\n  \
                kept.putInt(\"n\", 41);\n  Serial.printf(\"kept %d\\n\", kept.getInt(\"n\"));\n  \
                scan();\n}\nvoid loop() {\n  delay(10);\n}\n";
    let tab = "void scan() {\n  for (uint8_t at = 1; at < 127; at++) {\n    \
               Wire.beginTransmission(at);\n    if (Wire.endTransmission() == 0) {\n      \
               Serial.println(String(\"found 0x\") + String(at, HEX));\n    }\n  }\n  \
               Serial.println(map(5, 0, 10, 0, 100));\n  \
               Serial.println(F(\"scan done\"));\n}\n";
    let bench = Bench::sketch(&[("blink.ino", main), ("bus.ino", tab)]);
    let report = bench.build().await;
    assert_eq!(
        (report.outcome, report.diagnostics),
        (BuildOutcome::Passed, vec![]),
        "{}",
        bench.log()
    );
    let heard = bench.flash().await.until("scan done").await;
    for text in ["kept 41", "found 0x3c\r\n", "found 0x76", "50\r\n"] {
        assert!(heard.contains(text), "no {text:?} in {heard}");
    }
    assert!(!heard.contains("lost"), "{heard}");
}

#[tokio::test]
async fn what_the_board_lacks_ends_the_build_of_a_sketch_and_says_so() {
    let source = "void setup() {}\nvoid loop() { int x = analogRead(34); (void)x; }\n";
    let bench = Bench::sketch(&[("a.ino", source)]);
    let report = bench.build().await;
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("a.ino"), Some(2)));
    assert!(first.message.contains("the virtual board does not have analog inputs"), "{first:?}");
    for (header, told) in [("WiFi.h", "does not have Wi-Fi"), ("Adafruit_BME280.h", "")] {
        bench
            .write("a.ino", &format!("#include <{header}>\nvoid setup() {{}}\nvoid loop() {{}}\n"));
        let report = bench.build().await;
        let first = &report.diagnostics[0];
        assert_eq!((first.file.as_deref(), first.line), (Some("a.ino"), Some(1)));
        assert!(first.message.contains(told), "{first:?}");
    }
    let report = bench.build().await;
    assert!(report.diagnostics[0].hint.contains("Preferences and Wire"), "{report:?}");
}

#[tokio::test]
async fn a_file_is_compiled_as_it_shall_become_before_and_after_a_build() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    let wrong = HELLO.replace("#include \"esp_log.h\"", "#include \"esp_err.h\"");
    let texts = [("main/main.c", wrong.as_str())];
    let found = bench.check_syntax(&texts).await.remove(0).unwrap();
    assert!(found[0].message.contains("ESP_LOGI"), "{found:?}");
    assert_eq!(bench.check_syntax(&[("main/main.c", HELLO)]).await, [Some(vec![])]);
    assert!(!bench.path("build").exists(), "a check writes nothing to the project");
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let found = bench.check_syntax(&texts).await.remove(0).unwrap();
    assert_eq!((found[0].file.as_deref(), found[0].line), (Some("main/main.c"), Some(5)));
    assert!(found[0].message.contains("ESP_LOGI"), "{found:?}");
    assert_eq!(bench.check_syntax(&[("main/main.c", HELLO)]).await, [Some(vec![])]);
    // The project is as it was: what is on disk still builds.
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    assert!(bench.log().contains("no work to do"), "{}", bench.log());
}

/// The files of a project in the order in which they are proposed, one after the other, each of them
/// saved before the next one comes; which of them the compiler has seen, and what it found.
#[tokio::test]
async fn the_first_files_of_a_project_are_compiled_in_whatever_order_they_come() {
    let main =
        "#include \"led.h\"\n#include \"esp_log.h\"\nvoid app_main(void) { led_set(LED, 1); }\n";
    let led = "#include \"led.h\"\n#include \"driver/gpio.h\"\nvoid led_set(int pin, int on) { gpio_set_level(pin, on); }\n";
    let header = "#pragma once\n#define LED 2\nvoid led_set(int pin, int on);\n";
    let top = "cmake_minimum_required(VERSION 3.16)\ninclude($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(led)\n";
    let list = "idf_component_register(SRCS main.c led.c INCLUDE_DIRS . include)\n";
    let files = [
        ("CMakeLists.txt", top, false),
        ("main/CMakeLists.txt", list, false),
        ("main/include/led.h", header, true),
        ("main/led.c", led, true),
        ("main/main.c", main, true),
    ];
    for order in [[0, 1, 2, 3, 4], [2, 3, 4, 0, 1], [1, 2, 4, 3, 0]] {
        let bench = Bench::empty();
        for (path, text, is_source) in order.map(|at| files[at]) {
            let found = bench.check_syntax(&[(path, text)]).await;
            assert_eq!(found, [is_source.then(Vec::new)], "{path} in {order:?}");
            if is_source {
                let wrong = format!("{text}int f(void) {{ return gone(); }}\n");
                let found = bench.check_syntax(&[(path, &wrong)]).await.remove(0);
                let is_header = path.ends_with(".h");
                // What is wrong in a header may be right where it is included.
                let is_found = found.is_some_and(|found| found[0].message.contains("gone"));
                assert!(is_found || is_header, "{path} in {order:?}");
            }
            bench.write(path, text);
        }
    }
    // What is still to come is not held against a file.
    let bench = Bench::empty();
    assert_eq!(bench.check_syntax(&[("main/main.c", main)]).await, [None]);
    let texts = files.map(|(path, text, _)| (path, text));
    let found = bench.check_syntax(&texts).await;
    assert_eq!(found, [None, None, Some(vec![]), Some(vec![]), Some(vec![])]);
    let sketch = "#include <Wire.h>\nvoid setup() { Wire.begin(); blink(); }\nvoid loop() {}\nvoid blink() {}\n";
    assert_eq!(Bench::empty().check_syntax(&[("blink.ino", sketch)]).await, [Some(vec![])]);
}

#[tokio::test]
async fn whether_a_file_is_there_outside_does_not_show() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let outside = tempfile::NamedTempFile::new().unwrap();
    let there = outside.path().display().to_string();
    for form in [
        "#if __has_include(\"PATH\")\n#error there\n#endif\n",
        "#if __has_include(<PATH>)\n#error there\n#endif\n",
        "#define P \"PATH\"\n#if __has_include(P)\n#error there\n#endif\n",
        "#define C(a, b) a##b\n#if C(__has_, include)(\"PATH\")\n#error there\n#endif\n",
        "#define H __has_include\n#if H(\"PATH\")\n#error there\n#endif\n",
        "#include \"../../../../../../../../../..PATH\"\n",
        "#pragma GCC dependency \"PATH\"\n",
    ] {
        let text = |path: &str| format!("{}{HELLO}", form.replace("PATH", path));
        let one = bench.check_syntax(&[("main/main.c", &text(&there))]).await;
        let other = bench.check_syntax(&[("main/main.c", &text("/no/such/file"))]).await;
        assert_eq!((&one, &other), (&vec![None], &vec![None]), "{form}");
    }
    let plain = format!("#if __has_include(\"esp_log.h\")\n#endif\n{HELLO}");
    assert_eq!(bench.check_syntax(&[("main/main.c", &plain)]).await, [Some(vec![])]);
}

#[tokio::test]
async fn a_compiler_that_is_asked_before_saving_reaches_the_project_and_nothing_else() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *-fsyntax-only*)\n\
           echo x > {outside}/written; echo x > {project}/main/written\n\
           [ ! -r {outside}/secret ] || {{ echo 'main.c:1:1: error: read' >&2; exit 1; }}\n\
           [ -r {project}/main/main.c ] || {{ echo 'main.c:1:1: error: blind' >&2; exit 1; }}\n\
         esac\nexec cc \"$@\"\n",
        outside = outside.path().display(),
        project = bench.path("").display(),
    );
    let bench = bench.with_compiler_script(&script);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed);
    assert_eq!(bench.check_syntax(&[("main/main.c", HELLO)]).await, [Some(vec![])]);
    assert!(!outside.path().join("written").exists() && !bench.path("main/written").exists());
}

#[tokio::test]
async fn what_a_program_takes_is_measured_and_grows_with_it() {
    let bench = Bench::new(&[("main/main.c", HELLO)]);
    assert_eq!(bench.size(), None, "nothing was built yet");
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let small = bench.size().unwrap();
    assert_eq!((small.program.as_str(), small.host.as_str()), ("bench.elf", "virtual board"));
    let more = HELLO.replace("void app_main(void)", "char more[5000] = {1};\nvoid app_main(void)");
    let more = more.replace("the board\"", "the board %p\", (void *)more");
    bench.write("main/main.c", &more);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let grown = bench.size().unwrap().growth(&small, Memory::Data).unwrap();
    assert!((5000..5100).contains(&grown), "{grown}");
}

#[tokio::test]
async fn a_tab_of_a_sketch_is_compiled_among_the_others() {
    let main = "void setup() { Serial.begin(115200); }\nvoid loop() { blink(2); }\n";
    let tab = "void blink(int times) { delay(times); }\n";
    let bench = Bench::sketch(&[("demo.ino", main), ("led.ino", tab)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    assert_eq!(bench.check_syntax(&[("demo.ino", main)]).await, [Some(vec![])]);
    let wrong = "\nvoid blink(int times) { dealy(times); }\n";
    let found = bench.check_syntax(&[("led.ino", wrong)]).await.remove(0).unwrap();
    assert_eq!((found[0].file.as_deref(), found[0].line), (Some("led.ino"), Some(2)), "{found:?}");
    // A tab that is new is seen by those that are there.
    let more = "void loop() { blink(fast()); }\nvoid setup() {}\n";
    let texts = [("demo.ino", more), ("speed.ino", "int fast() { return 1; }\n")];
    assert_eq!(bench.check_syntax(&texts).await, [Some(vec![]), Some(vec![])]);
}
