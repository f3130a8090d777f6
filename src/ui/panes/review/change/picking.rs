//! Which changed lines the person has picked: by keys, by clicks, and what the file becomes.
//!
//! Owns the cursor and the picked lines. Decides nothing.

use std::collections::BTreeSet;

use crate::model::{BlobRef, BlobSource, Change, UserError};
use crate::text::diff::{DiffLimits, LineKind, Options, diff};
use crate::text::line_pairs::LinePair;
use crate::text::select::{LineSelection, select};
use crate::ui::action::Action;
use crate::ui::pane::Effect;

use super::ChangeView;
use super::body::ReviewBody;
use super::items::{Columns, DiffItem};
use super::line::LineRole;

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
        self.turn_to(next)
    }
    /// Moves the cursor to the start of the next hunk, or of the one before.
    pub fn step_hunk(&mut self, body: &ReviewBody, step: i64) -> bool {
        let mut starts = body.hunks.iter().map(|hunk| hunk.start);
        let next = if step < 0 {
            starts.rfind(|start| *start < self.cursor)
        } else {
            starts.find(|start| *start > self.cursor)
        };
        self.turn_to(next)
    }
    /// Moves the cursor to a line that changes; whether there is one.
    fn turn_to(&mut self, line: Option<usize>) -> bool {
        self.cursor = line.unwrap_or(self.cursor);
        line.is_some()
    }

    /// Picks what is in reach, or puts it back when all of it is picked.
    pub fn toggle(&mut self, body: &ReviewBody, reach: PickScope) {
        let lines: Vec<usize> = match reach {
            PickScope::Line => vec![self.cursor],
            PickScope::Change => {
                [self.cursor].into_iter().chain(other_version(body, self.cursor)).collect()
            }
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

    /// The file with the picked lines only.
    ///
    /// # Errors
    /// When it cannot be put together from what is on screen.
    pub fn content(
        &self,
        change: &Change,
        blobs: &dyn BlobSource,
        body: &ReviewBody,
    ) -> Result<Vec<u8>, UserError> {
        let read = |blob: Option<BlobRef>| {
            blob.map_or_else(|| Ok(Vec::new()), |blob| blobs.blob(&blob.hash).map(|b| b.to_vec()))
        };
        let (old, new) = (read(change.before())?, read(change.after())?);
        let limits = DiffLimits { lines: usize::MAX, line: usize::MAX, bytes: usize::MAX };
        let found = diff(&old, &new, Options { limits, ..Options::default() });
        let (all, accepted) = (accept(body, |_| true), accept(body, |line| self.is_picked(line)));
        if LineSelection::all(&found) != all {
            return Err(UserError::new(
                "Cannot pick single lines of this change",
                "it is too long for an exact comparison",
                "Decide on it as a whole, or edit it.",
            ));
        }
        Ok(select(&old, &new, &found, &accepted))
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

fn accept(body: &ReviewBody, is_picked: impl Fn(usize) -> bool) -> LineSelection {
    let mut accepted = LineSelection::default();
    for place in body.changed().filter(|place| is_picked(*place)) {
        match body.lines.get(place).map(|line| line.role) {
            Some(LineRole::Diff(LineKind::Removed, Some(old), _)) => {
                accepted.removed.insert(old);
            }
            Some(LineRole::Diff(LineKind::Added, _, Some(new))) => {
                accepted.added.insert(new);
            }
            Some(LineRole::Diff(..) | LineRole::Fact | LineRole::Note) | None => {}
        }
    }
    accepted
}

/// Does what a key asks for; `None` when it is no key for picking.
pub fn act(
    action: Action,
    selection: &mut PickedLines,
    change: &mut ChangeView,
) -> Option<Vec<Effect>> {
    let body = change.body()?.clone();
    let moved = match action {
        Action::Up => selection.step(&body, -1),
        Action::Down => selection.step(&body, 1),
        Action::NextHunk => selection.step_hunk(&body, 1),
        Action::PreviousHunk => selection.step_hunk(&body, -1),
        Action::Top => selection.turn_to(body.changed().next()),
        Action::Bottom => selection.turn_to(body.changed().last()),
        _ => {
            selection.toggle(&body, scope_of(action)?);
            true
        }
    };
    change.reveal(selection.cursor());
    if moved { Some(Vec::new()) } else { Some(Effect::info("there is no other changed line")) }
}

/// What a key picks or puts back; `None`: nothing.
const fn scope_of(action: Action) -> Option<PickScope> {
    match action {
        Action::ToggleLine => Some(PickScope::Change),
        Action::ToggleSingle => Some(PickScope::Line),
        Action::ToggleHunk => Some(PickScope::Hunk),
        Action::ToggleAll => Some(PickScope::All),
        _ => None,
    }
}
/// What a click is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickTarget {
    /// A changed line of the body.
    Changed(usize),
    /// Unchanged lines that are folded away.
    Folded,
}

/// Which half of a row that shows two versions side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Left,
    Right,
}

/// What the row at that distance from the topmost in sight shows in one of its halves.
pub fn target(change: &ChangeView, row: usize, half: Half) -> Option<ClickTarget> {
    let (layout, body) = (change.layout()?, change.body()?);
    let row = change.rows().nth(row)?;
    if matches!(layout.item_at(row)?.0, DiffItem::Fold(_)) {
        return Some(ClickTarget::Folded);
    }
    let [left, right] = layout.cells(row);
    let is_right =
        half == Half::Right && layout.columns() == Columns::SideBySide && right.is_some();
    let line = if is_right { right } else { left }?.line;
    body.changed().any(|changed| changed == line).then_some(ClickTarget::Changed(line))
}

/// A click on a changed line turns to it; on the line that is turned to, it picks its hunk or puts
/// it back.
pub fn click(line: usize, selection: &mut PickedLines, change: &ChangeView) {
    match change.body() {
        Some(body) if selection.cursor() == line => selection.toggle(body, PickScope::Hunk),
        _ => selection.cursor = line,
    }
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
