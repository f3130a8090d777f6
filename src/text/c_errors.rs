//! What is wrong with the syntax of a source of C or C++, and how certain that is.
//!
//! Owns the judgement of what does not parse: a compiler refuses it, or only the preprocessor can
//! tell. Must not know files.

use std::ops::Range;

use tree_sitter::Tree;

use super::c_branches::{Branch, Branches};
use super::c_idioms::{Edits, Idioms, Macros, is_capital};
use super::c_scope::{Scope, Scopes};
use super::c_tokens::{self, Token, TokenKind};
use super::lines::{blanked, line_at};
use super::syntax_error::{self, Certainty};
use super::tree::{Language, Limits, parse};

/// Most errors of one text.
const MAX_ERRORS: usize = 16;

/// A place that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeError {
    /// In bytes of the source.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) message: String,
    /// Whether it is an error for sure.
    pub(super) certainty: Certainty,
}

impl CodeError {
    fn certain((at, message): (usize, String)) -> Self {
        Self { at, message, certainty: Certainty::Certain }
    }
}

/// What was found in one reading.
struct Found {
    branch: Branch,
    errors: Vec<CodeError>,
    /// Brackets or quotes without partner, so that nothing else was looked for.
    is_broken: bool,
}

/// Where a `;` is missing in a source that parses all the same.
pub(super) fn find_in_parsed(language: Language, source: &str) -> Vec<CodeError> {
    let branches = Branches::of(source, language == Language::Cpp);
    let macros = branches.macros();
    let branch = branches.first_reading();
    let scopes = Scopes::of(&branch.text, c_tokens::with_excluded(&branch.text));
    scopes.map(|scopes| missing_ends(&scopes, &macros)).unwrap_or_default()
}

/// The errors of a source that does not parse as it stands, in order; `None` when it cannot be told
/// in time.
pub(super) fn find(language: Language, source: &str, limits: Limits) -> Option<Vec<CodeError>> {
    let certain = |found| Some(vec![CodeError::certain(found)]);
    if let Some(at) = open_comment(source) {
        return certain((at, "`/*` is never closed".to_owned()));
    }
    let branches = Branches::of(source, language == Language::Cpp);
    if let Some(found) = branches.lone_directive() {
        return certain(found);
    }
    let macros = branches.macros();
    let mut found: Vec<Found> = Vec::new();
    for branch in branches.readings() {
        match errors_of(language, &branch.text, &macros, limits) {
            Some((errors, is_broken)) => found.push(Found { branch, errors, is_broken }),
            None if found.len() < 2 => return None,
            None => break,
        }
    }
    let is_related = branches.are_related();
    let mut errors: Vec<CodeError> = Vec::new();
    for (number, reading) in found.iter().enumerate() {
        for error in &reading.errors {
            let is_real = match reading.is_broken {
                true => is_broken_for_sure(number, &found, is_related),
                false => !found.iter().any(|other| refutes(other, error, source)),
            };
            if is_real && !errors.contains(error) {
                errors.push(error.clone());
            }
        }
    }
    let is_certain = |error: &CodeError| error.certainty == Certainty::Certain;
    if !errors.iter().any(is_certain)
        && let Some(found) = branches.unbalanced()
    {
        errors.push(CodeError::certain(found));
    }
    // What is wrong in some readings only may be one that nobody builds.
    if errors.is_empty()
        && let Some(reading) = found.iter().find(|reading| reading.is_broken)
    {
        let possible =
            |error: &CodeError| CodeError { certainty: Certainty::Possible, ..error.clone() };
        errors.extend(reading.errors.first().map(possible));
    }
    errors.sort_by_key(|error| error.at);
    Some(errors)
}

/// A bracket without partner is real when no reading is without, or when one condition alone leads
/// to it.
fn is_broken_for_sure(number: usize, found: &[Found], is_related: bool) -> bool {
    if found.len() < 3 {
        return true;
    }
    let last = found.get(1).or(found.first());
    let last_is_broken = last.is_some_and(|last| last.is_broken);
    match last_is_broken {
        true => found.iter().all(|reading| reading.is_broken),
        false => number > 1 && !is_related,
    }
}

