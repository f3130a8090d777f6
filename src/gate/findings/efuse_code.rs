//! Code that burns eFuses: calls, registers, addresses, and names that are put together.
//!
//! Must not know configurations or scripts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::expansion::{self, Assembled};
use super::irreversible_rules::{CodeTable, Irreversible, Rules};
use super::source::SourceText;
use crate::text::c_tokens::{Token, TokenKind};

/// Bytes of the controller's registers that matter.
const BLOCK: u64 = 0x200;

/// What the code of a source burns.
pub(super) fn find(
    rules: &Rules,
    source: &SourceText<'_>,
    chip: Option<&str>,
) -> Vec<Irreversible> {
    let lower = source.text.to_ascii_lowercase();
    let hints =
        ["efuse", "secure_boot", "flash_encr", "crypt_cnt", "0x3f", "0x6", "0x5", "##", "%:%:"];
    if !hints.iter().any(|hint| lower.contains(hint))
        && !lower.contains('\\')
        && !lower.contains(',')
    {
        return Vec::new();
    }
    let all = source.tokens();
    let code = EfuseCode { rules: &rules.table.code, all, chip };
    let mut found = code.names();
    let pasted = code.pasted();
    let expanded = expansion::assembled(all).into_iter();
    let expanded = expanded.filter_map(|name| code.assembled(name, &pasted));
    found.extend(expanded.collect::<Vec<_>>());
    found.extend(pasted);
    found.extend(code.addresses());
    found.extend(code.options(rules));
    found
}

/// Names of functions that burn, and addresses of the controller, in the text of another language.
pub(super) fn names_in(rules: &Rules, code: &str, chip: Option<&str>) -> Vec<Irreversible> {
    let mut found = Vec::new();
    if code.contains("mem32") || code.contains("*mut u32") {
        found.extend(bare_addresses(&rules.table.code, code, chip));
    }
    if !code.contains("efuse") && !code.contains("secure_boot") && !code.contains("flash_encr") {
        return found;
    }
    let mut at = 0;
    for word in code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if let Some(what) = burns(&rules.table.code, word) {
            found.push(Irreversible { range: at..at + word.len(), what, is_sure: true });
        }
        at += word.len();
        at += code.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    found
}

/// Addresses of the controller in a text that writes to addresses.
fn bare_addresses(table: &CodeTable, code: &str, chip: Option<&str>) -> Vec<Irreversible> {
    let is_mark = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let mut found = Vec::new();
    let mut at = 0;
    for word in code.split_inclusive(is_mark) {
        let bare = word.trim_end_matches(is_mark);
        let digits = bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X"));
        let value = digits.and_then(|it| u64::from_str_radix(&it.replace('_', ""), 16).ok());
        if value.is_some_and(|value| is_controller(table, chip, value)) {
            let what = "holds an address of the eFuse controller's registers".to_owned();
            found.push(Irreversible { range: at..at + bare.len(), what, is_sure: false });
        }
        at += word.len();
    }
    found
}

/// Whether an address is one of the controller's registers on that chip.
fn is_controller(table: &CodeTable, chip: Option<&str>, value: u64) -> bool {
    table.addresses.iter().any(|address| {
        chip.is_none_or(|chip| chip == address.chip)
            && (address.start..address.start + BLOCK).contains(&value)
    })
}

/// What a function of that name burns; `None` when it burns nothing.
fn burns(table: &CodeTable, name: &str) -> Option<String> {
    if let Some(exact) = table.exact.iter().find(|exact| exact.name == name) {
        return Some(exact.what.clone());
    }
    let starts = |all: &[String]| all.iter().any(|start| name.starts_with(start.as_str()));
    let is_candidate = name.contains("efuse") && starts(&table.prefixes) && !name.ends_with("_t");
    let burns = is_candidate
        && table.verbs.iter().any(|verb| name.contains(verb.as_str()))
        && !starts(&table.reads);
    burns.then(|| format!("burns eFuses with `{name}`"))
}

struct EfuseCode<'a> {
    rules: &'a CodeTable,
    all: &'a [Token<'a>],
    chip: Option<&'a str>,
}

