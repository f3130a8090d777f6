//! The rows of one entry, brought up to date as it grows.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::{CallId, TurnStop};
use crate::text::answer_words;
use crate::ui::line;
use crate::ui::markdown::{GrowingFile, MarkdownDocument, StyledText};
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{ChatEntry, TurnPart, TurnView};

use super::citations::CitedNumber;
use super::open_call::{self, OpenPart};
use super::paint::{draw_entry_row, draw_row};
use super::row::{EntryRow, FoldItem, INDENT, Passage, RowContext, indented};
use super::stamp::{CallStamp, EntryStamp};
use super::{aside, call, card, citations};

/// The rows of one entry.
#[derive(Debug, Default)]
pub(super) struct EntryLayout {
    sections: Vec<EntrySection>,
    rows: usize,
    /// What the rows were made from.
    stamp: Option<EntryStamp>,
}

#[derive(Debug)]
struct EntrySection {
    first: usize,
    rows: usize,
    body: EntryBody,
}

#[derive(Debug)]
enum EntryBody {
    /// Rows that are laid out as a whole.
    Rows(RowsOf, Vec<EntryRow>),
    /// Text of a part of the turn.
    Text {
        part: usize,
        document: Box<MarkdownDocument>,
        /// Sources that are cited.
        cited: Vec<CitedNumber>,
    },
    /// A file in a call that is still being written.
    File(Box<GrowingFile>),
}

/// What rows are of; another one when they have to be laid out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowsOf {
    /// Something that cannot be taken hold of.
    Words,
    Call(CallId, CallStamp),
    /// A thought of that part, made from so many bytes, and whether it is unfolded.
    Thought(usize, usize, bool),
    /// The summary in that part.
    Summary(usize),
}

impl RowsOf {
    /// What can be taken hold of.
    const fn item(self) -> Option<FoldItem> {
        match self {
            Self::Words => None,
            Self::Call(call, _) => Some(FoldItem::Call(call)),
            Self::Thought(part, ..) => Some(FoldItem::Thought(part)),
            Self::Summary(part) => Some(FoldItem::Summary(part)),
        }
    }
}

impl EntryLayout {
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Brings the rows up to date.
    pub fn update(&mut self, entry: &ChatEntry, place: &RowContext<'_>) {
        let stamp = EntryStamp::of(entry, place);
        if self.stamp.as_ref() == Some(&stamp) {
            return;
        }
        let old = std::mem::take(&mut self.sections).into_iter().map(|section| section.body);
        self.rows = 0;
        let mut rows = vec![EntryRow::default(); gap(place.before, entry)];
        match entry.turn() {
            Some(turn) if is_choice_alone(turn) => {}
            Some(turn) => {
                rows.push(turn_head(turn, place));
                self.push_words(rows);
                self.lay_out_turn(turn, old.collect(), place);
            }
            None => {
                rows.extend(card::lay_out(entry, place));
                self.push_words(rows);
            }
        }
        self.stamp = Some(stamp);
    }

    fn push(&mut self, body: EntryBody) {
        let rows = body.rows();
        self.sections.push(EntrySection { first: self.rows, rows, body });
        self.rows += rows;
    }

    fn push_words(&mut self, rows: Vec<EntryRow>) {
        self.push(EntryBody::Rows(RowsOf::Words, rows));
    }

    /// Lays a turn out below its head; texts go on where they were left, calls that did not change
    /// stay.
    fn lay_out_turn(&mut self, turn: &TurnView, mut old: Vec<EntryBody>, place: &RowContext<'_>) {
        let mut after_call = false;
        // A text that grows cites nothing yet: its rows still change.
        let given = if turn.ended.is_some() { citations::given(turn) } else { BTreeMap::default() };
        for (index, part) in turn.parts.iter().enumerate() {
            if let TurnPart::Text(text) = part {
                let body = text_body((index, text), &given, &mut old, place);
                if after_call && body.rows() > 0 {
                    self.push_words(vec![EntryRow::default()]);
                }
                after_call &= body.rows() == 0;
                self.push(body);
                continue;
            }
            after_call = true;
            self.push(rows_body(index, part, &mut old, place));
        }
        for call in place.open_calls(turn) {
            for part in open_call::lay_out(call, place) {
                self.push(match part {
                    OpenPart::Rows(rows) => EntryBody::Rows(RowsOf::Words, rows),
                    OpenPart::File(file) => EntryBody::File(file),
                });
            }
        }
        if let Some(rows) = turn_end(turn, place) {
            self.push_words(rows);
        }
    }

    /// The place of the section that a row belongs to.
    fn place_of(&self, row: usize) -> usize {
        self.sections.partition_point(|section| section.first + section.rows <= row)
    }

    fn section(&self, row: usize) -> Option<(&EntryBody, usize)> {
        let section = self.sections.get(self.place_of(row))?;
        Some((&section.body, row - section.first))
    }

    /// What can be taken hold of at that row.
    pub fn item_at(&self, row: usize) -> Option<FoldItem> {
        self.items_at(row).into_iter().next()
    }

