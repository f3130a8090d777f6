//! Where one looks in a long list of lines that grows at its end.
//!
//! Owns position and following. Must not know what the lines are.

use std::ops::Range;

use crate::ui::action::Action;

/// Rows read ahead of a first frame, whose height is not known yet.
const FIRST_HEIGHT: usize = 64;

/// Whether the view sticks to the newest line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Follow {
    /// The newest line stays in sight.
    #[default]
    End,
    /// The view stands still.
    Held,
}

/// A way to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// By lines; negative is up.
    Lines(i64),
    /// By screens; negative is up.
    Pages(i64),
    /// To the first line.
    Start,
    /// To the last line, and with it from then on.
    End,
    /// So that this line is in sight.
    To(u64),
    /// By columns; negative is left.
    Columns(i64),
}

/// Columns that one step to the side goes.
const SIDE_STEP: i64 = 16;

/// The way that an action moves, with so many lines for half a page; `None` when it does not.
#[must_use]
pub const fn movement(action: Action, half_page: i64) -> Option<Move> {
    Some(match action {
        Action::Up => Move::Lines(-1),
        Action::Down => Move::Lines(1),
        Action::HalfPageUp => Move::Lines(-half_page),
        Action::HalfPageDown => Move::Lines(half_page),
        Action::PageUp => Move::Pages(-1),
        Action::PageDown => Move::Pages(1),
        Action::Top => Move::Start,
        Action::Bottom => Move::End,
        Action::Left => Move::Columns(-SIDE_STEP),
        Action::Right => Move::Columns(SIDE_STEP),
        _ => return None,
    })
}

/// A position in a list of lines.
#[derive(Debug, Clone, Default)]
pub struct Scroll {
    top: u64,
    /// The first line that is there; those before it are no longer kept.
    first: u64,
    first_column: usize,
    follow: Follow,
    /// Rows of the last frame; 0 before the first.
    height: usize,
}

impl Scroll {
    /// Whether it sticks to the end.
    #[must_use]
    pub const fn follow(&self) -> Follow {
        self.follow
    }

    /// Columns scrolled to the right.
    #[must_use]
    pub const fn first_column(&self) -> usize {
        self.first_column
    }

    /// Takes over how many rows there are on screen.
    pub const fn set_height(&mut self, rows: usize) {
        self.height = rows;
    }

    /// Takes over which line is the first one that is there.
    pub const fn set_first(&mut self, line: u64) {
        self.first = line;
    }

    /// How many rows there are on screen.
    #[must_use]
    pub const fn height(&self) -> usize {
        match self.height {
            0 => FIRST_HEIGHT,
            rows => rows,
        }
    }

    /// The lines in sight when there are `len`, those no longer kept included.
    #[must_use]
    pub fn range(&self, len: u64) -> Range<u64> {
        let height = self.height() as u64;
        let top = match self.follow {
            Follow::End => len.saturating_sub(height),
            Follow::Held => self.top.min(len.saturating_sub(1)),
        };
        let top = top.max(self.first.min(len));
        top..len.min(top + height)
    }

    /// Holds or follows.
    pub fn toggle(&mut self, len: u64) {
        self.top = self.range(len).start;
        self.follow = match self.follow {
            Follow::End => Follow::Held,
            Follow::Held => Follow::End,
        };
    }

    /// Stands still from now on, with line `top` of `len` first as far as that can be.
    pub fn hold_at(&mut self, top: u64, len: u64) {
        self.top = top.min(len.saturating_sub(self.height() as u64));
        self.follow = Follow::Held;
    }

    /// Moves among `len` lines. Moving up holds; moving down to the end follows again.
    pub fn go(&mut self, step: Move, len: u64) {
        let height = self.height() as u64;
        let last_top = len.saturating_sub(height).max(self.first.min(len));
        let top = self.range(len).start;
        let page = i64::try_from(height.saturating_sub(1).max(1)).unwrap_or(1);
        let top = match step {
            Move::Lines(by) => top.saturating_add_signed(by),
            Move::Pages(by) => top.saturating_add_signed(by.saturating_mul(page)),
            Move::Start => self.first,
            Move::End => last_top,
            Move::To(line) if self.range(len).contains(&line) => top,
            Move::To(line) => line.saturating_sub(height / 3),
            Move::Columns(by) => {
                let by = isize::try_from(by).unwrap_or(0);
                self.first_column = self
                    .first_column
                    .saturating_add_signed(by)
                    .min(crate::view::line_index::MAX_LINE);
                return;
            }
        };
        self.top = top.min(last_top);
        let to_end = matches!(step, Move::End)
            || (matches!(step, Move::Lines(1..) | Move::Pages(1..)) && top >= last_top);
        self.follow = if to_end { Follow::End } else { Follow::Held };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn following_shows_the_end_and_moving_up_holds() {
        let mut scroll = Scroll::default();
        scroll.set_height(10);
        assert_eq!((scroll.range(100), scroll.range(4)), (90..100, 0..4));
        scroll.go(Move::Lines(-1), 100);
        assert_eq!((scroll.follow(), scroll.range(100)), (Follow::Held, 89..99));
        assert_eq!(scroll.range(500), 89..99);
        scroll.go(Move::Pages(1), 100);
        assert_eq!((scroll.follow(), scroll.range(200)), (Follow::End, 190..200));
        scroll.go(Move::To(50), 200);
        assert_eq!((scroll.follow(), scroll.range(200)), (Follow::Held, 47..57));
        scroll.go(Move::To(52), 200);
        assert_eq!(scroll.range(200), 47..57);
        scroll.toggle(200);
        assert_eq!(scroll.range(200), 190..200);
        // A replay that went back.
        scroll.go(Move::Lines(-5), 200);
        assert_eq!(scroll.range(20), 19..20);
        assert_eq!(scroll.range(0), 0..0);
    }
}
