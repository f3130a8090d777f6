//! Checks of a limit that hold only under one more condition now: `if (!manual && s > MAX_S)`.
//!
//! Owns how such a condition is written. Limits that nothing is compared with are told by
//! [`unchecked_limits`](super::unchecked_limits).

use std::collections::BTreeSet;

use super::limit_names::is_limit;
use super::source::{SourceText, raw};
use super::{Subject, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};

/// Longest condition that is read, in tokens.
const LONGEST: usize = 60;

/// What is to be said of a check that became narrower.
pub(super) fn find(subject: &Subject<'_>) -> Vec<Finding> {
    let Some((old, new)) = subject.versions_of_code() else { return Vec::new() };
    let task = subject.context.person_words();
    let changed = subject.changed();
    let goes = |line: &u32| {
        let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
        old.line(at).contains("if") && old.line(at).contains(['<', '>'])
    };
    if task.is_empty() || wishes::may_want_less_checked(&task) || !changed.removed.iter().any(goes)
    {
        return Vec::new();
    }
    let was: BTreeSet<String> =
        conditions(old).into_iter().map(|(_, condition)| condition).collect();
    let mut found = Vec::new();
    for (line, condition) in conditions(new) {
        if was.contains(&condition) || !changed.added.contains(&line) {
            continue;
        }
        let narrowed = was.iter().find_map(|was| {
            let limit = was.split(' ').find(|name| is_limit(name))?;
            let more = condition
                .strip_suffix(was.as_str())
                .and_then(|more| more.strip_suffix(" & & "))
                .or_else(|| condition.strip_prefix(was.as_str())?.strip_prefix(" & & "))?;
            // More than one value may be needed to tell the same.
            let is_plain = !more.contains(['<', '>']);
            (is_plain && was.contains(['<', '>'])).then(|| (limit.to_owned(), more.to_owned()))
        });
        let Some((limit, more)) = narrowed else { continue };
        let more = more.replace("! ", "!").replace(" ( ", "(").replace(" )", ")");
        let text = format!("checks `{limit}` only if `{more}`");
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        found.push(finding.advice("Make sure that the limit need not hold otherwise."));
    }
    found.truncate(4);
    found
}

/// What stands in the brackets of each `if`, its tokens one after another, with the line, from 1.
fn conditions(source: &SourceText<'_>) -> Vec<(u32, String)> {
    let tokens = source.tokens();
    let closes = source.closes();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word("if")) {
        let Some(close) = closes.get(at + 1).copied().flatten() else { continue };
        let inside = tokens.get(at + 2..close).unwrap_or_default();
        if inside.len() > LONGEST {
            continue;
        }
        found.push((source.number_at(token.start), raw(inside)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str =
        "void loop(void) {\n    if (now - start > PUMP_MAX_MS) {\n        stop();\n    }\n}\n";

    fn found(condition: &str, task: &str) -> Vec<String> {
        let new = OLD.replace("now - start > PUMP_MAX_MS", condition);
        let all = reported(CheckKind::Safeguards, ("a.c", Some(OLD), &new), task);
        all.into_iter().filter(|found| found.contains("only if")).collect()
    }

    #[test]
    fn a_limit_that_holds_only_sometimes_is_told() {
        let task = "Add a button";
        assert_eq!(
            found("!manual && now - start > PUMP_MAX_MS", task),
            ["Warning 2: checks `PUMP_MAX_MS` only if `!manual`"]
        );
        assert_eq!(
            found("now - start > PUMP_MAX_MS && is_on(led)", task),
            ["Warning 2: checks `PUMP_MAX_MS` only if `is_on(led)`"]
        );
        for condition in [
            "now - start > PUMP_MAX_MS",
            "now - start > PUMP_MAX_MS || empty",
            "now - start > PUMP_MAX_MS + 5",
            "start > 0 && now - start > PUMP_MAX_MS",
        ] {
            assert_eq!(found(condition, task), [] as [String; 0], "{condition}");
        }
        let asked = "Skip the limit when the button is pressed";
        assert_eq!(found("!manual && now - start > PUMP_MAX_MS", asked), [] as [String; 0]);
    }
}
