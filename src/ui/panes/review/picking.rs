//! Keys that pick lines of the change on screen.
//!
//! Decides nothing.

use crate::ui::action::Action;
use crate::ui::pane::Effect;

use super::select::{Reach, Selection};
use super::shown::Shown;

/// Does what a key asks for; `None` when it is no key for picking.
pub(super) fn act(
    action: Action,
    selection: &mut Selection,
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
            selection.toggle(&body, Reach::Change);
            true
        }
        Action::ToggleSingle => {
            selection.toggle(&body, Reach::Line);
            true
        }
        Action::ToggleHunk => {
            selection.toggle(&body, Reach::Hunk);
            true
        }
        Action::ToggleAll => {
            selection.toggle(&body, Reach::All);
            true
        }
        _ => return None,
    };
    shown.reveal(selection.cursor());
    if moved { Some(Vec::new()) } else { Some(Effect::info("there is no further changed line")) }
}

fn to(selection: &mut Selection, line: Option<usize>) -> bool {
    if let Some(line) = line {
        selection.go_to(line);
    }
    line.is_some()
}
