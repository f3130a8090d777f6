//! Punctuation and blanks that read like those of ASCII and are others to a compiler.
//!
//! Owns where such a mark does harm: in code, and in texts that programs read, such as paths and
//! addresses. What people write to one another is full of them. Must not judge the text.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::c_tokens::{Style, Token, TokenKind, tokens};
use super::confusables::{by_prototype, prototype};
use super::inspect::Located;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkReading {
    /// Sources of C and Python: a mark outside of texts and comments is code.
    Source(Style),
    /// Scripts and lists whose comments begin with `#`; their words may be prose.
    Script,
    /// Names and values, of which some are prose.
    Settings,
}

/// What each mark of ASCII is reduced to.
static MARKS: LazyLock<HashMap<String, char>> =
    LazyLock::new(|| by_prototype("!\"#$%&'()*+,-./:;<=>?@[\\]^`{}~".chars()));

/// Marks that Unicode does not list beside those they read like.
const MORE: [(char, char); 12] = [
    ('\u{2013}', '-'),
    ('\u{2014}', '-'),
    ('\u{2223}', '|'),
    ('\u{201c}', '"'),
    ('\u{201d}', '"'),
    ('\u{201e}', '"'),
    ('\u{ab}', '<'),
    ('\u{bb}', '>'),
    ('\u{2026}', '.'),
    ('\u{d7}', '*'),
    ('\u{2212}', '-'),
    ('\u{fe63}', '-'),
];

/// Marks of typesetting, which texts for people have.
const TYPESETTING: &str = "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2018}\u{2019}\u{201a}\u{201b}\u{201c}\
    \u{201d}\u{201e}\u{2026}\u{2032}\u{2033}\u{ab}\u{bb}\u{b7}\u{d7}\u{b4}\u{2039}\u{203a}\u{2022}\u{2212}\u{2236}\u{2044}\u{2215}";

/// The mark of ASCII that this character poses as; `None` for all others.
fn poses_as_mark(c: char) -> Option<char> {
    if c.is_ascii() || is_east_asian(c) {
        return None;
    }
    if let Some(offset) = u32::from(c).checked_sub(0xff01).filter(|offset| *offset < 94) {
        return char::from_u32(0x21 + offset).filter(char::is_ascii_punctuation);
    }
    if let Some((_, mark)) = MORE.iter().find(|(known, _)| *known == c) {
        return Some(*mark);
    }
    MARKS.get(&prototype(c)).copied()
}

/// Scripts with strokes that look like marks, and their punctuation.
const fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..)
}

/// A blank that is none to a compiler or a shell.
fn is_other_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Marks and blanks that pose as others where a program reads them.
#[must_use]
pub fn posing_marks(text: &str, reading: MarkReading) -> Vec<Located> {
    if text.is_ascii() || !text.chars().any(|c| is_other_blank(c) || poses_as_mark(c).is_some()) {
        return Vec::new();
    }
    let scan = MarkScan { text, has_east_asian: text.chars().any(is_east_asian) };
    let mut found = match reading {
        MarkReading::Source(style) => scan.source(style),
        MarkReading::Script => scan.script(),
        MarkReading::Settings => scan.settings(),
    };
    found.sort_unstable();
    found.dedup();
    scan.located(&found)
}

struct MarkScan<'a> {
    text: &'a str,
    /// Such texts have punctuation of full width.
    has_east_asian: bool,
}

