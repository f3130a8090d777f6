//! Keys that read a change: scrolling, hunks, and how much shows in which way.
//!
//! Decides nothing.

use crate::ui::action::Action;
use crate::ui::pane::Effect;

use super::body::Extent;
use super::items::{Blanks, Columns, UnchangedLines};
use super::{ChangeView, Look, Wrapping};

/// Columns that one key scrolls to the side.
const ASIDE: isize = 8;

/// Does what a key asks for; `None` when it is no key for reading.
pub fn act(action: Action, change: &mut ChangeView, look: &mut Look) -> Option<Vec<Effect>> {
    if let Some(rows) = rows(action, change.page()) {
        change.scroll(rows);
        return Some(Vec::new());
    }
    Some(match action {
        Action::Left => aside(-ASIDE, change, look),
        Action::Right => aside(ASIDE, change, look),
        Action::NextHunk => hunk(1, change),
        Action::PreviousHunk => hunk(-1, change),
        Action::ToggleSideBySide => toggle_side_by_side(change, look),
        Action::ToggleBlanks => {
            let (blanks, words) = match look.blanks {
                Blanks::Folded => (Blanks::Shown, "changes of white space are shown"),
                Blanks::Shown => {
                    (Blanks::Folded, "lines that differ only in white space are shown once, as ~")
                }
            };
            look.blanks = blanks;
            Effect::info(words)
        }
        Action::ToggleWrap => {
            let (wrapping, words) = match look.wrapping {
                Wrapping::Scrolled => (Wrapping::Wrapped, "long lines are wrapped"),
                Wrapping::Wrapped => {
                    (Wrapping::Scrolled, "long lines are cut; left and right scroll")
                }
            };
            look.wrapping = wrapping;
            Effect::info(words)
        }
        Action::MoreContext => context(1, change),
        Action::LessContext => context(-1, change),
        Action::WholeFile => match (change.toggle_whole(), change.context()) {
            (Extent::Around, UnchangedLines::Whole) => {
                Effect::info("the file is too long to show whole; this is all that was read of it")
            }
            _ => Vec::new(),
        },
        _ => return None,
    })
}

/// Rows that a key moves by; `None`: it does not move.
const fn rows(action: Action, page: i64) -> Option<i64> {
    let half = if page > 3 { page / 2 } else { 1 };
    Some(match action {
        Action::Up => -1,
        Action::Down => 1,
        Action::HalfPageUp => -half,
        Action::HalfPageDown => half,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::Top => i64::MIN,
        Action::Bottom => i64::MAX,
        _ => return None,
    })
}

/// Turns the two columns on or off, and says why they do not show at once.
fn toggle_side_by_side(change: &ChangeView, look: &mut Look) -> Vec<Effect> {
    let now = match change.layout().filter(|_| change.fits_side_by_side()) {
        Some(layout) => layout.columns(),
        None => look.columns(),
    };
    let chosen = match now {
        Columns::Unified => Columns::SideBySide,
        Columns::SideBySide => Columns::Unified,
    };
    look.columns = Some(chosen);
    match (chosen, change.fits_side_by_side()) {
        (Columns::SideBySide, _) if change.has_one_version() => {
            Effect::info("side by side from now on; this change has only one version")
        }
        (Columns::SideBySide, false) => Effect::info("too narrow for side by side; zoom the pane"),
        (Columns::SideBySide | Columns::Unified, _) => Vec::new(),
    }
}

fn aside(columns: isize, change: &mut ChangeView, look: &Look) -> Vec<Effect> {
    match look.wrapping {
        Wrapping::Wrapped => Effect::info("long lines are wrapped; nothing to scroll to the side"),
        Wrapping::Scrolled if change.scroll_aside(columns) => Vec::new(),
        Wrapping::Scrolled => Effect::info("this is the end of the lines"),
    }
}

fn hunk(step: i64, change: &mut ChangeView) -> Vec<Effect> {
    if change.go_to_hunk(step) {
        return Vec::new();
    }
    Effect::info("there is no other change in this direction")
}

fn context(step: isize, change: &mut ChangeView) -> Vec<Effect> {
    match (change.change_context(step), step < 0) {
        (true, _) => Vec::new(),
        (false, true) => Effect::info("only changed lines are shown"),
        (false, false) => Effect::info("the whole file is shown"),
    }
}
