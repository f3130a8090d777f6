//! The names of what changes a chip for good, with their patterns, and a place where one is.
//!
//! Owns `assets/findings/irreversible.toml`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::source::SourceText;
use crate::model::{Finding, FindingLevel};
use crate::text::shipped::shipped_table;

/// What the data file says of code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeTable {
    pub(super) prefixes: Vec<String>,
    pub(super) verbs: Vec<String>,
    pub(super) reads: Vec<String>,
    pub(super) exact: Vec<Exact>,
    /// Beginnings of names that code has no reason to assemble from parts.
    pub(super) assembled: Vec<Exact>,
    pub(super) read_macros: Vec<String>,
    pub(super) registers: Vec<String>,
    pub(super) addresses: Vec<Address>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exact {
    pub(super) name: String,
    pub(super) what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Address {
    pub(super) chip: String,
    pub(super) start: u64,
}

/// What the data file holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IrreversibleTable {
    pub(super) advice: String,
    pub(super) option: Vec<OptionRow>,
    pub(super) code: CodeTable,
    pub(super) tool: ToolTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionRow {
    pub(super) names: Vec<String>,
    pub(super) what: String,
    #[serde(default)]
    pub(super) is_number: bool,
    #[serde(default)]
    pub(super) least: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    pub(super) pattern: String,
    pub(super) call: String,
    pub(super) reads: String,
}

/// The table with its patterns.
pub(super) struct Rules {
    pub(super) table: IrreversibleTable,
    /// Options by name; the place in the table.
    pub(super) options: HashMap<String, usize>,
    pub(super) burns: Regex,
    pub(super) call: Regex,
    pub(super) reads: Regex,
    /// `CONFIG_NAME=value` wherever it stands.
    pub(super) set: Regex,
}

/// Details of all this; `None` only when the table that ships is broken, which a test tells.
pub(super) static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| {
    let text = include_str!("../../../assets/findings/irreversible.toml");
    let table: IrreversibleTable = shipped_table(text)?;
    let mut options = HashMap::new();
    for (at, row) in table.option.iter().enumerate() {
        options.extend(row.names.iter().map(|name| (name.clone(), at)));
    }
    let burns = Regex::new(&table.tool.pattern).ok()?;
    let call = Regex::new(&table.tool.call).ok()?;
    let reads = Regex::new(&table.tool.reads).ok()?;
    let set = Regex::new(
        r#"(?:\b|-D)CONFIG_(?P<name>[A-Z0-9_]+)\\?["']?\s*(?P<sep>=|:|,|\s)\s*\\?["']?(?P<value>[yYnN]\b|0x[0-9a-fA-F]+|-?[0-9]+)"#,
    )
    .ok()?;
    Some(Rules { table, options, burns, call, reads, set })
});

/// Something irreversible and where it stands.
pub(super) struct Irreversible {
    pub(super) range: Range<usize>,
    pub(super) what: String,
    /// Whether it does it by itself; false for what a person should look at.
    pub(super) is_sure: bool,
}

impl Rules {
    /// What an option does with this value; `None` for nothing irreversible.
    pub(super) fn set_by(&self, name: &str, value: &str) -> Option<&str> {
        let row = self.table.option.get(*self.options.get(name)?)?;
        let is_set = match row.is_number {
            true => number(value).is_some_and(|number| number >= row.least && number < 1_000),
            false => value.eq_ignore_ascii_case("y") || value == "1",
        };
        is_set.then_some(row.what.as_str())
    }

    /// What an option does when it is set to `y`.
    pub(super) fn selects(&self, name: &str) -> Option<&str> {
        let row = self.table.option.get(*self.options.get(name)?)?;
        (!row.is_number).then_some(row.what.as_str())
    }
}

impl Irreversible {
    pub(super) fn finding(self, rules: &Rules, source: &SourceText<'_>, phrase: &str) -> Finding {
        let level = if self.is_sure { FindingLevel::Stop } else { FindingLevel::Warning };
        let found = Finding::new(level, self.what)
            .at(source.place(&self.range))
            .advice(rules.table.advice.clone());
        if self.is_sure { found.phrase(phrase) } else { found }
    }
}

pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
