//! Passages of the documentation that the person pins or mutes for the session.
//!
//! Owns what a mark is and which are in force. Must not know how passages are found.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What the person wants of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageMark {
    /// It is found when it fits.
    #[default]
    None,
    /// It comes first in every answer.
    Pinned,
    /// It is never in an answer.
    Muted,
}

/// A passage with the person's mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedPassage {
    /// Where it is, as answers of `retrieve_docs` say it: path and section below the root of its
    /// documents.
    pub source: String,
    pub title: String,
    /// The passage itself where it is pinned, as it was found; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    pub mark: PassageMark,
}

/// The marks in force, in the order they were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassageMarks(Vec<Arc<MarkedPassage>>);

impl PassageMarks {
    /// Most passages that can be pinned at a time: every answer holds them.
    pub const MOST_PINNED: usize = 8;

    /// Folds one mark in.
    pub fn take(&mut self, marked: &MarkedPassage) {
        self.0.retain(|known| known.source != marked.source);
        if marked.mark != PassageMark::None {
            self.0.push(Arc::new(marked.clone()));
        }
    }

    /// The mark of a passage.
    #[must_use]
    pub fn of(&self, source: &str) -> PassageMark {
        let known = self.0.iter().find(|known| known.source == source);
        known.map_or(PassageMark::None, |known| known.mark)
    }

    pub fn all(&self) -> impl Iterator<Item = &MarkedPassage> {
        self.0.iter().map(|marked| &**marked)
    }

    /// The passages that come first in every answer.
    pub fn pinned(&self) -> impl Iterator<Item = &MarkedPassage> {
        self.all().filter(|marked| marked.mark == PassageMark::Pinned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_mark_of_a_passage_holds() {
        let mut marks = PassageMarks::default();
        let mut mark = |source: &str, mark| {
            let (source, title, text) = (source.to_owned(), String::new(), String::new());
            marks.take(&MarkedPassage { source, title, text, mark });
        };
        mark("a", PassageMark::Pinned);
        mark("b", PassageMark::Muted);
        mark("a", PassageMark::Muted);
        mark("b", PassageMark::None);
        assert_eq!((marks.of("a"), marks.of("b")), (PassageMark::Muted, PassageMark::None));
        assert_eq!((marks.pinned().count(), marks.all().count()), (0, 1));
    }
}
