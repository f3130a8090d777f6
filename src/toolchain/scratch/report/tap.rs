//! The Test Anything Protocol: `ok 1 - name`, `not ok 2 - name # SKIP why`, and a plan `1..2`.

use super::collected::Collected;
use crate::model::{TestCase, TestOutcome};

/// Reads it; `None` without a plan, else whether all planned tests are there.
pub fn read(text: &str, tests: &mut Collected) -> Option<bool> {
    let plan = text.lines().find_map(|line| line.trim_end().strip_prefix("1.."));
    let planned: u32 = plan?.split_whitespace().next()?.parse().ok()?;
    let mut open: Option<TestCase> = None;
    let mut count = 0;
    for line in text.lines() {
        let (outcome, rest) = match (line.strip_prefix("not ok"), line.strip_prefix("ok")) {
            (Some(rest), _) => (TestOutcome::Failed, rest),
            (None, Some(rest)) => (TestOutcome::Passed, rest),
            (None, None) => {
                if let Some(test) = &mut open {
                    test.output.push_str(line);
                    test.output.push('\n');
                }
                continue;
            }
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            continue;
        }
        open.take().into_iter().for_each(|test| tests.add(with_message(test)));
        count += 1;
        open = Some(test_of(outcome, rest, count));
    }
    open.into_iter().for_each(|test| tests.add(with_message(test)));
    Some(count >= planned)
}

fn test_of(outcome: TestOutcome, rest: &str, count: u32) -> TestCase {
    let rest = rest.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    let (name, directive) = rest.split_once('#').unwrap_or((rest, ""));
    let name = name.trim().trim_start_matches('-').trim();
    let name = if name.is_empty() { format!("test {count}") } else { name.to_owned() };
    let directive = directive.trim();
    let is = |word: &str| directive.to_ascii_uppercase().starts_with(word);
    let outcome = if is("SKIP") || is("TODO") { TestOutcome::Skipped } else { outcome };
    TestCase { message: directive.to_owned(), ..TestCase::new(name, outcome) }
}

/// What is explained below a failed test is why it failed.
fn with_message(mut test: TestCase) -> TestCase {
    if test.message.is_empty() && test.outcome == TestOutcome::Failed {
        let first = test.output.lines().map(|line| line.trim_start_matches('#').trim());
        test.message =
            first.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_owned();
    }
    test
}
