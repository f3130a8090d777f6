//! Tests on what real builds printed, shortened.

use proptest::prelude::*;

use super::super::finding::MAX_DIAGNOSTICS;
use super::*;

const PROJECT: &str = "/home/me/blink";

fn found(output: &str) -> Vec<Diagnostic> {
    parse(Path::new(PROJECT), output.as_bytes())
}

/// `severity file:line:column message`
fn short(output: &str) -> Vec<String> {
    let text = |d: &Diagnostic| {
        let file = d.file.clone().unwrap_or_default();
        let (line, column) = (d.line.unwrap_or(0), d.column.unwrap_or(0));
        format!("{:?} {file}:{line}:{column} {}", d.severity, d.message)
    };
    found(output).iter().map(text).collect()
}

#[test]
fn a_missing_header_carries_the_advice_of_the_framework() {
    let output = include_str!("../../../tests/data/build/missing-header.txt");
    assert_eq!(short(output), ["Error main/main.c:5:10 esp_timer.h: No such file or directory"]);
    let hint = &found(output)[0].hint;
    assert!(hint.starts_with("Compilation failed because main.c"), "{hint}");
    assert!(hint.ends_with("/home/me/blink/main/CMakeLists.txt."), "{hint}");
}

#[test]
fn an_error_in_a_foreign_header_is_placed_where_it_is_included() {
    let output = "In file included from /home/me/blink/main/net.h:3,\n                 \
                  from /home/me/blink/main/main.c:2:\n\
                  /opt/idf/esp_wifi.h:1:2: error: #error \"no\"\n\
                  /opt/idf/esp_wifi.h:9:1: error: alone\n";
    assert_eq!(short(output), ["Error main/net.h:3:0 #error \"no\"", "Error main/net.h:3:0 alone"]);
    let own = "In file included from /home/me/blink/main/main.c:2:\n\
               /home/me/blink/main/net.h:1:2: error: here\n";
    assert_eq!(short(own), ["Error main/net.h:1:2 here"]);
}

#[test]
fn a_cmake_error_points_into_the_project() {
    let output = include_str!("../../../tests/data/build/unknown-component.txt");
    let text = "Error CMakeLists.txt:4:0 Failed to resolve component 'ssd1306_driver' required by \
                component 'main': unknown name.";
    assert_eq!(short(output), [text]);
    let hint = "The component 'ssd1306_driver' could not be found. Refer to the build-system \
                guide.";
    assert_eq!(found(output)[0].hint, hint);
}

#[test]
fn linkers_are_understood() {
    let output = include_str!("../../../tests/data/build/undefined-reference.txt");
    assert_eq!(
        short(output),
        [
            "Error main/main.c:19:0 undefined reference to `display_init'",
            "Error main/main.c:0:0 undefined reference to `led_init'",
            "Error main/main.c:20:0 undefined reference to `led_on'",
            "Error :0:0 region `dram0_0_seg' overflowed by 12 bytes",
            "Warning :0:0 blink.elf has a LOAD segment with RWX permissions",
        ]
    );
}

#[test]
fn a_number_that_kconfig_cannot_read_is_placed_at_its_option() {
    let output = "NOTE: /home/me/blink/main/Kconfig:12: the int symbol FAST has a non-int default n\n\
                  ERROR: invalid literal for int() with base 10: 'n'\n";
    let text = "Error main/Kconfig:12:0 invalid literal for int() with base 10: 'n': the int symbol \
                FAST has a non-int default n";
    assert_eq!(short(output)[0], text);
}

#[test]
fn kconfig_and_its_values_are_understood() {
    let output = "ERROR: /home/me/blink/main/Kconfig:3: error: couldn't parse 'defalt y': syntax \
                  error\nkconfiglib.KconfigError: /home/me/blink/main/Kconfig:7: no type\n\
                  NOTE: the value 'x' is invalid for LEVEL (defined at /home/me/blink/main/./Kconfig:9), \
                  which has type int -- assignment ignored\nNOTE: ESP-IDF v6.2.0\n";
    let texts = short(output);
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[0], "Error main/Kconfig:3:0 couldn't parse 'defalt y': syntax error");
    assert_eq!(texts[1], "Error main/Kconfig:7:0 no type");
    assert!(texts[2].starts_with("Warning main/Kconfig:9:0 the value 'x' is invalid"), "{texts:?}");
}

