//! A table: columns as wide as their text, narrower ones where the screen is.

use pulldown_cmark::Alignment;
use ratatui::style::Modifier;

use crate::ui::role::Role;

use super::wrap::{CellRow, StyledText, wrap};

/// Columns between two columns of the table.
const GAP: usize = 2;

/// No column gets narrower than this.
const LEAST: usize = 4;

pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<StyledText>>>,
}

impl MarkdownTable {
    pub const fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub fn add_cell(&mut self, cell: Vec<StyledText>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    pub fn lay_out(&self, columns: usize, prefix: &[StyledText]) -> Vec<CellRow> {
        let indent: usize = prefix.iter().map(StyledText::width).sum();
        let widths = self.widths(columns.saturating_sub(indent));
        let mut out = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            out.extend(self.lay_out_row(row, &widths, prefix, place == 0));
            if place == 0 {
                let mut pieces = prefix.to_vec();
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                pieces.push(StyledText::new(rules.join(&"─".repeat(GAP)), Role::Faint));
                out.push(CellRow::new(pieces));
            }
        }
        out
    }

    /// As wide as the widest cell; what is too much is taken from the widest columns.
    fn widths(&self, space: usize) -> Vec<usize> {
        let count = self.alignments.len();
        let width_of = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.iter().map(StyledText::width).sum()).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..count).map(width_of).collect();
        let gaps = GAP * count.saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > space {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > LEAST) else {
                break;
            };
            *widest -= 1;
        }
        widths
    }

    fn lay_out_row(
        &self,
        cells: &[Vec<StyledText>],
        widths: &[usize],
        prefix: &[StyledText],
        is_head: bool,
    ) -> Vec<CellRow> {
        let cells = cells.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let wrapped: Vec<Vec<CellRow>> =
            cells.zip(widths).map(|(cell, width)| wrap(cell, *width, &[], &[])).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut pieces = prefix.to_vec();
                for (column, (rows, width)) in wrapped.iter().zip(widths).enumerate() {
                    let row = rows.get(line).cloned().unwrap_or_default();
                    let free = width.saturating_sub(row.width());
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => free,
                        Some(Alignment::Center) => free / 2,
                        Some(Alignment::Left | Alignment::None) | None => 0,
                    };
                    pieces.push(StyledText::new(" ".repeat(before), Role::Text));
                    pieces.extend(row.pieces.into_iter().map(|mut piece| {
                        if is_head {
                            piece.face.add |= Modifier::BOLD;
                        }
                        piece
                    }));
                    let is_last = column + 1 == widths.len();
                    let after = free - before + if is_last { 0 } else { GAP };
                    pieces.push(StyledText::new(" ".repeat(after), Role::Text));
                }
                pieces.retain(|piece| !piece.text.is_empty());
                CellRow::new(pieces)
            })
            .collect()
    }
}
