//! The rows of one entry, brought up to date as it grows.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::{CallId, TurnStop};
use crate::text::answer_words;
use crate::ui::line;
use crate::ui::markdown::{MarkdownDocument, StyledText};
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{CallView, ChatEntry, TurnPart, TurnView};

use super::citations::CitedNumber;
use super::open_call::{self, OpenPart};
use super::paint::{draw_entry_row, draw_row};
use super::row::{EntryRow, FoldItem, INDENT, RowContext, indented};
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
    Rows(Vec<EntryRow>),
    /// Text of a part of the turn.
    Text {
        part: usize,
        document: Box<MarkdownDocument>,
        /// Sources that are cited.
        cited: Vec<CitedNumber>,
    },
    Call {
        call: CallId,
        stamp: CallStamp,
        rows: Vec<EntryRow>,
    },
    /// A thought of that part, made from so many bytes.
    Thought {
        part: usize,
        bytes: usize,
        is_unfolded: bool,
        rows: Vec<EntryRow>,
    },
    /// The summary in that part.
    Summary {
        part: usize,
        rows: Vec<EntryRow>,
    },
    /// A part of a call that is still being written.
    Open(OpenPart),
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
        let gap = gap(place.before, entry);
        if let Some(turn) = entry.turn() {
            self.lay_out_turn(turn, gap, place);
        } else {
            let mut rows = vec![EntryRow::default(); gap];
            rows.extend(card::lay_out(entry, place));
            self.sections.clear();
            self.rows = 0;
            self.push(EntryBody::Rows(rows));
        }
        self.stamp = Some(stamp);
    }

    fn push(&mut self, body: EntryBody) {
        let rows = body.rows();
        self.sections.push(EntrySection { first: self.rows, rows, body });
        self.rows += rows;
    }

    /// Lays a turn out; texts go on where they were left, calls that did not change stay.
    fn lay_out_turn(&mut self, turn: &TurnView, gap: usize, place: &RowContext<'_>) {
        let mut old: Vec<EntryBody> =
            std::mem::take(&mut self.sections).into_iter().map(|section| section.body).collect();
        self.rows = 0;
        if is_choice_alone(turn) {
            return;
        }
        let mut head = vec![EntryRow::default(); gap];
        head.push(turn_head(turn, place));
        self.push(EntryBody::Rows(head));
        let mut after_call = false;
        // A text that grows cites nothing yet: its rows still change.
        let given = if turn.ended.is_some() { citations::given(turn) } else { BTreeMap::default() };
        for (index, part) in turn.parts.iter().enumerate() {
            match part {
                TurnPart::Text(text) => {
                    let mut body = text_body(index, text, &mut old, place);
                    if let EntryBody::Text { document, cited, .. } = &mut body {
                        *cited = citations::in_document(index, (document, text), &given);
                    }
                    if after_call && body.rows() > 0 {
                        self.push(EntryBody::Rows(vec![EntryRow::default()]));
                    }
                    after_call &= body.rows() == 0;
                    self.push(body);
                }
                TurnPart::Call(view) => {
                    after_call = true;
                    self.push(call_body(view, &mut old, place));
                }
                TurnPart::Reasoning(text) => {
                    after_call = true;
                    self.push(thought_body(index, text, &mut old, place));
                }
                TurnPart::Retry(view) => {
                    after_call = true;
                    self.push(EntryBody::Rows(aside::retry(view, place)));
                }
                TurnPart::Refused(fault) => {
                    after_call = true;
                    self.push(EntryBody::Rows(aside::refused(fault, place)));
                }
                TurnPart::Trimmed(view) => {
                    after_call = true;
                    self.push(EntryBody::Rows(aside::trimmed(view, place)));
                }
                TurnPart::Summary(view) => {
                    after_call = true;
                    let rows = aside::summary(index, view, place);
                    self.push(EntryBody::Summary { part: index, rows });
                }
            }
        }
        for call in place.open_calls(turn) {
            for part in open_call::lay_out(call, place) {
                self.push(EntryBody::Open(part));
            }
        }
        if let Some(rows) = turn_end(turn, place) {
            self.push(EntryBody::Rows(rows));
        }
    }

    fn section(&self, row: usize) -> Option<(&EntrySection, usize)> {
        let place = self.sections.partition_point(|section| section.first + section.rows <= row);
        let section = self.sections.get(place)?;
        Some((section, row - section.first))
    }

    /// What can be taken hold of at that row.
    pub fn item_at(&self, row: usize) -> Option<FoldItem> {
        self.items_at(row).into_iter().next()
    }

    /// Everything that can be taken hold of at that row, from left to right.
    pub fn items_at(&self, row: usize) -> Vec<FoldItem> {
        let Some((section, inside)) = self.section(row) else { return Vec::new() };
        let own = |rows: &[EntryRow]| rows.get(inside).and_then(|row| row.item);
        match &section.body {
            EntryBody::Call { call, rows, .. } => vec![own(rows).unwrap_or(FoldItem::Call(*call))],
            EntryBody::Text { part, document, cited } => {
                let code = document.fold_at(inside).map(|fold| FoldItem::Code(*part, fold));
                let cited = cited.iter().filter(|it| it.row == inside).map(|it| it.item);
                code.into_iter().chain(cited).collect()
            }
            EntryBody::Thought { part, .. } => vec![FoldItem::Thought(*part)],
            EntryBody::Summary { part, rows } => {
                vec![own(rows).unwrap_or(FoldItem::Summary(*part))]
            }
            EntryBody::Rows(_) | EntryBody::Open(_) => Vec::new(),
        }
    }

    /// The numbers of sources in a row, with the columns of the pane that each takes.
    pub fn cited_at(&self, row: usize) -> Vec<(FoldItem, Range<u16>)> {
        let Some((EntrySection { body: EntryBody::Text { cited, .. }, .. }, inside)) =
            self.section(row)
        else {
            return Vec::new();
        };
        let column = |at: usize| INDENT.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
        let columns = |at: &Range<usize>| column(at.start)..column(at.end);
        let here = cited.iter().filter(|it| it.row == inside);
        here.map(|it| (it.item, columns(&it.columns))).collect()
    }

    /// Everything that can be folded, with its row.
    pub fn items(&self) -> Vec<(usize, FoldItem)> {
        let with_own = |section: &EntrySection, whole: FoldItem, rows: &[EntryRow]| {
            let own = |(row, entry): (usize, &EntryRow)| Some((section.first + row, entry.item?));
            let mut items = vec![(section.first, whole)];
            items.extend(rows.iter().enumerate().filter_map(own));
            items
        };
        let of_section = |section: &EntrySection| match &section.body {
            EntryBody::Call { call, rows, .. } => with_own(section, FoldItem::Call(*call), rows),
            EntryBody::Summary { part, rows } => with_own(section, FoldItem::Summary(*part), rows),
            EntryBody::Text { part, document, cited } => {
                let code = document.folds().into_iter();
                let code = code.map(|(row, fold)| (row, FoldItem::Code(*part, fold)));
                let cited = cited.iter().map(|it| (it.row, it.item));
                let mut items: Vec<_> = code.chain(cited).collect();
                items.sort_by_key(|(row, _)| *row);
                items.into_iter().map(|(row, item)| (section.first + row, item)).collect()
            }
            EntryBody::Thought { part, .. } => vec![(section.first, FoldItem::Thought(*part))],
            EntryBody::Rows(_) | EntryBody::Open(_) => Vec::new(),
        };
        self.sections.iter().flat_map(of_section).collect()
    }

    /// The text of a row and the column it begins at.
    pub fn row_text(&self, entry: &ChatEntry, row: usize) -> (String, usize) {
        let Some((section, inside)) = self.section(row) else { return (String::new(), 0) };
        match &section.body {
            EntryBody::Rows(rows)
            | EntryBody::Call { rows, .. }
            | EntryBody::Thought { rows, .. }
            | EntryBody::Summary { rows, .. } => {
                (rows.get(inside).map_or_else(String::new, |row| row.row.text()), 0)
            }
            EntryBody::Text { part, document, .. } => {
                let text = text_of(entry, *part).unwrap_or_default();
                (document.row(text, inside).text(), usize::from(INDENT))
            }
            EntryBody::Open(part) => part.text(inside),
        }
    }

    /// Makes a row ready to be drawn. Whether colours of it are still to come.
    pub fn prepare_row(&mut self, entry: &ChatEntry, row: usize) -> bool {
        let place = self.sections.partition_point(|section| section.first + section.rows <= row);
        let Some(section) = self.sections.get_mut(place) else { return false };
        if let EntryBody::Open(part) = &mut section.body {
            return part.prepare(row - section.first);
        }
        if let EntryBody::Text { part, document, .. } = &mut section.body
            && let Some(text) = text_of(entry, *part)
        {
            return document.prepare(text, row - section.first, 1);
        }
        false
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
        let Some((section, inside)) = self.section(row) else { return };
        match &section.body {
            EntryBody::Rows(rows)
            | EntryBody::Call { rows, .. }
            | EntryBody::Thought { rows, .. }
            | EntryBody::Summary { rows, .. } => {
                if let Some(row) = rows.get(inside) {
                    draw_entry_row(row, area, buf, cx);
                }
            }
            EntryBody::Text { part, document, .. } => {
                let text = text_of(entry, *part).unwrap_or_default();
                let area = Rect {
                    x: area.x + INDENT.min(area.width),
                    width: area.width.saturating_sub(INDENT + 1),
                    ..area
                };
                draw_row(&document.row(text, inside), area, buf, cx);
                for (_, columns) in self.cited_at(row) {
                    // Counted from the left end of the pane.
                    let x = area.x - INDENT.min(area.x) + columns.start;
                    let width = columns.end - columns.start;
                    let place = Rect { x, width, ..area }.intersection(area);
                    buf.set_style(place, cx.style(Role::Link));
                }
            }
            EntryBody::Open(OpenPart::Rows(rows)) => {
                if let Some(row) = rows.get(inside) {
                    draw_entry_row(row, area, buf, cx);
                }
            }
            EntryBody::Open(OpenPart::File(file)) => {
                let indent = open_call::INDENT.min(area.width);
                let width = area.width.saturating_sub(open_call::INDENT + 1);
                let area = Rect { x: area.x + indent, width, ..area };
                draw_row(&file.row(inside), area, buf, cx);
            }
        }
    }
}

