//! Tests of what becomes of lines that were not written to their end.

use super::super::parse::ReadItem;
use super::super::reader::JournalReader;
use super::*;
use crate::model::PersonEvent;

#[test]
fn a_line_that_the_writer_takes_back_is_never_read() {
    let data = tempfile::tempdir().unwrap();
    let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
    let mut writer = JournalWriter::create(&dir).unwrap();
    writer.append(Timestamp(1), Event::Person(PersonEvent::Paused)).unwrap();
    let len = std::fs::metadata(dir.journal()).unwrap().len();
    writer.append(Timestamp(2), Event::Person(PersonEvent::Paused)).unwrap();
    let mut reader = JournalReader::open(&dir.journal()).unwrap();
    let mut read = |published| match reader.next_published(Seq(published)).unwrap() {
        Some(ReadItem::Record(record)) => Some((record.seq.0, record.at.0)),
        Some(ReadItem::Damaged(damage)) => panic!("{damage:?}"),
        None => None,
    };
    assert_eq!((read(1), read(1)), (Some((1, 1)), None));
    // The second could not be synced: it is taken back, and another takes its place.
    OpenOptions::new().write(true).open(dir.journal()).unwrap().set_len(len).unwrap();
    drop(writer);
    let (mut writer, _) = JournalWriter::reopen(&dir).unwrap();
    writer.append(Timestamp(3), Event::Person(PersonEvent::Paused)).unwrap();
    assert_eq!((read(2), read(2)), (Some((2, 3)), None));
}

#[test]
fn each_torn_line_is_put_into_a_file_of_its_own_and_a_whole_journal_leaves_none() {
    let data = tempfile::tempdir().unwrap();
    let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
    drop(JournalWriter::create(&dir).unwrap());
    let mut found = Vec::new();
    for torn in ["{\"v\":1", "{\"v\":2", "{\"v\":3"] {
        let mut file = OpenOptions::new().append(true).open(dir.journal()).unwrap();
        file.write_all(torn.as_bytes()).unwrap();
        let (writer, reopened) = JournalWriter::reopen(&dir).unwrap();
        assert_eq!(writer.next_seq(), Seq(1));
        found.push(std::fs::read_to_string(reopened.torn.unwrap()).unwrap());
    }
    assert_eq!(found, ["{\"v\":1", "{\"v\":2", "{\"v\":3"]);
    for number in 1..=3 {
        assert!(dir.root().join(format!("journal.damaged-{number}")).is_file());
    }
    assert_eq!(JournalWriter::reopen(&dir).unwrap().1.torn, None);
}
