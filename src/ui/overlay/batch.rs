//! What waits together, as a list to work through: each row can be opened and decided by itself,
//! and those without a finding can be decided together.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::{AfterReject, ContentHash, Intent, ProposalId, Shown, Verdict};
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, ReviewRequest};
use crate::ui::role::Role;

use super::{Overlay, Purpose, WordsInput, pick};

/// Most rows of the list on screen.
const ROWS: usize = 40;

/// Columns below which a finding is left out of its row.
const LEAST_FINDING: usize = 12;

/// One proposal of the list.
#[derive(Debug, Clone)]
pub struct BatchRow {
    /// Which, and what of it was on screen.
    pub shown: Shown,
    /// What it is, e.g. `save main/main.c`.
    pub what: String,
    /// More about it, e.g. `+12 −3`.
    pub detail: String,
    /// Findings that stand against it.
    pub stops: usize,
    /// Findings worth a look.
    pub warnings: usize,
    /// What the heaviest of them says; empty: there is none.
    pub finding: String,
    /// Why it is decided by itself and not with the others; empty: it can be.
    pub alone: String,
}

impl BatchRow {
    /// Whether it is decided with the others.
    const fn is_common(&self) -> bool {
        self.stops == 0 && self.warnings == 0 && self.alone.is_empty()
    }
}

/// Proposals to work through.
#[derive(Debug)]
pub struct BatchList {
    rows: Vec<BatchRow>,
    selected: usize,
}

impl BatchList {
    /// Begins at the start; what was found something about comes first.
    #[must_use]
    pub fn new(mut rows: Vec<BatchRow>) -> Self {
        let rank = |row: &BatchRow| {
            let group = match (row.stops, row.alone.is_empty(), row.warnings) {
                (1.., _, _) => 0,
                (0, false, _) => 1,
                (0, true, 1..) => 2,
                (0, true, 0) => 3,
            };
            (group, std::cmp::Reverse(row.stops))
        };
        rows.sort_by_key(rank);
        Self { rows, selected: 0 }
    }

    pub(super) fn proposals(&self) -> Vec<(ProposalId, ContentHash)> {
        self.rows.iter().map(|row| (row.shown.proposal, row.shown.hash)).collect()
    }

    /// How many wait.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// What is decided together.
    fn common(&self) -> Vec<Shown> {
        self.rows.iter().filter(|row| row.is_common()).map(|row| row.shown).collect()
    }

    fn unseen(&self) -> u32 {
        self.common().iter().map(|shown| shown.unseen).sum()
    }

    /// The action that approves what can be approved together, if anything can: lines that were
    /// never on screen take one of their own.
    #[must_use]
    pub fn approves_by(&self) -> Option<Action> {
        match (self.common().is_empty(), self.unseen()) {
            (true, _) => None,
            (false, 0) => Some(Action::ApproveAll),
            (false, _) => Some(Action::AcceptUnseen),
        }
    }

    fn approve(&self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match self.approves_by() {
            Some(needed) if needed == action || action == Action::AcceptUnseen => {
                let (shown, verdict) = (self.common(), Verdict::Approve);
                vec![Effect::Close, Effect::intent(Intent::DecideAll { shown, verdict })]
            }
            Some(needed) => {
                let (key, lines) = (key(cx, needed), self.unseen());
                let are = if lines == 1 { "line is" } else { "lines are" };
                Effect::refuse(format!(
                    "not decided: {lines} changed {are} unseen · {key} approves them anyway"
                ))
            }
            None => {
                let key = key(cx, Action::Accept);
                Effect::refuse(format!(
                    "not decided: each of these is decided separately · {key} opens it"
                ))
            }
        }
    }

    fn reject(&self) -> Vec<Effect> {
        let what = format!("all {} of the list", self.rows.len());
        let purpose = Purpose::Reject(AfterReject::GoOn);
        let all = self.rows.iter().map(|row| row.shown).collect();
        let Some(words) = WordsInput::about_all(purpose, all, what) else {
            return vec![Effect::Close];
        };
        vec![Effect::Close, Effect::open(Overlay::Words(words))]
    }

    /// Opens the selected proposal to be decided by itself.
    fn open(&self) -> Vec<Effect> {
        let selected = self.rows.get(self.selected).map(|row| row.shown.proposal);
        let open = selected.map(|id| Effect::Review(ReviewRequest::OpenRow(id)));
        std::iter::once(Effect::Close).chain(open).collect()
    }

    /// Selects a proposal, if it is there.
    pub fn select(&mut self, proposal: ProposalId) {
        let place = self.rows.iter().position(|row| row.shown.proposal == proposal);
        self.selected = place.unwrap_or(self.selected);
    }

