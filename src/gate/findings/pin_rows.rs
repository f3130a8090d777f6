//! Pins in the rows of a list of macros: `#define OUTPUTS(X) X(LED, GPIO_NUM_4) X(RELAY, 3)`.
//!
//! Owns which places of a row are pins. Must not know values.

use std::ops::Range;

use foldhash::{HashSet, HashSetExt};

use super::pin_flow::PinFlow;
use crate::text::c_tokens::{Token, TokenKind};

/// Tokens of a list that are read.
const LONGEST: usize = 2_000;

/// The lists of a source.
pub(super) struct PinRows<'a> {
    all: &'a [Token<'a>],
    /// Places that are pins.
    columns: Vec<usize>,
    /// Where macros are called outside of functions.
    outside: HashSet<usize>,
}

impl<'a> PinRows<'a> {
    pub(super) fn of(all: &'a [Token<'a>], flow: &PinFlow<'_>) -> Self {
        Self { all, columns: columns(all, flow), outside: outside(all) }
    }

    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    /// The pins of the row at `at`: by their own names, or by what a macro makes of their place.
    pub(super) fn pins(&self, at: usize, name: &str, flow: &PinFlow<'_>) -> Vec<Range<usize>> {
        if self.outside.contains(&at) {
            let parts = flow.parts(at + 1).into_iter();
            return parts.filter(|part| part.len() == 1 && self.is_pin_name(part.start)).collect();
        }
        let is_inside = self.all.get(at).is_some_and(|token| token.in_directive);
        if !is_inside || !self.is(at + 1, "(") || !self.is_row(at, name) {
            return Vec::new();
        }
        let parts = flow.parts(at + 1).into_iter().enumerate();
        let is_pin = |(place, part): &(usize, Range<usize>)| {
            self.columns.contains(place) || self.is_pin_name(part.start)
        };
        parts.filter(is_pin).map(|(_, part)| part).collect()
    }

    fn is_pin_name(&self, at: usize) -> bool {
        let word = self.all.get(at).and_then(Token::word);
        word.is_some_and(|word| word.starts_with("GPIO_NUM_"))
    }

    /// Whether a name is that of the parameter of the macro that it stands in.
    fn is_row(&self, at: usize, name: &str) -> bool {
        let is_define = |at: &usize| self.all.get(*at).is_some_and(|token| token.is_word("define"));
        let Some(define) = (0..at).rev().take(LONGEST).find(is_define) else { return false };
        let parameters = (define + 3..at).take_while(|at| !self.is(*at, ")"));
        let is_name = |at: usize| self.all.get(at).is_some_and(|token| token.is_word(name));
        self.is(define + 2, "(") && parameters.into_iter().any(is_name)
    }
}

/// Where macros are called outside of functions, as in the rows of a file that others take in:
/// `PIN(LED, GPIO_NUM_4)`. The parameters of a function hold types, never the name of a pin alone.
fn outside(all: &[Token<'_>]) -> HashSet<usize> {
    let mut depth = 0_usize;
    let mut found = HashSet::new();
    let code = all.iter().enumerate().filter(|(_, token)| !token.in_directive);
    for (at, token) in code {
        match token.raw {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "(" if depth == 0 && at > 0 => {
                found.insert(at - 1);
            }
            _ => {}
        }
    }
    found
}

/// The places of pins among the parameters of macros that make something of a row:
/// `#define AS_ENUM(n, p) PIN_##n = p,` and `#define INIT(n, p) gpio_reset_pin(p);`.
fn columns(all: &[Token<'_>], flow: &PinFlow<'_>) -> Vec<usize> {
    let is = |at: usize, mark: &str| all.get(at).is_some_and(|token| token.is(mark));
    let word = |at: usize| all.get(at).and_then(Token::word);
    let mut found = Vec::new();
    for (at, token) in all.iter().enumerate() {
        if !token.in_directive || !token.is_word("define") || !is(at + 2, "(") {
            continue;
        }
        let Some(close) = (at + 3..at + 24).find(|at| is(*at, ")")) else { continue };
        let body = all.get(close..).unwrap_or_default().iter().take(200);
        let length = body.clone().take_while(|token| token.kind != TokenKind::DirectiveEnd).count();
        let parameters = (at + 3..close).filter(|at| word(*at).is_some());
        for (place, parameter) in parameters.enumerate() {
            let Some(name) = word(parameter) else { continue };
            let is_given = (close..close + length).any(|at| {
                let is_of_pin = |at: usize| {
                    word(at).is_some_and(|word| {
                        word.split('_').any(|part| matches!(part, "PIN" | "GPIO"))
                    })
                };
                is(at, "=")
                    && word(at + 1).as_ref() == Some(&name)
                    && (at.saturating_sub(4)..at).any(is_of_pin)
            });
            if is_given || flow.variable(&name, close).is_some() {
                found.push(place);
            }
        }
    }
    found
}
