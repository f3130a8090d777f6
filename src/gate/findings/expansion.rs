//! What macros of a source expand to: names that are put together with `##`.
//!
//! Owns the steps of the preprocessor, within a bound. Must not know what a name means.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use crate::text::c_tokens::{Token, TokenKind};

/// Steps that are taken for one file.
const STEPS: usize = 20_000;

/// Macros within macros that are followed.
const DEPTH: u8 = 16;

/// Tokens of a macro's definition, and of its arguments, that are read.
const MOST_TOKENS: usize = 400;

/// A name that a macro puts together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assembled {
    pub(super) name: String,
    /// The bytes of the macro's use.
    pub(super) range: Range<usize>,
    /// Whether a part ends within a word: `esp_efu##se_write`.
    pub(super) splits_words: bool,
}

/// A token on its way through the macros.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MacroPiece {
    text: String,
    is_name: bool,
    /// Macros that it has come through.
    depth: u8,
    is_pasted: bool,
    splits_words: bool,
}

/// A macro; without parameters it takes no parenthesis.
struct Definition {
    parameters: Option<Vec<String>>,
    takes_more: bool,
    body: Vec<MacroPiece>,
}

/// The names that the macros of a source put together, where they are used; for a macro that is not
/// used, where it is defined.
pub(super) fn assembled(all: &[Token<'_>]) -> Vec<Assembled> {
    let joins = |two: &[Token<'_>]| matches!(two, [a, b] if a.is("#") && b.is("#"));
    if !all.windows(2).any(joins) {
        return Vec::new();
    }
    let macros = Macros::of(all);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = all.get(at) {
        let name = token.word().filter(|_| !token.in_directive);
        if let Some(end) = name.and_then(|name| macros.end_of_use(all, at, &name)) {
            let input = all.get(at..end).unwrap_or_default().iter().map(MacroPiece::of).collect();
            let range = token.start..all.get(end - 1).map_or(token.start, |last| last.range().end);
            found.extend(macros.names(input, &range));
            at = end;
        } else {
            at += 1;
        }
    }
    let used = all.iter().filter(|token| !token.in_directive).filter_map(Token::word);
    let used: HashSet<Cow<'_, str>> = used.collect();
    for (name, range) in &macros.places {
        let is_plain = macros.known.get(name).is_some_and(|known| known.parameters.is_none());
        if is_plain && !used.contains(name.as_str()) {
            let piece = MacroPiece { text: name.clone(), is_name: true, ..MacroPiece::other("") };
            found.extend(macros.names(VecDeque::from([piece]), range));
        }
    }
    found
}

impl MacroPiece {
    fn of(token: &Token<'_>) -> Self {
        match token.word() {
            Some(word) => Self { text: word.into_owned(), is_name: true, ..Self::other("") },
            None => Self::other(token.raw),
        }
    }

    fn other(text: &str) -> Self {
        let text = text.to_owned();
        Self { text, is_name: false, depth: 0, is_pasted: false, splits_words: false }
    }

    fn is(&self, mark: &str) -> bool {
        !self.is_name && self.text == mark
    }

    /// Joins what follows to it.
    fn paste(&mut self, next: &Self) {
        let ends_word = self.text.ends_with('_') || next.text.starts_with('_');
        let is_inside = !self.text.is_empty()
            && next.text.starts_with(|c: char| c.is_ascii_lowercase())
            && self.text.ends_with(|c: char| c.is_ascii_lowercase());
        self.splits_words |= next.splits_words || is_inside && !ends_word;
        self.is_pasted = true;
        self.is_name |= next.is_name && self.text.is_empty();
        self.text.push_str(&next.text);
    }
}

struct Macros {
    known: HashMap<String, Definition>,
    places: Vec<(String, Range<usize>)>,
    steps: Cell<usize>,
}

impl Macros {
    fn of(all: &[Token<'_>]) -> Self {
        let mut found = Self { known: HashMap::new(), places: Vec::new(), steps: Cell::new(STEPS) };
        for (at, token) in all.iter().enumerate() {
            if token.in_directive && token.is_word("define") {
                found.define(all.get(at + 1..).unwrap_or_default());
            }
        }
        found
    }

    fn define(&mut self, rest: &[Token<'_>]) {
        let end = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
        let line = rest.get(..end.unwrap_or(rest.len()).min(MOST_TOKENS)).unwrap_or_default();
        let Some((first, after)) = line.split_first() else { return };
        let Some(name) = first.word() else { return };
        let has_parameters =
            after.first().is_some_and(|open| open.is("(") && open.start == first.range().end);
        let close = match has_parameters {
            true => after.iter().position(|token| token.is(")")),
            false => None,
        };
        let (parameters, body) = match close {
            Some(close) => (after.get(1..close), after.get(close + 1..)),
            None => (None, Some(after)),
        };
        let takes_more = parameters.is_some_and(|all| all.iter().any(|token| token.is(".")));
        let parameters = parameters
            .map(|all| all.iter().filter_map(|t| Some(t.word()?.into_owned())).collect::<Vec<_>>());
        let body = body.unwrap_or_default().iter().map(MacroPiece::of).collect();
        let end = line.last().map_or(first.range().end, |last| last.range().end);
        self.places.push((name.clone().into_owned(), first.start..end));
        self.known.insert(name.into_owned(), Definition { parameters, takes_more, body });
    }

    /// The token behind the use of a macro at `at`; `None` when it is none.
    fn end_of_use(&self, all: &[Token<'_>], at: usize, name: &str) -> Option<usize> {
        let known = self.known.get(name)?;
        let open = all.get(at + 1).is_some_and(|token| token.is("("));
        if !open {
            return known.parameters.is_none().then_some(at + 1);
        }
        let mut depth = 0_usize;
        for (offset, token) in all.get(at + 1..)?.iter().take(MOST_TOKENS).enumerate() {
            match token.raw {
                "(" if token.is("(") => depth += 1,
                ")" if token.is(")") => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at + offset + 2);
            }
        }
        None
    }

    /// The pasted names in what `input` expands to.
    fn names(&self, input: VecDeque<MacroPiece>, range: &Range<usize>) -> Vec<Assembled> {
        let pieces =
            self.expand(input).into_iter().filter(|piece| piece.is_pasted && piece.is_name);
        let assembled = |MacroPiece { text: name, splits_words, .. }: MacroPiece| {
            let range = range.clone();
            Assembled { name, range, splits_words }
        };
        pieces.map(assembled).collect()
    }

    fn expand(&self, mut input: VecDeque<MacroPiece>) -> Vec<MacroPiece> {
        let mut out = Vec::new();
        while let Some(piece) = input.pop_front() {
            let known = self.known.get(&piece.text);
            let known = known.filter(|_| piece.is_name && piece.depth < DEPTH);
            let Some(left) = self.steps.get().checked_sub(1) else { return out };
            self.steps.set(left);
            let Some(known) = known else {
                out.push(piece);
                continue;
            };
            let arguments = match &known.parameters {
                None => Vec::new(),
                Some(_) => match arguments(&mut input) {
                    Some(arguments) => arguments,
                    None => {
                        out.push(piece);
                        continue;
                    }
                },
            };
            let replaced = self.substitute(known, &arguments, piece.depth + 1);
            if replaced.len() > MOST_TOKENS || input.len() > 4 * MOST_TOKENS {
                return out;
            }
            for piece in replaced.into_iter().rev() {
                input.push_front(piece);
            }
        }
        out
    }

    /// The body of a macro with its arguments in place of its parameters, and joined.
    fn substitute(
        &self,
        known: &Definition,
        arguments: &[Vec<MacroPiece>],
        depth: u8,
    ) -> Vec<MacroPiece> {
        let mut out: Vec<MacroPiece> = Vec::new();
        let (mut at, mut pastes) = (0, false);
        let joins = |at: usize| {
            let is = |at: usize| known.body.get(at).is_some_and(|piece| piece.is("#"));
            is(at) && is(at + 1)
        };
        while let Some(piece) = known.body.get(at) {
            if joins(at) {
                (pastes, at) = (true, at + 2);
                continue;
            }
            let of = known.argument(&piece.text, arguments).filter(|_| piece.is_name);
            let is_joined = pastes || joins(at + 1);
            let mut inserted = match of {
                Some(argument) if is_joined => argument,
                Some(argument) => self.expand(argument.into()),
                None => vec![piece.clone()],
            };
            for piece in &mut inserted {
                piece.depth = piece.depth.max(depth);
            }
            if std::mem::take(&mut pastes)
                && let Some(last) = out.last_mut()
            {
                // An empty argument is joined as nothing.
                let first =
                    if inserted.is_empty() { MacroPiece::other("") } else { inserted.remove(0) };
                last.paste(&first);
            } else if inserted.is_empty() && joins(at + 1) {
                out.push(MacroPiece { depth, ..MacroPiece::other("") });
            }
            out.extend(inserted);
            at += 1;
        }
        out
    }
}

impl Definition {
    /// What a name stands for among the arguments; `None` when it is no parameter.
    fn argument(&self, name: &str, arguments: &[Vec<MacroPiece>]) -> Option<Vec<MacroPiece>> {
        let parameters = self.parameters.as_ref()?;
        if let Some(place) = parameters.iter().position(|known| known == name) {
            return Some(arguments.get(place).cloned().unwrap_or_default());
        }
        let rest = arguments.get(parameters.len()..).unwrap_or_default();
        (self.takes_more && name == "__VA_ARGS__").then(|| rest.join(&MacroPiece::other(",")))
    }
}

/// Takes the arguments of a call from the front; `None`, and nothing is taken, when there are none.
fn arguments(input: &mut VecDeque<MacroPiece>) -> Option<Vec<Vec<MacroPiece>>> {
    if !input.front()?.is("(") {
        return None;
    }
    let (mut depth, mut length) = (0_usize, None);
    for (at, piece) in input.iter().enumerate() {
        depth += usize::from(piece.is("("));
        depth -= usize::from(piece.is(")"));
        if depth == 0 {
            length = Some(at + 1);
            break;
        }
    }
    let taken: Vec<MacroPiece> = input.drain(..length?).collect();
    let mut found = vec![Vec::new()];
    for piece in taken.into_iter().skip(1) {
        match depth {
            0 if piece.is(",") => found.push(Vec::new()),
            0 if piece.is(")") => return Some(found),
            _ => {
                depth += usize::from(piece.is("("));
                depth -= usize::from(piece.is(")"));
                found.last_mut()?.push(piece);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    fn found(source: &str) -> Vec<String> {
        let all = tokens(source, Style::C);
        let show = |found: Assembled| format!("{}: {}", &source[found.range], found.name);
        assembled(&all).into_iter().map(show).collect()
    }

    #[test]
    fn names_are_put_together_as_the_preprocessor_does() {
        for (source, wanted) in [
            ("#define J(a, b, c) a##b##c\nJ(e, s, p)(1);", vec!["J(e, s, p): esp"]),
            (
                "#define J_(a, b) a##b\n#define J(a, b) J_(a, b)\n#define M mid\n\
                 #define DO(x) J(J(a_, M), J(_, x))\nDO(end)();",
                vec!["DO(end): a_mid_end"],
            ),
            ("#define F(p) a_##p##_z\n#define USE F(m)\nUSE(3);", vec!["USE(3): a_m_z"]),
            ("#define F(p) a_##p\n#define USE F(m)\n", vec!["USE F(m): a_m"]),
            ("#define G F\n#define F(p) a_##p\nG(x);", vec!["G(x): a_x"]),
            ("#define V(a, ...) a##__VA_ARGS__\nV(b, c);", vec!["V(b, c): bc"]),
            ("#define E(a, b) a##b\nE(, x); E(y, );", vec!["E(, x): x", "E(y, ): y"]),
            ("#define S(a) #a\n#define P(a) x_##a\nS(q);", vec![]),
            ("#define A(x) A(x)A(x)##x\nA(1);", vec![]),
            ("int a = b;", vec![]),
        ] {
            assert_eq!(found(source), wanted, "{source}");
        }
    }

    #[test]
    fn parts_that_end_within_a_word_are_no_ordinary_ones() {
        let splits = |source: &str| {
            assembled(&tokens(source, Style::C)).iter().any(|found| found.splits_words)
        };
        assert!(splits("#define J(a, b) a##b\nJ(esp_res, tart)();"));
        assert!(!splits("#define J(a, b, c) a##b##c\nJ(esp_, wifi, _init)();"));
    }
}
