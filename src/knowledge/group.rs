//! The words of a question, in groups that mean one thing.
//!
//! Pure.

/// Words of which a passage should have one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Each with what it counts for.
    pub words: Vec<(String, f32)>,
    pub weight: f32,
    /// Whether the person wrote it; else it was added for what was written.
    pub origin: Origin,
}

/// Where a group is from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// The person wrote it.
    Written,
    /// It stands for these groups, by their numbers.
    For(Vec<usize>),
    /// It is a part of an identifier that was written.
    Part,
}
