//! Tests of the line index.

use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::*;
use crate::model::LogKind;

/// A log in memory that gives at most `at_once` bytes.
struct MemoryLog {
    bytes: Vec<u8>,
    at_once: u64,
}

impl LogSource for MemoryLog {
    fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let end =
            range.end.min(range.start.saturating_add(self.at_once)).min(self.bytes.len() as u64);
        let range = usize::try_from(range.start).unwrap()..usize::try_from(end).unwrap();
        Ok(self.bytes.get(range).unwrap_or_default().to_vec())
    }
}

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn extent(bytes: &[u8]) -> Extent {
    Extent { bytes: bytes.len() as u64, feeds: memchr_iter(b'\n', bytes).count() as u64 }
}

fn texts(lines: Vec<RawLine>) -> Vec<(u64, Vec<u8>)> {
    lines.into_iter().map(|line| (line.number, line.bytes)).collect()
}

fn expected(bytes: &[u8], range: Range<u64>) -> Vec<(u64, Vec<u8>)> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec);
    (0..).zip(lines).filter(|(number, _)| range.contains(number)).collect()
}

#[test]
fn the_end_is_there_before_the_index() {
    let bytes: Vec<u8> = (0..200_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
    let source = MemoryLog { bytes, at_once: 100_000 };
    let mut index = LineIndex::new(LOG);
    index.set_extent(&source, extent(&source.bytes)).unwrap();
    assert!(!index.is_complete());
    assert_eq!(index.len(), 200_000);
    let found = texts(index.lines(&source, 199_998..200_005).unwrap());
    assert_eq!(found, expected(&source.bytes, 199_998..200_000));
    assert!(index.lines(&source, 3..6).unwrap().is_empty());
    index.advance(&source, u64::MAX).unwrap();
    assert_eq!(texts(index.lines(&source, 3..6).unwrap()), expected(&source.bytes, 3..6));
}

#[test]
fn a_line_without_end_is_cut_and_says_so() {
    let source = MemoryLog { bytes: vec![b'x'; 1 << 20], at_once: u64::MAX };
    let mut index = LineIndex::new(LOG);
    index.set_extent(&source, extent(&source.bytes)).unwrap();
    index.advance(&source, u64::MAX).unwrap();
    let found = index.lines(&source, 0..5).unwrap();
    assert_eq!((found.len(), found[0].bytes.len()), (1, MAX_LINE));
    assert_eq!(found[0].omitted, (1 << 20) - MAX_LINE as u64);
}

#[test]
fn many_short_lines_stay_in_bounds() {
    let source = MemoryLog { bytes: vec![b'\n'; 9 << 20], at_once: u64::MAX };
    let mut index = LineIndex::new(LOG);
    index.set_extent(&source, extent(&source.bytes)).unwrap();
    index.advance(&source, u64::MAX).unwrap();
    assert!(index.stride > STRIDE && index.memory() < 1_200_000, "{}", index.memory());
    let found = texts(index.lines(&source, 9_000_000..9_000_002).unwrap());
    assert_eq!(found, [(9_000_000, b"\n".to_vec()), (9_000_001, b"\n".to_vec())]);
}

/// A log in memory whose beginning is no longer kept.
struct Shrinking {
    log: MemoryLog,
    start: std::sync::atomic::AtomicUsize,
}

impl LogSource for Shrinking {
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        assert!(
            range.start >= self.start.load(Ordering::Relaxed) as u64,
            "{range:?} is no longer there"
        );
        self.log.read_log(log, range)
    }

    fn start(&self, _: LogId) -> Result<LogStart, UserError> {
        let gone = &self.log.bytes[..self.start.load(Ordering::Relaxed)];
        let lines = memchr_iter(b'\n', gone).count() as u64;
        Ok(LogStart { bytes: gone.len() as u64, lines, since: None })
    }
}

proptest! {
    #[test]
    fn lines_keep_their_numbers_when_the_oldest_are_given_up(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..600),
        at_once in 1_u64..40,
        budget in 1_u64..200,
        stride in 1_u64..9,
        steps in proptest::collection::vec((0_usize..200, 0_usize..200), 1..8),
    ) {
        let total = bytes.len();
        let source = Shrinking { log: MemoryLog { bytes, at_once }, start: Default::default() };
        let mut index = LineIndex::new(LOG);
        index.stride = stride;
        let (mut end, mut start) = (0, 0);
        for (grown, gone) in steps {
            end = (end + grown).min(total);
            start = (start + gone).min(end);
            source.start.store(start, Ordering::Relaxed);
            let there = &source.log.bytes[..end];
            index.set_extent(&source, extent(there)).unwrap();
            index.advance(&source, budget).unwrap();
            for finished in [false, true] {
                while finished && !index.is_complete() {
                    index.advance(&source, budget).unwrap();
                }
                let first = source.start(LOG).unwrap();
                let mut lines = expected(there, 0..u64::MAX);
                lines.retain(|(number, _)| *number >= first.lines);
                if let Some((_, line)) = lines.first_mut() {
                    let begins = memchr::memrchr(b'\n', &there[..start]).map_or(0, |at| at + 1);
                    line.drain(..(start - begins).min(line.len()));
                }
                lines.retain(|(_, line)| !line.is_empty());
                let found = texts(index.lines(&source, 0..u64::MAX).unwrap());
                if finished {
                    prop_assert_eq!(&found, &lines);
                    for (number, line) in lines {
                        let one = texts(index.lines(&source, number..number + 1).unwrap());
                        prop_assert_eq!(one, [(number, line)]);
                    }
                } else {
                    prop_assert!(found.iter().all(|line| lines.contains(line)), "{:?}", found);
                }
            }
        }
    }

    #[test]
    fn any_bytes_in_any_pieces_give_the_lines_of_split(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..600),
        at_once in 1_u64..40,
        budget in 1_u64..90,
        start in 0_u64..200,
        count in 0_u64..100,
        early in 0_usize..600,
    ) {
        let source = MemoryLog { bytes, at_once };
        let mut index = LineIndex::new(LOG);
        let early = source.bytes.get(..early.min(source.bytes.len())).unwrap();
        // There and back again, as a replay does.
        for bytes in [&source.bytes[..], early, &source.bytes[..], early] {
            index.set_extent(&source, extent(bytes)).unwrap();
            let range = start..start + count;
            if !index.is_complete() {
                for line in index.lines(&source, range.clone()).unwrap() {
                    prop_assert!(expected(bytes, range.clone()).contains(&(line.number, line.bytes)));
                }
            }
            while !index.is_complete() {
                index.advance(&source, budget).unwrap();
            }
            prop_assert_eq!(index.len(), bytes.split_inclusive(|&b| b == b'\n').count() as u64);
            for line in index.lines(&source, range.clone()).unwrap() {
                let start = usize::try_from(line.start).unwrap();
                prop_assert!(bytes.get(start..).unwrap().starts_with(&line.bytes));
            }
            prop_assert_eq!(texts(index.lines(&source, range.clone()).unwrap()), expected(bytes, range));
        }
    }
}
