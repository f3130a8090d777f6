//! Whether a file is among those that the task is about.
//!
//! Compares names with words; what cannot be told from them is not told.

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use super::test_expectations::{is_test, speaks_of_tests};
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

const ONLY_OTHERS: &str = "the task names the only files to change, and not this one";

const TO_STAY: &str = "the task says that this stays as it is";

const PLANNED_TO_STAY: &str = "the plan says that this stays as it is";

const NOT_TO_BE_DELETED: &str = "deletes a file that neither the task nor the plan names";

/// The check of a file, once somebody said what the run is about.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if !subject.context.has_task() {
        return None;
    }
    let words = subject.context.planned_words();
    let deletes = matches!(subject.change, Change::Delete { .. });
    let (level, text) = match mention(path, &words) {
        _ if is_kept(path, &words) => {
            let is_by_person = is_kept(path, &subject.context.person_words());
            (FindingLevel::Warning, if is_by_person { TO_STAY } else { PLANNED_TO_STAY })
        }
        Mention::None if deletes && is_test(path) && !speaks_of_tests(&words) => {
            (FindingLevel::Warning, "deletes tests, which nobody asked for")
        }
        Mention::None if path.file_name() == "CODEOWNERS" => {
            (FindingLevel::Warning, "changes who has to approve changes, which nobody asked for")
        }
        Mention::Named => (FindingLevel::Note, "asked for by name"),
        // A word of its folder says nothing of the test.
        Mention::Alike | Mention::Related
            if deletes && is_test(path) && !speaks_of_tests(&words) =>
        {
            (FindingLevel::Warning, "deletes tests, which nobody asked for")
        }
        Mention::Alike => (FindingLevel::Note, "asked for"),
        Mention::Related if is_exclusive(&words) => (FindingLevel::Warning, ONLY_OTHERS),
        Mention::Related => {
            (FindingLevel::Note, "not named itself; the task names a file of the same name")
        }
        Mention::None if subject.context.is_listed(path) => {
            (FindingLevel::Note, "asked for in the team's list of files")
        }
        Mention::None if subject.context.has_list() => match deletes {
            true => (FindingLevel::Warning, NOT_TO_BE_DELETED),
            false => (FindingLevel::Note, "not asked for, and not in the team's list of files"),
        },
        // Without it the files that the task names would not be built.
        Mention::None if lists_others(path, subject) => {
            (FindingLevel::Note, "only names the files that come or go")
        }
        Mention::None if is_exclusive(&words) => (FindingLevel::Warning, ONLY_OTHERS),
        Mention::None if is_about_documents(&words) && !is_document(path.file_name()) => {
            (FindingLevel::Warning, "the task is about documents, and this is none")
        }
        // A task that names no file says nothing about a single one.
        Mention::None if !speaks_of_files(&words) => return None,
        Mention::None if deletes => (FindingLevel::Warning, NOT_TO_BE_DELETED),
        Mention::None => (FindingLevel::Note, "not named in the task or the plan"),
    };
    Some(Check::with(CheckKind::Scope, vec![Finding::new(level, text)]))
}

