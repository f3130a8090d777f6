//! The lines of a comparison: what happened to each, and where it is in the other version.

use std::ops::Range;

/// The line of the other version that a changed line belongs to, by its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinePair {
    /// There is none.
    None,
    /// It is another version of that line.
    Version(usize),
    /// It is that line with other blanks.
    Spaces(usize),
    /// It is that line at another place, with its neighbours.
    Moved(usize),
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// It is in both versions.
    Context,
    /// It is only in the old one.
    Removed,
    /// It is only in the new one.
    Added,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// With a line feed.
    Lf,
    /// With carriage return and line feed.
    CrLf,
    /// With the end of the file.
    Missing,
}

/// One line of a [`Hunk`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to it.
    pub kind: LineKind,
    /// Its number in the old version, from 1.
    pub old_no: Option<usize>,
    /// Its number in the new version, from 1.
    pub new_no: Option<usize>,
    /// Its text without the line end, not sanitised.
    pub text: String,
    /// How it ends.
    pub end: LineEnd,
    /// Byte ranges of `text` that differ from the line it was paired with; empty when there is
    /// none or nothing is alike.
    pub emphasis: Vec<Range<usize>>,
    /// The line of the other version that it belongs to.
    pub pair: LinePair,
    /// Bytes at its end that were cut off because it is too long.
    pub cut: usize,
}

/// Changes that lie close together, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old version, from 1; the line before when `old_len` is 0.
    pub old_start: usize,
    /// Lines of the old version.
    pub old_len: usize,
    /// First line in the new version, from 1; the line before when `new_len` is 0.
    pub new_start: usize,
    /// Lines of the new version.
    pub new_len: usize,
    /// Its lines in order, removed ones before added ones.
    pub lines: Vec<DiffLine>,
}

impl Hunk {
    /// The header of the unified form, e.g. `@@ -1,3 +1,4 @@`.
    #[must_use]
    pub fn header(&self) -> String {
        let range = |start: usize, len: usize| match len {
            1 => start.to_string(),
            _ => format!("{start},{len}"),
        };
        let old = range(self.old_start, self.old_len);
        let new = range(self.new_start, self.new_len);
        format!("@@ -{old} +{new} @@")
    }
}
