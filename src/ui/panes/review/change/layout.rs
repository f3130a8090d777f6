//! How the items of a body wrap at some width, and what of which line is in which row.
//!
//! Pure arithmetic; must not draw, and must not know what was seen.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use crate::ui::panes::wrap::wrap_words;

use super::body::ReviewBody;
use super::items::{self, Columns, DiffItem};
use super::line::LinePart;

/// What happens to lines that are wider than the room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// They go on in the next row.
    Wrap,
    /// They are cut; what is left of this column is out of sight.
    Scroll(usize),
}

/// The room, and how to use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Columns for text across the pane.
    pub one: usize,
    /// Columns for text in each half.
    pub half: usize,
    /// What happens to wide lines.
    pub overflow: Overflow,
}

/// What of a line a row shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Place of the line in the body.
    pub line: usize,
    /// Which part of it.
    pub part: LinePart,
}

/// A body at some width.
#[derive(Debug, Clone)]
pub struct Layout {
    body: Rc<ReviewBody>,
    wish: items::ItemOptions,
    geometry: Geometry,
    remarks: BTreeMap<usize, String>,
    items: Vec<DiffItem>,
    /// Row where each item begins; one more for the end.
    starts: Vec<usize>,
    /// Parts of lines that take more than one row; halves by `true`.
    parts: HashMap<(usize, Side), Vec<LinePart>>,
    /// Item that shows each line of the body.
    homes: Vec<usize>,
}

/// Which room a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Whole,
    Half,
}

impl Layout {
    /// Lays `body` out.
    #[must_use]
    pub fn new(
        body: Rc<ReviewBody>,
        wish: items::ItemOptions,
        geometry: Geometry,
        remarks: &BTreeMap<usize, String>,
    ) -> Self {
        let items = items::items(&body, wish, remarks);
        let mut layout = Self {
            homes: vec![0; body.lines.len()],
            body,
            wish,
            geometry,
            remarks: remarks.clone(),
            starts: Vec::with_capacity(items.len() + 1),
            items: Vec::new(),
            parts: HashMap::new(),
        };
        let mut row = 0;
        for (place, item) in items.iter().enumerate() {
            layout.starts.push(row);
            row += layout.measure(item, place);
        }
        layout.starts.push(row);
        layout.items = items;
        layout
    }

    /// Whether it is the layout of just that.
    #[must_use]
    pub fn fits(
        &self,
        body: &Rc<ReviewBody>,
        wish: items::ItemOptions,
        geometry: Geometry,
        remarks: &BTreeMap<usize, String>,
    ) -> bool {
        Rc::ptr_eq(&self.body, body)
            && self.wish == wish
            && self.geometry == geometry
            && self.remarks == *remarks
    }

