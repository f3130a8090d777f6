//! The row over a port's output: which port, how it stands, and how one looks at it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::text::sanitize;
use crate::ui::line::{self, LineParts};
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::SerialView;
use crate::view::line_index::Extent;

use super::look::SerialLook;

/// Columns of a filter that are shown.
const FILTER: usize = 24;

/// Draws the row; what does not fit is dropped from the least important part on. That something
/// is hidden, or stands still, stays to the last. `gone` says what is no longer kept.
pub fn draw(
    serial: &SerialView,
    look: &SerialLook,
    gone: Option<String>,
    area: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let mut left = LineParts::default();
    port(serial, &mut left, cx);
    state(serial, &mut left, cx);
    looks(serial, look, &mut left, cx);
    let mut right = LineParts::default();
    let dim = cx.style(Role::Dim);
    if let Some(gone) = gone {
        right.push(6, vec![cx.span(gone, Role::Warn)]);
    }
    right.push(2, vec![Span::styled(line_count(serial.lines), dim)]);
    right.push(1, vec![Span::styled(line::bytes(serial.bytes), dim)]);
    let separator = Span::styled(" · ", dim);
    let (left, right) = line::fit_halves(left, right, &separator, usize::from(inside.width));
    line::draw_split(&left, &right, inside, buf);
}

fn line_count(lines: u64) -> String {
    line::counted(usize::try_from(lines).unwrap_or(usize::MAX), "line", "lines")
}

fn port(serial: &SerialView, parts: &mut LineParts, cx: &Cx<'_>) {
    let board = cx.view.head.board.as_ref().filter(|board| board.port == serial.port);
    if let Some(board) = board {
        let role = if board.simulated { Role::Simulated } else { Role::Strong };
        let label = line::clean(&board.label);
        // What is not real is said as long as anything is.
        let weight = if board.simulated { 8 } else { 3 };
        parts.push(weight, vec![cx.span(label, role)]);
    }
    let name = line::clean(&serial.port);
    parts.push(6, vec![cx.span(name, Role::Text)]);
    if serial.baud > 0 {
        parts.push(3, vec![cx.span(format!("{} Bd", serial.baud), Role::Dim)]);
    }
}

fn state(serial: &SerialView, parts: &mut LineParts, cx: &Cx<'_>) {
    let reported = |why: &str| cx.span(format!(": {}", sanitize::line(why)), Role::Dim);
    parts.push(
        7,
        match (&serial.closed, &serial.away) {
            (None, None) => vec![cx.span("● open", Role::Ok)],
            (None, Some((_, why))) => {
                vec![cx.span("○ waiting for it", Role::Warn), reported(why)]
            }
            (Some(why), _) => vec![cx.span("○ closed", Role::Warn), reported(why)],
        },
    );
}

fn looks(serial: &SerialView, look: &SerialLook, parts: &mut LineParts, cx: &Cx<'_>) {
    let now = Extent { bytes: serial.bytes, feeds: serial.lines };
    if look.missed(serial.log, now).is_some() {
        parts.push(10, vec![cx.span("‖ paused", Role::Warn)]);
    }
    if look.hex.is_some() {
        parts.push(8, vec![cx.span("bytes", Role::Key)]);
    } else if !look.tags.is_empty() {
        let words = line::cut(&look.tags.to_string(), FILTER);
        parts.push(9, vec![cx.span(words, Role::Key)]);
    }
    if look.hex.is_none() {
        parts.push(4, vec![cx.span(look.stamps.name(), Role::Dim)]);
    }
}
