//! Which names of a source carry pins: what reaches, through variables, arrays, fields and
//! parameters, a function or a field that takes one.
//!
//! Works on tokens, by names within functions. Must not know what a pin is on a chip.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::pin_branches::behind_index;
use super::pin_names;
use super::pin_use::Direction;
use crate::text::c_calls::{FunctionTokens, functions, parts};
use crate::text::c_tokens::{Token, closes};

/// Steps from a name to the next one that are followed.
const STEPS: usize = 8;

/// A name of the source.
type SourceName<'a> = Cow<'a, str>;

/// A function of the source.
struct SourceFunction<'a> {
    name: SourceName<'a>,
    parameters: Vec<SourceName<'a>>,
    body: Range<usize>,
}

/// The names that carry pins, each with what is done to the pin.
pub(super) struct PinFlow<'a> {
    tokens: &'a [Token<'a>],
    /// For each bracket the place of what closes it.
    closes: Vec<Option<usize>>,
    functions: Vec<SourceFunction<'a>>,
    /// Fields of each structure, in their order.
    structures: HashMap<SourceName<'a>, Vec<SourceName<'a>>>,
    /// By the function they are in, where they are declared in one.
    variables: HashMap<(Option<usize>, SourceName<'a>), Direction>,
    /// The parameters in `<>` of templates, by the names of these.
    templates: HashMap<SourceName<'a>, Vec<SourceName<'a>>>,
    /// The names of those, and of the functions that take pins.
    names: HashSet<SourceName<'a>>,
    fields: HashMap<SourceName<'a>, Direction>,
    /// By function and place.
    parameters: HashMap<(SourceName<'a>, usize), Direction>,
}

impl<'a> PinFlow<'a> {
    /// `known`: arguments of the framework's functions and values of its fields that are pins.
    pub(super) fn new(tokens: &'a [Token<'a>], known: &[(Range<usize>, Direction)]) -> Self {
        let mut flow = Self {
            tokens,
            closes: closes(tokens),
            functions: Vec::new(),
            structures: HashMap::default(),
            templates: HashMap::default(),
            variables: HashMap::default(),
            names: HashSet::default(),
            fields: HashMap::default(),
            parameters: HashMap::default(),
        };
        flow.read_functions();
        flow.read_structures();
        flow.read_templates();
        for (range, direction) in known {
            flow.mark(range.clone(), *direction);
        }
        for _ in 0..STEPS {
            if !flow.step() {
                break;
            }
        }
        flow
    }

    fn is(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    fn word(&self, at: usize) -> Option<SourceName<'a>> {
        self.tokens.get(at)?.word()
    }

    fn is_word(&self, at: usize, name: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_word(name))
    }

    /// The place of what closes the bracket at `open`.
    fn close(&self, open: usize) -> Option<usize> {
        self.closes.get(open).copied().flatten()
    }

    /// The parts between commas within the bracket at `open`.
    pub(super) fn parts(&self, open: usize) -> Vec<Range<usize>> {
        parts(self.tokens, &self.closes, open)
    }

    fn read_functions(&mut self) {
        for FunctionTokens { name: at, body } in functions(self.tokens, &self.closes) {
            let Some(name) = self.word(at) else { continue };
            let mut parameters = Vec::new();
            for (place, part) in self.parts(at + 1).into_iter().enumerate() {
                let named = part.clone().rev().find_map(|at| self.word(at)).unwrap_or_default();
                if part.clone().any(|at| self.is_word(at, "gpio_num_t")) {
                    self.parameters.insert((name.clone(), place), Direction::Unknown);
                }
                parameters.push(named);
            }
            self.functions.push(SourceFunction { name, parameters, body });
        }
    }

    /// `struct led { gpio_num_t pin; int level; }`, by its tag and the name behind it.
    fn read_structures(&mut self) {
        for at in 0..self.tokens.len() {
            if !self.is_word(at, "struct") {
                continue;
            }
            let tag = self.word(at + 1);
            let open = if tag.is_some() { at + 2 } else { at + 1 };
            let Some(close) = self.close(open).filter(|_| self.is(open, "{")) else { continue };
            let mut fields = Vec::new();
            let mut start = open + 1;
            for end in open + 1..close {
                if self.is(end, ";") {
                    let is_pin = (start..end).any(|at| self.is_word(at, "gpio_num_t"));
                    let name = (start..end).find(|at| {
                        self.word(*at).is_some()
                            && [";", ",", "[", ":", "="].iter().any(|mark| self.is(*at + 1, mark))
                    });
                    let name = name.and_then(|at| self.word(at)).unwrap_or_default();
                    if is_pin || pin_names::is_pin(&name) {
                        self.fields.entry(name.clone()).or_insert(Direction::Unknown);
                    }
                    fields.push(name);
                    start = end + 1;
                }
            }
            for name in [tag, self.word(close + 1)].into_iter().flatten() {
                self.structures.insert(name, fields.clone());
            }
        }
    }

    /// `template <uint8_t Pin, bool Low = true> class Relay`, and functions.
    fn read_templates(&mut self) {
        for at in 0..self.tokens.len() {
            if !self.is_word(at, "template") {
                continue;
            }
            let Some(end) = self.end_of_list(at + 1) else { continue };
            let mut names = Vec::new();
            for part in self.list(at + 1, end) {
                let value = part.clone().find(|at| self.is(*at, "=")).unwrap_or(part.end);
                let name = value.checked_sub(1).and_then(|at| self.word(at)).unwrap_or_default();
                if part.clone().any(|at| self.is_word(at, "gpio_num_t")) {
                    self.names.insert(name.clone());
                    put(&mut self.variables, (None, name.clone()), Direction::Unknown);
                }
                names.push(name);
            }
            let is_type = self.is_word(end + 1, "class") || self.is_word(end + 1, "struct");
            let named = match is_type {
                true => Some(end + 2),
                false => (end + 1..end + 12).find(|at| self.is(*at + 1, "(")),
            };
            if let Some(name) = named.and_then(|at| self.word(at)) {
                self.templates.insert(name, names);
            }
        }
    }

    /// The place of the `>` of a list that opens at `open`.
    fn end_of_list(&self, open: usize) -> Option<usize> {
        let is_end = |at: &usize| [">", ";", "{"].iter().any(|mark| self.is(*at, mark));
        if !self.is(open, "<") {
            return None;
        }
        let end = (open + 1..open + 40).find(is_end)?;
        self.is(end, ">").then_some(end)
    }

    /// The parts between commas of such a list.
    fn list(&self, open: usize, end: usize) -> Vec<Range<usize>> {
        let commas = (open + 1..end).filter(|at| self.is(*at, ","));
        let starts = std::iter::once(open).chain(commas.clone());
        starts.zip(commas.chain([end])).map(|(start, end)| start + 1..end).collect()
    }

    /// The arguments in `<>` behind the name at `at` that are pins: of a template of the source, or
    /// one that is known by its signature.
    pub(super) fn template_arguments(
        &self,
        at: usize,
        name: &str,
        signature: &str,
    ) -> Vec<(Range<usize>, Direction)> {
        let names = self.templates.get(name);
        if !self.is(at + 1, "<") || names.is_none() && signature.is_empty() {
            return Vec::new();
        }
        let Some(end) = self.end_of_list(at + 1) else { return Vec::new() };
        let parts = self.list(at + 1, end).into_iter().enumerate();
        let pins = parts.filter_map(|(place, part)| {
            if signature.chars().nth(place) == Some('o') {
                return Some((part, Direction::Output));
            }
            let name = names?.get(place)?;
            Some((part, *self.variables.get(&(None, name.clone()))?))
        });
        pins.collect()
    }

    fn function_at(&self, at: usize) -> Option<usize> {
        // Bodies begin in the order of the source, and hardly lie in one another.
        let after = self.functions.partition_point(|function| function.body.start <= at);
        let mut near = after.saturating_sub(8)..after;
        near.find(|of| self.functions.get(*of).is_some_and(|of| of.body.contains(&at)))
    }

    /// The function that declares a variable which is used at `at`.
    fn scope(&self, name: &str, at: usize) -> Option<usize> {
        let of = self.function_at(at)?;
        let body = self.functions.get(of)?.body.clone();
        let is_declared = body.clone().skip(1).any(|at| {
            self.is_word(at, name)
                && at.checked_sub(1).is_some_and(|before| {
                    self.word(before).is_some_and(|word| word != "return")
                        || (self.is(before, "*") || self.is(before, "&"))
                            && before.checked_sub(1).is_some_and(|at| self.word(at).is_some())
                })
        });
        is_declared.then_some(of)
    }

    /// What an expression takes its value from: a name, and whether that is a field.
    fn root(&self, range: Range<usize>) -> Option<(usize, bool)> {
        let mut range = range;
        loop {
            if self.is(range.start, "(") && self.close(range.start) == range.end.checked_sub(1) {
                range = range.start + 1..range.end - 1;
            } else if self.is(range.start, "(") {
                // A cast.
                range.start = self.close(range.start)? + 1;
            } else if self.is_word(range.start, "static_cast") {
                let open = range.clone().find(|at| self.is(*at, "("))?;
                range = open..range.end;
            } else if self.is(range.start, "&") || self.is(range.start, "*") {
                range.start += 1;
            } else {
                break;
            }
            if range.is_empty() {
                return None;
            }
        }
        let (mut at, mut last, mut is_field) = (range.start + 1, range.start, false);
        self.word(range.start)?;
        while at < range.end {
            if self.is(at, "[") {
                at = self.close(at)? + 1;
            } else if self.is(at, ".") {
                (last, is_field, at) = (at + 1, true, at + 2);
            } else if self.is(at, "-") && self.is(at + 1, ">") {
                (last, is_field, at) = (at + 2, true, at + 3);
            } else {
                return None;
            }
        }
        Some((last, is_field))
    }

    /// Notes that an expression is used as a pin. Whether that is new.
    fn mark(&mut self, range: Range<usize>, direction: Direction) -> bool {
        let Some((at, is_field)) = self.root(range) else { return false };
        let Some(name) = self.word(at) else { return false };
        if is_field {
            return put(&mut self.fields, name, direction);
        }
        let of = self.function_at(at).and_then(|of| self.functions.get(of));
        let place = of.and_then(|of| of.parameters.iter().position(|known| *known == name));
        if let (Some(of), Some(place)) = (of, place) {
            let key = (of.name.clone(), place);
            self.names.insert(key.0.clone());
            return put(&mut self.parameters, key, direction);
        }
        let scope = self.scope(&name, at);
        self.names.insert(name.clone());
        put(&mut self.variables, (scope, name), direction)
    }

    /// Follows each name that carries pins one step further. Whether there was anything new.
    fn step(&mut self) -> bool {
        let mut wanted: Vec<(Range<usize>, Direction)> = Vec::new();
        for at in 0..self.tokens.len() {
            let Some(name) = self.word(at).filter(|name| self.names.contains(name)) else {
                continue;
            };
            wanted.extend(self.arguments(at, &name));
            let Some(direction) = self.variable(&name, at) else { continue };
            let is_value = self.is(at + 1, "=") && !self.is(at + 2, "=");
            let is_each = self.is(at + 1, ":") && !self.is(at + 2, ":");
            if is_value || is_each {
                wanted.push((at + 2..self.end(at + 2), direction));
            }
            // `pin_(pin)` in the initialisers of a constructor.
            if self.is(at + 1, "(")
                && let Some(close) = self.close(at + 1)
            {
                wanted.push((at + 2..close, direction));
            }
        }
        let mut is_new = false;
        for (range, direction) in wanted {
            is_new |= self.mark(range, direction);
        }
        is_new
    }

    fn end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() && ![";", ",", ")", "}"].iter().any(|mark| self.is(at, mark)) {
            at = match ["(", "[", "{"].iter().any(|mark| self.is(at, mark)) {
                true => self.close(at).map_or(at + 1, |close| close + 1),
                false => at + 1,
            };
        }
        at
    }

    /// What is done to the pins that a variable holds; `None` when it holds none.
    pub(super) fn variable(&self, name: &str, at: usize) -> Option<Direction> {
        let find = |scope| self.variables.get(&(scope, Cow::Owned(name.to_owned()))).copied();
        if !self.names.contains(name) {
            return None;
        }
        match self.function_at(at) {
            Some(of) => find(Some(of)).or_else(|| find(self.scope(name, at))),
            None => find(None),
        }
    }

    /// What is done to the pin in a field; `None` when it holds none.
    pub(super) fn field(&self, name: &str) -> Option<Direction> {
        self.fields.get(name).copied()
    }

    /// The arguments of a call at `at` that are pins: of a function of the source, or of its
    /// constructor in `Led led(6)`.
    pub(super) fn arguments(&self, at: usize, name: &str) -> Vec<(Range<usize>, Direction)> {
        if !self.names.contains(name) {
            return Vec::new();
        }
        let open = match self.is(at + 1, "(") || self.is(at + 1, "{") {
            true => at + 1,
            false => at + 2,
        };
        let is_call = self.is(open, "(") || self.is(open, "{") && open == at + 2;
        let body = self.close(open).map_or(0, |close| close + 1);
        let is_definition =
            self.functions.binary_search_by_key(&body, |function| function.body.start).is_ok();
        if !is_call || is_definition {
            return Vec::new();
        }
        let parts = self.parts(open).into_iter().enumerate();
        let pins = parts.filter_map(|(place, part)| {
            Some((part, *self.parameters.get(&(Cow::Owned(name.to_owned()), place))?))
        });
        pins.collect()
    }

    /// The values that the initialiser of the variable at `at` gives to pins, by what is done to
    /// them: of an array of pins, or of the fields of structures.
    pub(super) fn initial(&self, at: usize, name: &str) -> Vec<(Range<usize>, Direction)> {
        let mut open = at + 1;
        while self.is(open, "[") {
            let Some(close) = self.close(open) else { return Vec::new() };
            open = close + 1;
        }
        // `int pins[] = {…}`, and `for (int pin : {…})`.
        if self.is(open, "=") || self.is(open, ":") && self.is(open + 1, "{") {
            open += 1;
        }
        if !self.is(open, "{") {
            return Vec::new();
        }
        if let Some(direction) = self.variable(name, at) {
            let parts = self.parts(open).into_iter();
            let inner = parts.flat_map(|part| match self.is(part.start, "{") {
                true => self.parts(part.start),
                false => vec![part],
            });
            return inner.map(|part| (behind_index(self.tokens, part), direction)).collect();
        }
        let Some(fields) = self.structure_before(at) else { return Vec::new() };
        let parts = self.parts(open).into_iter();
        let parts: Vec<_> = parts.map(|part| behind_index(self.tokens, part)).collect();
        let groups: Vec<Vec<Range<usize>>> = match parts.first() {
            Some(first) if self.is(first.start, "{") => {
                parts.iter().map(|part| self.parts(part.start)).collect()
            }
            _ => vec![parts],
        };
        let mut found = Vec::new();
        for group in groups {
            for (part, field) in group.into_iter().zip(fields) {
                let is_named = self.is(part.start, ".") || self.is(part.start, "[");
                if let Some(direction) = self.field(field).filter(|_| !is_named) {
                    found.push((part, direction));
                }
            }
        }
        found
    }

    /// The fields of the structure that the variable at `at` is declared with.
    fn structure_before(&self, at: usize) -> Option<&Vec<SourceName<'a>>> {
        let before = at.checked_sub(1)?;
        if let Some(kind) = self.word(before) {
            return self.structures.get(&kind);
        }
        // `struct { … } leds[]`, whose name stands for it.
        self.is(before, "}").then(|| self.structures.get(&self.word(at)?)).flatten()
    }
}

/// Notes what is done to a pin; driving it is the most. Whether that is new.
fn put<K: std::hash::Hash + Eq>(
    map: &mut HashMap<K, Direction>,
    key: K,
    direction: Direction,
) -> bool {
    match map.get(&key) {
        None => map.insert(key, direction).is_none(),
        Some(known) if *known != Direction::Output && direction == Direction::Output => {
            map.insert(key, direction);
            true
        }
        Some(_) => false,
    }
}
