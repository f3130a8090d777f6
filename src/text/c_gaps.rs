//! Valid C and C++ that the grammars do not know, made palatable for them.
//!
//! Owns the gaps: fields of bits without a name, `{}` as the default of a parameter, the order of
//! specifiers, `_Pragma`. Must not know macros.

use std::ops::Range;

use super::c_scope::{Scope, Scopes};

/// Specifiers that a grammar wants behind `explicit`.
const BEFORE_EXPLICIT: [&str; 3] = ["constexpr", "consteval", "inline"];

/// Words with a `:` behind them that is no field of bits.
const LABELS: [&str; 5] = ["public", "private", "protected", "default", "case"];

/// The tokens to leave out that begin with the token `at`.
pub(super) fn find(scopes: &Scopes<'_>, at: usize) -> Option<Range<usize>> {
    let end = match scopes.word(at) {
        Some("_Pragma") => scopes.is(at + 1, "(").then(|| scopes.pair(at + 1) + 1),
        Some(word) if BEFORE_EXPLICIT.contains(&word) => {
            (scopes.word(at + 1) == Some("explicit")).then_some(at + 1)
        }
        Some(_) => unnamed_bits(scopes, at),
        None => unnamed_among(scopes, at).or_else(|| default_list(scopes, at)),
    };
    end.map(|end| at..end)
}

/// The end of `uint32_t : 4;`, which begins with the token `at`.
fn unnamed_bits(scopes: &Scopes<'_>, at: usize) -> Option<usize> {
    if scopes.scope(at) != Scope::Members || !scopes.starts_statement(at) {
        return None;
    }
    let colon = (at..).find(|at| scopes.word(*at).is_none())?;
    let is_label = (at..colon).any(|at| scopes.word(at).is_some_and(|word| LABELS.contains(&word)));
    let is_scope = scopes.is(colon + 1, ":");
    if is_label || is_scope || !scopes.is(colon, ":") {
        return None;
    }
    // One word, or those of one type: `unsigned int`.
    if !(at..colon.saturating_sub(1)).all(|at| is_part_of_type(scopes, at)) {
        return None;
    }
    let end = (colon + 1..scopes.tokens.len()).take(16).find(|at| scopes.is(*at, ";"))?;
    let is_plain = !(colon + 1..end).any(|at| scopes.is_one_of(at, &["{", "}", ",", ":"]));
    (is_plain && end > colon + 1).then_some(end + 1)
}

/// The end of `, : 2` behind another field, or of `: 2,` before one, which begins with the token `at`.
fn unnamed_among(scopes: &Scopes<'_>, at: usize) -> Option<usize> {
    let is_comma = scopes.is(at, ",") && scopes.is(at + 1, ":") && !scopes.is(at + 2, ":");
    let is_first = || scopes.is(at, ":") && is_behind_type(scopes, at);
    if scopes.scope(at) != Scope::Members || !is_comma && !is_first() {
        return None;
    }
    let from = if is_comma { at + 2 } else { at + 1 };
    let marks = [",", ";", ":", "{", "}"];
    let end = (from..scopes.tokens.len()).take(16).find(|at| scopes.is_one_of(*at, &marks))?;
    let ends = scopes.is(end, ",") || is_comma && scopes.is(end, ";");
    (ends && end > from).then_some(if is_comma { end } else { end + 1 })
}

/// Whether all that stands between the start of a statement and the token `at` is one type.
fn is_behind_type(scopes: &Scopes<'_>, at: usize) -> bool {
    let words = (0..at).rev().take_while(|at| scopes.word(*at).is_some()).take(4);
    let Some(start) = words.last().filter(|start| scopes.starts_statement(*start)) else {
        return false;
    };
    let is_label = (start..at).any(|at| scopes.word(at).is_some_and(|word| LABELS.contains(&word)));
    !is_label && (start..at - 1).all(|at| is_part_of_type(scopes, at))
}

fn is_part_of_type(scopes: &Scopes<'_>, at: usize) -> bool {
    matches!(scopes.word(at), Some("unsigned" | "signed" | "const" | "volatile" | "long" | "short"))
}

/// The end of `= {…}`, the default of a parameter, which begins with the token `at`.
fn default_list(scopes: &Scopes<'_>, at: usize) -> Option<usize> {
    if !scopes.is(at, "=")
        || !scopes.is(at + 1, "{")
        || at.checked_sub(1).and_then(|at| scopes.word(at)).is_none()
    {
        return None;
    }
    let end = scopes.pair(at + 1) + 1;
    let ends = scopes.is(end, ")") || scopes.is(end, ",");
    (ends && scopes.opened_before(at, &[";"]) == Some("(")).then_some(end)
}
