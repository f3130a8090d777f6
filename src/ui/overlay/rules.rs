//! Rules for the session: those that could be made about what is on screen, and those that hold.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{Intent, RuleId, SessionRule};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;

use super::pick;

/// What a rule would decide, and would have decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleMatches {
    /// Proposals that wait.
    pub waiting: usize,
    /// Of the last decisions.
    pub decided: usize,
    /// How many of the last decisions were looked at.
    pub of: usize,
}

impl RuleMatches {
    fn words(self) -> String {
        let Self { waiting, decided, of } = self;
        let now = if waiting > 0 { format!("decides {waiting} now · ") } else { String::new() };
        match of {
            0 => format!("{now}nothing was decided yet"),
            _ => format!("{now}matches {decided} of the last {of}"),
        }
    }
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleRow {
    /// A rule that could be made, and what it is about.
    Add(SessionRule, RuleMatches),
    /// A rule that holds.
    Revoke(RuleId, SessionRule),
}

/// The list of rules.
#[derive(Debug)]
pub struct RulesList {
    rows: Vec<RuleRow>,
    selected: usize,
}

impl RulesList {
    /// Begins at the first entry.
    #[must_use]
    pub const fn new(rows: Vec<RuleRow>) -> Self {
        Self { rows, selected: 0 }
    }

    pub(in crate::ui) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if pick::moved(action, &mut self.selected, self.rows.len()) {
            return Vec::new();
        }
        match action {
            Action::Accept => {
                let Some(row) = self.rows.get(self.selected) else { return vec![Effect::Close] };
                let intent = match row {
                    RuleRow::Add(rule, _) => Intent::AddRule { rule: rule.clone() },
                    RuleRow::Revoke(rule, _) => Intent::RevokeRule { rule: *rule },
                };
                vec![Effect::Close, Effect::intent(intent)]
            }
            _ => Effect::info("enter takes the selected one, esc goes back"),
        }
    }

    /// All words of the selected rule, below the list.
    fn draw_whole(&self, inside: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let (Some(RuleRow::Add(rule, _) | RuleRow::Revoke(_, rule)), true) =
            (self.rows.get(self.selected), inside.height > 5)
        else {
            return;
        };
        let area = Rect { y: inside.bottom() - 2, height: 2, ..inside };
        let text = line::clean(&rule.to_string());
        let words = wrap_words(&text, usize::from(area.width).saturating_sub(1));
        for (words, row) in words.into_iter().zip(area.rows()) {
            line::draw(&cx.line(format!(" {words}"), Role::Dialog), row, buf);
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let does = match self.rows.get(self.selected) {
            Some(RuleRow::Revoke(..)) => "removes this rule",
            Some(RuleRow::Add(..)) | None => "makes this rule",
        };
        let hint = format!(" ↑↓ select · enter {does} · esc back ");
        let height = super::rows_for(self.rows.len()).clamp(1, 18) + 6;
        let inside = super::frame("Rules for this session", &hint, (86, height), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            let text =
                "A rule decides without asking until the session ends or you remove it here.";
            line::draw(&cx.line(text, Role::DialogDim), row, buf);
        }
        let space = usize::from(inside.height).saturating_sub(5).max(1);
        let top = self.selected.saturating_sub(space.saturating_sub(1));
        self.draw_whole(inside, buf, cx);
        let listed = self.rows.iter().enumerate().skip(top).take(space);
        for ((place, item), row) in listed.zip(rows.skip(1)) {
            let (left, right) = match item {
                RuleRow::Add(rule, matches) => (rule.to_string(), matches.words()),
                RuleRow::Revoke(id, rule) => (format!("{rule}"), format!("rule {id} holds")),
            };
            let style =
                cx.style(if place == self.selected { Role::Selection } else { Role::Dialog });
            line::tint(row, style, buf);
            let left = line::clean(&left);
            let most = usize::from(row.width).saturating_sub(line::width(&right) + 3);
            // Rules begin alike and differ at their end.
            let left = line::cut_middle(&left, most);
            let left = Line::styled(format!(" {left}"), style);
            let right = Line::styled(format!("{right} "), style);
            line::draw_split(&left, &right, row, buf);
        }
    }
}
