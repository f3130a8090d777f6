//! Journals written once stay readable.
//!
//! `golden/journal-v1.jsonl` holds every kind of event in all its forms. It is never written again
//! for a format that was released: a change that this test refuses needs a higher
//! `Record::VERSION` and a reader for both.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::events::boards::VARIANTS;
use crate::events::{ADDED, LAST_KIND, ORDER, event, kind};
use firmhand::app::Timeline;
use firmhand::journal::{JournalReader, ReadItem, SessionDir};
use firmhand::model::{Record, Seq, Timestamp};

/// With this variable set, the file is written before it is read.
const WRITE_VAR: &str = "FIRMHAND_WRITE_GOLDEN";

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal-v1.jsonl")
}

fn records() -> Vec<Record> {
    let all = (0..15).flat_map(|variant| ORDER.map(|kind| event(kind, variant, variant / 2 + 1)));
    // What came later stands at the end, so that the lines before it stay as they were written.
    let later = VARIANTS.flat_map(|variant| [13, 34, 38].map(|kind| event(kind, variant, variant)));
    let added = |group: &'static [usize]| {
        let variants = 0..3;
        variants.flat_map(|variant| group.iter().map(move |kind| event(*kind, variant, variant)))
    };
    let (groups, last) = ADDED.split_at(5);
    let all = all.chain(later).chain(groups.iter().copied().flat_map(added));
    // A start with fields that came between these groups.
    let all = all.chain(std::iter::once(event(3, 64, 2)));
    let all = all.chain(last.iter().copied().flat_map(added));
    (1..)
        .zip(all)
        .map(|(seq, event)| {
            let at = Timestamp(1_795_000_000_000 + i64::try_from(seq).unwrap() * 125);
            Record { v: 1, seq: Seq(seq), at, event }
        })
        .collect()
}

#[test]
fn a_journal_of_version_1_is_read_as_it_was_written() {
    if std::env::var_os(WRITE_VAR).is_some() {
        let lines = records().into_iter().map(|r| serde_json::to_string(&r).unwrap() + "\n");
        std::fs::write(golden(), lines.collect::<String>()).unwrap();
    }
    let mut reader = JournalReader::open(&golden()).unwrap();
    let mut read = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            ReadItem::Record(record) => read.push(record),
            ReadItem::Damaged(damage) => panic!("{damage:?}"),
        }
    }
    let kinds: BTreeSet<usize> = read.iter().map(|record| kind(&record.event)).collect();
    assert_eq!(kinds, (0..=LAST_KIND).collect(), "a kind of event is missing from the file");
    for (read, meant) in read.iter().zip(records()) {
        assert_eq!(*read, meant);
    }
    assert_eq!(read.len(), records().len());
}

#[test]
fn a_journal_of_version_1_replays() {
    let folder = tempfile::tempdir().unwrap();
    let dir = SessionDir::at(folder.path().join("old")).unwrap();
    std::fs::create_dir(dir.root()).unwrap();
    std::fs::copy(golden(), dir.journal()).unwrap();
    let timeline = Timeline::open(&dir).unwrap();
    assert_eq!(timeline.state().damaged, 0);
    assert_eq!(timeline.state().last, Seq(records().len() as u64));
}
