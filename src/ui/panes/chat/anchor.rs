//! A row of the conversation, and where the pane is scrolled to.

/// A row of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Anchor {
    /// Place of the entry.
    pub entry: usize,
    /// Row in it.
    pub row: usize,
}

/// Where the pane is scrolled to.
#[derive(Debug, Default)]
pub(super) struct Scroll {
    /// The first row on screen.
    pub top: Anchor,
    /// Where the end was when the person left it; `None`: it sticks to the end.
    pub(super) left_at: Option<Anchor>,
    /// Rows that came since.
    pub new_rows: usize,
}

impl Scroll {
    pub const fn follows(&self) -> bool {
        self.left_at.is_none()
    }

    pub const fn follow(&mut self) {
        self.left_at = None;
        self.new_rows = 0;
    }
}
