//! Pins that a source sets through the registers of the controller: by name, by the structure over
//! them, or by address.
//!
//! Owns `registers` of `assets/findings/pins.toml`. Must not know what a pin is on a chip.

use std::ops::Range;

use foldhash::HashMap;
use serde::Deserialize;

use super::constants::{ConstantValue, Constants};
use super::pin_use::Direction;
use crate::text::c_tokens::{Token, TokenKind};

/// Tokens of a statement that are read.
const MOST_TOKENS: usize = 60;

/// What the data file says of registers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterTable {
    /// Macros that write, with what each argument is: `r` the register, `v` the bits.
    writes: HashMap<String, String>,
    /// Registers of one bit for each pin, with the first pin.
    bits: HashMap<String, i128>,
    /// The same as fields of the structure `GPIO`.
    fields: HashMap<String, i128>,
    /// Names around the number of the pin that a register belongs to.
    numbered: Vec<(String, String)>,
    /// Fields of that structure with an entry for each pin.
    indexed: HashMap<String, String>,
    /// Registers of one pin that are called otherwise.
    named: Vec<NamedRegister>,
    /// Where the registers lie.
    starts: Vec<FieldStart>,
    /// The place of each register of bits behind the start, with the first pin.
    places: Vec<(u64, i128)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRegister {
    chip: String,
    name: String,
    pin: i128,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldStart {
    chips: Vec<String>,
    start: u64,
}

/// Bits that are written.
pub(super) struct WrittenBits {
    /// The tokens of the value.
    pub(super) value: Range<usize>,
    /// The pin of the lowest bit.
    pub(super) first: i128,
}

/// What of a source writes registers of pins.
pub(super) struct RegisterCode<'a> {
    table: &'a RegisterTable,
    all: &'a [Token<'a>],
    chip: &'a str,
    /// The first pin of registers that the source gives names to.
    own: HashMap<String, i128>,
}

