//! What every dialog has around it: its border and title, and the keys that it knows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Clear, Padding, Widget};

use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Draws what keys of a dialog do in one row.
pub(super) fn draw_keys(actions: &[Action], row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let mut spans = Vec::new();
    for action in actions {
        let key = cx.key(KeyContext::Dialog, *action);
        spans.push(Span::styled(key, cx.style(Role::Dialog)));
        spans.push(Span::styled(format!(" {}   ", action.hint()), cx.style(Role::DialogDim)));
    }
    line::draw(&Line::from(spans), row, buf);
}

/// Draws the frame of a dialog in the middle of the screen and tells where its inside is.
pub(super) fn frame(
    title: &str,
    bottom: Line<'static>,
    (width, height): (u16, u16),
    screen: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) -> Rect {
    let width = width.saturating_add(4).min(screen.width.saturating_sub(2));
    let height = height.saturating_add(2).min(screen.height.saturating_sub(2));
    let area = Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + (screen.height - height) / 2,
        width,
        height,
    };
    Clear.render(area, buf);
    let block = Block::new()
        .borders(Borders::ALL)
        .border_type(BorderType::Rounded)
        .border_style(cx.style(Role::DialogBorder))
        .style(cx.style(Role::Dialog))
        .title(format!(" {} ", line::cut(title, usize::from(width.saturating_sub(4)))))
        .title_bottom(bottom.right_aligned())
        .padding(Padding::horizontal(1));
    let inside = block.inner(area);
    block.render(area, buf);
    inside
}
