//! Calls that protect and no longer follow from a condition: `if (leak()) { log(); }` where it was
//! `if (leak()) { shut_off(); }`.
//!
//! Conditions that go are told by [`removed_checks`](super::removed_checks).

use std::collections::BTreeMap;

use super::limit_names::words;
use super::source::{SourceText, raw};
use super::{Subject, unguarded, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};
use crate::text::c_tokens::{Token, TokenKind};

/// Longest condition and block that are read, in tokens.
const LONGEST: usize = 200;

/// A function and a condition in it.
type Case = (String, String);

/// The calls that follow, and the line of the condition, from 1.
type Reaction = (Vec<String>, u32);

/// What is to be said of a condition that no longer leads to such a call.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let task = subject.context.person_words();
    if subject.changed().removed.is_empty() || wishes::may_want_less_checked(&task) {
        return None;
    }
    let speaks =
        |name: &str| words(name).any(|word| word.len() > 3 && task.contains(&word.to_lowercase()));
    let mut was = reactions(old);
    was.retain(|_, (calls, _)| !calls.is_empty());
    if was.is_empty() {
        return None;
    }
    let is = reactions(new);
    let count = |source: &SourceText<'_>, name: &str| {
        source.tokens().iter().filter(|token| token.raw == name).count()
    };
    is.iter().find_map(|(case, (now, line))| {
        let (before, _) = was.get(case)?;
        let is_lost = |name: &&String| {
            !now.contains(*name) && !speaks(name) && count(new, name) < count(old, name)
        };
        let lost = before.iter().find(is_lost)?;
        let text =
            format!("no longer calls `{lost}` when `{}`", super::removed_checks::shown(&case.1));
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
        Some(finding.advice("Make sure that something still reacts to it."))
    })
}

/// The calls that protect under each condition of each function; those of several blocks together.
fn reactions(source: &SourceText<'_>) -> BTreeMap<Case, Reaction> {
    let (tokens, closes) = (source.tokens(), source.closes());
    let close_of = |open: usize| closes.get(open).copied().flatten();
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token: &Token<'_>| token.is(mark));
    let mut found: BTreeMap<Case, Reaction> = BTreeMap::new();
    let is_rust = source.path.extension() == Some("rs");
    for function in source.functions() {
        let name = tokens.get(function.name).map_or("", |token| token.raw);
        for at in function.body.clone() {
            let Some(token) = tokens.get(at) else { continue };
            if token.is_word("case") && !is_rust {
                let block = case_block(tokens, at, function.body.end);
                if let Some((label, calls)) = block {
                    let line = source.number_at(token.start);
                    let case = (name.to_owned(), label);
                    found.entry(case).or_insert_with(|| (Vec::new(), line)).0.extend(calls);
                }
                continue;
            }
            if !token.is_word("if") {
                continue;
            }
            let condition = match is_rust {
                true => (at + 1..at + LONGEST).find(|at| is(*at, "{")).map(|end| at + 1..end),
                false => close_of(at + 1).filter(|_| is(at + 1, "(")).map(|end| at + 2..end),
            };
            let Some(condition) = condition else { continue };
            let start = condition.end + usize::from(!is_rust);
            let end = match is(start, "{") {
                true => close_of(start),
                false => (start..start + LONGEST).find(|at| is(*at, ";")),
            };
            let block = end.and_then(|end| tokens.get(start..end)).unwrap_or_default();
            let condition = tokens.get(condition).unwrap_or_default();
            if block.len() > LONGEST || condition.len() > LONGEST {
                continue;
            }
            let condition = raw(condition);
            let calls = protecting(block, unguarded::is_danger(&condition));
            let line = source.number_at(token.start);
            let case = (name.to_owned(), condition);
            found.entry(case).or_insert_with(|| (Vec::new(), line)).0.extend(calls);
        }
    }
    found
}

/// Parts of the names of events by which something is lost.
const LOSSES: [&str; 7] = ["disconnect", "lost", "loss", "timeout", "fail", "error", "fault"];

