//! Lines that two files of a change exchange while the rest of them stays: each gets what the other
//! one said.
//!
//! Owns which lines count. Whole files that change places are told by [`moved`](super::moved).

use std::collections::BTreeSet;

use super::Subject;
use super::subject::BUDGET;
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::diff::changed_lines;

/// Lines that both have to get from each other.
const FEWEST: usize = 2;

/// Files of a change that are compared.
const MOST: usize = 16;

/// What is to be said of a file that exchanges lines with another one.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (base, text) = (subject.base_text()?, subject.text()?);
    subject.context.proposed.paths().find(|other| *other != path)?;
    let (gone, came) = changes(base, text);
    if gone.len() < FEWEST || came.len() < FEWEST {
        return None;
    }
    let others = subject.context.proposed.paths().filter(|other| *other != path).take(MOST);
    for other in others {
        let (Some(was), Some(is)) =
            (subject.text_before(other.as_str()), subject.text_after(other.as_str()))
        else {
            continue;
        };
        let (their_gone, their_came) = changes(&was, &is);
        let gets = came.intersection(&their_gone).count();
        let gives = gone.intersection(&their_came).count();
        if gets >= FEWEST && gives >= FEWEST {
            let first = (1..).zip(text.lines()).find(|(line, content)| {
                subject.changed().added.contains(line) && their_gone.contains(content.trim())
            });
            let what = format!("exchanges {gets} lines with `{other}`");
            let mut finding = Finding::new(FindingLevel::Warning, what)
                .advice("The names stay, and what they stand for changes.");
            finding.place = first.map(|(line, _)| FindingPlace::line(line));
            return Some(finding);
        }
    }
    None
}

/// The lines with a value in them that go, and those that come.
fn changes<'a>(was: &'a str, is: &'a str) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let changed = changed_lines(was.as_bytes(), is.as_bytes(), BUDGET);
    let lines = |text: &'a str, ranges: &[std::ops::Range<usize>]| -> BTreeSet<&'a str> {
        let is_in = |at: usize| ranges.iter().any(|range| range.contains(&at));
        let lines = text.lines().enumerate().filter(|(at, _)| is_in(*at));
        let has_value = |line: &&str| {
            line.bytes().any(|byte| byte.is_ascii_digit())
                && line.len() > 8
                && !line.starts_with("//")
        };
        lines.map(|(_, line)| line.trim()).filter(has_value).collect()
    };
    let (gone, came) = (lines(was, &changed.removed), lines(is, &changed.added));
    let stays = |line: &&&str| !gone.contains(**line);
    let only_came = came.iter().filter(stays).copied().collect();
    let only_gone = gone.iter().filter(|line| !came.contains(**line)).copied().collect();
    (only_gone, only_came)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    const ADULT: &str = "#pragma once\n#define RATE_ML_H 120.0f\n#define BOLUS_ML 10.0f\n";
    const CHILD: &str = "#pragma once\n#define RATE_ML_H 25.0f\n#define BOLUS_ML 1.5f\n";

    fn found(adult: &str, child: &str) -> Vec<String> {
        let files = [("main/adult.h", ADULT), ("main/child.h", CHILD)];
        let changes = [("main/adult.h", Some(adult)), ("main/child.h", Some(child))];
        TestProject { files: &files, task: "Use include guards", chip: None }
            .reported(CheckKind::Origin, &changes)
            .into_iter()
            .filter(|found| found.contains("exchanges"))
            .collect()
    }

    #[test]
    fn values_that_change_places_between_files_are_told() {
        let guarded = |text: &str| text.replace("#pragma once", "#ifndef GUARD_H\n#define GUARD_H");
        assert_eq!(
            found(&guarded(CHILD), &guarded(ADULT)),
            [
                "main/adult.h Warning: exchanges 2 lines with `main/child.h`",
                "main/child.h Warning: exchanges 2 lines with `main/adult.h`"
            ]
        );
        assert_eq!(found(&guarded(ADULT), &guarded(CHILD)), [] as [String; 0]);
        assert_eq!(found(&guarded(CHILD), CHILD), [] as [String; 0], "only one of them gets it");
    }
}
