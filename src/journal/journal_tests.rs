//! Tests of writer and reader together.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use crate::journal::{JournalReader, ReadItem, SessionState, list_sessions};
use crate::model::{
    ContentHash, DecidedBy, Decision, ProposalId, SessionOutcome, TurnId, UserError, Verdict,
    event::SessionStart,
};
use crate::model::{PersonEvent, ProposalEvent, SessionEvent, TurnEvent};

use super::*;
use crate::journal::storage::{Noted, StorageCall};

fn session(data: &Path) -> SessionDir {
    SessionDir::create(data, "test", Timestamp(0)).unwrap()
}

fn person_message(text: &str) -> Event {
    Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: text.to_owned() })
}

fn read(dir: &SessionDir) -> (Vec<Record>, usize) {
    let mut reader = JournalReader::open(&dir.journal()).unwrap();
    let (mut records, mut damaged) = (Vec::new(), 0);
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            ReadItem::Record(record) => records.push(record),
            ReadItem::Damaged(_) => damaged += 1,
        }
    }
    (records, damaged)
}

#[test]
fn a_reader_follows_the_writer() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    let mut reader = JournalReader::open(&dir.journal()).unwrap();
    assert_eq!(reader.next_item().unwrap(), None);
    for number in 1..=3 {
        let seq = writer.append(Timestamp(number), person_message("x\ny")).unwrap().seq;
        assert_eq!(seq, Seq(number.unsigned_abs()));
        let Some(ReadItem::Record(record)) = reader.next_item().unwrap() else { panic!() };
        assert_eq!(
            (record.seq, record.at, record.event),
            (seq, Timestamp(number), person_message("x\ny"))
        );
        assert_eq!(reader.next_item().unwrap(), None);
    }
    // Half a line is not there yet.
    let mut raw = OpenOptions::new().append(true).open(dir.journal()).unwrap();
    raw.write_all(b"{\"v\":1,\"seq\":4,\"at\":0,").unwrap();
    assert_eq!(reader.next_item().unwrap(), None);
    raw.write_all(b"\"event\":\"paused\"}\n").unwrap();
    let Some(ReadItem::Record(record)) = reader.next_item().unwrap() else { panic!() };
    assert_eq!(record.event, Event::Person(PersonEvent::Paused));
}

#[test]
fn what_a_writer_guards_is_not_written() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    let (secrets, key) = (Secrets::default(), "k9-f3b1c7d2e8a4");
    secrets.add_key(key);
    writer.guard(&secrets);
    writer.append(Timestamp(0), person_message(&format!("use {key} here"))).unwrap();
    let written = fs::read_to_string(dir.journal()).unwrap();
    assert!(written.contains("use ") && !written.contains(key), "{written}");
}

#[test]
fn long_lines_are_read_whole() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    let long = "long ".repeat(200_000);
    writer.append(Timestamp(0), person_message(&long)).unwrap();
    writer.append(Timestamp(0), Event::Person(PersonEvent::Paused)).unwrap();
    let (records, damaged) = read(&dir);
    assert_eq!((records.len(), damaged), (2, 0));
    assert_eq!(records[0].event, person_message(&long));
    drop(writer);
    assert_eq!(JournalWriter::reopen(&dir).unwrap().1.last, Seq(2));
}

#[test]
fn a_second_program_is_told_who_has_the_session() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let writer = JournalWriter::create(&dir).unwrap();
    let error = UserError::from(JournalWriter::reopen(&dir).unwrap_err());
    assert!(error.what.contains(dir.id().as_str()), "{error:?}");
    assert!(error.why.contains(&std::process::id().to_string()), "{error:?}");
    assert!(error.fix.contains("firmhand replay"), "{error:?}");
    drop(writer);
    assert!(JournalWriter::reopen(&dir).is_ok());
}

#[test]
fn a_torn_line_is_put_aside_and_the_session_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    writer.append(Timestamp(0), person_message("one")).unwrap();
    drop(writer);
    let whole = fs::read(dir.journal()).unwrap();
    let mut torn = whole.clone();
    torn.extend_from_slice(b"{\"v\":1,\"se");
    fs::write(dir.journal(), torn).unwrap();
    let (mut writer, reopened) = JournalWriter::reopen(&dir).unwrap();
    assert_eq!(reopened.last, Seq(1));
    assert_eq!(fs::read(reopened.torn.unwrap()).unwrap(), b"{\"v\":1,\"se");
    assert_eq!(fs::read(dir.journal()).unwrap(), whole);
    assert_eq!(writer.append(Timestamp(0), person_message("two")).unwrap().seq, Seq(2));
    assert_eq!(read(&dir).0.len(), 2);
}

