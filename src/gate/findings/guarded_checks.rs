//! Checks that always ran and now run under a condition: `if (trailer.magic == MAGIC) verify(…)`.
//!
//! Owns how such a call is told. That one goes altogether is told by
//! [`removed_checks`](super::removed_checks).

use std::collections::BTreeMap;

use super::Subject;
use super::call_places::checks;
use super::source::{SourceText, raw};
use crate::model::{Finding, FindingLevel, FindingPlace};
use crate::text::c_calls::IfStatements;
use crate::text::c_tokens::TokenKind;

/// Longest condition that is shown, in tokens.
const LONGEST: usize = 24;

/// Parts of tasks that may want a check to run only sometimes.
const WISHES: [&str; 9] = [
    "verif",
    "check",
    "valid",
    "signature",
    "unsigned",
    "allow",
    "accept",
    "optional",
    "authentic",
];

/// A call of a check: its function and its name.
type Call = (String, String);

/// Where such a call stands: its line, from 1, and the condition of the block around it.
type Place = (u32, Option<String>);

/// What is to be said of a check that runs under a condition now.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let task = subject.context.person_words();
    if subject.changed().removed.is_empty()
        || !checks(new.text)
        || task.is_empty()
        || WISHES.iter().any(|wish| task.contains(wish))
    {
        return None;
    }
    let was = calls(old);
    for (call, now) in calls(new) {
        let (Some([(_, None)]), [(line, Some(condition))]) =
            (was.get(&call).map(Vec::as_slice), now.as_slice())
        else {
            continue;
        };
        // What failed before needs no further check.
        let is_chain = ["err", "ret", "rc", "ok", "ESP_OK"]
            .iter()
            .any(|name| condition.split(' ').any(|token| token == *name));
        if is_chain {
            continue;
        }
        let shown = condition.replace(" . ", ".").replace(" - > ", "->").replace("= =", "==");
        let text = format!("calls `{}` only if `{shown}`", call.1);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
        return Some(finding.advice("Make sure that nothing passes without the check."));
    }
    None
}

/// The calls of checks in the functions of a source, with where each stands.
fn calls(source: &SourceText<'_>) -> BTreeMap<Call, Vec<Place>> {
    let tokens = source.tokens();
    let closes = source.closes();
    let ifs = IfStatements::of(tokens, closes);
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let mut found: BTreeMap<Call, Vec<Place>> = BTreeMap::new();
    for function in source.functions() {
        let Some(name) = tokens.get(function.name) else { continue };
        let mut blocks = Vec::new();
        for at in function.body.clone() {
            if is(at, "{") {
                blocks.push(at);
            } else if is(at, "}") {
                blocks.pop();
            }
            let Some(token) = tokens.get(at).filter(|token| token.kind == TokenKind::Word) else {
                continue;
            };
            if !is(at + 1, "(") || !checks(token.raw) {
                continue;
            }
            let block = blocks.last().filter(|_| blocks.len() > 1);
            let condition = block.and_then(|at| ifs.condition_before(*at));
            let condition = condition.filter(|inside| inside.len() <= LONGEST).map(raw);
            // A block of another kind, such as a loop or a `switch`, is not compared.
            if blocks.len() > 1 && condition.is_none() {
                continue;
            }
            let place = (source.number_at(token.start), condition);
            found.entry((name.raw.to_owned(), token.raw.to_owned())).or_default().push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "esp_err_t end(void)\n{\n    finish(hash);\n    \
                       esp_err_t err = fw_sign_verify(hash, &s_up.trailer);\n    \
                       if (err != ESP_OK) {\n        stop();\n    }\n    return err;\n}\n";
    const CALL: &str = "    esp_err_t err = fw_sign_verify(hash, &s_up.trailer);\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("only if")).collect()
    }

    #[test]
    fn a_check_that_runs_under_a_condition_now_is_told() {
        let guarded = |condition: &str| {
            let call = format!(
                "    esp_err_t err = ESP_OK;\n    if ({condition}) {{\n        \
                 err = fw_sign_verify(hash, &s_up.trailer);\n    }}\n"
            );
            OLD.replace(CALL, &call)
        };
        let new = guarded("s_up.trailer.magic == MAGIC");
        let wanted = "Warning 6: calls `fw_sign_verify` only if `s_up.trailer.magic == MAGIC`";
        assert_eq!(found(&new, "Resume a download"), [wanted]);
        assert_eq!(found(&new, "Allow images without a trailer"), [] as [String; 0]);
        assert_eq!(found(&guarded("err == ESP_OK"), "Resume a download"), [] as [String; 0]);
        let twice =
            new.replace("    return err;", "    if (x) { fw_sign_verify(a, b); }\n    return err;");
        assert_eq!(found(&twice, "Resume a download"), [] as [String; 0]);
        let moved = OLD.replace("    finish(hash);\n", "");
        assert_eq!(found(&moved, "Resume a download"), [] as [String; 0]);
    }
}