/// Whether another reading has the same code, and no error there.
fn refutes(other: &Found, error: &CodeError, source: &str) -> bool {
    let line = |at: usize| line_at(source, at);
    let is_near = |own: &CodeError| line(own.at).abs_diff(line(error.at)) <= 1;
    !other.is_broken && other.branch.has(error.at) && !other.errors.iter().any(is_near)
}

/// The errors of one reading, and whether brackets or quotes have no partner.
fn errors_of(
    language: Language,
    text: &str,
    macros: &Macros,
    limits: Limits,
) -> Option<(Vec<CodeError>, bool)> {
    let broken = |found| Some((vec![CodeError::certain(found)], true));
    let tokens = c_tokens::with_excluded(text);
    if let Some(found) = foreign(&tokens) {
        return broken(found);
    }
    let scopes = match Scopes::of(text, tokens) {
        Ok(scopes) => scopes,
        Err(found) => return broken(found),
    };
    let mut errors = missing_ends(&scopes, macros);
    if !parse(language, text, limits)?.root_node().has_error() {
        return Some((errors, false));
    }
    let idioms = Idioms { scopes: &scopes, macros };
    let text = rewritten(text, idioms.edits());
    let line = |at: usize| line_at(&text, at);
    let scopes = Scopes::of(&text, c_tokens::with_excluded(&text));
    match scopes {
        Ok(scopes) => {
            for error in judged(language, &text, &scopes, macros, limits)? {
                if !errors.iter().any(|known| line(known.at) == line(error.at)) {
                    errors.push(error);
                }
            }
            Some((errors, false))
        }
        Err(found) => broken(found),
    }
}

/// Takes each statement with an error out of the text until the rest parses.
fn judged(
    language: Language,
    text: &str,
    scopes: &Scopes<'_>,
    macros: &Macros,
    limits: Limits,
) -> Option<Vec<CodeError>> {
    let mut errors: Vec<CodeError> = Vec::new();
    let mut rest = text.to_owned();
    let mut gone: Vec<Range<usize>> = Vec::new();
    while errors.len() < MAX_ERRORS {
        let tree: Tree = parse(language, &rest, limits)?;
        if !tree.root_node().has_error() {
            break;
        }
        let (mut at, mut message) = syntax_error::first_of(&tree, &rest);
        let statement = statement_at(scopes, at);
        let is_excused = is_excused(scopes, macros, &statement, (at, &message));
        let certainty = if is_excused { Certainty::Possible } else { Certainty::Certain };
        let bytes = scopes.bytes(&statement);
        if !is_excused && has_no_end(scopes, &statement) {
            (at, message) = (bytes.end, "`;` is missing".to_owned());
        }
        let is_new = !bytes.is_empty() && !gone.contains(&bytes);
        if is_new || errors.is_empty() {
            errors.push(CodeError { at, message, certainty });
        }
        if !is_new {
            break;
        }
        rest = blanked(&rest, [bytes.clone()]);
        gone.push(bytes);
    }
    Some(errors)
}

/// Whether the last statement before a `}` is without `;`.
fn has_no_end(scopes: &Scopes<'_>, statement: &Range<usize>) -> bool {
    let last = statement.end.saturating_sub(1);
    let is_open = statement.len() > 1 && !scopes.is(last, ";") && !scopes.is(last, "}");
    is_open && scopes.scope(statement.start) == Scope::Body && scopes.is(statement.end, "}")
}

/// The tokens of the statement at a place, its brackets all closed.
fn statement_at(scopes: &Scopes<'_>, at: usize) -> Range<usize> {
    let after = scopes.tokens.partition_point(|token| token.start <= at);
    let here = after.saturating_sub(1);
    let mut first =
        match scopes.is(here, ";") && scopes.get(here).is_some_and(|t| t.range().end <= at) {
            true => after,
            false => here,
        };
    while let Some(before) = first.checked_sub(1) {
        let goes_on = || scopes.is_one_of(first, &[",", ")", ";", "]", ".", "(", "="]);
        first = match scopes.get(before).map(|token| token.raw) {
            Some(")" | "]") => scopes.pair(before),
            Some("}") if goes_on() => scopes.pair(before),
            Some(";") if !scopes.is_in_brackets(before) => break,
            Some("{" | "}") | None => break,
            Some(_) => before,
        };
    }
    let mut end = first;
    while let Some(token) = scopes.get(end) {
        match token.raw {
            "(" | "[" => end = scopes.pair(end) + 1,
            "{" if scopes.scope(end + 1) == Scope::List && scopes.pair(end) > end + 1 => {
                end = scopes.pair(end) + 1;
            }
            ";" => {
                end += 1;
                break;
            }
            "{" | "}" => break,
            _ => end += 1,
        }
    }
    // A lone brace is what is wrong.
    if end == first && scopes.get(first).is_some() { first..first } else { first..end }
}

