//! Where the lines of a raw log begin.
//!
//! Owns a sparse index in bounded memory and the reading of lines by number. Must not know what a
//! log means, nor keep its bytes.

use std::collections::VecDeque;
use std::ops::Range;

use memchr::memchr_iter;

use crate::model::{LogId, LogSource, LogStart, UserError};

/// Most offsets that are kept; with more lines the stride doubles.
const MAX_MARKS: usize = 1 << 16;
/// Lines between two kept offsets at first.
const STRIDE: u64 = 64;
/// Bytes read at once when scanning.
const BLOCK: u64 = 256 * 1024;
/// Bytes read at once to find some lines.
const WINDOW: u64 = 16 * 1024;
/// Most bytes read from the end to find lines that are not indexed yet.
const MAX_TAIL: u64 = 1 << 20;
/// Bytes of one line that are kept; the rest of a longer line is left out.
pub const MAX_LINE: usize = 16 * 1024;

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// From 0.
    pub number: u64,
    /// Where it begins in the log.
    pub start: u64,
    /// Its bytes with the line end, at most [`MAX_LINE`].
    pub bytes: Vec<u8>,
    /// Bytes that were left out.
    pub omitted: u64,
}

/// How much of a log is there: later bytes do not exist for the reader, so that a replay at an
/// earlier moment shows what was there then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Bytes.
    pub bytes: u64,
    /// Line feeds in them.
    pub feeds: u64,
}

/// The index of one log. It holds at most half a megabyte.
#[derive(Debug, Clone)]
pub struct LineIndex {
    log: LogId,
    extent: Extent,
    /// Where the log begins by now.
    start: LogStart,
    /// Offset of line `(first + n) * stride`.
    marks: VecDeque<u64>,
    first: u64,
    stride: u64,
    /// Bytes looked at.
    scanned: u64,
    /// Line feeds in them.
    feeds: u64,
    /// Whether the last byte of the extent is no line feed, so that one more line is there.
    has_open_end: bool,
}

impl LineIndex {
    /// An index that knows nothing yet.
    #[must_use]
    pub fn new(log: LogId) -> Self {
        Self {
            log,
            extent: Extent::default(),
            start: LogStart::default(),
            marks: VecDeque::new(),
            first: 1,
            stride: STRIDE,
            scanned: 0,
            feeds: 0,
            has_open_end: false,
        }
    }

    /// The log it is about.
    #[must_use]
    pub const fn log(&self) -> LogId {
        self.log
    }

