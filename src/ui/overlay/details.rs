//! Everything that is known about a proposal beside its lines: what each check found, what it was
//! before, what was asked and answered.

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;

/// A text in paragraphs to read.
#[derive(Debug)]
pub struct Details {
    title: &'static str,
    /// Sanitised, each with its look.
    paragraphs: Vec<(String, Role)>,
    form: DetailForm,
    top: usize,
    /// The last place that `top` can have; known when it was drawn.
    most: Cell<usize>,
}

/// How lines that are too long are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetailForm {
    /// Words go on in the next row.
    Wrapped,
    /// They are rows of a table, and cut.
    Rows,
}

impl Details {
    /// Begins at the start.
    #[must_use]
    pub const fn new(paragraphs: Vec<(String, Role)>) -> Self {
        Self { title: "Details", paragraphs, form: DetailForm::Wrapped, top: 0, most: Cell::new(0) }
    }

    /// A table that is scrolled by rows.
    #[must_use]
    pub const fn table(title: &'static str, rows: Vec<(String, Role)>) -> Self {
        Self { title, paragraphs: rows, form: DetailForm::Rows, top: 0, most: Cell::new(0) }
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up => self.top = self.top.min(self.most.get()).saturating_sub(1),
            Action::Down => self.top = self.top.saturating_add(1),
            Action::PageUp => self.top = self.top.min(self.most.get()).saturating_sub(10),
            Action::PageDown => self.top = self.top.saturating_add(10),
            Action::Top => self.top = 0,
            Action::Bottom => self.top = usize::MAX / 2,
            _ => return vec![Effect::Close],
        }
        Vec::new()
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let widest = if self.form == DetailForm::Rows { 116 } else { 86 };
        let width = widest.min(screen.width.saturating_sub(6));
        let rows: Vec<(String, Role)> = self
            .paragraphs
            .iter()
            .flat_map(|(text, role)| {
                if self.form == DetailForm::Rows {
                    let row = line::cut(text, usize::from(width));
                    return vec![(row, *role)];
                }
                let indent = if text.starts_with("  ") { "  " } else { "" };
                let words = wrap_words(text.trim_start(), usize::from(width).saturating_sub(2));
                words.into_iter().map(|row| (format!("{indent}{row}"), *role)).collect()
            })
            .collect();
        let hint = Line::styled(" ↑↓ scroll · esc back ", cx.style(Role::DialogDim));
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let inside = super::frame(self.title, hint, (width, height), screen, buf, cx);
        let space = usize::from(inside.height);
        self.most.set(rows.len().saturating_sub(space));
        let top = self.top.min(self.most.get());
        let ground = cx.style(Role::Dialog).bg;
        for ((text, role), row) in rows.iter().skip(top).zip(inside.rows()) {
            let style = ratatui::style::Style { bg: ground, ..cx.style(*role) };
            line::draw(&Line::styled(text.clone(), style), row, buf);
        }
    }
}
