//! Which part of a source of C each token belongs to: brackets, bodies, lists, statements.
//!
//! Owns the pairs of brackets and what a `{` opens. Must not know macros.

use std::ops::Range;

use super::c_tokens::{Token, TokenKind};

/// What a place belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The outermost level.
    File,
    /// Statements of a function.
    Body,
    /// Members of a type, or what a namespace holds.
    Members,
    /// Names of an `enum`.
    Enum,
    /// Values in braces.
    List,
}

/// The tokens of a text whose brackets match.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    source: &'a str,
    pub(super) tokens: Vec<Token<'a>>,
    /// For each bracket the other one of its pair.
    pairs: Vec<usize>,
    scopes: Vec<Scope>,
}

/// A bracket without partner, by its place.
pub(super) type LoneBracket = (usize, String);

impl<'a> Scopes<'a> {
    /// Pairs the brackets of a source with its tokens.
    pub(super) fn of(source: &'a str, tokens: Vec<Token<'a>>) -> Result<Self, LoneBracket> {
        let pairs = pairs(&tokens)?;
        let mut scopes = Self { source, scopes: Vec::with_capacity(tokens.len()), tokens, pairs };
        let mut open = vec![Scope::File];
        for at in 0..scopes.tokens.len() {
            if scopes.is(at, "}") {
                open.pop();
            }
            let now = open.last().copied().unwrap_or(Scope::File);
            scopes.scopes.push(now);
            if scopes.is(at, "{") {
                open.push(scopes.opened(at, now));
            }
        }
        Ok(scopes)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Token<'a>> {
        self.tokens.get(at)
    }