    /// Whether the old and the new version stand beside each other.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        self.wish.columns
    }

    /// Whether wide lines are cut, and the text scrolls to the side.
    #[must_use]
    pub const fn is_scrolled(&self) -> bool {
        matches!(self.geometry.overflow, Overflow::Scroll(_))
    }

    /// Rows of an item; takes note of its lines on the way.
    fn measure(&mut self, item: &DiffItem, place: usize) -> usize {
        match item {
            DiffItem::One(line) => self.rows_of_line(*line, Side::Whole, place),
            DiffItem::Blank(old, new) => {
                self.settle(*old, place);
                self.rows_of_line(*new, Side::Whole, place)
            }
            DiffItem::Two(old, new) => {
                let old = old.map_or(1, |line| self.rows_of_line(line, Side::Half, place));
                let new = new.map_or(1, |line| self.rows_of_line(line, Side::Half, place));
                old.max(new)
            }
            DiffItem::Fold(lines) => {
                lines.clone().for_each(|line| self.settle(line, place));
                1
            }
            DiffItem::Gap(_) => 1,
            DiffItem::Remark(line) => self.remark(*line).len().max(1),
        }
    }

    fn settle(&mut self, line: usize, place: usize) {
        if let Some(home) = self.homes.get_mut(line) {
            *home = place;
        }
    }

    fn rows_of_line(&mut self, line: usize, side: Side, place: usize) -> usize {
        self.settle(line, place);
        let space = self.columns_of(side);
        let Some(found) = self.body.lines.get(line).filter(|found| found.width > space) else {
            return 1;
        };
        if self.geometry.overflow != Overflow::Wrap {
            return 1;
        }
        let parts = found.wrap(space);
        let rows = parts.len();
        self.parts.insert((line, side), parts);
        rows
    }

    fn columns_of(&self, side: Side) -> usize {
        match side {
            Side::Whole => self.geometry.one,
            Side::Half => self.geometry.half,
        }
        .max(2)
    }

    /// The rows of the person's words on a line.
    #[must_use]
    pub fn remark(&self, line: usize) -> Vec<String> {
        let text = self.remarks.get(&line).map_or("", String::as_str);
        wrap_words(text, self.geometry.one.saturating_sub(3).max(8))
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The item that `row` belongs to, and which of its rows it is.
    #[must_use]
    pub fn item_at(&self, row: usize) -> Option<(&DiffItem, usize)> {
        let place = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        let item = self.items.get(place)?;
        Some((item, row - self.starts.get(place).unwrap_or(&0)))
    }

    /// The rows of the item that shows a line of the body.
    #[must_use]
    pub fn rows_of(&self, line: usize) -> Range<usize> {
        let place = self.homes.get(line).copied().unwrap_or(0);
        let at = |place| self.starts.get(place).copied().unwrap_or(0);
        at(place)..at(place + 1)
    }

    /// A line of the body that an item shows.
    #[must_use]
    pub fn line_at(&self, row: usize) -> Option<usize> {
        match self.item_at(row)?.0 {
            DiffItem::One(line)
            | DiffItem::Gap(line)
            | DiffItem::Remark(line)
            | DiffItem::Blank(_, line) => Some(*line),
            DiffItem::Two(old, new) => new.or(*old),
            DiffItem::Fold(lines) => Some(lines.start),
        }
    }

    /// What a row shows of which lines, the old version first. A line whose other version has
    /// other blanks shows only as itself.
    #[must_use]
    pub fn cells(&self, row: usize) -> [Option<Cell>; 2] {
        let Some((item, nth)) = self.item_at(row) else { return [None, None] };
        match item {
            DiffItem::One(line) | DiffItem::Blank(_, line) => {
                [self.cell(*line, Side::Whole, nth), None]
            }
            DiffItem::Two(old, new) => {
                let cell = |line: &Option<usize>| line.and_then(|l| self.cell(l, Side::Half, nth));
                [cell(old), cell(new)]
            }
            DiffItem::Fold(_) | DiffItem::Gap(_) | DiffItem::Remark(_) => [None, None],
        }
    }

    fn cell(&self, line: usize, side: Side, nth: usize) -> Option<Cell> {
        let width = self.body.lines.get(line)?.width;
        let part = match (self.geometry.overflow, self.parts.get(&(line, side))) {
            (Overflow::Wrap, Some(parts)) => parts.get(nth)?.clone(),
            (Overflow::Wrap, None) => LinePart::at(0..width),
            (Overflow::Scroll(left), _) => {
                let start = left.min(width);
                LinePart::at(start..width.min(left + self.columns_of(side)))
            }
        };
        let is_tall = self.parts.contains_key(&(line, side));
        (nth == 0 || self.geometry.overflow == Overflow::Wrap && is_tall)
            .then_some(Cell { line, part })
    }

    /// The width of the widest line, for scrolling to the side.
    #[must_use]
    pub fn widest(&self) -> usize {
        self.body.lines.iter().map(|line| line.width).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::tests_support::body;
    use super::super::items::{Blanks, UnchangedLines};
    use super::*;

    fn layout(old: &str, new: &str, columns: Columns, overflow: Overflow) -> Layout {
        let wish =
            items::ItemOptions { columns, blanks: Blanks::Shown, context: UnchangedLines::Whole };
        let geometry = Geometry { one: 10, half: 5, overflow };
        Layout::new(Rc::new(body(Some(old), Some(new))), wish, geometry, &BTreeMap::new())
    }

    #[test]
    fn halves_wrap_on_their_own_and_rows_hold_both() {
        let layout =
            layout("0123456789\n", "01234567x9abcde\n", Columns::SideBySide, Overflow::Wrap);
        assert_eq!(layout.rows(), 3);
        let columns = |row: usize| {
            layout.cells(row).map(|cell| cell.map(|cell| (cell.line, cell.part.columns)))
        };
        assert_eq!(columns(0), [Some((0, 0..5)), Some((1, 0..5))]);
        assert_eq!(columns(2), [None, Some((1, 10..15))]);
        assert_eq!(columns(3), [None, None]);
    }

    #[test]
    fn scrolled_to_the_side_a_line_takes_one_row() {
        let layout = layout("a\n", "0123456789abcde\n", Columns::Unified, Overflow::Scroll(8));
        assert_eq!((layout.rows(), layout.widest()), (2, 15));
        let cells = layout.cells(1);
        assert_eq!(cells[0].as_ref().unwrap().part.columns, 8..15);
        assert_eq!(layout.cells(0)[0].as_ref().unwrap().part.columns, 1..1);
    }
}
