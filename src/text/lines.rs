//! The lines of a text with their ends, and which end a text uses.

use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// Without its end.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where the next one begins, in bytes.
    pub end: usize,
}

/// Splits a text at its line feeds. A text that ends with one has no empty line behind it.
#[must_use]
pub fn lines(source: &str) -> Vec<TextLine<'_>> {
    let mut start = 0;
    source
        .split_inclusive('\n')
        .map(|whole| {
            let end = start + whole.len();
            let text = whole.strip_suffix('\n').unwrap_or(whole);
            let line = TextLine { text: text.strip_suffix('\r').unwrap_or(text), start, end };
            start = end;
            line
        })
        .collect()
}

/// Each line without blanks at its end, with the byte it starts at.
pub fn line_starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end())
    })
}

/// The line, from 1, in which the byte `at` stands.
#[must_use]
pub fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// How a text ends its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    Lf,
    /// Carriage return and line feed.
    CrLf,
}

impl Newline {
    /// What most lines of a text end with.
    #[must_use]
    pub fn of(source: &str) -> Self {
        let all = source.matches('\n').count();
        if source.matches("\r\n").count() * 2 > all { Self::CrLf } else { Self::Lf }
    }

    /// The end itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// A text with these line ends.
    #[must_use]
    pub fn apply(self, text: &str) -> String {
        let plain = text.replace("\r\n", "\n");
        match self {
            Self::Lf => plain,
            Self::CrLf => plain.replace('\n', "\r\n"),
        }
    }
}

impl fmt::Display for Newline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text with blanks in the place of these bytes; lines stay.
#[must_use]
pub fn blanked(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        for byte in bytes.get_mut(range).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
