//! Text measured in columns: cut, filled, joined.
//!
//! Widths are those of whole graphemes; nothing here is ever cut in the middle of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::amounts::tenths;
pub use crate::text::amounts::{count, counted, grouped};
use crate::text::sanitize;

/// Columns that `text` takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` on one line, safe to show.
#[must_use]
pub fn clean(text: &str) -> String {
    sanitize::line(text).into_owned()
}

/// The longest start of `text` that fits into `columns`, in bytes.
#[must_use]
pub fn fitting(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (place, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > columns {
            return place;
        }
    }
    text.len()
}

/// `text` on one line, safe to show, cut to `columns` with `…` at its end.
#[must_use]
pub fn cut(text: &str, columns: usize) -> String {
    let text = sanitize::line(text);
    if text.width() <= columns {
        return text.into_owned();
    }
    let Some(space) = columns.checked_sub(1) else { return String::new() };
    let end = fitting(&text, space);
    format!("{}…", text.get(..end).unwrap_or_default().trim_end_matches([' ', '…']))
}

/// The last row of a text of which more rows follow that are not shown: cut to `columns`, with one
/// `…` at its end in any case.
#[must_use]
pub fn broken_off(row: &str, columns: usize) -> String {
    let row = sanitize::line(row);
    let kept = row.get(..fitting(&row, columns.saturating_sub(1))).unwrap_or_default();
    format!("{}…", kept.trim_end_matches([' ', '…']))
}

/// As [`cut`], but what is cut is the start: for paths, whose end tells more.
#[must_use]
pub fn cut_start(text: &str, columns: usize) -> String {
    let text = sanitize::line(text);
    let total = text.width();
    if total <= columns {
        return text.into_owned();
    }
    let Some(space) = columns.checked_sub(1) else { return String::new() };
    let mut left = total;
    for (place, grapheme) in text.grapheme_indices(true) {
        if left <= space {
            return format!("…{}", text.get(place..).unwrap_or_default());
        }
        left -= grapheme.width();
    }
    "…".to_owned()
}

/// As [`cut`], but what is cut is the middle: for names whose start and end both tell something.
#[must_use]
pub fn cut_middle(text: &str, columns: usize) -> String {
    let text = sanitize::line(text);
    if text.width() <= columns {
        return text.into_owned();
    }
    let Some(space) = columns.checked_sub(1) else { return String::new() };
    let start = |columns: usize| text.get(..fitting(&text, columns)).unwrap_or_default();
    let end = |start: &str| cut_start(&text, columns - start.width());
    let begin = start(space / 3);
    let rest = end(begin);
    let kept = rest.trim_start_matches('…');
    // A name keeps the slash that tells it from a part of a name.
    let before = text.strip_suffix(kept).unwrap_or_default();
    if begin.is_empty() || !before.ends_with('/') {
        return format!("{begin}{rest}");
    }
    let begin = start((space / 3).saturating_sub(1));
    format!("{begin}{}", end(begin))
}

/// Draws `line` at the left of `area` and `right` at its right end; what of `line` does not fit
/// is cut. `right` is left out when there is no room for both.
pub fn draw_split(line: &Line<'_>, right: &Line<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let right_width = u16::try_from(right.width()).unwrap_or(u16::MAX);
    let shows_right = right_width > 0 && right_width + 8 < area.width;
    let space = if shows_right { area.width - right_width - 1 } else { area.width };
    draw(line, Rect { width: space, height: 1, ..area }, buf);
    if shows_right {
        let x = area.right() - right_width;
        right.render(Rect { x, width: right_width, height: 1, ..area }, buf);
    }
}

/// Draws `line`; where it does not fit, its last column holds `…`.
pub fn draw(line: &Line<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    line.render(Rect { height: 1, ..area }, buf);
    if line.width() > usize::from(area.width)
        && let Some(cell) = buf.cell_mut((area.right() - 1, area.y))
    {
        cell.set_symbol("…");
    }
}

/// Lays `style` over all of `area`.
pub fn tint(area: Rect, style: Style, buf: &mut Buffer) {
    buf.set_style(area, style);
}

