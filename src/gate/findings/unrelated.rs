//! Parts of a change that have nothing in common with the task or with its other parts.
//!
//! Owns what two parts can have in common: words of the task, names that come in, and names that both
//! touch. Says nothing as long as no part fits the task, which may be written in other words.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use super::limit_names::words;
use super::source::SourceText;
use super::subject::Changed;
use super::test_expectations::{is_test, speaks_of_tests};
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::Token;
use crate::text::shipped::shipped_table;
use crate::text::syntax_versions::Changed as Replaced;

/// Shortest beginning that two words have in common by more than chance.
const SHORTEST: usize = 4;

/// Lines of unchanged code between two parts that are one.
const NEAR: usize = 3;

/// Files of the change that are read.
const MOST_FILES: usize = 16;

/// The words of `assets/findings/unrelated.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Names that stand everywhere and tie nothing together.
    usual: Vec<String>,
    /// Words of a task that say nothing of its subject.
    empty: Vec<String>,
    /// Beginnings of words of tasks that may touch anything.
    wide_beginnings: Vec<String>,
    /// Words that alone mean the same.
    wide_words: Vec<String>,
    /// Words for the same thing.
    same: Vec<Vec<String>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/unrelated.toml")).unwrap_or_default()
});

fn is_among(list: &[String], word: &str) -> bool {
    list.iter().any(|of| of == word)
}

/// A part of a change in one place.
struct Part {
    /// Lines of the new version, from 0.
    new: Range<usize>,
    /// Words of what it says, in small letters.
    words: BTreeSet<String>,
    /// Names of what it says.
    names: BTreeSet<String>,
    /// The function that it is in.
    function: Option<String>,
    /// The function that a header declares below it, of which a comment there speaks.
    declares: Option<String>,
    /// Whether code that was there is changed.
    changes_code: bool,
}

/// What is to be said of a file with such a part.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let may_be = is_read(path) && subject.base.is_some();
    let task = subject.context.person_words();
    let of_task = || task.split(|c: char| !c.is_alphanumeric());
    let is_wide = |word: &str| {
        is_among(&WORDS.wide_words, word)
            || WORDS.wide_beginnings.iter().any(|start| word.starts_with(start.as_str()))
    };
    let adapts_tests = is_test(path) && speaks_of_tests(&task);
    if !may_be || adapts_tests || of_task().any(is_wide) {
        return None;
    }
    let wanted = wanted_words(&task);
    // A single part is the rest of the change itself.
    let mut others = subject.context.proposed.paths().filter(|other| *other != path);
    let is_alone = others.all(|other| is_test(other) && speaks_of_tests(&task));
    if is_alone && runs_of_code(subject, &task) < 2 {
        return None;
    }
    let own = parts(path, subject.base_source()?, subject.source()?, subject.changed());
    if own.iter().all(|part| !part.changes_code) {
        return None;
    }
    let mut all: Vec<Part> = Vec::new();
    let others = subject.context.proposed.paths().filter(|other| *other != path);
    for other in others.filter(|other| is_read(other)).take(MOST_FILES) {
        let Some(is) = subject.text_after(other.as_str()) else { continue };
        let was = subject.text_before(other.as_str()).unwrap_or_default();
        let changed = Changed::between(was.as_bytes(), is.as_bytes());
        let (old, new) = (SourceText::new(other, &was), SourceText::new(other, &is));
        all.extend(parts(other, &old, &new, &changed));
    }
    let first_own = all.len();
    all.extend(own);
    let fits: Vec<bool> = all.iter().map(|part| is_wanted(part, &wanted)).collect();
    if !fits.iter().any(|fits| *fits) {
        return None;
    }
    let fits = joined(&all, fits);
    let own = all.iter().zip(&fits).skip(first_own);
    let (part, _) = own.into_iter().find(|(part, fits)| !**fits && part.changes_code)?;
    let line = u32::try_from(part.new.start + 1).ok()?;
    let text = "changes code that has nothing in common with the task or the rest of the change";
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(finding.advice("Make sure that this is meant to change, too."))
}

/// In how many places a change touches more than the tests that the task speaks of and that stand in the
/// same file of Rust.
fn runs_of_code(subject: &Subject<'_>, task: &str) -> usize {
    let lines: Vec<&str> = subject.text().unwrap_or_default().lines().collect();
    // Of a module, and not of a line that it stands in front of.
    let tests = lines.windows(2).position(
        |pair| matches!(pair, ["#[cfg(test)]", module] if module.starts_with("mod ") && module.ends_with('{')),
    );
    let tests = tests.filter(|_| speaks_of_tests(task)).unwrap_or(usize::MAX);
    let runs = subject.changed().runs();
    let of_code = runs.iter().filter(|run| run.new.start < tests).count();
    if of_code == 0 { runs.len() } else { of_code }
}

