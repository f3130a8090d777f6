//! How the person wants to read changes, the same for all proposals.

use super::items::{Blanks, Columns};

/// What happens to lines that are too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrapping {
    /// They go on in the next row.
    #[default]
    Wrapped,
    /// They are cut, and the text scrolls to the side.
    Scrolled,
}

/// A way to read changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// One or two columns.
    pub columns: Columns,
    /// What to do with changes of blanks.
    pub blanks: Blanks,
    /// What happens to lines that are too wide.
    pub wrapping: Wrapping,
}

/// Numbers of unchanged lines around a change that the keys go through.
pub const CONTEXTS: [usize; 6] = [0, 1, 3, 10, 25, 100];
/// What a change begins with.
pub const CONTEXT: usize = 3;
