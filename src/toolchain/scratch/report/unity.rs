//! Unity's lines: `file:line:name:PASS`, and a summary at the end. Also as its menu prints them on a
//! board.

use super::collected::Collected;
use super::place::place_and_rest;
use crate::model::{TestCase, TestOutcome};

/// Reads them; `None` when there is not one, else whether the summary is there.
pub fn read(text: &str, tests: &mut Collected) -> Option<bool> {
    let mut summary = None;
    let mut found = false;
    let mut printed = String::new();
    for line in text.lines() {
        if let Some(test) = test_of(line.trim_end(), std::mem::take(&mut printed)) {
            found = true;
            tests.add(test);
            continue;
        }
        summary = summary.or_else(|| is_summary(line).then_some(()));
        printed.push_str(line);
        printed.push('\n');
    }
    (found || summary.is_some()).then_some(summary.is_some())
}

fn test_of(line: &str, printed: String) -> Option<TestCase> {
    let (place, rest) = place_and_rest(line)?;
    let (name, result) = split_result(rest)?;
    let (word, message) = result.split_once(':').unwrap_or((result, ""));
    // Newer ones say how long it took: `PASS (3 ms)`.
    let (word, took) = word.trim().split_once(' ').unwrap_or((word.trim(), ""));
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        "IGNORE" => TestOutcome::Skipped,
        _ => return None,
    };
    let millis = took.trim_matches(['(', ')']).trim_end_matches("ms").trim().parse().unwrap_or(0);
    Some(TestCase {
        millis,
        message: message.trim().to_owned(),
        file: Some(place.file),
        line: place.line,
        output: printed.trim_start_matches('\n').to_owned(),
        ..TestCase::new(name, outcome)
    })
}

/// A name may hold colons, so that the result is looked for from the end of the name.
fn split_result(rest: &str) -> Option<(&str, &str)> {
    let words = [":PASS", ":FAIL", ":IGNORE"];
    let place = words.iter().filter_map(|word| rest.find(word)).min()?;
    let (name, result) = rest.split_at(place);
    (!name.is_empty()).then(|| (name, result.trim_start_matches(':')))
}

/// `7 Tests 2 Failures 0 Ignored`.
fn is_summary(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words.as_slice(), [tests, "Tests", failures, "Failures", ignored, "Ignored", ..]
        if [tests, failures, ignored].iter().all(|count| count.parse::<u32>().is_ok()))
}