    pub(in crate::ui) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        if pick::paged(action, &mut self.selected, self.rows.len().saturating_sub(1), 8) {
            return Vec::new();
        }
        match action {
            Action::Accept => self.open(),
            Action::ApproveAll | Action::AcceptUnseen => self.approve(action, cx),
            Action::RejectAll => self.reject(),
            _ => Effect::info(self.keys(cx)),
        }
    }

    /// What the keys do.
    fn keys(&self, cx: &Cx<'_>) -> String {
        let key = |action| key(cx, action);
        let mut words = vec![format!("{} opens", key(Action::Accept))];
        if let Some(action) = self.approves_by() {
            let count = self.common().len();
            let unseen = if action == Action::AcceptUnseen { ", unseen too" } else { "" };
            let which =
                if count == self.rows.len() { "all".to_owned() } else { format!("{count}") };
            words.push(format!("{} approves {which}{unseen}", key(action)));
        }
        words.push(format!("{} rejects all", key(Action::RejectAll)));
        words.push(format!("{} back", key(Action::Cancel)));
        words.join(" · ")
    }

    /// What is decided together, and what is not.
    fn lead(&self) -> (String, Role) {
        let alone = self.rows.iter().filter(|row| !row.is_common()).count();
        let (common, unseen) = (self.rows.len() - alone, self.unseen());
        let mut text = match unseen {
            _ if common == 0 => "Each of these is decided separately.".to_owned(),
            0 => "Every changed line was on screen.".to_owned(),
            1 => "1 changed line was not on screen yet.".to_owned(),
            lines => format!("{lines} changed lines were not on screen yet."),
        };
        if alone == 0 {
            text = format!("No findings. {text}");
        } else if common > 0 {
            text = format!("{alone} to decide separately, {common} together. {text}");
        }
        (text, if alone > 0 || unseen > 0 { Role::Warn } else { Role::DialogDim })
    }

    pub(in crate::ui) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let count = self.rows.len();
        let title = format!("Proposals of this batch · {}/{count}", (self.selected + 1).min(count));
        let hint = format!(" {} ", self.keys(cx));
        let size = (
            screen.width.saturating_sub(8).clamp(40, 110),
            super::rows_for(count.clamp(1, ROWS) + 2),
        );
        let inside = super::frame(&title, &hint, size, screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            let (text, role) = self.lead();
            let style = cx.style(role).patch(bg_of(cx));
            line::draw(&Line::styled(line::cut(&text, usize::from(row.width)), style), row, buf);
        }
        let space = usize::from(inside.height).saturating_sub(2).max(1);
        let top = self.selected.saturating_sub(space / 2).min(count.saturating_sub(space));
        let unseen = self.rows.iter().map(|row| line::width(&unseen_words(row))).max().unwrap_or(0);
        for ((place, item), row) in self.rows.iter().enumerate().skip(top).zip(rows.skip(1)) {
            draw_row((item, place == self.selected), unseen, row, buf, cx);
        }
    }
}

/// How many changed lines of a proposal have not been on screen; empty where none.
fn unseen_words(item: &BatchRow) -> String {
    match item.shown.unseen {
        0 => String::new(),
        lines => format!("{lines} unseen"),
    }
}

/// `unseen_columns`: what the words for unseen lines take in any row, so that all rows are aligned.
fn draw_row(
    (item, is_selected): (&BatchRow, bool),
    unseen_columns: usize,
    row: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let base = if is_selected { Role::Selection } else { Role::Dialog };
    let base = cx.style(base);
    line::tint(row, base, buf);
    let (mark, role) = match (item.stops, item.alone.is_empty(), item.warnings) {
        // A ✓ would read as if it were decided.
        (0, true, 0) => ("   ".to_owned(), Role::DialogDim),
        (0, true, warnings) => (format!("!{warnings:<2}"), Role::Warn),
        (0, false, _) => ("!  ".to_owned(), Role::Warn),
        (stops, _, _) => (format!("✗{stops:<2}"), Role::Error),
    };
    let background = ratatui::style::Style { bg: base.bg, ..Default::default() };
    let unseen = match unseen_columns {
        0 => String::new(),
        columns => format!("  {:>columns$}", unseen_words(item)),
    };
    let why = if item.alone.is_empty() { String::new() } else { format!("  {}", item.alone) };
    let detail = format!("{}{unseen}{why} ", item.detail);
    let space = usize::from(row.width).saturating_sub(line::width(&detail) + 6);
    let what = cut_path(&item.what, space);
    let rest = space.saturating_sub(line::width(&what) + 2);
    let found = match item.finding.as_str() {
        _ if rest < LEAST_FINDING => String::new(),
        "" => String::new(),
        finding => format!("  {}", line::cut(finding, rest)),
    };
    let left = Line::from(vec![
        Span::styled(format!(" {mark} "), cx.style(role).patch(background)),
        Span::styled(what, base),
        Span::styled(found, cx.style(role).patch(background)),
    ]);
    let right = Line::from(Span::styled(detail, cx.style(Role::DialogDim).patch(background)));
    line::draw_split(&left, &right, row, buf);
}

/// What it does and to which file; of the path the start gives way, so that the name stays.
fn cut_path(what: &str, columns: usize) -> String {
    match what.split_once(' ') {
        Some((kind, path)) if line::width(kind) + 2 < columns => {
            format!("{kind} {}", line::cut_start(path, columns - line::width(kind) - 1))
        }
        _ => line::cut(what, columns),
    }
}

fn key(cx: &Cx<'_>, action: Action) -> String {
    cx.keymap.key_of(&[KeyContext::Dialog], action).unwrap_or_default()
}

/// Only the background of a dialog.
fn bg_of(cx: &Cx<'_>) -> ratatui::style::Style {
    ratatui::style::Style { bg: cx.style(Role::Dialog).bg, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_stays_whatever_is_cut() {
        assert_eq!(cut_path("save main/include/i2c_bus.h", 18), "save …de/i2c_bus.h");
        assert_eq!(cut_path("save main/include/i2c_bus.h", 40), "save main/include/i2c_bus.h");
        assert_eq!(cut_path("flash", 3), "fl…");
    }
}
