//! What is typed at the foot of the logs: a pattern, the name of a file, or a line for a board.
//!
//! Owns which of them it is. Must not know what becomes of it.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;

use crate::ui::pane::{Cx, Effect, TextMode};
use crate::view::SerialView;

use crate::ui::input_line::{InputLine, Purpose};
use crate::ui::panes::serial::SerialActions;

/// What came of a key.
pub(super) enum Typed {
    /// These effects, if any.
    Effects(Vec<Effect>),
    /// The text is complete.
    Entered(Box<InputLine>),
}

/// The row that one types in.
#[derive(Debug, Default)]
pub(super) struct Foot {
    typing: Option<InputLine>,
    /// The person's hands on the port.
    pub control: SerialActions,
}

impl Foot {
    /// Begins to type with `text` in the field.
    pub fn begin(&mut self, purpose: Purpose, text: &str) {
        self.typing = Some(InputLine::new(purpose, text));
    }

    /// Gives a text back, with what is wrong with it.
    pub fn refuse(&mut self, typing: InputLine, why: String) {
        self.typing = Some(typing.refused(why));
    }

    /// Leaves what is typed.
    pub fn leave(&mut self) {
        self.typing = None;
        self.control.leave();
    }

    /// Whether keys are text.
    pub const fn mode(&self) -> TextMode {
        if self.typing.is_some() || self.control.is_typing() { TextMode::On } else { TextMode::Off }
    }

    /// The row while one types; `None` else.
    pub fn row(&self, cx: &Cx<'_>) -> Option<Line<'static>> {
        if self.control.is_typing() {
            return Some(self.control.row(cx));
        }
        self.typing.as_ref().map(|typing| typing.line(cx))
    }

    /// A key; `serial` is the port that is shown.
    pub fn key(&mut self, key: &KeyEvent, serial: Option<&SerialView>) -> Typed {
        if self.control.is_typing() {
            return Typed::Effects(self.control.on_key(key, serial));
        }
        match (key.code, &mut self.typing) {
            (KeyCode::Esc, _) => self.typing = None,
            (KeyCode::Enter, _) => {
                if let Some(typing) = self.typing.take() {
                    return Typed::Entered(Box::new(typing));
                }
            }
            (_, Some(typing)) => typing.on_key(key),
            (_, None) => {}
        }
        Typed::Effects(Vec::new())
    }

    pub fn paste(&mut self, text: &str) {
        if self.control.is_typing() {
            self.control.paste(text);
        } else if let Some(typing) = &mut self.typing {
            typing.insert(text);
        }
    }
}
