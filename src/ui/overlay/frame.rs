//! What every dialog has around it: its border and title, and the keys that it knows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Borders, Clear, Padding, Widget};
use tui_textarea::TextArea;

use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Draws what keys of a dialog do in one row.
pub(super) fn draw_keys(actions: &[Action], row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let spans = actions.iter().flat_map(|action| {
        let key = cx.key(KeyContext::Dialog, *action);
        let hint = format!(" {}   ", action.hint());
        [cx.span(key, Role::Dialog), cx.span(hint, Role::DialogDim)]
    });
    line::draw(&spans.collect(), row, buf);
}
/// The two rows at the foot of a dialog.
pub(super) fn foot_rows(inside: Rect) -> [Rect; 2] {
    let y = inside.bottom().saturating_sub(2);
    [y, y + 1].map(|y| Rect { y, height: 1, ..inside })
}
/// Draws a field of text, with its cursor.
pub(super) fn draw_field(mut field: TextArea<'_>, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    field.set_style(cx.style(Role::Dialog));
    field.set_cursor_style(cx.style(Role::Cursor));
    field.render(area, buf);
}

/// Lifts a row of a list where it is the selected one.
pub(super) fn mark_selected(is_selected: bool, row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if is_selected {
        buf.set_style(row, cx.style(Role::Selection));
    }
}
/// Rows of a dialog for so many rows of text.
pub(super) fn rows_for(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Draws the frame of a dialog in the middle of the screen and tells where its inside is.
pub(super) fn frame(
    title: &str,
    bottom: &str,
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
        .title_bottom(cx.line(bottom.to_owned(), Role::DialogDim).right_aligned())
        .padding(Padding::horizontal(1));
    let inside = block.inner(area);
    block.render(area, buf);
    inside
}
