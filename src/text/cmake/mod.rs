//! Lists of CMake as text that people wrote: read without loss, changed in one place.
//!
//! Owns the reading of commands with their places, and adding a source to what a list
//! builds, or a folder to where it searches headers. What
//! is not understood is an error with its line, never a guess. Must not evaluate conditions.

mod include_dirs;
mod register;
mod sources;

use std::borrow::Cow;
use std::ops::Range;

pub use include_dirs::with_include_folder;
pub use register::{Registered, builds, register};

/// One command of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CMakeCommand {
    /// Its name in lower case.
    pub name: String,
    /// Line of its name, from 1.
    pub line: usize,
    /// Bytes between its parentheses.
    pub inside: Range<usize>,
    pub args: Vec<Argument>,
    /// How many `if`, loops, functions and the like it stands in.
    pub depth: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its text without quotes or brackets.
    pub text: String,
    /// Its bytes with quotes or brackets.
    pub range: Range<usize>,
    /// Whether it stands in quotes.
    pub is_quoted: bool,
}

impl Argument {
    /// What CMake makes of it before variables are replaced: escapes in quotes stand for what they
    /// escape.
    #[must_use]
    pub fn value(&self) -> Cow<'_, str> {
        let is_bracket = self.range.len() > self.text.len() + 2;
        if !self.is_quoted || is_bracket || !self.text.contains('\\') {
            return Cow::Borrowed(&self.text);
        }
        let mut value = String::new();
        let mut chars = self.text.chars();
        while let Some(c) = chars.next() {
            value.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        Cow::Owned(value)
    }

    /// Whether it is a parenthesis among arguments, as conditions have them.
    #[must_use]
    pub fn is_parenthesis(&self) -> bool {
        !self.is_quoted && matches!(self.text.as_str(), "(" | ")")
    }
}

/// What is not understood in a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct CmakeError {
    /// Line, from 1.
    pub line: usize,
    /// What it is.
    pub why: String,
}

impl CmakeError {
    fn new(line: usize, why: impl Into<String>) -> Self {
        Self { line, why: why.into() }
    }
}

/// Reads all commands of a list.
///
/// # Errors
/// Something else than a command, or a parenthesis, quote or bracket that is never closed.
pub fn commands(text: &str) -> Result<Vec<CMakeCommand>, CmakeError> {
    let mut reader = CMakeReader { text, at: 0, counted: (0, 1) };
    let mut found: Vec<CMakeCommand> = Vec::new();
    let mut depth = 0_usize;
    while let Some(mut command) = reader.command()? {
        let name = command.name.as_str();
        if name.starts_with("end") || matches!(name, "else" | "elseif") {
            depth = depth.saturating_sub(usize::from(name.starts_with("end")));
        }
        command.depth = depth;
        if matches!(name, "if" | "foreach" | "while" | "function" | "macro" | "block") {
            depth += 1;
        }
        found.push(command);
    }
    Ok(found)
}

struct CMakeReader<'a> {
    text: &'a str,
    at: usize,
    /// A byte before `at`, and its line from 1.
    counted: (usize, usize),
}

impl<'a> CMakeReader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn line(&self) -> usize {
        let (at, line) = self.counted;
        let since = self.text.get(at..self.at).unwrap_or_default();
        line + memchr::memchr_iter(b'\n', since.as_bytes()).count()
    }

    fn error(&self, why: impl Into<String>) -> CmakeError {
        CmakeError::new(self.line(), why)
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), CmakeError> {
        loop {
            let rest = self.rest();
            self.at +=
                rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
            let Some(comment) = self.rest().strip_prefix('#') else { return Ok(()) };
            self.at += match bracket(comment) {
                Some((open, close)) => match comment.get(open..).and_then(|c| c.find(&close)) {
                    Some(length) => 1 + open + length + close.len(),
                    None => return Err(self.error("a comment `#[[` is never closed")),
                },
                None => 1 + comment.find('\n').unwrap_or(comment.len()),
            };
        }
    }

    fn command(&mut self) -> Result<Option<CMakeCommand>, CmakeError> {
        self.skip()?;
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(None);
        }
        let line = self.line();
        self.counted = (self.at, line);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error("a command is expected here"));
        }
        let name = rest.get(..length).unwrap_or_default().to_ascii_lowercase();
        self.at += length;
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if !self.rest().starts_with('(') {
            return Err(self.error(format!("`(` is missing after `{name}`")));
        }
        self.at += 1;
        let start = self.at;
        let (mut args, mut nested) = (Vec::new(), 0_usize);
        loop {
            self.skip()?;
            match self.rest().chars().next() {
                None => return Err(CmakeError::new(line, format!("`{name}(` is never closed"))),
                Some(')') if nested == 0 => break,
                Some(c @ ('(' | ')')) => {
                    nested = if c == '(' { nested + 1 } else { nested - 1 };
                    let range = self.at..self.at + 1;
                    args.push(Argument { text: c.to_string(), range, is_quoted: false });
                    self.at += 1;
                }
                Some(_) => args.push(self.argument()?),
            }
        }
        let inside = start..self.at;
        self.at += 1;
        Ok(Some(CMakeCommand { name, line, inside, args, depth: 0 }))
    }

    fn argument(&mut self) -> Result<Argument, CmakeError> {
        let (rest, start) = (self.rest(), self.at);
        if let Some((open, close)) = bracket(rest) {
            let inner = rest.get(open..).unwrap_or_default();
            let Some(length) = inner.find(&close) else {
                return Err(self.error("a bracket argument is never closed"));
            };
            self.at += open + length + close.len();
            let text = inner.get(..length).unwrap_or_default().to_owned();
            return Ok(Argument { text, range: start..self.at, is_quoted: true });
        }
        if rest.starts_with('"') {
            let Some(length) = closing_quote(rest) else {
                return Err(self.error("a quote is never closed"));
            };
            self.at += length + 1;
            let text = rest.get(1..length).unwrap_or_default().to_owned();
            return Ok(Argument { text, range: start..self.at, is_quoted: true });
        }
        let mut escaped = false;
        let length = rest
            .find(|c: char| {
                let ends = !escaped && (c.is_whitespace() || matches!(c, '(' | ')' | '"' | '#'));
                escaped = !escaped && c == '\\';
                ends
            })
            .unwrap_or(rest.len())
            .max(1);
        self.at += length;
        let text = rest.get(..length).unwrap_or_default().to_owned();
        Ok(Argument { text, range: start..self.at, is_quoted: false })
    }
}

/// The length of `[==[` at the start of a text, and what closes it.
fn bracket(text: &str) -> Option<(usize, String)> {
    let inner = text.strip_prefix('[')?;
    let equals = inner.len() - inner.trim_start_matches('=').len();
    inner.get(equals..)?.starts_with('[').then(|| (equals + 2, format!("]{}]", "=".repeat(equals))))
}

/// Where the quote at the start of a text closes.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })
}
