//! Keys and passwords in the new content, also where their names stand in other files.

use std::collections::HashMap;

use super::novelty;
use super::outer_constants;
use super::pin_uses::is_code;
use super::source::SourceText;
use super::test_expectations::is_test;
use super::{Subject, limit};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::credentials;
use crate::workspace::Sources;

/// Longest text that is taken for a secret because another file uses its name for one.
const LONGEST: usize = 128;

/// Files of the project in which uses are searched.
const MOST_FILES: usize = 400;

/// The check of a text; `None` for what is not text.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let after = subject.text()?;
    let known = texts_outside(path, after, |file| subject.text_after(file));
    let base = subject.base_text().unwrap_or_default();
    let known_before = texts_outside(path, base, |file| subject.text_before(file));
    let find = |source: &SourceText<'_>| match std::ptr::eq(source.text, after) {
        true => in_source(source, &known),
        false => in_source(source, &known_before),
    };
    let mut check = novelty::check(CheckKind::Secrets, subject, find)?;
    let mut elsewhere = used_elsewhere(path, subject, &check);
    elsewhere.extend(key_tables(path, subject, &check));
    if elsewhere.is_empty() {
        return Some(check);
    }
    check.findings.extend(elsewhere);
    Some(limit::limited(CheckKind::Secrets, check.findings))
}

fn in_source(source: &SourceText<'_>, known: &HashMap<String, String>) -> Vec<Finding> {
    let (path, tokens) = (source.path.as_str(), || source.tokens());
    credentials::secrets_with(path, source.text, tokens, known)
        .into_iter()
        .map(|secret| {
            let level = match secret.is_sure {
                true => FindingLevel::Stop,
                false => FindingLevel::Warning,
            };
            finding(level, secret.what).at(source.place(&secret.range))
        })
        .collect()
}

fn finding(level: FindingLevel, what: String) -> Finding {
    Finding::new(level, format!("contains {what}"))
        .advice("Store it outside of the sources, e.g. in NVS or in a file that is not committed.")
}

/// The texts that a source may take from the headers that it includes, by their names.
fn texts_outside(
    path: &ProjectPath,
    text: &str,
    read: impl Fn(&str) -> Option<String>,
) -> HashMap<String, String> {
    let mut found = HashMap::new();
    if !is_code(path.file_name()) || !text.contains("#include") && !text.contains("# include") {
        return found;
    }
    for (header, content) in outer_constants::headers(path, text, read) {
        let Ok(header) = ProjectPath::new(&header) else { continue };
        let named = named_texts(&SourceText::new(&header, &content)).into_iter();
        found.extend(named.filter(|(name, literal)| may_be(literal) && text.contains(name)));
    }
    found
}

fn named_texts(source: &SourceText<'_>) -> HashMap<String, String> {
    credentials::named_texts(source.path.as_str(), source.text, || source.tokens())
}

/// Whether a text has the length of a secret and nothing that formats have.
fn may_be(literal: &str) -> bool {
    (6..=LONGEST).contains(&literal.len())
        && !literal.contains(['%', '\n'])
        && !credentials::is_stand_in(literal)
}

/// Texts that are new here, and that another file of the project uses as a secret by their names.
fn used_elsewhere(path: &ProjectPath, subject: &Subject<'_>, check: &Check) -> Vec<Finding> {
    let (Some(source), true) = (subject.source(), is_code(path.file_name())) else {
        return Vec::new();
    };
    let gives = ["= \"", "=\"", "{\"", "{ \""];
    let is_in = |line: &str| {
        line.contains('"')
            && (line.contains("define") || gives.iter().any(|part| line.contains(part)))
    };
    let added = &subject.changed().added;
    let lines = (1..)
        .zip(source.text.lines())
        .filter(|(number, line)| added.contains(number) && is_in(line));
    let lines: HashMap<u32, &str> = lines.collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut wanted: HashMap<String, (String, u32)> = HashMap::new();
    for (name, literal) in named_texts(source) {
        let here = memchr::memmem::find_iter(source.text.as_bytes(), &name);
        let numbers = here.filter_map(|at| u32::try_from(source.line_at(at) + 1).ok());
        let line = numbers.filter_map(|number| lines.get(&number).map(|line| (number, line)));
        let line = line.into_iter().find(|(_, line)| line.contains(&literal));
        if let Some((line, _)) =
            line.filter(|(line, _)| may_be(&literal) && !is_reported(check, *line))
        {
            wanted.insert(name, (literal, line));
        }
    }
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    for (other, text) in others(path, subject) {
        let here = wanted.iter().filter(|(name, _)| text.contains(name.as_str()));
        let here: HashMap<String, String> =
            here.map(|(name, (literal, _))| (name.clone(), literal.clone())).collect();
        if here.is_empty() || !is_code(other.file_name()) {
            continue;
        }
        let source = SourceText::new(&other, &text);
        for secret in credentials::secrets_with(other.as_str(), &text, || source.tokens(), &here) {
            let used = text.get(secret.range.clone()).unwrap_or_default();
            if let Some((_, line)) = wanted.remove(used) {
                let what = format!("{}, as `{other}` uses it", secret.what);
                let at = FindingPlace::line(line);
                found.push(finding(FindingLevel::Stop, what).at(at));
            }
        }
    }
    found
}