    /// Everything that can be taken hold of at that row, from left to right.
    pub fn items_at(&self, row: usize) -> Vec<FoldItem> {
        match self.section(row) {
            Some((EntryBody::Rows(of, rows), inside)) => {
                let own = rows.get(inside).and_then(|row| row.item);
                own.or(of.item()).into_iter().collect()
            }
            Some((EntryBody::Text { part, document, cited }, inside)) => {
                let code = document.fold_at(inside).map(|fold| FoldItem::Code(*part, fold));
                let cited = cited.iter().filter(|it| it.row == inside).map(|it| it.item);
                code.into_iter().chain(cited).collect()
            }
            Some((EntryBody::File(_), _)) | None => Vec::new(),
        }
    }

    /// The numbers of sources in a row, with the columns of the pane that each takes.
    pub fn cited_at(&self, row: usize) -> Vec<(FoldItem, Range<u16>)> {
        let Some((EntryBody::Text { cited, .. }, inside)) = self.section(row) else {
            return Vec::new();
        };
        let column = |at: usize| INDENT.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
        let columns = |at: &Range<usize>| column(at.start)..column(at.end);
        let here = cited.iter().filter(|it| it.row == inside);
        here.map(|it| (it.item, columns(&it.columns))).collect()
    }

    /// Everything that can be folded, with its row.
    pub fn items(&self) -> Vec<(usize, FoldItem)> {
        let of_body = |body: &EntryBody| match body {
            EntryBody::Rows(of, rows) => {
                let own = rows.iter().enumerate();
                let own = own.filter_map(|(row, entry)| Some((row, entry.item?)));
                of.item().map(|whole| (0, whole)).into_iter().chain(own).collect()
            }
            EntryBody::Text { part, document, cited } => {
                let code = document.folds().into_iter();
                let code = code.map(|(row, fold)| (row, FoldItem::Code(*part, fold)));
                let cited = cited.iter().map(|it| (it.row, it.item));
                let mut items: Vec<_> = code.chain(cited).collect();
                items.sort_by_key(|(row, _)| *row);
                items
            }
            EntryBody::File(_) => Vec::new(),
        };
        let of_section = |section: &EntrySection| {
            let items = of_body(&section.body).into_iter();
            items.map(|(row, item)| (section.first + row, item)).collect::<Vec<_>>()
        };
        self.sections.iter().flat_map(of_section).collect()
    }

    /// The text of a row and the column it begins at.
    pub fn row_text(&self, entry: &ChatEntry, row: usize) -> (String, usize) {
        match self.section(row) {
            Some((EntryBody::Rows(_, rows), inside)) => {
                (rows.get(inside).map_or_else(String::new, |row| row.row.text()), 0)
            }
            Some((EntryBody::Text { part, document, .. }, inside)) => {
                let text = text_of(entry, *part).unwrap_or_default();
                (document.row(text, inside).text(), usize::from(INDENT))
            }
            Some((EntryBody::File(file), inside)) => {
                (file.row(inside).text(), usize::from(open_call::INDENT))
            }
            None => (String::new(), 0),
        }
    }

    /// Makes a row ready to be drawn. Whether colours of it are still to come.
    pub fn prepare_row(&mut self, entry: &ChatEntry, row: usize) -> bool {
        let place = self.place_of(row);
        let Some(section) = self.sections.get_mut(place) else { return false };
        let inside = row - section.first;
        match &mut section.body {
            EntryBody::Rows(..) => false,
            EntryBody::Text { part, document, .. } => {
                text_of(entry, *part).is_some_and(|text| document.prepare(text, inside, 1))
            }
            EntryBody::File(file) => file.prepare(inside),
        }
    }

    /// Draws one row.
    pub fn draw_row(
        &self,
        entry: &ChatEntry,
        row: usize,
        area: Rect,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let indented = |indent: u16| Rect {
            x: area.x + indent.min(area.width),
            width: area.width.saturating_sub(indent + 1),
            ..area
        };
        match self.section(row) {
            Some((EntryBody::Rows(_, rows), inside)) => {
                if let Some(row) = rows.get(inside) {
                    draw_entry_row(row, area, buf, cx);
                }
            }
            Some((EntryBody::Text { part, document, .. }, inside)) => {
                let text = text_of(entry, *part).unwrap_or_default();
                let area = indented(INDENT);
                draw_row(&document.row(text, inside), area, buf, cx);
                for (_, columns) in self.cited_at(row) {
                    // Counted from the left end of the pane.
                    let x = area.x - INDENT.min(area.x) + columns.start;
                    let width = columns.end - columns.start;
                    let place = Rect { x, width, ..area }.intersection(area);
                    buf.set_style(place, cx.style(Role::Link));
                }
            }
            Some((EntryBody::File(file), inside)) => {
                draw_row(&file.row(inside), indented(open_call::INDENT), buf, cx);
            }
            None => {}
        }
    }
}

impl EntryBody {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(_, rows) => rows.len(),
            Self::Text { document, .. } => document.rows(),
            Self::File(file) => file.rows(),
        }
    }
}

