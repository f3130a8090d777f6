//! A document before it is split, and what is needed to split it.
//!
//! Pure.

use super::window::{Piece, WindowSize, cut};
use crate::knowledge::chips::{ChipFacts, ChipSet};
use crate::knowledge::passage::{Passage, PassageKind};

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

impl Document<'_> {
    /// A passage of it with that title: at the file's start, below no heading, without symbols.
    #[must_use]
    pub fn passage(&self, title: &str, text: String) -> Passage {
        Passage {
            path: self.path.to_owned(),
            anchor: String::new(),
            title: title.to_owned(),
            headings: Vec::new(),
            kind: self.kind,
            chips: self.chips,
            symbols: Vec::new(),
            text,
        }
    }

    /// The windows of a text without headings; each is named by its first line.
    pub(super) fn windows(&self, title: &str, text: &str, window: WindowSize) -> Vec<Passage> {
        let of = |piece: Piece| {
            let anchor =
                if piece.line == 0 { String::new() } else { format!("L{}", piece.line + 1) };
            Passage { anchor, ..self.passage(title, piece.text) }
        };
        cut(text, window).into_iter().map(of).collect()
    }
}

/// What is needed besides the document.
pub struct SplitContext<'a> {
    pub facts: &'a ChipFacts,
    pub window: WindowSize,
    /// Reads a file that a document includes, by its path relative to the root of the corpus.
    pub include: &'a dyn Fn(&str) -> Option<String>,
}

/// What tests split with: no chip is known, nothing is included.
#[cfg(test)]
pub(super) fn plain_context() -> SplitContext<'static> {
    SplitContext {
        facts: Box::leak(Box::default()),
        window: WindowSize::default(),
        include: &|_| None,
    }
}
