//! Tests of noticing.

use super::*;

fn kinds(found: &[PanicEvent]) -> Vec<Option<PanicKind>> {
    let kind = |found: &PanicEvent| match found {
        PanicEvent::Panic(panic) => Some(panic.kind),
        PanicEvent::Dump(_) => None,
    };
    found.iter().map(kind).collect()
}

#[test]
fn a_coloured_panic_in_pieces_among_other_lines_is_noticed_with_its_place() {
    let text = b"I (1) a: b\r\n\x1b[0;31mE (2) a: c\x1b[0m\r\n\xff\xfe garbage\r\n\
                 \x1b[0;31massert failed: f main.c:3 (x)\r\nBacktrace: 0x400d0029:0x3ffb5a20\r\n\
                 ELF file SHA256: 0123456789\r\nRebooting...\r\nI (3) a: d\r\n";
    for size in [1, 7, text.len()] {
        let mut watch = Watch::default();
        let mut found = Vec::new();
        for piece in text.chunks(size) {
            found.extend(watch.push(piece, Instant::now()));
        }
        assert_eq!(kinds(&found), [Some(PanicKind::Assert)], "{size}");
        let PanicEvent::Panic(panic) = &found[0] else { panic!() };
        assert_eq!(panic.lines, 3..7);
    }
}

#[test]
fn silence_completes_what_has_no_end() {
    let mut watch = Watch::starting_at(5);
    assert!(
        watch.push(b"abort() was called at PC 0x400d0029 on core 0\n", Instant::now()).is_empty()
    );
    assert!(watch.is_open());
    let Some(PanicEvent::Panic(panic)) = watch.finish() else { panic!() };
    assert_eq!(panic.lines, 5..6);
    assert!(!watch.is_open() && watch.finish().is_none());
}

#[test]
fn a_chip_that_starts_over_and_over_is_told_once() {
    let mut watch = Watch::default();
    let now = Instant::now();
    let line = b"rst:0x10 (RTCWDT_RTC_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\ninvalid header: 0xffffffff\r\n";
    let mut found = Vec::new();
    for second in 0..8 {
        found.extend(watch.push(line, now + Duration::from_secs(second)));
    }
    assert_eq!(kinds(&found), [Some(PanicKind::BootLoop)]);
    let quiet = watch.push(line, now + Duration::from_secs(60));
    assert!(quiet.is_empty());
    for second in 61..64 {
        found.extend(watch.push(line, now + Duration::from_secs(second)));
    }
    assert_eq!(found.len(), 2, "after a rest it is a new one");
}

#[test]
fn an_endless_line_takes_no_memory() {
    let mut watch = Watch::default();
    for _ in 0..160 {
        assert!(watch.push(&[b'G'; 65536], Instant::now()).is_empty());
    }
    assert!(watch.partial.capacity() <= 2 * MAX_LINE);
}
