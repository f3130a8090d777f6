//! A number of a source that is used as a pin, and what is known of that use.

use std::ops::Range;

/// Which way a pin works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Input,
    Output,
    Unknown,
}

/// A number that is used as a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PinUse {
    pub(super) number: i128,
    pub(super) direction: Direction,
    /// An internal pull is asked for.
    pub(super) has_pull: bool,
    /// A signal of a bus that is only ever pulled low.
    pub(super) is_open_drain: bool,
    /// A clock of a peripheral, which boards put on odd pins on purpose.
    pub(super) is_peripheral_clock: bool,
    /// Its bytes: where it is used, then where its constant is defined.
    pub(super) ranges: Vec<Range<usize>>,
}

impl PinUse {
    /// A number that is a pin, in these bytes, and nothing more is known of.
    pub(super) fn plain(number: i128, range: Range<usize>) -> Self {
        Self {
            number,
            direction: Direction::Unknown,
            has_pull: false,
            is_open_drain: false,
            is_peripheral_clock: false,
            ranges: Vec::from([range]),
        }
    }
}
