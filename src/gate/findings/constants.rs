//! The values of a source's constants: `#define`, `const`, `constexpr` and enumerations.
//!
//! Owns the arithmetic over them, also through macros with parameters. What it cannot tell it leaves
//! out.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::HashMap;

use super::macros::Macro;
use crate::text::c_tokens::{Style, Token, TokenKind, tokens};

/// Constants within constants that are followed.
const DEPTH: usize = 8;

/// Names and macros that are looked up for one value.
const STEPS: u32 = 2_000;

/// What a source gives names to.
pub(super) struct Constants<'a> {
    /// The tokens of the value, as places in the list of tokens; several where it is given twice.
    known: HashMap<Cow<'a, str>, Vec<Range<usize>>>,
    /// The values of enumerators.
    numbers: HashMap<Cow<'a, str>, (i128, usize)>,
    /// Macros with parameters; `None` where a name is given to several.
    macros: HashMap<Cow<'a, str>, Option<Macro>>,
    /// Values of names that other files define.
    outer: &'a HashMap<String, i128>,
    /// Look-ups that are left for the value that is asked for.
    steps: Cell<u32>,
    all: &'a [Token<'a>],
}

/// A value and the token that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConstantValue {
    pub(super) number: i128,
    /// The token of its last definition; `None` for a number that stands there itself.
    pub(super) defined: Option<usize>,
}

