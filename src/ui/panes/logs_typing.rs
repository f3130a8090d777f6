//! The field for a pattern to search for.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};
use tui_textarea::TextArea;

use crate::text::sanitize;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Characters of a paste that are taken.
const MAX_PASTE: usize = 400;

/// A pattern being typed.
#[derive(Debug, Default)]
pub(super) struct Typing {
    field: TextArea<'static>,
    wrong: Option<String>,
}

impl Typing {
    /// A key for the field.
    pub fn on_key(&mut self, key: &KeyEvent) {
        self.field.input(*key);
        self.wrong = None;
    }

    /// Pasted text.
    pub fn insert(&mut self, text: &str) {
        let line: String = text.chars().filter(|c| !c.is_control()).take(MAX_PASTE).collect();
        self.field.insert_str(line);
        self.wrong = None;
    }

    /// The same, with what is wrong with it.
    pub fn refused(mut self, why: String) -> Self {
        self.wrong = Some(why);
        self
    }

    /// What was typed so far.
    pub fn pattern(&self) -> String {
        self.field.lines().join("")
    }

    /// The row to type in.
    pub fn line(&self, cx: &Cx<'_>) -> Line<'static> {
        let pattern = self.pattern();
        let at = self.field.cursor().1;
        let before: String = pattern.chars().take(at).collect();
        let under: String = pattern.chars().nth(at).map_or(" ".to_owned(), String::from);
        let after: String = pattern.chars().skip(at + 1).collect();
        let text = cx.style(Role::Text);
        let clean = |text: &str| sanitize::line(text).into_owned();
        let mut spans = vec![
            Span::styled(" /", cx.style(Role::Key)),
            Span::styled(clean(&before), text),
            Span::styled(clean(&under), cx.style(Role::Cursor)),
            Span::styled(clean(&after), text),
        ];
        if let Some(wrong) = &self.wrong {
            let words = format!("  no pattern: {}", clean(wrong));
            spans.push(Span::styled(words, cx.style(Role::Error)));
        } else if pattern.is_empty() {
            let words = "  a regular expression; enter searches, esc goes back";
            spans.push(Span::styled(words, cx.style(Role::Dim)));
        }
        Line::from(spans)
    }
}
