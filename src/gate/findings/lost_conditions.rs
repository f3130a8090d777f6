//! Conditions that lose a part: `if (open() && !hot())` that becomes `if (open())`.
//!
//! Owns the parts of conditions, and questions that a source no longer asks. Checks that go as a whole
//! are told by [`removed_checks`](super::removed_checks).

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::limit_names::words;
use super::source::{SourceText, raw};
use super::{Subject, beyond_task, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Longest part of a condition that is compared, in tokens.
const LONGEST: usize = 24;

/// Files of the project in which a declaration is looked for.
const MOST_FILES: usize = 200;

/// Fewest letters of a function that asks for something.
const SHORTEST: usize = 6;

/// What joins the parts of a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
    /// A single part.
    None,
}

/// A condition.
struct Condition {
    function: String,
    joint: Joint,
    parts: BTreeSet<String>,
    /// Its lines, from 1: the first and the last.
    lines: (u32, u32),
    /// Names of functions that it calls.
    calls: Vec<String>,
}

/// What is to be said of conditions that ask for less.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let Some((old, new)) = subject.versions_of_code() else { return Vec::new() };
    let task = subject.context.person_words();
    let changed = subject.changed();
    if task.is_empty() || changed.removed.is_empty() {
        return Vec::new();
    }
    let may_go = wishes::may_want_less_checked(&task);
    let goes =
        |_: &str, (first, last): (u32, u32)| changed.removed.range(first..=last).next().is_some();
    let was: Vec<Condition> = conditions(old, &goes)
        .into_iter()
        .filter(|of| (of.lines.0..=of.lines.1).any(|line| changed.removed.contains(&line)))
        .collect();
    if was.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&str> = was.iter().map(|condition| condition.function.as_str()).collect();
    let is = conditions(new, &|name, _| names.contains(name));
    let others = LazyCell::new(|| {
        let texts = subject.context.proposed.texts().filter(|(other, _)| *other != path);
        texts.map(|(other, text)| raw(SourceText::new(other, text).tokens())).collect::<Vec<_>>()
    });
    let stands_elsewhere = |part: &str| others.iter().any(|text| text.contains(part));
    let mut found: Vec<Finding> = was
        .iter()
        .filter(|_| !may_go)
        .filter_map(|condition| {
            let (lost, now) = lost(condition, &is, new)?;
            let is_new = (now.lines.0..=now.lines.1).any(|line| changed.added.contains(&line));
            let is_reported = is_new && !is_spoken_of(&task, &lost) && !stands_elsewhere(&lost);
            is_reported.then(|| {
                let verb = if condition.joint == Joint::And { "requires" } else { "checks" };
                warning(format!("no longer {verb} `{}`", shown(&lost)), now.lines.0)
            })
        })
        .collect();
    if found.is_empty() {
        found.extend(unasked(path, subject, &was).filter_map(|(call, line)| {
            let line = unchecked_limits::near(line, subject)?;
            let is_wanted = is_spoken_of(&task, &call) || may_go && !lets_pass(&call);
            (!is_wanted).then(|| warning(format!("no longer asks `{call}()`"), line))
        }));
    }
    found.truncate(3);
    found
}

fn warning(text: String, line: u32) -> Finding {
    Finding::new(FindingLevel::Warning, text)
        .at(FindingPlace::line(line))
        .advice("The task does not ask for it. Make sure that it need no longer hold.")
}

/// The part that a condition lost, and what it is now.
fn lost<'c>(
    was: &Condition,
    is: &'c [Condition],
    new: &SourceText<'_>,
) -> Option<(String, &'c Condition)> {
    let of_function = || is.iter().filter(|now| now.function == was.function);
    if was.parts.len() < 2 || of_function().any(|now| now.parts.is_superset(&was.parts)) {
        return None;
    }
    let is_joined = |now: &Condition| {
        now.joint == was.joint || now.joint == Joint::None && was.parts.len() == 2
    };
    let now = of_function().find(|now| {
        now.parts.len() + 1 == was.parts.len() && is_joined(now) && now.parts.is_subset(&was.parts)
    })?;
    let lost = was.parts.difference(&now.parts).next()?.clone();
    // It may stand alone now.
    let body = new.body(&was.function);
    (!format!(" {body} ").contains(&format!(" {lost} "))).then_some((lost, now))
}

/// Functions of the project that conditions called, and that the source names no more, with a line of
/// the old version, from 1.
fn unasked<'a>(
    path: &'a ProjectPath,
    subject: &'a Subject<'_>,
    was: &'a [Condition],
) -> impl Iterator<Item = (String, u32)> + 'a {
    let stays = move |name: &str| {
        let of_text = |text: &str| text.split(|c: char| !is_of_name(c)).any(|word| word == name);
        subject.source().is_some_and(|source| of_text(source.text))
            || subject.context.proposed.texts().any(|(other, text)| {
                let is_header = matches!(other.extension(), Some("h" | "hpp" | "hh"));
                other != path && !is_header && of_text(text)
            })
    };
    let gone = was
        .iter()
        .flat_map(|condition| condition.calls.iter().map(|call| (call.clone(), condition.lines.0)));
    gone.filter(move |(call, _)| call.len() >= SHORTEST && !stays(call))
        .filter(move |(call, _)| lets_pass(call) || is_declared(call, path, subject))
}

