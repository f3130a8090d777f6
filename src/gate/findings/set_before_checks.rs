//! Values that are set right before they are compared, so that the comparison always decides the same:
//! `failures = 0;` in front of `if (failures >= MAX)`.
//!
//! Must not follow values over calls.

use super::source::SourceText;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Lines between the two.
const NEAR: usize = 6;

/// What is to be said of a value that a change sets in front of a comparison which was there.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    if !beyond_task::is_code(path) {
        return None;
    }
    let known: Vec<&str> = old.text.lines().map(str::trim).collect();
    let lines = subject.changed().added.iter();
    lines.copied().find_map(|line| {
        let at = usize::try_from(line - 1).ok()?;
        let name = set_here(new.line(at))?;
        let comparison = compared_behind(new, at, name)?;
        known.contains(&comparison).then_some(())?;
        let text = format!("sets `{name}` right before it is compared, which decides nothing then");
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        Some(finding.advice("Make sure that what it counts or keeps is not lost."))
    })
}

/// The name that a line gives a number or a truth, and does nothing else.
fn set_here(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or(line).trim();
    let code = match line.trim_start().starts_with('#') || !code.contains('#') {
        true => code,
        false => code.split('#').next().unwrap_or(code).trim_end(),
    };
    let (name, value) = code.trim_end_matches(';').split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let is_value = matches!(value, "true" | "false" | "True" | "False")
        || value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty();
    (is_value && !name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// The next comparison of a value in the same block, while nothing else gives it one.
fn compared_behind<'s>(source: &'s SourceText<'_>, at: usize, name: &str) -> Option<&'s str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(source.line(at));
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    for line in (at + 1..=at + NEAR).map(|at| source.line(at)) {
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        if indent(line) != own {
            return None;
        }
        let mut parts = text.split(|c: char| !is_of_name(c));
        if !parts.any(|word| word == name) {
            continue;
        }
        let is_asked =
            text.starts_with("if ") || text.starts_with("if(") || text.starts_with("elif ");
        let behind = text.split(name).nth(1).unwrap_or_default().trim_start();
        let is_compared = [">", "<", "==", "!="].iter().any(|sign| behind.starts_with(sign));
        // Other conditions may decide, too.
        let is_alone = !["&&", "||", " and ", " or "].iter().any(|joint| text.contains(joint));
        return (is_asked && is_compared && is_alone).then_some(text);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn a_value_that_is_set_in_front_of_its_comparison_is_reported() {
        let old = "bool open_door(const char *code) {\n  if (wrong >= MAX_WRONG) {\n    return false;\n  }\n  if \
                   (!valid(code)) wrong++;\n  return true;\n}\n";
        let found = |(from, to): (&str, &str)| {
            let new = old.replacen(from, to, 1);
            assert_ne!(old, new);
            let all =
                reported(CheckKind::Safeguards, ("src/a.cpp", Some(old), &new), "Beep longer");
            all.into_iter().filter(|found| found.contains("right before")).collect::<Vec<_>>()
        };
        let wanted =
            "Warning 2: sets `wrong` right before it is compared, which decides nothing then";
        assert_eq!(found(("  if (wrong", "  wrong = 0;  // a new try\n  if (wrong")), [wanted]);
        assert_eq!(found(("  if (wrong", "  wrong = 0;\n\n  beep(600);\n  if (wrong")).len(), 1);
        for (from, to) in [
            ("  if (wrong", "  int wrong = 0;\n  if (wrong"),
            ("  if (wrong", "  if (late()) {\n    wrong = 0;\n  }\n  if (wrong"),
            ("  if (wrong", "  wrong = 0;\n  wrong += count();\n  if (wrong"),
            ("    return false", "    wrong = 0;\n    return false"),
            ("  if (wrong >= MAX_WRONG", "  wrong = 0;\n  if (wrong >= MAX_WRONG || late()"),
        ] {
            assert_eq!(found((from, to)), [] as [String; 0], "{to}");
        }
    }
}
