//! How a body wraps at some width, and which of its lines have been on screen.
//!
//! Owns the rule that a line counts as seen only when all of it was drawn. Must not draw.

use std::rc::Rc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::review_body::{Body, BodyLine, Piece};

/// A body at some width.
#[derive(Debug, Clone)]
pub struct Layout {
    body: Rc<Body>,
    width: usize,
    /// Row where each line begins; one more for the end.
    starts: Vec<usize>,
}

impl Layout {
    /// Wraps `body` at `width` columns of text.
    #[must_use]
    pub fn new(body: Rc<Body>, width: usize) -> Self {
        let width = width.max(2);
        let mut starts = Vec::with_capacity(body.lines.len() + 1);
        let mut row = 0;
        for line in &body.lines {
            starts.push(row);
            row += if line.width <= width { 1 } else { wrap(line, width).len() };
        }
        starts.push(row);
        Self { body, width, starts }
    }

    /// Whether it is the layout of that body at that width.
    #[must_use]
    pub fn fits(&self, body: &Rc<Body>, width: usize) -> bool {
        Rc::ptr_eq(&self.body, body) && self.width == width.max(2)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The line that `row` belongs to, and which of its rows it is.
    #[must_use]
    pub fn line_at(&self, row: usize) -> Option<(usize, usize)> {
        let line = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        (line < self.body.lines.len()).then(|| (line, row - self.starts.get(line).unwrap_or(&0)))
    }

    /// The first row of a line.
    #[must_use]
    pub fn row_of(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(0)
    }

    /// How many rows a line takes.
    #[must_use]
    pub fn height_of(&self, line: usize) -> usize {
        self.row_of(line + 1).saturating_sub(self.row_of(line))
    }

    /// The pieces in one row of a line.
    #[must_use]
    pub fn pieces(&self, line: usize, row: usize) -> Vec<Piece> {
        let Some(line) = self.body.lines.get(line) else { return Vec::new() };
        if line.width <= self.width {
            return line.pieces.clone();
        }
        wrap(line, self.width).into_iter().nth(row).unwrap_or_default()
    }
}

/// Cuts a line into rows of at most `width` columns: after a blank near the right end where there
/// is one, else between graphemes.
fn wrap(line: &BodyLine, width: usize) -> Vec<Vec<Piece>> {
    let graphemes: Vec<(usize, &str)> = line
        .pieces
        .iter()
        .enumerate()
        .flat_map(|(place, piece)| piece.text.graphemes(true).map(move |text| (place, text)))
        .collect();
    let mut rows = Vec::new();
    let mut rest = graphemes.as_slice();
    loop {
        let (row, more) = rest.split_at(row_len(rest, width));
        rows.push(join(row, &line.pieces));
        rest = more;
        if rest.is_empty() {
            return rows;
        }
    }
}

/// How many graphemes go into the next row.
fn row_len(graphemes: &[(usize, &str)], width: usize) -> usize {
    let mut used = 0;
    let mut blank = None;
    for (place, (_, text)) in graphemes.iter().enumerate() {
        used += text.width();
        if used > width && place > 0 {
            return blank.unwrap_or(place);
        }
        if *text == " " && used * 3 > width * 2 {
            blank = Some(place + 1);
        }
    }
    graphemes.len()
}

fn join(row: &[(usize, &str)], pieces: &[Piece]) -> Vec<Piece> {
    let mut joined: Vec<(usize, Piece)> = Vec::new();
    for (place, text) in row {
        match joined.last_mut() {
            Some((last, piece)) if last == place => piece.text.push_str(text),
            _ => joined.extend(pieces.get(*place).map(|like| {
                let text = (*text).to_owned();
                (*place, Piece { text, ink: like.ink, emphasis: like.emphasis })
            })),
        }
    }
    joined.into_iter().map(|(_, piece)| piece).collect()
}

/// Which lines have been on screen.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// By line: it was drawn whole.
    whole: Vec<bool>,
    /// By row of the present layout: it was drawn. Lost when the layout changes.
    rows: Vec<bool>,
}

