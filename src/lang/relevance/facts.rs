//! What a ranking needs to know of one source, so that the text need not be kept or read again.
//!
//! Pure. Words and identifiers are kept as hashes: a project has millions of them.

use super::words::{hash, words};
use crate::text::includes::includes;

/// The words, identifiers and includes of one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceFacts {
    pub(super) bytes: usize,
    /// Words with how often each occurs.
    pub(super) words: Box<[(u64, u32)]>,
    /// How many words there are.
    pub(super) total: u32,
    /// Whole identifiers of several words, each once.
    pub(super) identifiers: Box<[u64]>,
    /// What is included, as written.
    pub(super) includes: Box<[String]>,
}

impl SourceFacts {
    /// Reads a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let words: Box<[(u64, u32)]> =
            words(text).iter().map(|(word, times)| (hash(word), *times)).collect();
        let mut identifiers: Vec<u64> = identifiers(text).map(hash).collect();
        identifiers.sort_unstable();
        identifiers.dedup();
        Self {
            bytes: text.len(),
            total: words.iter().map(|(_, times)| times).sum(),
            words,
            identifiers: identifiers.into(),
            includes: includes(text).into_iter().map(|include| include.target).collect(),
        }
    }
}

/// Identifiers that are more than one word: others are words already.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c)).filter(|name| {
        let has_hump = || {
            name.bytes()
                .zip(name.bytes().skip(1))
                .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
        };
        name.len() >= 3 && (name.contains('_') || has_hump())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_by_its_words_identifiers_and_includes() {
        let facts = SourceFacts::of("#include \"a.h\"\nint led_on; int led_on; int x;\n");
        assert_eq!((facts.bytes, facts.identifiers.len()), (46, 1));
        assert_eq!(facts.includes, ["a.h".to_owned()].into());
        let led = facts.words.iter().find(|(word, _)| *word == hash("led"));
        assert_eq!(led.map(|(_, times)| *times), Some(2));
    }
}
