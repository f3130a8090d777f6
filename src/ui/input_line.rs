//! The field at the foot of a log: for a pattern, or the name of a file.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};
use tui_textarea::{CursorMove, TextArea};

use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Characters of a paste that are taken.
const MAX_PASTE: usize = 400;

/// What is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ui) enum Purpose {
    /// What to look for.
    Search,
    /// What to show.
    Filter,
    /// Where to save to.
    Save,
    /// Which files to show.
    Files,
}

impl Purpose {
    const fn prompt(self) -> &'static str {
        match self {
            Self::Search | Self::Files => " /",
            Self::Filter => " show only ",
            Self::Save => " save to ",
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::Search => "  a regular expression; enter searches, esc goes back",
            Self::Files => "  name",
            Self::Filter => "  a regular expression; enter filters, empty shows all",
            Self::Save => "  a file that does not exist yet; enter saves",
        }
    }
}

/// What is in a field of one line: before the cursor, under it, and after it.
pub(in crate::ui) fn field_spans(field: &TextArea<'_>, cx: &Cx<'_>) -> [Span<'static>; 3] {
    let (text, at) = (field.lines().join(""), field.cursor().1);
    let before: String = text.chars().take(at).collect();
    let under: String = text.chars().nth(at).map_or(" ".to_owned(), String::from);
    let after: String = text.chars().skip(at + 1).collect();
    [(before, Role::Text), (under, Role::Cursor), (after, Role::Text)]
        .map(|(part, role)| cx.span(line::clean(&part), role))
}

/// A text being typed.
#[derive(Debug)]
pub(in crate::ui) struct InputLine {
    purpose: Purpose,
    field: TextArea<'static>,
    wrong: Option<String>,
}

impl InputLine {
    /// Begins with `text` in the field.
    pub fn new(purpose: Purpose, text: &str) -> Self {
        let mut field = TextArea::new(vec![text.to_owned()]);
        field.move_cursor(CursorMove::End);
        Self { purpose, field, wrong: None }
    }

    /// What is typed for.
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// A key for the field.
    pub fn on_key(&mut self, key: &KeyEvent) {
        self.field.input(*key);
        self.wrong = None;
    }

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
    pub fn text(&self) -> String {
        self.field.lines().join("")
    }

    /// The row to type in.
    pub fn line(&self, cx: &Cx<'_>) -> Line<'static> {
        let mut spans = vec![cx.span(self.purpose.prompt(), Role::Key)];
        spans.extend(field_spans(&self.field, cx));
        if let Some(wrong) = &self.wrong {
            let words = match self.purpose {
                Purpose::Save | Purpose::Files => format!("  {}", line::clean(wrong)),
                Purpose::Search | Purpose::Filter => {
                    format!("  no pattern: {}", line::clean(wrong))
                }
            };
            spans.push(cx.span(words, Role::Error));
        } else if self.text().is_empty() || self.purpose == Purpose::Save {
            spans.push(cx.span(self.purpose.advice(), Role::Dim));
        }
        Line::from(spans)
    }
}
