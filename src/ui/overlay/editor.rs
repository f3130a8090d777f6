//! The proposed text while the person edits it.
//!
//! Holds the text only, and decides nothing: what came of it is shown in the review before it is
//! sent. Leaving keeps what was typed.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_textarea::{CursorMove, DataCursor, TextArea};

use crate::model::Shown;
use crate::text::diff::{Options, diff};
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, ReviewRequest};
use crate::ui::role::Role;

/// A text that is being edited.
#[derive(Debug)]
pub struct Editor {
    /// What it is about.
    pub shown: Shown,
    path: String,
    /// The proposed text, to tell what was changed.
    proposed: String,
    text: Box<TextArea<'static>>,
    /// Line ends of the proposed text.
    crlf: bool,
}

impl Editor {
    /// Begins with `text`, which may be the proposed one or what the person made of it before.
    #[must_use]
    pub fn new(shown: Shown, path: String, proposed: String, text: &str) -> Self {
        let crlf = text.contains("\r\n");
        let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned());
        let mut area = TextArea::new(lines.collect());
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.set_tab_length(4);
        area.move_cursor(CursorMove::Top);
        Self { shown, path, proposed, text: Box::new(area), crlf }
    }

    /// The text as it would be written.
    #[must_use]
    pub fn content(&self) -> String {
        self.text.lines().join(if self.crlf { "\r\n" } else { "\n" })
    }

    /// Begins at a line, from 0.
    pub fn go_to(&mut self, line: usize) {
        let line = u16::try_from(line).unwrap_or(u16::MAX);
        self.text.move_cursor(CursorMove::Jump(line, 0));
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        self.text.input(*key);
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.text.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    pub(super) fn on_action(&self, action: Action) -> Vec<Effect> {
        match action {
            Action::AcceptText => {
                let text = self.content();
                if text == self.proposed {
                    return Effect::refuse("nothing was edited; esc goes back to the proposal");
                }
                vec![
                    Effect::Close,
                    Effect::Review(ReviewRequest::ShowEdit { shown: self.shown, text }),
                ]
            }
            Action::Cancel => {
                let mut effects = vec![Effect::Close];
                if self.content() != self.proposed {
                    effects.push(Effect::Review(self.keep()));
                    effects.extend(Effect::info("nothing was decided; your edit is kept"));
                }
                effects
            }
            _ => Vec::new(),
        }
    }

    /// Keeps what was typed for the next time.
    #[must_use]
    pub fn keep(&self) -> ReviewRequest {
        ReviewRequest::Draft { proposal: self.shown.proposal, text: self.content() }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let key = cx.keymap.key_of(&[KeyContext::Dialog], Action::AcceptText).unwrap_or_default();
        let hint = format!(" {key} shows it in the review · esc back ");
        let space = screen.width.saturating_sub(30);
        let title =
            format!("Edit {} before the decision", line::cut_start(&self.path, usize::from(space)));
        let size = (screen.width, screen.height);
        let inside = super::frame(&title, &hint, size, screen, buf, cx);
        let found = diff(
            self.proposed.as_bytes(),
            self.content().as_bytes(),
            Options { context: 0, ..Options::default() },
        );
        let status = match (found.added, found.removed) {
            (0, 0) => "as the agent proposed it".to_owned(),
            (added, removed) => {
                format!("your edit: +{added} −{removed} · the agent gets exactly this")
            }
        };
        let DataCursor(row, column) = self.text.cursor();
        let place = cx.line(format!("{}:{}", row + 1, column + 1), Role::DialogDim);
        let status = cx.line(status, Role::DialogDim);
        line::draw_split(&status, &place, Rect { height: inside.height.min(1), ..inside }, buf);
        let field = Rect {
            y: inside.y.saturating_add(2).min(inside.bottom()),
            height: inside.height.saturating_sub(2),
            ..inside
        };
        let mut text = TextArea::clone(&self.text);
        text.set_line_number_style(cx.style(Role::DialogDim));
        super::draw_field(text, field, buf, cx);
    }
}
