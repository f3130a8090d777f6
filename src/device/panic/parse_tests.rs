//! Tests of what panic handlers print.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Vec<RawPanic> {
    let mut parser = PanicParser::default();
    let lines = text.lines().zip(0..);
    let mut found: Vec<RawPanic> =
        lines.filter_map(|(line, number)| parser.line(number, line)).collect();
    found.extend(parser.finish());
    found
}

fn one(text: &str) -> RawPanic {
    let mut found = parse(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

const XTENSA: &str = "\
I (806) app: tick
Guru Meditation Error: Core  1 panic'ed (LoadProhibited). Exception was unhandled.

Core  1 register dump:
PC      : 0x400d0029  PS      : 0x00060330  A0      : 0x800d004d  A1      : 0x3ffb5a20
EXCVADDR: 0x00000000  LBEG    : 0x4000c2e0  LEND    : 0x4000c2f6  LCOUNT  : 0xffffffff

Backtrace: 0x400d0029:0x3ffb5a20 0x400d004a:0x3ffb5a40 0x400d0075:0x3ffb5a60 |<-CORRUPTED

ELF file SHA256: 0123456789abcdef

Rebooting...
ets Jul 29 2019 12:21:46
";

#[test]
fn an_xtensa_exception_is_read_whole() {
    let panic = one(XTENSA);
    assert_eq!((panic.kind, panic.core), (PanicKind::Exception, Some(1)));
    assert!(panic.message.contains("LoadProhibited"));
    assert_eq!(panic.traces[0].pcs, [0x400d_0029, 0x400d_004a, 0x400d_0075]);
    assert!(panic.traces[0].is_corrupted);
    assert_eq!(panic.register("EXCVADDR"), Some(0));
    assert_eq!(panic.registers.len(), 8);
    assert_eq!(panic.sha256.as_deref(), Some("0123456789abcdef"));
    assert_eq!(panic.lines, 1..12);
    assert!(panic.details.is_empty(), "{:?}", panic.details);
}

#[test]
fn a_risc_v_exception_keeps_its_stack() {
    let panic = one(include_str!("../../../tests/panic/crash-rv32.txt"));
    assert_eq!(panic.registers.len(), 37);
    assert_eq!(panic.register("S0/FP"), Some(0));
    let sp = panic.register("SP").unwrap();
    assert_eq!(panic.stack.len(), 48);
    assert_eq!(panic.stack[&(sp + 4)], 1);
    assert!(panic.traces.is_empty());
}

#[test]
fn every_kind_of_failure_is_known_by_its_first_line() {
    use PanicKind::*;
    let cases = [
        ("abort() was called at PC 0x400d1c2b on core 0", Abort),
        ("assert failed: app_main main.c:7 (x)", Assert),
        ("assertion \"x\" failed: file \"main.c\", line 7", Assert),
        ("***ERROR*** A stack overflow in task worker has been detected.", StackOverflow),
        (
            "Guru Meditation Error: Core  0 panic'ed (Unhandled debug exception). Debug exception reason: Stack canary watchpoint triggered (worker) ",
            StackOverflow,
        ),
        ("Guru Meditation Error: Core  0 panic'ed (Stack protection fault). ", StackOverflow),
        (
            "Guru Meditation Error: Core  0 panic'ed (Interrupt wdt timeout on CPU0). ",
            InterruptWatchdog,
        ),
        (
            "Guru Meditation Error: Core  0 panic'ed (Cache disabled but cached memory region accessed). ",
            CacheError,
        ),
        ("Guru Meditation Error: Core  0 panic'ed (Cache error). ", CacheError),
        ("CORRUPT HEAP: Bad head at 0x3ffb. Expected 0xabba1234 got 0x0", HeapCorruption),
        ("Brownout detector was triggered", Brownout),
        ("E (312) BOD: Brownout detector was triggered", Brownout),
        (
            "E (10318) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:",
            TaskWatchdog,
        ),
        (
            "ESP_ERROR_CHECK failed: esp_err_t 0x103 (ESP_ERR_INVALID_STATE) at 0x400d1c2b",
            ErrorCheck,
        ),
    ];
    for (text, kind) in cases {
        let panic = one(text);
        assert_eq!(panic.kind, kind, "{text}");
        if kind == StackOverflow && text.contains("worker") {
            assert_eq!(panic.task.as_deref(), Some("worker"), "{text}");
        }
    }
    assert_eq!(one(cases[0].0).pcs, [0x400d_1c2b]);
    assert_eq!(one(cases[13].0).pcs, [0x400d_1c2b]);
    for text in ["I (1) app: assert failed: x", "the abort() was called", "", "Backtrace: 0x1:0x2"]
    {
        assert!(parse(text).is_empty(), "{text}");
    }
}

#[test]
fn a_watchdog_that_does_not_reboot_ends_with_the_next_log_line() {
    let text = "\
E (10318) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:
E (10318) task_wdt:  - IDLE0 (CPU 0)
E (10318) task_wdt: Tasks currently running:
E (10318) task_wdt: CPU 0: spin
E (10318) task_wdt: Print CPU 0 (current core) backtrace


Backtrace: 0x400d0029:0x3ffb5a20 0x400d0075:0x3ffb5a40

I (10400) app: going on
";
    let panic = one(text);
    assert_eq!(panic.task.as_deref(), Some("IDLE0"));
    assert_eq!((panic.traces.len(), panic.traces[0].core), (1, Some(0)));
    assert_eq!(panic.lines.end, 9);
}

#[test]
fn what_a_program_prints_after_a_watchdog_is_its_own() {
    let xtensa = "\
E (10318) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:
E (10318) task_wdt:  - IDLE0 (CPU 0)
E (10318) task_wdt: Tasks currently running:
E (10318) task_wdt: CPU 0: spin
E (10318) task_wdt: Print CPU 0 (current core) backtrace
Backtrace: 0x400d0029:0x3ffb5a20
E (10318) task_wdt: Print CPU 1 backtrace
Backtrace: 0x400d0075:0x3ffb5a40
temperature 21.5
";
    let panic = one(xtensa);
    assert_eq!((panic.lines.end, panic.traces.len()), (8, 2));
    assert!(!panic.details.iter().any(|line| line.contains("temperature")), "{panic:?}");
    // RISC-V: registers and memory of the stack, no calls and no hash.
    let risc = "\
E (6318) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:
E (6318) task_wdt:  - IDLE (CPU 0)
E (6318) task_wdt: Tasks currently running:
E (6318) task_wdt: CPU 0: main
E (6318) task_wdt: Print CPU 0 (current core) registers
Core  0 register dump:
MEPC    : 0x4200667a  RA      : 0x42006678  SP      : 0x3fc90f50  GP      : 0x3fc8b000

Stack memory:
3fc90f50: 0x00000000 0x00000000 0x42006678 0x00000000
3fc90f60: 0x00000000 0x00000000 0x00000000 0x00000000
I (6330) app: going on
I (6340) app: still going on
";
    let panic = one(risc);
    assert_eq!((panic.lines.end, panic.stack.len()), (11, 8));
    assert_eq!(panic.task.as_deref(), Some("IDLE"));
    // Neither, where calls are not printed.
    let bare = format!(
        "{}{}",
        &xtensa[..xtensa.find("E (10318) task_wdt: Print").unwrap()],
        "I (10400) app: a\n".repeat(20)
    );
    assert!(one(&bare).lines.end <= 7);
}

#[test]
fn what_follows_from_a_failure_is_part_of_it_and_the_next_one_is_not() {
    let text = "\
ESP_ERROR_CHECK failed: esp_err_t 0x103 (ESP_ERR_INVALID_STATE) at 0x400d1c2b
file: \"./main/main.c\" line 9
func: app_main
expression: start()

abort() was called at PC 0x400d1c2b on core 0

Backtrace: 0x400d0029:0x3ffb5a20

ELF file SHA256: 012345678
Rebooting...
abort() was called at PC 0x400d1c2f on core 0
Backtrace: 0x400d0075:0x3ffb5a20
rst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)
";
    let found = parse(text);
    let kinds: Vec<PanicKind> = found.iter().map(|panic| panic.kind).collect();
    assert_eq!(kinds, [PanicKind::ErrorCheck, PanicKind::Abort]);
    assert!(found[0].details.iter().any(|line| line.contains("expression: start()")));
    assert_eq!((found[1].lines.clone(), found[1].traces[0].pcs[0]), (11..13, 0x400d_0075));
}

proptest! {
    #[test]
    fn no_output_breaks_it(lines in prop::collection::vec(prop_oneof![
        Just("abort() was called at PC 0x on core".to_owned()),
        Just("Backtrace: 0xg:1 0x:".to_owned()),
        Just("3fc8f010: 0x".to_owned()),
        Just("PC      : 0x".to_owned()),
        "[ -~é]{0,40}",
    ], 0..40)) {
        parse(&lines.join("\n"));
    }
}