impl<'a> Constants<'a> {
    /// The constants of a source that knows no other file.
    pub(super) fn new(all: &'a [Token<'a>]) -> Self {
        static NONE: LazyLock<HashMap<String, i128>> = LazyLock::new(HashMap::default);
        Self::with(all, &NONE)
    }

    /// The constants of a source that takes others, with these values, from other files.
    pub(super) fn with(all: &'a [Token<'a>], outer: &'a HashMap<String, i128>) -> Self {
        let mut found = Self {
            known: HashMap::default(),
            numbers: HashMap::default(),
            macros: HashMap::default(),
            outer,
            steps: Cell::new(0),
            all,
        };
        let mut at = 0;
        while let Some(token) = all.get(at) {
            if token.in_directive && token.is_word("define") {
                found.define(at + 1);
            } else if token.is_word("const") || token.is_word("constexpr") {
                found.constant(at + 1);
            } else if token.is_word("enum") {
                found.enumeration(at + 1);
            } else if token.is_word("return") {
                found.function(at);
            }
            at += 1;
        }
        found
    }

    /// Every name that has one value.
    pub(super) fn values(&self) -> impl Iterator<Item = (String, i128)> {
        let names = self.known.keys().chain(self.numbers.keys());
        names.filter_map(|name| {
            self.steps.set(STEPS);
            Some((name.clone().into_owned(), self.named(name, 0)?.number))
        })
    }

    fn word(&self, at: usize) -> Option<Cow<'a, str>> {
        self.all.get(at)?.word()
    }

    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    fn define(&mut self, at: usize) {
        let Some(name) = self.word(at) else { return };
        let rest = self.all.get(at + 1..).unwrap_or_default();
        let length = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
        let end = at + 1 + length.unwrap_or(rest.len());
        if end <= at + 1 || end >= at + 40 {
            return;
        }
        let line = self.all.get(at..end).unwrap_or_default();
        if let Some(found) = Macro::of(line) {
            let known = self.macros.entry(name).or_insert_with(|| Some(found.clone()));
            if known.as_ref() != Some(&found) {
                *known = None;
            }
        } else {
            self.known.entry(name).or_default().push(at + 1..end);
        }
    }

    /// `pin_t NAME(Io io) { return static_cast<pin_t>(io); }`, which stands for its value like a macro.
    fn function(&mut self, at: usize) {
        let back = |count: usize| at.checked_sub(count);
        let is_body = back(1).is_some_and(|at| self.is(at, "{"));
        let rest = self.all.get(at + 1..).unwrap_or_default().iter().take(24);
        let Some(end) = rest.clone().position(|token| token.is(";")).filter(|_| is_body) else {
            return;
        };
        let words = (0..at - 1).rev().take(3);
        let Some(close) = words.into_iter().find(|at| self.is(*at, ")")) else { return };
        let Some(open) = (0..close).rev().take(24).find(|at| self.is(*at, "(")) else { return };
        let name = open.checked_sub(1).and_then(|at| self.word(at));
        let (Some(name), true) = (name, self.is(at + end + 2, "}")) else { return };
        let parts = self.all.get(open + 1..close).unwrap_or_default();
        let body = self.all.get(at + 1..at + 1 + end).unwrap_or_default();
        let found = Macro::of_function(parts, body);
        let known = self.macros.entry(name).or_insert_with(|| found.clone());
        if *known != found {
            *known = None;
        }
    }

    /// `int NAME = …;`, `auto NAME{…};`
    fn constant(&mut self, from: usize) {
        let rest = self.all.get(from..).unwrap_or_default().iter().take(8);
        let stop = rest.clone().position(|token| {
            token.is("=") || token.is("{") || token.is(";") || token.is("(") || token.is(",")
        });
        let Some(at) = stop.map(|stop| from + stop) else { return };
        if !self.is(at, "=") && !self.is(at, "{") {
            return;
        }
        let Some(name) = at.checked_sub(1).and_then(|at| self.word(at)) else { return };
        let rest = self.all.get(at + 1..).unwrap_or_default().iter().take(40);
        let ends = rest.clone().position(|token| token.is(";") || token.is("}"));
        if let Some(end) = ends {
            self.known.entry(name).or_default().push(at + 1..at + 1 + end);
        }
    }

    fn enumeration(&mut self, from: usize) {
        let open = (from..from + 8).find(|at| self.is(*at, "{"));
        let Some(mut at) = open.map(|open| open + 1) else { return };
        let mut next = 0_i128;
        while let Some(name) = self.word(at) {
            let mut value = next;
            let mut end = at + 1;
            while end < at + 24 && !self.is(end, ",") && !self.is(end, "}") {
                end += 1;
            }
            if self.is(at + 1, "=") {
                match self.value(at + 2..end) {
                    Some(found) => value = found.number,
                    None => return,
                }
            }
            self.numbers.insert(name, (value, at));
            next = value.saturating_add(1);
            if !self.is(end, ",") {
                return;
            }
            at = end + 1;
        }
    }

    /// The value of an expression.
    pub(super) fn value(&self, range: Range<usize>) -> Option<ConstantValue> {
        self.steps.set(STEPS);
        self.evaluate(range, 0)
    }

    /// Counts a look-up; `None` when there were too many.
    fn step(&self) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        Some(())
    }

    fn evaluate(&self, range: Range<usize>, depth: usize) -> Option<ConstantValue> {
        if depth > DEPTH || range.is_empty() || range.len() > 64 {
            return None;
        }
        let (all, at, end) = (self.all, range.start, range.end);
        // `config.FAN_PIN`, from another file of Python.
        if range.len() == 3 && self.is(at + 1, ".") {
            let name = all.get(range)?.iter().map(|token| token.raw).collect::<String>();
            return self
                .outer
                .get(&name)
                .map(|number| ConstantValue { number: *number, defined: None });
        }
        Parser { constants: self, all, at, end, depth, defined: None }.whole()
    }

    /// The value of a macro with these arguments.
    fn expanded(&self, found: &Macro, arguments: &[&[Token<'_>]], depth: usize) -> Option<i128> {
        self.step()?;
        let known = |argument: &[Token<'_>]| {
            let end = argument.len();
            let parser =
                Parser { constants: self, all: argument, at: 0, end, depth, defined: None };
            parser.whole().map(|value| value.number)
        };
        let text = found.expand(arguments, known)?;
        let all = tokens(&text, Style::C);
        let end = all.len();
        if depth > DEPTH || end > 64 {
            return None;
        }
        let parser = Parser { constants: self, all: &all, at: 0, end, depth, defined: None };
        parser.whole().map(|value| value.number)
    }

    /// The value of a name; `None` when it is unknown or given several different values.
    fn named(&self, name: &str, depth: usize) -> Option<ConstantValue> {
        if let Some((number, at)) = self.numbers.get(name) {
            return Some(ConstantValue { number: *number, defined: Some(*at) });
        }
        self.step()?;
        let mut found: Option<ConstantValue> = None;
        let Some(ranges) = self.known.get(name) else {
            let number = *self.outer.get(name)?;
            return Some(ConstantValue { number, defined: None });
        };
        for range in ranges {
            let value = self.evaluate(range.clone(), depth + 1)?;
            if found.is_some_and(|known| known.number != value.number) {
                return None;
            }
            let defined = value.defined.or(Some(range.start));
            found = Some(ConstantValue { number: value.number, defined });
        }
        found
    }
}

struct Parser<'a> {
    constants: &'a Constants<'a>,
    /// What the expression is a part of.
    all: &'a [Token<'a>],
    at: usize,
    end: usize,
    depth: usize,
    defined: Option<usize>,
}

