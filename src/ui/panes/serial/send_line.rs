//! The field for a line to send to a board.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;
use tui_textarea::TextArea;

use crate::model::LineEnding;
use crate::ui::input_line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Lines that can be brought back.
const MAX_HISTORY: usize = 200;

/// Characters of a paste that are taken.
const MAX_PASTE: usize = 4000;

/// A line being typed, and those that were sent.
#[derive(Debug, Default)]
pub struct SendLine {
    field: TextArea<'static>,
    history: Vec<String>,
    /// The one that was brought back.
    place: Option<usize>,
    /// How lines end.
    pub ending: LineEnding,
}

impl SendLine {
    /// A key for the field; up and down bring back what was sent.
    pub fn on_key(&mut self, key: &KeyEvent) {
        match key.code {
            KeyCode::Up => self.bring(self.place.unwrap_or(self.history.len()).checked_sub(1)),
            KeyCode::Down => self.bring(self.place.map(|at| at + 1)),
            _ => {
                self.field.input(*key);
            }
        }
    }

    /// Pasted text: its first line, for each line is sent by a key of its own.
    pub fn insert(&mut self, text: &str) {
        let first = text.lines().next().unwrap_or_default();
        let line: String = first.chars().filter(|c| !c.is_control()).take(MAX_PASTE).collect();
        self.field.insert_str(line);
    }

    /// Takes the line with its end; the field is empty then.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.field = TextArea::default();
        self.place = None;
        if !text.is_empty() && self.history.last() != Some(&text) {
            if self.history.len() >= MAX_HISTORY {
                self.history.remove(0);
            }
            self.history.push(text.clone());
        }
        text + self.ending.text()
    }

    /// The row to type in.
    pub fn line(&self, ending_key: &str, cx: &Cx<'_>) -> Line<'static> {
        let words = format!("  {} ({ending_key}) · enter sends, esc goes back", self.ending.name());
        let mut spans = vec![cx.span(" ▸ ", Role::Key)];
        spans.extend(input_line::field_spans(&self.field, cx));
        spans.push(cx.span(words, Role::Dim));
        Line::from(spans)
    }

    fn bring(&mut self, place: Option<usize>) {
        let Some(text) = place.and_then(|place| self.history.get(place)) else {
            if self.place.is_some_and(|at| at + 1 >= self.history.len()) {
                self.place = None;
                self.field = TextArea::default();
            }
            return;
        };
        self.field = TextArea::from([text.clone()]);
        self.field.move_cursor(tui_textarea::CursorMove::End);
        self.place = place;
    }

    fn text(&self) -> String {
        self.field.lines().join("")
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    fn press(line: &mut SendLine, code: KeyCode) {
        line.on_key(&KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn lines_end_as_wanted_and_come_back() {
        let mut line = SendLine::default();
        line.insert("help\nrm -rf /\n");
        assert_eq!(line.take(), "help\n");
        line.ending = LineEnding::CrLf;
        line.insert("version");
        assert_eq!(line.take(), "version\r\n");
        press(&mut line, KeyCode::Up);
        press(&mut line, KeyCode::Up);
        press(&mut line, KeyCode::Up);
        assert_eq!(line.text(), "help");
        press(&mut line, KeyCode::Down);
        press(&mut line, KeyCode::Char('!'));
        assert_eq!(line.take(), "version!\r\n");
        press(&mut line, KeyCode::Up);
        press(&mut line, KeyCode::Down);
        assert_eq!(line.take(), "\r\n", "past the newest one there is an empty line");
    }
}
