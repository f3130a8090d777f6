//! Leaving while a run goes on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::Intent;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, UiCommand};
use crate::ui::role::Role;
use crate::view::RunState;

use super::pick;

/// The choice between staying, leaving and stopping.
#[derive(Debug, Default)]
pub struct QuitChoice {
    selected: usize,
}

const CHOICES: [(&str, &str); 3] = [
    ("Stay", "nothing changes"),
    ("Leave, continue later", "what waits is kept; `firmhand resume` continues"),
    ("Stop the run", "what waits is not done; the session stays"),
];

impl QuitChoice {
    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if let Some(row) = pick::moved(action, self.selected, CHOICES.len()) {
            self.selected = row;
            return Vec::new();
        }
        match action {
            Action::Accept => match self.selected {
                0 => vec![Effect::Close],
                1 => vec![Effect::Close, Effect::Command(UiCommand::Quit)],
                _ => vec![Effect::Close, Effect::intent(Intent::Stop)],
            },
            _ => Effect::info("choose with up and down, then press enter"),
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let waiting = cx.view.review.waiting.len();
        let lead = match waiting {
            0 if cx.view.head.question.is_some() => "The run waits for your answer.".to_owned(),
            0 if cx.view.head.state == RunState::Paused => "The run is paused.".to_owned(),
            0 => "The run goes on.".to_owned(),
            1 => "1 proposal waits for you.".to_owned(),
            more => format!("{more} proposals wait for you."),
        };
        let hint = Line::styled(" enter · esc stays ", cx.style(Role::DialogDim));
        let inside = super::frame("Leave?", hint, (72, 7), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.nth(1) {
            line::draw(&Line::styled(lead, cx.style(Role::Dialog)), row, buf);
        }
        for (place, ((title, help), row)) in CHOICES.iter().zip(rows.skip(1)).enumerate() {
            let is_selected = place == self.selected;
            let mark = if is_selected { "▸ " } else { "  " };
            let text = Line::from(vec![
                Span::styled(format!("{mark}{title:<23}"), cx.style(Role::Dialog)),
                Span::styled(*help, cx.style(Role::DialogDim)),
            ]);
            line::draw(&text, row, buf);
            if is_selected {
                buf.set_style(row, cx.style(Role::Selection));
            }
        }
    }
}