#[test]
fn a_failed_write_leaves_no_trace_and_the_next_one_works() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    writer.append(Timestamp(0), person_message("one")).unwrap();
    let before = fs::read(dir.journal()).unwrap();
    // A handle that cannot write stands for a disk that refuses; half a line is there already.
    let broken = Box::new(File::open(dir.journal()).unwrap());
    let good = std::mem::replace(&mut writer.file, broken);
    assert!(writer.append(Timestamp(0), person_message("lost")).is_err());
    OpenOptions::new().append(true).open(dir.journal()).unwrap().write_all(b"{\"v\":").unwrap();
    writer.file = good;
    assert_eq!(writer.append(Timestamp(0), person_message("two")).unwrap().seq, Seq(2));
    let after = fs::read(dir.journal()).unwrap();
    assert!(after.starts_with(&before));
    let (records, damaged) = read(&dir);
    assert_eq!((records.len(), damaged), (2, 0));
    assert_eq!(records[1].event, person_message("two"));
}

fn decided() -> Event {
    let decision = Decision {
        verdict: Verdict::Approve,
        by: DecidedBy::Person,
        shown: ContentHash::NONE,
        unseen: 0,
        stops: 0,
    };
    Event::Proposal(ProposalEvent::Decided {
        proposal: ProposalId(1),
        decision: Box::new(decision),
    })
}

/// A writer whose files note what is done to them, and whether the disk of its contents is broken.
fn noting(dir: &SessionDir) -> (JournalWriter, StorageCall, Arc<AtomicBool>) {
    let mut writer = JournalWriter::create(dir).unwrap();
    let (done, is_broken) = (StorageCall::default(), Arc::new(AtomicBool::new(false)));
    let open = |path: PathBuf| OpenOptions::new().append(true).create(true).open(path).unwrap();
    let file = open(dir.root().join("blobs.pack"));
    let pack = Noted { file, name: "pack", done: done.clone(), is_broken: is_broken.clone() };
    writer.blobs().write_to(Arc::new(pack));
    let (file, is_whole) = (open(dir.journal()), Arc::default());
    writer.file =
        Box::new(Noted { file, name: "journal", done: done.clone(), is_broken: is_whole });
    (writer, done, is_broken)
}

#[test]
fn contents_reach_the_disk_before_the_line_and_decisions_before_anything_relies_on_them() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let (mut writer, done, _) = noting(&dir);
    let expect = |writer: &mut JournalWriter, event: Event, expected: &[&str]| {
        writer.append(Timestamp(0), event).unwrap();
        assert_eq!(*done.lock().unwrap(), expected);
        done.lock().unwrap().clear();
    };
    writer.blobs().store(b"one").unwrap();
    writer.blobs().store(b"two").unwrap();
    let with_contents = ["pack append", "pack append", "pack sync", "journal append"];
    expect(&mut writer, person_message("names both"), &with_contents);
    expect(&mut writer, person_message("names nothing new"), &["journal append"]);
    writer.blobs().store(b"one").unwrap();
    expect(&mut writer, decided(), &["journal append", "journal sync"]);
    expect(
        &mut writer,
        Event::Person(PersonEvent::StopRequested),
        &["journal append", "journal sync"],
    );
    writer.append_meanwhile(Timestamp(0), decided(), &mut || {}).unwrap();
    assert_eq!(*done.lock().unwrap(), ["journal append", "journal sync"]);
}

#[test]
fn no_line_is_written_when_its_contents_do_not_reach_the_disk() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let (mut writer, done, is_broken) = noting(&dir);
    writer.blobs().store(b"one").unwrap();
    is_broken.store(true, Ordering::SeqCst);
    assert!(writer.append(Timestamp(0), person_message("names it")).is_err());
    // The disk tells it once; it is true all the same.
    is_broken.store(false, Ordering::SeqCst);
    assert!(writer.append(Timestamp(0), person_message("names it")).is_err());
    assert!(!done.lock().unwrap().iter().any(|what| what == "journal append"));
    drop(writer);
    let (mut writer, _) = JournalWriter::reopen(&dir).unwrap();
    writer.append(Timestamp(0), person_message("names it")).unwrap();
}

