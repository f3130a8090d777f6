//! What is wrong with a program, and where: as an offset while it is read, as line and column when
//! a person reads it.
//!
//! Owns the counting of lines and columns.

use serde::Serialize;

/// Faults that are reported about one program; a person fixes some of them and checks again.
const MOST_FAULTS: usize = 100;

/// A piece of the source, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// From the start of one piece to the end of another.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// One thing that is wrong, as a person reads it. Line and column count from 1, columns in
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// What to write instead; empty when there is nothing to add.
    pub hint: String,
}

/// The faults found so far, by their offsets.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: Vec<(u32, String, String)>,
}

impl Faults {
    /// Notes a fault; beyond a number of them, and where one is noted already, nothing.
    pub(super) fn add(&mut self, at: Span, message: impl Into<String>, hint: impl Into<String>) {
        let is_known = self.found.iter().any(|(start, ..)| *start == at.start);
        if self.found.len() < MOST_FAULTS && !is_known {
            self.found.push((at.start, message.into(), hint.into()));
        }
    }

    /// Whether no more are noted.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST_FAULTS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// In the order of the text, with lines and columns.
    pub(super) fn in_words(mut self, text: &str) -> Vec<Fault> {
        self.found.sort_by_key(|(start, ..)| *start);
        let bytes = text.as_bytes();
        let (mut line, mut line_start, mut seen) = (1, 0, 0);
        let mut faults = Vec::with_capacity(self.found.len());
        for (start, message, hint) in self.found {
            let end = bytes.len().min(start as usize);
            for (at, byte) in bytes.iter().enumerate().take(end).skip(seen) {
                if *byte == b'\n' {
                    line += 1;
                    line_start = at + 1;
                }
            }
            seen = seen.max(end);
            let before = bytes.get(line_start..end).unwrap_or_default();
            // The bytes that begin a character.
            let characters = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
            let column = u32::try_from(characters + 1).unwrap_or(u32::MAX);
            faults.push(Fault { line, column, message, hint });
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let mut faults = Faults::default();
        let text = "a\n\u{e4}\u{1f600}b\n";
        let at = u32::try_from(text.find('b').unwrap()).unwrap();
        faults.add(Span { start: at, end: at + 1 }, "second", "");
        faults.add(Span { start: 0, end: 1 }, "first", "");
        faults.add(Span { start: 0, end: 1 }, "not twice at one place", "");
        let places: Vec<_> = faults.in_words(text).iter().map(|f| (f.line, f.column)).collect();
        assert_eq!(places, [(1, 1), (2, 3)]);
    }
}
