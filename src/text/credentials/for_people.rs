//! Texts that people read and that name a secret: labels in other languages, and translations.
//!
//! Owns which files and texts are such; the words are those of
//! [`word_lists`](super::word_lists).

use super::values::{Randomness, looks};
use super::word_lists::WORDS;

/// Whether a file holds texts in one of several languages, by its path.
pub(super) fn is_translation(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path).to_ascii_lowercase();
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    const CODE: [&str; 5] = ["h", "hpp", "c", "cpp", "ini"];
    const DATA: [&str; 9] = ["json", "js", "ts", "mjs", "po", "properties", "yml", "yaml", "csv"];
    let is_data = DATA.contains(&end);
    let words = || stem.split(['_', '-', '.']);
    let is_named = words().any(|word| WORDS.translations.contains(word));
    let is_language =
        words().next().is_some_and(|word| WORDS.languages.contains(word)) && words().count() <= 2;
    let is_in = parts.any(|folder| WORDS.translations.contains(&folder.to_ascii_lowercase()));
    is_data && (is_in || is_named || is_language) || CODE.contains(&end) && (is_in || is_named)
}

/// Whether a text is made of words: no digits, and none of the marks of passwords.
pub(super) fn is_of_words(literal: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || ".,:…'’()!?¿¡/-–".contains(c);
    let breaks = literal.chars().zip(literal.chars().skip(1));
    // A word with a capital after a small letter is not part of a sentence.
    let is_camel = breaks.filter(|(a, b)| a.is_lowercase() && b.is_uppercase()).count() > 0;
    !is_camel
        && literal.chars().any(char::is_alphabetic)
        && literal.chars().all(|c| c.is_alphabetic() || is_mark(c))
        && looks(literal) == Randomness::Ordinary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_translations_are_known_by_their_names() {
        for (path, is) in [
            ("main/web/pt-BR.json", true),
            ("data/lang/strings.h", true),
            ("web/src/i18n.ts", true),
            ("locales/sv/common.json", true),
            ("main/it.c", false),
            ("data/config.json", false),
            ("main/language_model.c", true),
            ("ca.json", false),
        ] {
            assert_eq!(is_translation(path), is, "{path}");
        }
    }

    #[test]
    fn words_differ_from_passwords() {
        for text in ["Clé secrète", "Jeton d'accès", "Zugriff verweigert!", "パスワード:"] {
            assert!(is_of_words(text), "{text}");
        }
        for text in ["Sommer2024", "OpenSesame", "a_b", "x@y", "!?"] {
            assert!(!is_of_words(text), "{text}");
        }
    }
}
