//! What changes a chip for good: eFuses, secure boot, flash encryption, anti-rollback.
//!
//! Owns where it can stand: configurations, build files, scripts and tables of eFuses; the code is
//! read in [`efuse_code`](super::efuse_code).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use super::cmake_values;
use super::efuse_code;
use super::host_includes;
use super::irreversible_rules::{Irreversible, RULES, Rules};
use super::novelty;
use super::source::SourceText;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};

/// The check of a text; `None` for what is not text.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let chip = subject.context.chip.as_deref();
    let phrase =
        chip.map_or_else(|| "burn efuses".to_owned(), |chip| format!("burn {chip} efuses"));
    let check = novelty::check(CheckKind::Irreversible, subject, |source| {
        let Some(rules) = RULES.as_ref() else { return Vec::new() };
        let places = in_source(rules, source, chip);
        places.into_iter().map(|place| place.finding(rules, source, &phrase)).collect()
    });
    let mut check = check?;
    check.findings.extend(virtual_off(path, subject, &phrase));
    check.findings.extend(taken_in(path, subject, &phrase));
    Some(Check::with(CheckKind::Irreversible, check.findings))
}

fn in_source(rules: &Rules, source: &SourceText<'_>, chip: Option<&str>) -> Vec<Irreversible> {
    let path = source.path.as_str();
    if host_includes::is_code(path) {
        return efuse_code::find(rules, source, chip);
    }
    let code = source.code();
    let mut found = options(rules, path, code);
    found.extend(composed(rules, source, &found));
    found.extend(commands(rules, code, is_prose(path)));
    found.extend(named(rules, path, code, &found));
    found.extend(selected(rules, path, code));
    found.extend(fields(path, code));
    // What a script or list of Rust and Python calls by name.
    if !is_prose(path) {
        found.extend(efuse_code::names_in(rules, code, chip));
    }
    found
}

/// Configurations of the project that a list or script names now and did not name before, where they
/// hold such options.
fn taken_in(path: &ProjectPath, subject: &Subject<'_>, phrase: &str) -> Vec<Finding> {
    static NAMED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[A-Za-z0-9_./-]*\bsdkconfig\b[A-Za-z0-9_./-]*").ok());
    let (Some(rules), Some(named), Some(source)) =
        (RULES.as_ref(), NAMED.as_ref(), subject.source())
    else {
        return Vec::new();
    };
    let name = path.file_name();
    let reads_names = cmake_values::is_list(path.as_str())
        || ["ini", "sh", "yml", "yaml", "mk", "py", "json"]
            .iter()
            .any(|end| path.extension() == Some(end))
        || name == "Makefile";
    if !reads_names || !source.text.contains("sdkconfig") {
        return Vec::new();
    }
    let base = subject.base_text().unwrap_or_default();
    let added = &subject.changed().added;
    let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for (line, text) in (1..).zip(source.code().lines()).filter(|(line, _)| added.contains(line)) {
        for file in named.find_iter(text).map(|file| file.as_str().trim_matches(['/', '.'])) {
            let was_taken =
                base.contains(file) && (is_always(base, file) || !is_always(source.text, file));
            if was_taken || !known.insert(file.to_owned()) {
                continue;
            }
            let content = subject.text_after(file).or_else(|| {
                (!folder.is_empty()).then(|| subject.text_after(&format!("{folder}/{file}")))?
            });
            let Some(content) = content else { continue };
            if let Some(first) = options(rules, file, &content).into_iter().next() {
                let text = format!("takes in `{file}`, which {}", first.what);
                let finding = Finding::new(FindingLevel::Stop, text).at(FindingPlace::line(line));
                found.push(finding.advice(rules.table.advice.clone()).phrase(phrase));
            }
        }
    }
    found
}