#[test]
fn what_goes_on_meanwhile_finds_the_record_written() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    for (number, event) in [decided(), person_message("not synced")].into_iter().enumerate() {
        let mut seen = Vec::new();
        let mut look = || seen.push(read(&dir).0.pop().unwrap().event);
        let record = writer.append_meanwhile(Timestamp(0), event.clone(), &mut look).unwrap();
        assert_eq!(record.seq, Seq(number as u64 + 1));
        assert_eq!(seen, [event]);
    }
}

#[test]
fn a_record_counts_for_nothing_if_something_panics_meanwhile() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    writer.append(Timestamp(0), person_message("one")).unwrap();
    let append = || writer.append_meanwhile(Timestamp(0), decided(), &mut || panic!("meanwhile"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(append)).unwrap_err();
    assert_eq!(writer.append(Timestamp(0), person_message("two")).unwrap().seq, Seq(2));
    let (records, damaged) = read(&dir);
    assert_eq!((records.len(), damaged), (2, 0));
    assert_eq!(records[1].event, person_message("two"));
}

#[test]
fn a_disk_that_does_not_sync_is_told_after_what_went_on_meanwhile() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    // A pipe takes what is written and cannot be synced.
    let (_end, pipe) = std::io::pipe().unwrap();
    let pipe = Box::new(File::from(std::os::fd::OwnedFd::from(pipe)));
    let good = std::mem::replace(&mut writer.file, pipe);
    let mut calls = 0;
    let result = writer.append_meanwhile(Timestamp(0), decided(), &mut || calls += 1);
    assert!(matches!(result, Err(JournalError::Io { .. })), "{result:?}");
    assert_eq!(calls, 1);
    // Lines before it may be lost although the disk takes the next ones.
    writer.file = good;
    assert!(writer.append(Timestamp(0), decided()).is_err());
    drop(writer);
    let (mut writer, reopened) = JournalWriter::reopen(&dir).unwrap();
    assert_eq!(reopened.last, Seq(0));
    assert_eq!(writer.append(Timestamp(0), decided()).unwrap().seq, Seq(1));
}

#[test]
fn a_full_disk_is_told_with_what_to_do() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else { return };
    let error = append_once(&full, b"line\n").unwrap_err();
    let error = UserError::from(JournalError::io("record an event", "/dev/full")(error));
    assert_eq!(error.what, "Cannot record an event");
    assert!(error.fix.contains("Free some space"), "{error:?}");
}

#[test]
fn a_newer_format_is_refused_in_plain_words() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    fs::write(dir.journal(), "{\"v\":7,\"seq\":1,\"at\":0,\"event\":{\"teleported\":{}}}\n")
        .unwrap();
    let error = UserError::from(JournalWriter::reopen(&dir).unwrap_err());
    assert!(error.why.contains("format 7"), "{error:?}");
    let mut reader = JournalReader::open(&dir.journal()).unwrap();
    assert!(matches!(reader.next_item(), Err(JournalError::Newer { found: 7 })));
}

#[test]
fn the_list_tells_how_each_session_stands() {
    let data = tempfile::tempdir().unwrap();
    let dir = session(data.path());
    let mut writer = JournalWriter::create(&dir).unwrap();
    let start = SessionStart {
        id: dir.id().clone(),
        task: "Blink".into(),
        team: "generate".into(),
        project: "/p".into(),
        model: "scripted model".into(),
        toolchain: "virtual board".into(),
        program: "0.1.0".into(),
        parts: crate::model::event::SessionParts::default(),
    };
    writer
        .append(Timestamp(5), Event::Session(SessionEvent::Started(Box::new(start.clone()))))
        .unwrap();
    let state = |at: usize| list_sessions(data.path()).unwrap()[at].state.clone();
    assert_eq!(state(0), SessionState::Running(Some(std::process::id())));
    drop(writer);
    assert_eq!(state(0), SessionState::Unfinished);
    let mut writer = JournalWriter::reopen(&dir).unwrap().0;
    let outcome = SessionOutcome::Completed;
    writer
        .append(Timestamp(9), Event::Session(SessionEvent::Ended { outcome: outcome.clone() }))
        .unwrap();
    assert_eq!(state(0), SessionState::Open(Some(std::process::id())), "nothing runs in it");
    drop(writer);
    let odd = session(data.path());
    fs::write(odd.journal(), "{\"v\":7}\n").unwrap();
    let list = list_sessions(data.path()).unwrap();
    assert_eq!(list[0].state, SessionState::Ended(outcome));
    assert_eq!(list[0].start, Some(start));
    assert_eq!(
        (list[0].started_at, list[0].last_at, list[0].last),
        (Timestamp(5), Timestamp(9), Seq(2))
    );
    assert!(matches!(&list[1].state, SessionState::Newer(why) if why.contains("format 7")));
}

