//! The field at the foot of a log: for a pattern, or the name of a file.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};
use tui_textarea::{CursorMove, TextArea};

use crate::text::sanitize;
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
        let pattern = self.text();
        let at = self.field.cursor().1;
        let before: String = pattern.chars().take(at).collect();
        let under: String = pattern.chars().nth(at).map_or(" ".to_owned(), String::from);
        let after: String = pattern.chars().skip(at + 1).collect();
        let text = cx.style(Role::Text);
        let clean = |text: &str| sanitize::line(text).into_owned();
        let mut spans = vec![
            Span::styled(self.purpose.prompt(), cx.style(Role::Key)),
            Span::styled(clean(&before), text),
            Span::styled(clean(&under), cx.style(Role::Cursor)),
            Span::styled(clean(&after), text),
        ];
        if let Some(wrong) = &self.wrong {
            let words = match self.purpose {
                Purpose::Save | Purpose::Files => format!("  {}", clean(wrong)),
                Purpose::Search | Purpose::Filter => format!("  no pattern: {}", clean(wrong)),
            };
            spans.push(Span::styled(words, cx.style(Role::Error)));
        } else if pattern.is_empty() || self.purpose == Purpose::Save {
            spans.push(Span::styled(self.purpose.advice(), cx.style(Role::Dim)));
        }
        Line::from(spans)
    }
}
