//! Which variables of a source are structures of pins of the framework.
//!
//! Owns the look for their declarations. The types are those of `assets/findings/pins.toml`.

use foldhash::HashSet;

use crate::text::c_tokens::Token;

/// A field of this name holds a structure of pins, whatever it is part of.
const FIELD: &str = "gpio_cfg";

/// The names that stand for structures of pins: variables, parameters, fields, and the types
/// themselves.
pub(super) struct PinStructures {
    names: HashSet<String>,
}

impl PinStructures {
    /// The names that a source declares with these types.
    pub(super) fn of(all: &[Token<'_>], types: &HashSet<String>) -> Self {
        let mut names = HashSet::default();
        for (at, token) in all.iter().enumerate() {
            if token.is_word(FIELD) {
                names.insert(FIELD.to_owned());
            }
            let Some(kind) = token.word().filter(|word| types.contains(&**word)) else { continue };
            names.insert(kind.into_owned());
            let rest = all.get(at + 1..).unwrap_or_default().iter().take(4);
            let mut rest =
                rest.skip_while(|token| token.is("*") || token.is("&") || token.is_word("const"));
            names.extend(rest.next().and_then(Token::word).map(std::borrow::Cow::into_owned));
        }
        Self { names }
    }

    /// Whether the field at `at` is one of such a structure: in its initialiser, or behind its name.
    pub(super) fn has(&self, all: &[Token<'_>], at: usize) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let is = |at: usize, mark: &str| all.get(at).is_some_and(|token| token.is(mark));
        let is_named = |at: usize| {
            let word = all.get(at).and_then(Token::word);
            word.is_some_and(|word| self.names.contains(&*word))
        };
        let back = |steps: usize| at.checked_sub(steps);
        let behind = match is(at.wrapping_sub(1), ">") {
            true => back(3),
            false => back(2),
        };
        if behind.is_some_and(is_named) {
            return true;
        }
        let mut depth = 0_usize;
        for at in (at.saturating_sub(120)..at).rev() {
            if is(at, "}") {
                depth += 1;
            } else if is(at, ";") {
                return false;
            } else if is(at, "{") && depth > 0 {
                depth -= 1;
            } else if is(at, "{") {
                // `type name = {`, `.gpio_cfg = {`, `(type){`.
                let before = (at.saturating_sub(4)..at).rev();
                let mut before = before.filter(|at| !is(*at, "=") && !is(*at, ")"));
                return before.next().is_some_and(is_named);
            }
        }
        false
    }
}
