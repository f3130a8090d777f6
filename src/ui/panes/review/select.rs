//! Which changed lines the person has picked, and where the cursor is.
//!
//! Pure state over places of lines in a body; must not decide.

use std::collections::BTreeSet;

use crate::text::diff::LineKind;
use crate::text::line_pairs::LinePair;

use super::body::ReviewBody;
use super::body_line::LineRole;

/// Picked lines of the change on screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickedLines {
    cursor: usize,
    picked: BTreeSet<usize>,
}

/// What is picked or put back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickScope {
    /// The line under the cursor alone.
    Line,
    /// It and its other version.
    Change,
    /// The hunk it is in.
    Hunk,
    /// All changed lines.
    All,
}

impl PickedLines {
    /// Nothing is picked; the cursor is on that line.
    #[must_use]
    pub const fn new(cursor: usize) -> Self {
        Self { cursor, picked: BTreeSet::new() }
    }

    /// Where the cursor is.
    #[must_use]
    pub const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether a line is picked.
    #[must_use]
    pub fn is_picked(&self, line: usize) -> bool {
        self.picked.contains(&line)
    }

    /// The picked lines, in order.
    #[must_use]
    pub const fn picked(&self) -> &BTreeSet<usize> {
        &self.picked
    }

    /// Moves the cursor to the next changed line, or with a negative step to the one before.
    /// Whether there is one.
    pub fn step(&mut self, body: &ReviewBody, step: i64) -> bool {
        let next = if step < 0 {
            body.changed().take_while(|line| *line < self.cursor).last()
        } else {
            body.changed().find(|line| *line > self.cursor)
        };
        self.cursor = next.unwrap_or(self.cursor);
        next.is_some()
    }

    /// Moves the cursor to the start of the next hunk, or of the one before.
    pub fn step_hunk(&mut self, body: &ReviewBody, step: i64) -> bool {
        let mut starts = body.hunks.iter().map(|hunk| hunk.start);
        let next = if step < 0 {
            starts.rfind(|start| *start < self.cursor)
        } else {
            starts.find(|start| *start > self.cursor)
        };
        self.cursor = next.unwrap_or(self.cursor);
        next.is_some()
    }

    /// Moves the cursor to a line that changes.
    pub const fn go_to(&mut self, line: usize) {
        self.cursor = line;
    }

    /// Picks what is in reach, or puts it back when all of it is picked.
    pub fn toggle(&mut self, body: &ReviewBody, reach: PickScope) {
        let lines: Vec<usize> = match reach {
            PickScope::Line => vec![self.cursor],
            PickScope::Change => [Some(self.cursor), other_version(body, self.cursor)]
                .into_iter()
                .flatten()
                .collect(),
            PickScope::Hunk => {
                let hunk = body.hunks.iter().find(|hunk| hunk.contains(&self.cursor));
                let hunk = hunk.cloned().unwrap_or_default();
                body.changed().filter(|line| hunk.contains(line)).collect()
            }
            PickScope::All => body.changed().collect(),
        };
        if lines.iter().all(|line| self.picked.contains(line)) {
            for line in &lines {
                self.picked.remove(line);
            }
        } else {
            self.picked.extend(lines);
        }
    }
}

/// The other version of a changed line.
#[must_use]
pub fn other_version(body: &ReviewBody, line: usize) -> Option<usize> {
    let own = body.lines.get(line)?;
    let (LinePair::Version(no) | LinePair::Spaces(no)) = own.pair else { return None };
    let wanted = match own.change()? {
        LineKind::Removed => LineRole::Diff(LineKind::Added, None, Some(no)),
        LineKind::Added | LineKind::Context => LineRole::Diff(LineKind::Removed, Some(no), None),
    };
    body.changed().find(|place| body.lines.get(*place).is_some_and(|line| line.role == wanted))
}

#[cfg(test)]
mod tests {
    use super::super::body::tests_support::body;
    use super::*;

    #[test]
    fn a_line_goes_with_its_other_version_a_hunk_with_its_lines() {
        let old: String = (0..30).map(|n| format!("int value_{n} = 1;\n")).collect();
        let new = old.replace("value_3 = 1", "value_3 = 2").replace("value_20 = 1", "value_20 = 2");
        let body = body(Some(&old), Some(&format!("{new}int more;\n")));
        let mut selection = PickedLines::new(body.changed().next().unwrap());
        selection.toggle(&body, PickScope::Change);
        assert_eq!(selection.picked().len(), 2);
        selection.toggle(&body, PickScope::Line);
        assert_eq!(selection.picked().len(), 1);
        assert!(selection.step_hunk(&body, 1) && selection.step(&body, 1));
        selection.toggle(&body, PickScope::Hunk);
        assert_eq!(selection.picked().len(), 3);
        selection.toggle(&body, PickScope::All);
        assert_eq!(selection.picked().len(), 5);
        selection.toggle(&body, PickScope::All);
        assert_eq!(selection.picked().len(), 0);
        while selection.step(&body, 1) {}
        assert_eq!(selection.cursor(), body.changed().last().unwrap());
    }
}
