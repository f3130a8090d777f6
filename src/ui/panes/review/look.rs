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
    /// One or two columns, where the person has chosen.
    pub columns: Option<Columns>,
    /// Whether the screen is wide enough for two columns by themselves.
    pub is_wide: bool,
    /// What to do with changes of blanks.
    pub blanks: Blanks,
    /// What happens to lines that are too wide.
    pub wrapping: Wrapping,
}

impl Look {
    /// One or two columns.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        match (self.columns, self.is_wide) {
            (Some(chosen), _) => chosen,
            (None, true) => Columns::Beside,
            (None, false) => Columns::Unified,
        }
    }
}

/// Numbers of unchanged lines around a change that the keys go through.
pub const CONTEXTS: [usize; 6] = [0, 1, 3, 10, 25, 100];
/// What a change begins with.
pub const CONTEXT: usize = 3;
