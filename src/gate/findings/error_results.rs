//! Failures that a function no longer reports: `return ESP_OK` where it returned the error.
//!
//! Owns which results mean success and which failure. Conditions that go altogether are told by
//! [`removed_checks`](super::removed_checks).

use std::collections::BTreeMap;

use super::source::{SourceText, raw};
use super::{Subject, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};
use crate::text::c_calls::IfStatements;

/// Longest result and condition that are compared, in tokens.
const LONGEST: usize = 40;

/// Names of results that hold an error where they are returned under a condition.
const RESULTS: [&str; 9] = ["err", "ret", "rc", "res", "status", "result", "error", "e", "rv"];

/// Macros that return an error, or jump with it. Source: `esp_check.h`.
const MACROS: [&str; 4] =
    ["ESP_RETURN_ON_ERROR", "ESP_RETURN_ON_FALSE", "ESP_GOTO_ON_ERROR", "ESP_GOTO_ON_FALSE"];

/// Words of tasks that want a failure to be none.
const WISHES: [&str; 17] = [
    "ignor",
    "optional",
    "tolera",
    "missing",
    "absent",
    "no error",
    "not an error",
    "not fail",
    "succe",
    "esp_ok",
    "return success",
    "return zero",
    "return 0",
    "return true",
    "without the",
    "without a",
    "carry on",
];

/// A function and the condition under which it returns; empty for its end.
type Case = (String, String);

/// A result and its line, from 1.
type Returned = (String, u32);

/// What the functions of a source return.
type Results = BTreeMap<Case, Vec<Returned>>;

/// What is to be said of a failure that counts as success now.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let changed = subject.changed();
    let has_return = |line: &u32| {
        let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
        new.line(at).contains("return")
    };
    let task = subject.context.person_words();
    let goes = |line: &u32| {
        let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
        old.line(at).contains("return")
    };
    let is_wanted = WISHES.iter().any(|wish| task.contains(wish));
    let may_matter = changed.added.iter().any(has_return) || changed.removed.iter().any(goes);
    if is_wanted || wishes::may_want_less_checked(&task) || !may_matter {
        return None;
    }
    let (was, is) = (returned(old), returned(new));
    // Returned under a condition of its own now.
    let is_still_returned = |function: &str, result: &str| {
        is.iter().any(|((of, condition), results)| {
            of == function
                && !condition.is_empty()
                && results.iter().any(|(text, line)| text == result && changed.added.contains(line))
        })
    };
    if let Some(finding) =
        goes_on((&was, &is), new, subject).or_else(|| never_fails((old, new), subject))
    {
        return Some(finding);
    }
    for (case, now) in &is {
        let Some(before) = was.get(case).filter(|before| before.len() == now.len()) else {
            continue;
        };
        let mut pairs = before.iter().zip(now);
        let turned = pairs.find(|((was, _), (is, line))| {
            let is_at_end = case.1.is_empty() && is_still_returned(&case.0, was);
            changed.added.contains(line) && !is_at_end && is_turned(was, is, &case.1)
        });
        let Some(((was, _), (is, line))) = turned else { continue };
        let text = format!("returns `{is}` where it returned `{was}`");
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
        return Some(finding.advice("Make sure that a failure is still noticed."));
    }
    None
}

/// What is to be said of a function that goes on after a failure that it returned.
fn goes_on(
    (was, is): (&Results, &Results),
    new: &SourceText<'_>,
    subject: &Subject<'_>,
) -> Option<Finding> {
    let (result, line) = was.iter().find_map(|(case, before)| {
        let now = is.get(case).map_or(0, Vec::len);
        let failed = before
            .iter()
            .find(|(result, line)| is_error(result) && subject.changed().removed.contains(line))?;
        let stays = || new.body(&case.0).matches(&format!("if ( {} )", case.1)).count();
        // `err = ESP_ERR_INVALID_SIZE;`, which is returned at the end.
        let is_kept = || {
            let body = new.body(&case.0);
            let assigned = format!(" = {} ;", failed.0);
            let mut kept = body.split(&assigned).peekable();
            let name = kept.next().and_then(|before| before.rsplit(' ').next());
            let name = name.unwrap_or_default();
            kept.peek().is_some() && body.contains(&format!("return {name} ;"))
        };
        let goes_on = !case.1.is_empty() && now < before.len() && stays() >= before.len();
        (goes_on && !is_kept()).then_some(failed)
    })?;
    let text = format!("no longer returns `{result}` when something failed");
    let mut finding = Finding::new(FindingLevel::Warning, text)
        .advice("Make sure that nothing goes on as if it had worked.");
    finding.place = unchecked_limits::near(*line, subject).map(FindingPlace::line);
    Some(finding)
}