#[test]
fn an_image_that_does_not_fit_names_its_partition_and_what_to_do() {
    let output = "Error: app partition is too small for binary blink.bin size 0x1002b0:\n  - Part \
                  'factory' 0/0 @ 0x10000 size 0x100000 (overflow 0x2b0)\nninja: build stopped\n";
    let found = found(output);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.ends_with("size 0x100000 (overflow 0x2b0)"), "{found:?}");
    assert!(found[0].hint.contains("partitions.csv"), "{found:?}");
    let full = "Warning: The smallest app partition is nearly full (3% free space left)!\n";
    assert_eq!(
        short(full),
        ["Warning :0:0 The smallest app partition is nearly full (3% free space left)!"]
    );
    assert_eq!(short("WARNING: Git version unavailable\n"), [""; 0]);
}

#[test]
fn programs_that_fail_without_a_place_are_heard() {
    let full = "/usr/lib/cc1: fatal error: error writing to /x.s: No space left on device\n";
    assert_eq!(short(full), ["Error :0:0 error writing to /x.s: No space left on device"]);
    assert!(found(full)[0].hint.contains("disk is full"));
    let option = "xtensa-esp32-elf-gcc: error: unrecognized command-line option '-mx'\n";
    assert_eq!(short(option), ["Error :0:0 unrecognized command-line option '-mx'"]);
    let assembler = "main/a.S: Assembler messages:\nmain/a.S:3: Error: unknown opcode 'x'\n";
    assert_eq!(short(assembler), ["Error main/a.S:3:0 unknown opcode 'x'"]);
    let linked = "a.c:1:2: error: x\ncollect2: error: ld returned 1 exit status\n";
    assert_eq!(short(linked), ["Error a.c:1:2 x"]);
}

#[test]
fn errors_come_first_and_quotes_stay() {
    let output = include_str!("../../../tests/data/build/sketch.txt");
    let texts = short(output);
    assert_eq!(texts.len(), 3);
    assert_eq!(texts[0], "Error blink.ino:1:36 ‘lcd’ was not declared in this scope");
    assert!(texts[1].starts_with("Warning blink.ino:2:18"), "{texts:?}");
    assert!(texts[2].starts_with("Note /usr/share/arduino/Arduino.h:155:6"), "{texts:?}");
}

#[test]
fn each_is_told_once_and_paths_are_the_projects() {
    let output = "../main/a.c:1:2: error: x\n/home/me/blink/main/../main/a.c:1:2: error: x\n\
                  ./main/a.c:1:2: error: x\n/home/me/blinker/a.c:1:2: error: x\n";
    assert_eq!(short(output), ["Error main/a.c:1:2 x", "Error /home/me/blinker/a.c:1:2 x"]);
}

#[test]
fn what_failed_is_told_when_nothing_else_is() {
    assert_eq!(short("FAILED: a.o \ncc a.c\n"), ["Error :0:0 FAILED: a.o"]);
    assert_eq!(
        short("ninja: error: loading 'build.ninja'"),
        ["Error :0:0 ninja: error: loading 'build.ninja'"]
    );
    let command = "ERROR: ninja failed with exit code 1, output of the command is in /x\n";
    assert_eq!(short(&format!("a.c:1:2: error: x\n{command}")), ["Error a.c:1:2 x"]);
    assert_eq!(found(command).len(), 1);
    let inline = "CMake Error: The source directory \"x\" does not exist.\n";
    assert_eq!(short(inline), ["Error :0:0 The source directory \"x\" does not exist."]);
    assert_eq!(short("[1/2] Building C object main/error.c.o\nDone\n"), [""; 0]);
}

#[test]
fn there_are_not_more_than_anyone_reads() {
    let output: String = (1..2000).map(|n| format!("a.c:{n}:1: warning: w\n")).collect();
    let found = found(&(output + "b.c:1:1: error: e\n"));
    assert_eq!(found.len(), MAX_DIAGNOSTICS);
    assert_eq!(found[0].message, "e");
}

proptest! {
    #[test]
    fn anything_can_be_read(output in prop::collection::vec(any::<u8>(), 0..400)) {
        let found = parse(Path::new(PROJECT), &output);
        prop_assert!(found.len() <= MAX_DIAGNOSTICS);
    }

    #[test]
    fn messages_are_one_harmless_line(text in r"a\.c:1:1: error: [^\n]{0,40}") {
        for finding in found(&text) {
            prop_assert!(!finding.message.chars().any(char::is_control), "{finding:?}");
        }
    }
}
