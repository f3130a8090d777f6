//! The exact list of what is about to be decided together.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::model::{AfterReject, ContentHash, Intent, ProposalId, Shown, Verdict};
use crate::ui::action::{Action, Context};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

use super::{Overlay, Purpose, WordsInput};

/// One proposal of the list.
#[derive(Debug, Clone)]
pub struct BatchRow {
    /// Which, and what of it was on screen.
    pub shown: Shown,
    /// What it is, e.g. `save main/main.c`.
    pub what: String,
    /// More about it, e.g. `+12 −3`.
    pub detail: String,
}

/// Proposals that are decided together once the person accepts the list.
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
        self.rows.iter().map(|row| (row.shown.proposal, row.shown.hash)).collect()
    }

    fn shown(&self) -> Vec<Shown> {
        self.rows.iter().map(|row| row.shown).collect()
    }

    fn unseen(&self) -> u32 {
        self.rows.iter().map(|row| row.shown.unseen).sum()
    }

    /// The action that approves the list: lines that were never on screen take one of their own.
    #[must_use]
    pub fn approves_by(&self) -> Action {
        if self.unseen() == 0 { Action::Accept } else { Action::AcceptUnseen }
    }

    fn approve(&self) -> Vec<Effect> {
        let (shown, verdict) = (self.shown(), Verdict::Approve);
        vec![Effect::Close, Effect::intent(Intent::DecideAll { shown, verdict })]
    }

    fn reject(&self) -> Vec<Effect> {
        let what = format!("all {} of the list", self.rows.len());
        let purpose = Purpose::Reject(AfterReject::GoOn);
        let Some(words) = WordsInput::about_all(purpose, self.shown(), what) else {
            return vec![Effect::Close];
        };
        vec![Effect::Close, Effect::Open(Box::new(Overlay::Words(words)))]
    }

    pub(super) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let last = self.rows.len().saturating_sub(1);
        match action {
            Action::Up => self.top = self.top.saturating_sub(1),
            Action::Down => self.top = (self.top + 1).min(last),
            Action::PageUp | Action::Top => self.top = self.top.saturating_sub(8),
            Action::PageDown | Action::Bottom => self.top = (self.top + 8).min(last),
            Action::AcceptUnseen => return self.approve(),
            Action::Accept if self.approves_by() == Action::Accept => return self.approve(),
            Action::RejectAll => return self.reject(),
            Action::Accept => {
                let key = key(cx, Action::AcceptUnseen);
                let lines = self.unseen();
                let text = format!(
                    "not decided: {lines} changed lines were never on screen; {key} approves them unseen"
                );
                return Effect::refuse(text);
            }
            _ => return Effect::info(self.keys(cx)),
        }
        Vec::new()
    }

    /// What the keys do.
    fn keys(&self, cx: &Cx<'_>) -> String {
        let action = self.approves_by();
        let unseen = if action == Action::Accept { "" } else { " unseen" };
        let approve = format!("{} approves all{unseen}", key(cx, action));
        let (reject, back) = (key(cx, Action::RejectAll), key(cx, Action::Cancel));
        format!("{approve} · {reject} rejects all · {back} back")
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let count = self.rows.len();
        let title = format!("The rest of this batch: {count}");
        let hint = Line::styled(format!(" {} ", self.keys(cx)), cx.style(Role::DialogDim));
        let height = u16::try_from(count).unwrap_or(u16::MAX).clamp(1, 16).saturating_add(3);
        let inside = super::frame(&title, hint, (76, height), screen, buf, cx);
        let mut rows = inside.rows();
        let unseen = self.unseen();
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
            let unseen = match item.shown.unseen {
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

fn key(cx: &Cx<'_>, action: Action) -> String {
    cx.keymap.key_of(&[Context::Dialog], action).unwrap_or_default()
}

/// Only the background of a dialog.
fn bg_of(cx: &Cx<'_>) -> ratatui::style::Style {
    ratatui::style::Style { bg: cx.style(Role::Dialog).bg, ..Default::default() }
}