impl Seen {
    /// Nothing of `layout`'s body has been seen.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        Self { whole: vec![false; layout.body.lines.len()], rows: vec![false; layout.rows()] }
    }

    /// The same body now wraps differently: lines seen whole stay seen, parts do not.
    pub fn relayout(&mut self, layout: &Layout) {
        self.rows = vec![false; layout.rows()];
    }

    /// Rows `from..until` are on screen.
    pub fn mark(&mut self, layout: &Layout, from: usize, until: usize) {
        let until = until.min(layout.rows());
        if let Some(rows) = self.rows.get_mut(from.min(until)..until) {
            rows.fill(true);
        }
        let Some((first, _)) = layout.line_at(from) else { return };
        for line in first..self.whole.len() {
            let (start, height) = (layout.row_of(line), layout.height_of(line));
            if start >= until {
                break;
            }
            let rows = self.rows.get(start..start + height).unwrap_or_default();
            if let Some(whole) = self.whole.get_mut(line).filter(|_| rows.iter().all(|seen| *seen))
            {
                *whole = true;
            }
        }
    }

    /// Whether rows `from..until` have all been on screen.
    #[must_use]
    pub fn knows(&self, from: usize, until: usize) -> bool {
        let until = until.min(self.rows.len());
        self.rows.get(from.min(until)..until).unwrap_or_default().iter().all(|seen| *seen)
    }

    /// How many lines that must be seen were not.
    #[must_use]
    pub fn unseen(&self, body: &Body) -> usize {
        self.missing(body).count()
    }

    /// The first row that must be seen and was not.
    #[must_use]
    pub fn next_unseen(&self, layout: &Layout) -> Option<usize> {
        let line = self.missing(&layout.body).next()?;
        let start = layout.row_of(line);
        let rows = start..start + layout.height_of(line);
        rows.clone().find(|&row| self.rows.get(row) == Some(&false)).or(Some(rows.start))
    }

    fn missing(&self, body: &Body) -> impl Iterator<Item = usize> {
        let must = body.lines.iter().enumerate().filter(|(_, line)| line.must_be_seen());
        must.map(|(at, _)| at).filter(|&at| self.whole.get(at) != Some(&true))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::review_body::{Emphasis, Ink, LineRole};
    use super::*;
    use crate::text::diff::LineKind;

    fn body(lines: &[(&str, LineKind)]) -> Rc<Body> {
        let lines = lines
            .iter()
            .map(|(text, kind)| BodyLine {
                role: LineRole::Diff(*kind, None, None),
                width: text.width(),
                pieces: vec![Piece {
                    text: (*text).to_owned(),
                    ink: Ink::Plain,
                    emphasis: Emphasis::None,
                }],
            })
            .collect();
        Rc::new(Body { lines, ..Body::default() })
    }

    #[test]
    fn a_long_line_is_seen_only_when_all_its_rows_were() {
        let body = body(&[
            ("same", LineKind::Context),
            ("0123456789", LineKind::Added),
            ("x", LineKind::Added),
        ]);
        let layout = Layout::new(Rc::clone(&body), 4);
        assert_eq!((layout.rows(), layout.line_at(2), layout.line_at(5)), (5, Some((1, 1)), None));
        let mut seen = Seen::new(&layout);
        seen.mark(&layout, 0, 3);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&layout)), (2, Some(3)));
        seen.mark(&layout, 3, 4);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&layout)), (1, Some(4)));
        seen.mark(&layout, 4, 40);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&layout)), (0, None));
    }

    #[test]
    fn another_width_keeps_whole_lines_and_forgets_parts() {
        let body = body(&[("ab", LineKind::Removed), ("0123456789", LineKind::Added)]);
        let layout = Layout::new(Rc::clone(&body), 5);
        let mut seen = Seen::new(&layout);
        seen.mark(&layout, 0, 2);
        let wide = Layout::new(Rc::clone(&body), 9);
        assert!(!layout.fits(&body, 9) && wide.fits(&body, 9));
        seen.relayout(&wide);
        assert_eq!((seen.unseen(&body), seen.next_unseen(&wide)), (1, Some(1)));
    }

    proptest! {
        #[test]
        fn rows_put_together_are_the_line(text in "[a-c 漢é]{0,40}", width in 2_usize..12) {
            let body = body(&[(text.as_str(), LineKind::Added)]);
            let layout = Layout::new(body, width);
            let rows: Vec<String> = (0..layout.rows())
                .map(|row| layout.pieces(0, row).into_iter().map(|piece| piece.text).collect())
                .collect();
            prop_assert!(rows.iter().all(|row| row.width() <= width));
            prop_assert_eq!(rows.concat(), text);
        }
    }
}