/// What is done to a good journal.
#[derive(Debug, Clone)]
enum Harm {
    /// The line is replaced by these bytes, which hold no line feed.
    Replace(usize, Vec<u8>),
    /// These bytes become a line of their own.
    Inject(usize, Vec<u8>),
    /// The line stands twice.
    Repeat(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let garbage = || {
        proptest::collection::vec(any::<u8>().prop_map(|b| if b == b'\n' { 0 } else { b }), 0..40)
    };
    prop_oneof![
        (any::<usize>(), garbage()).prop_map(|(at, bytes)| Harm::Replace(at, bytes)),
        (any::<usize>(), garbage()).prop_map(|(at, bytes)| Harm::Inject(at, bytes)),
        any::<usize>().prop_map(Harm::Repeat),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_damaged_lines_are_lost(
        texts in proptest::collection::vec(".{0,30}", 1..12),
        harms in proptest::collection::vec(harm(), 0..4),
        torn in proptest::collection::vec(1u8..=9, 0..20),
    ) {
        let data = tempfile::tempdir().unwrap();
        let dir = session(data.path());
        let mut writer = JournalWriter::create(&dir).unwrap();
        for text in &texts {
            writer.append(Timestamp(0), person_message(text)).unwrap();
        }
        drop(writer);
        let text = fs::read(dir.journal()).unwrap();
        let good: Vec<Vec<u8>> = text.split(|&b| b == b'\n').map(<[u8]>::to_vec).filter(|l| !l.is_empty()).collect();
        let mut lines = good.clone();
        for harm in harms {
            match harm {
                Harm::Replace(at, bytes) => { let at = at % lines.len(); lines[at] = bytes; }
                Harm::Inject(at, bytes) => lines.insert(at % (lines.len() + 1), bytes),
                Harm::Repeat(at) => { let at = at % lines.len(); lines.insert(at, lines[at].clone()); }
            }
        }
        let kept: Vec<&Vec<u8>> = good.iter().filter(|line| lines.contains(line)).collect();
        let mut bytes: Vec<u8> = lines.iter().flat_map(|l| l.iter().copied().chain([b'\n'])).collect();
        bytes.extend_from_slice(&torn);
        fs::write(dir.journal(), &bytes).unwrap();

        let (records, damaged) = read(&dir);
        let again: Vec<Vec<u8>> = records.iter().map(|r| serde_json::to_vec(r).unwrap()).collect();
        prop_assert_eq!(again.iter().collect::<Vec<_>>(), kept);
        prop_assert_eq!(records.len() + damaged, lines.len());

        // Going on after the damage takes a number of its own and loses nothing either.
        let (mut writer, reopened) = JournalWriter::reopen(&dir).unwrap();
        let aside = reopened.torn.map(|path| fs::read(path).unwrap()).unwrap_or_default();
        prop_assert_eq!(aside, torn);
        let seq = writer.append(Timestamp(0), person_message("more")).unwrap().seq;
        let (after, _) = read(&dir);
        prop_assert_eq!(&after[..records.len()], &records[..]);
        prop_assert_eq!(after.len(), records.len() + 1);
        prop_assert_eq!(after[records.len()].seq, seq);
    }

    #[test]
    fn a_cut_anywhere_loses_only_what_is_behind_it(
        texts in proptest::collection::vec(".{0,30}", 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let data = tempfile::tempdir().unwrap();
        let dir = session(data.path());
        let mut writer = JournalWriter::create(&dir).unwrap();
        for text in &texts {
            writer.append(Timestamp(0), person_message(text)).unwrap();
        }
        drop(writer);
        let whole = fs::read(dir.journal()).unwrap();
        let all = read(&dir).0;
        let cut = cut.index(whole.len() + 1);
        fs::write(dir.journal(), &whole[..cut]).unwrap();
        let feeds = whole[..cut].iter().filter(|&&b| b == b'\n').count();
        prop_assert_eq!(read(&dir), (all[..feeds].to_vec(), 0));
        let (mut writer, reopened) = JournalWriter::reopen(&dir).unwrap();
        prop_assert_eq!(reopened.last, Seq(feeds as u64));
        prop_assert_eq!(writer.append(Timestamp(0), Event::Person(PersonEvent::Paused)).unwrap().seq, Seq(feeds as u64 + 1));
    }
}
