//! The tokens of C and of languages that are written alike: words, numbers, texts and marks.
//!
//! Owns what is code and what is a comment. What `#if 0` leaves out is no code. Must not judge what
//! the code does. Python and Rust are read well enough to find names and texts.

use std::borrow::Cow;
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    Number,
    /// A text in quotes; in C also what stands between single quotes.
    Text,
    /// One character of punctuation.
    Mark,
    /// The end of a preprocessor directive.
    DirectiveEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its characters, quotes included.
    pub raw: &'a str,
    /// Where it starts, in bytes.
    pub start: usize,
    /// Whether it belongs to a directive such as `#define`.
    pub in_directive: bool,
    /// Whether a backslash joins lines within it.
    pub is_joined: bool,
}

impl<'a> Token<'a> {
    /// Its bytes in the source.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.start + self.raw.len()
    }

    /// Whether it is this mark.
    #[must_use]
    #[inline]
    pub fn is(&self, mark: &str) -> bool {
        self.kind == TokenKind::Mark && self.raw == mark
    }

    /// The name; `None` for what is not a word. Lines that a backslash joins are joined.
    #[must_use]
    #[inline]
    pub fn word(&self) -> Option<Cow<'a, str>> {
        (self.kind == TokenKind::Word).then(|| match self.is_joined {
            true => Cow::Owned(joined(self.raw)),
            false => Cow::Borrowed(self.raw),
        })
    }

    /// Whether it is this name.
    #[must_use]
    #[inline]
    pub fn is_word(&self, name: &str) -> bool {
        self.kind == TokenKind::Word
            && (self.raw == name || self.is_joined && joined(self.raw) == name)
    }

    /// The whole number that it is, decimal or with `0x`.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let raw = self.raw.trim_end_matches(['u', 'U', 'l', 'L']);
        match raw.strip_prefix("0x").or_else(|| raw.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => raw.parse().ok(),
        }
    }

    /// What a text says, without quotes and with its escapes resolved; `None` for all others.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.kind != TokenKind::Text {
            return None;
        }
        let open = self.raw.find(['"', '\'', '`'])?;
        let quoted = self.raw.get(open..)?;
        if self.raw.get(..open).is_some_and(|prefix| prefix.ends_with('R')) {
            let inner = quoted.split_once('(')?.1;
            return Some(inner.rsplit_once(')').map_or(inner, |(text, _)| text).to_owned());
        }
        for triple in ["\"\"\"", "'''"] {
            if let Some(inner) = quoted.strip_prefix(triple) {
                return Some(unescaped(inner.strip_suffix(triple).unwrap_or(inner)));
            }
        }
        let quote = quoted.chars().next()?;
        let inner = quoted.get(1..)?;
        Some(unescaped(inner.strip_suffix(quote).unwrap_or(inner)))
    }
}

/// A text whose joined lines are joined.
fn joined(raw: &str) -> String {
    raw.replace("\\\r\n", "").replace("\\\n", "")
}

fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let Some(c) = after.chars().next() else { break };
        let digits = |from: usize, radix: u32, most: usize| {
            let found = after.chars().skip(from).take(most).take_while(|c| c.is_digit(radix));
            let length = found.count();
            let code = after.get(from..from + length);
            let code = code.and_then(|code| u32::from_str_radix(code, radix).ok());
            (code.and_then(char::from_u32), from + length)
        };
        let (meant, length) = match c {
            'x' => digits(1, 16, 2),
            'u' => digits(1, 16, 4),
            '0'..='7' => digits(0, 8, 3),
            'n' => (Some('\n'), 1),
            't' => (Some('\t'), 1),
            'r' => (Some('\r'), 1),
            '\n' => (None, 1),
            '\r' => (None, if after.starts_with("\r\n") { 2 } else { 1 }),
            _ => (Some(c), c.len_utf8()),
        };
        out.extend(meant);
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// How the language writes what the compiler does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// C, C++ and Rust.
    C,
    /// Python: `#` opens a comment, single quotes hold texts.
    Python,
}

