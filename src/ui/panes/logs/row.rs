//! How a line of a raw log looks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::text::LogRow;
use crate::text::esp_log::LogLevel;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// What stands before a line, at the right of its place.
pub(super) fn draw_stamp(row: &LogRow, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if at.width > 0 && !row.stamp.is_empty() {
        let space = usize::from(at.width);
        let stamp = format!("{:>space$}", line::cut(&row.stamp, space));
        line::draw(&cx.line(stamp, Role::LogTag), at, buf);
    }
}

/// The look of a line without what was found in it.
pub(super) fn base_style(row: &LogRow, cx: &Cx<'_>) -> Style {
    cx.style(match row.level {
        Some(LogLevel::Error) => Role::LogError,
        Some(LogLevel::Warning) => Role::LogWarn,
        Some(LogLevel::Info) => Role::LogInfo,
        Some(LogLevel::Debug | LogLevel::Verbose) => Role::LogDebug,
        None => Role::Text,
    })
}

/// One line of a log from column `left` on; where something is cut off there is `…`.
pub(super) fn draw_row(row: &LogRow, left: usize, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let base = base_style(row, cx);
    let found = cx.style(Role::Match);
    let end = usize::from(at.width.saturating_sub(1));
    // Where every character takes one column, what lies further left need not be walked through.
    let skipped = if row.text.is_ascii() { left.min(row.text.len()) } else { 0 };
    let shown = row.text.get(skipped..).unwrap_or_default();
    let mut column = skipped;
    for (place, grapheme) in shown.grapheme_indices(true) {
        let width = grapheme.width();
        if column >= left + end {
            break;
        }
        if column >= left && column + width <= left + end {
            let is_hit = row.hits.iter().any(|hit| hit.contains(&(skipped + place)));
            let style = if is_hit { found } else { base };
            let x = u16::try_from(1 + column - left).unwrap_or(u16::MAX);
            buf.set_string(at.x.saturating_add(x), at.y, grapheme, style);
        }
        column += width;
    }
    let total = row.width;
    let dim = cx.style(Role::Dim);
    if left > 0 && total > 0 {
        buf.set_string(at.x, at.y, "…", dim);
    }
    if row.omitted > 0 && total <= left + end {
        let more = format!("… {} more", line::bytes(row.omitted));
        let x = at.right().saturating_sub(u16::try_from(more.width()).unwrap_or(0));
        buf.set_string(x.max(at.x), at.y, more, cx.style(Role::Warn));
    } else if total > left + end && at.width > 1 {
        buf.set_string(at.right() - 1, at.y, "…", dim);
    }
}
