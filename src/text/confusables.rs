//! Letters of one script that read like letters of another.
//!
//! Owns which words are meant to be read as something else. Texts in other languages are full of
//! such letters and mean no harm. Must not judge the text.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use unicode_security::confusable_detection::skeleton as prototypes;

use super::c_tokens::{Style, TokenKind, tokens};
use super::inspect::Located;

/// What each ASCII letter and digit is reduced to, and the first that is reduced to it.
static PROTOTYPES: LazyLock<HashMap<String, char>> =
    LazyLock::new(|| by_prototype(('a'..='z').chain('A'..='Z').chain('0'..='9')));

/// Characters by what they look like.
pub(super) fn by_prototype(all: impl Iterator<Item = char>) -> HashMap<String, char> {
    let mut known = HashMap::new();
    for c in all {
        known.entry(prototype(c)).or_insert(c);
    }
    known
}

/// What a character looks like.
pub(super) fn prototype(c: char) -> String {
    prototypes(c.encode_utf8(&mut [0; 4])).collect()
}

/// The ASCII letter or digit that this character poses as; `None` for all others. Source: the
/// confusables of Unicode, UTS #39.
#[must_use]
pub fn poses_as(c: char) -> Option<char> {
    if c.is_ascii() || !c.is_alphabetic() {
        return None;
    }
    if let Some(offset) = u32::from(c).checked_sub(0xff01).filter(|offset| *offset < 94) {
        return char::from_u32(0x21 + offset);
    }
    PROTOTYPES.get(&prototype(c)).copied()
}

/// A text with every posing letter as the one it poses as.
#[must_use]
pub fn skeleton(text: &str) -> String {
    text.chars().map(|c| poses_as(c).unwrap_or(c)).collect()
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Words,
    /// Source with the comments and texts of C.
    Source,
    /// Source of Python, which takes such letters in names for those they pose as.
    Python,
}

/// Posing letters within words that are meant to be read as Latin ones: those that are Latin
/// otherwise, names in source, and what reads like another word of the text.
#[must_use]
pub fn lookalikes(text: &str, reading: Reading) -> Vec<Located> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut plain: Option<BTreeSet<&str>> = None;
    let mut reads_like = |word: &str| {
        let plain = plain.get_or_insert_with(|| {
            let words = text.split(|c: char| !is_of_word(c));
            words.filter(|word| word.is_ascii() && !word.is_empty()).collect()
        });
        plain.contains(skeleton(word).as_str())
    };
    let mut places = Vec::new();
    let mut state = ScanState::Code;
    for (number, line) in text.split('\n').enumerate() {
        let is_needed = !line.is_ascii();
        let mut word: Option<(usize, usize, bool)> = None;
        let ends = line.char_indices().map(Some).chain(Some(None)).enumerate();
        for (column, at) in ends {
            let (at, c) = at.unwrap_or((line.len(), ' '));
            if is_of_word(c) {
                let is_code = reading == Reading::Source && state == ScanState::Code;
                word.get_or_insert((at, column, is_code));
                continue;
            }
            if let Some((start, column, is_code)) = word.take().filter(|_| is_needed) {
                let word = line.get(start..at).unwrap_or_default();
                if is_disguise(word, is_code, &mut reads_like) {
                    places.extend(posing(word, number + 1, column + 1));
                }
            }
            if reading == Reading::Source {
                state = state.after(line.get(at..).unwrap_or_default());
            }
        }
        state = state.next_line();
    }
    if reading == Reading::Python {
        places.extend(names_of_python(text));
        places.sort_by_key(|place| (place.line, place.column));
        places.dedup();
    }
    places
}

/// Posing letters in names of Python that have no other letters.
fn names_of_python(text: &str) -> Vec<Located> {
    let mut places = Vec::new();
    for token in tokens(text, Style::Python) {
        let poses = |c: char| c == '_' || c.is_ascii_digit() || poses_as(c).is_some();
        if token.kind != TokenKind::Word || token.raw.is_ascii() || !token.raw.chars().all(poses) {
            continue;
        }
        let before = text.get(..token.start).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        places.extend(posing(token.raw, line, column));
    }
    places
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn posing(word: &str, line: usize, column: usize) -> Vec<Located> {
    let place = |(offset, c): (usize, char)| {
        let what = format!("U+{:04X}, which looks like `{}`", u32::from(c), poses_as(c)?);
        Some(Located { line, column: column + offset, what })
    };
    word.chars().enumerate().filter_map(place).collect()
}

/// Whether a word is meant to be read as an ASCII one.
fn is_disguise(word: &str, is_code: bool, reads_like: &mut impl FnMut(&str) -> bool) -> bool {
    let mut others = word.chars().filter(|c| !c.is_ascii()).peekable();
    if others.peek().is_none() || !others.all(|c| poses_as(c).is_some()) {
        // It cannot be read as one.
        return false;
    }
    let has_ascii = word.chars().any(|c| c.is_ascii_alphabetic());
    let is_language = |c: char| matches!(c, '\u{80}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}');
    let is_symbol = word.chars().next().is_some_and(is_greek);
    match word.chars().any(|c| !c.is_ascii() && is_language(c)) || is_symbol {
        // Letters of Turkish, quantities such as αmax.
        true => is_code && reads_like(word),
        false => has_ascii || is_code,
    }
}

const fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}')
}

