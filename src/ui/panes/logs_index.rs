//! Where the lines of a raw log begin.
//!
//! Owns a sparse index in bounded memory and the reading of lines by number. Must not know what a
//! log means, nor keep its bytes.

use std::ops::Range;

use memchr::memchr_iter;

use crate::model::{LogId, LogSource, UserError};

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
    /// Offset of line `n * stride`.
    marks: Vec<u64>,
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
            marks: vec![0],
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

    /// Takes over how much of the log is there now; it may be less than before.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn set_extent(&mut self, source: &dyn LogSource, extent: Extent) -> Result<(), UserError> {
        if extent == self.extent {
            return Ok(());
        }
        self.extent = extent;
        if self.scanned > extent.bytes {
            let keep = self.marks.partition_point(|&mark| mark <= extent.bytes).max(1);
            self.marks.truncate(keep);
            self.scanned = self.marks.last().copied().unwrap_or(0);
            self.feeds = (keep as u64 - 1) * self.stride;
        }
        let last = source.read_log(self.log, extent.bytes.saturating_sub(1)..extent.bytes)?;
        self.has_open_end = last.first().is_some_and(|&byte| byte != b'\n');
        Ok(())
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
        self.marks.push(offset);
        if self.marks.len() > MAX_MARKS {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// Whether every line there is can be found.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.scanned >= self.extent.bytes
    }

    /// How many lines there are, an unfinished last one included.
    #[must_use]
    pub fn len(&self) -> u64 {
        let feeds = if self.is_complete() { self.feeds } else { self.extent.feeds };
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
        let range = range.start..range.end.min(self.len());
        if range.is_empty() {
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
        let place = usize::try_from(range.start / self.stride).unwrap_or(usize::MAX);
        let place = place.min(self.marks.len().saturating_sub(1));
        let mut offset = self.marks.get(place).copied().unwrap_or(0);
        let mut number = place as u64 * self.stride;
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
        let mut size = WINDOW.min(end);
        loop {
            let bytes = self.read_all(source, end - size..end)?;
            let feeds = memchr_iter(b'\n', &bytes).count() as u64;
            // The first line is whole only at the start of the log.
            let (cut, first) = if size == end {
                (0, self.extent.feeds.saturating_sub(feeds))
            } else {
                let cut = memchr_iter(b'\n', &bytes).next().map_or(bytes.len(), |at| at + 1);
                (cut, (self.extent.feeds + 1).saturating_sub(feeds))
            };
            if first <= range.start || size >= MAX_TAIL.min(end) {
                let mut collector = Collector::new(range);
                let place = (first, end - size + cut as u64);
                collector.take(place, bytes.get(cut..).unwrap_or_default());
                return Ok(collector.lines);
            }
            size = (size * 2).min(end);
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

    proptest! {
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