/// A part of a turn that is no text; what did not change stays.
fn rows_body(
    index: usize,
    part: &TurnPart,
    old: &mut Vec<EntryBody>,
    place: &RowContext<'_>,
) -> EntryBody {
    let is_unfolded = place.unfolded.contains(&(place.entry, FoldItem::Thought(index)));
    let of = match part {
        TurnPart::Call(view) => RowsOf::Call(view.call, CallStamp::of(view, place)),
        TurnPart::Reasoning(text) => RowsOf::Thought(index, text.len(), is_unfolded),
        TurnPart::Summary(_) => RowsOf::Summary(index),
        _ => RowsOf::Words,
    };
    let same = |body: &EntryBody| matches!(body, EntryBody::Rows(known, _) if *known == of);
    let known = old.iter().position(same);
    let stays = matches!(of, RowsOf::Call(..) | RowsOf::Thought(..));
    if let Some(found) = known.filter(|_| stays) {
        return old.swap_remove(found);
    }
    let rows = match part {
        TurnPart::Call(view) => call::lay_out(view, place),
        TurnPart::Reasoning(text) => aside::reasoning(text, is_unfolded, place),
        TurnPart::Retry(view) => aside::retry(view, place),
        TurnPart::Refused(fault) => aside::refused(fault, place),
        TurnPart::Trimmed(view) => aside::trimmed(view, place),
        TurnPart::Summary(view) => aside::summary(index, view, place),
        TurnPart::Text(_) => Vec::new(),
    };
    EntryBody::Rows(of, rows)
}

fn text_body(
    (index, text): (usize, &str),
    given: &BTreeMap<u64, Passage>,
    old: &mut Vec<EntryBody>,
    place: &RowContext<'_>,
) -> EntryBody {
    let same = |body: &EntryBody| matches!(body, EntryBody::Text { part, .. } if *part == index);
    let mut document = match old.iter().position(same).map(|found| old.swap_remove(found)) {
        Some(EntryBody::Text { document, .. }) => document,
        _ => Box::new(MarkdownDocument::new(place.text_width())),
    };
    document.update(if answer_words::is_choice(text) { "" } else { text });
    document.set_unfolded(place.unfolded_code(index));
    let cited = citations::in_document(index, (&document, text), given);
    EntryBody::Text { part: index, document, cited }
}

/// Whether a turn does nothing but choose who speaks next, which the entry after it tells.
fn is_choice_alone(turn: &TurnView) -> bool {
    let is_choice = |part: &TurnPart| match part {
        TurnPart::Text(text) => text.trim().is_empty() || answer_words::is_choice(text),
        _ => false,
    };
    let went_well = !matches!(
        turn.ended,
        Some((TurnStop::Failed(_) | TurnStop::Interrupted | TurnStop::Stopped, _))
    );
    went_well && !turn.parts.is_empty() && turn.parts.iter().all(is_choice)
}

fn text_of(entry: &ChatEntry, part: usize) -> Option<&str> {
    entry.turn()?.parts.get(part)?.text()
}

/// Empty rows before an entry: none at the top, and none between the choice of a speaker and its
/// turn.
fn gap(before: Option<&ChatEntry>, entry: &ChatEntry) -> usize {
    match (before, entry) {
        (None, _) | (Some(ChatEntry::Choice { .. }), ChatEntry::Turn(_)) => 0,
        (Some(ChatEntry::PhaseEnded { .. }), ChatEntry::PhaseEnded { .. }) => 0,
        _ => 1,
    }
}

fn turn_head(turn: &TurnView, place: &RowContext<'_>) -> EntryRow {
    let role = place.agents.role(&turn.agent);
    let mut right = place.time(turn.at);
    let tokens = turn.usage.total();
    if tokens > 0 && place.width >= 44 {
        right = format!("{} tok · {right}", line::count(tokens));
    }
    let step = turn.step.map_or_else(String::new, |step| format!(" · plan step {step}"));
    let taken = line::width(&right) + line::width(&step) + 4;
    let name = line::cut(turn.agent.as_str(), place.width.saturating_sub(taken));
    let mut pieces = vec![StyledText::new("◆ ", role), StyledText::new(name, role)];
    if !step.is_empty() {
        pieces.push(StyledText::new(step, Role::Dim));
    }
    EntryRow::new(pieces).with_right(StyledText::new(right, Role::Dim))
}

/// A word on how a turn ended, unless all went well.
fn turn_end(turn: &TurnView, place: &RowContext<'_>) -> Option<Vec<EntryRow>> {
    let (text, role) = match &turn.ended.as_ref()?.0 {
        TurnStop::Done | TurnStop::Terminated(_) => return None,
        TurnStop::Stopped => ("stopped".to_owned(), Role::Warn),
        TurnStop::Interrupted => ("interrupted; the turn starts again".to_owned(), Role::Warn),
        // What went wrong and what helps is told right below.
        TurnStop::Failed(_) => ("✗ the turn failed".to_owned(), Role::Error),
    };
    Some(indented(&text, role, place))
}
