//! The one proposal on screen: its body, and where it is scrolled to.
//!
//! Owns the place in the text and what was seen. Must not decide.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{BlobSource, Change, ContentHash, Proposal, ProposalId, UserError};
use crate::text::diff::LineKind;

use super::body::{Body, Colours, Extent};
use super::body_line::LineRole;
use super::items::{Columns, Context, Wish};
use super::layout::{Geometry, Layout, Overflow};
use super::load::Load;
use super::look::{CONTEXT, CONTEXTS, Look, Wrapping};
use super::seen::Seen;

/// Columns for text, across the pane and in each half of it, and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
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
    pub(super) seen: Option<Seen>,
    pub(super) layout: Option<Layout>,
    pub(super) place: Place,
    context: Context,
    /// The person's words on lines, not sent yet.
    pub remarks: BTreeMap<usize, String>,
    /// Words that were begun and not sent.
    pub words: String,
    /// The person's version of the text, not sent.
    pub draft: Option<String>,
}

/// What part of the layout is in sight.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// The row at the top.
    pub top: usize,
    /// The column at the left.
    pub left: usize,
    /// What there is room for.
    pub room: Room,
}

impl Shown {
    /// Begins to read what `proposal` is about.
    #[must_use]
    pub fn new(proposal: &Proposal, blobs: &Arc<dyn BlobSource>) -> Self {
        let change = &proposal.change;
        Self {
            id: proposal.id,
            hash: change.hash(),
            load: Load::begin(change, &proposal.facts, blobs),
            seen: None,
            layout: None,
            place: Place::default(),
            context: match change {
                Change::Insert { .. } => Context::Whole,
                Change::Save { .. }
                | Change::Delete { .. }
                | Change::Flash(_)
                | Change::Erase(_)
                | Change::Send(_)
                | Change::Read(_)
                | Change::Nvs(_) => Context::Lines(CONTEXT),
            },
            remarks: BTreeMap::new(),
            words: String::new(),
            draft: None,
        }
    }

    /// Takes over what the person wrote about what it was before: words on lines that are no
    /// longer there become words about the whole.
    pub fn inherit(&mut self, before: Self) {
        self.draft = before.draft;
        let remarks = before.remarks.into_values();
        let words = std::iter::once(before.words).chain(remarks).filter(|text| !text.is_empty());
        self.words = words.collect::<Vec<_>>().join(" ");
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
    pub const fn body(&self) -> Option<&Rc<Body>> {
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

    fn mark(&self, body: &Body, seen: &mut Seen) {
        if let Some(layout) = &self.layout {
            for cell in self.rows().flat_map(|row| layout.cells(row)).flatten() {
                seen.mark(body, &cell);
            }
        }
    }

    /// Lays the body out in that room.
    pub fn lay_out(&mut self, look: Look, room: Room) {
        self.place.room = room;
        let Some(body) = self.body().cloned() else { return };
        // A file that comes or goes as a whole has nothing to stand beside.
        let is_single = look.columns.is_none() && look.is_wide && self.has_one_version();
        let columns = match room.half {
            Some(_) if !is_single => look.columns(),
            Some(_) | None => Columns::Unified,
        };
        let wish = Wish { columns, blanks: look.blanks, context: self.context };
        let overflow = match look.wrapping {
            Wrapping::Wrapped => Overflow::Wrap,
            Wrapping::Scrolled => Overflow::Scroll(self.place.left),
        };
        let geometry = Geometry { one: room.one, half: room.half.unwrap_or(0), overflow };
        let fits = |layout: &Layout| layout.fits(&body, wish, geometry, &self.remarks);
        if !self.layout.as_ref().is_some_and(fits) {
            let new = Layout::new(Rc::clone(&body), wish, geometry, &self.remarks);
            match self.layout.take() {
                None => {
                    self.seen = Some(Seen::new(&body));
                    self.place.top = first_row(&body, &new, room.rows);
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
        self.place.top..self.total().min(self.place.top + self.place.room.rows)
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::rows)
    }

    /// Whether the old and the new version fit beside each other.
    #[must_use]
    pub const fn has_room_beside(&self) -> bool {
        self.place.room.half.is_some()
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
    pub const fn context(&self) -> Context {
        self.context
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
        self.total().saturating_sub(self.place.room.rows)
    }

    /// Shows more unchanged lines around the changes, or fewer. Whether that was possible.
    pub fn change_context(&mut self, step: isize) -> bool {
        let levels = CONTEXTS.len();
        let level = match self.context {
            Context::Whole => levels,
            Context::Lines(lines) => CONTEXTS.iter().position(|n| *n >= lines).unwrap_or(levels),
        };
        let next = level.saturating_add_signed(step).min(levels);
        self.context = CONTEXTS.get(next).map_or(Context::Whole, |lines| Context::Lines(*lines));
        next != level
    }

    /// Shows the whole file, or only the changes again. Tells when the file is not there as a
    /// whole.
    pub fn toggle_whole(&mut self) -> Extent {
        self.context = match self.context {
            Context::Whole => Context::Lines(CONTEXT),
            Context::Lines(_) => Context::Whole,
        };
        self.body().map_or(Extent::Whole, |body| body.extent)
    }
}

/// Where to start: with the first change in sight when the body begins with much that stays.
fn first_row(body: &Body, layout: &Layout, height: usize) -> usize {
    let first = body.lines.iter().position(super::body_line::BodyLine::must_be_seen).unwrap_or(0);
    let row = layout.rows_of(first).start;
    if row < height { 0 } else { row.saturating_sub(height / 3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AgentName, Batch, BatchId, BlobRef, CallId, ProjectPath, ToolName, TurnId};

    const ROOM: Room = Room { one: 40, half: None, rows: 10 };

    struct Contents(Vec<Vec<u8>>);

    impl BlobSource for Contents {
        fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
            let found = self.0.iter().find(|bytes| ContentHash::of(bytes) == *hash);
            found
                .map(|bytes| bytes.as_slice().into())
                .ok_or_else(|| UserError::new("no", "blob", ""))
        }
    }

    fn shown(content: &str) -> Shown {
        let bytes = content.as_bytes().to_vec();
        let content = BlobRef { hash: ContentHash::of(&bytes), bytes: bytes.len() as u64 };
        let proposal = Proposal {
            id: ProposalId(1),
            turn: TurnId(1),
            call: CallId(1),
            agent: AgentName::from("a"),
            tool: ToolName::from("t"),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Save { path: ProjectPath::new("a.c").unwrap(), base: None, content },
            checks: Vec::new(),
            facts: crate::model::Facts::default(),
        };
        let blobs: Arc<dyn BlobSource> = Arc::new(Contents(vec![bytes]));
        Shown::new(&proposal, &blobs)
    }

    #[test]
    fn going_to_the_unseen_ends_with_all_seen() {
        let text: String = (0..100).map(|n| format!("int line_{n};\n")).collect();
        let mut shown = shown(&text);
        assert_eq!(shown.unseen(), 100);
        let mut rounds = 0;
        loop {
            shown.lay_out(Look::default(), ROOM);
            shown.was_shown();
            rounds += 1;
            if shown.unseen() == 0 {
                break;
            }
            assert!(shown.go_to_unseen(&mut Look::default()));
        }
        assert_eq!((shown.unseen(), rounds), (0, 11));
    }
}