/// What is to be said of a function that could fail and cannot any longer.
fn never_fails(
    (old, new): (&SourceText<'_>, &SourceText<'_>),
    subject: &Subject<'_>,
) -> Option<Finding> {
    let fails = |body: &str| {
        MACROS.iter().any(|name| body.contains(name))
            || body.contains("return Err (")
            || body.contains(") ? ;")
            || results(body).any(is_error)
    };
    let succeeds = |body: &str| {
        let mut all = results(body).peekable();
        all.peek().is_some() && all.all(|result| ["ESP_OK", "pdPASS"].contains(&result))
            || body.contains("Ok (") && !body.contains("Err")
    };
    let tokens = new.tokens();
    new.functions().iter().find_map(|function| {
        let name = tokens.get(function.name)?;
        let body = raw(tokens.get(function.body.clone())?);
        if !succeeds(&body) || fails(&body) || !fails(&old.body(name.raw)) {
            return None;
        }
        let lines =
            function.body.clone().filter_map(|at| Some(new.number_at(tokens.get(at)?.start)));
        let mut lines = lines.filter(|line| subject.changed().added.contains(line));
        let is_result = |line: &u32| {
            let text = new.line(usize::try_from(line - 1).unwrap_or(usize::MAX));
            text.contains("ESP_OK") || text.contains("pdPASS")
        };
        let first = lines.next()?;
        let line = if is_result(&first) { first } else { lines.find(is_result).unwrap_or(first) };
        let text = format!("`{}` reports no failure any longer", name.raw);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        Some(finding.advice("Make sure that a failure is still noticed."))
    })
}

/// What the `return` statements of a body return, each as [`raw`].
fn results(body: &str) -> impl Iterator<Item = &str> {
    let behind = body.split("return ").skip(1);
    behind.filter_map(|rest| rest.split_once(" ;").map(|(result, _)| result))
}

/// Whether a result is that of a failure.
fn is_error(result: &str) -> bool {
    result.starts_with("ESP_ERR_")
        || ["ESP_FAIL", "pdFAIL", "HAL_ERROR"].contains(&result)
        || result.strip_prefix("- ").is_some_and(|code| !code.contains(' '))
        || RESULTS.contains(&result)
}

/// Whether a failure became a success.
fn is_turned(was: &str, is: &str, condition: &str) -> bool {
    // What was not there yet does its work now.
    if was == "ESP_ERR_NOT_SUPPORTED" && condition.is_empty() {
        return false;
    }
    match is {
        "ESP_OK" | "0" | "pdPASS" => is_error(was),
        "true" => was == "false" && is_of_failure(condition),
        _ => false,
    }
}

/// Whether a condition holds where something failed.
fn is_of_failure(condition: &str) -> bool {
    ["! = ESP_OK", "! = 0", "= = NULL", "= = nullptr", "= = ESP_FAIL", "< 0", "! = pdTRUE"]
        .iter()
        .any(|failure| condition.contains(failure))
        || condition.starts_with("! ") && !condition.contains(" | ")
}

