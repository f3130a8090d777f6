//! Everything that is known about a proposal beside its lines: what each check found, what it was
//! before, what was asked and answered.

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
    /// Sanitised, each with its look.
    paragraphs: Vec<(String, Role)>,
    top: usize,
}

impl Details {
    /// Begins at the start.
    #[must_use]
    pub const fn new(paragraphs: Vec<(String, Role)>) -> Self {
        Self { paragraphs, top: 0 }
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up => self.top = self.top.saturating_sub(1),
            Action::Down => self.top = self.top.saturating_add(1),
            Action::PageUp => self.top = self.top.saturating_sub(10),
            Action::PageDown => self.top = self.top.saturating_add(10),
            Action::Top => self.top = 0,
            Action::Bottom => self.top = usize::MAX / 2,
            _ => return vec![Effect::Close],
        }
        Vec::new()
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let width = 86.min(screen.width.saturating_sub(6));
        let rows: Vec<(String, Role)> = self
            .paragraphs
            .iter()
            .flat_map(|(text, role)| {
                let indent = if text.starts_with("  ") { "  " } else { "" };
                let words = wrap_words(text.trim_start(), usize::from(width).saturating_sub(2));
                words.into_iter().map(move |row| (format!("{indent}{row}"), *role))
            })
            .collect();
        let hint = Line::styled(" ↑↓ scroll · esc back ", cx.style(Role::DialogDim));
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let inside = super::frame("Details", hint, (width, height), screen, buf, cx);
        let space = usize::from(inside.height);
        let top = self.top.min(rows.len().saturating_sub(space));
        let ground = cx.style(Role::Dialog).bg;
        for ((text, role), row) in rows.iter().skip(top).zip(inside.rows()) {
            let style = ratatui::style::Style { bg: ground, ..cx.style(*role) };
            line::draw(&Line::styled(text.clone(), style), row, buf);
        }
    }
}
