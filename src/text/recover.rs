//! Finds the structured answer in what a model wrote.
//!
//! Models wrap JSON in prose and code fences. [`structured`] takes it out again, and where there
//! is none it says what is wrong in words that go back to the model. It never repairs: a value
//! that is cut off or malformed is an error, so that nobody acts on half an answer.

use std::fmt;

use serde_json::Value;

use super::cut::cut_at_word;
use super::lines::line_at;
use super::toon;

/// A place in a text, for people and models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// Counted from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why no structured answer could be taken out of a text, in words for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// There is nothing but blanks.
    #[error("the answer is empty; a JSON value was expected")]
    Empty,
    /// Nothing in it looks like JSON.
    #[error(
        "the answer holds no JSON value: nothing in it begins like an object or a list; it begins \
         with `{begins}`"
    )]
    Missing {
        /// Its first words.
        begins: String,
    },
    /// A value begins and the text ends within it.
    #[error(
        "the JSON value that begins at {start} is cut off: {open}; give the whole value again, \
         closed"
    )]
    CutOff {
        /// Where the value begins.
        start: TextPosition,
        /// What was still open at the end.
        open: String,
    },
    /// A value begins and ends, but what is between is not JSON.
    #[error("the JSON value that begins at {start} is wrong at {at}: {cause}, near `{found}`")]
    Malformed {
        /// Where the value begins.
        start: TextPosition,
        /// Where it goes wrong.
        at: TextPosition,
        /// What is wrong, with advice where a mistake is common.
        cause: String,
        /// What stands there.
        found: String,
    },
    /// A block that is fenced as TOON is not TOON.
    #[error("the TOON block is wrong: {cause}")]
    Toon {
        /// What is wrong, with its line.
        cause: String,
    },
}

/// Takes the structured answer out of `text`. Tried in this order: the whole text as JSON; the
/// fenced code blocks, an object or list before a bare word or number; the block that is fenced as
/// TOON; the first `{` to the last `}` (or `[` to `]` if that comes first); the longest of the values that a scan for matching
/// brackets finds.
///
/// # Errors
/// When nothing in it is JSON, or the value that most looks like the answer is cut off or
/// malformed; then no smaller value within or beside it is taken instead.
pub fn structured(text: &str) -> Result<Value, RecoverError> {
    if text.trim().is_empty() {
        return Err(RecoverError::Empty);
    }
    whole(text)
        .or_else(|| fenced(text))
        .map(Ok)
        .or_else(|| fenced_toon(text))
        .or_else(|| first_to_last(text).map(Ok))
        .unwrap_or_else(|| scanned(text))
}

fn whole(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}').trim()).ok()
}

/// The value in a fenced block, whatever the block calls itself.
fn fenced(text: &str) -> Option<Value> {
    let mut single = None;
    for (_, block) in named_blocks(text) {
        match whole(block) {
            Some(value) if value.is_object() || value.is_array() => return Some(value),
            Some(value) => single = single.or(Some(value)),
            None => {}
        }
    }
    single
}

/// The value in the first block that is fenced as TOON; `None` without one.
fn fenced_toon(text: &str) -> Option<Result<Value, RecoverError>> {
    let mut named = named_blocks(text).into_iter();
    let (_, inside) = named.find(|(name, _)| name.eq_ignore_ascii_case("toon"))?;
    let value = toon::decode(inside.trim_matches(['\n', '\r']));
    Some(value.map_err(|cause| RecoverError::Toon { cause }))
}

/// All fenced blocks with what they call themselves.
fn named_blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut name = "";
    // Where the open block's content begins, and the mark that closes it.
    let mut open: Option<(usize, char, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        let Some(mark) = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~')) else {
            continue;
        };
        let run = trimmed.chars().take_while(|&c| c == mark).count();
        match open {
            None if run >= 3 && !trimmed.get(run..).is_some_and(|rest| rest.contains('`')) => {
                open = Some((at, mark, run));
                name = trimmed.get(run..).unwrap_or_default().trim();
            }
            Some((from, closes, least)) if mark == closes && run >= least => {
                // A closing fence has nothing after its mark.
                if trimmed.len() == run {
                    blocks.extend(text.get(from..start).map(|inside| (name, inside)));
                    open = None;
                }
            }
            None | Some(_) => {}
        }
    }
    blocks.extend(open.and_then(|(from, _, _)| text.get(from..)).map(|inside| (name, inside)));
    blocks
}

