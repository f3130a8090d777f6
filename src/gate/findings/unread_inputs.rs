//! Inputs that protect and that a program no longer reads: `gpio_get_level(PIN_DOOR)`.
//!
//! Owns which pins protect, by their names, and how a pin is read. Conditions that lose a part are told
//! by [`lost_conditions`](super::lost_conditions).

use std::collections::BTreeSet;

use super::limit_names::words;
use super::source::SourceText;
use super::{Subject, unchecked_limits, unguarded, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Functions that read the level of a pin. Sources: `gpio.h` of ESP-IDF and the Arduino core.
const READS: [&str; 5] =
    ["gpio_get_level", "digitalRead", "gpio_ll_get_level", "rtc_gpio_get_level", "touchRead"];

/// Functions that are followed from one.
const MOST_CALLED: usize = 40;

/// What is to be said of an input that nothing reads any longer.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let reads = |text: &str| READS.iter().any(|name| text.contains(name));
    let task = subject.context.person_words();
    if task.is_empty() || subject.changed().removed.is_empty() || !reads(old.text) {
        return None;
    }
    if wishes::may_want_less_checked(&task) || wishes::may_want_another(&task) {
        return None;
    }
    let is = read(new);
    let others = subject.context.proposed.texts().filter(|(other, _)| *other != path);
    let others: Vec<&str> = others.map(|(_, text)| text).filter(|text| reads(text)).collect();
    let is_meant = |name: &str| {
        words(name).any(|word| unguarded::is_input(word) && task.contains(&word.to_lowercase()))
    };
    let (_, name, line) = read(old).into_iter().find(|(function, name, _)| {
        let is_elsewhere = || others.iter().any(|text| text.contains(name.as_str()));
        let stays =
            || is.iter().any(|(other, read, _)| read == name && is_called(other, function, new));
        unguarded::is_input(name) && !is_meant(name) && !stays() && !is_elsewhere()
    })?;
    let text = format!("no longer reads `{name}`");
    let mut finding = Finding::new(FindingLevel::Warning, text)
        .advice("Make sure that nothing needs this input.");
    finding.place = unchecked_limits::near(line, subject).map(FindingPlace::line);
    Some(finding)
}

/// Whether a function of a source is another one, or is called by it, also through others. One that is
/// not there any longer may have any name now.
fn is_called(name: &str, by: &str, source: &SourceText<'_>) -> bool {
    let is_there = |name: &str| !source.body(name).is_empty();
    let (mut known, mut open) = (BTreeSet::from([by.to_owned()]), vec![by.to_owned()]);
    if name == by || !is_there(by) {
        return true;
    }
    while let Some(next) = open.pop().filter(|_| known.len() < MOST_CALLED) {
        let body = source.body(&next);
        for word in body.split(' ').filter(|word| has_function(source, word)) {
            if word == name {
                return true;
            }
            if known.insert(word.to_owned()) {
                open.push(word.to_owned());
            }
        }
    }
    false
}

fn has_function(source: &SourceText<'_>, function: &str) -> bool {
    let name = |at: usize| source.tokens().get(at).map(|token| token.raw);
    source.functions().iter().any(|it| name(it.name) == Some(function))
}

/// The pins that the functions of a source read: the function, the pin, and the line, from 1.
fn read(source: &SourceText<'_>) -> Vec<(String, String, u32)> {
    let tokens = source.tokens();
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let text = |at: usize| tokens.get(at).map_or("", |token| token.raw).to_owned();
    let mut found = Vec::new();
    for function in source.functions() {
        for at in function.body.clone() {
            let Some(token) = tokens.get(at).filter(|token| READS.contains(&token.raw)) else {
                continue;
            };
            if is(at + 1, "(") && is(at + 3, ")") {
                let line = source.number_at(token.start);
                found.push((text(function.name), text(at + 2), line));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{TestProject, reported};
    use crate::model::CheckKind;

    const OLD: &str = "#define PIN_DOOR 4\n#define PIN_LED 5\nvoid step(float t)\n{\n    \
                       if (gpio_get_level(PIN_DOOR) != 0) {\n        ssr(false);\n        return;\n    \
                       }\n    led(gpio_get_level(PIN_LED));\n    heat(t);\n}\n";

    const CHECK: &str =
        "    if (gpio_get_level(PIN_DOOR) != 0) {\n        ssr(false);\n        return;\n    }\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/kiln.c", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("no longer reads")).collect()
    }

    #[test]
    fn an_input_that_nothing_reads_any_longer_is_told() {
        let split = OLD.replace(CHECK, "    if (!sensor_ok()) return;\n");
        let task = "Split step, which holds the pin of the led, into smaller functions";
        assert_eq!(found(&split, task), ["Warning 5: no longer reads `PIN_DOOR`"]);
        for asked in
            ["Remove the door contact", "The door is open: heat anyway", "Replace the kiln"]
        {
            assert_eq!(found(&split, asked), [] as [String; 0], "{asked}");
        }
        let calls = split.replace("sensor_ok()", "blocked()");
        let moved = format!(
            "bool door(void) {{ return gpio_get_level(PIN_DOOR) != 0; }}\nbool blocked(void) {{ return door(); }}\n{calls}"
        );
        assert_eq!(found(&moved, task), [] as [String; 0]);
        let started = format!("{split}void start(void) {{ go(gpio_get_level(PIN_DOOR)); }}\n");
        assert_eq!(found(&started, task).len(), 1, "another function reads it");
        let led = OLD.replace("gpio_get_level(PIN_LED)", "1");
        assert_eq!(found(&led, task), [] as [String; 0], "it protects nothing");
        let other = "bool door(void) { return gpio_get_level(PIN_DOOR) != 0; }\n";
        let changes = [("main/kiln.c", Some(split.as_str())), ("main/door.c", Some(other))];
        let all = TestProject { files: &[("main/kiln.c", OLD)], task, chip: None }
            .reported(CheckKind::Safeguards, &changes);
        assert!(!all.iter().any(|found| found.contains("no longer reads")), "{all:?}");
    }
}