/// Whether a function of that name says whether somebody may do something.
fn lets_pass(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "required",
        "allowed",
        "permitted",
        "authorized",
        "authorised",
        "trusted",
        "locked",
        "interlock",
        "isvalid",
    ];
    let name = name.to_lowercase().replace('_', "");
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether another file of the project declares a function.
fn is_declared(name: &str, path: &ProjectPath, subject: &Subject<'_>) -> bool {
    const TYPES: [&str; 9] =
        ["bool", "int", "esp_err_t", "static", "extern", "uint", "virtual", "inline", "auto"];
    let call = format!("{name}(");
    let declares = |text: String| {
        text.lines()
            .map(str::trim)
            .any(|line| TYPES.iter().any(|start| line.starts_with(start)) && line.contains(&call))
    };
    let files = subject.files().iter().map(|file| &file.path);
    let files = files.filter(|other| *other != path && beyond_task::is_code(other));
    files.take(MOST_FILES).any(|other| subject.text_after(other.as_str()).is_some_and(declares))
}

const fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether the task has a word of the names in a part of a condition.
fn is_spoken_of(task: &str, part: &str) -> bool {
    let names: Vec<String> = part
        .split(|c: char| !is_of_name(c))
        .flat_map(|name| words(name).map(str::to_lowercase).collect::<Vec<_>>())
        .filter(|word| word.len() > 3)
        .collect();
    wishes::names(task, &names)
}

/// The conditions in those functions of a source of which the name and the lines, from 1, the first and
/// the last, are wanted.
fn conditions(
    source: &SourceText<'_>,
    is_wanted: &dyn Fn(&str, (u32, u32)) -> bool,
) -> Vec<Condition> {
    let tokens = source.tokens();
    let closes = source.closes();
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let mut found = Vec::new();
    for function in source.functions() {
        let Some(name) = tokens.get(function.name).filter(|name| !name.in_directive) else {
            continue;
        };
        let line = |at: usize| tokens.get(at).map_or(0, |token| source.number_at(token.start));
        if !is_wanted(name.raw, (line(function.name), line(function.body.end))) {
            continue;
        }
        for at in function.body.clone() {
            let Some(token) = tokens.get(at) else { continue };
            let is_branch = ["if", "while", "for"].iter().any(|word| token.is_word(word));
            let inside = if is_branch {
                let Some(end) = closes.get(at + 1).copied().flatten() else { continue };
                let whole = at + 2..end;
                let mut ends = whole.clone().filter(|at| is(*at, ";"));
                match (token.is_word("for"), ends.next(), ends.next()) {
                    (true, Some(first), Some(second)) => first + 1..second,
                    (true, ..) => continue,
                    (false, ..) => whole,
                }
            } else if token.is_word("return") || is_assignment(tokens, at) {
                let end = (at + 1..at + 80).find(|end| is(*end, ";"));
                let Some(end) = end else { continue };
                at + 1..end
            } else {
                continue;
            };
            let code = ConditionCode { tokens, closes, source, function: name.raw };
            let chooses = inside.clone().any(|at| is(at, "?"));
            found.extend(code.read(&inside, is_branch || token.is_word("return") || chooses));
        }
    }
    found
}

/// Whether a token gives something a value.
fn is_assignment(tokens: &[Token<'_>], at: usize) -> bool {
    let is = |at: usize, marks: &[&str]| {
        tokens.get(at).is_some_and(|token| marks.iter().any(|mark| token.is(mark)))
    };
    is(at, &["="])
        && !is(at + 1, &["=", "{"])
        && !at.checked_sub(1).is_some_and(|at| is(at, &["=", "!", "<", ">"]))
}

struct ConditionCode<'s, 'a> {
    tokens: &'s [Token<'a>],
    closes: &'s [Option<usize>],
    source: &'s SourceText<'a>,
    function: &'s str,
}

impl ConditionCode<'_, '_> {
    /// The conditions in some tokens; one of a single part only where it decides.
    fn read(&self, inside: &Range<usize>, decides: bool) -> Vec<Condition> {
        let mut found = Vec::new();
        let by_or = self.split(inside, "|");
        if by_or.len() > 1 {
            found.push(self.condition(inside, Joint::Or, &by_or));
        }
        for part in &by_or {
            let by_and = self.split(part, "&");
            if by_and.len() > 1 {
                found.push(self.condition(part, Joint::And, &by_and));
            } else if by_or.len() == 1 && decides {
                found.push(self.condition(part, Joint::None, &by_and));
            }
        }
        found
    }

