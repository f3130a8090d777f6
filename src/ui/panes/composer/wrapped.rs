//! A message that is longer than its place: how many rows it takes, and what of it is shown.
//!
//! Must not change the message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea};

use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;

/// Bytes of a column at most, as far as rows are counted.
const BYTES: usize = 4;

/// Rows that a message takes in so many columns: `most` at most.
pub(super) fn rows(text: &TextArea<'static>, width: u16, most: u16) -> u16 {
    let bytes: usize = text.lines().iter().map(String::len).sum();
    if bytes > usize::from(width) * usize::from(most) * BYTES {
        return most;
    }
    total(text, width).clamp(1, most)
}

/// Rows that all of it takes.
fn total(text: &TextArea<'static>, width: u16) -> u16 {
    let (mut text, area) = (text.clone(), Rect { x: 0, y: 0, width: width.max(1), height: 1 });
    // It knows its columns once it was drawn.
    (&text).render(area, &mut Buffer::empty(area));
    text.move_cursor(CursorMove::Bottom);
    text.move_cursor(CursorMove::End);
    u16::try_from(text.screen_cursor().row + 1).unwrap_or(u16::MAX)
}

/// Draws what lies around the cursor. Where rows are cut off, `…` stands before the first row or
/// behind the last one, in the columns next to `area`.
pub(super) fn draw(text: &TextArea<'static>, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    text.render(area, buf);
    let (top, _) = text.scroll_offset();
    let mark = |x, y, buf: &mut Buffer| buf.set_string(x, y, "…", cx.style(Role::Dim));
    if top > 0 {
        mark(area.x.saturating_sub(1), area.y, buf);
    }
    if total(text, area.width) > top + area.height {
        mark(area.right(), area.bottom().saturating_sub(1), buf);
    }
}

/// Draws its beginning, for whoever does not write in it now.
pub(super) fn draw_beginning(text: &TextArea<'static>, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let width = usize::from(area.width);
    let (most, enough) = (usize::from(area.height), usize::from(area.height) + 1);
    let mut rows: Vec<String> = Vec::new();
    for line in text.lines().iter().take(enough) {
        let end = line::fitting(line, width * enough);
        let start = line.get(..end).unwrap_or_default();
        rows.extend(wrap_words(&sanitize::line(start), width));
    }
    let is_cut = rows.len() > most;
    rows.truncate(most);
    if let Some(last) = rows.last_mut().filter(|_| is_cut) {
        *last = line::broken_off(last, width);
    }
    for (words, row) in rows.into_iter().zip(area.rows()) {
        let words = cx.span(words, Role::Text);
        line::draw(&Line::from(words), row, buf);
    }
}
