//! Whether a content is what it seems: new text, readable as it stands, and not a copy, a return or
//! a package of something else.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::HashSet;
use regex::Regex;

use super::Subject;
use super::limit::limited;
use super::source::{SourceText, is_c, number};
use super::subject::BUDGET;
use super::{exchanged, moved, moved_lines, packed_data, scope, wishes};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::diff::changed_lines;

/// A content shorter than this is found in many places by chance.
const SHORTEST: usize = 64;

/// Changed lines from which on it matters that nearly all of them change in white space alone.
const REWRITE: usize = 10;

/// The same where the indentation of lines in several places changes.
const FEWEST_OF_REWRITE: usize = 5;

/// Blanks in front of code that push it off the screen.
const OFF_SCREEN: usize = 60;

/// What is found in the content alone.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    let mut findings = Vec::new();
    if is_c(path) {
        findings.extend(tricks(text));
    }
    findings.extend(off_screen(text));
    findings.extend(packed_data::find(text));
    Some(limited(CheckKind::Origin, findings))
}

/// What is found in comparison with the file, the project and the session.
pub(super) fn compare(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = white_space(subject).into_iter().collect();
    if subject.content.len() >= SHORTEST && subject.base != Some(subject.content) {
        let found = returned(path, subject).or_else(|| moved::find(path, subject));
        let found = found.or_else(|| exchanged::find(path, subject));
        let found = found.or_else(|| copied(path, subject));
        findings.extend(found.or_else(|| moved_lines::find(path, subject)));
    }
    findings
}

/// A rewrite that hides a few real changes among changes of white space.
fn white_space(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_text()?, subject.text()?);
    let changed = subject.changed().added.len();
    if changed < FEWEST_OF_REWRITE {
        return None;
    }
    let ((squashed, _), (squeezed, numbers)) = (squash(old), squash(new));
    let found = changed_lines(squashed.as_bytes(), squeezed.as_bytes(), BUDGET);
    let count = |ranges: &[Range<usize>]| ranges.iter().map(Range::len).sum::<usize>();
    let real = count(&found.added).max(count(&found.removed));
    let lines = found.added.iter().flat_map(Clone::clone);
    let real_lines: BTreeSet<u32> =
        lines.filter_map(|at| numbers.get(at)).map(|line| number(*line)).collect();
    let indent = Indent::of((old, new), &subject.changed().added, &real_lines);
    let is_long = changed >= REWRITE && real * 4 <= changed;
    if is_long && let Some(finding) = unusual_blanks(subject) {
        return Some(finding);
    }
    let is_rewrite = match indent {
        Indent::Block if real > 0 => false,
        Indent::Scattered => real * 3 <= changed,
        Indent::Block | Indent::None => is_long,
    };
    if !is_rewrite {
        return None;
    }
    if real == 0 {
        let text = format!("changes {changed} lines in white space alone");
        return Some(Finding::new(FindingLevel::Note, text));
    }
    let first = real_lines.first();
    let lines =
        if real == 1 { "1 line differs".to_owned() } else { format!("{real} lines differ") };
    let text = format!("rewrites {changed} lines, of which {lines} in more than white space");
    let level = if says_the_same(subject) { FindingLevel::Note } else { FindingLevel::Warning };
    let mut finding = Finding::new(level, text)
        .advice("Look at that line first; hide changes of white space to see it alone.");
    finding.place = first.map(|line| FindingPlace::line(*line));
    Some(finding)
}

/// Whether only comments and blanks of code differ.
fn says_the_same(subject: &Subject<'_>) -> bool {
    let (Some(old), Some(new)) = (subject.base_source(), subject.source()) else { return false };
    let raw = |source: &SourceText<'_>| -> Vec<String> {
        source.tokens().iter().map(|token| token.raw.to_owned()).collect()
    };
    is_c(new.path) && raw(old) == raw(new)
}

