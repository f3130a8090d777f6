//! Tables of facts that give up columns where there is little room, instead of going on in the
//! next row.
//!
//! Owns which columns stay at which width. Must not know what a table is about.

use unicode_width::UnicodeWidthStr;

use super::body_line::{BodyLine, Ink, LinePiece, LineRole};

/// Between two columns.
const GAP: &str = "  ";

/// What is in one column of a row.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    short: Option<String>,
    ink: Ink,
}

impl Cell {
    /// Sanitised: safe for the terminal.
    pub(super) fn new(text: impl Into<String>, ink: Ink) -> Self {
        Self { text: text.into(), short: None, ink }
    }

    /// What stands there instead where there is little room.
    #[must_use]
    pub(super) fn or(mut self, short: impl Into<String>) -> Self {
        self.short = Some(short.into());
        self
    }
}

/// On which side of its column a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// How a table gets narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableStep {
    /// The column is left out.
    Drop(usize),
    /// The column holds its short texts.
    Shorten(usize),
}

/// Lays rows out in columns: as many forms of each row as there are steps and one more, the widest
/// first. Every row of the table has the same form at the same width.
#[must_use]
pub(super) fn table(
    rows: &[(LineRole, Vec<Cell>)],
    aligns: &[Align],
    steps: &[TableStep],
) -> Vec<BodyLine> {
    let mut lines: Vec<Vec<Vec<LinePiece>>> = vec![Vec::new(); rows.len()];
    for taken in 0..=steps.len() {
        let taken = steps.get(..taken).unwrap_or_default();
        for (line, form) in lines.iter_mut().zip(form(rows, aligns, taken)) {
            line.push(form);
        }
    }
    let widths: Vec<usize> = (0..=steps.len())
        .map(|place| {
            lines.iter().filter_map(|line| Some(width(line.get(place)?))).max().unwrap_or(0)
        })
        .collect();
    let with_widths = |forms: Vec<Vec<LinePiece>>| widths.iter().copied().zip(forms).collect();
    let made = rows.iter().zip(lines);
    made.map(|((role, _), forms)| BodyLine::of_forms(*role, with_widths(forms))).collect()
}

fn width(pieces: &[LinePiece]) -> usize {
    pieces.iter().map(|piece| piece.text.width()).sum()
}

/// Every row after these steps.
fn form(
    rows: &[(LineRole, Vec<Cell>)],
    aligns: &[Align],
    taken: &[TableStep],
) -> Vec<Vec<LinePiece>> {
    let is_there = |column: &usize| !taken.contains(&TableStep::Drop(*column));
    let columns: Vec<usize> = (0..aligns.len()).filter(is_there).collect();
    let text = |row: &[Cell], column: usize| -> String {
        let Some(cell) = row.get(column) else { return String::new() };
        match &cell.short {
            Some(short) if taken.contains(&TableStep::Shorten(column)) => short.clone(),
            Some(_) | None => cell.text.clone(),
        }
    };
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| rows.iter().map(|(_, row)| text(row, *column).width()).max().unwrap_or(0))
        .collect();
    let row = |cells: &[Cell]| -> Vec<LinePiece> {
        let mut pieces = Vec::new();
        let mut due = 0;
        for (column, width) in columns.iter().zip(&widths) {
            let text = text(cells, *column);
            let room = width - text.width();
            let (before, after) = match aligns.get(*column) {
                Some(Align::Right) => (room, 0),
                Some(Align::Left) | None => (0, room),
            };
            let ink = cells.get(*column).map_or(Ink::Plain, |cell| cell.ink);
            let gap = if pieces.is_empty() { "" } else { GAP };
            // Blanks at the end of a row would only make it wider.
            pieces.push(LinePiece::new(
                format!("{}{gap}{}{text}", " ".repeat(due), " ".repeat(before)),
                ink,
            ));
            due = after;
        }
        while pieces.last().is_some_and(|piece| piece.text.trim().is_empty()) {
            pieces.pop();
        }
        pieces
    };
    rows.iter().map(|(_, cells)| row(cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &BodyLine, room: usize) -> Vec<String> {
        let parts = match line.width > room {
            true => line.wrap(room),
            false => {
                return vec![line.pieces(None).iter().map(|piece| piece.text.as_str()).collect()];
            }
        };
        let text = |part| line.part(part, None).iter().map(|piece| piece.text.clone()).collect();
        parts.iter().map(text).collect()
    }

    #[test]
    fn columns_are_left_out_before_a_row_is_broken() {
        let cell = |text: &str| Cell::new(text, Ink::Plain);
        let row = |at: &str, bytes: &str, file: &str, short: &str| {
            (LineRole::Fact, vec![cell(at), cell(bytes), cell(file).or(short)])
        };
        let rows = [
            row("0x1000", "26,768", "build/bootloader/bootloader.bin", "bootloader.bin"),
            row("0x10000", "9", "build/app.bin", "app.bin"),
        ];
        let aligns = [Align::Right, Align::Right, Align::Left];
        let lines = table(&rows, &aligns, &[TableStep::Drop(1), TableStep::Shorten(2)]);
        let at =
            |room| -> Vec<String> { lines.iter().flat_map(|line| shown(line, room)).collect() };
        assert_eq!(
            at(80),
            [" 0x1000  26,768  build/bootloader/bootloader.bin", "0x10000       9  build/app.bin"]
        );
        assert_eq!(at(45), [" 0x1000  build/bootloader/bootloader.bin", "0x10000  build/app.bin"]);
        assert_eq!(at(38), [" 0x1000  bootloader.bin", "0x10000  app.bin"]);
        // Each form is whole once its own columns were drawn.
        for room in [80, 45, 38, 12] {
            for line in &lines {
                let parts = line.wrap(room);
                let end = parts.last().map_or(0, |part| part.columns.end);
                assert!(end >= line.needed(&parts[0]), "{room}: {parts:?}");
            }
        }
        assert_eq!(at(12).concat(), " 0x1000  bootloader.bin0x10000  app.bin");
    }
}