impl EntryBody {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(rows)
            | Self::Call { rows, .. }
            | Self::Thought { rows, .. }
            | Self::Summary { rows, .. } => rows.len(),
            Self::Text { document, .. } => document.rows(),
            Self::Open(part) => part.rows(),
        }
    }
}

fn text_body(
    index: usize,
    text: &str,
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
    EntryBody::Text { part: index, document, cited: Vec::new() }
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

fn call_body(view: &CallView, old: &mut Vec<EntryBody>, place: &RowContext<'_>) -> EntryBody {
    let stamp = CallStamp::of(view, place);
    let same = |body: &EntryBody| matches!(body, EntryBody::Call { call, stamp: old, .. } if *call == view.call && *old == stamp);
    match old.iter().position(same) {
        Some(found) => old.swap_remove(found),
        None => EntryBody::Call { call: view.call, stamp, rows: call::lay_out(view, place) },
    }
}

fn thought_body(
    index: usize,
    text: &str,
    old: &mut Vec<EntryBody>,
    place: &RowContext<'_>,
) -> EntryBody {
    let shown = place.unfolded.contains(&(place.entry, FoldItem::Thought(index)));
    let same = |body: &EntryBody| matches!(body, EntryBody::Thought { part, bytes, is_unfolded, .. } if *part == index && *bytes == text.len() && *is_unfolded == shown);
    match old.iter().position(same) {
        Some(found) => old.swap_remove(found),
        None => {
            let rows = aside::reasoning(text, shown, place);
            EntryBody::Thought { part: index, bytes: text.len(), is_unfolded: shown, rows }
        }
    }
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