/// The weight of what is never dropped.
pub const KEPT: u8 = u8::MAX;

/// One part of a line: the form in use with its weight, and the shorter ones that may take its place.
#[derive(Debug)]
struct LinePart {
    weight: u8,
    spans: Vec<Span<'static>>,
    /// The shortest one first.
    shorter: Vec<(u8, Vec<Span<'static>>)>,
}

/// Parts of a line by how much they matter: the least important are shortened or dropped until the
/// rest fits.
#[derive(Debug, Default)]
pub struct LineParts {
    parts: Vec<LinePart>,
}

impl LineParts {
    /// Adds a part; those with the lowest `weight` are dropped first.
    pub fn push(&mut self, weight: u8, spans: Vec<Span<'static>>) {
        self.push_forms(vec![(weight, spans)]);
    }

    /// Adds a part that has several forms, the longest one first: each gives way to the next one
    /// when it would be dropped.
    pub fn push_forms(&mut self, mut forms: Vec<(u8, Vec<Span<'static>>)>) {
        forms.retain(|(_, spans)| spans.iter().any(|span| !span.content.is_empty()));
        forms.reverse();
        if let Some((weight, spans)) = forms.pop() {
            self.parts.push(LinePart { weight, spans, shorter: forms });
        }
    }

    /// Columns of all parts with `separator` between them.
    fn width(&self, separator: &str) -> usize {
        let of_part = |part: &LinePart| part.spans.iter().map(Span::width).sum::<usize>();
        let parts: usize = self.parts.iter().map(of_part).sum();
        parts + separator.width() * self.parts.len().saturating_sub(1)
    }

    /// The lowest weight of what may be dropped, with the place of the last part that has it.
    fn least(&self) -> Option<(u8, usize)> {
        let mut least: Option<(u8, usize)> = None;
        for (place, part) in self.parts.iter().enumerate() {
            if part.weight < KEPT && least.is_none_or(|(lowest, _)| part.weight <= lowest) {
                least = Some((part.weight, place));
            }
        }
        least
    }

    /// Shortens a part, or drops it.
    fn shrink(&mut self, place: usize) {
        let Some(part) = self.parts.get_mut(place) else { return };
        match part.shorter.pop() {
            Some((weight, spans)) => (part.weight, part.spans) = (weight, spans),
            None => drop(self.parts.remove(place)),
        }
    }

    /// All parts as one line.
    fn join(self, separator: &Span<'static>) -> Line<'static> {
        let mut spans = Vec::new();
        for (place, part) in self.parts.into_iter().enumerate() {
            // A part that has its columns but no words now has nothing to be separated from.
            let is_blank = part.spans.iter().all(|span| span.content.trim().is_empty());
            match place {
                0 => {}
                _ if is_blank => spans.push(Span::raw(" ".repeat(separator.width()))),
                _ => spans.push(separator.clone()),
            }
            spans.extend(part.spans);
        }
        Line::from(spans)
    }
}

/// Shortens and drops parts of two halves of a line until both fit into `columns`.
#[must_use]
pub fn fit_halves(
    mut left: LineParts,
    mut right: LineParts,
    separator: &Span<'static>,
    columns: usize,
) -> (Line<'static>, Line<'static>) {
    while left.width(&separator.content) + right.width(&separator.content) + 2 > columns {
        let has_more = left.parts.len() > 1 || left.parts.iter().any(|it| !it.shorter.is_empty());
        match (left.least(), right.least()) {
            (Some((a, place)), Some((b, _))) if a <= b => left.shrink(place),
            (_, Some((_, place))) => right.shrink(place),
            (Some((_, place)), None) if has_more => left.shrink(place),
            (_, None) => break,
        }
    }
    (left.join(separator), right.join(separator))
}

/// Bytes for people: `918 B`, `12.4 kB`, `3.1 MB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} kB", tenths(count, 1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(count, 1_000_000)),
        _ => format!("{} GB", tenths(count, 1_000_000_000)),
    }
}

/// A bar of so many cells: the part that is done, and the rest.
#[must_use]
pub fn bar(done: usize, total: usize, cells: usize) -> (String, String) {
    let filled = (done * cells).checked_div(total).unwrap_or(0).min(cells);
    ("█".repeat(filled), "░".repeat(cells - filled))
}

/// A time span for people: `850 ms`, `3.2 s`, `1:07 min`, `2:05 h`.
#[must_use]
pub fn millis(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        60_000..3_600_000 => format!("{}:{:02} min", millis / 60_000, millis % 60_000 / 1_000),
        _ => format!("{}:{:02} h", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// Time since the start of a session: `0:41`, `12:05`, `1:02:09`.
#[must_use]
pub fn clock(millis: u64) -> String {
    let seconds = millis / 1_000;
    match seconds / 3_600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_graphemes() {
        assert_eq!(cut("plain", 5), "plain");
        assert_eq!(cut("plainer", 5), "plai…");
        assert_eq!(cut("what is it? …", 12), "what is it?…", "one sign says that more follows");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("👩‍🚀👩‍🚀", 3), "👩‍🚀…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(cut("a\x1b[2J", 9), "a␛[2J");
        assert_eq!(cut_start("main/src/i2c_scan.c", 12), "…/i2c_scan.c");
        assert_eq!(cut_start("ab", 1), "…");
        assert_eq!(cut_middle("main/src/i2c_scan.c", 16), "main…/i2c_scan.c");
        assert_eq!(cut_middle("main/src/i2c_scan.c", 14), "main…2c_scan.c");
        assert_eq!(broken_off("did you mean 'LED_PIN'? and so on", 24), "did you mean 'LED_PIN'?…");
        assert_eq!(broken_off("short", 24), "short…");
        assert_eq!(cut_middle("main/a.c", 8), "main/a.c");
        assert_eq!(cut_middle("漢字漢字", 5), "…漢字");
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!((grouped(1_234_567), grouped(12)), ("1,234,567".into(), "12".into()));
    }

    #[test]
    fn the_least_important_parts_are_dropped_first() {
        let part = |text: &'static str| vec![Span::raw(text)];
        let halves = |columns| {
            let (mut left, mut right) = (LineParts::default(), LineParts::default());
            left.push(9, part("project"));
            left.push(3, part("agent"));
            right.push(1, part("tokens"));
            right.push(8, part("waiting"));
            let (left, right) = fit_halves(left, right, &Span::raw(" · "), columns);
            format!("{left}|{right}")
        };
        assert_eq!(halves(60), "project · agent|tokens · waiting");
        assert_eq!(halves(25), "project · agent|waiting");
        assert_eq!(halves(23), "project|waiting");
        assert_eq!(halves(10), "project|");
    }

    #[test]
    fn a_part_gives_way_to_its_shorter_forms_and_what_is_kept_stays() {
        let part = |text: &'static str| vec![Span::raw(text)];
        let halves = |columns| {
            let (mut left, mut right) = (LineParts::default(), LineParts::default());
            left.push(3, part("team"));
            left.push_forms(vec![(2, part("agent      ")), (5, part("agent")), (KEPT, part("ag"))]);
            right.push(4, part("model"));
            let (left, right) = fit_halves(left, right, &Span::raw(" · "), columns);
            format!("{left}|{right}")
        };
        assert_eq!(halves(26), "team · agent      |model");
        assert_eq!(halves(24), "team · agent|model");
        assert_eq!(halves(18), "agent|model");
        assert_eq!(halves(11), "agent|");
        assert_eq!(halves(6), "ag|");
        assert_eq!(halves(1), "ag|");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(12_449), "12.4 kB");
        assert_eq!(bytes(212_449), "212 kB");
        assert_eq!(count(41_236), "41.2k");
        assert_eq!(count(2_041_236), "2.0M");
        assert_eq!(millis(3_249), "3.2 s");
        assert_eq!(millis(67_000), "1:07 min");
        assert_eq!(clock(41_000), "0:41");
        assert_eq!(clock(3_729_000), "1:02:09");
    }
}