impl Parser<'_> {
    /// The value of all of it.
    fn whole(mut self) -> Option<ConstantValue> {
        let number = self.expression(0)?;
        (self.at == self.end).then_some(ConstantValue { number, defined: self.defined })
    }

    fn is(&self, mark: &str) -> bool {
        self.at < self.end && self.is_at(self.at, mark)
    }

    fn is_at(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    fn take(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        self.at += usize::from(is);
        is
    }

    fn expression(&mut self, level: usize) -> Option<i128> {
        let mut left = self.primary()?;
        loop {
            let (strength, operator) = if self.is("|") && !self.is_at(self.at + 1, "|") {
                (1, '|')
            } else if self.is("<") && self.is_at(self.at + 1, "<") {
                (2, '<')
            } else if self.is("+") {
                (3, '+')
            } else if self.is("-") {
                (3, '-')
            } else if self.is("*") {
                (4, '*')
            } else if self.is("/") {
                (4, '/')
            } else {
                return Some(left);
            };
            if strength <= level {
                return Some(left);
            }
            self.at += if operator == '<' { 2 } else { 1 };
            let right = self.expression(strength)?;
            left = match operator {
                '|' => left | right,
                '<' => left.checked_shl(u32::try_from(right).ok().filter(|r| *r < 64)?)?,
                '+' => left.checked_add(right)?,
                '-' => left.checked_sub(right)?,
                '/' => left.checked_div(right)?,
                _ => left.checked_mul(right)?,
            };
        }
    }

    fn primary(&mut self) -> Option<i128> {
        if self.take("-") {
            return self.primary()?.checked_neg();
        }
        if self.at >= self.end {
            return None;
        }
        let token = *self.all.get(self.at)?;
        if token.is("(") {
            return self.in_brackets();
        }
        self.at += 1;
        match token.kind {
            TokenKind::Number => number(token.raw),
            TokenKind::Word => {
                let mut name = token.word()?;
                // `board::relay` is known by its last name.
                while self.is(":") && self.is_at(self.at + 1, ":") && self.at + 2 < self.end {
                    name = self.all.get(self.at + 2)?.word()?;
                    self.at += 3;
                }
                if let Some(pin) = name.strip_prefix("GPIO_NUM_").and_then(|n| n.parse().ok()) {
                    return Some(pin);
                }
                let bit = name.strip_prefix("BIT").and_then(|digits| digits.parse::<u32>().ok());
                if let Some(bit) = bit.filter(|bit| *bit < 64) {
                    return Some(1_i128 << bit);
                }
                let shifts = matches!(&*name, "BIT" | "BIT64" | "_BV" | "BIT_ULL" | "BIT64_MASK");
                let casts = matches!(
                    &*name,
                    "gpio_num_t"
                        | "static_cast"
                        | "to_underlying"
                        | "uint64_t"
                        | "UINT64_C"
                        | "UINT32_C"
                );
                if self.take("<") {
                    while !self.take(">") {
                        self.at += 1;
                        if self.at >= self.end {
                            return None;
                        }
                    }
                }
                if (shifts || casts) && self.take("(") {
                    let value = self.expression(0)?;
                    self.take(")").then_some(())?;
                    let bit = u32::try_from(value).ok().filter(|value| *value < 64);
                    return if shifts { Some(1_i128 << bit?) } else { Some(value) };
                }
                if self.is("(") {
                    return self.call(&name);
                }
                let value = self.constants.named(&name, self.depth)?;
                self.defined = self.defined.or(value.defined);
                Some(value.number)
            }
            TokenKind::Text | TokenKind::Mark | TokenKind::DirectiveEnd => None,
        }
    }

    /// What stands in brackets, or behind a cast.
    fn in_brackets(&mut self) -> Option<i128> {
        self.at += 1;
        // A cast.
        let mut close = self.at;
        while close < self.end && self.all.get(close)?.kind == TokenKind::Word {
            close += 1;
        }
        let is_type = close > self.at && self.is_at(close, ")") && close + 1 < self.end && {
            let next = self.all.get(close + 1)?;
            next.kind == TokenKind::Word || next.kind == TokenKind::Number || next.is("(")
        };
        if is_type {
            self.at = close + 1;
            return self.primary();
        }
        let value = self.expression(0)?;
        self.take(")").then_some(value)
    }

    /// The value of a macro with arguments, from its opening parenthesis on.
    fn call(&mut self, name: &str) -> Option<i128> {
        let found = self.constants.macros.get(name)?.as_ref()?;
        let (mut arguments, mut depth) = (Vec::new(), 0_usize);
        let mut start = self.at + 1;
        while self.at < self.end {
            let token = self.all.get(self.at)?;
            match token.raw {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 || depth == 1 && token.is(",") {
                arguments.push(self.all.get(start..self.at)?);
                start = self.at + 1;
            }
            self.at += 1;
            if depth == 0 {
                return self.constants.expanded(found, &arguments, self.depth + 1);
            }
        }
        None
    }
}

fn number(raw: &str) -> Option<i128> {
    let plain = raw.replace(['\'', '_'], "");
    let plain = plain.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i128::from_str_radix(hex, 16).ok();
    }
    if let Some(binary) = plain.strip_prefix("0b").or_else(|| plain.strip_prefix("0B")) {
        return i128::from_str_radix(binary, 2).ok();
    }
    match plain.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => i128::from_str_radix(octal, 8).ok(),
        None => plain.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    #[test]
    fn constants_are_followed() {
        for (source, wanted) in [
            ("#define A 6\nx = A ;", Some(6)),
            ("#define A (GPIO_NUM_6)\n#define B A\nx = B ;", Some(6)),
            ("const int A = 4 + 2; x = A ;", Some(6)),
            ("static constexpr gpio_num_t A = GPIO_NUM_9; x = A ;", Some(9)),
            ("enum { P = 5, Q, R = 9 }; x = Q ;", Some(6)),
            ("x = (1ULL << 6) | BIT64(9) ;", Some(0x240)),
            ("#define A 6\nx = (gpio_num_t)A ;", Some(6)),
            ("x = static_cast<gpio_num_t>(6) ;", Some(6)),
            ("x = 0x06 ;", Some(6)),
            ("x = 0b110 ;", Some(6)),
            ("x = BIT6 ;", Some(64)),
            ("x = CONFIG_BLINK_GPIO ;", None),
            ("#define A 6\n#define A 7\nx = A ;", None),
            ("#define A A\nx = A ;", None),
            ("#define PIN(n) GPIO_NUM_##n\nx = PIN(6) ;", Some(6)),
            ("#define PIN( n ) (GPIO_NUM_ ## n)\n#define LED PIN(6)\nx = LED ;", Some(6)),
            ("#define A 6\n#define P(n) GPIO_NUM_##n\n#define Q(n) P(n)\nx = Q(A) ;", Some(6)),
            ("#define A 6\n#define P(n) GPIO_NUM_##n\nx = P(A) ;", None),
            ("#define LED_1 6\n#define LED(n) LED_##n\nx = LED(1) ;", Some(6)),
            ("#define SUM(a, b) ((a) + (b))\nx = SUM(2, SUM(1, 3)) ;", Some(6)),
            ("#define P(a, ...) a\nx = P(6, 7) ;", None),
            ("#define P(a) P(a)\nx = P(6) ;", None),
            ("#define P(a) 6\n#define P(a) 7\nx = P(1) ;", None),
            ("#define P (6)\nx = P ;", Some(6)),
            ("namespace b { constexpr int A = 6; }\nx = b::A ;", Some(6)),
            ("x = P(6) ;", None),
            ("#define B(n) B(n)+B(n)+B(n)+B(n)+B(n)\n#define A B(1)+B(1)\nx = A ;", None),
            ("#define A B+B+B+B\n#define B A+A+A+A+A+A\nx = A ;", None),
            ("x = 60 * 12 / 120 ;", Some(6)),
        ] {
            let all = tokens(source, Style::C);
            let constants = Constants::new(&all);
            let start = all.iter().rposition(|token| token.is_word("x")).unwrap() + 2;
            let found = constants.value(start..all.len() - 1).map(|value| value.number);
            assert_eq!(found, wanted, "{source}");
        }
    }
}