/// Whether a file is code, or says what is built and run line by line.
fn is_read(path: &ProjectPath) -> bool {
    beyond_task::is_code(path) || is_data(path)
}

fn is_data(path: &ProjectPath) -> bool {
    path.extension().is_some_and(|end| ["yaml", "yml", "sh", "ini"].contains(&end))
        || path.file_name() == "Makefile"
}

/// The parts that fit, with those that have a name in common with one that does.
fn joined(all: &[Part], mut fits: Vec<bool>) -> Vec<bool> {
    loop {
        let known: BTreeSet<&str> = all
            .iter()
            .zip(&fits)
            .filter(|(_, fits)| **fits)
            .flat_map(|(part, _)| part.names.iter().map(String::as_str))
            .collect();
        let fitting = || all.iter().zip(&fits).filter(|(_, fits)| **fits).map(|(part, _)| part);
        let is_declared = |part: &Part| {
            part.function.is_some() && fitting().any(|header| header.declares == part.function)
        };
        let is_joined = |part: &Part| {
            is_declared(part) || part.names.iter().any(|name| known.contains(&**name))
        };
        let next: Vec<bool> =
            all.iter().zip(&fits).map(|(part, fits)| *fits || is_joined(part)).collect();
        if next == fits {
            return fits;
        }
        fits = next;
    }
}

/// What a task is about: its words, its numbers, and what it gives in quotes.
fn wanted_words(task: &str) -> BTreeSet<&str> {
    let quoted = quoted_words(task);
    let words = task.split(|c: char| !c.is_alphanumeric());
    let says_something = |word: &&str| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = word.len() > 2 && !is_among(&WORDS.empty, word);
        is_word || is_number || quoted.contains(word)
    };
    words.filter(says_something).collect()
}

/// Words of two letters that a task gives in quotes: "ru".
fn quoted_words(task: &str) -> BTreeSet<&str> {
    let parts = task.split(['"', '`', '\'']).filter(|part| part.len() == 2);
    parts.filter(|part| part.chars().all(char::is_alphanumeric)).collect()
}

/// Whether a part has a word of the task, or a word for the same thing.
fn is_wanted(part: &Part, task: &BTreeSet<&str>) -> bool {
    let is_same = |own: &str, word: &str| {
        // A single digit counts where it is the value that comes.
        if word.len() == 1 {
            return own.strip_prefix('=') == Some(word);
        }
        is_alike(own, word) || WORDS.same.iter().any(|of| is_among(of, own) && is_among(of, word))
    };
    part.words.iter().any(|own| task.iter().any(|word| is_same(own, word)))
}

/// Whether one word is the beginning of the other, or both begin alike.
fn is_alike(one: &str, other: &str) -> bool {
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let shorter = one.len().min(other.len());
    one == other || common >= SHORTEST && common + 2 >= shorter || common == shorter && common >= 3
}

/// The parts of a change of a file.
fn parts(
    path: &ProjectPath,
    was: &SourceText<'_>,
    is: &SourceText<'_>,
    changed: &Changed,
) -> Vec<Part> {
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for Replaced { old, new } in changed.runs() {
        match found.last_mut() {
            Some((before, last)) if new.start <= last.end + NEAR => {
                *last = last.start..new.end.max(last.end);
                *before = before.start.min(old.start)..old.end.max(before.end);
            }
            _ => found.push((old, new)),
        }
    }
    found.into_iter().map(|(gone, came)| part(path, (was, gone), (is, came))).collect()
}

