//! The text of a change with the places in it, its tokens and its tree, and what of it is new.
//!
//! Owns the way from bytes to lines and columns, and what is read of a text once for all findings. Must
//! not know what is looked for.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use super::cmake_values::{self, ResolvedCommand};
use super::comments::{self, CommentMarks};
use crate::model::{FindingPlace, ProjectPath};
use crate::text::c_calls::{FunctionTokens, functions};
use crate::text::c_tokens::{Style, Token, TokenKind, closes, tokens};
use crate::text::syntax::Parsed;

/// Whether a file is written in C, C++ or for Arduino, by the end of its name.
pub(super) fn is_c(path: &ProjectPath) -> bool {
    let ends = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino"];
    path.extension().is_some_and(|end| ends.contains(&end))
}

/// The same, or in Rust, which has the same tokens.
pub(super) fn is_like_c(path: &ProjectPath) -> bool {
    is_c(path) || path.extension() == Some("rs")
}

/// Tokens one after another, with a blank between two.
pub(super) fn raw(tokens: &[Token<'_>]) -> String {
    let words = tokens.iter().filter(|token| token.kind != TokenKind::DirectiveEnd);
    words.map(|token| token.raw).collect::<Vec<_>>().join(" ")
}

/// A text with the places in it; what is read of it is read when it is first asked for.
pub(super) struct SourceText<'a> {
    pub(super) path: &'a ProjectPath,
    pub(super) text: &'a str,
    /// What the file held before.
    base: Option<&'a str>,
    /// Where lines start, in bytes.
    starts: OnceLock<Vec<usize>>,
    /// The lines that the file held before.
    known: OnceLock<HashSet<&'a str>>,
    tokens: OnceLock<Vec<Token<'a>>>,
    /// For each token that opens a bracket the place of what closes it.
    closes: OnceLock<Vec<Option<usize>>>,
    functions: OnceLock<Vec<FunctionTokens>>,
    code: OnceLock<Cow<'a, str>>,
    /// The text without comments, for C and Rust.
    bare: OnceLock<Cow<'a, str>>,
    resolved: OnceLock<Vec<ResolvedCommand>>,
    parsed: OnceLock<Option<Parsed<'a>>>,
}

impl<'a> SourceText<'a> {
    pub(super) const fn new(path: &'a ProjectPath, text: &'a str) -> Self {
        Self {
            path,
            text,
            base: None,
            starts: OnceLock::new(),
            known: OnceLock::new(),
            tokens: OnceLock::new(),
            closes: OnceLock::new(),
            functions: OnceLock::new(),
            code: OnceLock::new(),
            bare: OnceLock::new(),
            resolved: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    /// With what the file held before.
    pub(super) fn after(self, base: Option<&'a str>) -> Self {
        Self { base, ..self }
    }

    /// The tokens of Python, or of C and what is written like it.
    pub(super) fn tokens(&self) -> &[Token<'a>] {
        let is_python = self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("py"));
        let style = if is_python { Style::Python } else { Style::C };
        self.tokens.get_or_init(|| tokens(self.text, style))
    }

    /// For each of its tokens that opens a bracket the place of the one that closes it.
    pub(super) fn closes(&self) -> &[Option<usize>] {
        self.closes.get_or_init(|| closes(self.tokens()))
    }

    /// The functions among its tokens.
    pub(super) fn functions(&self) -> &[FunctionTokens] {
        self.functions.get_or_init(|| functions(self.tokens(), self.closes()))
    }

    /// The tokens of the first function of that name, as [`raw`]; nothing where there is none.
    pub(super) fn body(&self, name: &str) -> String {
        let tokens = self.tokens();
        let of = |at: usize| tokens.get(at).is_some_and(|token| token.raw == name);
        let found = self.functions().iter().find(|function| of(function.name));
        raw(found.and_then(|function| tokens.get(function.body.clone())).unwrap_or_default())
    }

    /// The text without comments, for C and Rust, too.
    pub(super) fn code_of_any(&self) -> Cow<'_, str> {
        match is_like_c(self.path) {
            true => {
                let read = || comments::without(self.text, CommentMarks::Slashes);
                self.bare.get_or_init(read).as_ref().into()
            }
            false => self.code().into(),
        }
    }

