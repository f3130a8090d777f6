//! How keys move through a list that is seen whole.
//!
//! Owns nothing. Must not know what the rows are.

use crate::ui::action::Action;

/// Moves the selected row among `rows` in all, where pages lead to the first and the last; whether
/// `action` moves at all.
pub(super) fn moved(action: Action, row: &mut usize, rows: usize) -> bool {
    paged(action, row, rows.saturating_sub(1), usize::MAX)
}

/// Moves a row up to the `last` one, by pages of so many rows; whether `action` moves at all.
pub(super) fn paged(action: Action, row: &mut usize, last: usize, page: usize) -> bool {
    *row = match action {
        Action::Up => row.saturating_sub(1),
        Action::Down => row.saturating_add(1),
        Action::PageUp | Action::HalfPageUp => row.saturating_sub(page),
        Action::PageDown | Action::HalfPageDown => row.saturating_add(page),
        Action::Top => 0,
        Action::Bottom => last,
        _ => return false,
    }
    .min(last);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_hold() {
        let to = |action, mut row: usize, rows| moved(action, &mut row, rows).then_some(row);
        assert_eq!(to(Action::Up, 0, 3), Some(0));
        assert_eq!(to(Action::Down, 2, 3), Some(2));
        assert_eq!(to(Action::Down, 0, 0), Some(0));
        assert_eq!(to(Action::PageDown, 0, 3), Some(2));
        assert_eq!(to(Action::Top, 2, 3), Some(0));
        assert_eq!(to(Action::Accept, 1, 3), None);
    }
}