/// The tokens of a source, in order, without comments and what `#if 0` leaves out.
#[must_use]
pub fn tokens(source: &str, style: Style) -> Vec<Token<'_>> {
    let found = read(source, style);
    match style {
        Style::C => without_excluded(found),
        Style::Python => found,
    }
}

/// For each token that opens a bracket the place of the one that closes it.
#[must_use]
pub fn closes(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let (mut open, mut found) = (Vec::new(), vec![None; tokens.len()]);
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Mark)
    {
        match token.raw {
            "(" | "{" | "[" => open.push(at),
            ")" | "}" | "]" => {
                if let Some(place) = open.pop().and_then(|open: usize| found.get_mut(open)) {
                    *place = Some(at);
                }
            }
            _ => {}
        }
    }
    found
}

/// The tokens of a source of C, also of what `#if 0` leaves out.
#[must_use]
pub(super) fn with_excluded(source: &str) -> Vec<Token<'_>> {
    read(source, Style::C)
}

fn read(source: &str, style: Style) -> Vec<Token<'_>> {
    let mut reader = TokenReader { source, at: 0, style, in_directive: false, found: Vec::new() };
    reader.found.reserve(source.len() / 5);
    while reader.step() {}
    if reader.in_directive {
        reader.end_directive();
    }
    reader.found
}

struct TokenReader<'a> {
    source: &'a str,
    at: usize,
    style: Style,
    in_directive: bool,
    found: Vec<Token<'a>>,
}