/// Whether a list of CMake, or what has no conditions of its own, names a file outside of `if`.
fn is_always(text: &str, file: &str) -> bool {
    let mut depth = 0_u32;
    for line in text.lines().map(str::trim_start) {
        let starts = |word: &str| {
            line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
                && line.get(word.len()..).is_some_and(|rest| rest.trim_start().starts_with('('))
        };
        if starts("endif") {
            depth = depth.saturating_sub(1);
        } else if starts("if") {
            depth += 1;
        } else if depth == 0 && line.contains(file) && !line.starts_with('#') {
            return true;
        }
    }
    false
}

fn is_prose(path: &str) -> bool {
    [".md", ".rst", ".txt", ".html"].iter().any(|end| path.ends_with(end))
        && !path.ends_with("CMakeLists.txt")
}

/// Options that are set, in any file: a configuration, a list that makes one, a file of PlatformIO.
fn options(rules: &Rules, path: &str, code: &str) -> Vec<Irreversible> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_config = name.starts_with("sdkconfig");
    if is_prose(path) {
        return Vec::new();
    }
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    for captures in rules.set.captures_iter(code) {
        let (Some(whole), Some(name), Some(value)) =
            (captures.get(0), captures.name("name"), captures.name("value"))
        else {
            continue;
        };
        let separator = captures.name("sep").map_or("", |sep| sep.as_str().trim());
        // A name behind a name is a list of options, not a value.
        let before = code.get(..whole.start()).unwrap_or_default().trim_end();
        let last = before.len().checked_sub("set(".len()).and_then(|at| before.get(at..));
        let is_variable = cmake_values::is_list(path)
            && last.is_some_and(|last| last.eq_ignore_ascii_case("set("));
        if separator != "="
            && !is_variable
            && (is_config || !(path.ends_with(".json") || path.ends_with("yml")))
        {
            continue;
        }
        if let Some(what) = rules.set_by(name.as_str(), value.as_str())
            && reported.insert(what.to_owned())
        {
            found.push(Irreversible { range: whole.range(), what: what.to_owned(), is_sure: true });
        }
    }
    found
}

/// Options by their names in small letters, of which a script makes a configuration:
/// `"app_anti_rollback": "y"`.
fn named(rules: &Rules, path: &str, code: &str, known: &[Irreversible]) -> Vec<Irreversible> {
    static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"["'](?P<name>(?:config_)?[a-z0-9]+(?:_[a-z0-9]+)+)["']\s*[:=,]\s*f?["']?(?P<value>[\w{]+)"#)
            .ok()
    });
    let is_script =
        [".py", ".sh", ".js", ".json", ".yml", ".yaml"].iter().any(|e| path.ends_with(e));
    if !is_script || !code.to_ascii_lowercase().contains("config_") {
        return Vec::new();
    }
    let entries = ENTRY.iter().flat_map(|entry| entry.captures_iter(code));
    let found = entries.filter_map(|entry| {
        let (name, value) = (entry.name("name")?, entry.name("value")?);
        let option = name.as_str().trim_start_matches("config_").to_ascii_uppercase();
        let value = match value.as_str() {
            "True" | "true" | "yes" => "y",
            // What is filled in is not known, and may be anything.
            filled if filled.starts_with('{') => "1",
            value => value,
        };
        let what = rules.set_by(&option, value)?.to_owned();
        let is_known = known.iter().any(|known| known.what == what);
        (!is_known).then_some(Irreversible { range: name.range(), what, is_sure: true })
    });
    found.collect()
}

