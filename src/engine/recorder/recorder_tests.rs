//! Tests of the sole writer of a session.

use crate::journal::{JournalReader, ReadItem};
use crate::model::{BlobSource, BuildId, BuildOutcome, LogKind, LogSource};
use crate::model::{BuildEvent, LogEvent, PersonEvent};

use super::*;

fn recorder(data: &tempfile::TempDir) -> Recorder {
    let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
    Recorder::create(dir).unwrap()
}

fn records(recorder: &Recorder) -> Vec<Record> {
    let mut reader = JournalReader::open(&recorder.dir().journal()).unwrap();
    std::iter::from_fn(|| reader.next_item().unwrap())
        .map(|item| match item {
            ReadItem::Record(record) => record,
            ReadItem::Damaged(damage) => panic!("{damage:?}"),
        })
        .collect()
}

#[tokio::test]
async fn no_raw_log_holds_a_secret_of_the_program() {
    let data = tempfile::tempdir().unwrap();
    let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
    let secrets = Secrets::default();
    secrets.add_key("sk-0123456789abcdef");
    let recorder = Arc::new(Recorder::create(dir.clone()).unwrap().guarded_by(&secrets));
    recorder.spawn_ticks();
    let read = |log| {
        let bytes = dir.logs().read_log(log, 0..1_000).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    for kind in [LogKind::Serial, LogKind::Build] {
        let log = LogId { kind, number: 1 };
        recorder.append_log(log, b"the key is sk-01234").unwrap();
        assert_eq!(read(log), "the key is ");
        recorder.append_log(log, b"56789abcdef, sk-0123456789abcdef\nlogin: s").unwrap();
        let stars = "*".repeat(19);
        let clean = format!("the key is {stars}, {stars}\nlogin: ");
        assert_eq!(read(log), clean);
        // What may begin a secret appears when nothing follows.
        let patience = Duration::from_secs(20);
        let appeared = async {
            while read(log) != format!("{clean}s") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(patience, appeared).await.unwrap();
        recorder.append_log(log, b"k-0123").unwrap();
        recorder.flush_log(log).unwrap();
        assert_eq!(read(log), format!("{clean}sk-0123"));
    }
}

#[test]
fn every_record_is_published_and_numbered_on_after_reopening() {
    let data = tempfile::tempdir().unwrap();
    let first = recorder(&data);
    let seen = first.subscribe();
    assert_eq!(first.record(Event::Person(PersonEvent::Paused)), Ok(Seq(1)));
    assert_eq!(*seen.borrow(), Seq(1));
    let stored = first.store(b"content").unwrap();
    assert_eq!(&*first.blobs().blob(&stored.hash).unwrap(), b"content");
    let dir = first.dir().clone();
    assert!(Recorder::reopen(dir.clone()).is_err());
    drop(first);
    let (again, reopened) = Recorder::reopen(dir).unwrap();
    assert_eq!((reopened.last, *again.subscribe().borrow()), (Seq(1), Seq(1)));
    assert_eq!(again.record(Event::Person(PersonEvent::Unpaused)), Ok(Seq(2)));
    let records = records(&again);
    assert!(records[0].at <= records[1].at);
}

#[test]
fn log_growth_is_thinned_out_but_the_last_one_is_never_lost() {
    let data = tempfile::tempdir().unwrap();
    let recorder = recorder(&data);
    let log = LogId { kind: LogKind::Build, number: 1 };
    for _ in 0..1000 {
        recorder.append_log(log, b"line\n").unwrap();
    }
    assert!(records(&recorder).len() < 1000);
    let outcome = BuildOutcome::Passed;
    let ended = Event::Build(BuildEvent::Ended {
        build: BuildId(1),
        outcome,
        diagnostics: vec![],
        millis: 1,
        size: None,
    });
    recorder.record(ended.clone()).unwrap();
    let all = records(&recorder);
    let grown = Event::Log(LogEvent::Grew { log, bytes: 5000, lines: 1000 });
    assert_eq!(all[all.len() - 2].event, grown);
    assert_eq!(all[all.len() - 1].event, ended);
    assert_eq!(recorder.logs().read_log(log, 4990..9999).unwrap(), b"line\nline\n");
    recorder.flush_log(log).unwrap();
    assert_eq!(records(&recorder).len(), all.len(), "nothing new was recorded twice");
}

#[test]
fn capture_goes_on_beyond_what_is_kept_and_that_is_said_once() {
    let data = tempfile::tempdir().unwrap();
    let limits = LogLimits { keep: 2 << 20, segment: 1 << 20 };
    let recorder = recorder(&data).keeping(limits);
    let log = LogId { kind: LogKind::Build, number: 1 };
    let block = b"0123456789abcde\n".repeat(4096);
    for _ in 0..64 {
        recorder.append_log(log, &block).unwrap();
    }
    recorder.flush_log(log).unwrap();
    let all = records(&recorder);
    let notices = all.iter().filter_map(|record| match &record.event {
        Event::Person(PersonEvent::Noticed { notice, .. }) => Some(notice.to_string()),
        _ => None,
    });
    let notices: Vec<String> = notices.collect();
    assert!(notices.len() == 1 && notices[0].contains("newest 2 MiB"), "{notices:?}");
    let grown = Event::Log(LogEvent::Grew { log, bytes: 4 << 20, lines: 4 << 16 });
    assert_eq!(all.last().unwrap().event, grown);
    let start = recorder.logs().start(log).unwrap();
    assert_eq!((start.bytes, start.lines), (2 << 20, 2 << 16));
    let last = (4 << 20) - 16;
    assert_eq!(recorder.logs().read_log(log, last..last + 99).unwrap(), b"0123456789abcde\n");
}

#[test]
fn output_that_cannot_be_written_is_said_and_what_follows_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let recorder = recorder(&data);
    let log = LogId { kind: LogKind::Serial, number: 1 };
    // In the place of the log's folder there is a file.
    let folder = recorder.dir().root().join("logs");
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    for _ in 0..3 {
        assert!(recorder.append_log(log, b"lost\n").is_err());
    }
    std::fs::remove_file(&folder).unwrap();
    while recorder.append_log(log, b"there\n").is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
    recorder.flush_log(log).unwrap();
    let all = records(&recorder);
    let failed = all
        .iter()
        .filter(|record| matches!(record.event, Event::Person(PersonEvent::Noticed { .. })));
    assert_eq!(failed.count(), 1);
    let Event::Log(LogEvent::Grew { bytes, lines, .. }) = all.last().unwrap().event else {
        panic!()
    };
    assert!(lines >= 4);
    assert_eq!(recorder.logs().read_log(log, bytes - 6..bytes).unwrap(), b"there\n");
    assert_eq!(recorder.logs().start(log).unwrap().lines, lines - 1);
}

#[tokio::test]
async fn a_log_that_falls_silent_is_recorded_to_its_end() {
    let data = tempfile::tempdir().unwrap();
    let recorder = Arc::new(recorder(&data));
    let ticks = recorder.spawn_ticks();
    let log = LogId { kind: LogKind::Serial, number: 1 };
    let mut seen = recorder.subscribe();
    recorder.append_log(log, b"one\n").unwrap();
    recorder.append_log(log, b"two\n").unwrap();
    let grown = Event::Log(LogEvent::Grew { log, bytes: 8, lines: 2 });
    let is_reported = async {
        while records(&recorder).last().map(|record| &record.event) != Some(&grown) {
            seen.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), is_reported).await.expect("nothing was recorded");
    drop(recorder);
    ticks.await.unwrap();
}
