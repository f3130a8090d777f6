//! Functions that a change makes much harder to follow.
//!
//! Says only what matters: a function that became complex and more so than before.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Subject;
use crate::lang::{Complexity, complexity, complexity_in, grammar_of};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};

/// How long a version of a file is measured.
const BUDGET: Duration = Duration::from_millis(60);

/// A function that is not more complex than this is no matter.
const COMPLEX: u32 = 15;

/// One that is more complex than this is a warning.
const TOO_COMPLEX: u32 = 30;

/// Growth below this is none to speak of.
const GROWTH: u32 = 3;

/// Functions that are named, at most.
const MOST: usize = 10;

/// The check of a source; `None` where no function became complex.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    let parsed = subject.parsed(path).and_then(|parsed| parsed.whole(grammar_of(path, text)?));
    let after = match parsed {
        Some((tree, text)) => complexity_in(tree, text, COMPLEX),
        None => complexity(path, text, BUDGET)?,
    };
    if after.iter().all(|function| weight(function) <= COMPLEX) {
        return None;
    }
    let before = subject.base_text().and_then(|text| complexity(path, text, BUDGET));
    let before = before.unwrap_or_default();
    let known: BTreeMap<&str, &Complexity> =
        before.iter().map(|function| (function.name.as_str(), function)).collect();
    let found = after
        .iter()
        .filter_map(|function| finding(function, known.get(function.name.as_str()).copied()));
    let found: Vec<Finding> = found.take(MOST).collect();
    (!found.is_empty()).then(|| Check::with(CheckKind::Complexity, found))
}

fn finding(after: &Complexity, before: Option<&Complexity>) -> Option<Finding> {
    let now = weight(after);
    let was = before.map_or(0, weight);
    if now <= COMPLEX || now < was.saturating_add(GROWTH) {
        return None;
    }
    let level = if now > TOO_COMPLEX { FindingLevel::Warning } else { FindingLevel::Note };
    let delta = |name: &str, of: fn(&Complexity) -> u32| match before {
        Some(before) => format!("{name} complexity {} → {}", of(before), of(after)),
        None => format!("{name} complexity {}", of(after)),
    };
    let text = format!(
        "`{}` is hard to follow: {}, {}",
        after.name,
        delta("cognitive", |function| function.cognitive),
        delta("cyclomatic", |function| function.cyclomatic),
    );
    let finding = Finding::new(level, text).at(FindingPlace::line(after.line));
    Some(finding.advice("Split the function, or ask for a simpler one."))
}

fn weight(function: &Complexity) -> u32 {
    function.cognitive.max(function.cyclomatic)
}

#[cfg(test)]
mod tests {
    use super::super::FindingsContext;
    use super::*;
    use crate::model::{Draft, DraftChange};

    fn nested(depth: usize) -> String {
        let mut text = String::from("int walk(int n)\n{\n    int s = 0;\n");
        for level in 0..depth {
            text.push_str(&format!("    if (n > {level}) {{\n"));
        }
        text.push_str("    s++;\n");
        text.push_str(&"    }\n".repeat(depth));
        text + "    return s;\n}\n"
    }

    fn reported(base: Option<&str>, content: &str) -> Vec<Finding> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(base) = base {
            std::fs::write(folder.path().join("a.c"), base).unwrap();
        }
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.c").unwrap();
        let base = base.map(|base| base.as_bytes().to_vec());
        let change = DraftChange::Save { path, base, content: content.as_bytes().to_vec() };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], &FindingsContext::default());
        let check = made[0].checks.iter().find(|check| check.kind == CheckKind::Complexity);
        check.map(|check| check.findings.clone()).unwrap_or_default()
    }

    #[test]
    fn a_function_that_grew_complex_is_reported_with_what_it_was() {
        let found = reported(Some(&nested(2)), &nested(6));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].text.starts_with("`walk` is hard to follow: cognitive complexity 3 → 21"));
        assert_eq!(found[0].place, Some(FindingPlace::line(1)));
        assert_eq!(found[0].level, FindingLevel::Note);
        assert_eq!(reported(None, &nested(9))[0].level, FindingLevel::Warning);
    }

    #[test]
    fn what_was_so_before_or_is_simple_is_no_matter() {
        let complex = nested(6);
        assert!(
            reported(Some(&complex), &format!("{complex}int other(void)\n{{\n    return 1;\n}}\n"))
                .is_empty()
        );
        assert!(reported(Some(&complex), &nested(2)).is_empty());
        assert!(reported(None, &nested(3)).is_empty());
        assert!(reported(None, "no code at all {{{").is_empty());
    }
}
