//! Everything that is known about a proposal beside its lines: what each check found, what it was
//! before, what was asked and answered.

use std::cell::Cell;
use std::ops::Range;

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
    /// Columns of a grid that are scrolled away, and the most that can be.
    left: usize,
    most_left: Cell<usize>,
}

/// Which paragraphs are the rows of a grid that is scrolled sideways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    pub rows: Range<usize>,
    /// Columns that stay: the names of the rows.
    pub pinned: usize,
    /// Columns of one step.
    pub step: usize,
}

/// How lines that are too long are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DetailForm {
    /// Words go on in the next row.
    Wrapped,
    /// They are rows of a table, and cut.
    Rows,
    /// Words go on in the next row, and rows of the grid are scrolled sideways.
    Grid(Grid),
}

impl Details {
    /// Begins at the start.
    #[must_use]
    pub const fn new(paragraphs: Vec<(String, Role)>) -> Self {
        Self::of("Details", paragraphs, DetailForm::Wrapped)
    }

    /// A table that is scrolled by rows.
    #[must_use]
    pub const fn table(title: &'static str, rows: Vec<(String, Role)>) -> Self {
        Self::of(title, rows, DetailForm::Rows)
    }

    /// Paragraphs, some of which are a grid that may be wider than the screen.
    #[must_use]
    pub const fn grid(title: &'static str, paragraphs: Vec<(String, Role)>, grid: Grid) -> Self {
        Self::of(title, paragraphs, DetailForm::Grid(grid))
    }

    const fn of(title: &'static str, paragraphs: Vec<(String, Role)>, form: DetailForm) -> Self {
        let (most, most_left) = (Cell::new(0), Cell::new(0));
        Self { title, paragraphs, form, top: 0, most, left: 0, most_left }
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up => self.top = self.top.min(self.most.get()).saturating_sub(1),
            Action::Down => self.top = self.top.saturating_add(1),
            Action::PageUp => self.top = self.top.min(self.most.get()).saturating_sub(10),
            Action::PageDown => self.top = self.top.saturating_add(10),
            Action::Top => self.top = 0,
            Action::Bottom => self.top = usize::MAX / 2,
            Action::Left | Action::Right if matches!(self.form, DetailForm::Grid(_)) => {
                self.move_sideways(action);
            }
            _ => return vec![Effect::Close],
        }
        Vec::new()
    }

    fn move_sideways(&mut self, action: Action) {
        let DetailForm::Grid(Grid { step, .. }) = &self.form else { return };
        let left = self.left.min(self.most_left.get());
        self.left = match action {
            Action::Left => left.saturating_sub(*step),
            _ => (left + step).min(self.most_left.get()),
        };
    }

    /// Columns of the longest row of the grid.
    fn longest_of_grid(&self) -> usize {
        let DetailForm::Grid(grid) = &self.form else { return 0 };
        let rows = self.paragraphs.get(grid.rows.clone()).unwrap_or_default().iter();
        rows.map(|(row, _)| row.trim_end().chars().count()).max().unwrap_or(0)
    }

    /// The rows of a paragraph in so many columns.
    fn rows_of(&self, place: usize, width: usize) -> Vec<String> {
        let Some((text, _)) = self.paragraphs.get(place) else { return Vec::new() };
        match &self.form {
            DetailForm::Rows => vec![line::cut(text, width)],
            DetailForm::Grid(grid) if grid.rows.contains(&place) => {
                let left = self.left.min(self.most_left.get());
                let pinned = text.chars().take(grid.pinned);
                let row: String = pinned.chain(text.chars().skip(grid.pinned + left)).collect();
                vec![line::cut(row.trim_end(), width)]
            }
            DetailForm::Grid(_) | DetailForm::Wrapped => {
                let indent = if text.starts_with("  ") { "  " } else { "" };
                let words = wrap_words(text.trim_start(), width.saturating_sub(2));
                words.into_iter().map(|row| format!("{indent}{row}")).collect()
            }
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let longest = self.longest_of_grid();
        let widest = match &self.form {
            DetailForm::Wrapped => 86,
            DetailForm::Rows => 116,
            DetailForm::Grid(_) => u16::try_from(longest).unwrap_or(u16::MAX).max(86),
        };
        let width = widest.min(screen.width.saturating_sub(6));
        if let DetailForm::Grid(grid) = &self.form {
            let step = grid.step.max(1);
            let missing = longest.saturating_sub(usize::from(width));
            self.most_left.set(missing.div_ceil(step) * step);
        }
        let places = self.paragraphs.iter().enumerate();
        let rows: Vec<(String, Role)> = places
            .flat_map(|(place, (_, role))| {
                let rows = self.rows_of(place, usize::from(width)).into_iter();
                rows.map(|row| (row, *role))
            })
            .collect();
        let keys = match self.most_left.get() {
            0 => " ↑↓ scroll · esc back ",
            _ => " ↑↓ scroll · ←→ more agents · esc back ",
        };
        let size = (width, super::rows_for(rows.len()));
        let inside = super::frame(self.title, keys, size, screen, buf, cx);
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
