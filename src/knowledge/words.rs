//! Splits texts into the words that are searched: prose by its stems, identifiers whole and in
//! their parts.
//!
//! Pure. Documents and questions go through the same code, which is what makes them meet.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::known_words::KNOWN;

/// The bus that is written like a word that says nothing, and what it is searched by.
const CAN: &str = "CAN";
const CAN_BUS: &str = "canbus";

/// Letters of a piece of a word. Pieces of four letters retrieve best in European languages (McNamee &
/// Mayfield, "Character n-gram tokenization for European language text retrieval", 2004).
const PIECE: usize = 4;

/// Most bytes of a word; longer ones are data.
const MOST_BYTES: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is searched.
    pub text: String,
    pub role: WordRole,
}

/// Where a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordRole {
    /// A word of its own.
    Plain,
    /// An identifier as it is written, in lower case.
    Identifier,
    /// A part of the identifier before it.
    Part,
    /// Two words with a hyphen, as one.
    Joined,
    /// A word that says nothing alone, but may in a phrase.
    Silent,
}

/// Splits texts; keeps the stems that it has seen.
pub struct Splitter {
    stemmer: Stemmer,
    stems: HashMap<String, String>,
}

impl Default for Splitter {
    fn default() -> Self {
        let stems = KNOWN.stop.iter().map(|word| (word.clone(), String::new())).collect();
        Self { stemmer: Stemmer::create(Algorithm::English), stems }
    }
}

impl Splitter {
    /// All words of a text, in their order.
    pub fn words(&mut self, text: &str) -> Vec<Word> {
        let mut words = Vec::new();
        self.each(text, |word, role| words.push(Word { text: word.to_owned(), role }));
        words
    }

    /// The words of a text, joined with spaces, without those that say nothing.
    pub fn line(&mut self, text: &str) -> String {
        let mut line = String::with_capacity(text.len());
        self.each(text, |word, role| {
            if role != WordRole::Silent {
                line.push_str(word);
                line.push(' ');
            }
        });
        line
    }

    /// The stem of a word in lower case; nothing of a word that says nothing.
    pub fn stem(&mut self, word: &str) -> &str {
        if !self.stems.contains_key(word) {
            // What is seen once in a while must not fill the memory.
            if self.stems.len() > 50_000 {
                self.stems.retain(|_, stem| stem.is_empty());
            }
            let stem = if word.bytes().any(|b| b.is_ascii_digit()) {
                word.to_owned()
            } else {
                self.stemmer.stem(word).into_owned()
            };
            self.stems.insert(word.to_owned(), stem);
        }
        self.stems.get(word).map_or("", String::as_str)
    }

    /// All pieces of four letters of the words of a text, in lower case, without words that say
    /// nothing: `_nap` and `nap_` of "a nap".
    pub fn pieces(&self, text: &str) -> Vec<String> {
        let says_something =
            |word: &String| self.stems.get(word).is_none_or(|stem| !stem.is_empty());
        let words = runs(text).map(|(_, raw)| raw.trim_matches('_'));
        let words = words.filter(|word| !word.is_empty() && word.len() <= MOST_BYTES);
        let mut found = Vec::new();
        for word in words.map(str::to_lowercase).filter(says_something) {
            let letters: Vec<char> = ['_'].into_iter().chain(word.chars()).chain(['_']).collect();
            match letters.len() < PIECE {
                true => found.push(letters.into_iter().collect()),
                false => found.extend(letters.windows(PIECE).map(String::from_iter)),
            }
        }
        found
    }

    fn each(&mut self, text: &str, mut take: impl FnMut(&str, WordRole)) {
        let mut before: Option<(usize, String)> = None;
        for (start, raw) in runs(text) {
            let end = start + raw.len();
            let word = raw.trim_matches('_');
            if word.is_empty() || word.len() > MOST_BYTES {
                before = None;
                continue;
            }
            let lower = word.to_lowercase();
            let parts = parts(word);
            if parts.len() > 1 {
                take(&lower, WordRole::Identifier);
                if let Some(option) = lower.strip_prefix("config_") {
                    take(option, WordRole::Identifier);
                }
                for part in &parts {
                    let is_bus = word.contains(CAN) && part.eq_ignore_ascii_case(CAN);
                    let stem = if is_bus { CAN_BUS } else { self.stem(part) };
                    if !stem.is_empty() {
                        take(stem, WordRole::Part);
                    }
                }
            } else {
                let stem = if word == CAN { CAN_BUS } else { self.stem(&lower) };
                match stem {
                    "" => take(&lower, WordRole::Silent),
                    stem => take(stem, WordRole::Plain),
                }
            }
            if let Some((end_before, word_before)) = before
                && start == end_before + 1
                && text.as_bytes().get(end_before) == Some(&b'-')
                && parts.len() == 1
            {
                let joined = format!("{word_before}{lower}");
                take(self.stem(&joined), WordRole::Joined);
            }
            before = (parts.len() == 1).then_some((end, lower));
        }
    }
}

/// Runs of letters, digits and underscores, with their places.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut place = 0;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let start = rest.find(is_word)?;
        let tail = &rest[start..];
        let length = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
        let found = (place + start, &tail[..length]);
        place += start + length;
        rest = &tail[length..];
        Some(found)
    })
}

/// Parts of an identifier in lower case: at underscores, and where small letters meet capitals.
fn parts(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in word.split('_').filter(|piece| !piece.is_empty()) {
        let mut part = String::new();
        let mut was_small = false;
        for c in piece.chars() {
            if c.is_uppercase() && was_small && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            was_small = c.is_lowercase();
            part.extend(c.to_lowercase());
        }
        parts.push(part);
    }
    // `WiFi`, `BlueTooth`: a name that is written in two ways is one word.
    if !word.contains('_') && parts.len() == 2 && parts[0].len() <= 2 {
        return vec![parts.concat()];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        Splitter::default().line(text).trim_end().to_owned()
    }

    #[test]
    fn pieces_have_four_letters_and_mark_where_words_begin_and_end() {
        let pieces = |text: &str| Splitter::default().pieces(text);
        assert_eq!(pieces("The nap, i2c!"), ["_nap", "nap_", "_i2c", "i2c_"]);
        assert_eq!(pieces("Fühler"), ["_füh", "fühl", "ühle", "hler", "ler_"]);
        assert_eq!(pieces("x __y__"), ["_x_", "_y_"]);
        assert_eq!(pieces(""), [] as [String; 0]);
        assert_eq!(pieces(&"a".repeat(MOST_BYTES + 1)), [] as [String; 0], "data");
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        assert_eq!(line("i2c_master_probe()"), "i2c_master_probe i2c master probe");
        assert_eq!(line("xTaskCreate"), "xtaskcreate x task creat");
        assert_eq!(line("CONFIG_LOG_LEVEL"), "config_log_level log_level config log level");
    }

    #[test]
    fn prose_meets_by_its_stems() {
        assert_eq!(line("Scanning the devices"), line("scan a device"));
        assert_eq!(line("Wi-Fi"), "wi fi wifi");
        assert_eq!(line("WiFi"), "wifi");
        assert_eq!(line("can a CAN node talk"), "canbus node talk");
        assert_eq!(line("CAN_H"), "can_h canbus h");
        assert_eq!(line("you_can_do"), "you_can_do");
        assert_eq!(line("ESP32-C3"), "esp32 c3 esp32c3");
        assert_eq!(line(&"x".repeat(65)), "");
    }
}