/// Whether a list of sources differs in nothing but the names of files that the change makes or deletes.
fn lists_others(path: &ProjectPath, subject: &Subject<'_>) -> bool {
    let (Some(old), Some(new)) = (subject.base_text(), subject.text()) else { return false };
    let comes_or_goes = |file: &&ProjectPath| {
        let (was, is) = (subject.text_before(file.as_str()), subject.text_after(file.as_str()));
        was.is_some() != is.is_some()
    };
    let moved = subject.context.proposed.paths().filter(comes_or_goes);
    let moved: Vec<&str> = moved.map(ProjectPath::as_str).collect();
    let rest = |text: &str| -> Vec<String> {
        let all = text.split(|c: char| c.is_whitespace() || "\"()".contains(c));
        let all = all.filter(|word| !word.is_empty());
        let is_end = |of: &str, word: &str| {
            of.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_moved = |word: &&str| moved.iter().any(|path| is_end(path, word));
        all.filter(|word| !is_moved(word)).map(str::to_owned).collect()
    };
    path.file_name() == "CMakeLists.txt" && !moved.is_empty() && rest(old) == rest(new)
}

/// What the task says against writing to a board at all.
static BOARD_KEPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b(?:do\ not|don't|never|must\ not|not\ to)\ (?:\w+\ ){0,2}?(?:re)?flash\b
        |\bwithout\ (?:re)?flashing\b
        |\b(?:leave|keep)\ the\ (?:board|device|unit)s?\ (?:alone|untouched|as\ (?:it\ is|they\ are)|running)
        |\b(?:do\ not|don't|never|without|must\ not)\ (?:touch|writ|program|upload|reset|disturb)\w*\ (?:to\ |anything\ to\ )?(?:the\ |any\ )?(?:board|device|unit|target)
        |\b(?:board|gerät|platine|steuerung|steuergerät)\b[^.!?\n]*\bnicht\ (?:anfassen|flashen|beschreiben|anrühren|berühren|neu\ starten)
        |\bnicht(?:s)?\ (?:auf\ (?:das|dem|die)\ \w+\ )?flashen
        |\bne\ (?:pas\ )?(?:flash|touch|programm)\w*\ (?:pas\ )?(?:la\ carte|le\ module|l'appareil|rien)
        |\bno\ (?:flashe|grabe|program|toque|toca)\w*\ (?:la\ placa|el\ dispositivo|nada)",
    )
    .ok()
});

/// Whether a sentence, in small letters, says that a board is to be left alone. A lamp flashes, too.
fn keeps_board(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    let is_of_lamp = words.any(|word| {
        matches!(word, "led" | "leds" | "lamp" | "lamps" | "light" | "lights" | "beacon" | "screen")
    });
    !is_of_lamp && BOARD_KEPT.as_ref().is_some_and(|pattern| pattern.is_match(sentence))
}

/// The check of what is written to a board; `None` unless the task says that it is to be left alone.
pub(super) fn of_board(subject: &Subject<'_>) -> Option<Check> {
    const SPEAK: [&str; 9] =
        ["flash", "board", "device", "upload", "unit", "gerät", "placa", "carte", "platine"];
    let words = subject.context.person_words();
    // What was said last counts.
    let speaks = |line: &&str| SPEAK.iter().any(|word| line.contains(word));
    let newest = words.lines().rev().find(speaks)?;
    let is_kept = newest.split(['.', '!', '?', ';']).any(keeps_board);
    let text = "writes to the board, which the task says to leave alone";
    let finding = Finding::new(FindingLevel::Warning, text).advice("Ask before it is written.");
    is_kept.then(|| Check::with(CheckKind::Scope, vec![finding]))
}

/// Whether the person asked for this very file.
pub(super) fn is_named(path: &ProjectPath, subject: &Subject<'_>) -> bool {
    mention(path, &subject.context.person_words()) == Mention::Named
}

/// How a file is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    /// By its name or path.
    Named,
    /// By a word of its name.
    Alike,
    /// Only by the name of another file, `pump.c` for `pump.h`.
    Related,
    /// Not at all.
    None,
}

fn mention(path: &ProjectPath, words: &str) -> Mention {
    let whole = path.as_str().to_lowercase();
    let name = path.file_name().to_lowercase();
    if words.contains(&whole) || (name.len() > SHORTEST && words.contains(&name)) {
        return Mention::Named;
    }
    let tells = |part: &&str| part.len() >= SHORTEST && !COMMON.contains(part);
    let parts: Vec<&str> = whole.split(|c: char| !c.is_alphanumeric()).filter(tells).collect();
    let is_in = |words: &str| parts.iter().any(|part| speaks_of(words, part));
    // "the README", "Kconfig"
    if ["readme", "kconfig", "changelog", "makefile", "dockerfile"].iter().any(|stem| {
        let of_words = || words.split(|c: char| !c.is_alphanumeric());
        name.split('.').next() == Some(*stem) && of_words().any(|word| word == *stem)
    }) {
        return Mention::Alike;
    }
    if !is_in(words) {
        return Mention::None;
    }
    let plain: Vec<&str> = words.split_whitespace().filter(|word| !is_file(word)).collect();
    match is_in(&plain.join(" ")) {
        true => Mention::Alike,
        false => Mention::Related,
    }
}

/// Whether a word is one of those in a text, also as its plural.
fn speaks_of(words: &str, part: &str) -> bool {
    words
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == part || (part.len() > SHORTEST && word.trim_end_matches('s') == part))
}

