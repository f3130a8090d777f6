//! The choice of a theme; each is shown as soon as it is turned to.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

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
        if pick::moved(action, &mut self.selected, self.names.len()) {
            let name = self.names.get(self.selected).cloned().unwrap_or_default();
            return vec![Effect::Command(UiCommand::ShowTheme(name))];
        }
        match action {
            Action::Accept => {
                let chosen = self.names.get(self.selected).cloned();
                let keep = chosen.map(|name| Effect::Command(UiCommand::KeepTheme(name)));
                std::iter::once(Effect::Close).chain(keep).collect()
            }
            Action::Cancel => {
                let before = UiCommand::ShowTheme(self.before.clone());
                vec![Effect::Close, Effect::Command(before)]
            }
            _ => Effect::info("choose with up and down, enter keeps it, esc goes back"),
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let height = super::rows_for(self.names.len()).min(screen.height.saturating_sub(6));
        let inside =
            super::frame("Theme", " enter keeps · esc back ", (44, height), screen, buf, cx);
        let top = self.selected.saturating_sub(usize::from(inside.height).saturating_sub(1));
        for ((place, name), row) in self.names.iter().enumerate().skip(top).zip(inside.rows()) {
            let mark = if *name == self.before { "● " } else { "  " };
            let left = Line::from(vec![
                cx.span(mark, Role::DialogDim),
                cx.span(line::cut(name, 24), Role::Dialog),
            ]);
            line::draw_split(&left, &Line::default(), row, buf);
            super::mark_selected(place == self.selected, row, buf, cx);
        }
    }
}
