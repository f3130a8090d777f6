//! Splits a board's bytes into lines and recognises what they tell.
//!
//! Owns the knowledge of how ESP32 firmware prints logs, panics and resets. Pure: bytes in, lines
//! out.

use memchr::memmem;

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
    Plain,
}

/// One line, harmless to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerialLine {
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
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SerialLine> {
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
    pub fn partial(&self) -> Option<SerialLine> {
        (!self.partial.is_empty()).then(|| make(&self.partial))
    }

    fn cut_long(&mut self, lines: &mut Vec<SerialLine>) {
        while self.partial.len() > MAX_LINE_BYTES {
            let rest = self.partial.split_off(MAX_LINE_BYTES);
            lines.push(make(&self.partial));
            self.partial = rest;
        }
    }
}

fn make(bytes: &[u8]) -> SerialLine {
    let text = sanitize::log_line(bytes).into_owned();
    let kind = recognise(&text);
    SerialLine { text, kind }
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

/// What the ROM prints when the chip starts.
const RESET: &[u8] = b"rst:0x";

/// The cause of a reset, as the ROM prints it: `rst:0x1 (POWERON_RESET),boot:0x13 (…)`.
#[must_use]
pub fn reset_cause(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let at = memmem::find_iter(bytes, RESET).find(|at| begins_word(bytes, *at))?;
    text.get(at + b"rst:".len()..)?.split(',').next()
}

/// Where the last reset in raw output is told.
#[must_use]
pub fn last_reset(bytes: &[u8]) -> Option<usize> {
    memmem::rfind_iter(bytes, RESET).find(|at| begins_word(bytes, *at))
}

/// Whether a word begins at `at`: `burst:0x1` is no reset. Colours between letters do not count.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let mut before = bytes.get(..at).unwrap_or_default();
    while let [rest @ .., b'm'] = before {
        let is_parameter = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
        let length = rest.iter().rev().take_while(|byte| is_parameter(byte)).count();
        let Some([text @ .., 0x1b, b'[']) = rest.get(..rest.len() - length) else { break };
        before = text;
    }
    !before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
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
            ("burst:0x1 (x)", LineKind::Plain),
            ("dma_rst:0x1 1rst:0x2", LineKind::Plain),
            ("burst:0x1 (x) rst:0xc (SW_CPU_RESET),boot:0x13", reset("0xc (SW_CPU_RESET)")),
            ("burst:0x1,rst:0x10 (RTCWDT_RTC_RESET)", reset("0x10 (RTCWDT_RTC_RESET)")),
        ];
        for (text, kind) in cases {
            assert_eq!(recognise(text), kind, "{text}");
        }
    }

    #[test]
    fn the_last_reset_in_raw_output_begins_a_word() {
        let cases: [(&[u8], Option<usize>); 9] = [
            (b"", None),
            (b"rst:0x1 (POWERON)", Some(0)),
            (b"burst:0x1 (x)", None),
            (b"a\r\nrst:0x1\r\nb\r\nrst:0xc\r\nburst:0x1 (x)\r\n", Some(15)),
            (b"rst:0x1 1rst:0x2 _rst:0x3 Brst:0x4", Some(0)),
            (b"\x1b[0;32mrst:0x1", Some(7)),
            (b"bu\x1b[0;32m\x1b[mrst:0x1", None),
            (b"[0mrst:0x1", None),
            (b"\xff\xfe\0rst:0x1 rst:0", Some(3)),
        ];
        for (bytes, place) in cases {
            assert_eq!(last_reset(bytes), place, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn colours_are_dropped_before_a_line_is_recognised() {
        let mut splitter = LineSplitter::default();
        let lines = splitter.push(b"\x1b[0;33mW (5) a: b\x1b[0m\r\nrest");
        let line = SerialLine { text: "W (5) a: b".into(), kind: log_of(LogLevel::Warning, "a") };
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
