//! Words of other languages than English for secrets.
//!
//! Owns the data of `assets/findings/secret_words.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretWords {
    words: HashSet<String>,
    between: HashSet<String>,
    pub(super) translations: HashSet<String>,
    pub(super) languages: HashSet<String>,
}

pub(super) static WORDS: LazyLock<SecretWords> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/findings/secret_words.toml")).unwrap_or_default()
});

/// Whether a word of another language than English speaks of a secret.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.words.contains(word)
}

/// Whether a word may stand between such words.
pub(super) fn is_between(word: &str) -> bool {
    WORDS.between.contains(word)
}
