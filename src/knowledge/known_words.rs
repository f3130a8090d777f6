//! Words that the search knows by itself.
//!
//! Owns the data of `known_words.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text::shipped::shipped_table;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownWords {
    /// Words without which a question means the same.
    pub(super) stop: Vec<String>,
    /// What questions about the way to another version have.
    pub(super) migration: Vec<String>,
    /// What questions about an error have.
    pub(super) errors: Vec<String>,
    /// How names of this platform begin.
    pub(super) own_starts: Vec<String>,
    /// Directives whose block says nothing in words.
    pub(super) silent_directives: HashSet<String>,
    /// Names of the standard C library.
    pub(super) c_headers: HashSet<String>,
}

pub(super) static KNOWN: LazyLock<KnownWords> =
    LazyLock::new(|| shipped_table(include_str!("known_words.toml")).unwrap_or_default());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_there() {
        let known: KnownWords = shipped_table(include_str!("known_words.toml")).unwrap();
        assert!(known.stop.contains(&"beim".to_owned()) && known.c_headers.contains("math.h"));
    }
}
