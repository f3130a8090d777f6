//! The one proposal on screen: its body, and where it is scrolled to.
//!
//! Owns the place in the text and what was seen. Must not decide.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{
    BlobSource, Change, ContentHash, FindingLevel, FindingPlace, Proposal, ProposalId, Side,
    UserError,
};
use crate::text::diff::LineKind;

use super::body::{Colours, Extent, ReviewBody};
use super::body_line::{BodyLine, LineRole};
use super::edited::{Edit, OwnVersion, VersionCheck};
use super::items::{Columns, ItemOptions, UnchangedLines};
use super::layout::{Geometry, Layout, Overflow};
use super::load::Load;
use super::look::{CONTEXT, CONTEXTS, Look, Wrapping};
use super::seen::SeenLines;

/// Columns for text, across the pane and in each half of it, and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Viewport {
    /// Columns across the pane.
    pub one: usize,
    /// Columns in each half; `None` when there is no room for two.
    pub half: Option<usize>,
    /// Rows.
    pub rows: usize,
}

/// A proposal on screen.
#[derive(Debug)]
pub struct Shown {
    /// Which.
    pub id: ProposalId,
    /// What a decision is bound to.
    pub hash: ContentHash,
    load: Load,
    pub(super) seen: Option<SeenLines>,
    pub(super) layout: Option<Layout>,
    pub(super) place: VisibleRange,
    /// Where what weighs most was found, in the text.
    found: Option<FindingPlace>,
    /// The person's words on lines, not sent yet.
    pub remarks: BTreeMap<usize, String>,
    /// Words that were begun and not sent.
    pub words: String,
    /// The person's version of the text, put aside and not sent.
    pub draft: Option<String>,
    /// The person's version while it is on screen instead of the proposed one.
    pub edit: Option<Box<Edit>>,
    /// What is particular of the person's version, when this is one.
    pub own: Option<OwnVersion>,
}

/// What part of the layout is in sight.
#[derive(Debug, Clone, Copy)]
pub(super) struct VisibleRange {
    /// The row at the top.
    pub top: usize,
    /// The column at the left.
    pub first_column: usize,
    /// What there is room for.
    pub viewport: Viewport,
    /// How many unchanged lines show.
    context: UnchangedLines,
}

impl Shown {
    /// Begins to read what `proposal` is about.
    #[must_use]
    pub fn new(proposal: &Proposal, blobs: &Arc<dyn BlobSource>) -> Self {
        let change = &proposal.change;
        let context = match change {
            Change::Insert { .. } => UnchangedLines::Whole,
            Change::Save { .. }
            | Change::Delete { .. }
            | Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => UnchangedLines::Lines(CONTEXT),
        };
        Self {
            id: proposal.id,
            hash: change.hash(),
            load: Load::begin(change, &proposal.facts, blobs),
            seen: None,
            layout: None,
            place: VisibleRange { top: 0, first_column: 0, viewport: Viewport::default(), context },
            found: heaviest(proposal),
            remarks: BTreeMap::new(),
            words: String::new(),
            draft: None,
            edit: None,
            own: None,
        }
    }

    /// Takes over what the person wrote about what it was before: words on lines that are no
    /// longer there become words about the whole.
    pub fn inherit(&mut self, before: Self) {
        self.draft = before.edit.map(|edit| edit.text).or(before.draft);
        let remarks = before.remarks.into_values();
        let words = std::iter::once(before.words).chain(remarks).filter(|text| !text.is_empty());
        self.words = words.collect::<Vec<_>>().join(" ");
    }

    /// Takes the person's version off the screen; it is kept. Whether there was one.
    pub fn put_edit_aside(&mut self) -> bool {
        let Some(edit) = self.edit.take() else { return false };
        self.draft = Some(edit.text);
        true
    }

    /// How far the person's version was looked at; `None` when this is none.
    #[must_use]
    pub fn version_check(&self) -> Option<&VersionCheck> {
        self.own.as_ref().map(|own| &own.check)
    }

    /// Goes where what weighs most was found, if that asks for a look.
    pub fn go_to_heaviest(&mut self, proposal: &Proposal) {
        self.found = heaviest(proposal);
        if let (Some(_), Some(body), Some(layout)) = (&self.found, self.body(), &self.layout) {
            let rows = self.place.viewport.rows;
            self.place.top = first_row(body, layout, rows, self.found.as_ref());
        }
    }

