//! One change on screen: its lines, what of them is in sight, and what was.
//!
//! Owns the place in the text. Must not know what a decision is.

pub mod body;
pub mod draw;
mod facts;
pub mod items;
pub mod layout;
pub mod line;
pub mod picking;
pub mod reading;
mod seen;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{BlobSource, Change, FindingLevel, FindingPlace, Proposal, Side};
use crate::text::diff::LineKind;
use crate::text::syntax::Span;

use body::{Extent, Load, ReviewBody};
use items::{Blanks, Columns, ItemOptions, UnchangedLines};
use layout::{Geometry, Layout, Overflow};
use line::{BodyLine, LineRole};
use seen::SeenLines;

/// What happens to lines that are too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrapping {
    /// They go on in the next row.
    #[default]
    Wrapped,
    /// They are cut, and the text scrolls to the side.
    Scrolled,
}

/// A way to read changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// One or two columns, where the person has chosen.
    pub columns: Option<Columns>,
    /// Whether the screen is wide enough for two columns by themselves.
    pub is_wide: bool,
    /// What to do with changes of blanks.
    pub blanks: Blanks,
    /// What happens to lines that are too wide.
    pub wrapping: Wrapping,
}

impl Look {
    /// One or two columns.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        match (self.columns, self.is_wide) {
            (Some(chosen), _) => chosen,
            (None, true) => Columns::SideBySide,
            (None, false) => Columns::Unified,
        }
    }
}

/// Numbers of unchanged lines around a change that the keys go through.
const CONTEXTS: [usize; 6] = [0, 1, 3, 10, 25, 100];
/// What a change begins with.
const CONTEXT: usize = 3;

/// Columns for text, across the pane and in each half of it, and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Viewport {
    /// Columns across the pane.
    pub one: usize,
    /// Columns in each half; `None` when there is no room for two.
    pub half: Option<usize>,
    pub rows: usize,
}

/// A change on screen.
#[derive(Debug)]
pub struct ChangeView {
    /// What is read of it, off the thread that draws.
    pub load: Load,
    layout: Option<Layout>,
    seen: Option<SeenLines>,
    /// What there is room for.
    viewport: Viewport,
    /// The row at the top.
    top: usize,
    /// The column at the left.
    first_column: usize,
    /// How many unchanged lines show.
    context: UnchangedLines,
    /// Where what weighs most was found, in the text.
    found: Option<FindingPlace>,
}

impl ChangeView {
    /// Begins to read what `proposal` is about.
    #[must_use]
    pub fn new(proposal: &Proposal, blobs: &Arc<dyn BlobSource>) -> Self {
        let context = match proposal.change {
            // The whole file, so that the place of the insertion can be judged.
            Change::Insert { .. } => UnchangedLines::Whole,
            _ => UnchangedLines::Lines(CONTEXT),
        };
        Self {
            load: Load::begin(&proposal.change, &proposal.facts, blobs),
            layout: None,
            seen: None,
            viewport: Viewport::default(),
            top: 0,
            first_column: 0,
            context,
            found: heaviest(proposal),
        }
    }

    /// Goes where what weighs most was found, if that asks for a look.
    pub fn go_to_heaviest(&mut self, proposal: &Proposal) {
        self.found = heaviest(proposal);
        if let (Some(_), Some(body), Some(layout)) = (&self.found, self.body(), &self.layout) {
            self.top = first_row(body, layout, self.viewport.rows, self.found.as_ref());
        }
    }

    /// What it would do, once it is read.
    #[must_use]
    pub fn body(&self) -> Option<&Rc<ReviewBody>> {
        self.load.body()
    }

    /// The coloured pieces of a line, once they are known.
    #[must_use]
    pub fn colours_of(&self, line: &BodyLine) -> &[Span] {
        self.load.colours_of(line.role)
    }

    /// How it is laid out.
    #[must_use]
    pub const fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// How many changed lines were not on screen yet, those included that cannot be.
    #[must_use]
    pub fn unseen(&self) -> usize {
        let Some(body) = self.body() else { return 0 };
        body.left_out + self.seen.as_ref().map_or_else(|| body.to_see(), |seen| seen.unseen(body))
    }

    /// As [`Self::unseen`], for when what is laid out has been drawn.
    #[must_use]
    pub fn unseen_elsewhere(&self) -> usize {
        let (Some(body), Some(seen)) = (self.body(), &self.seen) else { return self.unseen() };
        let mut seen = seen.clone();
        self.mark(body, &mut seen);
        body.left_out + seen.unseen(body)
    }

    /// Of the lines that must be seen, those of `lines` that were not.
    pub fn unseen_of(&self, lines: impl Iterator<Item = usize>) -> usize {
        lines.filter(|line| !self.seen.as_ref().is_some_and(|seen| seen.is_whole(*line))).count()
    }

    fn mark(&self, body: &ReviewBody, seen: &mut SeenLines) {
        if let Some(layout) = &self.layout {
            for cell in self.rows().flat_map(|row| layout.cells(row)).flatten() {
                seen.mark(body, &cell);
            }
        }
    }

