//! Whether a file is among those that the task is about.
//!
//! Compares names with words; what cannot be told from them is not told.

use super::Subject;
use crate::model::{Change, Check, CheckKind, Finding, FindingLevel, ProjectPath};

/// Shortest part of a name that counts as a word.
const SHORTEST: usize = 3;

/// Parts of names that say nothing about what a file is for.
const COMMON: &[&str] = &[
    "app",
    "src",
    "main",
    "include",
    "inc",
    "lib",
    "libs",
    "test",
    "tests",
    "the",
    "component",
    "components",
    "cmakelists",
    "txt",
    "cpp",
    "hpp",
    "ino",
    "defaults",
    "new",
    "old",
    "esp",
    "esp32",
];

const NOT_TO_BE_DELETED: &str = "deletes a file that neither the task nor the plan names";

/// The check of a file, once somebody said what the run is about.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if !subject.context.has_task() {
        return None;
    }
    let words = subject.context.words();
    let deletes = matches!(subject.change, Change::Delete { .. });
    let (level, text) = match mention(path, &words) {
        Mention::Named => (FindingLevel::Note, "asked for by name"),
        Mention::Alike => (FindingLevel::Note, "asked for"),
        Mention::None if subject.context.is_listed(path) => {
            (FindingLevel::Note, "asked for in the team's list of files")
        }
        Mention::None if subject.context.has_list() => match deletes {
            true => (FindingLevel::Warning, NOT_TO_BE_DELETED),
            false => (FindingLevel::Note, "not asked for, and not in the team's list of files"),
        },
        // A task that names no file says nothing about a single one.
        Mention::None if !speaks_of_files(&words) => return None,
        Mention::None if deletes => (FindingLevel::Warning, NOT_TO_BE_DELETED),
        Mention::None => (FindingLevel::Note, "not named in the task or the plan"),
    };
    Some(Check::with(CheckKind::Scope, vec![Finding::new(level, text)]))
}

/// How a file is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    /// By its name or path.
    Named,
    /// By a word of its name.
    Alike,
    /// Not at all.
    None,
}

fn mention(path: &ProjectPath, words: &str) -> Mention {
    let whole = path.as_str().to_lowercase();
    let name = path.file_name().to_lowercase();
    if words.contains(&whole) || (name.len() > SHORTEST && words.contains(&name)) {
        return Mention::Named;
    }
    let parts = whole.split(|c: char| !c.is_alphanumeric());
    let tells = |part: &&str| part.len() >= SHORTEST && !COMMON.contains(part);
    let is_word = |part: &str| {
        words.split(|c: char| !c.is_alphanumeric()).any(|word| {
            word == part || (part.len() > SHORTEST && word.trim_end_matches('s') == part)
        })
    };
    match parts.filter(tells).any(is_word) {
        true => Mention::Alike,
        false => Mention::None,
    }
}

/// Whether the words name files at all, so that a file they do not name stands out.
fn speaks_of_files(words: &str) -> bool {
    let endings = [".c", ".h", ".cpp", ".ino", ".txt", ".csv", "sdkconfig", ".yml", ".py"];
    words.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        endings.iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TurnEvent;

    #[test]
    fn a_list_of_the_team_tells_what_was_not_asked_for() {
        use crate::model::{CallId, Event, ToolName, TurnId};
        use serde_json::json;

        let mut context = super::super::FindingsContext::default();
        context.task = "make it blink".into();
        let call = |call, name: &str| {
            Event::Turn(TurnEvent::ToolCalled {
                turn: TurnId(1),
                call: CallId(call),
                tool: ToolName::from("file_name_checker"),
                args: json!({ "files": [{ "file_name": name, "description": "x" }] }),
            })
        };
        let answer = |call, ok| {
            Event::Turn(TurnEvent::ToolAnswered {
                call: CallId(call),
                result: json!({ "ok": ok }),
                millis: 1,
            })
        };
        let path = |path: &str| ProjectPath::new(path).unwrap();
        context.observe(&call(1, "main/gpio.h"));
        context.observe(&answer(1, false));
        assert!(!context.has_list(), "a list that was refused counts for nothing");
        context.observe(&call(2, "main/lamp.c"));
        assert!(!context.has_list(), "nor does one without an answer");
        context.observe(&answer(2, true));
        assert!(context.is_listed(&path("main/lamp.c")));
        assert!(context.has_list() && !context.is_listed(&path("main/gpio.h")));
    }

    #[test]
    fn a_file_is_asked_for_by_its_name_or_a_word_of_it() {
        let said = "fix the pump limits in main/pump.c and clean the sensors up";
        let of = |path: &str| mention(&ProjectPath::new(path).unwrap(), said);
        assert_eq!(of("main/pump.c"), Mention::Named);
        assert_eq!(of("main/sensor.c"), Mention::Alike);
        assert_eq!(of("main/wifi_station.c"), Mention::None);
        assert_eq!(of("main/main.c"), Mention::None);
        assert!(speaks_of_files(said) && !speaks_of_files("make it blink"));
    }

    #[test]
    fn a_name_alone_is_a_mention_and_a_short_one_is_not() {
        let of = |path: &str, words: &str| mention(&ProjectPath::new(path).unwrap(), words);
        assert_eq!(of("main/pump.c", "look at pump.c"), Mention::Named);
        assert_eq!(of("main/a.c", "look at a.cpp"), Mention::None, "three letters may be anything");
        assert_eq!(of("main/led.c", "blink the led"), Mention::Alike);
        assert_eq!(of("main/gas.c", "switch the ga on"), Mention::None);
        assert_eq!(
            of("main/led.c", "blink the leds"),
            Mention::None,
            "a short word is taken as it is"
        );
        assert_eq!(of("main/pumps.c", "stop the pump"), Mention::None);
    }

    #[test]
    fn a_file_that_nobody_named_stands_out_where_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("led.c"), "int a;\n").unwrap();
        let sandbox = crate::workspace::Sandbox::open(folder.path()).unwrap();
        let told = |task: &str, change: crate::model::DraftChange| {
            let mut context = super::super::FindingsContext::default();
            context.task = task.to_owned();
            let draft = crate::model::Draft { change, reason: String::new(), checks: Vec::new() };
            let made = crate::gate::examine(&sandbox, vec![draft], &context);
            let check = made[0].checks.iter().find(|check| check.kind == CheckKind::Scope);
            check.map(|check| (check.findings[0].level, check.findings[0].text.clone()))
        };
        let path = ProjectPath::new("led.c").unwrap();
        let (base, content) = (b"int a;\n".to_vec(), b"int b;\n".to_vec());
        let save = || crate::model::DraftChange::Save {
            path: path.clone(),
            base: Some(base.clone()),
            content: content.clone(),
        };
        let delete =
            || crate::model::DraftChange::Delete { path: path.clone(), base: base.clone() };
        let not_named = "not named in the task or the plan";
        assert_eq!(told("change pump.c", save()), Some((FindingLevel::Note, not_named.into())));
        let warned = Some((FindingLevel::Warning, NOT_TO_BE_DELETED.to_owned()));
        assert_eq!(told("change pump.c", delete()), warned);
        assert_eq!(told("make it faster", save()), None);
        assert_eq!(told("make it faster", delete()), None);
        assert_eq!(told(" ", save()), None, "nobody said what it is about");
    }
}
