//! Whether a task is about words, form or names alone, so that nothing a program does is to change.
//!
//! Owns how orders are read; the words are those of `assets/findings/tasks.toml`. Says nothing where
//! an order may ask for more. Must not know a change.

use std::sync::LazyLock;

use crate::text::shipped::shipped_table;
use foldhash::HashSet;
use regex::Regex;
use serde::Deserialize;

/// What a task is about, that leaves a program as it is. The later ones leave more open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskKind {
    /// White space and where lines end.
    Format,
    /// Comments.
    Comments,
    /// Comments, and the texts that people read.
    Wording,
    /// Names, and where code stands: values stay.
    Structure,
}

impl TaskKind {
    /// What the task is about, for a sentence.
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Format => "formatting",
            Self::Comments => "comments",
            Self::Wording => "wording",
            Self::Structure => "names and the order of the code",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskWords {
    orders: HashSet<String>,
    polite: HashSet<String>,
    explaining: HashSet<String>,
    demands: HashSet<String>,
    naming: HashSet<String>,
    stays: HashSet<String>,
    alone: KindWords,
    subject: KindWords,
    between: HashSet<String>,
    produced: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindWords {
    comments: HashSet<String>,
    wording: HashSet<String>,
    format: HashSet<String>,
    structure: HashSet<String>,
}

impl KindWords {
    fn of(&self, word: &str) -> Option<TaskKind> {
        let all = [
            (&self.comments, TaskKind::Comments),
            (&self.wording, TaskKind::Wording),
            (&self.format, TaskKind::Format),
            (&self.structure, TaskKind::Structure),
        ];
        all.into_iter().find(|(words, _)| words.contains(word)).map(|(_, kind)| kind)
    }
}

static WORDS: LazyLock<Option<TaskWords>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/tasks.toml")));

/// Words between an order and its subject.
const NEAR: usize = 9;

/// What stands in the place of a text in quotes: a name.
const QUOTED: &str = "x_";

/// What a task in small letters is about; `None` where it may ask for anything.
pub(super) fn of(task: &str) -> Option<TaskKind> {
    let known = WORDS.as_ref()?;
    let bare = without_asides(&without_quotes(task));
    let mut kind = None;
    for clause in clauses(&bare) {
        match known.clause(&words(clause)) {
            Clause::Explains => {}
            Clause::Orders(of) => kind = kind.max(Some(of)),
            Clause::Open => return None,
        }
    }
    kind
}

/// What a task is about that says that values stay as they are. "The values stay at 0" tells of a fault.
pub(super) fn keeps_values(task: &str) -> Option<TaskKind> {
    static FORM_ONLY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:only|just|nur|lediglich|seulement|juste|solo|sólo|solamente) (?:re-?format|re-?indent|umformatier|formatier|einrück|formate)",
        )
        .ok()
    });
    static KEEPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x)
            \b(?:values|werte|valeurs|valores)\b[^.!?;\n]{0,24}?
            (?:\b(?:stay|remain)(?:\ (?:as|the\ same|unchanged|like)|\s*(?:[.,;)]|$))
              |\bunchanged|\bas\ they\ are|\bmust\ not\ change|\bbleiben\b|\bunverändert
              |\bne\ changent\ pas|\binchang|\bno\ cambian|\bsin\ cambi)
            |\b(?:same|keep|keep\ (?:all|the|their|all\ the)|keep\ (?:the\ |their\ )?(?:present|current|old|existing)|without\ changing\ (?:any|the)|not\ change\ (?:any|the)
              |gleichen?|dieselben|sans\ changer\ les|sin\ cambiar\ los|mismos)
            \ (?:values|werte|valeurs|valores)\b",
        )
        .ok()
    });
    if FORM_ONLY.as_ref()?.is_match(task) {
        return Some(TaskKind::Format);
    }
    // Those that the task does not speak of may be meant.
    let is_of_others = |before: &str| {
        let last = before.split_whitespace().next_back().unwrap_or_default();
        [
            "other",
            "others",
            "remaining",
            "rest",
            "of",
            "übrigen",
            "anderen",
            "autres",
            "otros",
            "demás",
        ]
        .contains(&last)
    };
    let mut found = KEEPS.as_ref()?.find_iter(task);
    let keeps = found.any(|found| !is_of_others(task.get(..found.start()).unwrap_or_default()));
    keeps.then_some(TaskKind::Structure)
}

/// What a part of a sentence asks for.
enum Clause {
    Explains,
    Orders(TaskKind),
    Open,
}

