//! The exact list of what is about to be approved together.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::model::{ContentHash, Intent, ProposalId, Verdict};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

/// One proposal of the list.
#[derive(Debug, Clone)]
pub struct BatchRow {
    /// Which.
    pub proposal: ProposalId,
    /// The hash of what would be shown.
    pub shown: ContentHash,
    /// Changed lines of it that were not on screen.
    pub unseen: u32,
    /// What it is, e.g. `save main/main.c`.
    pub what: String,
    /// More about it, e.g. `+12 −3`.
    pub detail: String,
}

/// Proposals that are approved together once the person accepts the list.
#[derive(Debug)]
pub struct BatchList {
    rows: Vec<BatchRow>,
    top: usize,
}

impl BatchList {
    /// Begins at the start of the list.
    #[must_use]
    pub const fn new(rows: Vec<BatchRow>) -> Self {
        Self { rows, top: 0 }
    }

    pub(super) fn proposals(&self) -> Vec<(ProposalId, ContentHash)> {
        self.rows.iter().map(|row| (row.proposal, row.shown)).collect()
    }

    pub(super) fn on_action(&mut self, action: Action, _cx: &Cx<'_>) -> Vec<Effect> {
        let last = self.rows.len().saturating_sub(1);
        match action {
            Action::Up => self.top = self.top.saturating_sub(1),
            Action::Down => self.top = (self.top + 1).min(last),
            Action::PageUp | Action::Top => self.top = self.top.saturating_sub(8),
            Action::PageDown | Action::Bottom => self.top = (self.top + 8).min(last),
            Action::Accept => {
                let approve = |row: &BatchRow| {
                    Effect::intent(Intent::Decide {
                        proposal: row.proposal,
                        shown: row.shown,
                        unseen: row.unseen,
                        verdict: Verdict::Approve,
                    })
                };
                return std::iter::once(Effect::Close)
                    .chain(self.rows.iter().map(approve))
                    .collect();
            }
            _ => return Effect::info("enter approves all of these, esc goes back"),
        }
        Vec::new()
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let count = self.rows.len();
        let title = format!("Approve the rest of this batch: {count}");
        let hint =
            Line::styled(" enter approves all of these · esc back ", cx.style(Role::DialogDim));
        let height = u16::try_from(count).unwrap_or(u16::MAX).clamp(1, 16).saturating_add(3);
        let inside = super::frame(&title, hint, (76, height), screen, buf, cx);
        let mut rows = inside.rows();
        let unseen: u32 = self.rows.iter().map(|row| row.unseen).sum();
        if let Some(row) = rows.next() {
            let lead = if unseen == 0 {
                Line::styled(
                    "Every changed line of these was on screen.",
                    cx.style(Role::DialogDim),
                )
            } else {
                let text =
                    format!("{unseen} changed lines were never on screen; that is recorded.");
                Line::styled(text, cx.style(Role::Warn).patch(bg_of(cx)))
            };
            lead.render(row, buf);
        }
        let room = usize::from(inside.height).saturating_sub(2);
        let top = self.top.min(count.saturating_sub(room));
        for (item, row) in self.rows.iter().skip(top).zip(rows.skip(1)) {
            let unseen = match item.unseen {
                0 => String::new(),
                lines => format!("  {lines} unseen"),
            };
            let detail = format!("{}{unseen}", item.detail);
            let room = usize::from(row.width).saturating_sub(line::width(&detail) + 2);
            let left = Line::styled(line::cut(&item.what, room), cx.style(Role::Dialog));
            let right = Line::from(Span::styled(detail, cx.style(Role::DialogDim)));
            line::draw_split(&left, &right, row, buf);
        }
    }
}

/// Only the background of a dialog.
fn bg_of(cx: &Cx<'_>) -> ratatui::style::Style {
    ratatui::style::Style { bg: cx.style(Role::Dialog).bg, ..Default::default() }
}