fn first_to_last(text: &str) -> Option<Value> {
    let curly = text.find('{');
    let square = text.match_indices('[').map(|(at, _)| at).find(|&at| begins_value(text, at));
    // What begins within another value is a part of it, not the answer.
    let (start, end) = match (curly, square) {
        (Some(curly), Some(square)) if square < curly => (square, text.rfind(']')?),
        (Some(curly), _) => (curly, text.rfind('}')?),
        (None, square) => (square?, text.rfind(']')?),
    };
    serde_json::from_str(text.get(start..=end)?).ok()
}

/// Whether the bracket at `at` is followed by what may follow it in JSON.
fn begins_value(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars();
    let bracket = rest.next();
    let next = rest.find(|c| !c.is_whitespace());
    match (bracket, next) {
        (Some('{'), Some(next)) => matches!(next, '"' | '}'),
        (Some('['), Some(next)) => {
            matches!(next, '"' | '{' | '[' | ']' | '-' | 't' | 'f' | 'n') || next.is_ascii_digit()
        }
        // The text ends right behind the bracket.
        (Some('{' | '['), None) => true,
        _ => false,
    }
}

/// The longest value that matching brackets enclose.
fn scanned(text: &str) -> Result<Value, RecoverError> {
    let mut best: Option<(usize, Result<Value, RecoverError>)> = None;
    let mut from = 0;
    while let Some(start) = next_value(text, from) {
        let end = closing(text, start)?;
        let span = text.get(start..end).unwrap_or_default();
        if best.as_ref().is_none_or(|(length, _)| span.len() > *length) {
            let parsed = serde_json::from_str(span);
            best = Some((span.len(), parsed.map_err(|error| malformed(text, start, &error))));
        }
        from = end;
    }
    best.map_or_else(|| Err(missing(text)), |(_, result)| result)
}

fn next_value(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices(['{', '[']).map(|(at, _)| from + at).find(|&at| begins_value(text, at))
}

/// The end of the value whose bracket is at `start`; brackets in strings do not count.
fn closing(text: &str, start: usize) -> Result<usize, RecoverError> {
    // Brackets that are open, with their places.
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut string: Option<usize> = None;
    let mut is_escaped = false;
    for (offset, c) in text.get(start..).unwrap_or_default().char_indices() {
        let at = start + offset;
        if string.is_some() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => string = None,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => string = Some(at),
            '{' | '[' => open.push((c, at)),
            '}' | ']' => {
                // A wrong kind of bracket is for the parser to complain about.
                open.pop();
                if open.is_empty() {
                    return Ok(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    let open = match (string, open.last()) {
        (Some(at), _) => {
            format!("the text ends within the string that begins at {}", place(text, at))
        }
        (None, Some((bracket, at))) => {
            format!("the `{bracket}` at {} is never closed", place(text, *at))
        }
        (None, None) => "the text ends within it".to_owned(),
    };
    Err(RecoverError::CutOff { start: place(text, start), open })
}

fn malformed(text: &str, start: usize, error: &serde_json::Error) -> RecoverError {
    let at = offset_of(text, start, error);
    let message = error.to_string();
    let cause = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
    let advice = if cause.starts_with("control character") {
        "; inside a string a line break is written `\\n` and a tab `\\t`"
    } else if cause.starts_with("invalid escape") {
        "; inside a string a backslash is written `\\\\`"
    } else if cause.starts_with("trailing comma") {
        "; remove the comma before the closing bracket"
    } else {
        ""
    };
    RecoverError::Malformed {
        start: place(text, start),
        at: place(text, at),
        cause: format!("{cause}{advice}"),
        found: near(text, at),
    }
}

/// Where the parser stopped, as an offset in the whole text.
fn offset_of(text: &str, start: usize, error: &serde_json::Error) -> usize {
    let mut line_start = start;
    for _ in 1..error.line() {
        let rest = text.get(line_start..).unwrap_or_default();
        line_start += rest.find('\n').map_or(0, |at| at + 1);
    }
    text.floor_char_boundary(line_start + error.column().saturating_sub(1))
}

fn place(text: &str, at: usize) -> TextPosition {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = line_at(text, at);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    TextPosition { line, column }
}

/// A few characters around a place, on one line.
fn near(text: &str, at: usize) -> String {
    const AROUND: usize = 12;
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let skip = before.chars().count().saturating_sub(AROUND);
    let found = before.chars().skip(skip).chain(after.chars().take(AROUND));
    found.flat_map(char::escape_debug).collect::<String>().replace("\\\"", "\"").replace("\\'", "'")
}

fn missing(text: &str) -> RecoverError {
    const FIRST: usize = 40;
    let text = text.trim();
    let begins = cut_at_word(text, FIRST).chars().flat_map(char::escape_debug).collect();
    RecoverError::Missing { begins }
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
