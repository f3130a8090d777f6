//! Tests of how a log is written, given up and gone on with.

use super::*;

const LIMITS: LogLimits = LogLimits { keep: 4000, segment: 1000 };

fn writer(folder: &Path) -> LogWriter {
    LogWriter::open(folder.join("logs/serial-1.log"), LogKind::Serial, LIMITS).unwrap()
}

/// Writes lines of twenty bytes, in pieces that do not end with them.
fn lines(log: &mut LogWriter, numbers: std::ops::Range<u32>) {
    let text: String =
        numbers.map(|n| format!("line {n:014}\n")).fold(String::new(), |a, b| a + &b);
    text.as_bytes().chunks(77).for_each(|piece| log.append(piece, Timestamp(5)).unwrap());
}

fn on_disk(folder: &Path) -> Vec<Segment> {
    segments::list(&folder.join("logs/serial-1.log")).unwrap()
}

#[test]
fn the_newest_output_stays_in_whole_lines_within_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = writer(folder.path());
    lines(&mut log, 0..49);
    assert_eq!((on_disk(folder.path()).len(), log.given_up()), (1, 0));
    for number in 49..1000 {
        lines(&mut log, number..number + 1);
        let kept: u64 = on_disk(folder.path()).iter().map(|segment| segment.bytes).sum();
        assert!(kept <= LIMITS.keep + 20, "{kept}");
    }
    assert_eq!(log.length(), LogLength { bytes: 20_000, lines: 1000 });
    let kept = on_disk(folder.path());
    assert_eq!((kept[0].start, log.given_up()), (16_000, 16_000));
    for (segment, next) in kept.iter().zip(kept.iter().skip(1)) {
        assert_eq!(segment.start + segment.bytes, next.start);
        assert_eq!((segment.start / 20, segment.start % 20), (segment.lines, 0));
    }
    let times = fs::read_dir(folder.path().join("logs")).unwrap().count() - kept.len();
    assert_eq!(times, kept.len(), "what is known of given up lines goes with them");
}

#[test]
fn a_line_without_an_end_is_kept_within_the_bound_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = writer(folder.path());
    let limits = LogLimits { keep: 400_000, segment: 50_000 };
    log.limits = limits;
    for _ in 0..5_000 {
        log.append(&[b'x'; 977], Timestamp(1)).unwrap();
    }
    let kept = on_disk(folder.path());
    let bytes: u64 = kept.iter().map(|segment| segment.bytes).sum();
    assert!(
        bytes <= limits.keep + SLACK && kept.iter().all(|segment| segment.lines == 0),
        "{bytes}"
    );
    assert_eq!(log.length().bytes, 5_000 * 977);
    assert_eq!(kept.last().unwrap().start + kept.last().unwrap().bytes, 5_000 * 977);
}

/// A piece of many lines is parted at the first end of a line from the limit on, and one without
/// any where the bound is.
#[test]
fn a_long_piece_is_parted_at_the_end_of_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = writer(folder.path());
    log.limits = LogLimits { keep: 400_000, segment: 1000 };
    log.append(&b"0123456789abcdefghijklmnopq\n".repeat(200), Timestamp(1)).unwrap();
    let files = on_disk(folder.path());
    let (last, full) = files.split_last().unwrap();
    assert!(full.iter().all(|file| file.bytes == 36 * 28), "{files:?}");
    assert!(full.len() == 5 && last.bytes == 20 * 28, "{files:?}");
    let long = usize::try_from(SLACK).unwrap();
    log.append(&vec![b'x'; 2 * long], Timestamp(1)).unwrap();
    let files = on_disk(folder.path());
    assert_eq!(files.get(5).map(|file| file.bytes), Some(1000 + SLACK));
    assert_eq!(files.get(6).map(|file| file.bytes), Some(SLACK + 20 * 28 - 1000));
}