/// Ends of the names of files.
const ENDINGS: [&str; 24] = [
    ".c",
    ".h",
    ".cpp",
    ".hpp",
    ".cc",
    ".hh",
    ".ino",
    ".rs",
    ".s",
    ".txt",
    ".csv",
    "sdkconfig",
    ".defaults",
    ".yml",
    ".yaml",
    ".py",
    ".cmake",
    ".ini",
    ".json",
    ".toml",
    ".html",
    ".projbuild",
    "kconfig",
    ".sh",
];

/// Whether the words name files at all, so that a file they do not name stands out.
fn speaks_of_files(words: &str) -> bool {
    words.split_whitespace().any(is_file)
}

fn is_file(word: &str) -> bool {
    /// Programs that come with the tools.
    const PROGRAMS: [&str; 8] = [
        "idf.py",
        "esptool.py",
        "espefuse.py",
        "espsecure.py",
        "parttool.py",
        "otatool.py",
        "nvs_partition_gen.py",
        "gen_esp32part.py",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    if PROGRAMS.contains(&word) {
        return false;
    }
    ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a file, or a word that names one, is for people to read.
fn is_document(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let stem = name.split('.').next().unwrap_or(name);
    [".md", ".rst", ".adoc"].iter().any(|ending| name.ends_with(ending))
        || matches!(stem, "readme" | "changelog" | "license" | "contributing")
}

/// Whether the words name a document before anything else, and no other file.
fn is_about_documents(words: &str) -> bool {
    let all: Vec<&str> = words.split_whitespace().collect();
    let Some(first) = all.iter().position(|word| is_document(word)) else { return false };
    let before = all.get(..first).unwrap_or_default();
    let adds = ["and", "also", "well", "und", "et", "y"];
    let is_later = before.iter().any(|word| {
        adds.contains(word) || word.starts_with('(') || word.ends_with([',', '.', ';', ':'])
    });
    !is_later && !all.iter().any(|word| is_file(word) && !is_document(word))
}

/// Words that leave no room for other files.
static EXCLUSIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let file = r"(?:the )?(?:file )?[`'\x22]?[\w/.-]*\w\.(?:c|h|cpp|hpp|cc|hh|ino|rs|py|csv|md|txt|yml|ini|defaults|projbuild|html|json)\b[`'\x22]?";
    let pattern = format!(
        r"\b(?:only|just|solely) (?:(?:change|edit|touch|modify|update|in|to) )?{file}|{file} only(?:[.,;!)]|$|\s+(?:and|please|-))|\bnothing else\b|\bno other files?\b|\b(?:not|n't|without) (?:\w+ )?(?:touch|chang|modify|edit)\w* (?:anything|any other|other files|another)|\bother files? (?:alone|untouched|unchanged|as)"
    );
    Regex::new(&pattern).ok()
});

fn is_exclusive(words: &str) -> bool {
    speaks_of_files(words) && EXCLUSIVE.as_ref().is_some_and(|pattern| pattern.is_match(words))
}

/// What is to stay as it is: `leave … alone`, `do not touch …`.
static KEPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:leave|keep) (?:the )?((?:[\w/.-]+ ?){1,5}?) ?(?:alone\b|untouched\b|unchanged\b|as (?:it is|they are|is)\b)|\b(?:do not|don't|never|without) (?:touch|chang|modify|edit)(?:e|ing)? (?:the )?(?:file )?((?:[\w/-]|\.\w)+(?: (?:code|file|part|module|component|settings))?(?:(?:,|,? or|,? nor|,? and) (?:the )?(?:[\w/-]|\.\w)+\.\w+)*)(?:[.,;!]|\s*$|\s+or\b|\s+and\b)|((?:[\w/-]|\.\w)+) (?:must|has to|have to|should|shall) (?:still |all )?(?:pass|work|stay|remain|run) (?:as (?:it is|they are|is)|unchanged)\b",
    )
    .ok()
});

