//! Where a source uses a number as a pin.
//!
//! Owns the functions, methods and fields of `assets/findings/pins.toml`, and what names say. Must
//! not know what a pin is on a chip.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use serde::Deserialize;

use super::constants::{ConstantValue, Constants};
use super::pin_branches::{behind_index, choices, for_chip};
use super::pin_flow::PinFlow;
use super::pin_loops;
use super::pin_names::{Signals, direction_named, is_pin, is_pins, is_wire, signal};
use super::pin_objects::PinObjects;
use super::pin_registers::{RegisterCode, RegisterTable, WrittenBits};
use super::pin_rows::PinRows;
use super::pin_structures::PinStructures;
use super::pin_use::{Direction, PinUse};
use crate::text::c_tokens::{Token, TokenKind};
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinUseTable {
    calls: HashMap<String, String>,
    methods: HashMap<String, String>,
    objects: HashMap<String, String>,
    constructors: HashMap<String, String>,
    /// Functions with pins among their arguments in `<>`.
    templates: HashMap<String, String>,
    /// Types whose short fields are pins.
    structures: HashSet<String>,
    fields: Fields,
    registers: RegisterTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    output: HashSet<String>,
    input: HashSet<String>,
    both: HashSet<String>,
    /// Fields that hold several.
    several: HashSet<String>,
}

static TABLE: LazyLock<Option<PinUseTable>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/pins.toml")));

/// Whether a file is read as code.
pub(super) fn is_code(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    matches!(
        end,
        "c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "ino" | "rs" | "inc" | "def"
    )
}

/// Whether a text is a program for MicroPython, which runs on the chip.
pub(super) fn is_micropython(name: &str, text: &str) -> bool {
    name.ends_with(".py")
        && (text.contains("from machine import") || text.contains("import machine"))
}

/// All numbers that the tokens of a source use as pins; `outer` are the values of names that it
/// takes from other files.
pub(super) fn find(all: &[Token<'_>], chip: &str, outer: &HashMap<String, i128>) -> Vec<PinUse> {
    let Some(table) = TABLE.as_ref() else { return Vec::new() };
    let active = &*for_chip(all, chip);
    let constants = Constants::with(active, outer);
    let none = PinFlow::new(&[], &[]);
    let registers = &RegisterCode::new(&table.registers, active, chip);
    let objects = PinObjects::of(active, table.objects.keys());
    let structures = PinStructures::of(active, &table.structures);
    let words = active.iter().filter(|token| token.kind == TokenKind::Word);
    let signals = Signals::of(words.map(|token| token.raw));
    let code = PinCode {
        table,
        all: active,
        constants: &constants,
        registers,
        flow: &none,
        signals,
        objects,
        structures: &structures,
        rows: &PinRows::of(&[], &none),
    };
    let known: Vec<_> = (0..active.len()).flat_map(|at| code.sinks(at)).collect();
    let flow = PinFlow::new(active, &known);
    let code = PinCode { flow: &flow, rows: &PinRows::of(active, &flow), ..code };
    let mut found = Vec::new();
    for at in 0..active.len() {
        code.at(at, &mut found);
    }
    found.extend(pin_loops::find(active, &flow));
    found
}

struct PinCode<'a> {
    table: &'a PinUseTable,
    all: &'a [Token<'a>],
    constants: &'a Constants<'a>,
    registers: &'a RegisterCode<'a>,
    flow: &'a PinFlow<'a>,
    /// What the names of the source say of the lines of buses.
    signals: Signals,
    objects: PinObjects,
    structures: &'a PinStructures,
    rows: &'a PinRows<'a>,
}

