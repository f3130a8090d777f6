//! The choice of a theme; each is shown as soon as it is turned to.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, UiCommand};
use crate::ui::role::Role;

use super::pick;

/// The list of themes.
#[derive(Debug)]
pub struct ThemeList {
    names: Vec<String>,
    /// The theme from before, which comes back when nothing is chosen.
    before: String,
    selected: usize,
}

impl ThemeList {
    /// A list of these names, turned to the one in use.
    #[must_use]
    pub fn new(names: Vec<String>, current: &str) -> Self {
        let selected = names.iter().position(|name| name == current).unwrap_or(0);
        Self { names, before: current.to_owned(), selected }
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if let Some(row) = pick::moved(action, self.selected, self.names.len()) {
            self.selected = row;
            let name = self.names.get(row).cloned().unwrap_or_default();
            return vec![Effect::Command(UiCommand::ShowTheme(name))];
        }
        match action {
            Action::Accept => match self.names.get(self.selected) {
                Some(name) => {
                    vec![Effect::Close, Effect::Command(UiCommand::KeepTheme(name.clone()))]
                }
                None => vec![Effect::Close],
            },
            Action::Cancel => {
                let before = UiCommand::ShowTheme(self.before.clone());
                vec![Effect::Close, Effect::Command(before)]
            }
            _ => Effect::info("choose with up and down, enter keeps it, esc goes back"),
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = Line::styled(" enter keeps · esc back ", cx.style(Role::DialogDim));
        let rows = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        let height = rows.min(screen.height.saturating_sub(6));
        let inside = super::frame("Theme", hint, (44, height), screen, buf, cx);
        let top = self.selected.saturating_sub(usize::from(inside.height).saturating_sub(1));
        for ((place, name), row) in self.names.iter().enumerate().skip(top).zip(inside.rows()) {
            let mark = if *name == self.before { "● " } else { "  " };
            let left = Line::from(vec![
                Span::styled(mark, cx.style(Role::DialogDim)),
                Span::styled(line::cut(name, 24), cx.style(Role::Dialog)),
            ]);
            line::draw_split(&left, &Line::default(), row, buf);
            if place == self.selected {
                buf.set_style(row, cx.style(Role::Selection));
            }
        }
    }
}