    /// Takes over what was read aside. Whether something new is there.
    pub fn poll(&mut self) -> bool {
        self.load.poll()
    }

    /// Whether it is still being read.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        self.load.is_reading()
    }

    /// Whether it will change by itself because it is being read or coloured.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.load.is_busy()
    }

    /// Why it cannot be shown.
    #[must_use]
    pub const fn error(&self) -> Option<&UserError> {
        self.load.error()
    }

    /// What it would do, once it is read.
    #[must_use]
    pub const fn body(&self) -> Option<&Rc<ReviewBody>> {
        self.load.body()
    }

    /// The colours of its source, once they are known.
    #[must_use]
    pub fn colours(&self) -> Option<&Colours> {
        self.load.colours()
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

    /// As [`Shown::unseen`], for when what is laid out has been drawn.
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

    /// Lays the body out in that room.
    pub fn lay_out(&mut self, look: Look, room: Viewport) {
        self.place.viewport = room;
        let Some(body) = self.body().cloned() else { return };
        // A file that comes or goes as a whole has nothing to stand beside.
        let is_single = look.columns.is_none() && look.is_wide && self.has_one_version();
        let columns = match room.half {
            Some(_) if !is_single => look.columns(),
            Some(_) | None => Columns::Unified,
        };
        let wish = ItemOptions { columns, blanks: look.blanks, context: self.place.context };
        let overflow = match look.wrapping {
            Wrapping::Wrapped => Overflow::Wrap,
            Wrapping::Scrolled => Overflow::Scroll(self.place.first_column),
        };
        let geometry = Geometry { one: room.one, half: room.half.unwrap_or(0), overflow };
        let fits = |layout: &Layout| layout.fits(&body, wish, geometry, &self.remarks);
        if !self.layout.as_ref().is_some_and(fits) {
            let new = Layout::new(Rc::clone(&body), wish, geometry, &self.remarks);
            match self.layout.take() {
                None => {
                    self.seen = Some(SeenLines::new(&body));
                    self.place.top = first_row(&body, &new, room.rows, self.found.as_ref());
                }
                Some(old) => {
                    // The line at the top stays there.
                    let line = old.line_at(self.place.top).unwrap_or(0);
                    let part = self.place.top - old.rows_of(line).start.min(self.place.top);
                    let rows = new.rows_of(line);
                    let part = part.min(rows.len().saturating_sub(1));
                    self.place.top = rows.start + part;
                }
            }
            self.layout = Some(new);
        }
        self.place.top = self.place.top.min(self.last_top());
    }

    /// The rows in sight.
    pub fn rows(&self) -> std::ops::Range<usize> {
        self.place.top..self.total().min(self.place.top + self.place.viewport.rows)
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::rows)
    }

    /// Whether the old and the new version fit beside each other.
    #[must_use]
    pub const fn has_room_beside(&self) -> bool {
        self.place.viewport.half.is_some()
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
        self.place.context
    }

    /// Whether what is laid out still has to be noted as seen.
    #[must_use]
    pub fn is_news(&self) -> bool {
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
    pub(super) fn last_top(&self) -> usize {
        self.total().saturating_sub(self.place.viewport.rows)
    }

    /// Show more unchanged lines around the changes, or fewer. Whether that was possible.
    pub fn change_context(&mut self, step: isize) -> bool {
        let levels = CONTEXTS.len();
        let level = match self.place.context {
            UnchangedLines::Whole => levels,
            UnchangedLines::Lines(lines) => {
                CONTEXTS.iter().position(|n| *n >= lines).unwrap_or(levels)
            }
        };
        let next = level.saturating_add_signed(step).min(levels);
        self.place.context =
            CONTEXTS.get(next).map_or(UnchangedLines::Whole, |lines| UnchangedLines::Lines(*lines));
        next != level
    }

    /// Show the whole file, or only the changes. Tells when the file is not there as a
    /// whole.
    pub fn toggle_whole(&mut self) -> Extent {
        self.place.context = match self.place.context {
            UnchangedLines::Whole => UnchangedLines::Lines(CONTEXT),
            UnchangedLines::Lines(_) => UnchangedLines::Whole,
        };
        self.body().map_or(Extent::Whole, |body| body.extent)
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
#[path = "shown_tests.rs"]
mod tests;
