//! How keys move through a list that is seen whole.
//!
//! Owns nothing. Must not know what the rows are.

use crate::ui::action::Action;

/// The row that `action` leads to from `row` of `rows` in all; `None`: it does not move.
pub(super) fn moved(action: Action, row: usize, rows: usize) -> Option<usize> {
    let last = rows.saturating_sub(1);
    match action {
        Action::Up => Some(row.saturating_sub(1)),
        Action::Down => Some((row + 1).min(last)),
        Action::Top | Action::PageUp | Action::HalfPageUp => Some(0),
        Action::Bottom | Action::PageDown | Action::HalfPageDown => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_hold() {
        assert_eq!(moved(Action::Up, 0, 3), Some(0));
        assert_eq!(moved(Action::Down, 2, 3), Some(2));
        assert_eq!(moved(Action::Down, 0, 0), Some(0));
        assert_eq!(moved(Action::PageDown, 0, 3), Some(2));
        assert_eq!(moved(Action::Top, 2, 3), Some(0));
        assert_eq!(moved(Action::Accept, 1, 3), None);
    }
}
