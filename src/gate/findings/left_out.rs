//! Code that a new `#if 0` takes out of the program.
//!
//! Lines that are new themselves count for nothing. Must not judge other conditions.

use std::collections::BTreeSet;

use super::{Subject, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};

/// What is found in a text without comments.
pub(super) fn find(code: &str, subject: &Subject<'_>) -> Vec<Finding> {
    if subject.base.is_none() || !code.contains('#') {
        return Vec::new();
    }
    let task = subject.context.person_words();
    let asks = ["comment out", "take out", "leave out", "comments out"];
    let is_asked_for =
        wishes::wants_something_gone(&task) || asks.iter().any(|words| task.contains(words));
    let level = if is_asked_for { FindingLevel::Note } else { FindingLevel::Warning };
    let blocks = blocks(code, &subject.changed().added).into_iter();
    let finding = |(line, count): (u32, usize)| {
        let lines = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
        let text = format!("takes {lines} out of the program");
        let finding = Finding::new(level, text).at(FindingPlace::line(line));
        finding.advice("Make sure that the program can do without.")
    };
    blocks.filter(|(_, count)| *count > 0).map(finding).collect()
}

/// The lines with such a condition that are new, and how many lines with code that are not new stand
/// up to where it ends.
fn blocks(code: &str, added: &BTreeSet<u32>) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    // How deep the conditions within the one that is open are nested; `None`: none is open.
    let mut depth = None;
    for (number, line) in (1..).zip(code.lines()) {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let word = directive.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        match (depth, word) {
            (None, "if") if added.contains(&number) && directive.is_some_and(is_false) => {
                found.push((number, 0));
                depth = Some(0_usize);
                continue;
            }
            (None, _) => continue,
            (Some(0), "endif" | "else" | "elif") => {
                depth = None;
                continue;
            }
            (Some(open), "if" | "ifdef" | "ifndef") => depth = Some(open + 1),
            (Some(open), "endif") => depth = Some(open - 1),
            (Some(_), _) => {}
        }
        if !added.contains(&number)
            && !line.trim().is_empty()
            && let Some((_, count)) = found.last_mut()
        {
            *count += 1;
        }
    }
    found
}

/// Whether a directive is a condition that never holds.
fn is_false(directive: &str) -> bool {
    let words: Vec<&str> = directive.split_whitespace().collect();
    matches!(*words, ["if", "0" | "false" | "(0)"])
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use super::*;
    use crate::model::CheckKind;

    #[test]
    fn code_that_is_taken_out_of_the_program_is_told_with_its_lines() {
        let old = "int a;\n    check();\n    stop();\nint b;\n";
        let off = "int a;\n#if 0\n    check();\n    stop();\n#endif\nint b;\n";
        let found =
            |new: &str, task: &str| reported(CheckKind::Safeguards, ("a.c", Some(old), new), task);
        assert_eq!(found(off, ""), ["Warning 2: takes 2 lines out of the program"]);
        assert_eq!(found(off, "drop the check"), ["Note 2: takes 2 lines out of the program"]);
        assert_eq!(found(&format!("{old}# if  0\nint c;\n#endif\n"), ""), [] as [String; 0]);
        assert_eq!(found(&off.replace("#if 0", "#if CONFIG_CHECK"), ""), [] as [String; 0]);
        let other = off.replace("    stop();", "#else\n    stop();");
        assert_eq!(found(&other, ""), ["Warning 2: takes a line out of the program"]);
    }

    #[test]
    fn every_block_is_counted_to_its_end() {
        let blocks_of = |code: &str, added: &[u32]| blocks(code, &added.iter().copied().collect());
        let empty_first = "#if 0\n#endif\n#if 0\na();\n#endif\n";
        assert_eq!(blocks_of(empty_first, &[1, 2, 3, 5]), [(1, 0), (3, 1)]);
        let nested = "#if 0\na();\n#if B\nb();\n#else\nc();\n#endif\nd();\n#endif\ne();\n";
        assert_eq!(blocks_of(nested, &[1, 9]), [(1, 7)]);
        assert_eq!(blocks_of("#if 0\na();\n", &[1]), [(1, 1)], "no end");
        assert_eq!(blocks_of("#if 0\na();\n#endif\n", &[2]), [], "it was there");
    }
}