    /// The text without comments, for files other than C.
    pub(super) fn code(&self) -> &str {
        let marks = CommentMarks::of(self.path.as_str());
        self.code.get_or_init(|| comments::without(self.text, marks))
    }

    /// The commands of a list of CMake that say something else with the values of their variables.
    pub(super) fn resolved(&self) -> &[ResolvedCommand] {
        self.resolved.get_or_init(|| cmake_values::resolved(self.code()))
    }

    /// The text and its tree; `None` when its language is not known.
    pub(super) fn parsed(&self) -> Option<&Parsed<'a>> {
        self.parsed_from(|| None)
    }

    /// The same; `make` may make the tree for less than a parse.
    pub(super) fn parsed_from(
        &self,
        make: impl FnOnce() -> Option<Parsed<'a>>,
    ) -> Option<&Parsed<'a>> {
        self.parsed.get_or_init(|| make().or_else(|| Parsed::of(self.path, self.text))).as_ref()
    }

    /// Where lines start, in bytes.
    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
        })
    }

    /// Of several places the first in a line that the file did not hold before, or the first.
    pub(super) fn newest<'r>(&self, ranges: &'r [Range<usize>]) -> &'r Range<usize> {
        const NOWHERE: &Range<usize> = &(0..0);
        ranges.iter().find(|range| self.is_new(range)).or(ranges.first()).unwrap_or(NOWHERE)
    }

    /// Whether a place begins in a line that the file did not hold before.
    pub(super) fn is_new(&self, range: &Range<usize>) -> bool {
        self.is_new_line(self.line_at(range.start))
    }

    /// Whether the file did not hold a line, from 0, before.
    pub(super) fn is_new_line(&self, line: usize) -> bool {
        let read = || self.base.into_iter().flat_map(str::lines).map(str::trim).collect();
        !self.known.get_or_init(read).contains(self.line(line).trim())
    }

    /// The line that holds a byte, from 0.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.starts().partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The number of the line that holds a byte, from 1.
    pub(super) fn number_at(&self, byte: usize) -> u32 {
        number(self.line_at(byte) + 1)
    }

    /// The text of a line, from 0.
    pub(super) fn line(&self, line: usize) -> &'a str {
        let start = self.starts().get(line).copied().unwrap_or(self.text.len());
        let end = self.starts().get(line + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Bytes of a line, from 0, without its end.
    pub(super) fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.starts().get(line).copied().unwrap_or(self.text.len());
        start..start + self.line(line).len()
    }

    /// The place of some bytes, up to the end of their first line.
    pub(super) fn place(&self, range: &Range<usize>) -> FindingPlace {
        let line = self.line_at(range.start);
        let whole = self.line_range(line);
        let count = |range: Range<usize>| {
            let text = self.text.get(range).unwrap_or_default();
            u32::try_from(text.trim_end_matches('\r').chars().count()).unwrap_or(u32::MAX)
        };
        let column = count(whole.start..range.start).saturating_add(1);
        let length = count(range.start..range.end.min(whole.end).max(range.start));
        FindingPlace::columns(number(line + 1), column, length.max(1))
    }
}

/// A count as lines and columns are kept.
pub(super) fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_once() {
        for (path, count) in [("a.c", 3), ("a.py", 1)] {
            let path = ProjectPath::new(path).unwrap();
            let source = SourceText::new(&path, "a # b\n");
            assert_eq!(source.tokens().len(), count, "{path}");
            assert!(std::ptr::eq(source.tokens(), source.tokens()));
            assert!(std::ptr::eq(source.code(), source.code()));
        }
    }

    #[test]
    fn places_count_characters() {
        let path = ProjectPath::new("a.c").unwrap();
        let source = SourceText::new(&path, "é\nié x = 1;\r\n");
        let at = source.text.find("x =").unwrap();
        assert_eq!(source.place(&(at..at + 5)), FindingPlace::columns(2, 4, 5));
        assert_eq!(source.place(&(at..at + 50)).length, 6);
        assert_eq!(source.line(1), "ié x = 1;\r");
    }
}
