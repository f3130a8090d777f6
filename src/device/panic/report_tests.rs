//! Tests of looking panics up in real programs, made by the sources beside them.

use super::*;
use crate::device::panic::PanicParser;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/panic").join(name)
}

fn raw(text: &str) -> RawPanic {
    let mut parser = PanicParser::default();
    let found = text.lines().zip(0..).find_map(|(line, number)| parser.line(number, line));
    found.or_else(|| parser.finish()).unwrap()
}

fn frames(report: &PanicReport) -> Vec<String> {
    let of = |frame: &PanicFrame| {
        let mark = if frame.inlined { " (inlined)" } else { "" };
        let function = frame.function.as_deref().unwrap_or("?");
        format!("{function} {}{mark}", frame.place())
    };
    report.frames().map(of).collect()
}

const RV32: &str = include_str!("../../../tests/panic/crash-rv32.txt");

#[test]
fn a_risc_v_stack_is_followed_through_inlined_functions() {
    let programs = Programs::named(Some(&fixture("crash-rv32.elf")), None);
    let report = programs.report(&raw(RV32));
    let wanted = [
        "store /project/main/crash-rv32.c:66 (inlined)",
        "read_sensor /project/main/crash-rv32.c:70",
        "poll_sensors /project/main/crash-rv32.c:76",
        "app_main /project/main/crash-rv32.c:80",
        "_start /project/main/crash-rv32.c:83",
    ];
    assert_eq!(frames(&report), wanted);
    assert_eq!(report.elf.unwrap().matches, ElfMatch::Same);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

#[test]
fn a_jump_to_nowhere_is_followed_from_the_return_address() {
    let programs = Programs::named(Some(&fixture("crash-rv32.elf")), None);
    let text = RV32.replace("MEPC    : 0x42000254", "MEPC    : 0x00000000");
    let report = programs.report(&raw(&text));
    assert_eq!(frames(&report)[0], "? ");
    assert!(frames(&report)[2].starts_with("read_sensor "), "{:?}", frames(&report));
}

#[test]
fn an_xtensa_backtrace_is_looked_up() {
    let programs = Programs::named(Some(&fixture("crash-xtensa.elf")), None);
    let text = "Guru Meditation Error: Core  0 panic'ed (StoreProhibited). \n\
                Backtrace: 0x400d0029:0x3ffb5a20 0x400d004a:0x3ffb5a40 0x400d0075:0x3ffb5a60 0x40000000:0x3ffb5a80\n\
                ELF file SHA256: 0123456789abcdef\nRebooting...\n";
    let report = programs.report(&raw(text));
    let wanted = [
        "store /project/main/crash-xtensa.c:6 (inlined)",
        "read_sensor /project/main/crash-xtensa.c:7",
        "poll_sensors /project/main/crash-xtensa.c:8",
        "app_main /project/main/crash-xtensa.c:9",
        "? ",
    ];
    assert_eq!(frames(&report), wanted);
    assert_eq!(report.elf.as_ref().unwrap().matches, ElfMatch::Different);
    assert!(report.notes[0].contains("a different program"), "{:?}", report.notes);
}

#[test]
fn the_program_of_a_project_is_the_one_with_the_hash() {
    let project = tempfile::tempdir().unwrap();
    let build = project.path().join("build");
    std::fs::create_dir_all(build.join("bootloader")).unwrap();
    std::fs::copy(fixture("crash-xtensa.elf"), build.join("app.elf")).unwrap();
    std::fs::write(build.join("notes.elf"), "no program").unwrap();
    std::fs::copy(fixture("crash-rv32.elf"), build.join("bootloader/x.elf")).unwrap();
    std::fs::write(build.join("project_description.json"), r#"{"app_elf":"app.elf"}"#).unwrap();
    let programs = Programs::of_project(project.path());
    let report = programs.report(&raw(RV32));
    assert_eq!(report.elf.unwrap().file, "build/bootloader/x.elf");
    let other = RV32.replace("SHA256: ", "SHA256: ffff");
    let report = programs.report(&raw(&other));
    assert_eq!(report.elf.unwrap().file, "build/app.elf", "the one the build describes");
    assert!(report.notes.iter().any(|note| note.contains("notes.elf")), "{:?}", report.notes);
}

#[test]
fn without_a_program_the_addresses_stay_and_it_is_said() {
    let project = tempfile::tempdir().unwrap();
    let report = Programs::of_project(project.path()).report(&raw(RV32));
    assert_eq!(report.traces[0].frames[0].pc, 0x4200_0254);
    assert!(report.notes[0].contains("no built program"), "{:?}", report.notes);
    let garbage = RV32.replace("0x4", "0xf");
    assert!(Programs::default().report(&raw(&garbage)).elf.is_none());
}