/// Whether a macro may make sense of the statement.
fn is_excused(
    scopes: &Scopes<'_>,
    macros: &Macros,
    statement: &Range<usize>,
    (at, message): (usize, &str),
) -> bool {
    let misses_end = message == "`;` is missing";
    let before = scopes.tokens.partition_point(|token| token.start < at).saturating_sub(1);
    if misses_end && (scopes.ends_line(before) || scopes.is(before + 1, "}")) {
        return false;
    }
    if lacks_end(scopes, macros, statement) || is_prose(scopes, statement) {
        return false;
    }
    let mut near = statement.clone();
    if scopes.scope(statement.start) == Scope::List {
        let first = (statement.start..before).rev().find(|at| scopes.ends_line(*at));
        near.start = first.unwrap_or(statement.start);
        near.end =
            (before..near.end).find(|at| *at > before && scopes.ends_line(*at)).unwrap_or(near.end);
    }
    let is_text = |at: usize| scopes.is_text(at);
    near.clone().any(|at| {
        let Some(word) = scopes.word(at) else {
            return (at..at + 3).all(|at| scopes.is(at, "."));
        };
        let is_next_to = scopes.word(at + 1).is_some() || is_text(at + 1) || scopes.is(at + 1, "(");
        let follows = at.checked_sub(1).is_some_and(|before| {
            scopes.word(before).is_some() || is_text(before) || scopes.is(before, ")")
        });
        macros.contains_key(word)
            || is_capital(word) && !Idioms::is_function(word) && (is_next_to || follows)
            || word.starts_with("__")
            || word == "asm"
    })
}

/// Whether a line ends where a statement does, the next one starts as one does, and there is no `;`.
fn lacks_end(scopes: &Scopes<'_>, macros: &Macros, statement: &Range<usize>) -> bool {
    if scopes.scope(statement.start) != Scope::Body {
        return false;
    }
    let mut is_value = scopes.word(statement.start) == Some("return");
    let mut at = statement.start;
    while at + 1 < statement.end {
        is_value |= scopes.is(at, "=");
        at = scopes.pair(at).max(at);
        let ends = scopes.get(at).is_some_and(|token| match token.kind {
            TokenKind::Word => is_value && !matches!(token.raw, "return" | "sizeof"),
            TokenKind::Number | TokenKind::Text => true,
            TokenKind::Mark => {
                let is_call = token.is(")") && scopes.pair(at) == statement.start + 1;
                token.is("]") || token.is(")") && !is_head(scopes, at) && !is_call
            }
            TokenKind::DirectiveEnd => false,
        });
        let is_name = |word: &str| {
            !macros.contains_key(word) && (!is_capital(word) || Idioms::is_function(word))
        };
        let starts = scopes.word(at + 1).is_some_and(is_name);
        if ends && starts && scopes.ends_line(at) {
            return true;
        }
        at += 1;
    }
    false
}

/// Calls and texts behind which a `;` is missing, which the grammar takes for a declaration.
fn missing_ends(scopes: &Scopes<'_>, macros: &Macros) -> Vec<CodeError> {
    let idioms = Idioms { scopes, macros };
    let is_end = |at: usize| {
        let next = scopes.word(at + 1);
        let goes_on =
            next.is_none_or(|next| macros.contains_key(next) || matches!(next, "and" | "or"));
        if goes_on || !scopes.ends_line(at) {
            return false;
        }
        if scopes.is_text(at) {
            let statement = scopes.statement(at);
            let assigns = (statement..at).any(|at| scopes.is(at, "="));
            let is_outer = !matches!(scopes.scope(at), Scope::List | Scope::Enum)
                && !scopes.is_in_brackets(at);
            return assigns && is_outer && !next.is_some_and(is_capital);
        }
        let name = scopes.pair(at).checked_sub(1).filter(|_| scopes.is(at, ")"));
        let Some((name, called)) = name.and_then(|name| Some((name, scopes.word(name)?))) else {
            return false;
        };
        let is_statement = scopes.scope(at) == Scope::Body && scopes.starts_statement(name);
        is_statement && idioms.is_plain_call(called) && scopes.indent(name) >= scopes.indent(at + 1)
    };
    let found = (0..scopes.tokens.len()).filter(|at| is_end(*at)).filter_map(|at| scopes.get(at));
    found
        .map(|token| CodeError::certain((token.range().end, "`;` is missing".to_owned())))
        .collect()
}