/// Lines that do not fill a file exactly: each file is longer than its limit by a part of one.
#[test]
fn the_ends_of_lines_cost_no_file() {
    for (limits, length) in [
        (LogLimits { keep: 4000, segment: 1000 }, 21),
        (LogLimits { keep: 2 << 20, segment: 1 << 20 }, 997),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut log = writer(folder.path());
        log.limits = limits;
        let line = format!("{}\n", "x".repeat(length - 1));
        while log.length().bytes < 3 * limits.keep {
            log.append(line.as_bytes(), Timestamp(1)).unwrap();
            let kept: u64 = on_disk(folder.path()).iter().map(|segment| segment.bytes).sum();
            let least = (limits.keep - limits.segment).min(log.length().bytes);
            assert!(kept >= least && kept <= limits.keep + limits.segment / 16, "{kept}");
        }
    }
}

/// What a crash leaves, and what makes it look so.
type Case = (&'static str, fn(&Path));

/// What a crash leaves between any two steps of beginning a file.
#[test]
fn a_log_is_whole_after_a_crash_between_any_two_steps() {
    let cases: [Case; 5] = [
        ("a new file without a byte", |logs| {
            fs::write(logs.join("serial-1.5000-250-9.log"), "").unwrap();
            fs::write(logs.join("serial-1.5000-250-9.times"), "").unwrap();
        }),
        ("a new file without times", |logs| {
            fs::write(logs.join("serial-1.5000-250-9.log"), "line 0000000000250\n").unwrap();
        }),
        ("the oldest file without its times", |logs| {
            fs::remove_file(logs.join("serial-1.1000-50-5.times")).unwrap();
        }),
        ("the oldest file is gone, the new one not there", |logs| {
            fs::remove_file(logs.join("serial-1.1000-50-5.times")).unwrap();
            fs::remove_file(logs.join("serial-1.1000-50-5.log")).unwrap();
        }),
        ("half a line at the end", |logs| {
            fs::write(logs.join("serial-1.5000-250-9.log"), "line").unwrap();
        }),
    ];
    for (what, crash) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut log = writer(folder.path());
        lines(&mut log, 0..250);
        drop(log);
        let before = on_disk(folder.path());
        assert_eq!((before.len(), before[0].start), (4, 1000), "{what}");
        crash(&folder.path().join("logs"));
        let held: u64 = on_disk(folder.path()).last().map(|last| last.start + last.bytes).unwrap();
        let mut again = writer(folder.path());
        assert_eq!(again.length().bytes, held, "{what}");
        assert_eq!(again.length().lines, held / 20 + u64::from(held % 20 == 19), "{what}");
        again.append(b"\n", Timestamp(6)).unwrap();
        lines(&mut again, 300..600);
        let kept = on_disk(folder.path());
        let bytes: u64 = kept.iter().map(|segment| segment.bytes).sum();
        assert!(bytes <= LIMITS.keep + 40, "{what}: {bytes}");
        for (segment, next) in kept.iter().zip(kept.iter().skip(1)) {
            assert_eq!(segment.start + segment.bytes, next.start, "{what}");
            let text = fs::read(&segment.path).unwrap();
            let feeds = memchr_iter(b'\n', &text).count() as u64;
            assert_eq!(segment.lines + feeds, next.lines, "{what}");
        }
    }
}

#[test]
fn what_cannot_be_written_counts_and_the_log_goes_on_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = writer(folder.path());
    lines(&mut log, 0..10);
    // A file that takes nothing, as on a full disk.
    log.current.as_mut().unwrap().file =
        File::open(folder.path().join("logs/serial-1.log")).unwrap();
    assert!(log.append(b"lost\nlost\n", Timestamp(1)).is_err());
    assert!(log.append(b"lost\n", Timestamp(1)).is_err(), "it is not tried with every piece");
    assert_eq!(log.length(), LogLength { bytes: 215, lines: 13 });
    log.failed = None;
    log.append(b"there\n", Timestamp(2)).unwrap();
    let kept = on_disk(folder.path());
    assert_eq!((kept[0].bytes, kept[1].start, kept[1].lines, kept[1].bytes), (200, 215, 13, 6));
}