/// The lines of a text without blanks, and their numbers in it, from 1.
fn squash(text: &str) -> (String, Vec<usize>) {
    let mut numbers = Vec::new();
    let mut all = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        let start = all.len();
        all.extend(line.chars().filter(|c| !c.is_whitespace()));
        if all.len() > start {
            all.push('\n');
            numbers.push(number + 1);
        }
    }
    (all, numbers)
}

/// How the lines that change in white space alone are indented.
enum Indent {
    /// One block goes deeper or less deep, and what differs stands around it: it was put into an
    /// `if`, or taken out of one.
    Block,
    /// Lines in several places go deeper or less deep.
    Scattered,
    /// Something else than the indentation changes.
    None,
}

impl Indent {
    /// `added`: the lines that differ; `real`: those of them that differ in more than white space.
    fn of((old, new): (&str, &str), added: &BTreeSet<u32>, real: &BTreeSet<u32>) -> Self {
        let blank: Vec<(u32, &str)> = (1..)
            .zip(new.lines())
            .filter(|(line, _)| added.contains(line) && !real.contains(line))
            .collect();
        let (Some((first, _)), Some((last, _))) = (blank.first(), blank.last()) else {
            return Self::None;
        };
        let known: HashSet<&str> = old.lines().map(str::trim).collect();
        let is_indent = blank.iter().all(|(_, line)| known.contains(line.trim()));
        if !is_indent {
            return Self::None;
        }
        // Empty lines of the block are as they were.
        let is_empty = |at: u32| {
            let line = usize::try_from(at).unwrap_or(usize::MAX).saturating_sub(1);
            new.lines().nth(line).is_some_and(|line| line.trim().is_empty())
        };
        let is_one = (*first..=*last).all(|line| added.contains(&line) || is_empty(line));
        match is_one && !real.range(*first..=*last).any(|_| true) {
            true => Self::Block,
            false => Self::Scattered,
        }
    }
}

/// Blanks that look like blanks and are none to a compiler or a shell, where there were none.
fn unusual_blanks(subject: &Subject<'_>) -> Option<Finding> {
    let is_unusual = |c: char| c.is_whitespace() && !c.is_ascii() && c != '\u{85}';
    let (old, new) = (subject.base_text()?, subject.text()?);
    if old.contains(is_unusual) {
        return None;
    }
    let mut lines = (1..).zip(new.lines()).filter(|(_, line)| line.contains(is_unusual));
    let (first, line) = lines.next()?;
    let blank = u32::from(line.chars().find(|c| is_unusual(*c))?);
    let text = format!("puts U+{blank:04X} in the place of blanks in {} lines", lines.count() + 1);
    let advice = "It looks like a blank and is none for a compiler or a shell.";
    let at = FindingPlace::line(first);
    Some(Finding::new(FindingLevel::Warning, text).at(at).advice(advice))
}

/// A content that this session deleted.
fn returned(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let deleted = subject.context.deleted(subject.content)?;
    Some(match deleted.path == *path {
        true => {
            let text = format!("recreates the file that was deleted as #{}", deleted.by);
            Finding::new(FindingLevel::Warning, text)
        }
        false => {
            let text = format!(
                "has the content of `{}`, which was deleted as #{}",
                deleted.path, deleted.by
            );
            Finding::new(FindingLevel::Note, text)
        }
    })
}

