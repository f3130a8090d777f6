//! Tolerances of tests that a change widens: `TOLERANCE = 0.5` where it was `0.005`.
//!
//! Tolerances that stand in an assertion are told by [`test_expectations`](super::test_expectations).

use super::Subject;
use super::limit_names::words;
use super::test_expectations::is_test;
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Words of names of tolerances.
const WORDS: [&str; 9] =
    ["tolerance", "tol", "eps", "epsilon", "delta", "margin", "accuracy", "precision", "slack"];

/// What is to be said of a tolerance that grows.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let [old, new] = subject.numbers().filter(|_| is_test(path))?;
    let task = subject.context.person_words();
    if WORDS.iter().any(|word| word.len() > 3 && task.contains(word)) {
        return None;
    }
    let is_tolerance =
        |name: &str| words(name).any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()));
    new.iter().filter(|now| is_tolerance(&now.name)).find_map(|now| {
        let was = old.iter().find(|was| was.name == now.name && was.unit == now.unit)?;
        let line = now.lines.into_iter().find(|it| subject.changed().added.contains(it))?;
        let text =
            format!("widens `{}` of a test from `{}` to `{}`", now.name, was.shown, now.shown);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        (now.value > was.value)
            .then(|| finding.advice("Make sure that the test still tells a fault."))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn a_tolerance_that_grows_is_reported() {
        let old = "TOLERANCE_KWH = 0.005\n\ndef test_hour():\n    assert abs(kwh() - 1.0) < TOLERANCE_KWH\n";
        let found = |to: &str, task: &str| {
            let new = old.replace("0.005", to);
            let all =
                reported(CheckKind::BeyondTask, ("tests/test_meter.py", Some(old), &new), task);
            all.into_iter().filter(|found| found.contains("widens")).collect::<Vec<_>>()
        };
        let wanted = "Warning 1: widens `TOLERANCE_KWH` of a test from `0.005` to `0.5`";
        assert_eq!(found("0.5", "Fix the meter"), [wanted]);
        assert_eq!(found("0.001", "Fix the meter"), [] as [String; 0]);
        assert_eq!(found("0.5", "The tolerance of the test is too small"), [] as [String; 0]);
    }
}