/// What the functions of a source return under each condition, in their order.
fn returned(source: &SourceText<'_>) -> BTreeMap<Case, Vec<Returned>> {
    let tokens = source.tokens();
    let closes = source.closes();
    let ifs = IfStatements::of(tokens, closes);
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let condition =
        |at: usize| ifs.condition_before(at).filter(|inside| inside.len() <= LONGEST).map(raw);
    let mut found: BTreeMap<Case, Vec<Returned>> = BTreeMap::new();
    for function in source.functions() {
        let Some(name) = tokens.get(function.name).filter(|name| !name.in_directive) else {
            continue;
        };
        let (mut blocks, mut last) = (Vec::new(), None);
        for at in function.body.clone() {
            if is(at, "{") {
                blocks.push(at);
            } else if is(at, "}") {
                blocks.pop();
            }
            if !tokens.get(at).is_some_and(|token| token.is_word("return")) {
                continue;
            }
            let Some(end) = (at + 1..at + LONGEST).find(|end| is(*end, ";")) else { continue };
            let result = raw(tokens.get(at + 1..end).unwrap_or_default());
            let line = tokens.get(at).map_or(0, |token| source.number_at(token.start));
            let of = condition(at).or_else(|| condition(*blocks.last()?));
            match of {
                Some(of) => {
                    found.entry((name.raw.to_owned(), of)).or_default().push((result, line));
                }
                None if blocks.len() == 1 => last = Some((result, line)),
                None => {}
            }
        }
        if let Some(last) = last {
            found.entry((name.raw.to_owned(), String::new())).or_default().push(last);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "esp_err_t read(int *out)\n{\n    esp_err_t err = sample(out);\n    \
                       if (err != ESP_OK) {\n        ESP_LOGE(TAG, \"no sample\");\n        \
                       return err;\n    }\n    if (*out < 0) return ESP_ERR_INVALID_RESPONSE;\n    \
                       if (!ready()) { return ESP_FAIL; }\n    return err;\n}\n\n\
                       bool good(void)\n{\n    if (!check()) {\n        return false;\n    }\n    \
                       return true;\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("where it returned")).collect()
    }

    #[test]
    fn a_failure_that_counts_as_success_is_told() {
        for (old, new, wanted) in [
            (
                "        return err;\n",
                "        return ESP_OK;\n",
                "Warning 6: returns `ESP_OK` where it returned `err`",
            ),
            (
                "return ESP_ERR_INVALID_RESPONSE;",
                "return ESP_OK;",
                "Warning 8: returns `ESP_OK` where it returned `ESP_ERR_INVALID_RESPONSE`",
            ),
            (
                "{ return ESP_FAIL; }",
                "{ *out = 20; return ESP_OK; }",
                "Warning 9: returns `ESP_OK` where it returned `ESP_FAIL`",
            ),
            (
                "    return err;\n}",
                "    return ESP_OK;\n}",
                "Warning 10: returns `ESP_OK` where it returned `err`",
            ),
            (
                "return false;",
                "return true;",
                "Warning 16: returns `true` where it returned `false`",
            ),
        ] {
            let changed = OLD.replacen(old, new, 1);
            assert_eq!(found(&changed, "Round the value"), [wanted], "{new}");
            let asked = "Ignore a missing sensor";
            assert_eq!(found(&changed, asked), [] as [String; 0], "{new}");
        }
    }

    #[test]
    fn a_failure_after_which_a_function_goes_on_is_found() {
        let goes_on = OLD.replacen("        return err;\n", "", 1);
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), &goes_on), "Log more");
        let wanted = "Warning 6: no longer returns `err` when something failed";
        assert!(all.iter().any(|found| found == wanted), "{all:?}");
        let gone = OLD.replacen("    if (!ready()) { return ESP_FAIL; }\n", "", 1);
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), &gone), "Log more");
        assert!(!all.iter().any(|found| found.contains("no longer returns")), "{all:?}");
    }

    #[test]
    fn a_function_that_cannot_fail_any_longer_is_found() {
        let old = "esp_err_t read(int *out)\n{\n    int raw;\n    ESP_RETURN_ON_ERROR(get(&raw), TAG, \"r\");\n    \
                   if (raw > OPEN) {\n        return ESP_ERR_INVALID_RESPONSE;\n    }\n    *out = raw;\n    \
                   return ESP_OK;\n}\n";
        let new = "esp_err_t read(int *out)\n{\n    int n = mean(out);\n    if (n == 0) {\n        *out = last;\n        \
                   return ESP_OK;\n    }\n    last = *out;\n    return ESP_OK;\n}\n";
        let found = |old: &str, new: &str| {
            let all = reported(CheckKind::Safeguards, ("main/a.c", Some(old), new), "Average it");
            all.into_iter().filter(|found| found.contains("reports no failure")).collect::<Vec<_>>()
        };
        let wanted = "Warning 6: `read` reports no failure any longer";
        assert_eq!(found(old, new), [wanted]);
        let fails = new.replacen("return ESP_OK", "return ESP_FAIL", 1);
        assert_eq!(found(old, &fails), [] as [String; 0]);
        assert_eq!(found(&old.replace("read(", "get_one("), new), [] as [String; 0]);
        let rust = "fn read(raw: &[u8]) -> Result<u8, E> {\n    if crc(raw) != 0 {\n        return Err(E::Crc);\n    }\n    Ok(raw[0])\n}\n";
        let new = rust.replace("return Err(E::Crc)", "warn!(\"crc\")");
        let all = reported(CheckKind::Safeguards, ("src/a.rs", Some(rust), &new), "Log more");
        let wanted = "Warning 3: `read` reports no failure any longer".to_owned();
        assert!(all.contains(&wanted), "{all:?}");
    }

    #[test]
    fn other_results_and_other_functions_are_not() {
        for (old, new) in [
            ("return ESP_FAIL;", "return ESP_ERR_TIMEOUT;"),
            (
                "    return err;\n}",
                "    if (err != ESP_OK) {\n        return err;\n    }\n    return ESP_OK;\n}",
            ),
            ("return true;", "return false;"),
            ("!check()", "check()"),
            ("esp_err_t read(int *out)", "esp_err_t read_first(int *out)"),
            ("if (*out < 0) return ESP_ERR_INVALID_RESPONSE;", "if (*out == 0) return ESP_OK;"),
            ("return err;\n    }", "return err;\n    }\n    if (*out == 0) return ESP_OK;"),
        ] {
            let changed = OLD.replacen(old, new, 1);
            assert_ne!(changed, OLD);
            assert_eq!(found(&changed, "Round the value"), [] as [String; 0], "{new}");
        }
    }
}