    /// Takes over how much of the log is there now; it may be less than before. What is no longer
    /// kept at its beginning is forgotten; lines keep their numbers and offsets.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn set_extent(&mut self, source: &dyn LogSource, extent: Extent) -> Result<(), UserError> {
        let start = source.start(self.log)?;
        if start.bytes > self.start.bytes {
            self.begin_at(start);
        }
        if extent == self.extent {
            return Ok(());
        }
        // Of what is all gone nothing is known but that it was there.
        let has_open_end = extent.bytes > self.start.bytes && {
            let last = source.read_log(self.log, extent.bytes - 1..extent.bytes)?;
            last.first().is_some_and(|&byte| byte != b'\n')
        };
        (self.extent, self.has_open_end) = (extent, has_open_end);
        if self.scanned > extent.bytes {
            let keep = self.marks.partition_point(|&mark| mark <= extent.bytes);
            self.marks.truncate(keep);
            let (number, offset) = self.last_mark();
            (self.feeds, self.scanned) = (number, offset);
        }
        Ok(())
    }

    /// Forgets what lies before `start`.
    fn begin_at(&mut self, start: LogStart) {
        self.start = start;
        while self.marks.front().is_some_and(|&mark| mark <= start.bytes) {
            self.marks.pop_front();
            self.first += 1;
        }
        if self.marks.is_empty() {
            self.first = start.lines / self.stride + 1;
        }
        if self.scanned < start.bytes {
            (self.scanned, self.feeds) = (start.bytes, start.lines);
        }
    }

    /// The last line whose offset is known, and that.
    fn last_mark(&self) -> (u64, u64) {
        let last = self.marks.back().map(|&offset| {
            let number = (self.first + self.marks.len() as u64 - 1) * self.stride;
            (number, offset)
        });
        last.unwrap_or((self.start.lines, self.start.bytes))
    }

    /// Looks at up to `budget` more bytes.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn advance(&mut self, source: &dyn LogSource, budget: u64) -> Result<(), UserError> {
        let end = self.extent.bytes.min(self.scanned.saturating_add(budget));
        while self.scanned < end {
            let until = end.min(self.scanned + BLOCK);
            let bytes = source.read_log(self.log, self.scanned..until)?;
            if bytes.is_empty() {
                break;
            }
            for at in memchr_iter(b'\n', &bytes) {
                self.feeds += 1;
                if self.feeds.is_multiple_of(self.stride) {
                    self.mark(self.scanned + at as u64 + 1);
                }
            }
            self.scanned += bytes.len() as u64;
        }
        Ok(())
    }

    fn mark(&mut self, offset: u64) {
        self.marks.push_back(offset);
        if self.marks.len() > MAX_MARKS {
            // Every other one goes: those whose line is no multiple of the new stride.
            let mut place = self.first;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.first = self.first.div_ceil(2);
            self.stride *= 2;
        }
    }

    /// Whether every line there is can be found.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.scanned >= self.extent.bytes
    }

    /// Where the log begins by now.
    #[must_use]
    pub const fn start(&self) -> LogStart {
        self.start
    }

    /// How many lines there are, an unfinished last one and those no longer kept included.
    #[must_use]
    pub fn len(&self) -> u64 {
        let is_counted = self.is_complete() && self.extent.bytes >= self.start.bytes;
        let feeds = if is_counted { self.feeds } else { self.extent.feeds };
        feeds + u64::from(self.has_open_end)
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the index takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.marks.capacity() * size_of::<u64>()
    }

    /// The lines within `range`, by number from 0. Lines near the end are found at once, others
    /// only as far as the index has got: then the answer is shorter.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn lines(
        &self,
        source: &dyn LogSource,
        range: Range<u64>,
    ) -> Result<Vec<RawLine>, UserError> {
        let range = range.start.max(self.start.lines)..range.end.min(self.len());
        if range.is_empty() || self.extent.bytes <= self.start.bytes {
            return Ok(Vec::new());
        }
        if self.is_complete() || range.end <= self.feeds {
            self.after_mark(source, range)
        } else {
            self.before_end(source, range)
        }
    }

    fn after_mark(
        &self,
        source: &dyn LogSource,
        range: Range<u64>,
    ) -> Result<Vec<RawLine>, UserError> {
        let place = (range.start / self.stride).checked_sub(self.first);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let place = place.map(|place| place.min(self.marks.len().saturating_sub(1)));
        let mark = place.and_then(|place| Some((place, *self.marks.get(place)?)));
        let (mut number, mut offset) = mark
            .map_or((self.start.lines, self.start.bytes), |(place, offset)| {
                ((self.first + place as u64) * self.stride, offset)
            });
        let mut collector = Collector::new(range);
        while offset < self.extent.bytes && !collector.is_done(number) {
            let until = self.extent.bytes.min(offset + WINDOW);
            let bytes = source.read_log(self.log, offset..until)?;
            if bytes.is_empty() {
                break;
            }
            number = collector.take((number, offset), &bytes);
            offset += bytes.len() as u64;
        }
        Ok(collector.lines)
    }

    /// Reads backwards until the first line of `range` is found or the limit is reached.
    fn before_end(
        &self,
        source: &dyn LogSource,
        range: Range<u64>,
    ) -> Result<Vec<RawLine>, UserError> {
        let end = self.extent.bytes;
        let all = end - self.start.bytes;
        let mut size = WINDOW.min(all);
        loop {
            let bytes = self.read_all(source, end - size..end)?;
            let feeds = memchr_iter(b'\n', &bytes).count() as u64;
            // The first line is whole only at the start of what is kept.
            let (cut, first) = if size == all {
                (0, self.extent.feeds.saturating_sub(feeds))
            } else {
                let cut = memchr_iter(b'\n', &bytes).next().map_or(bytes.len(), |at| at + 1);
                (cut, (self.extent.feeds + 1).saturating_sub(feeds))
            };
            if first <= range.start || size >= MAX_TAIL.min(all) {
                let mut collector = Collector::new(range);
                let place = (first, end - size + cut as u64);
                collector.take(place, bytes.get(cut..).unwrap_or_default());
                return Ok(collector.lines);
            }
            size = (size * 2).min(all);
        }
    }

    fn read_all(&self, source: &dyn LogSource, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < range.end - range.start {
            let more = source.read_log(self.log, range.start + bytes.len() as u64..range.end)?;
            if more.is_empty() {
                break;
            }
            bytes.extend(more);
        }
        Ok(bytes)
    }
}