    /// Lays the body out in that room, with these words of the person on its lines.
    pub fn lay_out(&mut self, look: Look, space: Viewport, remarks: &BTreeMap<usize, String>) {
        self.viewport = space;
        let Some(body) = self.body().cloned() else { return };
        // A file that comes or goes as a whole has nothing to stand beside.
        let is_single = look.columns.is_none() && look.is_wide && self.has_one_version();
        let columns = match space.half {
            Some(_) if !is_single => look.columns(),
            Some(_) | None => Columns::Unified,
        };
        let wish = ItemOptions { columns, blanks: look.blanks, context: self.context };
        let overflow = match look.wrapping {
            Wrapping::Wrapped => Overflow::Wrap,
            Wrapping::Scrolled => Overflow::Scroll(self.first_column),
        };
        let geometry = Geometry { one: space.one, half: space.half.unwrap_or(0), overflow };
        let fits = |layout: &Layout| layout.fits(&body, wish, geometry, remarks);
        if !self.layout.as_ref().is_some_and(fits) {
            let new = Layout::new(Rc::clone(&body), wish, geometry, remarks);
            match self.layout.take() {
                None => {
                    self.seen = Some(SeenLines::new(&body));
                    self.top = first_row(&body, &new, space.rows, self.found.as_ref());
                }
                Some(old) => {
                    // The line at the top stays there.
                    let line = old.line_at(self.top).unwrap_or(0);
                    let part = self.top - old.rows_of(line).start.min(self.top);
                    let rows = new.rows_of(line);
                    let part = part.min(rows.len().saturating_sub(1));
                    self.top = rows.start + part;
                }
            }
            self.layout = Some(new);
        }
        self.top = self.top.min(self.last_top());
    }