impl TaskWords {
    fn clause(&self, words: &[&str]) -> Clause {
        let polite = words.iter().take_while(|word| self.polite.contains(**word)).count();
        let begins = words.first().copied().unwrap_or_default();
        let words = words.get(polite..).unwrap_or_default();
        let Some((first, rest)) = words.split_first() else { return Clause::Explains };
        let is_other = |word: &&str| self.between.contains(*word);
        let direct = rest.iter().take(NEAR).take_while(|word| !is_other(word)).count();
        let subject = (0..=direct).find_map(|at| {
            let kind = self.subject.of(words.get(at)?)?;
            // `a comment field` is no comment, `comments to the log` are some.
            let begins = |next: &&&str| matches!(**next, "to" | "that" | "which" | "what" | "for");
            let next = words.get(at + 1).filter(|next| !begins(next));
            let is_compound = kind == TaskKind::Comments && next.is_some_and(is_other);
            let changes = kind == TaskKind::Structure && !self.naming.contains(*first);
            // `the formatting of the temperature` is what a program does.
            let is_shown =
                kind == TaskKind::Format && words.iter().any(|w| self.produced.contains(*w));
            (!is_compound && !changes && !is_shown).then_some(kind)
        });
        let is_order = self.orders.contains(*first) || self.alone.of(first).is_some();
        let produces = words.iter().any(|word| self.produced.contains(*word));
        let alone =
            || self.alone.of(first).filter(|kind| *kind == TaskKind::Structure || !produces);
        // What is asked for comes last in "make it stop", and first in "typo: it should be `stop`".
        match (subject.or_else(alone), is_order) {
            (Some(kind), true) => Clause::Orders(kind),
            // "Typo in the menu" orders something, "enable doxygen" something else.
            (Some(kind), false) if self.subject.of(first).is_some() => Clause::Orders(kind),
            (_, _) if words.iter().any(|word| self.stays.contains(*word)) => Clause::Explains,
            (_, true) => Clause::Open,
            // A text that should be another one.
            (_, false) if *first == QUOTED => Clause::Explains,
            (_, false) if words.iter().any(|word| self.demands.contains(*word)) => Clause::Open,
            (_, false) if self.explaining.contains(begins) || is_name(first) => Clause::Explains,
            (_, false) => Clause::Open,
        }
    }
}

/// Whether a word is the name of a file or of something in code.
fn is_name(word: &str) -> bool {
    word.contains(['.', '_', '/', '(']) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text without what stands in quotes, which orders nothing.
fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`', '“', '‘']) {
        let (before, quoted) = rest.split_at(at);
        let mark = quoted.chars().next().unwrap_or('"');
        let is_apostrophe = mark == '\'' && before.ends_with(char::is_alphanumeric);
        let close = match mark {
            '“' => '”',
            '‘' => '’',
            mark => mark,
        };
        let behind = quoted.get(mark.len_utf8()..).unwrap_or_default();
        out.push_str(before);
        match behind.split_once(close).filter(|_| !is_apostrophe) {
            Some((_, after)) => {
                out.push_str(QUOTED);
                rest = after;
            }
            None => {
                out.push(mark);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A text without what stands in brackets, if that orders nothing: "our style (4 spaces)".
fn without_asides(text: &str) -> String {
    let orders = |aside: &str| {
        WORDS
            .as_ref()
            .is_none_or(|known| words(aside).iter().any(|word| known.orders.contains(*word)))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('(') {
        let Some((aside, after)) = behind.split_once(')') else { break };
        out.push_str(before);
        if orders(aside) {
            out.push_str(&format!("({aside})"));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The parts of sentences that may order something each.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split(['!', '?', ';', '\n', ',', ':', '(', ')'])
        .flat_map(|part| part.split(". "))
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "))
        .flat_map(|part| part.split(" but "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn words(clause: &str) -> Vec<&str> {
    let words = clause.split_whitespace();
    let bare = words.map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '('))
    });
    bare.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_task_may_say_that_values_stay() {
        for task in [
            "typed constants, values stay as they are.",
            "rename them and keep all values",
            "traduis la colonne. les codes et les valeurs ne changent pas.",
            "benenne die makros um, die werte bleiben gleich",
        ] {
            assert!(keeps_values(task).is_some(), "{task}");
        }
        for task in [
            "the values stay at 0 after a restart",
            "the value does not change when i turn the knob",
            "the values remain in nvs",
            "show the numbers",
            "let the kiln get to 1300 °c, all other limits stay as they are",
        ] {
            assert!(keeps_values(task).is_none(), "{task}");
        }
    }

    use super::*;

    #[test]
    fn a_task_about_words_or_form_says_so() {
        use TaskKind::{Comments, Format, Structure, Wording};
        for (task, kind) in [
            ("add a comment above heater_set_target in heater.h", Comments),
            ("please add doxygen comments to pump.h and valve.h", Comments),
            ("document the functions of the pump driver", Comments),
            ("give each constant in lock_cfg.h a short comment that says what it means", Comments),
            ("fix the spelling of the log messages", Wording),
            ("fix the wording of the prompt: 'led gpio' should be 'gpio of the led'", Wording),
            ("translate the help texts of the menu to simpler english", Wording),
            ("typo in the menu: it says \"recieve\"", Wording),
            ("correct the typos in the comments, the code is fine", Wording),
            ("run clang-format over main.c", Format),
            ("reformat main.c with four blanks", Format),
            ("use named constants for the offsets and tidy the header", Structure),
            ("rename pump_on to pump_start", Structure),
            ("refactor net.c. no behaviour change", Structure),
            ("refactor evaluate into a table, behaviour must stay the same", Structure),
            ("tidy the header, and add comments", Structure),
            ("fix the typo in the driver's comment", Wording),
        ] {
            assert_eq!(of(task), Some(kind), "{task}");
        }
    }

    #[test]
    fn a_task_that_may_ask_for_more_says_nothing() {
        for task in [
            "",
            "blink the led",
            "add a comment and stop the pump after 30 s",
            "tidy the header, use another pin for the led",
            "fix the typo so the board connects again, it should retry",
            "the pump does not stop",
            "fix what the comment says is broken",
            "add a log command that prints comments",
            "rename the led pin. then move the buzzer to gpio 4",
            "debounce the button and fix the spelling",
            "add a comment field to the form",
            "move the pump to gpio 4",
            "change the constants of the controller",
            "enable doxygen",
            "add comments and enable doxygen",
            "the comments are old",
            "reformat the timestamps",
            "indent the json output by two spaces",
            "translate the error codes to texts",
            "fix the formatting of the temperature on the display",
        ] {
            assert_eq!(of(task), None, "{task}");
        }
    }
}