/// Whether the words say that a file stays as it is, and do not ask for it elsewhere.
fn is_kept(path: &ProjectPath, words: &str) -> bool {
    let Some(pattern) = KEPT.as_ref() else { return false };
    let bare = |text: &str| text.replace(['-', '_', ' '], "");
    let newest = words.lines().rev().find_map(|line| {
        let mut rest = line.to_owned();
        let mut is_kept = false;
        for found in pattern.captures_iter(line) {
            let named = found.iter().skip(1).flatten().next().map_or("", |named| named.as_str());
            // `the other partitions`: what else a file holds.
            let is_rest = named.split(' ').any(|word| ["other", "others", "rest"].contains(&word))
                && mention(path, named) != Mention::Named;
            if is_rest || [" of ", " in "].iter().any(|word| named.contains(word)) {
                continue;
            }
            is_kept |= [named.to_owned(), bare(named)]
                .iter()
                .any(|named| mention(path, named) != Mention::None);
            rest = rest.replace(found.get(0).map_or("", |whole| whole.as_str()), " ");
        }
        let is_asked_for = mention(path, &rest) == Mention::Named;
        (is_kept || is_asked_for).then_some(is_kept && !is_asked_for)
    });
    newest.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{check, checks_of};
    use super::*;
    use crate::model::TurnEvent;

    #[test]
    fn a_task_that_leaves_the_board_alone_says_so() {
        let keeps = |task: &str| task.split(['.', ';']).any(keeps_board);
        for task in [
            "fix the typo. do not flash",
            "correct the comment without flashing the board",
            "please don't touch the board, it is measuring",
            "leave the board alone",
            "das board hängt gerade im dauertest am zähler, bitte nicht anfassen",
            "corrige le commentaire, ne pas flasher la carte",
            "no toques la placa",
        ] {
            assert!(keeps(task), "{task}");
        }
        for task in [
            "flash it",
            "the board cannot be flashed: find out why",
            "the led must not flash while the door is open",
            "use it without external flash",
            "don't touch the driver, then flash the board",
            "let the led of the board flash",
            "leave the driver alone and write it to the board",
        ] {
            assert!(!keeps(task), "{task}");
        }
    }

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
    fn tests_go_only_when_the_task_speaks_of_them() {
        for (path, is) in [
            ("test/test_battery/a.cpp", true),
            ("main/tests/a.c", true),
            ("main/test_a.c", true),
            ("main/a_test.cpp", true),
            ("main/attest.c", false),
            ("main/contest/a.c", false),
        ] {
            assert_eq!(is_test(&ProjectPath::new(path).unwrap()), is, "{path}");
        }
        let level = |task: &str, path: &str| {
            let (path, base) = (ProjectPath::new(path).unwrap(), b"int a;\n".to_vec());
            let checks = checks_of(crate::model::DraftChange::Delete { path, base }, task);
            checks.iter().find(|check| check.kind == CheckKind::Scope)?.level()
        };
        let latest = level("use the latest broker", "test/battery.cpp");
        assert_eq!(latest, Some(FindingLevel::Warning));
        assert_eq!(level("publish the charge", "test/battery.cpp"), Some(FindingLevel::Warning));
        assert_eq!(level("publish the charge", "battery.cpp"), None);
        let asked = level("remove the tests of the battery", "test/battery.cpp");
        assert_eq!(asked, Some(FindingLevel::Note));
    }

    #[test]
    fn a_task_about_one_file_only_makes_every_other_one_a_warning() {
        let level = |task: &str, path: &str| {
            check(CheckKind::Scope, (path, None, "int a;\n"), task)?.level()
        };
        let (note, warning) = (Some(FindingLevel::Note), Some(FindingLevel::Warning));
        let only = "fix the limit, change only main/pump.c";
        assert_eq!(level(only, "main/pump.c"), note);
        assert_eq!(level(only, "main/pump.h"), warning);
        assert_eq!(level(only, "main/wifi.c"), warning);
        let open = "fix the limit in main/pump.c";
        assert_eq!([level(open, "main/pump.h"), level(open, "main/wifi.c")], [note, note]);
        assert_eq!(level("make it blink", "main/wifi.c"), None);
    }

    #[test]
    fn a_file_is_asked_for_by_its_name_or_a_word_of_it() {
        let request = "fix the pump limits in main/pump.c and clean the sensors up";
        let of = |path: &str| mention(&ProjectPath::new(path).unwrap(), request);
        assert_eq!(of("main/pump.c"), Mention::Named);
        assert_eq!(of("main/sensor.c"), Mention::Alike);
        assert_eq!(of("main/wifi_station.c"), Mention::None);
        assert_eq!(of("main/main.c"), Mention::None);
        assert!(speaks_of_files(request) && !speaks_of_files("make it blink"));
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

    /// What the check tells of a change of a project with `led.c`.
    fn reported_with(
        task: &str,
        steps: &[&str],
        change: crate::model::DraftChange,
    ) -> Option<(FindingLevel, String)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("led.c"), "int a;\n").unwrap();
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let mut context = super::super::FindingsContext::default();
        context.task = task.to_owned();
        let item = |step: &&str| crate::model::PlanItem { task: (*step).to_owned(), agent: None };
        context.plan = steps.iter().map(item).collect();
        let draft = crate::model::Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], &context);
        let check = made[0].checks.iter().find(|check| check.kind == CheckKind::Scope);
        check.map(|check| (check.findings[0].level, check.findings[0].text.clone()))
    }

    fn save() -> crate::model::DraftChange {
        let path = ProjectPath::new("led.c").unwrap();
        let (base, content) = (Some(b"int a;\n".to_vec()), b"int b;\n".to_vec());
        crate::model::DraftChange::Save { path, base, content }
    }

    #[test]
    fn who_says_that_a_file_stays_as_it_is_is_named() {
        let steps = ["Change pump.c", "Leave led.c as it is"];
        assert_eq!(reported_with("Raise the limit", &steps, save()).unwrap().1, PLANNED_TO_STAY);
        let task = "Raise the limit. Do not touch led.c";
        assert_eq!(reported_with(task, &steps, save()).unwrap().1, TO_STAY);
    }

    #[test]
    fn a_file_that_nobody_named_stands_out_where_files_are_named() {
        let reported = |task: &str, change| reported_with(task, &[], change);
        let path = ProjectPath::new("led.c").unwrap();
        let base = b"int a;\n".to_vec();
        let delete =
            || crate::model::DraftChange::Delete { path: path.clone(), base: base.clone() };
        let not_named = "not named in the task or the plan";
        assert_eq!(reported("change pump.c", save()), Some((FindingLevel::Note, not_named.into())));
        let warned = Some((FindingLevel::Warning, NOT_TO_BE_DELETED.to_owned()));
        assert_eq!(reported("change pump.c", delete()), warned);
        assert_eq!(reported("make it faster", save()), None);
        assert_eq!(reported("make it faster", delete()), None);
        assert_eq!(reported(" ", save()), None, "nobody said what it is about");
        let move_it = "Move the pump into a component of its own, and change nothing else";
        assert_eq!(reported(move_it, save()), None, "no file is named");
        let owners = |task: &str| {
            let base = Some(b"* @a\n".to_vec());
            let path = ProjectPath::new(".github/CODEOWNERS").unwrap();
            let content = b"* @b\n".to_vec();
            reported(task, crate::model::DraftChange::Save { path, base, content }).map(|it| it.0)
        };
        assert_eq!(owners("Make it faster"), Some(FindingLevel::Warning));
        assert_eq!(owners("Put b into CODEOWNERS"), Some(FindingLevel::Note));
        let only = "the task names the only files to change, and not this one";
        for (task, text) in [
            ("Fix the typo in README.md", "the task is about documents, and this is none"),
            (
                "Write a README that says how to build",
                "the task is about documents, and this is none",
            ),
            ("Change only main/pump.c: stop after 30 s", only),
            ("Raise the limit in pump.c, and change nothing else", only),
            ("Raise the limit in pump.c. Do not touch any other file.", only),
            ("Change pump.c. Leave the LED alone.", TO_STAY),
            ("Change pump.c; do not touch led.c", TO_STAY),
            ("Make pump.c faster (led.c must work as it is)", TO_STAY),
            ("Change pump.c. Never change wifi.c or led.c.", TO_STAY),
            ("Change pump.c, and do not touch wifi.c, led.c and main.c", TO_STAY),
        ] {
            assert_eq!(
                reported(task, save()),
                Some((FindingLevel::Warning, text.into())),
                "{task}"
            );
        }
        for task in [
            "Make led.c blink, and say so in README.md",
            "Change only led.c",
            "Let led.c blink (also name it in the README)",
            "Do not change the interface of led.c, only its period",
            "Leave the limits in pump.c alone and change led.c",
        ] {
            let level = reported(task, save()).map(|(level, _)| level);
            assert_eq!(level, Some(FindingLevel::Note), "{task}");
        }
    }
}