/// Options that a list of CMake puts together from variables.
fn composed(rules: &Rules, source: &SourceText<'_>, known: &[Irreversible]) -> Vec<Irreversible> {
    let path = source.path.as_str();
    if !cmake_values::is_list(path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for command in source.resolved() {
        for Irreversible { what, .. } in options(rules, path, &command.text) {
            let is_known = |all: &[Irreversible]| all.iter().any(|known| known.what == what);
            if !is_known(known) && !is_known(&found) {
                found.push(Irreversible { range: command.range.clone(), what, is_sure: true });
            }
        }
    }
    found
}

/// Commands that burn, and the tool with a command that cannot be seen.
fn commands(rules: &Rules, code: &str, is_prose: bool) -> Vec<Irreversible> {
    if is_prose {
        return Vec::new();
    }
    let mut found = Vec::new();
    for command in rules.burns.find_iter(code) {
        let is_script = command.as_str().to_ascii_lowercase().starts_with("execute");
        if !is_script || code.contains("espefuse") {
            let what = format!("burns eFuses with `{}`", command.as_str());
            found.push(Irreversible { range: command.range(), what, is_sure: true });
        }
    }
    if found.is_empty() {
        for call in rules.call.find_iter(code) {
            let rest = code.get(call.end()..).unwrap_or_default();
            let statement: String = rest.lines().take(3).collect::<Vec<_>>().join(" ");
            // "Reads the summary with espefuse": words about the tool in a file that reads.
            let is_prose = rest.strip_prefix(' ').is_some_and(|rest| {
                let word = rest.split_whitespace().next().unwrap_or_default();
                rest.starts_with(|c: char| c.is_alphabetic() || c == '(') && !word.contains('_')
            }) && code.contains("summary");
            if !is_prose && !rules.reads.is_match(&statement) {
                let what = "calls espefuse, which burns eFuses".to_owned();
                found.push(Irreversible { range: call.range(), what, is_sure: true });
            }
        }
    }
    found
}

/// Options that a `Kconfig` file selects, implies or turns on by default.
fn selected(rules: &Rules, path: &str, code: &str) -> Vec<Irreversible> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if !name.starts_with("Kconfig") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let (mut at, mut config) = (0, "");
    for line in code.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let mut words = line.split_whitespace();
        let (keyword, word) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let what = match keyword {
            "config" | "menuconfig" => {
                config = word;
                None
            }
            "select" | "imply" => rules.selects(word),
            "default" | "def_bool" => match rules.options.get(config) {
                Some(_) => rules.set_by(config, word),
                None => None,
            },
            "set" => word.split_once('=').and_then(|(name, value)| rules.set_by(name, value)),
            _ => None,
        };
        if let Some(what) = what {
            let range = start..start + line.trim_end().len();
            found.push(Irreversible { range, what: what.to_owned(), is_sure: true });
        }
    }
    found
}

/// Rows of a table of eFuse fields: `NAME, EFUSE_BLK3, 0, 8, what for`.
fn fields(path: &str, code: &str) -> Option<Irreversible> {
    if !path.ends_with(".csv") {
        return None;
    }
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let block = line.split(',').nth(1).unwrap_or_default().trim();
        if block.starts_with("EFUSE_BLK") || block.starts_with("EFUSE_BLOCK") {
            let range = start..start + line.trim_end().len();
            let what = "defines eFuse fields, which can be burnt only once".to_owned();
            return Some(Irreversible { range, what, is_sure: true });
        }
    }
    None
}

/// Virtual eFuses that are turned off: what was tried out before then reaches the chip.
fn virtual_off(path: &ProjectPath, subject: &Subject<'_>, phrase: &str) -> Option<Finding> {
    let is_on = |text: &str| text.lines().any(|line| line.trim() == "CONFIG_EFUSE_VIRTUAL=y");
    let was_on = subject.base_text().is_some_and(is_on);
    let turns_off = path.file_name().starts_with("sdkconfig") && was_on && !is_on(subject.text()?);
    let is_off = |line: &str| {
        matches!(line.trim(), "# CONFIG_EFUSE_VIRTUAL is not set" | "CONFIG_EFUSE_VIRTUAL=n")
    };
    let line = subject.text()?.lines().position(is_off);
    let place = line.and_then(|line| u32::try_from(line + 1).ok()).map(FindingPlace::line);
    turns_off.then(|| {
        let text = "turns virtual eFuses off, so that real eFuses are burnt from now on";
        let finding = Finding::new(FindingLevel::Stop, text).phrase(phrase);
        match place {
            Some(place) => finding.at(place),
            None => finding,
        }
    })
}

#[cfg(test)]
#[path = "irreversible_tests.rs"]
mod tests;