fn part(
    path: &ProjectPath,
    (old, gone): (&SourceText<'_>, Range<usize>),
    (new, came): (&SourceText<'_>, Range<usize>),
) -> Part {
    let mut found = Part {
        new: came.clone(),
        words: words(path.file_name()).map(str::to_lowercase).collect(),
        names: BTreeSet::new(),
        function: None,
        declares: None,
        changes_code: false,
    };
    let is_data = is_data(path);
    let is_plain = |line: &str| {
        let line = line.trim();
        line.is_empty()
            || is_data && line.starts_with('#')
            || line.starts_with("//")
            || line.starts_with('*')
            || line.starts_with("/*")
            || line.starts_with("#include")
    };
    found.changes_code = gone.clone().any(|line| !is_plain(old.line(line)));
    let mut read = |source: &SourceText<'_>, lines: Range<usize>| {
        for line in lines.clone() {
            found.words.extend(words(source.line(line)).map(str::to_lowercase));
        }
        match is_data {
            true => found.words.extend(above(source, lines.start)),
            false => {
                found.words.extend(words(around(source, lines.start)).map(str::to_lowercase));
            }
        }
        let names = names_of(source, &lines).into_iter();
        found.names.extend(names.filter(|name| !is_among(&WORDS.usual, name)));
    };
    // Where only numbers and signs change, names tie nothing together.
    let is_same = names_of(old, &gone) == names_of(new, &came);
    let is_header = matches!(path.extension(), Some("h" | "hpp" | "hh"));
    match is_header {
        true => found.declares = called(new.line(came.end)),
        false => found.function = called(around(new, came.start)),
    }
    read(old, gone.clone());
    read(new, came.clone());
    // A number that comes may be the one that the task names.
    let (were, are) = (numbers(old, gone), numbers(new, came));
    let come = are.difference(&were);
    found.words.extend(come.map(|digits| match digits.len() {
        1 => format!("={digits}"),
        _ => digits.clone(),
    }));
    if is_same {
        found.names.clear();
    }
    found
}

/// The numbers on some lines, by their digits.
fn numbers(source: &SourceText<'_>, lines: Range<usize>) -> BTreeSet<String> {
    let all = lines.flat_map(|line| source.line(line).split(|c: char| !c.is_ascii_digit()));
    all.filter(|digits| !digits.is_empty()).map(str::to_owned).collect()
}

/// The name before the first bracket of a line.
fn called(line: &str) -> Option<String> {
    let (before, _) = line.split_once('(')?;
    let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (name.len() > SHORTEST && !is_among(&WORDS.usual, name)).then(|| name.to_owned())
}

/// The names on some lines, in the order of their letters.
fn names_of(source: &SourceText<'_>, lines: &Range<usize>) -> Vec<String> {
    let tokens = source.tokens();
    let start = source.line_range(lines.start).start;
    let from = tokens.partition_point(|token| token.start < start);
    let end = source.line_range(lines.end).start;
    let here = tokens.iter().skip(from).take_while(|token| token.start < end);
    let mut names: Vec<String> =
        here.filter_map(Token::word).map(std::borrow::Cow::into_owned).collect();
    names.sort_unstable();
    names
}

/// The line that begins the function around a line: the nearest before it that is not indented.
fn around<'a>(source: &SourceText<'a>, line: usize) -> &'a str {
    let begins = |text: &str| {
        text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.contains('(')
    };
    let above = (0..=line).rev().take(400).map(|line| source.line(line));
    above.into_iter().find(|text| begins(text)).unwrap_or_default()
}

