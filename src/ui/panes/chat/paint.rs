//! Draws the rows of an entry, and what in them goes with the time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::{CallId, Timestamp};
use crate::ui::line;
use crate::ui::markdown::{CellRow, StyledText};
use crate::ui::pane::{Cx, Mode};
use crate::ui::role::Role;

use super::row::{EntryRow, Right};

/// Draws a row with what stands at its right end.
pub(super) fn draw_entry_row(row: &EntryRow, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    draw_row(&row.row, area, buf, cx);
    let piece = match &row.right {
        Right::Nothing => return,
        Right::Text(piece) => piece.clone(),
        Right::Running(call, since) => running(*call, *since, cx),
        Right::Countdown(due) => match cx.clock.until(*due).as_secs_f64().ceil() {
            seconds if seconds > 0.0 && cx.mode == Mode::Live => {
                StyledText::new(format!("in {seconds} s"), Role::Busy)
            }
            _ => return,
        },
    };
    let width = u16::try_from(piece.width()).unwrap_or(u16::MAX);
    if width + 1 < area.width {
        let x = area.right() - width - 1;
        buf.set_string(x, area.y, &piece.text, cx.style(piece.face.role));
    }
}

fn running(call: CallId, since: Timestamp, cx: &Cx<'_>) -> StyledText {
    let waits = cx.view.review.waiting().any(|view| view.proposal.call == call) || asks(call, cx);
    if waits && cx.mode == Mode::Live {
        return StyledText::new(" waiting ", Role::Waiting);
    }
    if waits {
        return StyledText::new("waiting", Role::Warn);
    }
    let millis = u64::try_from(cx.clock.since(since).as_millis()).unwrap_or(u64::MAX);
    StyledText::new(format!("{} {}", cx.clock.spinner(since), line::clock(millis)), Role::Busy)
}

/// Whether a call has asked what waits for the person.
fn asks(call: CallId, cx: &Cx<'_>) -> bool {
    let Some(question) = &cx.view.head.question else { return false };
    let is_listed = cx.view.pending_list().is_some();
    let mut askers = cx.view.head.speakers.iter().filter(|speaker| {
        let is_asker = question.agent.as_ref().is_some_and(|agent| *agent == speaker.agent);
        is_asker || question.agent.is_none() && is_listed
    });
    askers.any(|speaker| {
        let entry = cx.view.chat.place_of(speaker.turn).and_then(|at| cx.view.chat.entries.get(at));
        entry.and_then(|entry| entry.turn()?.call(call)).is_some()
    })
}

/// Draws the pieces of a row.
pub(super) fn draw_row(row: &CellRow, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if area.is_empty() {
        return;
    }
    if let Some(fill) = row.fill {
        buf.set_style(area, cx.style(fill));
    }
    let mut x = area.x;
    for piece in &row.pieces {
        let space = usize::from(area.right().saturating_sub(x));
        let style = cx.style(piece.face.role).add_modifier(piece.face.add);
        (x, _) = buf.set_stringn(x, area.y, &piece.text, space, style);
    }
}
