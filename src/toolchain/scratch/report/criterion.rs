//! Criterion's lines: `[PASS] suite::test: (0.01s)`, with the failed assertions in `[----]` lines
//! before, and `[====] Synthesis: …` at the end.

use super::collected::Collected;
use super::json_lines::millis;
use super::place::{Place, place_and_rest};
use crate::model::{TestCase, TestOutcome};

/// Reads them; `None` when there is not one, else whether the synthesis is there.
pub fn read(text: &str, tests: &mut Collected) -> Option<bool> {
    let (mut found, mut is_whole) = (false, false);
    let mut details: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((mark, rest)) = marked(line) else { continue };
        match mark {
            "----" => details.push(rest),
            "PASS" | "FAIL" | "SKIP" => {
                found = true;
                tests.add(test_of(mark, rest, &std::mem::take(&mut details)));
            }
            "RUN " => details.clear(),
            "====" if rest.starts_with("Synthesis") => (found, is_whole) = (true, true),
            _ => {}
        }
    }
    found.then_some(is_whole)
}

fn marked(line: &str) -> Option<(&str, &str)> {
    let (mark, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    (mark.len() == 4).then(|| (mark, rest.trim()))
}

fn test_of(mark: &str, rest: &str, details: &[&str]) -> TestCase {
    let (name, took) = rest.rsplit_once(": (").unwrap_or((rest, ""));
    let seconds = took.trim_end_matches(['s', ')']).parse().unwrap_or(0.0);
    let crash =
        details.iter().find(|line| line.contains("CRASH!") || line.contains("Unexpected signal"));
    let outcome = match (mark, crash) {
        ("PASS", _) => TestOutcome::Passed,
        ("SKIP", _) => TestOutcome::Skipped,
        (_, Some(_)) => TestOutcome::Error,
        (_, None) => TestOutcome::Failed,
    };
    let first = details.iter().find_map(|line| place_and_rest(line));
    let message = match (&first, crash, details.first()) {
        (_, Some(crash), _) => (*crash).to_owned(),
        (Some((_, message)), None, _) => message.trim().to_owned(),
        (None, None, Some(line)) => (*line).to_owned(),
        (None, None, None) => String::new(),
    };
    let place = first.map(|(place, _)| place);
    TestCase {
        millis: millis(seconds),
        message,
        file: place.as_ref().map(|place| place.file.clone()),
        line: place.as_ref().and_then(|Place { line, .. }| *line),
        output: details.join("\n"),
        ..TestCase::new(name.trim_end_matches(':'), outcome)
    }
}