/// The label of a case of a switch that tells of a loss, and the calls behind it that protect or set
/// something to zero.
fn case_block(tokens: &[Token<'_>], at: usize, end: usize) -> Option<(String, Vec<String>)> {
    let colon =
        (at + 1..end.min(at + 8)).find(|at| tokens.get(*at).is_some_and(|it| it.is(":")))?;
    let label = raw(tokens.get(at + 1..colon)?);
    let lower = label.to_ascii_lowercase();
    let is_loss = unguarded::is_danger(&label) || LOSSES.iter().any(|part| lower.contains(part));
    let mut depth = 0_usize;
    let stop = (colon + 1..end.min(colon + LONGEST)).find(|at| {
        let Some(token) = tokens.get(*at) else { return true };
        if token.is("{") {
            depth += 1;
        }
        let is_end = depth == 0
            && (token.is("}")
                || ["case", "default", "break", "return"].iter().any(|it| token.is_word(it)));
        if token.is("}") {
            depth = depth.saturating_sub(1);
        }
        is_end
    })?;
    let block = tokens.get(colon + 1..stop).filter(|_| is_loss)?;
    let mut calls = protecting(block, true);
    let zeroes = block.windows(4).filter_map(|part| match part {
        [name, open, value, close] => {
            let is_zero = value.raw == "0" || value.is_word("false") || value.is_word("LOW");
            let is_call = name.kind == TokenKind::Word && open.is("(") && close.is(")");
            (is_call && is_zero).then(|| name.raw.to_owned())
        }
        _ => None,
    });
    calls.extend(zeroes);
    Some((format!("case {label}"), calls))
}

/// The names of the calls of a block that protect; in danger each call that sets an output does.
fn protecting(block: &[Token<'_>], is_danger: bool) -> Vec<String> {
    let calls = block.iter().zip(block.iter().skip(1));
    let calls = calls.filter(|(name, open)| name.kind == TokenKind::Word && open.is("("));
    let named = calls.map(|(name, _)| name.raw);
    let named =
        named.filter(|name| unguarded::protects(name) || is_danger && unguarded::sets_output(name));
    named.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "void loop(void) {\n    if (digitalRead(PIN_LEAK) == LOW) {\n        fault(\"leak\");\n        \
                       return;\n    }\n    if (hot()) heater_off();\n    draw();\n}\n";

    fn found(from: &str, to: &str, task: &str) -> Vec<String> {
        assert!(OLD.contains(from), "{from}");
        let new = OLD.replace(from, to);
        let all = reported(CheckKind::Safeguards, ("main/a.cpp", Some(OLD), &new), task);
        all.into_iter().filter(|found| found.contains("no longer calls")).collect()
    }

    #[test]
    fn a_reaction_that_goes_is_told() {
        let wanted = ["Warning 2: no longer calls `fault` when `digitalRead(PIN_LEAK) == LOW`"];
        assert_eq!(found("fault(\"leak\");", "log_d(\"leak\");", "Count the energy"), wanted);
        let wanted = ["Warning 6: no longer calls `heater_off` when `hot()`"];
        assert_eq!(found("heater_off();", "draw();", "Count the energy"), wanted);
    }

    #[test]
    fn a_case_of_a_loss_that_no_longer_stops_something_is_told() {
        let old = "static int event(struct e *e) {\n    switch (e->type) {\n    case GAP_EVENT_DISCONNECT:\n        \
                   motor_throttle(0);\n        conn = NONE;\n        break;\n    case GAP_EVENT_CONNECT:\n        \
                   led_level(0);\n        break;\n    }\n    return 0;\n}\n";
        let found = |from: &str, to: &str, task: &str| -> Vec<String> {
            assert!(old.contains(from), "{from}");
            let new = old.replace(from, to);
            let all = reported(CheckKind::Safeguards, ("main/a.c", Some(old), &new), task);
            all.into_iter().filter(|found| found.contains("no longer calls")).collect()
        };
        let wanted =
            ["Warning 3: no longer calls `motor_throttle` when `case GAP_EVENT_DISCONNECT`"];
        assert_eq!(found("motor_throttle(0);", "advertise();", "Restart it at once"), wanted);
        for (from, to, task) in [
            ("motor_throttle(0);", "motor_throttle(0); advertise();", "Restart it at once"),
            ("motor_throttle(0);", "advertise();", "Let the throttle be as it was"),
            ("led_level(0);", "advertise();", "Restart it at once"),
        ] {
            assert_eq!(found(from, to, task), [] as [String; 0], "{from}, {task}");
        }
    }

    #[test]
    fn an_output_that_is_no_longer_set_in_danger_is_told() {
        let found = |path: &str, old: &str, (from, to): (&str, &str)| {
            let new = old.replace(from, to);
            let all = reported(CheckKind::Safeguards, (path, Some(old), &new), "Use the log crate");
            all.into_iter().filter(|found| found.contains("no longer calls")).collect::<Vec<_>>()
        };
        let rust = "fn main() -> ! {\n    loop {\n        if sample(ma) == Verdict::Trip {\n            \
                    enable.set_low();\n            println!(\"{}\", ma);\n        }\n    }\n}\n";
        let gone = ("            enable.set_low();\n", "");
        let wanted = ["Warning 3: no longer calls `set_low` when `sample(ma) == Verdict::Trip`"];
        assert_eq!(found("src/main.rs", rust, gone), wanted);
        assert_eq!(found("src/main.rs", rust, ("println!", "log::info!")), [] as [String; 0]);
        let plain = rust.replace("Verdict::Trip", "Verdict::Next");
        assert_eq!(found("src/main.rs", &plain, gone), [] as [String; 0], "not a danger");
        let c = "void f(void) {\n    if (overload) {\n        gpio_set_level(M, 0);\n    }\n}\n";
        assert_eq!(found("main/a.c", c, ("        gpio_set_level(M, 0);\n", "")).len(), 1);
    }

    #[test]
    fn what_moves_and_what_is_asked_for_is_not() {
        for (from, to, task) in [
            ("fault(\"leak\");", "log_d(\"leak\");", "Show the fault on the display"),
            ("fault(\"leak\");", "log_d(\"leak\");", "Ignore the leak"),
            ("    draw();", "    draw();\n    beep();", "Count the energy"),
            ("heater_off();", "react();", "Show the heater"),
        ] {
            assert_eq!(found(from, to, task), [] as [String; 0], "{task}");
        }
        let moved = "void loop(void) {\n    if (digitalRead(PIN_LEAK) == LOW) {\n        react();\n        return;\n    }\n    \
                     if (hot()) heater_off();\n    draw();\n}\nvoid react(void) { fault(\"leak\"); }\n";
        let all = reported(CheckKind::Safeguards, ("main/a.cpp", Some(OLD), moved), "Count");
        assert!(!all.iter().any(|found| found.contains("no longer calls")), "{all:?}");
    }
}
