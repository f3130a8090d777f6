//! Keys and clicks that pick lines of the change on screen.
//!
//! Decides nothing.

use crate::ui::action::Action;
use crate::ui::pane::Effect;

use super::items::{Columns, DiffItem};
use super::select::{PickScope, PickedLines};
use super::shown::Shown;

/// Does what a key asks for; `None` when it is no key for picking.
pub(super) fn act(
    action: Action,
    selection: &mut PickedLines,
    shown: &mut Shown,
) -> Option<Vec<Effect>> {
    let body = shown.body()?.clone();
    let moved = match action {
        Action::Up => selection.step(&body, -1),
        Action::Down => selection.step(&body, 1),
        Action::NextHunk => selection.step_hunk(&body, 1),
        Action::PreviousHunk => selection.step_hunk(&body, -1),
        Action::Top => to(selection, body.changed().next()),
        Action::Bottom => to(selection, body.changed().last()),
        Action::ToggleLine => {
            selection.toggle(&body, PickScope::Change);
            true
        }
        Action::ToggleSingle => {
            selection.toggle(&body, PickScope::Line);
            true
        }
        Action::ToggleHunk => {
            selection.toggle(&body, PickScope::Hunk);
            true
        }
        Action::ToggleAll => {
            selection.toggle(&body, PickScope::All);
            true
        }
        _ => return None,
    };
    shown.reveal(selection.cursor());
    if moved { Some(Vec::new()) } else { Some(Effect::info("there is no other changed line")) }
}

/// What a click is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClickTarget {
    /// A changed line of the body.
    Changed(usize),
    /// Unchanged lines that are folded away.
    Folded,
}

/// What the row at that distance from the topmost in sight shows; of two halves the right one if
/// `is_right`.
pub(super) fn target(shown: &Shown, row: usize, is_right: bool) -> Option<ClickTarget> {
    let (layout, body) = (shown.layout()?, shown.body()?);
    let row = shown.rows().nth(row)?;
    if matches!(layout.item_at(row)?.0, DiffItem::Fold(_)) {
        return Some(ClickTarget::Folded);
    }
    let [left, right] = layout.cells(row);
    let is_right = is_right && layout.columns() == Columns::Beside && right.is_some();
    let line = if is_right { right } else { left }?.line;
    body.changed().any(|changed| changed == line).then_some(ClickTarget::Changed(line))
}

/// A click on a changed line turns to it; on the line that is turned to, it picks its hunk or puts
/// it back.
pub(super) fn click(line: usize, selection: &mut PickedLines, shown: &Shown) {
    match shown.body() {
        Some(body) if selection.cursor() == line => selection.toggle(body, PickScope::Hunk),
        _ => selection.go_to(line),
    }
}

fn to(selection: &mut PickedLines, line: Option<usize>) -> bool {
    if let Some(line) = line {
        selection.go_to(line);
    }
    line.is_some()
}
