//! Rules for the session: those that could be made about what is on screen, and those that hold.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{Intent, RuleId, SessionRule};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

use super::pick;

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleRow {
    /// A rule that could be made, and how many proposals that wait it would decide at once.
    Add(SessionRule, usize),
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
        if let Some(row) = pick::moved(action, self.selected, self.rows.len()) {
            self.selected = row;
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

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let does = match self.rows.get(self.selected) {
            Some(RuleRow::Revoke(..)) => "removes this rule",
            Some(RuleRow::Add(..)) | None => "makes this rule",
        };
        let hint = format!(" ↑↓ select · enter {does} · esc back ");
        let hint = Line::styled(hint, cx.style(Role::DialogDim));
        let height = u16::try_from(self.rows.len()).unwrap_or(u16::MAX).clamp(1, 18) + 3;
        let inside = super::frame("Rules for this session", hint, (86, height), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            let text = "A rule decides without asking until you remove it here. All its decisions are recorded.";
            line::draw(&Line::styled(text, cx.style(Role::DialogDim)), row, buf);
        }
        let space = usize::from(inside.height).saturating_sub(2);
        let top = self.selected.saturating_sub(space.saturating_sub(1));
        for ((place, item), row) in self.rows.iter().enumerate().skip(top).zip(rows.skip(1)) {
            let (left, right) = match item {
                RuleRow::Add(rule, 0) => (rule.to_string(), String::new()),
                RuleRow::Add(rule, count) => (rule.to_string(), format!("decides {count} now")),
                RuleRow::Revoke(id, rule) => (format!("{rule}"), format!("rule {id} holds")),
            };
            let style = if place == self.selected {
                cx.style(Role::Selection)
            } else {
                cx.style(Role::Dialog)
            };
            line::tint(row, style, buf);
            let left = sanitize::line(&left).into_owned();
            let left =
                line::cut(&left, usize::from(row.width).saturating_sub(line::width(&right) + 3));
            let left = Line::styled(format!(" {left}"), style);
            let right = Line::styled(format!("{right} "), style);
            line::draw_split(&left, &right, row, buf);
        }
    }
}