impl<'a> RegisterCode<'a> {
    pub(super) fn new(table: &'a RegisterTable, all: &'a [Token<'a>], chip: &'a str) -> Self {
        let mut code = Self { table, all, chip, own: HashMap::default() };
        let mut own = HashMap::default();
        for (at, token) in all.iter().enumerate() {
            if token.in_directive && token.is_word("define") {
                let rest = all.get(at + 2..).unwrap_or_default().iter().enumerate();
                let mut body = rest.take_while(|(_, token)| token.kind != TokenKind::DirectiveEnd);
                let first = body.find_map(|(offset, _)| code.bits_of(at + 2 + offset));
                if let (Some(first), Some(name)) = (first, all.get(at + 1).and_then(Token::word)) {
                    own.insert(name.into_owned(), first);
                }
            }
        }
        code.own = own;
        code
    }

    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    /// The first pin of the register that the token at `at` names, or whose address it is.
    fn bits_of(&self, at: usize) -> Option<i128> {
        let token = self.all.get(at)?;
        if let Some(word) = token.word() {
            let first = self.table.bits.get(&*word).or_else(|| self.own.get(&*word));
            return first.copied();
        }
        let digits = token.raw.strip_prefix("0x").or_else(|| token.raw.strip_prefix("0X"));
        let digits =
            digits.filter(|digits| digits.len() >= 8)?.trim_end_matches(['u', 'U', 'l', 'L']);
        let address = u64::from_str_radix(digits, 16).ok()?;
        let mut starts = self.table.starts.iter();
        let of = starts.find(|of| of.chips.iter().any(|chip| chip == self.chip))?;
        let place = address.checked_sub(of.start)?;
        let mut places = self.table.places.iter();
        places.find(|(known, _)| *known == place).map(|(_, first)| *first)
    }

    /// The pin of a register that belongs to one pin alone.
    fn pin_of(&self, word: &str) -> Option<i128> {
        let numbered = self.table.numbered.iter().find_map(|(start, end)| {
            let digits = word.strip_prefix(start.as_str())?.strip_suffix(end.as_str())?;
            digits.parse::<i128>().ok()
        });
        numbered.or_else(|| {
            let mut named = self.table.named.iter();
            named.find(|of| of.chip == self.chip && of.name == word).map(|of| of.pin)
        })
    }

    /// Whether a word begins what may write a register.
    pub(super) fn may_write(&self, word: &str) -> bool {
        word == "GPIO" || self.table.writes.contains_key(word) || self.own.contains_key(word)
    }

    /// Whether the word at `at` is a macro that writes a register.
    pub(super) fn writes(&self, at: usize) -> bool {
        let word = self.all.get(at).and_then(Token::word);
        word.is_some_and(|word| self.table.writes.contains_key(&*word))
    }

    /// The bits that are written at the word at `at`, if it begins such a write.
    pub(super) fn written(&self, at: usize, arguments: &[Range<usize>]) -> Option<WrittenBits> {
        let word = self.all.get(at)?.word()?;
        if self.is(at + 1, "(")
            && let Some(form) = self.table.writes.get(&*word)
        {
            let register = arguments.get(form.find('r')?)?;
            let first = register.clone().find_map(|at| self.bits_of(at))?;
            let value = arguments.get(form.find('v')?)?.clone();
            return Some(WrittenBits { value, first });
        }
        let first = match &*word {
            "GPIO" if self.is(at + 1, ".") => {
                let field = self.all.get(at + 2)?.word()?;
                *self.table.fields.get(&*field)?
            }
            _ => *self.own.get(&*word).map(|first| self.table.bits.get(&*word).unwrap_or(first))?,
        };
        let value = self.assigned(at + 1)?;
        Some(WrittenBits { value, first })
    }

    /// The bits that are written through a pointer made of the address at `at`.
    pub(super) fn pointed(&self, at: usize) -> Option<WrittenBits> {
        let token = self.all.get(at).filter(|token| token.kind == TokenKind::Number)?;
        let first = self.bits_of(at).filter(|_| !token.in_directive)?;
        let is_pointed = (at.saturating_sub(8)..at).any(|at| self.is(at, "*"));
        let value = self.assigned(at + 1).filter(|_| is_pointed)?;
        Some(WrittenBits { value, first })
    }

    /// A pin whose own register is written by the call at `at`.
    pub(super) fn configured(
        &self,
        at: usize,
        arguments: &[Range<usize>],
    ) -> Option<ConstantValue> {
        // Without arguments it is not a call.
        arguments.first()?;
        let word = self.all.get(at)?.word()?;
        let form = self.table.writes.get(&*word)?;
        let mut register = arguments.get(form.find('r')?)?.clone();
        let number = register.find_map(|at| self.pin_of(&self.all.get(at)?.word()?))?;
        Some(ConstantValue { number, defined: None })
    }

    /// The number in `GPIO.pin[6].x = 1` at `at`, and whether that makes the pin an output.
    pub(super) fn indexed(&self, at: usize) -> Option<(Range<usize>, Direction)> {
        if !self.all.get(at)?.is_word("GPIO") || !self.is(at + 1, ".") || !self.is(at + 3, "[") {
            return None;
        }
        let kind = self.table.indexed.get(&*self.all.get(at + 2)?.word()?)?;
        let close = (at + 4..at + 16).find(|at| self.is(*at, "]"))?;
        self.assigned(close + 1)?;
        let direction = if kind == "o" { Direction::Output } else { Direction::Unknown };
        Some((at + 4..close, direction))
    }

    /// The value behind `=`, `|=` or `^=` in the statement of `at`.
    fn assigned(&self, at: usize) -> Option<Range<usize>> {
        let ends = |at: usize| self.is(at, ";") || self.is(at, "{") || self.is(at, "}");
        let until = (at..at + MOST_TOKENS).find(|at| ends(*at) || *at >= self.all.len())?;
        let equal = (at..until.min(at + 8)).find(|at| self.is(*at, "="))?;
        let is_compared = self.is(equal + 1, "=")
            || ["=", "!", "<", ">", "&"].iter().any(|mark| self.is(equal - 1, mark));
        (!is_compared && equal + 1 < until).then_some(equal + 1..until)
    }
}

impl WrittenBits {
    /// The parts of the value between `|` that are constant, each with its pins.
    pub(super) fn pins(
        &self,
        all: &[Token<'_>],
        constants: &Constants<'_>,
    ) -> Vec<(ConstantValue, Range<usize>)> {
        let mut found = Vec::new();
        for part in self.parts(all) {
            let Some(value) = constants.value(part.clone()).filter(|value| value.number > 0) else {
                continue;
            };
            let pins = (0..32_i128).filter(|bit| value.number >> bit & 1 == 1);
            // Nearly all bits are no choice of pins.
            if value.number.count_ones() <= 12 {
                found.extend(pins.map(|bit| {
                    let number = self.first + bit;
                    (ConstantValue { number, defined: value.defined }, part.clone())
                }));
            }
        }
        found
    }

    /// The tokens between `|` outside of parentheses.
    fn parts(&self, all: &[Token<'_>]) -> Vec<Range<usize>> {
        let (mut depth, mut start, mut parts) = (0_usize, self.value.start, Vec::new());
        for at in self.value.clone() {
            let Some(token) = all.get(at).filter(|token| token.kind == TokenKind::Mark) else {
                continue;
            };
            match token.raw {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "|" if depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(start..self.value.end);
        parts
    }
}