/// A content that another file of the project has.
fn copied(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let bytes = subject.content.len() as u64;
    let files = subject.files().iter();
    // What goes with the same change has only moved.
    let stays = |path: &ProjectPath| {
        subject.context.proposed.read(subject.project_dir, path.as_str()).is_some()
    };
    let same_length = files.filter(|file| file.bytes == bytes && file.path != *path);
    let same_length = same_length.filter(|file| subject.base.is_some() || stays(&file.path));
    let same = same_length.map(|file| &file.path).find(|other| {
        subject.project_dir.read(other).is_ok_and(|content| content == subject.content)
    })?;
    let task = subject.context.person_words();
    let has = |wanted: &[&str]| {
        task.split(|c: char| !c.is_alphanumeric()).any(|word| wanted.contains(&word))
    };
    // What is renamed holds what it held, and not what a third file holds.
    let is_copy =
        wishes::wants_copy(&task) || !is_c(path) && !has(&["rename", "move", "renamed", "moved"]);
    let is_asked_for = subject.base.is_none() && scope::is_named(path, subject) && is_copy;
    let level = if is_asked_for { FindingLevel::Note } else { FindingLevel::Warning };
    Some(Finding::new(level, format!("has exactly the content of `{same}`")))
}

/// Words that mean something else after such a definition.
static REDEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s*#\s*define\s+(if|else|while|for|do|switch|case|break|continue|return|goto|sizeof|int|char|long|short|unsigned|signed|float|double|void|static|const|volatile|struct|union|enum|true|false|bool|NULL|assert|memcpy|memset|memmove|strcpy|strncpy|strcmp|strncmp|memcmp|malloc|calloc|realloc|free|abort|exit|snprintf|rand|esp_random|esp_fill_random|esp_restart|ESP_ERROR_CHECK|ESP_OK|ESP_FAIL)\b(\([^)]*\))?\s*(.*)$",
    )
    .ok()
});

fn tricks(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut before: Option<&str> = None;
    for (place, line) in text.lines().enumerate() {
        let at = number(place + 1);
        if before.is_some_and(continues_comment) && !line.trim().is_empty() {
            let is_comment = line.trim_start().starts_with("//");
            let level = if is_comment { FindingLevel::Note } else { FindingLevel::Stop };
            let text = "is part of the comment above, which ends with a backslash";
            findings.push(
                Finding::new(level, text)
                    .at(FindingPlace::line(at))
                    .advice("Remove the backslash at the end of the comment."),
            );
        }
        if line.contains("??/") {
            let text = "contains the trigraph ??/, which some compilers read as a backslash";
            findings.push(Finding::new(FindingLevel::Stop, text).at(FindingPlace::line(at)));
        }
        findings.extend(other_spelling(line).map(|finding| finding.at(FindingPlace::line(at))));
        findings.extend(redefinition(line).map(|finding| finding.at(FindingPlace::line(at))));
        before = Some(line);
    }
    findings
}

/// Marks that are written in a way that hardly anybody knows: `%:define`, `??=define`, `<%`.
fn other_spelling(line: &str) -> Option<Finding> {
    const SPELLED: [(&str, &str); 10] = [
        ("%:", "#"),
        ("<%", "{"),
        ("%>", "}"),
        ("??=", "#"),
        ("??<", "{"),
        ("??>", "}"),
        ("??(", "["),
        ("??)", "]"),
        ("??!", "|"),
        ("??'", "^"),
    ];
    if !line.contains(['%', '?']) {
        return None;
    }
    let code = line.split('"').next().unwrap_or_default();
    let code = code.split("//").next().unwrap_or_default();
    let code = code.split("/*").next().unwrap_or_default();
    if code.trim_start().starts_with('*') {
        return None;
    }
    let (spelled, means) = SPELLED.iter().find(|(spelled, _)| code.contains(spelled))?;
    let text = format!("writes `{means}` as `{spelled}`, which is easily overlooked");
    Some(Finding::new(FindingLevel::Stop, text).advice(format!("Write `{means}`.")))
}

/// Whether a line ends a `//` comment with a backslash.
fn continues_comment(line: &str) -> bool {
    let line = line.trim_end();
    let Some(code) = line.strip_suffix('\\').or_else(|| line.strip_suffix("??/")) else {
        return false;
    };
    // Macros go over many lines; there the comment would be the oddity.
    let Some(start) = code.find("//") else { return false };
    let quotes = code.get(..start).unwrap_or_default().matches('"').count();
    quotes.is_multiple_of(2) && !code.trim_start().starts_with('#')
}

