//! Tests of reading logs whose oldest output is gone.

use std::fs;

use memchr::memchr_iter;

use super::*;
use crate::journal::dir::SessionDir;
use crate::model::LogKind;

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn session(data: &tempfile::TempDir) -> SessionDir {
    SessionDir::create(data.path(), "t", Timestamp(0)).unwrap()
}

#[test]
fn logs_grow_and_are_read_by_range() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(&data);
    let logs = dir.logs();
    assert!(logs.read_log(LOG, 0..9).unwrap_err().why.contains("serial-1"));
    assert_eq!(
        logs.append(LOG, b"one\ntw", Timestamp(1)).unwrap(),
        LogLength { bytes: 6, lines: 1 }
    );
    assert_eq!(
        logs.append(LOG, b"o\n\xff", Timestamp(2)).unwrap(),
        LogLength { bytes: 9, lines: 2 }
    );
    assert_eq!(logs.read_log(LOG, 4..8).unwrap(), b"two\n");
    assert_eq!(logs.read_log(LOG, 8..100).unwrap(), b"\xff");
    assert_eq!(logs.read_log(LOG, 50..60).unwrap(), b"");
    let came = [0, 4, 8].map(|offset| logs.arrived(LOG, offset).unwrap().0);
    assert_eq!(came, [1, 1, 2]);
    assert_eq!(logs.start(LOG).unwrap(), LogStart::default());
    let build = LogId { kind: LogKind::Build, number: 1 };
    logs.append(build, b"x\n", Timestamp(4)).unwrap();
    assert_eq!(logs.arrived(build, 0), None);
    // A later run counts what is there.
    let later = dir.logs();
    assert_eq!(later.append(LOG, b"\n", Timestamp(3)).unwrap(), LogLength { bytes: 10, lines: 3 });
}

/// A log of 3000 bytes of which the last 1600 are kept, in files of 400; every line has ten.
fn rolled(dir: &SessionDir) -> LogFiles {
    let logs = dir.logs().keeping(LogLimits { keep: 1600, segment: 400 });
    for n in 0..300 {
        logs.append(LOG, format!("{n:09}\n").as_bytes(), Timestamp(n)).unwrap();
    }
    logs
}

#[test]
fn offsets_count_from_the_start_and_what_is_gone_says_so() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(&data);
    let written = rolled(&dir);
    assert_eq!(written.given_up(LOG), 1600);
    for logs in [&written, &dir.logs()] {
        let start = LogStart { bytes: 1600, lines: 160, since: Some(Timestamp(160)) };
        assert_eq!(logs.start(LOG).unwrap(), start);
        // Across every boundary, and every offset of it.
        for at in 1600..2900 {
            let read = logs.read_log(LOG, at..at + 100).unwrap();
            let whole: String = (at / 10..at / 10 + 12).map(|n| format!("{n:09}\n")).collect();
            let cut = usize::try_from(at % 10).unwrap();
            assert_eq!(read, whole.as_bytes()[cut..cut + 100], "{at}");
            assert_eq!(logs.arrived(LOG, at), Some(Timestamp(i64::try_from(at / 10).unwrap())));
        }
        assert_eq!(logs.read_log(LOG, 2990..u64::MAX).unwrap(), b"000000299\n");
        let gone = logs.read_log(LOG, 1599..1700).unwrap_err();
        assert!(gone.why.contains("first 1600 bytes of serial-1"), "{gone}");
        assert!(gone.fix.contains("logs.keep_mib"), "{gone}");
    }
}

#[test]
fn a_reader_follows_while_files_come_and_go() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(&data);
    let logs = dir.logs().keeping(LogLimits { keep: 1600, segment: 400 });
    let reader = dir.logs();
    for n in 0..2000_u64 {
        logs.append(LOG, format!("{n:09}\n").as_bytes(), Timestamp(1)).unwrap();
        assert_eq!(
            reader.read_log(LOG, 10 * n..10 * n + 10).unwrap(),
            format!("{n:09}\n").as_bytes()
        );
        let start = reader.start(LOG).unwrap();
        assert_eq!(start.bytes, 10 * start.lines);
        let read = reader.read_log(LOG, start.bytes..10 * n + 10).unwrap();
        assert!(read.len() as u64 == 10 * n + 10 - start.bytes && read.len() <= 1610);
        assert!(read.starts_with(format!("{:09}\n", start.lines).as_bytes()));
    }
    // No file that is gone is held open.
    let held = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let held = held.filter_map(|fd| fs::read_link(fd.path()).ok());
    let root = dir.root().to_str().unwrap();
    let gone = held.filter(|path| {
        let path = path.to_string_lossy();
        path.starts_with(root) && path.ends_with("(deleted)")
    });
    assert_eq!(gone.count(), 0);
}

#[test]
fn missing_bytes_keep_their_place_and_their_lines() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(&data);
    rolled(&dir);
    // As a power cut leaves it: the end of a full file was not on the disk yet.
    let cut = dir.log_file(LOG).with_extension("2000-200-200.log");
    fs::OpenOptions::new().write(true).open(&cut).unwrap().set_len(105).unwrap();
    let logs = dir.logs();
    let all = logs.read_log(LOG, 1600..3000).unwrap();
    assert_eq!((all.len(), memchr_iter(b'\n', &all).count()), (1400, 140));
    let words = b"--- 295 bytes are missing here: they could not be written ---";
    assert!(all[505..].starts_with(words) && all[800..].starts_with(b"000000240\n"));
    for at in (1600..2990).step_by(7) {
        let at = usize::try_from(at).unwrap();
        let piece = logs.read_log(LOG, at as u64..at as u64 + 10).unwrap();
        assert_eq!(piece, all[at - 1600..at - 1590], "{at}");
    }
}

#[test]
fn a_log_in_one_file_is_read_as_before() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(&data);
    fs::write(dir.log_file(LOG), "an old one\nwith two lines\n").unwrap();
    let logs = dir.logs();
    assert_eq!(logs.start(LOG).unwrap(), LogStart::default());
    assert_eq!(logs.read_log(LOG, 11..99).unwrap(), b"with two lines\n");
    let length = logs.append(LOG, b"more\n", Timestamp(1)).unwrap();
    assert_eq!(length, LogLength { bytes: 31, lines: 3 });
}
