//! Pins whose numbers a header names and other files of the project use.
//!
//! Owns which files read a constant that changed. Must not know what a pin is on a chip.

use std::collections::BTreeMap;

use foldhash::HashSet;

use super::Subject;
use super::constants::Constants;
use super::outer_constants::OuterConstants;
use super::pin_uses::{self, PinUse};
use super::source::SourceText;
use crate::model::ProjectPath;
use crate::text::c_tokens::{Style, TokenKind, tokens};

/// Files that are searched for the names of constants.
const MOST_READ: usize = 64;

/// Files that are read as code.
const MOST_PARSED: usize = 4;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 128 * 1024;

/// A pin that another file takes from the header.
pub(super) struct OuterPin {
    pub(super) used: PinUse,
    /// The file that uses it.
    pub(super) by: ProjectPath,
    /// The line of the header that names its number, from 1.
    pub(super) line: u32,
}

/// The pins that other files take from constants whose values a change of a header sets.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>, chip: &str) -> Vec<OuterPin> {
    if !path.extension().is_some_and(|end| matches!(end, "h" | "hh" | "hpp" | "hxx" | "inc")) {
        return Vec::new();
    }
    let Some(source) = subject.source() else { return Vec::new() };
    let changed = changed(source, subject);
    if changed.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (other, text) in readers(path, subject, &changed).take(MOST_PARSED) {
        let outer = OuterConstants::of(&other, &text, |path| subject.text_after(path));
        let code = tokens(&text, Style::C);
        for used in pin_uses::find(&code, chip, &outer.values) {
            let names = used.ranges.iter().flat_map(|range| {
                let inner = code.iter().skip_while(|token| token.start < range.start);
                inner.take_while(|token| token.start < range.end).filter_map(|token| token.word())
            });
            let own = names.filter_map(|name| changed.get(&*name));
            let line = own.filter(|(value, _)| *value == used.number).map(|(_, line)| *line).next();
            if let Some(line) = line {
                found.push(OuterPin { used, by: other.clone(), line });
            }
        }
    }
    found
}

/// The constants to which the change gives a value, each with it and its line.
fn changed(source: &SourceText<'_>, subject: &Subject<'_>) -> BTreeMap<String, (i128, u32)> {
    let added = &subject.changed().added;
    let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
    for token in source.tokens().iter().filter(|token| token.kind == TokenKind::Word) {
        let line = u32::try_from(source.line_at(token.start) + 1).unwrap_or(u32::MAX);
        if added.contains(&line) {
            lines.entry(token.raw).or_insert(line);
        }
    }
    if lines.is_empty() {
        return BTreeMap::new();
    }
    let of = |source: &SourceText<'_>| -> HashSet<(String, i128)> {
        Constants::new(source.tokens()).values().collect()
    };
    let was = subject.base_source().map(of).unwrap_or_default();
    let is = of(source).into_iter().filter(|constant| !was.contains(constant));
    let is = is.filter(|(_, value)| (0..100).contains(value));
    is.filter_map(|(name, value)| Some((lines.get(&*name).copied()?, name, value)))
        .map(|(line, name, value)| (name, (value, line)))
        .collect()
}

/// The files of code that have one of the names in them, those in the folder of the header first.
fn readers<'a>(
    path: &'a ProjectPath,
    subject: &'a Subject<'_>,
    names: &'a BTreeMap<String, (i128, u32)>,
) -> impl Iterator<Item = (ProjectPath, String)> + 'a {
    let folder = |path: &ProjectPath| {
        path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
    };
    let own = folder(path);
    let mut files: Vec<&ProjectPath> = (subject.files().iter())
        .filter(|file| file.bytes <= LONGEST && file.path != *path)
        .map(|file| &file.path)
        .filter(|file| pin_uses::is_code(file.file_name()))
        .collect();
    files.sort_by_key(|file| folder(file) != own);
    files.into_iter().take(MOST_READ).filter_map(move |file| {
        let text = subject.text_after(file.as_str())?;
        let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words().any(|word| names.contains_key(word)).then(|| (file.clone(), text))
    })
}

#[cfg(test)]
mod tests {
    use super::super::FindingsContext;
    use crate::model::{CheckKind, Draft, DraftChange, FindingLevel, ProjectPath};
    use crate::workspace::ProjectDir;

    /// What is found of the pins in a header of a project with a source that uses them.
    fn found(old: &str, new: &str, source: &str) -> Vec<(FindingLevel, String, u32)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("main")).unwrap();
        std::fs::write(folder.path().join("main/board.h"), old).unwrap();
        std::fs::write(folder.path().join("main/valve.c"), source).unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let mut context = FindingsContext::default();
        context.chip = Some("esp32c3".to_owned());
        let path = ProjectPath::new("main/board.h").unwrap();
        let (base, content) = (Some(old.as_bytes().to_vec()), new.as_bytes().to_vec());
        let change = DraftChange::Save { path, base, content };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], &context).remove(0);
        let pins = made.checks.into_iter().find(|check| check.kind == CheckKind::Pins);
        let line = |place: crate::model::FindingPlace| place.line;
        let all = pins.unwrap().findings.into_iter();
        all.map(|found| (found.level, found.text, found.place.map_or(0, line))).collect()
    }

    const USES: &str =
        "#include \"board.h\"\nvoid open(void) { gpio_set_level(BOARD_VALVE, 1); }\n";

    #[test]
    fn a_number_is_judged_where_another_file_uses_it() {
        let old = "#pragma once\n#define BOARD_LED 3\n#define BOARD_VALVE 10\n";
        let usb = old.replace("VALVE 10", "VALVE 18");
        let wanted = "uses GPIO18, a USB pin of the ESP32-C3".to_owned();
        assert_eq!(found(old, &usb, USES), [(FindingLevel::Warning, wanted, 3)]);
        assert_eq!(found(old, &old.replace("VALVE 10", "VALVE 1"), USES), []);
        assert_eq!(found(old, &old.replace("LED 3", "LED 18"), USES), [], "nobody uses it");
        assert_eq!(found(&usb, &usb.replace("LED 3", "LED 4"), USES), [], "it was so before");
        let other =
            USES.replace("BOARD_VALVE", "OTHER").replace("#include", "// BOARD_VALVE\n#include");
        assert_eq!(found(old, &usb, &other), []);
        let alone = USES.replace("#include \"board.h\"", "");
        assert_eq!(found(old, &usb, &alone), [], "it is another name there");
    }
}
