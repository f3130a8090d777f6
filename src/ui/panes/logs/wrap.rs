//! A raw log with its long lines wrapped.
//!
//! Owns which of the lines read are shown: wrapped, fewer of them fit. Must not read.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::ui::pane::Cx;
use crate::ui::role::Role;

use super::row::{base_style, draw_stamp};
use super::text::{LogRow, LogText};
use crate::ui::scroll::Follow;

/// What becomes of lines that are wider than the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// They are cut, and can be moved sideways.
    Cut,
    /// They go on in the next row.
    Wrapped,
}

impl Wrapping {
    /// Changes it; returns what holds now, in words.
    pub(super) const fn toggle(&mut self) -> &'static str {
        let words;
        (*self, words) = match self {
            Self::Cut => (Self::Wrapped, "long lines are wrapped"),
            Self::Wrapped => (Self::Cut, "long lines are cut"),
        };
        words
    }
}

/// Draws the lines that fit, the newest at the end while following; what stands before them has
/// `stamps` columns left of `area`.
pub(super) fn draw(text: &LogText, stamps: u16, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let space = usize::from(area.height);
    let columns = usize::from(area.width.saturating_sub(1)).max(1);
    let parts: Vec<Vec<Range<usize>>> =
        text.rows().iter().map(|row| parts(&row.text, columns, space)).collect();
    let first = match text.view.scroll.follow() {
        Follow::End => last_fitting(&parts, parts.len(), space),
        Follow::Held => {
            let is_hit = |row: &LogRow| Some(row.number) == text.view.hit();
            let hit = text.rows().iter().position(is_hit);
            hit.map_or(0, |hit| last_fitting(&parts, hit + 1, space))
        }
    };
    let mut rows = area.rows();
    for (row, parts) in text.rows().iter().zip(&parts).skip(first) {
        for (place, part) in parts.iter().enumerate() {
            let Some(at) = rows.next() else { return };
            if place == 0 {
                draw_stamp(row, Rect { x: at.x - stamps, width: stamps, ..at }, buf, cx);
            }
            draw_part(row, part, at, buf, cx);
            let is_cut = place + 1 == parts.len() && (part.end < row.text.len() || row.omitted > 0);
            if is_cut {
                buf.set_string(at.right().saturating_sub(1), at.y, "…", cx.style(Role::Dim));
            }
        }
    }
}

/// The first line from which on all up to `end` fit.
fn last_fitting(parts: &[Vec<Range<usize>>], end: usize, space: usize) -> usize {
    let mut used = 0;
    let lines = parts.get(..end).unwrap_or_default();
    let fitting = lines.iter().rev().take_while(|line| {
        used += line.len();
        used <= space
    });
    end.saturating_sub(fitting.count().max(1))
}

/// The parts of a line, at most `most`.
fn parts(text: &str, columns: usize, most: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (place, grapheme) in text.grapheme_indices(true) {
        let width = grapheme.width();
        if used + width > columns && place > start {
            parts.push(start..place);
            if parts.len() == most.max(1) {
                return parts;
            }
            (start, used) = (place, 0);
        }
        used += width;
    }
    parts.push(start..text.len());
    parts
}

fn draw_part(row: &LogRow, part: &Range<usize>, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let base = base_style(row, cx);
    let mut x = at.x + 1;
    let text = row.text.get(part.clone()).unwrap_or_default();
    for (place, grapheme) in text.grapheme_indices(true) {
        let is_hit = row.hits.iter().any(|hit| hit.contains(&(part.start + place)));
        let style = if is_hit { cx.style(Role::Match) } else { base };
        let space = usize::from(at.right().saturating_sub(x));
        (x, _) = buf.set_stringn(x, at.y, grapheme, space, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_between_graphemes_and_their_number_is_bounded() {
        let shown = |text: &str, columns, most| -> Vec<String> {
            parts(text, columns, most).into_iter().map(|part| text[part].to_owned()).collect()
        };
        assert_eq!(shown("abcdef", 4, 9), ["abcd", "ef"]);
        assert_eq!(shown("a温度b", 4, 9), ["a温", "度b"]);
        assert_eq!(shown("e\u{301}e\u{301}x", 2, 9), ["e\u{301}e\u{301}", "x"]);
        assert_eq!(shown(&"x".repeat(100), 10, 3).len(), 3);
        assert_eq!(shown("", 10, 3), [""]);
    }

    #[test]
    fn the_last_lines_fit() {
        let parts: Vec<Vec<Range<usize>>> =
            [1, 3, 2, 1].iter().map(|count| vec![0..0; *count]).collect();
        assert_eq!(last_fitting(&parts, 4, 3), 2);
        assert_eq!(last_fitting(&parts, 4, 5), 2);
        assert_eq!(last_fitting(&parts, 4, 6), 1);
        assert_eq!(last_fitting(&parts, 2, 2), 1, "one that is too high is shown in part");
    }
}
