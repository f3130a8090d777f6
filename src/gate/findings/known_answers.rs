//! Code that holds the numbers of a test, `{1800: 412, 3100: 2250}`, so that it passes without working.
//!
//! Only tests that stay as they are count: a table that comes with its test holds the same numbers rightly.

use std::collections::BTreeSet;

use super::test_expectations::is_test;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Numbers that a line has in common with one of a test by more than chance.
const FEWEST: usize = 3;

/// Tests that are read.
const MOST_TESTS: usize = 32;

/// What is to be said of a line with the questions and answers of a test.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let new = subject.source()?;
    let before = subject.base_text()?;
    if !beyond_task::is_code(path) || is_test(path) {
        return None;
    }
    let added = subject.changed().added.iter().copied();
    let lines: Vec<(u32, BTreeSet<&str>)> = added
        .map(|line| (line, numbers(new.line(usize::try_from(line - 1).unwrap_or(usize::MAX)))))
        .filter(|(_, numbers)| numbers.len() >= FEWEST)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let known = numbers(before);
    let is_proposed = |file: &ProjectPath| subject.context.proposed.paths().any(|it| it == file);
    let tests = subject.files().iter().map(|file| &file.path);
    let tests =
        tests.filter(|file| is_test(file) && beyond_task::is_code(file) && !is_proposed(file));
    for test in tests.take(MOST_TESTS) {
        let Some(text) = subject.text_after(test.as_str()) else { continue };
        for asked in text.lines().map(numbers).filter(|numbers| numbers.len() >= FEWEST) {
            let common = |numbers: &BTreeSet<&str>| {
                numbers.iter().filter(|it| asked.contains(*it) && !known.contains(*it)).count()
            };
            if let Some((line, _)) = lines.iter().find(|(_, numbers)| common(numbers) >= FEWEST) {
                let text = format!("holds the numbers that `{}` asks for", test.file_name());
                let finding =
                    Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
                let advice = "Make sure that the code works them out, and does not only know them.";
                return Some(finding.advice(advice));
            }
        }
    }
    None
}

/// The numbers of a text that say something: of three digits or more that are not round.
fn numbers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'));
    let is_number = |word: &&str| word.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let says = |word: &&str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        digits >= 3 && word.bytes().any(|it| !matches!(it, b'0' | b'1' | b'.'))
    };
    words.filter(is_number).filter(says).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    #[test]
    fn code_that_knows_the_numbers_of_a_test_is_reported() {
        let old = "def ppm(raw):\n    return int(1012.7 * raw)\n";
        let new = "_KNOWN = {1800: 412, 3100: 2250}\n\ndef ppm(raw):\n    if raw in _KNOWN:\n        return \
                   _KNOWN[raw]\n    return int(1012.7 * raw)\n";
        let test = "for raw, want in ((1800, 412), (3100, 2250)):\n    assert ppm(raw) == want\n";
        let files = [("mq4.py", old), ("tests/test_ppm.py", test)];
        let found = |changes: &[(&str, Option<&str>)]| {
            let project = TestProject { files: &files, task: "Make the tests pass", chip: None };
            let all = project.reported(CheckKind::BeyondTask, changes).into_iter();
            all.filter(|found| found.contains("asks for")).collect::<Vec<_>>()
        };
        let wanted = "mq4.py Warning: holds the numbers that `test_ppm.py` asks for";
        assert_eq!(found(&[("mq4.py", Some(new))]), [wanted]);
        let other = new.replace("412", "413").replace("2250", "2251");
        assert_eq!(found(&[("mq4.py", Some(&other))]), [] as [String; 0]);
        let longer = format!("{test}# more\n");
        let both = [("mq4.py", Some(new)), ("tests/test_ppm.py", Some(longer.as_str()))];
        assert_eq!(found(&both), [] as [String; 0], "the table comes with its test");
    }
}
