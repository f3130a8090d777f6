//! Pins that a loop goes through: `for (int pin = 4; pin < 20; pin++)`.
//!
//! Owns how the numbers of such a loop are read. What is left out in it, by number, is left out here.

use std::collections::BTreeSet;
use std::ops::Range;

use super::pin_flow::PinFlow;
use super::pin_use::PinUse;
use crate::text::c_calls::functions;
use crate::text::c_tokens::{Token, TokenKind, closes};

/// More numbers than any chip has pins.
const MOST: u64 = 64;

/// The parts of names of what leaves the pins of the flash out.
const LEAVES_OUT: [&str; 4] = ["flash", "psram", "spiram", "reserved"];

/// The numbers that variables take which loops count and which are pins.
pub(super) fn find(tokens: &[Token<'_>], flow: &PinFlow<'_>) -> Vec<PinUse> {
    let loops: Vec<usize> = (0..tokens.len())
        .filter(|at| tokens.get(*at).is_some_and(|it| it.is_word("for")))
        .collect();
    if loops.is_empty() {
        return Vec::new();
    }
    let closes = closes(tokens);
    let found = loops.into_iter().filter_map(|at| {
        let (name, numbers) = counted(tokens, at)?;
        flow.variable(&name, at)?;
        let close = closes.get(at + 1).copied().flatten()?;
        let end = closes.get(close + 1).copied().flatten()?;
        let body = tokens.get(close + 1..end)?;
        let left_out = left_out(body, tokens, &closes)?;
        let range = tokens.get(at)?.start..tokens.get(close)?.range().end;
        // The counter's first number is read as a pin already.
        let uses = numbers.skip(1).filter(move |number| !left_out.contains(number));
        Some(uses.map(move |number| PinUse::plain(number.into(), range.clone())))
    });
    found.flatten().collect()
}

/// The variable of a loop at `at`, and the numbers that it takes.
fn counted(tokens: &[Token<'_>], at: usize) -> Option<(String, Range<u64>)> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let equal = (at + 2..at + 6).find(|at| is(*at, "=")).filter(|_| is(at + 1, "("))?;
    let name = tokens.get(equal - 1)?.word()?.into_owned();
    let from = tokens.get(equal + 1)?.number()?;
    let less = equal + 4;
    let is_compared = is(equal + 2, ";") && tokens.get(equal + 3)?.is_word(&name) && is(less, "<");
    let is_last = is(less + 1, "=");
    let bound = less + 1 + usize::from(is_last);
    let to = tokens.get(bound)?.number()? + u64::from(is_last);
    let is_one = is_compared && is(bound + 1, ";") && (1..=MOST).contains(&to.saturating_sub(from));
    let steps = (bound + 2..bound + 5).filter(|at| is(*at, "+")).count();
    (is_one && steps == 2).then_some((name, from..to))
}

/// The numbers that the body of a loop speaks of, and those between them, also in the functions of the
/// source that it calls; `None` where it leaves out what it does not say.
fn left_out(
    body: &[Token<'_>],
    all: &[Token<'_>],
    closes: &[Option<usize>],
) -> Option<BTreeSet<u64>> {
    let is_other = |token: &Token<'_>| {
        let name = token.raw.to_ascii_lowercase();
        token.kind == TokenKind::Word && LEAVES_OUT.iter().any(|part| name.contains(part))
    };
    let called = body.windows(2).filter_map(|pair| match pair {
        [name, open] if open.is("(") && name.kind == TokenKind::Word => Some(name.raw),
        _ => None,
    });
    let called: BTreeSet<&str> = called.collect();
    let mut parts = vec![body];
    for function in functions(all, closes) {
        let name = all.get(function.name).map_or("", |token| token.raw);
        if called.contains(name) {
            parts.push(all.get(function.body.clone()).unwrap_or_default());
        }
    }
    let mut numbers = BTreeSet::new();
    for part in parts {
        if part.iter().any(is_other) {
            return None;
        }
        // `1 << pin` and `return 0` name no pins.
        numbers.extend(part.iter().filter_map(Token::number).filter(|number| *number > 1));
    }
    let ends = numbers.first().copied().zip(numbers.last().copied());
    Some(
        ends.map_or_else(BTreeSet::new, |(first, last)| (first..=last.min(first + MOST)).collect()),
    )
}