/// Picks the lines of a range out of blocks of bytes.
struct Collector {
    range: Range<u64>,
    lines: Vec<RawLine>,
}

impl Collector {
    const fn new(range: Range<u64>) -> Self {
        Self { range, lines: Vec::new() }
    }

    const fn is_done(&self, number: u64) -> bool {
        number >= self.range.end
    }

    /// Takes the block at `offset` that begins in line `number`; the line the next one begins in.
    fn take(&mut self, (mut number, offset): (u64, u64), bytes: &[u8]) -> u64 {
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            let place = (number, offset + start as u64);
            self.add(place, bytes.get(start..=end).unwrap_or_default());
            start = end + 1;
            number += 1;
            if self.is_done(number) {
                return number;
            }
        }
        self.add((number, offset + start as u64), bytes.get(start..).unwrap_or_default());
        number
    }

    fn add(&mut self, (number, start): (u64, u64), bytes: &[u8]) {
        if !self.range.contains(&number) || bytes.is_empty() {
            return;
        }
        if self.lines.last().is_none_or(|line| line.number != number) {
            self.lines.push(RawLine { number, start, bytes: Vec::new(), omitted: 0 });
        }
        if let Some(line) = self.lines.last_mut() {
            let room = MAX_LINE.saturating_sub(line.bytes.len()).min(bytes.len());
            line.bytes.extend(bytes.get(..room).unwrap_or_default());
            line.omitted += (bytes.len() - room) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use proptest::prelude::*;

    use super::*;
    use crate::model::LogKind;

    /// A log in memory that gives at most `at_once` bytes.
    struct Memory {
        bytes: Vec<u8>,
        at_once: u64,
    }

    impl LogSource for Memory {
        fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
            let end = range
                .end
                .min(range.start.saturating_add(self.at_once))
                .min(self.bytes.len() as u64);
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
        let bytes: Vec<u8> =
            (0..200_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let source = Memory { bytes, at_once: 100_000 };
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
        let source = Memory { bytes: vec![b'x'; 1 << 20], at_once: u64::MAX };
        let mut index = LineIndex::new(LOG);
        index.set_extent(&source, extent(&source.bytes)).unwrap();
        index.advance(&source, u64::MAX).unwrap();
        let found = index.lines(&source, 0..5).unwrap();
        assert_eq!((found.len(), found[0].bytes.len()), (1, MAX_LINE));
        assert_eq!(found[0].omitted, (1 << 20) - MAX_LINE as u64);
    }

    #[test]
    fn many_short_lines_stay_in_bounds() {
        let source = Memory { bytes: vec![b'\n'; 9 << 20], at_once: u64::MAX };
        let mut index = LineIndex::new(LOG);
        index.set_extent(&source, extent(&source.bytes)).unwrap();
        index.advance(&source, u64::MAX).unwrap();
        assert!(index.stride > STRIDE && index.memory() < 1_200_000, "{}", index.memory());
        let found = texts(index.lines(&source, 9_000_000..9_000_002).unwrap());
        assert_eq!(found, [(9_000_000, b"\n".to_vec()), (9_000_001, b"\n".to_vec())]);
    }

    /// A log in memory whose beginning is no longer kept.
    struct Shrinking {
        log: Memory,
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
            let source = Shrinking { log: Memory { bytes, at_once }, start: Default::default() };
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
            let source = Memory { bytes, at_once };
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
}
