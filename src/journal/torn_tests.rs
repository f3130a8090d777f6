//! Tests of what becomes of lines that were not written to their end.

use super::*;

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
