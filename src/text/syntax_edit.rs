//! The tree of one version of a source from that of another.
//!
//! Owns where the two differ, by lines. Must not compare them.

use std::iter;
use std::ops::Range;

use tree_sitter::{InputEdit, Point, Tree};

use super::lines::lines;

/// Lines, counted from 0, that differ between two versions; all other lines are the same in both,
/// in the same order. One of the ranges may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Lines of the old version.
    pub old: Range<usize>,
    /// Lines of the new version.
    pub new: Range<usize>,
}

/// A text and where its lines start; the last one is the end of the text.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) starts: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let starts = iter::once(0).chain(lines(text).iter().map(|line| line.end)).collect();
        Self { text, starts }
    }

    pub(super) fn lines(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn at(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    pub(super) fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        self.at(lines.start)..self.at(lines.end)
    }

    pub(super) fn slice(&self, lines: &Range<usize>) -> &'a str {
        self.text.get(self.bytes(lines)).unwrap_or_default()
    }
}

/// The tree of the new version with every change taken back, last one first, so that the places of
/// those before still hold.
pub(super) fn edited(mut tree: Tree, (old, new): (&str, &str), changes: &[Changed]) -> Tree {
    let (old, new) = (Text::new(old), Text::new(new));
    let row = |row: usize| Point { row, column: 0 };
    for change in changes.iter().rev() {
        let (before, after) = (new.bytes(&change.new), old.bytes(&change.old));
        tree.edit(&InputEdit {
            start_byte: before.start,
            old_end_byte: before.end,
            new_end_byte: before.start + after.len(),
            start_position: row(change.new.start),
            old_end_position: row(change.new.end),
            new_end_position: row(change.new.start + change.old.len()),
        });
    }
    tree
}
