//! Tests of the search.

use std::ops::Range;
use std::thread;

use super::*;
use crate::model::{Event, EventSource, LogId, LogKind, LogSource, Record, Seq, Timestamp, TurnId};

struct Memory(Vec<u8>);

impl LogSource for Memory {
    fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let end = usize::try_from(range.end).unwrap().min(self.0.len());
        Ok(self.0.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
    }
}

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn search(text: &[u8], pattern: &str) -> Search {
    let source = Source::Raw(Arc::new(Memory(text.to_vec())), LOG);
    Search::new(source, Matcher::regex(pattern).unwrap())
}

fn finish(search: &mut Search, end: u64) {
    search.advance(end).unwrap();
    while !search.is_complete(end) {
        thread::yield_now();
        search.advance(end).unwrap();
    }
}

#[test]
fn pieces_of_any_size_find_the_same_lines() {
    let text = "I (1) scan: found 0x3c\n\x1b[31mE (2) bus: FOUND nothing\x1b[0m\r\nx\nfound";
    for step in [1, 2, 7, 1000] {
        let mut search = search(text.as_bytes(), "found");
        let end = text.len() as u64;
        for end in (0..end).step_by(step).chain([end]) {
            finish(&mut search, end);
        }
        assert_eq!((search.lines(0..9), search.total()), (vec![0, 1], 2));
        assert_eq!((search.next(0), search.next(1)), (Some(1), Some(0)));
        assert_eq!((search.previous(1), search.previous(0)), (Some(0), Some(1)));
        assert_eq!((search.place(1), search.place(2)), (Some(2), None));
        finish(&mut search, 30);
        assert_eq!(search.total(), 1, "a replay that went back");
    }
}

#[test]
fn what_is_long_is_looked_through_on_a_thread() {
    let text: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    let end = text.len() as u64;
    let mut search = search(text.as_bytes(), "9999$");
    search.advance(end).unwrap();
    assert!(matches!(search.scan, Scan::Away(_)), "the frame does not wait for it");
    finish(&mut search, end);
    assert_eq!((search.total(), search.line(1)), (20, Some(19_999)));
}

#[test]
fn capitals_matter_only_when_typed_and_bad_patterns_say_why() {
    let mut search = search(b"found\nFOUND\n", "FOUND");
    finish(&mut search, 12);
    assert_eq!(search.total(), 1);
    assert!(Matcher::regex("(").unwrap_err().contains("unclosed group"));
}

#[test]
fn records_are_lines_with_their_numbers_also_where_some_are_missing() {
    struct Journal;
    impl EventSource for Journal {
        fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
            let event = |seq| Event::TextAdded { turn: TurnId(1), text: format!("word{seq} ") };
            let record = |seq| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event: event(seq) };
            Ok(range.filter(|seq| seq % 3 != 0 && *seq <= 5_000).map(record).collect())
        }
    }
    let mut search = Search::new(
        Source::Records(Arc::new(Journal)),
        Matcher::regex("word(44|45|4000)\\b").unwrap(),
    );
    finish(&mut search, 5_000);
    assert_eq!(search.lines(0..9), [43, 3_999], "45 cannot be read");
}