fn redefinition(line: &str) -> Option<Finding> {
    if !line.trim_start().starts_with('#') {
        return None;
    }
    let found = REDEFINED.as_ref()?.captures(line)?;
    let name = found.get(1)?.as_str();
    let value = found.get(3).map_or("", |value| value.as_str());
    let value = value.split("//").next().unwrap_or_default();
    let value = value.split("/*").next().unwrap_or_default().trim().trim_matches(['(', ')']);
    let is_usual = match name {
        "true" => matches!(value, "1" | "!0" | "1U"),
        "false" => matches!(value, "0" | "0U"),
        "NULL" => matches!(value, "0" | "void*)0" | "void *)0" | "nullptr"),
        "bool" => matches!(value, "_Bool" | "int" | "uint8_t" | "unsigned char" | "char"),
        _ => false,
    };
    let is_keyword = name.len() < 10 && !name.starts_with(['m', 'a', 'E']) && !name.contains('_');
    let level = match is_keyword || name.starts_with("ESP_") {
        true => FindingLevel::Stop,
        false => FindingLevel::Warning,
    };
    (!is_usual).then(|| {
        Finding::new(level, format!("gives `{name}` another meaning from here on"))
            .advice("Use a name of its own for the macro.")
    })
}

/// Code behind so many blanks that it is not seen.
fn off_screen(text: &str) -> Vec<Finding> {
    let hides = |line: &&str| {
        let body = line.trim_start();
        let mut run = 0;
        let mut is_hidden = false;
        for c in body.chars() {
            match c {
                ' ' | '\t' => run += if c == '\t' { 8 } else { 1 },
                '\\' | '*' | '/' | '|' | '#' | '"' | '\r' => run = 0,
                _ if run >= OFF_SCREEN => {
                    is_hidden = true;
                    break;
                }
                _ => run = 0,
            }
        }
        is_hidden
    };
    let found = text.lines().enumerate().filter(|(_, line)| line.len() > OFF_SCREEN && hides(line));
    let finding = |(place, _): (usize, &str)| {
        Finding::new(FindingLevel::Stop, "hides code behind a long run of spaces")
            .at(FindingPlace::line(number(place + 1)))
    };
    found.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_swallow_the_next_line_are_found() {
        let found = tricks("// check the limit \\\nif (limit > 30) return;\n// C:\\path\nint a;\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, Some(FindingPlace::line(2)));
        assert!(tricks("#define A(x) \\\n  do_it(x) // once\nint b; // c\n").is_empty());
        assert_eq!(tricks("// why ??/\nlock();\n").len(), 2);
    }

    #[test]
    fn words_of_the_language_keep_their_meaning() {
        let level = |line: &str| redefinition(line).map(|finding| finding.level);
        assert_eq!(level("#define true 0"), Some(FindingLevel::Stop));
        assert_eq!(level("#define true 1"), None);
        assert_eq!([level("#define false 0"), level("#define bool _Bool")], [None, None]);
        assert_eq!(level("#define false 1"), Some(FindingLevel::Stop));
        assert_eq!(level("#define if(x) if (!(x))"), Some(FindingLevel::Stop));
        assert_eq!(level("#  define memcpy(a,b,c) evil(a,b,c)"), Some(FindingLevel::Warning));
        assert_eq!(level("#define FREE_SLOTS 4"), None);
        assert_eq!(level("#define NULL ((void*)0)"), None);
    }

    #[test]
    fn code_behind_blanks_is_found() {
        let line = format!("int a;{}system(x);\n", " ".repeat(90));
        assert_eq!(off_screen(&line).len(), 1);
        let deep = format!("{}int a;\n#define X{}\\\n", " ".repeat(90), " ".repeat(90));
        assert!(off_screen(&deep).is_empty());
    }
}