/// Whether a `)` closes the condition of a statement.
fn is_head(scopes: &Scopes<'_>, close: usize) -> bool {
    let word = scopes.pair(close).checked_sub(1).and_then(|at| scopes.word(at));
    matches!(word, Some("if" | "for" | "while" | "switch" | "catch"))
}

/// Whether there are four words in a row that no declaration has.
fn is_prose(scopes: &Scopes<'_>, statement: &Range<usize>) -> bool {
    let is_plain = |at: usize| {
        scopes
            .word(at)
            .is_some_and(|word| !is_capital(word) && word.bytes().all(|b| b.is_ascii_alphabetic()))
    };
    let known = ["static", "const", "unsigned", "struct", "volatile", "inline", "extern", "long"];
    let is_known = |at: usize| scopes.word(at).is_some_and(|word| known.contains(&word));
    statement.clone().any(|at| (at..at + 4).all(|at| is_plain(at) && !is_known(at)))
}

/// What no code has, and quotes without partner.
fn foreign(tokens: &[Token<'_>]) -> Option<(usize, String)> {
    let mut before: Option<&Token<'_>> = None;
    for token in tokens {
        let found = match token.kind {
            TokenKind::Text if is_open(token.raw) => {
                let quote = if token.raw.contains('"') { "\"" } else { "'" };
                Some(format!("`{quote}` is never closed"))
            }
            TokenKind::Mark if matches!(token.raw, "`" | "@" | "#" | "\\") => {
                let quote = if token.raw == "`" {
                    "a back quote".to_owned()
                } else {
                    format!("`{}`", token.raw)
                };
                Some(format!("{quote} is not expected here"))
            }
            TokenKind::Mark if token.raw == "'" => {
                let is_gap = before.is_some_and(|before| {
                    before.kind == TokenKind::Number && before.range().end == token.start
                });
                (!is_gap).then(|| "`'` is never closed".to_owned())
            }
            _ => None,
        };
        if let Some(message) = found {
            return Some((token.start, message));
        }
        before = Some(token);
    }
    None
}

/// Whether a text in quotes has no second one.
fn is_open(raw: &str) -> bool {
    let Some(start) = raw.find(['"', '\'']) else { return false };
    let inner = raw.get(start + 1..).unwrap_or_default();
    let quote = raw.get(start..=start).unwrap_or_default();
    let Some(text) = inner.strip_suffix(quote) else { return true };
    let is_raw = raw.get(..start).is_some_and(|prefix| prefix.ends_with('R'));
    !is_raw && text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Where a comment starts that never ends.
fn open_comment(source: &str) -> Option<usize> {
    let tokens = c_tokens::with_excluded(source);
    let last = tokens.iter().rev().find(|token| !token.raw.is_empty());
    let mut at = last.map_or(0, |token| token.range().end);
    while let Some(rest) = source.get(at..) {
        let start = at + rest.find('/')?;
        let comment = source.get(start..)?;
        at = match comment {
            _ if comment.starts_with("//") => start + comment.find('\n')?,
            _ if comment.starts_with("/*") => {
                match comment.get(2..).and_then(|rest| rest.find("*/")) {
                    Some(end) => start + 4 + end,
                    None => return Some(start),
                }
            }
            _ => start + 1,
        };
    }
    None
}

/// The text with the edits made, the longer ones last.
fn rewritten(text: &str, mut edits: Edits) -> String {
    edits.sort_by_key(|(range, _)| range.len());
    let mut text = text.to_owned();
    for (range, instead) in edits {
        text = blanked(&text, [range.clone()]);
        let end = range.start + instead.len();
        if end <= range.end && text.is_char_boundary(range.start) && text.is_char_boundary(end) {
            text.replace_range(range.start..end, instead);
        }
    }
    text
}

#[cfg(test)]
#[path = "c_errors_tests.rs"]
mod tests;