    /// The rows in sight.
    pub fn rows(&self) -> Range<usize> {
        self.top..self.total().min(self.top + self.viewport.rows)
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::rows)
    }

    /// Whether the old and the new version fit beside each other.
    #[must_use]
    pub const fn fits_side_by_side(&self) -> bool {
        self.viewport.half.is_some()
    }

    /// Whether there is no other version to stand beside: a file that comes or goes as a whole.
    #[must_use]
    pub fn has_one_version(&self) -> bool {
        let Some(body) = self.body() else { return false };
        let mut kinds = body.lines.iter().filter_map(|line| match line.role {
            LineRole::Diff(kind, ..) => Some(kind),
            LineRole::Fact | LineRole::Note => None,
        });
        let first = kinds.next().filter(|first| *first != LineKind::Context);
        first.is_some_and(|first| kinds.all(|kind| kind == first))
    }

    /// How many unchanged lines show.
    #[must_use]
    pub const fn context(&self) -> UnchangedLines {
        self.context
    }

    /// Whether what is laid out still has to be noted as seen.
    #[must_use]
    pub fn is_new(&self) -> bool {
        let (Some(body), Some(layout), Some(seen)) = (self.body(), &self.layout, &self.seen) else {
            return false;
        };
        let mut cells = self.rows().flat_map(|row| layout.cells(row)).flatten();
        !cells.all(|cell| seen.knows(body, &cell))
    }

    /// What was laid out has been on screen.
    pub fn was_shown(&mut self) {
        let (Some(body), Some(mut seen)) = (self.body().cloned(), self.seen.take()) else { return };
        self.mark(&body, &mut seen);
        self.seen = Some(seen);
    }

    /// The last row that can be at the top.
    fn last_top(&self) -> usize {
        self.total().saturating_sub(self.viewport.rows)
    }

    /// Show more unchanged lines around the changes, or fewer. Whether that was possible.
    pub fn change_context(&mut self, step: isize) -> bool {
        let levels = CONTEXTS.len();
        let level = match self.context {
            UnchangedLines::Whole => levels,
            UnchangedLines::Lines(lines) => {
                CONTEXTS.iter().position(|n| *n >= lines).unwrap_or(levels)
            }
        };
        let next = level.saturating_add_signed(step).min(levels);
        self.context =
            CONTEXTS.get(next).map_or(UnchangedLines::Whole, |lines| UnchangedLines::Lines(*lines));
        next != level
    }

    /// Show the whole file, or only the changes. Tells when the file is not there as a
    /// whole.
    pub fn toggle_whole(&mut self) -> Extent {
        self.context = match self.context {
            UnchangedLines::Whole => UnchangedLines::Lines(CONTEXT),
            UnchangedLines::Lines(_) => UnchangedLines::Whole,
        };
        self.body().map_or(Extent::Whole, |body| body.extent)
    }

    /// Moves by rows; negative is up.
    pub fn scroll(&mut self, rows: i64) {
        let by = isize::try_from(rows).unwrap_or(if rows < 0 { isize::MIN } else { isize::MAX });
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
    }

    /// Moves to the side. Whether there was anything there.
    pub fn scroll_aside(&mut self, columns: isize) -> bool {
        let Some(layout) = &self.layout else { return false };
        let space = match (layout.columns(), self.viewport.half) {
            (Columns::SideBySide, Some(half)) => half,
            _ => self.viewport.one,
        };
        let most = layout.widest().saturating_sub(space);
        let before = self.first_column;
        self.first_column = before.saturating_add_signed(columns).min(most);
        self.first_column != before
    }

    /// Rows in one screen, without the one that overlaps.
    #[must_use]
    pub fn page(&self) -> i64 {
        i64::try_from(self.viewport.rows.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Goes to the next changed place, or with a negative `step` to the one before. Whether there
    /// is one.
    pub fn go_to_hunk(&mut self, step: i64) -> bool {
        let found = self.top_of_hunk(step);
        self.top = found.unwrap_or(self.top);
        found.is_some()
    }

    /// The topmost row for the next changed place, or with a negative `step` the one before;
    /// `None`: there is none.
    pub fn top_of_hunk(&self, step: i64) -> Option<usize> {
        let (body, layout) = (self.body()?, self.layout.as_ref()?);
        let top = self.top;
        // With some of what is before it in sight.
        let above = (self.viewport.rows / 4).min(3);
        let mut rows =
            body.hunks.iter().map(|hunk| layout.rows_of(hunk.start).start.saturating_sub(above));
        let found =
            if step > 0 { rows.find(|&row| row > top) } else { rows.rfind(|&row| row < top) };
        found.map(|row| row.min(self.last_top())).filter(|row| *row != top)
    }

    /// Goes to the first line that must be seen and was not; what hides it is undone in `look`.
    /// Whether there is such a line.
    pub fn go_to_unseen(&mut self, look: &mut Look) -> bool {
        let (Some(body), Some(layout), Some(seen)) = (self.body(), &self.layout, &self.seen) else {
            return false;
        };
        let Some((line, column)) = seen.next_unseen(body) else { return false };
        let rows = layout.rows_of(line);
        let shows = |row: &usize| {
            let mut cells = layout.cells(*row).into_iter().flatten();
            cells.any(|cell| cell.line == line && cell.part.columns.end > column)
        };
        let found = rows.clone().find(shows);
        let row = found.unwrap_or(rows.start);
        // One line of context above, unless there is hardly any room.
        let row = if self.viewport.rows > 3 { row.saturating_sub(1) } else { row };
        self.top = row.min(self.last_top());
        match look.wrapping {
            Wrapping::Scrolled => self.first_column = column,
            Wrapping::Wrapped if found.is_none() => look.blanks = Blanks::Shown,
            Wrapping::Wrapped => {}
        }
        if look.blanks == Blanks::Folded {
            look.blanks = Blanks::Shown;
        }
        true
    }

    /// Scrolls as little as is needed for a line to be in sight.
    pub fn reveal(&mut self, line: usize) {
        let Some(layout) = &self.layout else { return };
        let rows = layout.rows_of(line);
        let space = self.viewport.rows;
        let margin = (space / 4).min(2);
        if rows.start < self.top + margin {
            self.top = rows.start.saturating_sub(margin);
        } else if rows.end + margin > self.top + space {
            self.top = (rows.end + margin).saturating_sub(space).min(rows.start);
        }
        self.top = self.top.min(self.last_top());
    }

    /// The first changed line in sight, else the first there is.
    #[must_use]
    pub fn first_changed(&self) -> Option<usize> {
        let (body, layout) = (self.body()?, self.layout.as_ref()?);
        let is_changed =
            |line: &usize| body.lines.get(*line).is_some_and(|line| line.change().is_some());
        let in_sight = self.rows().flat_map(|row| layout.cells(row)).flatten();
        in_sight.map(|cell| cell.line).find(is_changed).or_else(|| body.changed().next())
    }
}

/// Where the first of the heaviest findings that ask for a look is.
fn heaviest(proposal: &Proposal) -> Option<FindingPlace> {
    let all = proposal.checks.iter().flat_map(|check| &check.findings);
    let placed = all.filter(|found| found.level > FindingLevel::Note && found.place.is_some());
    // Of equals, `min_by_key` takes the first.
    placed.min_by_key(|found| Reverse(found.level)).and_then(|found| found.place.clone())
}

/// Where to start: with what was found in sight, else with the first change when the body begins
/// with much that stays.
fn first_row(
    body: &ReviewBody,
    layout: &Layout,
    height: usize,
    found: Option<&FindingPlace>,
) -> usize {
    let is_found = |line: &BodyLine| match (line.role, found) {
        (LineRole::Diff(_, old, new), Some(place)) => {
            let number = if place.side == Side::New { new } else { old };
            number.is_some_and(|number| u32::try_from(number) == Ok(place.line))
        }
        (LineRole::Diff(..) | LineRole::Fact | LineRole::Note, _) => false,
    };
    let first = body.lines.iter().position(is_found);
    let first = first.or_else(|| body.lines.iter().position(BodyLine::must_be_seen)).unwrap_or(0);
    let row = layout.rows_of(first).start;
    if row < height { 0 } else { row.saturating_sub(height / 3) }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