/// The words of the lines that a line stands below, each indented less than the one under it.
fn above(source: &SourceText<'_>, line: usize) -> Vec<String> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut depth = indent(source.line(line));
    let mut found = Vec::new();
    for text in (0..line).rev().take(400).map(|line| source.line(line)) {
        if !text.trim().is_empty() && indent(text) < depth {
            depth = indent(text);
            found.extend(words(text).map(str::to_lowercase));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;
    use crate::model::CheckKind;

    const LIGHTS: &str = "void lights_set(int light, bool on) {\n    gpio(light, on);\n}\n";
    const BATTERY: &str = "int battery_percent(int mv) {\n    return (mv - LOW) / RANGE;\n}\n";

    fn found(task: &str, lights: &str, battery: &str) -> Vec<String> {
        let files = [("main/lights.c", LIGHTS), ("main/battery.c", BATTERY)];
        let changes = [("main/lights.c", Some(lights)), ("main/battery.c", Some(battery))];
        TestProject { files: &files, task, chip: None }
            .reported(CheckKind::BeyondTask, &changes)
            .into_iter()
            .filter(|found| found.contains("in common"))
            .collect()
    }

    #[test]
    fn settings_that_the_task_does_not_speak_of_are_told() {
        let old = "substitutions:\n  max_run: 4h\n\nswitch:\n  - platform: gpio\n    id: relay\n    \
                   restore_mode: ALWAYS_OFF\n\nlogger:\n\napi:\n\nsensor:\n  - platform: dht\n";
        let new = old.replace("ALWAYS_OFF", "RESTORE_DEFAULT_ON");
        let sensor = |text: &str| format!("{text}  - platform: bme280\n    address: 0x76\n");
        let found = |task: &str, new: &str| {
            let all = TestProject { files: &[("a.yaml", old)], task, chip: None }
                .findings(CheckKind::BeyondTask, &[("a.yaml", Some(new))]);
            all.into_iter()
                .map(|(_, found)| found.place.map_or(0, |at| at.line))
                .collect::<Vec<_>>()
        };
        let task = "Add a BME280 sensor at 0x76";
        assert_eq!(found(task, &sensor(&new)), [7]);
        assert_eq!(found(task, &sensor(old)), [0_u32; 0]);
        assert_eq!(
            found("Add a BME280 and switch the relay on by default", &sensor(&new)),
            [0_u32; 0]
        );
        let shorter = sensor(&old.replace("4h", "3h"));
        assert_eq!(found("BME280 an 0x76, die Laufzeit auf 3 Stunden", &shorter), [0_u32; 0]);
        assert_eq!(found("BME280 an 0x76", &shorter), [2]);
    }

    #[test]
    fn code_that_has_nothing_to_do_with_the_rest_is_told() {
        let lights = LIGHTS.replace("gpio(light, on)", "blink(light, on)");
        let battery = BATTERY.replace("RANGE;", "RANGE / 5 * 5;");
        let text =
            "changes code that has nothing in common with the task or the rest of the change";
        let wanted = [format!("main/battery.c Warning: {text}")];
        assert_eq!(found("Let the rear light blink", &lights, &battery), wanted);
        assert_eq!(found("Report a portion of the light", &lights, &battery), wanted);
        for task in [
            "Let the rear light blink, and round the battery",
            "Refactor the lights",
            "Let all lights blink",
            "Mach das Licht an",
            "",
        ] {
            assert_eq!(found(task, &lights, &battery), [] as [String; 0], "{task}");
        }
    }

    #[test]
    fn what_has_a_name_in_common_or_only_comes_in_is_part_of_it() {
        let task = "Let the rear light blink";
        let lights = LIGHTS.replace("gpio(light, on)", "blink(light, on && mv_ok())");
        let uses = BATTERY.replace("(mv - LOW)", "(mv_ok() ? mv - LOW : 0)");
        assert_eq!(found(task, &lights, &uses), [] as [String; 0]);
        let comes = format!("{BATTERY}int other(void) {{ return 1; }}\n");
        assert_eq!(found(task, &lights, &comes), [] as [String; 0]);
        let comment = format!("/* Of the cells. */\n{BATTERY}");
        assert_eq!(found(task, &lights, &comment), [] as [String; 0]);
    }

    #[test]
    fn the_words_are_read() {
        let words: Words =
            shipped_table(include_str!("../../../assets/findings/unrelated.toml")).unwrap();
        assert!(words.same.iter().all(|of| of.len() > 1));
        assert!(!WORDS.usual.is_empty() && !WORDS.wide_beginnings.is_empty());
    }

    #[test]
    fn a_name_ties_parts_together_over_others() {
        let lights = LIGHTS.replace("gpio(light, on)", "blink(light, on && awake())");
        let battery = BATTERY.replace("(mv - LOW)", "(awake() ? mv - floor_mv() : 0)");
        let files = [
            ("main/lights.c", LIGHTS),
            ("main/battery.c", BATTERY),
            ("main/charge.c", "int charge_now(void) {\n    return 3;\n}\n"),
        ];
        let third = |line: &str| format!("int charge_now(void) {{\n    {line}\n}}\n");
        let of = |line: &str| {
            let charge = third(line);
            let changes = [
                ("main/lights.c", Some(lights.as_str())),
                ("main/battery.c", Some(battery.as_str())),
                ("main/charge.c", Some(charge.as_str())),
            ];
            let task = "Let the rear light blink";
            let all = TestProject { files: &files, task, chip: None }
                .reported(CheckKind::BeyondTask, &changes);
            all.iter().filter(|found| found.contains("in common")).count()
        };
        assert_eq!(of("return floor_mv() - 3;"), 0, "lights, battery, charge");
        assert_eq!(of("return other_mv() - 3;"), 1);
    }

    #[test]
    fn words_that_begin_alike_are_of_the_same_thing() {
        for (one, other) in
            [("temp", "temperature"), ("blinks", "blinking"), ("led", "leds"), ("rate", "rates")]
        {
            assert!(is_alike(one, other) && is_alike(other, one), "{one} {other}");
        }
        for (one, other) in [("on", "one"), ("battery", "bathroom"), ("time", "tire"), ("a", "b")] {
            assert!(!is_alike(one, other), "{one} {other}");
        }
    }
}
