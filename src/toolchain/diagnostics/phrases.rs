//! The phrases by which lines are recognised, and what to do about what they say.
//!
//! Owns the reading of `phrases.toml`.

use std::sync::LazyLock;

use crate::text::shipped::shipped_table;
use serde::Deserialize;

/// What the file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phrases {
    pub(super) linker_errors: Vec<String>,
    pub(super) linker_silent: Vec<String>,
    pub(super) kconfig_silent: Vec<String>,
    pub(super) kconfig_topics: Vec<String>,
    pub(super) compiler_steps: Vec<String>,
    pub(super) cmake_compiler: Vec<String>,
    pub(super) after_unfinished: Vec<String>,
    pub(super) hints: Vec<Hint>,
}

/// What to do about a message with such words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hint {
    has: Vec<String>,
    #[serde(default)]
    about: Vec<String>,
    pub(super) hint: String,
}

impl Hint {
    /// Whether it is for that message.
    pub(super) fn fits(&self, message: &str) -> bool {
        has_any(message, &self.has) && (self.about.is_empty() || has_any(message, &self.about))
    }
}

pub(super) static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| shipped_table(include_str!("phrases.toml")).unwrap_or_default());

/// Whether a text contains one of the phrases.
pub(in crate::toolchain) fn has_any(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase.as_str()))
}

/// Whether a text begins with one of the phrases.
pub(in crate::toolchain) fn begins_with_any(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| text.starts_with(phrase.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_whole() {
        let phrases: Phrases = shipped_table(include_str!("phrases.toml")).unwrap();
        assert_eq!(phrases.linker_errors.len(), PHRASES.linker_errors.len());
        let hint = |message: &str| phrases.hints.iter().find(|hint| hint.fits(message));
        assert!(hint("region `dram0_0_seg' overflowed by 8 bytes").is_some());
        assert!(hint("region `other' overflowed by 8 bytes").is_none());
        let first = hint("the partition is nearly full").unwrap();
        assert!(first.hint.ends_with("smaller, e.g. by CONFIG_COMPILER_OPTIMIZATION_SIZE"));
    }
}
