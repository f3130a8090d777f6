//! Branches that decide nothing: `if (late) { return x; }` in front of `return x;`.
//!
//! Must not judge what was so before.

use super::limit_names::words;
use super::source::{SourceText, raw};
use super::test_expectations::is_test;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Longest result that is compared, in tokens.
const LONGEST: usize = 24;

/// What is to be said of a condition that a change brings and after which the same is returned either way.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let new = subject
        .source()
        .filter(|source| beyond_task::is_code(path) && source.path.extension() != Some("py"))?;
    let added = &subject.changed().added;
    if let Some(finding) = always_yes(path, new, subject) {
        return Some(finding);
    }
    let (line, result) = same_either_way(new).into_iter().find(|(line, _)| added.contains(line))?;
    let text = format!(
        "returns `{}` whether the condition holds or not",
        super::removed_checks::shown(&result)
    );
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(finding.advice("One of both is not what is meant."))
}

/// What is to be said of a function that asks whether something is safe or right, and says yes whatever it
/// is.
fn always_yes(path: &ProjectPath, new: &SourceText<'_>, subject: &Subject<'_>) -> Option<Finding> {
    const ASKS: [&str; 13] = [
        "interlock",
        "safe",
        "verify",
        "verified",
        "valid",
        "authenticate",
        "authenticated",
        "authorized",
        "allowed",
        "permitted",
        "closed",
        "check",
        "trusted",
    ];
    const STANDS_IN: [&str; 7] = ["stub", "mock", "fake", "dummy", "simul", "placeholder", "host"];
    let task = subject.context.person_words();
    let lower = path.as_str().to_lowercase();
    let stands_in = |text: &str| STANDS_IN.iter().any(|part| text.contains(part));
    if is_test(path) || stands_in(&lower) || stands_in(&task) || task.contains("always") {
        return None;
    }
    let tokens = new.tokens();
    new.functions().iter().find_map(|function| {
        let name = tokens.get(function.name)?;
        let body = raw(tokens.get(function.body.clone())?);
        // Without its last bracket.
        let is_yes = ["{ return true ;", "{ return 1 ;", "{ true", "{ return ESP_OK ;"]
            .iter()
            .any(|yes| body.ends_with(yes) && body.matches('{').count() == 1);
        let asks = words(name.raw).any(|word| ASKS.contains(&word.to_ascii_lowercase().as_str()));
        let line = new.number_at(name.start);
        let lines = line..=line + 3;
        let is_new = subject.changed().added.range(lines).next().is_some();
        let was = subject.base_source().map(|old| old.body(name.raw)).unwrap_or_default();
        let text = format!("`{}` says yes whatever is asked", name.raw);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        (is_yes && asks && is_new && !was.ends_with(&*body))
            .then(|| finding.advice("Make sure that this check is meant to be empty."))
    })
}

/// The lines, from 1, of results that are returned under a condition and right behind it, too.
fn same_either_way(source: &SourceText<'_>) -> Vec<(u32, String)> {
    let (tokens, closes) = (source.tokens(), source.closes());
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let close = |at: usize| closes.get(at).copied().flatten();
    // `return x;` from a place on: what it returns, and what follows.
    let returned = |at: usize| -> Option<(String, usize)> {
        let end =
            (at + 1..at + LONGEST).find(|at| is(*at, ";")).filter(|_| is_word(at, "return"))?;
        let result = raw(tokens.get(at + 1..end)?);
        (!result.is_empty()).then_some((result, end + 1))
    };
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| is_word(*at, "if")) {
        let Some(end) = close(at + 1).filter(|_| is(at + 1, "(")) else { continue };
        let within = if is(end + 1, "{") { end + 2 } else { end + 1 };
        let Some((result, next)) = returned(within) else { continue };
        let mut behind = match is(end + 1, "{") {
            true if is(next, "}") => next + 1,
            true => continue,
            false => next,
        };
        if is_word(behind, "else") {
            behind += if is(behind + 1, "{") { 2 } else { 1 };
        }
        if returned(behind).is_some_and(|(other, _)| other == result) {
            let line = tokens.get(within).map_or(0, |token| source.number_at(token.start));
            found.push((line, result));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn a_check_that_always_says_yes_is_reported() {
        let found = |path: &str, name: &str, task: &str| {
            let new = format!("#include \"a.h\"\n\nbool {name}(void)\n{{\n    return true;\n}}\n");
            let all = reported(CheckKind::Safeguards, (path, None, &new), task);
            all.into_iter().filter(|found| found.contains("says yes")).collect::<Vec<_>>()
        };
        let wanted = "Warning 3: `door_interlock_ok` says yes whatever is asked";
        assert_eq!(found("main/door.c", "door_interlock_ok", "Get it to link"), [wanted]);
        for (path, name, task) in [
            ("main/door.c", "has_display", "Get it to link"),
            ("test/stubs/door.c", "door_interlock_ok", "Get it to link"),
            ("main/door.c", "door_interlock_ok", "Add a stub for the interlock"),
        ] {
            assert_eq!(found(path, name, task), [] as [String; 0], "{path} {name}");
        }
    }

    #[test]
    fn a_condition_that_decides_nothing_is_reported() {
        let found = |body: &str| {
            let new =
                format!("int throttle(unsigned now)\n{{\n    if (now - last > LIMIT) {body}\n}}\n");
            let all =
                reported(CheckKind::Safeguards, ("src/f.cpp", None, &new), "Move the failsafe");
            all.into_iter().filter(|found| found.contains("whether the condition")).count()
        };
        for same in [
            "{\n        return gas;\n    }\n    return gas;",
            "return gas;\n    return gas;",
            "{ return gas; } else { return gas; }",
        ] {
            assert_eq!(found(same), 1, "{same}");
        }
        for other in [
            "{\n        return NEUTRAL;\n    }\n    return gas;",
            "{\n        log();\n        return gas;\n    }\n    return gas;",
            "return;\n    return;",
            "{\n        return gas;\n    }\n    step();\n    return gas;",
        ] {
            assert_eq!(found(other), 0, "{other}");
        }
    }
}
