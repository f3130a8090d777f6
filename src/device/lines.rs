//! Splits a board's bytes into lines and recognises what they tell.
//!
//! Owns the knowledge of how ESP32 firmware prints logs, panics and resets. Pure: bytes in, lines
//! out.

use crate::text::esp_log::{self, LogLevel};
use crate::text::sanitize;

/// A line without an end is cut after this many bytes.
const MAX_LINE_BYTES: usize = 4096;

/// What a line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineKind {
    /// A line of the framework's log.
    Log {
        /// How important it is.
        level: LogLevel,
        /// Who wrote it, e.g. `wifi`.
        tag: String,
    },
    /// The chip starts again.
    Reset {
        /// The ROM's words for it, e.g. `0x1 (POWERON)`.
        cause: String,
    },
    /// Anything else.
    Plain,
}

/// One line, harmless to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text without escape sequences.
    pub text: String,
    /// What it tells.
    pub kind: LineKind,
}

/// Splits bytes that come in pieces into lines.
#[derive(Debug, Clone, Default)]
pub struct LineSplitter {
    partial: Vec<u8>,
}

impl LineSplitter {
    /// Takes more bytes; returns the lines that are complete now. A line ends with `\n`; a line
    /// without an end is cut after 4096 bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            self.partial.extend_from_slice(line);
            self.cut_long(&mut lines);
            lines.push(make(&self.partial));
            self.partial.clear();
            rest = after.get(1..).unwrap_or_default();
        }
        self.partial.extend_from_slice(rest);
        self.cut_long(&mut lines);
        lines
    }

    /// The line that has not ended; `None` when there is nothing of it.
    #[must_use]
    pub fn partial(&self) -> Option<Line> {
        (!self.partial.is_empty()).then(|| make(&self.partial))
    }

    fn cut_long(&mut self, lines: &mut Vec<Line>) {
        while self.partial.len() > MAX_LINE_BYTES {
            let rest = self.partial.split_off(MAX_LINE_BYTES);
            lines.push(make(&self.partial));
            self.partial = rest;
        }
    }
}

fn make(bytes: &[u8]) -> Line {
    let text = sanitize::log_line(bytes).into_owned();
    let kind = recognise(&text);
    Line { text, kind }
}

/// Tells what a line without escape sequences is about.
#[must_use]
pub fn recognise(text: &str) -> LineKind {
    let text = text.trim();
    if let Some(log) = esp_log::parse(text) {
        return LineKind::Log { level: log.level, tag: log.tag.to_owned() };
    }
    match reset_cause(text) {
        Some(cause) => LineKind::Reset { cause: cause.to_owned() },
        None => LineKind::Plain,
    }
}

/// The cause of a reset, as the ROM prints it: `rst:0x1 (POWERON_RESET),boot:0x13 (…)`.
#[must_use]
pub fn reset_cause(text: &str) -> Option<&str> {
    let at = text.find("rst:0x")?;
    // `burst:0x1` is no reset.
    let is_word = !text.get(..at)?.ends_with(|c: char| c.is_ascii_alphanumeric());
    let rest = text.get(at + 4..).filter(|_| is_word)?;
    rest.split(',').next()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log_of(level: LogLevel, tag: &str) -> LineKind {
        LineKind::Log { level, tag: tag.to_owned() }
    }

    #[test]
    fn what_boards_print_is_recognised() {
        let reset = |cause: &str| LineKind::Reset { cause: cause.to_owned() };
        let cases = [
            ("I (806) labhello: tick 0", log_of(LogLevel::Info, "labhello")),
            ("E (1) wifi:no: x", log_of(LogLevel::Error, "wifi")),
            ("W (12:00:01.123) app: late", log_of(LogLevel::Warning, "app")),
            ("I (am) here: yes", LineKind::Plain),
            ("I am here", LineKind::Plain),
            ("", LineKind::Plain),
            ("rst:0x1 (POWERON),boot:0x13 (SPI_FAST_FLASH_BOOT)", reset("0x1 (POWERON)")),
            ("ets Jul 29 2019 rst:0xc (SW_CPU_RESET)", reset("0xc (SW_CPU_RESET)")),
            ("first: burst:0 done", LineKind::Plain),
        ];
        for (text, kind) in cases {
            assert_eq!(recognise(text), kind, "{text}");
        }
    }

    #[test]
    fn colours_are_dropped_before_a_line_is_recognised() {
        let mut splitter = LineSplitter::default();
        let lines = splitter.push(b"\x1b[0;33mW (5) a: b\x1b[0m\r\nrest");
        let line = Line { text: "W (5) a: b".into(), kind: log_of(LogLevel::Warning, "a") };
        assert_eq!(lines, [line]);
        assert_eq!(splitter.partial().unwrap().text, "rest");
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            cut in 0usize..200,
        ) {
            let mut whole = LineSplitter::default();
            let all = whole.push(&bytes);
            let mut pieces = LineSplitter::default();
            let (a, b) = bytes.split_at(cut.min(bytes.len()));
            let mut parts = pieces.push(a);
            parts.extend(pieces.push(b));
            prop_assert_eq!(all, parts);
            prop_assert_eq!(whole.partial(), pieces.partial());
        }

        #[test]
        fn no_line_is_endless(count in 1usize..3) {
            let mut splitter = LineSplitter::default();
            let lines = splitter.push(&vec![b'x'; count * MAX_LINE_BYTES + 1]);
            prop_assert_eq!(lines.len(), count);
        }
    }
}
