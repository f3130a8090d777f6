//! Watches a board's output for panics, core dumps and boot loops.
//!
//! Owns the cheap look at every line. Reads text only: nothing a board prints can do more than
//! leave a report.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use memchr::memchr;

use super::core_dump::{CoreDumpParser, FoundDump};
use super::parse::PanicParser;
use super::raw::RawPanic;
use crate::device::lines::reset_cause;
use crate::model::PanicKind;
use crate::text::sanitize;

/// Bytes of one line that are looked at.
const MAX_LINE: usize = 4096;

/// This many starts within [`LOOP_TIME`] are a boot loop.
const LOOP_STARTS: usize = 4;

/// See [`LOOP_STARTS`].
const LOOP_TIME: Duration = Duration::from_secs(20);

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanicEvent {
    /// A panic, complete.
    Panic(Box<RawPanic>),
    /// A core dump, complete.
    Dump(FoundDump),
}

/// Watches the bytes of one port.
#[derive(Debug, Default)]
pub struct Watch {
    /// The line that has not ended, cut at [`MAX_LINE`].
    partial: Vec<u8>,
    /// Number of the line that `partial` belongs to.
    number: u64,
    panic: PanicParser,
    dump: CoreDumpParser,
    starts: VecDeque<Instant>,
    is_looping: bool,
}

impl Watch {
    /// One for output that begins at line `number` of its log.
    #[must_use]
    pub fn starting_at(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Number of the line that has not ended.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.number
    }

    /// Takes more bytes; returns what is complete now.
    pub fn push(&mut self, bytes: &[u8], now: Instant) -> Vec<PanicEvent> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                self.line(line.get(..line.len().min(MAX_LINE)).unwrap_or(line), now, &mut found);
            } else {
                self.keep(line);
                let whole = std::mem::take(&mut self.partial);
                self.line(&whole, now, &mut found);
                self.partial = whole;
                self.partial.clear();
            }
            self.number += 1;
        }
        self.keep(rest);
        found
    }

    /// Whether a panic is being printed, so that silence ends it.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.panic.is_open() && !self.dump.is_open()
    }

    /// The board fell silent: what it printed is all there is.
    pub fn finish(&mut self) -> Option<PanicEvent> {
        self.panic.finish().map(|panic| PanicEvent::Panic(Box::new(panic)))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let space = MAX_LINE.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..bytes.len().min(space)).unwrap_or(bytes));
    }

    fn line(&mut self, bytes: &[u8], now: Instant, found: &mut Vec<PanicEvent>) {
        if !self.panic.is_open() && !self.dump.is_open() && !may_matter(bytes) {
            return;
        }
        let text = sanitize::log_line(bytes);
        if let Some(dump) = self.dump.line(&text) {
            found.push(PanicEvent::Dump(dump));
        }
        if self.dump.is_open() {
            return;
        }
        if let Some(panic) = self.panic.line(self.number, &text) {
            found.push(PanicEvent::Panic(Box::new(panic)));
        }
        if let Some(cause) = reset_cause(&text) {
            found.extend(self.started(cause, &text, now));
        }
    }

    /// Counts the starts of the chip.
    fn started(&mut self, cause: &str, text: &str, now: Instant) -> Option<PanicEvent> {
        while self.starts.front().is_some_and(|at| now.duration_since(*at) > LOOP_TIME) {
            self.starts.pop_front();
        }
        if self.starts.is_empty() {
            self.is_looping = false;
        }
        self.starts.push_back(now);
        if self.starts.len() < LOOP_STARTS || self.is_looping {
            return None;
        }
        self.is_looping = true;
        let mut panic = RawPanic::new(PanicKind::BootLoop);
        panic.message = text.trim().to_owned();
        panic.details = vec![format!(
            "the chip has started {} times within {} seconds; last cause: {cause}",
            self.starts.len(),
            LOOP_TIME.as_secs()
        )];
        panic.lines = self.number..self.number + 1;
        Some(PanicEvent::Panic(Box::new(panic)))
    }
}

/// Whether a line can begin something, told from a few bytes: nearly every line cannot.
fn may_matter(bytes: &[u8]) -> bool {
    let bytes = match bytes {
        [0x1b, b'[', rest @ ..] => {
            let end = memchr(b'm', rest.get(..rest.len().min(12)).unwrap_or(rest));
            end.and_then(|end| rest.get(end + 1..)).unwrap_or(rest)
        }
        bytes => bytes,
    };
    match bytes {
        [] => false,
        [b'I' | b'D' | b'V', b' ', b'(', ..] => false,
        [b'E' | b'W', b' ', ..] => {
            memchr::memmem::find(bytes, b"task_wdt").is_some()
                || memchr::memmem::find(bytes, b"rownout").is_some()
        }
        [
            b'G' | b'a' | b'*' | b'E' | b'C' | b'B' | b'S' | b'=' | b'r' | b'e' | b'\r' | b' ',
            ..,
        ] => true,
        bytes => memchr::memmem::find(bytes, b"rst:0x").is_some(),
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
