//! A document before it is split, and what is needed to split it.
//!
//! Pure.

use super::window::WindowSize;
use crate::knowledge::chips::{ChipFacts, ChipSet};
use crate::knowledge::passage::PassageKind;

/// A document before it is split.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Path relative to the root of the corpus.
    pub path: &'a str,
    pub text: &'a str,
    pub kind: PassageKind,
    /// Chips that the file as a whole is about.
    pub chips: ChipSet,
}

/// What is needed besides the document.
pub struct SplitContext<'a> {
    pub facts: &'a ChipFacts,
    pub window: WindowSize,
    /// Reads a file that a document includes, by its path relative to the root of the corpus.
    pub include: &'a dyn Fn(&str) -> Option<String>,
}
