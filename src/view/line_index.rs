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
    /// Counted from 0.
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
    /// Size in bytes.
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
            // Every other one goes: those whose line is not a multiple of the new stride.
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
            let space = MAX_LINE.saturating_sub(line.bytes.len()).min(bytes.len());
            line.bytes.extend(bytes.get(..space).unwrap_or_default());
            line.omitted += (bytes.len() - space) as u64;
        }
    }
}

#[cfg(test)]
#[path = "line_index_tests.rs"]
mod tests;
