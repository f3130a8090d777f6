//! Which changed lines have been on screen.
//!
//! Owns the rule that a line counts as seen only when each of its columns was drawn, in whatever
//! layout, wrapped or scrolled. Must not know layouts beyond the cells that were drawn.

use std::collections::HashMap;
use std::ops::Range;

use super::body::ReviewBody;
use super::layout::Cell;

/// What of a body has been on screen.
#[derive(Debug, Clone, Default)]
pub struct SeenLines {
    /// By line: all of it was drawn.
    whole: Vec<bool>,
    /// Columns that were drawn of other lines, in order and apart.
    parts: HashMap<usize, Vec<Range<usize>>>,
}

impl SeenLines {
    /// Nothing of `body` has been seen.
    #[must_use]
    pub fn new(body: &ReviewBody) -> Self {
        Self { whole: vec![false; body.lines.len()], parts: HashMap::new() }
    }

    /// That cell has been drawn.
    pub fn mark(&mut self, body: &ReviewBody, cell: &Cell) {
        let Some(line) = body.lines.get(cell.line).filter(|line| line.must_be_seen()) else {
            return;
        };
        let Some(whole) = self.whole.get_mut(cell.line).filter(|whole| !**whole) else { return };
        let columns = &cell.part.columns;
        let needed = line.needed(&cell.part);
        if columns.start == 0 && columns.end >= needed {
            *whole = true;
            self.parts.remove(&cell.line);
            return;
        }
        let parts = self.parts.entry(cell.line).or_default();
        add(parts, columns.clone());
        if parts.first().is_some_and(|part| part.start == 0 && part.end >= needed) {
            *whole = true;
            self.parts.remove(&cell.line);
        }
    }

    /// Whether drawing that cell would tell nothing new.
    #[must_use]
    pub fn knows(&self, body: &ReviewBody, cell: &Cell) -> bool {
        let must = body.lines.get(cell.line).is_some_and(super::line::BodyLine::must_be_seen);
        let columns = &cell.part.columns;
        !must
            || self.whole.get(cell.line) == Some(&true)
            || self.parts.get(&cell.line).is_some_and(|parts| {
                parts.iter().any(|part| part.start <= columns.start && part.end >= columns.end)
            })
    }

    /// Whether all of a line was drawn.
    #[must_use]
    pub fn is_whole(&self, line: usize) -> bool {
        self.whole.get(line) == Some(&true)
    }

    /// How many of these lines must be seen and were not.
    pub fn unseen(&self, body: &ReviewBody) -> usize {
        self.missing(body).count()
    }

    /// The first line that must be seen and was not, and its first column that was not.
    #[must_use]
    pub fn next_unseen(&self, body: &ReviewBody) -> Option<(usize, usize)> {
        let line = self.missing(body).next()?;
        let parts = self.parts.get(&line).and_then(|parts| parts.first());
        Some((line, parts.filter(|part| part.start == 0).map_or(0, |part| part.end)))
    }

    /// The lines that must be seen and were not.
    pub fn missing(&self, body: &ReviewBody) -> impl Iterator<Item = usize> {
        let must = body.lines.iter().enumerate().filter(|(_, line)| line.must_be_seen());
        must.map(|(at, _)| at).filter(|&at| !self.is_whole(at))
    }
}

/// Adds a range to ranges that are in order and apart.
fn add(parts: &mut Vec<Range<usize>>, new: Range<usize>) {
    let first = parts.partition_point(|part| part.end < new.start);
    let last = parts.partition_point(|part| part.start <= new.end);
    let joined = parts.get(first..last).unwrap_or_default();
    let start = joined.first().map_or(new.start, |part| part.start.min(new.start));
    let end = joined.last().map_or(new.end, |part| part.end.max(new.end));
    parts.splice(first..last, std::iter::once(start..end));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::super::body::tests_support::body;
    use super::super::items::{Blanks, Columns, ItemOptions, UnchangedLines};
    use super::super::layout::{Geometry, Layout, Overflow};
    use super::*;

    fn show(seen: &mut SeenLines, body: &Rc<ReviewBody>, layout: &Layout, rows: Range<usize>) {
        for cell in rows.flat_map(|row| layout.cells(row)).flatten() {
            seen.mark(body, &cell);
        }
    }

    fn layout(body: &Rc<ReviewBody>, columns: Columns, space: usize, overflow: Overflow) -> Layout {
        let wish = ItemOptions { columns, blanks: Blanks::Shown, context: UnchangedLines::Whole };
        let geometry = Geometry { one: space, half: space / 2, overflow };
        Layout::new(Rc::clone(body), wish, geometry, &BTreeMap::new())
    }

    #[test]
    fn a_long_line_is_seen_only_when_all_its_columns_were() {
        let body = Rc::new(body(Some("same\n"), Some("same\n0123456789\nx\n")));
        let wrapped = layout(&body, Columns::Unified, 4, Overflow::Wrap);
        let mut seen = SeenLines::new(&body);
        show(&mut seen, &body, &wrapped, 0..3);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&body)), (2, Some((1, 8))));
        // Another way to look at it goes on from there.
        let scrolled = layout(&body, Columns::Unified, 4, Overflow::Scroll(8));
        show(&mut seen, &body, &scrolled, 0..2);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&body)), (1, Some((2, 0))));
        show(&mut seen, &body, &scrolled, 2..3);
        assert_eq!(seen.unseen(&body), 1, "the start of `x` is out of sight");
        show(&mut seen, &body, &wrapped, 4..5);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&body)), (0, None));
    }

    #[test]
    fn a_line_folded_for_its_blanks_is_not_seen() {
        let body = Rc::new(body(Some("a();\n"), Some("  a();\n")));
        let wish = ItemOptions {
            columns: Columns::Unified,
            blanks: Blanks::Folded,
            context: UnchangedLines::Whole,
        };
        let geometry = Geometry { one: 40, half: 20, overflow: Overflow::Wrap };
        let folded = Layout::new(Rc::clone(&body), wish, geometry, &BTreeMap::new());
        let mut seen = SeenLines::new(&body);
        show(&mut seen, &body, &folded, 0..folded.rows());
        assert_eq!(seen.unseen(&body), 1);
    }

    proptest! {
        #[test]
        fn ranges_stay_in_order_and_hold_what_was_added(
            ranges in prop::collection::vec((0_usize..30, 0_usize..8), 0..20),
        ) {
            let mut parts = Vec::new();
            let mut all = std::collections::BTreeSet::new();
            for (start, len) in ranges {
                add(&mut parts, start..start + len);
                all.extend(start..start + len);
            }
            prop_assert!(parts.windows(2).all(|two| two[0].end < two[1].start));
            let held: std::collections::BTreeSet<usize> = parts.into_iter().flatten().collect();
            prop_assert_eq!(held, all);
        }

        #[test]
        fn all_rows_of_any_layout_together_show_everything(
            text in "[a-c 漢]{0,80}",
            space in 4_usize..30,
            side_by_side in prop::bool::ANY,
        ) {
            let body = Rc::new(body(Some("abc\n"), Some(&format!("{text}\nxyz\n"))));
            let columns = if side_by_side { Columns::SideBySide } else { Columns::Unified };
            let layout = layout(&body, columns, space, Overflow::Wrap);
            let mut seen = SeenLines::new(&body);
            show(&mut seen, &body, &layout, 0..layout.rows());
            prop_assert_eq!(seen.unseen(&body), 0);
        }
    }
}
