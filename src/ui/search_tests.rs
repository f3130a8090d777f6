//! Tests of the search.

use std::ops::Range;
use std::thread;

use super::*;
use crate::model::{
    Event, EventSource, LogId, LogKind, LogSource, LogStart, Record, Seq, Timestamp, TurnEvent,
    TurnId,
};
use crate::ui::panes::logs::source::LogSourceView;
use crate::view::line_scan::MAX_HITS;

struct MemoryLog(Vec<u8>);

impl LogSource for MemoryLog {
    fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let end = usize::try_from(range.end).unwrap().min(self.0.len());
        Ok(self.0.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
    }
}

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn search(text: &[u8], pattern: &str) -> LogSearch {
    let source = LogSourceView::Raw(Arc::new(MemoryLog(text.to_vec())), LOG);
    LogSearch::new(source, Matcher::regex(pattern).unwrap())
}

fn finish(search: &mut LogSearch, end: u64) {
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

/// A log of lines `line N` whose beginning is no longer kept.
#[derive(Default)]
struct Shrinking {
    text: Mutex<Vec<u8>>,
    gone: Mutex<usize>,
}

impl LogSource for Shrinking {
    fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let text = self.text.lock().unwrap();
        if range.start < *self.gone.lock().unwrap() as u64 {
            return Err(UserError::new("Cannot read a log", "it is no longer kept", ""));
        }
        let end = usize::try_from(range.end).unwrap().min(text.len());
        Ok(text.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
    }

    fn start(&self, _: LogId) -> Result<LogStart, UserError> {
        let gone = *self.gone.lock().unwrap();
        let lines = memchr::memchr_iter(b'\n', &self.text.lock().unwrap()[..gone]).count() as u64;
        Ok(LogStart { bytes: gone as u64, lines, since: None })
    }
}

#[test]
fn matches_keep_their_lines_and_places_when_the_oldest_are_given_up() {
    let log = Arc::new(Shrinking::default());
    let grow = |lines: Range<u32>| {
        let mut text = log.text.lock().unwrap();
        lines.for_each(|n| text.extend(format!("line {n}\n").bytes()));
        text.len() as u64
    };
    let raw = LogSourceView::Raw(Arc::<Shrinking>::clone(&log), LOG);
    let mut search = LogSearch::new(raw.clone(), Matcher::regex("7$").unwrap());
    let end = grow(0..100);
    finish(&mut search, end);
    assert_eq!((search.total(), search.line(3), search.place(37)), (10, Some(37), Some(4)));
    // The first forty lines go, and in the middle of the next one the log begins.
    *log.gone.lock().unwrap() =
        log.text.lock().unwrap().windows(7).position(|w| w == b"line 40").unwrap() + 2;
    search.forget_before(log.start(LOG).unwrap().lines);
    assert_eq!((search.total(), search.kept(), search.line(3)), (10, 6, None));
    assert_eq!((search.line(4), search.place(47), search.before(50)), (Some(47), Some(5), 5));
    assert_eq!((search.next(97), search.previous(47)), (Some(47), Some(97)));
    assert_eq!(search.lines(4..6), [47, 57]);
    // What came and went between two looks is never seen, and shifts no number.
    let end = grow(100..300);
    *log.gone.lock().unwrap() =
        log.text.lock().unwrap().windows(8).position(|w| w == b"line 200").unwrap();
    finish(&mut search, end);
    search.forget_before(200);
    assert_eq!((search.next(0), search.previous(u64::MAX)), (Some(207), Some(297)));
    // A search that begins now finds what is there.
    let mut late = LogSearch::new(raw, Matcher::regex("7$").unwrap());
    finish(&mut late, end);
    assert_eq!((late.total(), late.line(0)), (10, Some(207)));
    // A replay at a moment of which nothing is left ends.
    finish(&mut late, 300);
    assert_eq!(late.total(), 0);
    finish(&mut late, end);
    assert_eq!((late.total(), late.line(0)), (10, Some(207)));
}

#[test]
fn of_too_many_matches_the_last_ones_are_kept() {
    let mut search = search("x\n".repeat(MAX_HITS + 10).as_bytes(), "x");
    let end = 2 * (MAX_HITS as u64 + 10);
    finish(&mut search, end);
    assert_eq!((search.kept(), search.total()), (MAX_HITS as u64, MAX_HITS as u64 + 10));
    assert_eq!((search.line(9), search.line(10), search.place(10)), (None, Some(10), Some(11)));
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
            let event = |seq| {
                Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: format!("word{seq} ") })
            };
            let record = |seq| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event: event(seq) };
            Ok(range.filter(|seq| seq % 3 != 0 && *seq <= 5_000).map(record).collect())
        }
    }
    let mut search = LogSearch::new(
        LogSourceView::Records(Arc::new(Journal)),
        Matcher::regex("word(44|45|4000)\\b").unwrap(),
    );
    finish(&mut search, 5_000);
    assert_eq!(search.lines(0..9), [43, 3_999], "45 cannot be read");
}
