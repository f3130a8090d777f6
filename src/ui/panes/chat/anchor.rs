//! A row of the conversation.

/// A row of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Anchor {
    /// Place of the entry.
    pub entry: usize,
    /// Row in it.
    pub row: usize,
}