/// Tables of bytes that are new here, and that another file of the project uses as a key.
fn key_tables(path: &ProjectPath, subject: &Subject<'_>, check: &Check) -> Vec<Finding> {
    let Some(source) = subject.source().filter(|_| is_code(path.file_name())) else {
        return Vec::new();
    };
    // The published vectors of a standard, in a test.
    let published = ["NIST", "FIPS", "RFC ", "RFC-", "SP 800"];
    if is_test(path) && published.iter().any(|name| source.text.contains(name)) {
        return Vec::new();
    }
    let added = &subject.changed().added;
    let is_new = |table: &credentials::ByteTable| {
        let lines = source.line_at(table.range.start)..=source.line_at(table.range.end);
        lines.into_iter().any(|line| u32::try_from(line + 1).is_ok_and(|at| added.contains(&at)))
    };
    let mut tables = credentials::tables(source.tokens());
    tables.retain(|table| {
        let line = u32::try_from(source.line_at(table.range.start) + 1).unwrap_or(u32::MAX);
        is_new(table) && !is_reported(check, line)
    });
    let mut found = Vec::new();
    if tables.is_empty() {
        return found;
    }
    for (other, text) in others(path, subject) {
        if !is_code(other.file_name()) || !tables.iter().any(|table| text.contains(&table.name)) {
            continue;
        }
        let reader = SourceText::new(&other, &text);
        tables.retain(|table| {
            let is_key = credentials::becomes_key(reader.tokens(), &table.name);
            if is_key {
                let what = format!("a key in `{}`, as `{other}` uses it", table.name);
                found.push(finding(FindingLevel::Stop, what).at(source.place(&table.range)));
            }
            !is_key
        });
    }
    found
}

fn is_reported(check: &Check, line: u32) -> bool {
    check.findings.iter().any(|it| it.place.as_ref().is_some_and(|place| place.line == line))
}

/// The other sources of the project, those of the change first and as they are after it.
fn others<'s>(
    path: &'s ProjectPath,
    subject: &'s Subject<'_>,
) -> impl Iterator<Item = (ProjectPath, String)> + 's {
    let proposed = &subject.context.proposed;
    let changed = proposed.texts().filter(move |(other, _)| *other != path);
    let changed = changed.map(|(other, text)| (other.clone(), text.to_owned()));
    let on_disk = Sources::of(subject.project_dir).texts();
    let on_disk = on_disk.filter(move |(other, _)| other != path && !proposed.has(other));
    changed.chain(on_disk).take(MOST_FILES)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;

    #[test]
    fn a_table_that_another_file_takes_as_a_key_is_reported() {
        let bytes = "0x18, 0x40, 0xe1, 0x19, 0x05, 0xe4, 0xd3, 0x0b, 0x0a, 0x08, 0x10, 0x5b, 0xea, \
                     0xa7, 0x12, 0xaf";
        let header = format!("static const uint8_t material[16] = {{ {bytes} }};\n");
        let found = |link: &str, on_disk: bool| -> Vec<String> {
            let files: &[(&str, &str)] = if on_disk { &[("main/link.c", link)] } else { &[] };
            let task = "Encrypt the link with the key of the settings";
            let mut changes = vec![("main/material.h", Some(header.as_str()))];
            changes.extend((!on_disk).then_some(("main/link.c", Some(link))));
            TestProject { files, task, chip: None }.reported(CheckKind::Secrets, &changes)
        };
        let wanted =
            ["main/material.h Stop: contains a key in `material`, as `main/link.c` uses it"
                .to_owned()];
        let link = "#include \"material.h\"\nvoid f(void)\n{\n    esp_now_set_pmk(material);\n}\n";
        assert_eq!(found(link, true), wanted);
        assert_eq!(found(link, false), wanted);
        assert_eq!(found(&link.replace("esp_now_set_pmk", "send"), true), [] as [String; 0]);
    }
}