    pub(super) fn is(&self, at: usize, mark: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(mark))
    }

    /// Whether one of these marks is there.
    pub(super) fn is_one_of(&self, at: usize, marks: &[&str]) -> bool {
        marks.iter().any(|mark| self.is(at, mark))
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.kind == TokenKind::Text)
    }

    /// The bracket that is open before a token, or one of `ends` after it.
    pub(super) fn opened_before(&self, at: usize, ends: &[&str]) -> Option<&'a str> {
        let mut place = at;
        loop {
            let before = place.checked_sub(1)?;
            place = match self.get(before)?.raw {
                ")" | "]" | "}" => self.pair(before).min(before),
                raw if matches!(raw, "(" | "[" | "{") || ends.contains(&raw) => return Some(raw),
                _ => before,
            };
        }
    }

    /// Whether a token is within round or square brackets.
    pub(super) fn is_in_brackets(&self, at: usize) -> bool {
        matches!(self.opened_before(at, &[]), Some("(" | "["))
    }

    /// Where some tokens are, in bytes.
    pub(super) fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let start = self.get(tokens.start).map_or(0, |token| token.start);
        let last = tokens.end.checked_sub(1).and_then(|last| self.get(last));
        start..last.map_or(start, |token| token.range().end).max(start)
    }

    /// Whether there is a name or keyword.
    pub(super) fn word(&self, at: usize) -> Option<&'a str> {
        let token = self.get(at)?;
        (token.kind == TokenKind::Word).then_some(token.raw)
    }

    /// Whether nothing follows a token on its line.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        let (Some(token), Some(next)) = (self.get(at), self.get(at + 1)) else { return true };
        let between = self.source.get(token.range().end..next.start);
        between.is_some_and(|between| between.contains('\n'))
    }

    /// The blanks before the line of a token, in bytes.
    pub(super) fn indent(&self, at: usize) -> usize {
        let start = self.get(at).map_or(0, |token| token.start);
        let before = self.source.get(..start).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let line = self.source.get(line..).unwrap_or_default();
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    /// The bracket that belongs to the one at this index.
    pub(super) fn pair(&self, at: usize) -> usize {
        self.pairs.get(at).copied().unwrap_or(at)
    }

    /// What a token belongs to.
    pub(super) fn scope(&self, at: usize) -> Scope {
        self.scopes.get(at).copied().unwrap_or(Scope::File)
    }

    /// The index of the first token of the statement, within the innermost braces.
    pub(super) fn statement(&self, at: usize) -> usize {
        let mut first = at;
        while first > 0 {
            let before = first - 1;
            if self.is_one_of(before, &[";", "{", "}"]) {
                break;
            }
            first = before;
        }
        first
    }

    /// Whether a statement may start here.
    pub(super) fn starts_statement(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        let closes_condition = || {
            let open = self.pair(before);
            let word = open.checked_sub(1).and_then(|at| self.word(at));
            matches!(word, Some("if" | "for" | "while" | "switch"))
        };
        matches!(self.word(before), Some("else" | "do"))
            || self.is_one_of(before, &[";", "{", "}"])
            || self.is(before, ":") && before.checked_sub(1).is_none_or(|at| !self.is(at, ":"))
            || self.is(before, ")") && closes_condition()
    }

    /// What a type opens that has nothing but attributes before its brace: `struct PACKED(4) {`.
    fn attributed_type(&self, last: usize) -> Option<Scope> {
        let mut at = last;
        loop {
            at = match self.get(at)?.raw {
                ")" => self.pair(at).checked_sub(1)?,
                "]" => self.pair(at),
                "struct" | "class" | "union" => return Some(Scope::Members),
                "enum" => return Some(Scope::Enum),
                _ => return None,
            };
            let is_attribute = self.is(at, "[") || self.word(at).is_some();
            at = at.checked_sub(1).filter(|_| is_attribute)?;
        }
    }

    fn opened(&self, at: usize, now: Scope) -> Scope {
        let Some(before) = at.checked_sub(1) else { return Scope::List };
        if let Some(scope) = self.attributed_type(before).filter(|_| self.word(before).is_none()) {
            return scope;
        }
        if self.is(before, ")") {
            let head = self.pair(before).checked_sub(1);
            let named = head.is_some_and(|head| {
                self.word(head).is_some_and(|word| word != "return")
                    || self.is_one_of(head, &["]", ")", ">"])
            });
            return if named { Scope::Body } else { Scope::List };
        }
        if self.is(before, "]") {
            let head = self.pair(before).checked_sub(1).and_then(|at| self.word(at));
            return if head.is_some() { Scope::List } else { Scope::Body };
        }
        if self.is_one_of(before, &["=", ",", "[", ":"]) {
            return if self.is(before, ":") { now } else { Scope::List };
        }
        if self.is(before, "(") {
            return Scope::Body;
        }
        if self.is_one_of(before, &[";", "{", "}"]) {
            return now;
        }
        let head = || (self.statement(at)..at).filter_map(|at| self.word(at));
        if matches!(
            self.word(before),
            Some("else" | "do" | "try" | "const" | "noexcept" | "override")
        ) {
            return Scope::Body;
        }
        if head().any(|word| word == "enum") {
            return Scope::Enum;
        }
        let types = ["struct", "class", "union", "namespace", "extern"];
        if head().any(|word| types.contains(&word)) {
            return Scope::Members;
        }
        let has_call = (self.statement(at)..at).any(|at| self.is(at, "("));
        if has_call && !(self.statement(at)..at).any(|at| self.is(at, "=")) {
            return Scope::Body;
        }
        Scope::List
    }
}

fn pairs(tokens: &[Token<'_>]) -> Result<Vec<usize>, LoneBracket> {
    let mut pairs: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let opener = match token.raw {
            "(" | "[" | "{" => {
                open.push(at);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        let raw = token.raw;
        let Some(partner) = open.pop() else {
            return Err((token.start, format!("`{raw}` closes nothing")));
        };
        let Some(first) = tokens.get(partner) else { continue };
        if first.raw != opener {
            return Err((first.start, format!("`{}` is not closed before `{raw}`", first.raw)));
        }
        for (here, there) in [(at, partner), (partner, at)] {
            if let Some(pair) = pairs.get_mut(here) {
                *pair = there;
            }
        }
    }
    match open.pop().and_then(|at| tokens.get(at)) {
        Some(token) => Err((token.start, format!("`{}` is never closed", token.raw))),
        None => Ok(pairs),
    }
}
