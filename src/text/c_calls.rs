//! What the brackets of calls and functions hold, among the tokens of a source of C or C++.
//!
//! Owns the parts between commas and the bodies of functions. Must not know what a call does.

use std::ops::Range;

use super::c_tokens::Token;

/// A function with its body, by the places of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTokens {
    /// Its name; the bracket of its parameters opens behind it.
    pub name: usize,
    /// From behind its parameters, with the initialisers of a constructor, to its last bracket.
    pub body: Range<usize>,
}

/// The parts between the commas of the bracket that opens at `open`, by the places of tokens; none
/// where it is empty, is not closed, or is not a bracket. `closes` is that of the same tokens.
#[must_use]
pub fn parts(tokens: &[Token<'_>], closes: &[Option<usize>], open: usize) -> Vec<Range<usize>> {
    let close = |at: usize| closes.get(at).copied().flatten();
    let Some(end) = close(open) else { return Vec::new() };
    let (mut found, mut start, mut at) = (Vec::new(), open + 1, open + 1);
    while at < end {
        if tokens.get(at).is_some_and(|token| token.is(",")) {
            found.push(start..at);
            start = at + 1;
        }
        at = close(at).unwrap_or(at) + 1;
    }
    if start < end {
        found.push(start..end);
    }
    found
}

/// The `if` statements of a source.
#[derive(Debug)]
pub struct IfStatements<'a> {
    tokens: &'a [Token<'a>],
    /// For each bracket that closes the place of what opens it.
    opens: Vec<Option<usize>>,
}

impl<'a> IfStatements<'a> {
    /// Those of some tokens; `closes` is that of the same tokens.
    #[must_use]
    pub fn of(tokens: &'a [Token<'a>], closes: &[Option<usize>]) -> Self {
        let mut opens = vec![None; tokens.len()];
        for (open, close) in closes.iter().enumerate() {
            if let Some(place) = close.and_then(|close| opens.get_mut(close)) {
                *place = Some(open);
            }
        }
        Self { tokens, opens }
    }

    /// The condition of the `if` whose statement or block begins at `at`.
    #[must_use]
    pub fn condition_before(&self, at: usize) -> Option<&'a [Token<'a>]> {
        let close = at.checked_sub(1)?;
        let open = self.opens.get(close).copied().flatten()?;
        let is_if = self.tokens.get(open.checked_sub(1)?)?.is_word("if");
        let is_round = self.tokens.get(open)?.is("(");
        self.tokens.get(open + 1..close).filter(|_| is_if && is_round)
    }
}

/// The functions with a body, and macros that look so, in their order. What stands in the body of
/// one is not another.
#[must_use]
pub fn functions(tokens: &[Token<'_>], closes: &[Option<usize>]) -> Vec<FunctionTokens> {
    const KEYWORDS: [&str; 9] =
        ["if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "else"];
    let close = |at: usize| closes.get(at).copied().flatten();
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let is_one_of = |at: usize, words: &[&str]| {
        tokens.get(at).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let name = at;
        at += 1;
        if token.word().is_none() || is_one_of(name, &KEYWORDS) || !is(at, "(") {
            continue;
        }
        let Some(parameters_end) = close(at) else { continue };
        let start = parameters_end + 1;
        let mut body = start;
        // `const`, the initialisers of a constructor, and what a function of Rust returns.
        while body < start + 40 && !["{", ";", ")"].iter().any(|mark| is(body, mark)) {
            body = close(body).filter(|_| is(body, "(")).unwrap_or(body) + 1;
        }
        let is_definition = body == start
            || is(start, ":")
            || is(start, "-") && is(start + 1, ">")
            || is_one_of(start, &["const", "override", "noexcept"]);
        let Some(end) = close(body).filter(|_| is(body, "{") && is_definition) else { continue };
        found.push(FunctionTokens { name, body: start..end });
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::c_tokens::{Style, closes, tokens};
    use super::*;

    fn parts_of(source: &str, open: usize) -> Vec<String> {
        let all = tokens(source, Style::C);
        let text = |part: Range<usize>| all[part].iter().map(|token| token.raw).collect();
        parts(&all, &closes(&all), open).into_iter().map(text).collect()
    }

    #[test]
    fn the_parts_of_a_bracket_are_those_between_its_own_commas() {
        assert_eq!(parts_of("f(a, g(b, c), {d, e}[0])", 1), ["a", "g(b,c)", "{d,e}[0]"]);
        assert_eq!(parts_of("f(a, )", 1), ["a"]);
        assert_eq!(parts_of("f(, a)", 1), ["", "a"]);
        for nothing in ["f()", "f(a", "f) a", "f", "", "f a, b)"] {
            assert_eq!(parts_of(nothing, 1), [] as [String; 0], "{nothing}");
        }
    }

    #[test]
    fn functions_have_a_body_and_are_not_calls() {
        let source = "int plain(int a) { if (a) { return call(a); } }\n\
                      Valve::Valve(int pin) : pin_(pin), on_(false) { start(); }\n\
                      bool ready() const { return true; }\nint declared(void);\n\
                      fn made(a: u8) -> Result<u8, E> { Ok(a) }\nint y = f(x)->z ? 1 : 2;\n\
                      void g() { while (node(x)->next) { } }\n\
                      int value = call(2) + 1;\n";
        let all = tokens(source, Style::C);
        let found = functions(&all, &closes(&all));
        let names: Vec<&str> = found.iter().map(|found| all[found.name].raw).collect();
        assert_eq!(names, ["plain", "Valve", "ready", "made", "g"]);
        let body = |at: usize| all[found[at].body.clone()].iter().map(|token| token.raw);
        assert_eq!(body(0).next(), Some("{"));
        assert_eq!(body(1).filter(|word| word.ends_with('_')).count(), 2);
    }
}