    fn condition(&self, whole: &Range<usize>, joint: Joint, parts: &[Range<usize>]) -> Condition {
        let text = |part: &Range<usize>| raw(self.tokens.get(part.clone()).unwrap_or_default());
        let short = parts.iter().filter(|part| part.len() <= LONGEST);
        let line =
            |at: usize| self.tokens.get(at).map_or(0, |token| self.source.number_at(token.start));
        let calls = whole.clone().filter(|at| {
            self.tokens.get(at + 1).is_some_and(|next| next.is("("))
                && self.tokens.get(*at).is_some_and(|token| token.kind == TokenKind::Word)
        });
        Condition {
            function: self.function.to_owned(),
            joint,
            parts: short.map(text).collect(),
            lines: (line(whole.start), line(whole.end.saturating_sub(1))),
            calls: calls.filter_map(|at| Some(self.tokens.get(at)?.raw.to_owned())).collect(),
        }
    }

    /// The parts between two marks of the same kind, `&&` or `||`.
    fn split(&self, inside: &Range<usize>, mark: &str) -> Vec<Range<usize>> {
        let is = |at: usize| self.tokens.get(at).is_some_and(|token| token.is(mark));
        let (mut found, mut start, mut at) = (Vec::new(), inside.start, inside.start);
        while at < inside.end {
            if is(at) && is(at + 1) {
                found.push(start..at);
                at += 2;
                start = at;
                continue;
            }
            at = self.closes.get(at).copied().flatten().unwrap_or(at) + 1;
        }
        found.push(start..inside.end);
        found
    }
}

/// A part of a condition as it is written, nearly.
fn shown(part: &str) -> String {
    let mut out = part.to_owned();
    for (from, to) in [
        (" . ", "."),
        (" - > ", "->"),
        ("= =", "=="),
        ("! =", "!="),
        ("< =", "<="),
        ("> =", ">="),
        (" ( ", "("),
        (" )", ")"),
        ("! ", "!"),
        (" , ", ", "),
        (" :: ", "::"),
        (" : : ", "::"),
    ] {
        out = out.replace(from, to);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{TestProject, reported};
    use crate::model::CheckKind;

    const OLD: &str = "static bool ready(void)\n{\n    \
                       return !tripped && gpio_get_level(PIN_LID) == 0 && key();\n}\n\n\
                       void record(int max)\n{\n    \
                       for (int i = 0; i < max && belly_pressed(); i++) {\n        read(i);\n    }\n    \
                       if (isnan(t) || t > limit) {\n        stop();\n    }\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("no longer")).collect()
    }

    #[test]
    fn a_part_that_a_condition_loses_is_reported() {
        for (old, new, wanted) in [
            (
                "!tripped && gpio_get_level(PIN_LID) == 0 && key()",
                "!tripped && key()",
                "Warning 3: no longer requires `gpio_get_level(PIN_LID) == 0`",
            ),
            (
                "i < max && belly_pressed()",
                "i < max",
                "Warning 8: no longer requires `belly_pressed()`",
            ),
            ("isnan(t) || t > limit", "t > limit", "Warning 11: no longer checks `isnan(t)`"),
        ] {
            let changed = OLD.replace(old, new);
            assert_eq!(found(&changed, "Blink twice"), [wanted], "{new}");
            assert_eq!(found(&changed, "Always allow it"), [] as [String; 0], "{new}");
        }
        let asked = OLD.replace("i < max && belly_pressed()", "i < max");
        assert_eq!(found(&asked, "Record until the belly goes up"), [] as [String; 0]);
    }

    #[test]
    fn parts_that_stay_or_come_are_not() {
        for (old, new) in [
            ("i < max && belly_pressed()", "belly_pressed() && i < max"),
            ("i < max && belly_pressed()", "i < max && belly_pressed() && on"),
            ("isnan(t) || t > limit", "t > limit"),
        ] {
            let mut changed = OLD.replace(old, new);
            if new == "t > limit" {
                changed =
                    changed.replace("    if (t >", "    if (isnan(t)) { stop(); }\n    if (t >");
            }
            assert_ne!(changed, OLD);
            assert_eq!(found(&changed, "Blink twice"), [] as [String; 0], "{new}");
        }
    }

    #[test]
    fn a_question_to_another_file_that_goes_is_reported() {
        let io = "bool latch_engaged(void);\n";
        let old = "void step(void)\n{\n    if (mode == 2 && !latch_engaged()) {\n        off();\n        \
                   return;\n    }\n    heat();\n}\n";
        let new = "void step(void)\n{\n    switch (mode) {\n    case 2:\n        heat();\n        \
                   break;\n    }\n}\n";
        let of = |files: &[(&str, &str)], changes: &[(&str, Option<&str>)]| {
            let task = "Beep when it is warm";
            let all =
                TestProject { files, task, chip: None }.reported(CheckKind::Safeguards, changes);
            all.into_iter().filter(|found| found.contains("asks")).collect::<Vec<_>>()
        };
        let files = [("main/io.h", io), ("main/a.c", old)];
        let wanted = "main/a.c Warning: no longer asks `latch_engaged()`";
        assert_eq!(of(&files, &[("main/a.c", Some(new))]), [wanted]);
        let moved = [("main/a.c", Some(new)), ("main/b.c", Some("int b = latch_engaged();\n"))];
        assert_eq!(of(&files, &moved), [] as [String; 0]);
        assert_eq!(
            of(&files[1..], &[("main/a.c", Some(new))]),
            [] as [String; 0],
            "not of the project"
        );
    }
}
