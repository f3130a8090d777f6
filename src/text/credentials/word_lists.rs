//! The words by which secrets are found.
//!
//! Owns the data of `assets/findings/secret_words.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text::shipped::shipped_table;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretWords {
    words: HashSet<String>,
    between: HashSet<String>,
    pub(super) translations: HashSet<String>,
    pub(super) languages: HashSet<String>,
    pub(super) stand_ins: StandInWords,
    pub(super) parts: TellingParts,
    pub(super) names: NameWords,
}

/// Words of which stand-ins are made.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct StandInWords {
    pub(super) words: HashSet<String>,
    /// Those that alone make what follows them a stand-in, digits too.
    pub(super) invites: HashSet<String>,
}

/// Parts of which a text has one that is worth a closer look.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct TellingParts {
    pub(super) names: Vec<String>,
    pub(super) settings: Vec<String>,
    pub(super) spoken: Vec<String>,
}

/// Words of names, by what they say of the value.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct NameWords {
    pub(super) about: HashSet<String>,
    pub(super) bad_ones: HashSet<String>,
    pub(super) public: HashSet<String>,
    pub(super) digests: HashSet<String>,
    pub(super) passwords: HashSet<String>,
    pub(super) tokens: HashSet<String>,
    pub(super) secrets: HashSet<String>,
    pub(super) secret_keys: HashSet<String>,
    pub(super) other_keys: HashSet<String>,
    pub(super) key_ends: HashSet<String>,
}

pub(super) static WORDS: LazyLock<SecretWords> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/secret_words.toml")).unwrap_or_default()
});

/// Whether a word of another language than English speaks of a secret.
pub(super) fn is_foreign(word: &str) -> bool {
    WORDS.words.contains(word)
}

/// Whether a word may stand between such words.
pub(super) fn is_between(word: &str) -> bool {
    WORDS.between.contains(word)
}
