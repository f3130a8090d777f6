//! Leaving while a run goes on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

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
        if pick::moved(action, &mut self.selected, CHOICES.len()) {
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
            more => format!("{} for you.", line::counted(more, "proposal waits", "proposals wait")),
        };
        let inside = super::frame("Leave?", " enter · esc stays ", (72, 7), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.nth(1) {
            line::draw(&cx.line(lead, Role::Dialog), row, buf);
        }
        for (place, ((title, help), row)) in CHOICES.iter().zip(rows.skip(1)).enumerate() {
            let is_selected = place == self.selected;
            let mark = if is_selected { "▸ " } else { "  " };
            let text = Line::from(vec![
                cx.span(format!("{mark}{title:<23}"), Role::Dialog),
                cx.span(*help, Role::DialogDim),
            ]);
            line::draw(&text, row, buf);
            super::mark_selected(is_selected, row, buf, cx);
        }
    }
}
