//! What the rows of an entry are, and what they depend on besides the entry.

use std::collections::BTreeSet;

use crate::model::{CallId, OpenCall, Timestamp, TurnId};
use crate::text::sanitize;
use crate::ui::agents::Agents;
use crate::ui::line;
use crate::ui::markdown::{CellRow, FoldId, StyledText, wrap};
use crate::ui::role::Role;
use crate::view::{ChatEntry, TurnView};

/// Columns left of what an agent says.
pub(super) const INDENT: u16 = 2;

/// Something in an entry that can be folded and selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FoldItem {
    /// A tool call.
    Call(CallId),
    /// Code in that part of a turn.
    Code(usize, FoldId),
    /// The thought in that part of a turn.
    Thought(usize),
    /// A source that a call found, by its place in the answer.
    Source(CallId, usize),
    /// A source that a text cites, and where it does.
    Cited(Passage, CitedAt),
    /// The summary in that part of a turn.
    Summary(usize),
    /// A turn that was summarised, where it is.
    Summarised(TurnId),
}

/// A source, by its place in the answer to a call.
pub(super) type Passage = (CallId, usize);

/// Which of the numbers of sources in a text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CitedAt {
    /// The part of the turn.
    pub part: usize,
    /// Its place among those of that part.
    pub nth: usize,
}

/// What the layout of an entry depends on besides itself.
#[derive(Clone, Copy)]
pub(super) struct RowContext<'a> {
    /// The entry before it.
    pub before: Option<&'a ChatEntry>,
    /// Columns of the pane.
    pub width: usize,
    /// When the session began.
    pub started_at: Timestamp,
    /// Its own place.
    pub entry: usize,
    /// What shows everything.
    pub unfolded: &'a BTreeSet<(usize, FoldItem)>,
    /// Who has which colour.
    pub agents: &'a Agents,
    /// Calls that models are still writing.
    pub open_calls: &'a [OpenCall],
}

impl RowContext<'_> {
    /// Calls of a turn that are still being written: none that stands in it already.
    pub fn open_calls<'t>(&'t self, turn: &'t TurnView) -> impl Iterator<Item = &'t OpenCall> {
        let is_open = |call: &&OpenCall| {
            call.turn == turn.turn && turn.ended.is_none() && turn.call(call.call).is_none()
        };
        self.open_calls.iter().filter(is_open)
    }

    /// Time of the session, for people.
    pub fn time(&self, at: Timestamp) -> String {
        line::clock(at.millis_since(self.started_at))
    }

    /// Whether a call shows everything.
    pub fn shows_all(&self, call: CallId) -> bool {
        self.unfolded.contains(&(self.entry, FoldItem::Call(call)))
    }

    /// Items of this entry that show everything.
    pub fn own(&self) -> impl Iterator<Item = FoldItem> {
        let own = self.unfolded.iter().filter(|(entry, _)| *entry == self.entry);
        own.map(|(_, item)| *item)
    }

    /// Code of a part that shows everything.
    pub fn unfolded_code(&self, wanted: usize) -> BTreeSet<FoldId> {
        let code = |item| match item {
            FoldItem::Code(part, fold) if part == wanted => Some(fold),
            _ => None,
        };
        self.own().filter_map(code).collect()
    }

    /// Columns for what is indented.
    pub fn text_width(&self) -> usize {
        self.width.saturating_sub(usize::from(INDENT) + 1)
    }
}

/// A row with what stands at its right end.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryRow {
    pub row: CellRow,
    pub right: Right,
    /// What can be taken hold of here, besides what the whole section is.
    pub item: Option<FoldItem>,
}

/// What stands at the right end of a row.
#[derive(Debug, Clone, Default)]
pub(super) enum Right {
    #[default]
    Nothing,
    Text(StyledText),
    /// How long a call has been running, or that it waits for the person.
    Running(CallId, Timestamp),
    /// How long it takes until something happens.
    Countdown(Timestamp),
}

impl EntryRow {
    pub fn new(pieces: Vec<StyledText>) -> Self {
        plain(CellRow::new(pieces))
    }

    pub fn with_right(self, piece: StyledText) -> Self {
        Self { right: Right::Text(piece), ..self }
    }
}

/// Plain text, indented and wrapped.
pub(super) fn indented(text: &str, role: Role, place: &RowContext<'_>) -> Vec<EntryRow> {
    let clean = sanitize::block(text);
    let indent = [StyledText::new(" ".repeat(usize::from(INDENT)), Role::Text)];
    let rows =
        wrap(&[StyledText::new(clean, role)], place.width.saturating_sub(1), &indent, &indent);
    rows.into_iter().map(plain).collect()
}

/// A mark, then text that is wrapped right of it.
pub(super) fn marked(
    mark: &str,
    mark_role: Role,
    text: &str,
    role: Role,
    place: &RowContext<'_>,
) -> Vec<EntryRow> {
    let clean = sanitize::line(text);
    let first = [StyledText::new(format!("{mark} "), mark_role)];
    let rest = [StyledText::new("  ", Role::Text)];
    let pieces = [StyledText::new(clean, role)];
    let rows = wrap(&pieces, place.width.saturating_sub(1), &first, &rest);
    rows.into_iter().map(plain).collect()
}

pub(super) fn plain(row: CellRow) -> EntryRow {
    EntryRow { row, ..EntryRow::default() }
}
