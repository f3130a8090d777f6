//! What lies in the folder of a session: records and contents.

use firmhand::journal::{Blobs, JournalReader, ReadItem, SessionDir, scan, summary};
use firmhand::model::{ContentHash, Record, Seq};
use firmhand::provider::retell;
use firmhand::view::SessionView;

use super::{file, folder};

/// The folder of a session in which a journal and contents are put.
const SESSION: &str = "sessions/2026-01-01-fuzz";

fn session() -> SessionDir {
    SessionDir::at(folder().join(SESSION)).expect("its name is one of a session")
}

/// Each line gives a record or a damage, and never a record that the line does not hold; numbers
/// rise; a scan reads what a reader reads; what is written again reads back the same.
pub fn journal(data: &[u8]) {
    let path = file(&format!("{SESSION}/journal.jsonl"), data);
    let whole: Vec<&[u8]> = match memchr::memrchr(b'\n', data) {
        Some(last) => data[..last].split(|byte| *byte == b'\n').collect(),
        None => Vec::new(),
    };
    let mut reader = JournalReader::open(&path).expect("the file is there");
    let (mut items, mut last, mut is_newer) = (Vec::new(), Seq(0), false);
    loop {
        let line = whole.get(items.len()).copied();
        match reader.next_item() {
            Ok(None) => break,
            Ok(Some(ReadItem::Damaged(damage))) => {
                assert_eq!(damage.line, items.len() as u64 + 1);
                assert!(!damage.preview.chars().any(super::is_harmful), "{:?}", damage.preview);
                items.push(ReadItem::Damaged(damage));
            }
            Ok(Some(ReadItem::Record(record))) => {
                let line = line.expect("a record has a whole line");
                let own: Record = serde_json::from_slice(line).expect("its line holds it");
                assert_eq!(own, record);
                assert!(record.seq > last, "{} after {last}", record.seq);
                let written = serde_json::to_vec(&record).expect("a record can be written");
                assert!(!written.contains(&b'\n'), "a record is one line");
                let again: Record = serde_json::from_slice(&written).expect("and read again");
                assert_eq!(again, record);
                last = record.seq;
                items.push(ReadItem::Record(record));
            }
            Err(_) => {
                is_newer = true;
                break;
            }
        }
    }
    assert!(is_newer || items.len() == whole.len(), "{} of {}", items.len(), whole.len());
    let mut scanned = Vec::new();
    let end = scan(&path, |item, _| scanned.push(item));
    assert_eq!(end.is_err(), is_newer);
    assert!(is_newer || scanned == items, "a scan reads what a reader reads");
    let records: Vec<Record> = items
        .into_iter()
        .filter_map(|item| match item {
            ReadItem::Record(record) => Some(record),
            ReadItem::Damaged(_) => None,
        })
        .collect();
    let mut view = SessionView::default();
    records.iter().for_each(|record| view.apply(record));
    let _ = retell(&records);
    let _ = summary(&session());
}

/// What is loaded has its hash, and what is stored behind any bytes is found again.
pub fn pack(data: &[u8]) {
    file(&format!("{SESSION}/blobs.pack"), data);
    let blobs: Blobs = session().blobs();
    for text in data.split(|byte| byte.is_ascii_whitespace()).filter(|word| word.len() == 64) {
        let hash = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        let Some(hash): Option<ContentHash> = hash else { continue };
        if let Ok(content) = blobs.load(&hash) {
            assert_eq!(ContentHash::of(&content), hash);
        }
    }
    let half = data.get(..data.len() / 2).unwrap_or_default();
    for content in [b"kept".as_slice(), half] {
        let stored = blobs.store(content).expect("the disk takes it");
        assert_eq!(&*blobs.load(&stored.hash).expect("it was just stored"), content);
        let later = session().blobs();
        assert_eq!(&*later.load(&stored.hash).expect("a later program finds it"), content);
    }
}
