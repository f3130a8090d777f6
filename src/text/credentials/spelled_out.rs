//! Secrets that are put together character by character: `pw[0] = 'T'; pw[1] = 'r'; …`.
//!
//! Owns the form of such statements. Must not know names.

use std::ops::Range;

use crate::text::c_tokens::{Token, TokenKind};

/// A text that statements in a row put together.
pub(super) struct SpelledOut {
    /// What it is put into.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

/// All texts of at least so many characters.
pub(super) fn find(tokens: &[Token<'_>], least: usize) -> Vec<SpelledOut> {
    let mut found = Vec::new();
    let mut open: Option<SpelledOut> = None;
    let mut at = 0;
    while at < tokens.len() {
        match character(tokens, at) {
            Some((name, c, end)) => {
                let place = tokens.get(at).map_or(0, |token| token.start);
                let until = tokens.get(end - 1).map_or(place, |token| token.range().end);
                match &mut open {
                    Some(spelled) if spelled.name == name => {
                        spelled.text.extend(c);
                        spelled.range.end = until;
                    }
                    _ => {
                        found.extend(open.take().filter(|spelled| spelled.text.len() >= least));
                        let text = c.into_iter().collect();
                        open = Some(SpelledOut { name, text, range: place..until });
                    }
                }
                at = end;
            }
            None => {
                found.extend(open.take().filter(|spelled| spelled.text.len() >= least));
                at += 1;
            }
        }
    }
    found.extend(open.filter(|spelled| spelled.text.len() >= least));
    found
}

/// `NAME[0] = 'T';` at `at`: the name, the character unless it ends the text, and what follows.
fn character(tokens: &[Token<'_>], at: usize) -> Option<(String, Option<char>, usize)> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let name = tokens.get(at)?.word()?;
    let is_index = tokens.get(at + 2).is_some_and(|token| token.kind == TokenKind::Number);
    if !is_index || !is(at + 1, "[") || !is(at + 3, "]") || !is(at + 4, "=") || !is(at + 6, ";") {
        return None;
    }
    let value = tokens.get(at + 5)?;
    let c = match value.kind {
        TokenKind::Text if value.raw.starts_with('\'') => {
            value.text()?.chars().next().filter(|c| *c != '\0')
        }
        TokenKind::Number if value.raw == "0" => None,
        _ => return None,
    };
    Some((name.into_owned(), c, at + 7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    #[test]
    fn characters_in_a_row_are_one_text() {
        let source = "pw[0] = 'a'; pw[1] = 'b';\npw[2] = 0;\nq[0] = 'x'; r = 1; q[1] = 'y';";
        let all = tokens(source, Style::C);
        let found: Vec<_> =
            find(&all, 1).into_iter().map(|found| (found.name, found.text)).collect();
        let wanted = [("pw", "ab"), ("q", "x"), ("q", "y")];
        let wanted: Vec<_> = wanted.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        assert_eq!(found, wanted);
        assert_eq!(find(&all, 2).len(), 1);
    }
}
