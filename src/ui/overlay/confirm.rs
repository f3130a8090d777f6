//! A decision that no single key may take: the person types what is about to happen.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use crate::model::{Intent, Shown, Verdict};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

/// A phrase while it is being typed.
#[derive(Debug)]
pub struct Confirm {
    /// What it is about.
    pub shown: Shown,
    what: String,
    stake: String,
    phrase: String,
    typed: String,
    /// What is sent once it is typed; `None`: the approval of what was shown.
    instead: Option<Intent>,
}

impl Confirm {
    /// Asks for `phrase` before what was shown is approved; `what` names it, `stake` says why.
    #[must_use]
    pub const fn new(shown: Shown, what: String, stake: String, phrase: String) -> Self {
        Self { shown, what, stake, phrase, typed: String::new(), instead: None }
    }

    /// Sends this once the phrase is typed, and not the approval of what was proposed.
    #[must_use]
    pub fn sending(self, intent: Intent) -> Self {
        Self { instead: Some(intent), ..self }
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        use crossterm::event::KeyCode;
        match key.code {
            KeyCode::Char(letter) => self.typed.push(letter),
            KeyCode::Backspace => {
                self.typed.pop();
            }
            _ => {}
        }
    }

    pub(super) fn on_action(&self, action: Action) -> Vec<Effect> {
        if action != Action::Accept {
            return Effect::info("type the phrase, then enter; esc goes back");
        }
        if self.typed.trim() != self.phrase {
            return Effect::refuse(format!("not decided: type `{}` exactly", self.phrase));
        }
        let confirmed = || {
            let verdict = Verdict::ApproveConfirmed { phrase: self.phrase.clone() };
            Intent::Decide { shown: self.shown, verdict }
        };
        let mut intent = self.instead.clone().unwrap_or_else(confirmed);
        if let Intent::Amend { phrase, .. } = &mut intent {
            *phrase = Some(self.phrase.clone());
        }
        vec![Effect::Close, Effect::intent(intent)]
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = " enter approves · esc back ";
        let inside = super::frame("Confirm by typing", hint, (70, 6), screen, buf, cx);
        let warn = cx.style(Role::Warn);
        let warn = ratatui::style::Style { bg: cx.style(Role::Dialog).bg, ..warn };
        let cut = |text: &str| line::cut(text, usize::from(inside.width));
        let lines = [
            cx.line(cut(&self.what), Role::Dialog),
            Line::styled(cut(&self.stake), warn),
            Line::default(),
            Line::from(vec![
                cx.span("Type  ", Role::DialogDim),
                cx.span(self.phrase.clone(), Role::Dialog),
            ]),
            Line::from(vec![
                cx.span("  ›   ", Role::DialogDim),
                cx.span(self.typed.clone(), Role::Dialog),
                cx.span(" ", Role::Cursor),
            ]),
        ];
        for (line, row) in lines.into_iter().zip(inside.rows()) {
            line.render(row, buf);
        }
    }
}