impl<'a> TokenReader<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads one token, comment or blank; false at the end.
    fn step(&mut self) -> bool {
        if self.at >= self.source.len() {
            return false;
        }
        let is_c = self.style == Style::C;
        match (self.byte(0), self.byte(1)) {
            (b'\n', _) => {
                if self.in_directive {
                    self.end_directive();
                }
                self.at += 1;
            }
            (b'\\', b'\n') => self.at += 2,
            (b'\\', b'\r') if self.byte(2) == b'\n' => self.at += 3,
            (b' ' | b'\t' | b'\r', _) => self.at += 1,
            (b'/', b'/') if is_c => self.line_comment(),
            (b'/', b'*') if is_c => {
                let rest = self.source.get(self.at + 2..).unwrap_or_default();
                self.at += rest.find("*/").map_or(rest.len() + 2, |end| end + 4);
            }
            (b'#', _) if !is_c => self.line_comment(),
            (b'#', _) if !self.in_directive && self.starts_line() => {
                self.in_directive = true;
                self.push(TokenKind::Mark, 1);
            }
            (b'%', b':') if is_c => {
                self.in_directive |= self.starts_line();
                self.digraph("#");
            }
            (b'<', b'%') if is_c => self.digraph("{"),
            (b'%', b'>') if is_c => self.digraph("}"),
            (b'"', _) => self.text(0),
            (b'\'', _) => self.single_quote(),
            (b'0'..=b'9', _) => self.number(),
            (first, _) if is_word(first) => self.word(),
            _ => self.push(TokenKind::Mark, 1),
        }
        true
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let end = (self.at + length).min(self.source.len());
        let raw = self.source.get(self.at..end).unwrap_or_default();
        let in_directive = self.in_directive;
        let is_joined = kind == TokenKind::Word && raw.contains('\\');
        self.found.push(Token { kind, raw, start: self.at, in_directive, is_joined });
        self.at = end;
    }

    /// Two characters that stand for one mark: `%:` for `#`.
    fn digraph(&mut self, mark: &'static str) {
        let (start, in_directive) = (self.at, self.in_directive);
        let kind = TokenKind::Mark;
        self.found.push(Token { kind, raw: mark, start, in_directive, is_joined: false });
        self.at += 2;
    }

    fn end_directive(&mut self) {
        self.push(TokenKind::DirectiveEnd, 0);
        self.in_directive = false;
    }

    fn starts_line(&self) -> bool {
        let before = self.source.get(..self.at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_matches(['\u{feff}', ' ', '\t']).is_empty()
    }

    /// A comment to the end of its line; a backslash there goes on.
    fn line_comment(&mut self) {
        let bytes = self.source.as_bytes();
        while let Some(length) = bytes.get(self.at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            let end = self.at + length;
            let line = self.source.get(self.at..end).unwrap_or_default();
            let goes_on = self.style == Style::C && line.trim_end_matches('\r').ends_with('\\');
            if !goes_on {
                self.at = end;
                return;
            }
            self.at = end + 1;
        }
        self.at = self.source.len();
    }

    /// A text in quotes after `prefix` bytes.
    fn text(&mut self, prefix: usize) {
        let bytes = self.source.as_bytes();
        let quote = self.byte(prefix);
        let rest = self.source.get(self.at + prefix..).unwrap_or_default();
        let triple = if quote == b'"' { "\"\"\"" } else { "'''" };
        if self.style == Style::Python && rest.starts_with(triple) {
            let inner = rest.get(3..).unwrap_or_default();
            let length = inner.find(triple).map_or(rest.len(), |end| end + 6);
            return self.push(TokenKind::Text, prefix + length);
        }
        let mut at = self.at + prefix + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' => break,
                _ if byte == quote => {
                    at += 1;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        while !self.source.is_char_boundary(at.min(self.source.len())) {
            at += 1;
        }
        self.push(TokenKind::Text, at.min(self.source.len()) - self.at);
    }

    /// A character, a text of Python, or a mark such as that of a lifetime in Rust.
    fn single_quote(&mut self) {
        let rest = self.source.get(self.at + 1..).unwrap_or_default();
        let mut inner = rest.chars();
        let (first, second) = (inner.next(), inner.next());
        let several = rest.split_once('\'').is_some_and(|(inner, _)| {
            inner.len() <= 4 && inner.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let is_text = first == Some('\\') || second == Some('\'') || several;
        match self.style == Style::Python || is_text {
            true => self.text(0),
            false => self.push(TokenKind::Mark, 1),
        }
    }

    fn number(&mut self) {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let bytes = rest.as_bytes();
        let mut length = 0;
        while let Some(&byte) = bytes.get(length) {
            let is_sign = matches!(byte, b'+' | b'-')
                && !rest.starts_with("0x")
                && matches!(bytes.get(length.wrapping_sub(1)), Some(b'e' | b'E'));
            // `1'000` in C++.
            let is_gap = byte == b'\'' && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_sign || is_gap) {
                break;
            }
            length += 1;
        }
        self.push(TokenKind::Number, length);
    }

    fn word(&mut self) {
        let bytes = self.source.as_bytes();
        let mut at = self.at;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                _ if is_word(byte) || byte.is_ascii_digit() => at += 1,
                b'\\' if self.splice(at) > 0 => at += self.splice(at),
                _ => break,
            }
        }
        let word = self.source.get(self.at..at).unwrap_or_default();
        let is_prefix = matches!(word, "R" | "LR" | "uR" | "UR" | "u8R" | "L" | "u" | "U" | "u8")
            || (self.style == Style::Python && word.len() <= 2)
            || matches!(word, "b" | "r" | "c" | "br");
        match bytes.get(at) {
            Some(b'"') if is_prefix && word.ends_with('R') => self.raw_text(word.len()),
            Some(b'"') if is_prefix => self.text(word.len()),
            Some(b'\'') if is_prefix && self.style == Style::Python => self.text(word.len()),
            _ => self.push(TokenKind::Word, at - self.at),
        }
    }

    /// Length of a joint of lines within a word.
    fn splice(&self, at: usize) -> usize {
        let rest = self.source.get(at..).unwrap_or_default();
        let length = match rest {
            _ if rest.starts_with("\\\n") => 2,
            _ if rest.starts_with("\\\r\n") => 3,
            _ => return 0,
        };
        let next = rest.as_bytes().get(length);
        if next.is_some_and(|&byte| is_word(byte) || byte.is_ascii_digit()) { length } else { 0 }
    }

    /// `R"x(…)x"`.
    fn raw_text(&mut self, prefix: usize) {
        let rest = self.source.get(self.at + prefix + 1..).unwrap_or_default();
        let Some((delimiter, inner)) = rest.split_once('(') else { return self.text(prefix) };
        let close = format!("){delimiter}\"");
        let inside = inner.find(&close).map_or(inner.len(), |end| end + close.len());
        self.push(TokenKind::Text, prefix + 1 + delimiter.len() + 1 + inside);
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Leaves out what stands in `#if 0`.
fn without_excluded(all: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let opens = |window: &[Token<'_>]| match window {
        [hash, name, value, end] => {
            hash.is("#")
                && hash.in_directive
                && name.is_word("if")
                && value.raw == "0"
                && end.kind == TokenKind::DirectiveEnd
        }
        _ => false,
    };
    if !all.windows(4).any(opens) {
        return all;
    }
    let mut kept = Vec::with_capacity(all.len());
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(token) = all.get(at) {
        let directive = all.get(at + 1).filter(|_| token.in_directive && token.is("#"));
        let name = directive.map_or("", |name| name.raw);
        if depth == 0 && all.get(at..at + 4).is_some_and(opens) {
            depth = 1;
            at += 4;
            continue;
        }
        if depth > 0 {
            depth += usize::from(name.starts_with("if"));
            depth -= usize::from(name == "endif");
            // The other branch is code.
            if depth == 1 && matches!(name, "else" | "elif") {
                depth = 0;
            }
            if depth == 0 {
                let rest = all.get(at..).unwrap_or_default();
                let end = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
                at += end.unwrap_or(rest.len());
            }
        } else {
            kept.push(*token);
        }
        at += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raws(source: &str) -> Vec<&str> {
        let found = tokens(source, Style::C).into_iter();
        found.filter(|t| t.kind != TokenKind::DirectiveEnd).map(|t| t.raw).collect()
    }

    #[test]
    fn comments_and_excluded_blocks_are_no_code() {
        assert_eq!(raws("a(/* b */1); // c\nd"), ["a", "(", "1", ")", ";", "d"]);
        assert_eq!(raws("// a \\\n b\nc"), ["c"]);
        assert_eq!(
            raws("#if 0\na\n#if X\nb\n#endif\n#else\nc\n#endif\nd"),
            ["c", "#", "endif", "d"]
        );
        assert_eq!(raws("x = \"// no\" '\"' y"), ["x", "=", "\"// no\"", "'\"'", "y"]);
        assert_eq!(raws("fn f<'a>(x: &'a str) {}")[..4], ["fn", "f", "<", "'"]);
    }

    #[test]
    fn texts_say_what_they_mean() {
        let text = |source: &str| tokens(source, Style::C)[0].text().unwrap();
        assert_eq!(text(r#""a\"b\x41\102\n""#), "a\"bAB\n");
        assert_eq!(text("R\"x(a\"b)x\""), "a\"b");
        assert_eq!(text("'h'"), "h");
        let python = tokens("p = 'a' # b\nq = \"\"\"c\n\"\"\"", Style::Python);
        let texts: Vec<String> = python.iter().filter_map(Token::text).collect();
        assert_eq!(texts, ["a", "c\n"]);
    }

    #[test]
    fn a_word_goes_on_behind_a_joint_of_lines() {
        let found = tokens("esp_ef\\\nuse_x();", Style::C);
        assert!(found[0].is_word("esp_efuse_x"));
        assert!(tokens("#define A b\nc", Style::C)[3].in_directive);
    }

    proptest! {
        #[test]
        fn tokens_lie_in_the_source_in_order(source in "[a-zR#\"'/*(){}0-9\\\\\n\r é]{0,80}") {
            for style in [Style::C, Style::Python] {
                let mut last = 0;
                for token in tokens(&source, style) {
                    prop_assert!(token.start >= last && source.get(token.range()) == Some(token.raw));
                    last = token.range().end;
                    let _ = token.text();
                }
            }
        }
    }
}