/// Where in a source one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Code,
    LineComment,
    Comment,
    Text(char),
    /// After a backslash in a text.
    Escape(char),
}

impl ScanState {
    /// After the first character of `rest`, which is none of a word.
    fn after(self, rest: &str) -> Self {
        let c = rest.chars().next().unwrap_or('\n');
        match self {
            Self::Code if rest.starts_with("//") => Self::LineComment,
            Self::Code if rest.starts_with("/*") => Self::Comment,
            Self::Code if matches!(c, '"' | '\'') => Self::Text(c),
            Self::Comment if rest.starts_with("*/") => Self::Code,
            Self::Text(quote) if c == quote => Self::Code,
            Self::Text(quote) if c == '\\' => Self::Escape(quote),
            Self::Escape(quote) => Self::Text(quote),
            Self::Code | Self::LineComment | Self::Comment | Self::Text(_) => self,
        }
    }

    const fn next_line(self) -> Self {
        match self {
            Self::Comment => self,
            Self::Code | Self::LineComment | Self::Text(_) | Self::Escape(_) => Self::Code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, usize)> {
        let places = lookalikes(text, Reading::Source);
        places.iter().map(|place| (place.line, place.column)).collect()
    }

    #[test]
    fn letters_that_pose_as_others_are_found_in_words_that_read_as_latin() {
        let text = "// привет\nint c\u{43e}unt = 0;\n";
        let places = lookalikes(text, Reading::Source);
        assert_eq!((places.len(), places[0].line, places[0].column), (1, 2, 6));
        assert!(places[0].what.contains("looks like `o`"), "{places:?}");
        assert_eq!(skeleton("m\u{430}in.c"), "main.c");
        assert_eq!(found("int cop; int \u{441}\u{43e}\u{440};\n").len(), 3);
        assert_eq!(found("int m\u{1d41a}in;\n"), [(1, 6)]);
        assert_eq!(found("int \u{ff4d}ax;\n"), [(1, 5)]);
        assert_eq!(found("int M\u{391}X;\n"), [(1, 6)]);
        assert_eq!(found("int pump\u{5e1};\n"), [(1, 9)]);
        assert_eq!(found("// calls p\u{430}y\n"), [(1, 11)]);
        assert_eq!(found("int i; int \u{131};\n"), [(1, 12)]);
    }

    #[test]
    fn names_of_python_are_read_as_it_reads_them() {
        let places = lookalikes("a = 1\n\u{1d41e}\u{1d431}ec(x)\n", Reading::Python);
        assert_eq!(places.len(), 2, "{places:?}");
        let places = lookalikes("\u{1d41e}\u{1d431}(x) # \u{441}\u{43e}\u{440}\n", Reading::Python);
        let found: Vec<_> = places.iter().map(|place| (place.line, place.column)).collect();
        assert_eq!(found, [(1, 1), (1, 2)]);
    }

    #[test]
    fn texts_in_other_languages_are_left() {
        for text in [
            "// а с о у р хор рос: с PUMP_LIMIT_S\nint a, c, o, y, p;\n",
            "/* сухо\n хор */ const char *x = \"рос \\\" хор\";\n",
            "// IPадрес ESP32шка\n",
            "// αmax, νx, kΩ, 150 μs, Δφ, ρ\nfloat αmax = 1;\n",
            "int sıcaklık = 3; // ısıtıcı açık\n",
            "// LEDを点滅 ＧＰＩＯ\n",
            "const int größe = 64; // höchstens, été, łódź, ø\n",
            "char *s = \"שלום\"; // مرحبا\n",
            "double area_m² = 3; // nº 5, 1ª\n",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