impl MarkScan<'_> {
    /// The places of these bytes, which are in order.
    fn located(&self, found: &[usize]) -> Vec<Located> {
        let (mut line, mut start, mut seen) = (1, 0, 0);
        let mut places = Vec::new();
        for &at in found {
            let between = self.text.get(seen..at).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between.as_bytes()).count();
            start = between.rfind('\n').map_or(start, |end| seen + end + 1);
            seen = at;
            let Some(c) = self.text.get(at..).and_then(|rest| rest.chars().next()) else {
                continue;
            };
            let like = match (is_other_blank(c), poses_as_mark(c)) {
                (true, _) => "a blank".to_owned(),
                (false, Some(mark)) => format!("`{mark}`"),
                (false, None) => continue,
            };
            let column = self.text.get(start..at).unwrap_or_default().chars().count() + 1;
            let what = format!("U+{:04X}, which looks like {like}", u32::from(c));
            places.push(Located { line, column, what });
        }
        places
    }

    /// The bytes of marks outside of texts, and of those in texts that programs read.
    fn source(&self, style: Style) -> Vec<usize> {
        let mut found = Vec::new();
        let mut is_message = false;
        let all = tokens(self.text, style);
        for (at, token) in all.iter().enumerate() {
            // `#error` is followed by words.
            let begins = |token: &Token<'_>| token.in_directive && token.is("#");
            if begins(token) {
                let name = all.get(at + 1).map_or("", |name| name.raw);
                is_message = matches!(name, "error" | "warning" | "pragma");
            }
            is_message &= token.in_directive;
            if token.raw.is_ascii() || is_message {
                continue;
            }
            match token.kind {
                TokenKind::Text if is_docstring(token) => {}
                TokenKind::Text => found.extend(self.in_words(token.start, token.raw)),
                _ => found.extend(code_marks(token.start, token.raw)),
            }
        }
        found
    }

    /// In scripts marks of typesetting may be prose.
    fn script(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for token in tokens(self.text, Style::Python) {
            match token.kind {
                _ if token.raw.is_ascii() => {}
                TokenKind::Text => found.extend(self.in_words(token.start, token.raw)),
                _ => {
                    let marks = code_marks(token.start, token.raw);
                    found.extend(marks.filter(|at| {
                        let c = self.text.get(*at..).and_then(|rest| rest.chars().next());
                        c.is_some_and(|c| self.harms_scripts(c))
                    }));
                    found.extend(self.in_words(token.start, token.raw));
                }
            }
        }
        found
    }

    fn harms_scripts(&self, c: char) -> bool {
        let is_full_width = matches!(c, '\u{ff01}'..='\u{ff5e}');
        !(TYPESETTING.contains(c) || is_full_width && self.has_east_asian)
    }

    /// Values, and what a line begins with.
    fn settings(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let is_comment = line.trim_start().starts_with(['#', ';', '/', '*']);
            if !line.is_ascii() && !is_comment {
                found.extend(self.in_words(at, line));
                let inner = line.trim_start_matches([' ', '\t']);
                let first = inner.chars().next().unwrap_or(' ');
                let is_dash = matches!(first, '\u{2010}' | '\u{2011}' | '\u{2212}' | '\u{fe63}');
                if is_dash || is_other_blank(first) {
                    found.push(at + line.len() - inner.len());
                }
            }
            at += line.len();
        }
        found
    }

    /// Marks within paths, addresses and the like: words that are ASCII otherwise.
    fn in_words(&self, start: usize, text: &str) -> Vec<usize> {
        let is_of_word =
            |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')');
        let mut found = Vec::new();
        let mut at = 0;
        for word in text.split_inclusive(|c: char| !is_of_word(c)) {
            let begin = start + at;
            at += word.len();
            let word = word.trim_end_matches(|c: char| !is_of_word(c));
            if let Some(dash) = posing_option(word) {
                found.push(begin + dash);
            } else if !word.is_ascii() && self.is_read_by_programs(word) {
                let posing = word.char_indices().filter(|(_, c)| poses_as_mark(*c).is_some());
                found.extend(posing.map(|(offset, _)| begin + offset));
            }
        }
        found
    }

    /// Whether a word is a path, an address or a list, once its marks are read as those of ASCII.
    fn is_read_by_programs(&self, word: &str) -> bool {
        let mut plain = String::with_capacity(word.len());
        let mut posing = Vec::new();
        for c in word.chars() {
            match poses_as_mark(c) {
                None if c.is_ascii() => plain.push(c),
                None => return false,
                Some(mark) => {
                    posing.push((plain.len(), c));
                    plain.push(mark);
                }
            }
        }
        let is_technical = plain.contains("://")
            || plain.contains('_')
            || plain.matches(['/', '.', ';', '\\', '@', '=']).count() > 0;
        is_technical && posing.iter().all(|(at, c)| self.joins(&plain, *at, *c))
    }

    /// Whether a posing mark stands between letters, as marks of typesetting do not.
    fn joins(&self, plain: &str, at: usize, c: char) -> bool {
        let bytes = plain.as_bytes();
        let near = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied();
        let (before, after) = (near(at.checked_sub(1)), near(Some(at + 1)));
        let is_part = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte))
        };
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        let is_full_width = matches!(c, '\u{ff01}'..='\u{ff5e}');
        let is_prose = match c {
            '\u{2044}' | '\u{2215}' | '\u{2236}' => is_digit(before) && is_digit(after),
            '\u{2212}' | '\u{2010}' | '\u{2011}' => !plain.contains(['/', '_', '=']),
            _ => TYPESETTING.contains(c) || is_full_width && self.has_east_asian,
        };
        is_part(before) && is_part(after) && !is_prose
    }
}