impl EfuseCode<'_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    /// Calls, pointers to functions, other names for them, and registers.
    fn names(&self) -> Vec<Irreversible> {
        let mut found: Vec<Irreversible> = Vec::new();
        let mut reported: HashSet<String> = HashSet::new();
        for (at, token) in self.all.iter().enumerate() {
            let name = match token.kind {
                TokenKind::Word => token.word().unwrap_or_default(),
                // A name that the assembler or the linker gives to another function.
                TokenKind::Text => token.text().unwrap_or_default().into(),
                _ => continue,
            };
            if name.len() < 5
                || !(name.contains("use") || name.contains("USE") || name.contains("esp_"))
            {
                continue;
            }
            let what = match token.kind {
                TokenKind::Text => burns(self.rules, &name).filter(|_| self.is_in_asm(at)),
                _ => burns(self.rules, &name).or_else(|| self.register(at, &name)),
            };
            // A function that is only declared burns nothing; what calls it will be found.
            if let Some(what) = what
                && reported.insert(what.clone())
            {
                found.push(Irreversible { range: token.range(), what, is_sure: true });
            }
        }
        found
    }

    fn is_in_asm(&self, at: usize) -> bool {
        let open = at.checked_sub(1).filter(|at| self.is(*at, "("));
        let word = open.and_then(|at| self.all.get(at.checked_sub(1)?));
        word.is_some_and(|word| {
            ["asm", "__asm__", "__asm", "alias", "__alias__", "weakref"]
                .iter()
                .any(|name| word.is_word(name))
        })
    }

    /// A register of the controller that is written, or the structure over them.
    fn register(&self, at: usize, name: &str) -> Option<String> {
        if name == "EFUSE" && self.is(at + 1, ".") {
            let field = self.all.get(at + 2)?.word()?;
            let writes = ["pgm", "cmd", "conf", "wdata", "dac_conf"];
            return writes
                .iter()
                .any(|start| field.contains(start))
                .then(|| "writes to the registers of the eFuse controller".to_owned());
        }
        let starts = self.rules.registers.iter().any(|start| name.starts_with(start.as_str()));
        let is_data = name.starts_with("EFUSE_BLK") && name.contains("_WDATA");
        let is_any = name.starts_with("EFUSE_") && name.ends_with("_REG");
        let is_written = (starts || is_data || is_any) && !self.is_read(at);
        let is_sure = starts || is_data || self.is_in_write(at);
        (is_written && is_sure).then(|| format!("writes the eFuse register `{name}`"))
    }

    /// Whether the token is an argument of what only reads.
    fn is_read(&self, at: usize) -> bool {
        let caller = self.caller(at);
        caller.is_some_and(|caller| {
            self.rules.read_macros.contains(&caller) || caller.contains("READ")
        })
    }

    fn is_in_write(&self, at: usize) -> bool {
        let caller = self.caller(at);
        let verbs = ["WRITE", "SET", "CLEAR", "write", "set_"];
        caller.is_some_and(|caller| verbs.iter().any(|verb| caller.contains(verb)))
            || self.is_assigned(at)
    }

    /// Whether `=` follows in the statement: `*(volatile uint32_t *)X = 1`.
    fn is_assigned(&self, at: usize) -> bool {
        let rest = self.all.get(at + 1..).unwrap_or_default().iter().take(12);
        let mut rest = rest.take_while(|token| !token.is(";") && !token.is(",") && !token.is("{"));
        let is_dereferenced = (at.saturating_sub(8)..at).any(|at| self.is(at, "*"));
        is_dereferenced && rest.any(|token| token.is("="))
    }

    /// The name before the parenthesis that the token stands in.
    fn caller(&self, at: usize) -> Option<String> {
        let mut depth = 0_usize;
        for at in (0..at).rev().take(24) {
            let token = self.all.get(at)?;
            match token.raw {
                ")" if token.kind == TokenKind::Mark => depth += 1,
                "(" if token.kind == TokenKind::Mark => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => {
                        let name = self.all.get(at.checked_sub(1)?)?.word();
                        if let Some(name) = name {
                            return Some(name.into_owned());
                        }
                    }
                },
                ";" | "{" | "}" => return None,
                _ => {}
            }
        }
        None
    }

    /// Names that are put together: `a##b`, or the arguments of a macro that does it.
    fn pasted(&self) -> Vec<Irreversible> {
        let mut found = Vec::new();
        let pieces = self.pieces();
        for (at, token) in self.all.iter().enumerate() {
            let joins_next = self.is(at + 1, "#") || self.is(at + 1, ",");
            let Some(start) = token.word().filter(|_| joins_next) else { continue };
            let start = pieces.get(&*start).cloned().unwrap_or_else(|| start.into_owned());
            let (mut name, mut next, mut end) = (start, at + 1, token.range().end);
            let mut joins = 0;
            while joins < 6 {
                let gap = if self.is(next, "#") && self.is(next + 1, "#") {
                    2
                } else if self.is(next, ",") {
                    1
                } else {
                    break;
                };
                let Some(word) = self.all.get(next + gap).and_then(Token::word) else { break };
                name.push_str(pieces.get(&*word).map_or(&*word, String::as_str));
                end = self.all.get(next + gap).map_or(end, |token| token.range().end);
                next += gap + 1;
                joins += 1;
                if burns(self.rules, &name).is_some() {
                    let what = format!("assembles the name `{name}`, which burns eFuses");
                    found.push(Irreversible { range: token.start..end, what, is_sure: true });
                    break;
                }
            }
        }
        found.extend(self.prefixes_pasted());
        found
    }

    /// A name that a macro puts together, unless it stands in the source as it is.
    fn assembled(&self, found: Assembled, known: &[Irreversible]) -> Option<Irreversible> {
        let Assembled { name, range, splits_words } = found;
        let is_reported = |known: &&Irreversible| {
            known.what.contains(&name)
                && known.range.start < range.end
                && range.start < known.range.end
        };
        if self.all.iter().any(|token| token.is_word(&name))
            || known.iter().any(|k| is_reported(&k))
        {
            return None;
        }
        if burns(self.rules, &name).is_some() {
            let what = format!("assembles the name `{name}`, which burns eFuses");
            return Some(Irreversible { range, what, is_sure: true });
        }
        let table = &self.rules.assembled;
        let does = table.iter().find(|row| name.starts_with(&row.name)).map(|row| &row.what);
        let is_api = ["esp_", "nvs_", "spi_flash_"].iter().any(|start| name.starts_with(start));
        let what = match does {
            Some(does) => format!("assembles the name `{name}`, which {does}"),
            None if splits_words && is_api => {
                format!("assembles the name `{name}` from split words")
            }
            None => return None,
        };
        Some(Irreversible { range, what, is_sure: false })
    }

    /// `esp_efuse_##x`: whatever comes behind it.
    fn prefixes_pasted(&self) -> Vec<Irreversible> {
        let is_start = |name: &str| {
            (name.starts_with("esp_efuse_") || name.starts_with("ets_efuse_"))
                && (name.ends_with('_'))
                && !name.starts_with("esp_efuse_read")
                && !name.starts_with("esp_efuse_get")
        };
        let mut found = Vec::new();
        for (at, token) in self.all.iter().enumerate() {
            // `esp_efuse_##read##_##x` only reads.
            let next = self.all.get(at + 3).and_then(Token::word);
            let goes_on = |name: &str| {
                let name = format!("{name}{}", next.as_deref().unwrap_or_default());
                self.rules.reads.iter().any(|read| name.starts_with(read.as_str()))
            };
            if token.word().is_some_and(|name| is_start(&name) && !goes_on(&name))
                && ((self.is(at + 1, "#") && self.is(at + 2, "#")) || self.is(at + 1, ","))
            {
                let what = "assembles the name of an eFuse function".to_owned();
                found.push(Irreversible { range: token.range(), what, is_sure: true });
            }
        }
        found
    }

    /// Names that `#define` gives to one other word.
    fn pieces(&self) -> HashMap<String, String> {
        let mut found = HashMap::new();
        for four in self.all.windows(4) {
            if let [define, name, value, end] = four
                && define.in_directive
                && define.is_word("define")
                && end.kind == TokenKind::DirectiveEnd
                && let (Some(name), Some(value)) = (name.word(), value.word())
            {
                found.insert(name.into_owned(), value.into_owned());
            }
        }
        found
    }

    /// Addresses of the controller's registers.
    fn addresses(&self) -> Vec<Irreversible> {
        let mut found = Vec::new();
        for (at, token) in self.all.iter().enumerate() {
            if token.kind != TokenKind::Number || token.raw.len() < 10 {
                continue;
            }
            let digits = token.raw.trim_end_matches(['u', 'U', 'l', 'L']);
            let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
            let value =
                digits.and_then(|d| u64::from_str_radix(&d.replace(['_', '\''], ""), 16).ok());
            let Some(value) = value else { continue };
            if is_controller(self.rules, self.chip, value) && !self.is_read(at) {
                let is_sure = self.is_in_write(at);
                let what = match is_sure {
                    true => "writes to the registers of the eFuse controller",
                    false => "holds an address of the eFuse controller's registers",
                };
                let what = what.to_owned();
                found.push(Irreversible { range: token.range(), what, is_sure });
            }
        }
        found
    }

    /// `#define CONFIG_SECURE_BOOT 1`.
    fn options(&self, rules: &Rules) -> Vec<Irreversible> {
        let mut found = Vec::new();
        for three in self.all.windows(3) {
            if let [define, name, value] = three
                && define.in_directive
                && define.is_word("define")
                && let Some(option) = name.word()
                && let Some(option) = option.strip_prefix("CONFIG_")
                && let Some(what) = rules.set_by(option, value.raw)
            {
                let what = format!("{what}, in a definition of the code");
                let range: Range<usize> = name.range();
                found.push(Irreversible { range, what, is_sure: true });
            }
        }
        found
    }
}
