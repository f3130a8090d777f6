//! Words of requests, comments, paths and identifiers, made comparable.

use std::collections::BTreeMap;

/// Words that say nothing about a project.
const COMMON: [&str; 52] = [
    "a", "an", "the", "and", "or", "of", "to", "in", "on", "for", "with", "is", "are", "be", "it",
    "its", "this", "that", "as", "at", "by", "from", "not", "no", "when", "if", "add", "fix",
    "use", "make", "new", "should", "shall", "into", "so", "we", "support", "issue", "bug",
    "feature", "feat", "bugfix", "update", "change", "file", "code", "int", "void", "return",
    "include", "define", "static",
];

/// The words of a text with how often each occurs: identifiers are taken apart at `_`, digits and
/// capitals, endings of the plural and of verbs go.
pub(super) fn words(text: &str) -> BTreeMap<String, u32> {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for_each(text, &mut |word| match found.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            found.insert(word.to_owned(), 1);
        }
    });
    found
}

/// Calls `take` with each word that counts.
pub(super) fn for_each(text: &str, take: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut previous = ' ';
    for c in text.chars().chain([' ']) {
        let is_part = c.is_alphanumeric();
        let is_hump = c.is_uppercase() && previous.is_lowercase();
        if (!is_part || is_hump) && !word.is_empty() {
            finish(&word, take);
            word.clear();
        }
        if is_part {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
}

fn finish(word: &str, take: &mut dyn FnMut(&str)) {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    if word.len() < 2 || is_number || COMMON.contains(&word) {
        return;
    }
    take(stem(word));
}

fn stem(word: &str) -> &str {
    for ending in ["ing", "ers", "ies", "ed", "er", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 4
        {
            return stem;
        }
    }
    word
}

/// FNV-1a: short, and the same on every machine.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Names in a request that are written as code: with `_`, a hump, a dot or in back quotes.
pub(super) fn names(request: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
    let mut found: Vec<String> = Vec::new();
    for word in request.split(|c| !is_part(c)) {
        let word = word.trim_matches(['.', '/']);
        let has_hump = word
            .chars()
            .zip(word.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        let is_code = word.contains(['_', '.', '/']) || has_hump;
        if word.len() >= 3 && is_code && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart_and_endings_go() {
        let found: Vec<String> =
            words("i2sStream_reader the Readers esp32 42 éclair").into_keys().collect();
        assert_eq!(
            found,
            ["éclair", "esp32", "i2s", "read", "stream"].map(str::to_owned).to_vec().tap_sorted()
        );
        assert_eq!(
            names("Let `led_on` in main/led.c use I2cBus, e.g. now."),
            ["led_on", "main/led.c", "I2cBus", "e.g"]
        );
    }

    trait Sorted {
        fn tap_sorted(self) -> Self;
    }

    impl Sorted for Vec<String> {
        fn tap_sorted(mut self) -> Self {
            self.sort();
            self
        }
    }
}
