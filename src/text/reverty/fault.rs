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
    /// How many more there are, and where the first and the last noted of them are.
    more: Option<(usize, u32, u32)>,
}

impl Faults {
    /// Notes a fault, unless one is noted there already; beyond a number of them, only that it is.
    pub(super) fn add(&mut self, at: Span, message: impl Into<String>, hint: impl Into<String>) {
        let is_known = self.found.iter().any(|(start, ..)| *start == at.start);
        if is_known {
            return;
        }
        if !self.is_full() {
            self.found.push((at.start, message.into(), hint.into()));
            return;
        }
        self.more = Some(match self.more {
            None => (1, at.start, at.start),
            Some(known @ (.., last)) if last == at.start => known,
            Some((count, first, _)) => (count + 1, first, at.start),
        });
    }

    /// Whether the words of no more are kept.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST_FAULTS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// In the order of the text, with lines and columns.
    pub(super) fn in_words(mut self, text: &str) -> Vec<Fault> {
        self.found.sort_by_key(|(start, ..)| *start);
        if let Some((count, first, _)) = self.more {
            let (fault, more) = if count == 1 { ("fault", "is") } else { ("faults", "are") };
            let message = format!("{count} more {fault} from here on {more} not shown");
            // Behind the others, whichever of them were found first.
            let last = self.found.last().map_or(0, |(start, ..)| *start);
            let hint = "Correct the ones before, then check again.".to_owned();
            self.found.push((first.max(last), message, hint));
        }
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

    #[test]
    fn faults_that_are_too_many_are_counted() {
        let text = "x\n".repeat(200);
        let of = |count: u32| {
            let mut faults = Faults::default();
            for line in 0..count {
                let at = Span { start: line * 2, end: line * 2 + 1 };
                faults.add(at, "wrong", "");
                faults.add(at, "wrong again", "");
            }
            faults.in_words(&text)
        };
        assert_eq!(of(100).len(), 100);
        let many = of(150);
        assert_eq!(many.len(), 101);
        assert!(many[100].message.starts_with("50 more faults"), "{:?}", many[100]);
        assert_eq!(many[100].line, 101);
    }
}