/// The byte of a dash that is none, before an option: `-DX=3`, `flags=-O2`.
fn posing_option(word: &str) -> Option<usize> {
    let is_dash = |c: char| matches!(c, '\u{2010}' | '\u{2011}' | '\u{2212}' | '\u{fe63}');
    let value = word.rfind('=').map(|at| at + 1);
    [Some(0), value].into_iter().flatten().find(|at| {
        let option = word.get(*at..).and_then(|part| part.strip_prefix(is_dash));
        option.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// A text over several lines in Python, which mostly is prose.
fn is_docstring(token: &Token<'_>) -> bool {
    token.raw.contains("\"\"\"") || token.raw.contains("'''")
}

/// The bytes of what poses as a mark or a blank.
fn code_marks(start: usize, raw: &str) -> impl Iterator<Item = usize> {
    let poses = |c: char| is_other_blank(c) || poses_as_mark(c).is_some();
    raw.char_indices().filter(move |(_, c)| poses(*c)).map(move |(offset, _)| start + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, reading: MarkReading) -> Vec<(usize, usize)> {
        let places = posing_marks(text, reading);
        places.iter().map(|place| (place.line, place.column)).collect()
    }

    const C: MarkReading = MarkReading::Source(Style::C);
    const PYTHON: MarkReading = MarkReading::Source(Style::Python);

    #[test]
    fn marks_in_code_are_found() {
        let text = "int a;\nopen(0)\u{37e} close(1);\n";
        assert_eq!(posing_marks(text, C)[0].what, "U+037E, which looks like `;`");
        assert_eq!(found(text, C), [(2, 8)]);
        assert_eq!(found("a = b\u{a0}+ c;\n", C), [(1, 6)]);
        assert_eq!(found("if (mode\u{1c3}= 3) {}\n", C), [(1, 9)]);
        assert_eq!(found("f\u{ff08}1);\n", C), [(1, 2)]);
        assert_eq!(found("    if a\u{3000}and b:\n", PYTHON), [(1, 9)]);
        assert_eq!(found("rm x\u{ff1b} rm y\n", MarkReading::Script), [(1, 5)]);
        assert_eq!(found("X=\u{2212}4/a_b\n", MarkReading::Script), []);
        assert_eq!(found("rm \u{2010}rf x\n", MarkReading::Script), [(1, 4)]);
        assert_eq!(found("flags = \u{2010}DX=3\n", MarkReading::Settings), [(1, 9)]);
        assert_eq!(found("  \u{2010} sh x\n", MarkReading::Settings), [(1, 3)]);
    }

    #[test]
    fn marks_in_what_programs_read_are_found() {
        assert_eq!(found("open(\"/data\u{2215}a.json\");\n", C), [(1, 12)]);
        assert_eq!(found("#define H \"up\u{2024}example.com\"\n", C), [(1, 14)]);
        assert_eq!(found("#define U \"https\u{a789}//a.b/c\"\n", C), [(1, 17)]);
        assert_eq!(found("set(s \"a.c\u{37e}b.c\")\n", MarkReading::Script), [(1, 11)]);
        assert_eq!(found("url: https\u{ff1a}//a.b/c\n", MarkReading::Settings), [(1, 11)]);
    }

    #[test]
    fn what_people_write_is_left() {
        for text in [
            "// Attention\u{a0}: \u{ab}\u{a0}x\u{a0}\u{bb}; 5\u{2212}3 \u{2014} it\u{2019}s\nint a;\n",
            "/* 温度；如果（80度），关。 */ int a;\n",
            "print(\"温度：%d；IP：192.168.4.1\");\n",
            "log(\"1\u{2215}3 \u{2026} 16\u{2236}9, Wi\u{2010}Fi \u{2014} 5\u{2013}10 s, it\u{2019}s\");\n",
            "log(\"%.1f\u{a0}\u{b0}C, \u{2212}5 \u{b0}C, 3\u{d7}4\");\n",
            "#error it\u{2019}s not for this chip \u{2013} see README\n",
        ] {
            assert_eq!(found(text, C), [], "{text}");
        }
        let prose =
            "\"\"\"Schreibt \u{201e}a/b\u{201c} \u{2013} immer\u{2026}\n\nx\u{a0}y\n\"\"\"\n";
        assert_eq!(found(prose, PYTHON), []);
        let settings = "name: \u{201e}Pumpe\u{201c} \u{2013} 2.0\nhelp: l\u{2019}eau, a\u{a0}: b\n";
        assert_eq!(found(settings, MarkReading::Settings), []);
        assert_eq!(found("echo fertig \u{2013} los\u{2026}\n", MarkReading::Script), []);
    }
}