impl PinCode<'_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    fn word(&self, at: usize) -> Option<Cow<'_, str>> {
        self.all.get(at)?.word()
    }

    fn at(&self, at: usize, found: &mut Vec<PinUse>) {
        let Some(token) = self.all.get(at) else { return };
        if token.kind == TokenKind::Number {
            self.bits(self.registers.pointed(at), found);
        }
        let Some(name) = token.word() else { return };
        if self.registers.may_write(&name) {
            self.register(at, found);
        }
        if self.is(at + 1, "(") {
            self.call(at, &name, found);
        }
        self.listed(at, &name, found);
        let is_member = at > 0 && (self.is(at - 1, ".") || self.is(at - 1, ">"));
        if is_member && self.is(at + 1, "=") && !self.is(at + 2, "=") {
            self.field(at, &name, found);
        }
        if is_member && self.table.fields.several.contains(&*name) {
            self.several(at, found);
        }
        if self.is(at + 1, "[") && is_pins(&name) && self.flow.variable(&name, at).is_none() {
            self.array(at, found);
        }
        self.carried(at, &name, found);
        // `peripherals.GPIO6` in Rust.
        if is_member && let Some(number) = name.strip_prefix("GPIO").and_then(|n| n.parse().ok()) {
            self.push(
                found,
                ConstantValue { number, defined: None },
                at..at + 1,
                Direction::Unknown,
            );
        }
        self.typed(at, &name, found);
    }

    fn push(
        &self,
        found: &mut Vec<PinUse>,
        value: ConstantValue,
        range: Range<usize>,
        direction: Direction,
    ) {
        if !(0..100).contains(&value.number) {
            return;
        }
        let bytes = |range: Range<usize>| {
            let (first, last) =
                (self.all.get(range.start)?, self.all.get(range.end.checked_sub(1)?)?);
            Some(first.start..last.range().end)
        };
        let mut ranges: Vec<Range<usize>> = bytes(range).into_iter().collect();
        ranges.extend(value.defined.and_then(|at| bytes(at..at + 1)));
        found.push(PinUse { direction, ranges, ..PinUse::plain(value.number, 0..0) });
    }

    /// The arguments of a call, as places of tokens.
    fn arguments(&self, open: usize) -> Vec<Range<usize>> {
        let (mut depth, mut start, mut found) = (0_usize, open + 1, Vec::new());
        for at in open + 1..self.all.len().min(open + 200) {
            let Some(token) = self.all.get(at) else { break };
            match token.raw {
                _ if token.kind != TokenKind::Mark => {}
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" if depth > 0 => depth -= 1,
                ")" => {
                    found.push(start..at);
                    return found;
                }
                "," if depth == 0 => {
                    found.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        Vec::new()
    }

    fn call(&self, at: usize, name: &str, found: &mut Vec<PinUse>) {
        let object = match at.checked_sub(2) {
            Some(before) if self.is(at - 1, ".") => self.word(before),
            _ => None,
        };
        let method = |object: &str| format!("{object}.{name}");
        let signature = match object {
            Some(object) => self.table.methods.get(&method(&object)).or_else(|| {
                let kind = self.objects.kind_of(&object)?;
                self.table.objects.get(&method(kind))
            }),
            // `Servo flap(36);` stands as a name with arguments behind that of its type.
            None => self.table.calls.get(name).or_else(|| {
                let kind = self.word(at.checked_sub(1)?)?;
                self.table.constructors.get(&*kind)
            }),
        };
        let Some(signature) = signature else { return };
        let arguments = self.arguments(at + 1);
        // `Wire.begin(0x08)` takes an address.
        if signature.starts_with('d') && arguments.len() < 2 {
            return;
        }
        let mode = signature.find('m').and_then(|at| arguments.get(at)).map(|range| {
            self.all
                .get(range.clone())
                .unwrap_or_default()
                .iter()
                .map(|t| t.raw)
                .collect::<String>()
        });
        // `PWM(Pin(35))`
        let is_driven = self.is(at.wrapping_sub(1), "(")
            && at.checked_sub(2).and_then(|at| self.word(at)).is_some_and(|word| word == "PWM");
        for (kind, argument) in signature.chars().zip(&arguments) {
            let direction = match kind {
                'o' | 'd' => Direction::Output,
                'i' => Direction::Input,
                'b' if is_driven => Direction::Output,
                'b' => direction_of(mode.as_deref().unwrap_or_default()),
                _ => continue,
            };
            let before = found.len();
            for (value, range) in self.values(argument.clone()) {
                self.push(found, value, range, direction);
            }
            for used in found.iter_mut().skip(before) {
                used.is_open_drain = kind == 'd';
                used.has_pull = mode.as_deref().is_some_and(|mode| mode.contains("PULL"))
                    || name.contains("pullup_en")
                    || name.contains("pulldown_en");
            }
        }
    }

    /// The values that an expression can have, each with its place.
    fn values(&self, range: Range<usize>) -> Vec<(ConstantValue, Range<usize>)> {
        let all = choices(self.all, range).into_iter();
        all.filter_map(|range| Some((self.constants.value(range.clone())?, range))).collect()
    }

    /// Arguments of templates, `addLeds<WS2812B, 6>(leds)`, and of rows in lists of macros,
    /// in a list of its own or in a file of rows.
    fn listed(&self, at: usize, name: &str, found: &mut Vec<PinUse>) {
        let rows = self.rows.pins(at, name, self.flow).into_iter();
        let mut listed: Vec<_> = rows.map(|range| (range, Direction::Unknown)).collect();
        if self.is(at + 1, "<") {
            let signature = self.table.templates.get(name).map_or("", String::as_str);
            listed.extend(self.flow.template_arguments(at, name, signature));
        }
        for (range, way) in listed {
            if let Some(value) = self.constants.value(range.clone()) {
                self.push(found, value, range, way);
            }
        }
    }

    /// `.data_gpio_nums = {4, 5}`, and `bus.data_gpio_nums[0] = 4`.
    fn several(&self, at: usize, found: &mut Vec<PinUse>) {
        let values = match self.is(at + 1, "[") {
            false if self.is(at + 1, "=") && self.is(at + 2, "{") => self.flow.parts(at + 2),
            false => return,
            true => {
                let equal = (at + 2..at + 10).find(|at| self.is(*at, "]")).map(|at| at + 1);
                let equal = equal.filter(|at| self.is(*at, "=") && !self.is(*at + 1, "="));
                equal.map(|at| at + 1..self.end_of_value(at + 1)).into_iter().collect()
            }
        };
        for range in values {
            for (value, range) in self.values(behind_index(self.all, range)) {
                self.push(found, value, range, Direction::Unknown);
            }
        }
    }

    /// Bits of registers, and the registers of single pins.
    fn register(&self, at: usize, found: &mut Vec<PinUse>) {
        let arguments = self.written_arguments(at);
        self.bits(self.registers.written(at, &arguments), found);
        if let Some(value) = self.registers.configured(at, &arguments) {
            self.push(found, value, at..at + 1, Direction::Output);
        }
        if let Some((range, direction)) = self.registers.indexed(at)
            && let Some(value) = self.constants.value(range.clone())
        {
            self.push(found, value, range, direction);
        }
    }

    fn written_arguments(&self, at: usize) -> Vec<Range<usize>> {
        match self.is(at + 1, "(") && self.registers.writes(at) {
            true => self.arguments(at + 1),
            false => Vec::new(),
        }
    }

    fn bits(&self, written: Option<WrittenBits>, found: &mut Vec<PinUse>) {
        let pins = written.map(|written| written.pins(self.all, self.constants));
        for (value, range) in pins.unwrap_or_default() {
            self.push(found, value, range, Direction::Output);
        }
    }

    /// What the code around hands to functions and fields that take pins.
    fn sinks(&self, at: usize) -> Vec<(Range<usize>, Direction)> {
        let Some(name) = self.word(at) else { return Vec::new() };
        let name = &*name;
        let mut found = Vec::new();
        let is_member = at > 0 && (self.is(at - 1, ".") || self.is(at - 1, ">"));
        // `expander.pinMode(6, OUTPUT)` names a pin of the expander.
        if !is_member
            && self.is(at + 1, "(")
            && let Some(signature) = self.table.calls.get(name)
        {
            let arguments = self.arguments(at + 1);
            let mode = signature.find('m').and_then(|at| arguments.get(at)).cloned();
            let mode = mode.and_then(|range| self.all.get(range)).unwrap_or_default();
            let mode: String = mode.iter().map(|token| token.raw).collect();
            for (kind, argument) in signature.chars().zip(&arguments) {
                let direction = match kind {
                    'o' => Direction::Output,
                    'i' => Direction::Input,
                    'b' => direction_of(&mode),
                    _ => continue,
                };
                let all = choices(self.all, argument.clone()).into_iter();
                found.extend(all.map(|argument| (argument, direction)));
            }
        }
        if self.registers.may_write(name)
            && let Some(written) = self.registers.written(at, &self.written_arguments(at))
            && written.first == 0
        {
            found.extend(self.shifts(&written.value, Direction::Output));
        }
        if is_member && self.is(at + 1, "=") && !self.is(at + 2, "=") {
            let value = at + 2..self.end_of_value(at + 2);
            let fields = &self.table.fields;
            if name == "pin_bit_mask" {
                found.extend(self.shifts(&value, self.direction_near(at)));
            } else if name.len() > 4 && fields.output.contains(name) {
                found.push((value, Direction::Output));
            } else if name.len() > 4 && fields.input.contains(name) {
                found.push((value, Direction::Input));
            } else if name.len() > 4 && fields.both.contains(name) {
                found.push((value, self.direction_near(at)));
            }
        }
        found
    }

    /// What is shifted by in `1 << A | 1 << B`.
    fn shifts(&self, value: &Range<usize>, direction: Direction) -> Vec<(Range<usize>, Direction)> {
        let shift = |at: &usize| self.is(*at, "<") && self.is(*at + 1, "<");
        let until = |shift: usize| {
            let end = self.end_of_value(shift + 2).min(value.end);
            (shift + 2..end).find(|at| self.is(*at, "|")).unwrap_or(end)
        };
        let shifts = value.clone().filter(shift);
        shifts.map(|shift| (shift + 2..until(shift), direction)).collect()
    }

    /// Numbers that reach a pin through names: arguments of the source's own functions, arrays,
    /// fields of structures.
    fn carried(&self, at: usize, name: &str, found: &mut Vec<PinUse>) {
        let mut values = self.flow.arguments(at, name);
        values.extend(self.flow.initial(at, name));
        let is_member = at > 0 && self.is(at - 1, ".");
        let is_value = self.is(at + 1, "=") && !self.is(at + 2, "=") && !self.is(at + 2, "{");
        if is_value {
            let direction = match is_member {
                true => self.flow.field(name),
                false => self.flow.variable(name, at),
            };
            values.extend(direction.map(|way| (at + 2..self.end_of_value(at + 2), way)));
        }
        for (range, direction) in values {
            for (value, range) in self.values(range) {
                let before = found.len();
                self.push(found, value, range, direction);
                // The number stands where its name is defined.
                if let Some(used) = found.get_mut(before) {
                    used.ranges.reverse();
                }
            }
        }
    }

    fn field(&self, at: usize, name: &str, found: &mut Vec<PinUse>) {
        let end = self.end_of_value(at + 2);
        let range = at + 2..end;
        if name == "pin_bit_mask" {
            return self.mask(at, range, found);
        }
        let fields = &self.table.fields;
        let direction = if fields.output.contains(name) {
            Direction::Output
        } else if fields.input.contains(name) {
            Direction::Input
        } else if fields.both.contains(name) {
            self.direction_near(at)
        } else {
            return;
        };
        // Short names belong to other structures too.
        let is_short = name.len() <= 4 || matches!(name, "bclk" | "dout");
        let has_pin = self.all.get(range.clone()).unwrap_or_default().iter().any(|token| {
            token.word().is_some_and(|word| {
                let word = word.to_ascii_uppercase();
                ["GPIO", "PIN", "_IO"].iter().any(|part| word.contains(part))
            })
        });
        if is_short && !has_pin && !self.structures.has(self.all, at) {
            return;
        }
        for (value, range) in self.values(range) {
            let before = found.len();
            self.push(found, value, range, direction);
            if let Some(used) = found.get_mut(before) {
                used.is_peripheral_clock = matches!(name, "mclk" | "mck_io_num" | "clock_gpio");
            }
        }
    }

    fn end_of_value(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = from;
        while let Some(token) = self.all.get(at) {
            if token.kind == TokenKind::Mark {
                match token.raw {
                    "(" | "{" | "[" => depth += 1,
                    ")" | "}" | "]" | "," | ";" if depth == 0 => return at,
                    ")" | "}" | "]" => depth -= 1,
                    _ => {}
                }
            }
            at += 1;
        }
        at
    }

    /// The pins of `(1ULL << A) | (1ULL << B)`.
    fn mask(&self, at: usize, range: Range<usize>, found: &mut Vec<PinUse>) {
        let direction = self.direction_near(at);
        let has_pull = self.argument_at(at).contains("pull_up_en=GPIO_PULLUP_ENABLE");
        let Some(value) = self.constants.value(range.clone()) else { return };
        for number in 0..64_i128 {
            if value.number >> number & 1 == 1 {
                let before = found.len();
                let value = ConstantValue { number, defined: value.defined };
                self.push(found, value, range.clone(), direction);
                if let Some(used) = found.get_mut(before) {
                    used.has_pull = has_pull;
                }
            }
        }
    }

    /// What stands around a field in the same initialiser or the next statements.
    fn argument_at(&self, at: usize) -> String {
        let start = (at.saturating_sub(60)..at).rev().find(|at| self.is(*at, "{"));
        let start = start.unwrap_or(at.saturating_sub(40));
        let is_initialiser = self.is(start.wrapping_sub(1), "=");
        let mut out = String::new();
        for at in start + 1..self.all.len().min(at + 60) {
            if self.is(at, "}") && is_initialiser {
                break;
            }
            out.push_str(self.all.get(at).map_or("", |token| token.raw));
        }
        out
    }

    fn direction_near(&self, at: usize) -> Direction {
        if self.is_of("ledc_channel_config_t", at) {
            return Direction::Output;
        }
        let text = self.argument_at(at);
        match text.find("mode=").and_then(|at| text.get(at..at + 40).or(text.get(at..))) {
            Some(mode) => direction_of(mode),
            None => Direction::Unknown,
        }
    }

    /// Whether a field stands in the initialiser of a variable of a type.
    fn is_of(&self, kind: &str, at: usize) -> bool {
        let open = (at.saturating_sub(60)..at).rev().find(|at| self.is(*at, "{"));
        open.is_some_and(|open| {
            let words = open.saturating_sub(6)..open;
            self.is(open.saturating_sub(1), "=")
                && words.rev().any(|at| self.all.get(at).is_some_and(|token| token.is_word(kind)))
        })
    }

    /// `const int ledPins[] = {2, 4}`.
    fn array(&self, at: usize, found: &mut Vec<PinUse>) {
        let Some(open) = (at + 2..at + 8).find(|at| self.is(*at, "{")) else { return };
        if !self.is(open.saturating_sub(1), "=") {
            return;
        }
        let mut start = open + 1;
        for at in open + 1..self.all.len().min(open + 120) {
            let ends = self.is(at, "}");
            if ends || self.is(at, ",") {
                let entry = behind_index(self.all, start..at);
                for (value, range) in self.values(entry) {
                    self.push(found, value, range, Direction::Unknown);
                }
                start = at + 1;
            }
            if ends {
                return;
            }
        }
    }

    /// `#define LED_PIN 6`, `const gpio_num_t LED = GPIO_NUM_6`: pins by their names.
    fn typed(&self, at: usize, name: &str, found: &mut Vec<PinUse>) {
        let Some(before) = at.checked_sub(1) else { return };
        let is_define = self.all.get(before).is_some_and(|t| t.in_directive && t.is_word("define"));
        let range = if is_define {
            let rest = self.all.get(at + 1..).unwrap_or_default();
            let end = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
            at + 1..at + 1 + end.unwrap_or(rest.len())
        } else if self.is(at + 1, "=")
            && self.all.get(before).is_some_and(|token| token.kind == TokenKind::Number)
        {
            // Only in Python a name follows a number: the value of the line before.
            at + 2..at + 3
        } else if self.is(at + 1, "=")
            && self.all.get(before).is_some_and(|t| t.kind == TokenKind::Word)
        {
            at + 2..self.end_of_value(at + 2)
        } else {
            return;
        };
        let is_gpio = self
            .all
            .get(range.clone())
            .unwrap_or_default()
            .iter()
            .any(|token| token.raw.starts_with("GPIO_NUM_"))
            || self.all.get(before).is_some_and(|token| token.is_word("gpio_num_t"));
        // A constant of Python has no word for that.
        let ends_bare = self
            .all
            .get(range.end)
            .is_none_or(|next| ![";", ",", "}", ")"].contains(&next.raw) && !next.in_directive);
        let is_fixed = is_define
            || ends_bare && !name.bytes().any(|byte| byte.is_ascii_lowercase())
            || (at.saturating_sub(5)..at)
                .any(|at| self.all.get(at).is_some_and(|t| t.raw.starts_with("const")));
        let way = signal(name, &self.signals).filter(|_| is_fixed);
        if range.is_empty() || !(is_gpio || is_pin(name) || way.is_some()) {
            return;
        }
        for (value, range) in self.values(range) {
            let before = found.len();
            self.push(found, value, range, way.unwrap_or_else(|| direction_named(name)));
            if let Some(used) = found.get_mut(before) {
                used.is_open_drain = is_wire(name);
            }
        }
    }
}

fn direction_of(mode: &str) -> Direction {
    let upper = mode.to_ascii_uppercase();
    // `Pin.OUT` and `Pin.IN` are those of MicroPython.
    let has = |arduino: &str, python: &str| upper.contains(arduino) || upper.ends_with(python);
    match (has("OUTPUT", "PIN.OUT"), has("INPUT", "PIN.IN")) {
        (true, _) => Direction::Output,
        (false, true) => Direction::Input,
        (false, false) => Direction::Unknown,
    }
}
