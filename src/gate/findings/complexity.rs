//! How complex the functions of a source are, and which ones a change makes much harder to follow.
//!
//! A finding is only what matters: a function that became complex and more so than before. The figures
//! of the functions are kept next to the findings, for those who want to read them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Subject;
use crate::lang::{Complexity, MeasuredFunctions, complexity, grammar_of};
use crate::model::{
    Check, CheckKind, CodeFigures, Finding, FindingLevel, FindingPlace, FunctionFigures,
    ProjectPath,
};
use crate::text::syntax::Parsed;

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

/// Functions whose figures are kept, at most.
const MOST_FIGURES: usize = 24;

/// The check of a source; `None` where no function is found.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let source = subject.source()?;
    let in_tree = in_tree(path, source.text, || source.parsed());
    let after = match &in_tree {
        Some(functions) => functions.all(),
        None => complexity(path, source.text, BUDGET)?,
    };
    if after.is_empty() {
        return None;
    }
    let before = subject.base_text().and_then(|base| {
        // Line ends make no function more complex.
        match base.lines().eq(source.text.lines()) {
            true => Some(after.clone()),
            false => before(path, base, subject, in_tree.as_ref()),
        }
    });
    let before = before.unwrap_or_default();
    let known: BTreeMap<&str, &Complexity> =
        before.iter().map(|function| (function.name.as_str(), function)).collect();
    let found = after
        .iter()
        .filter_map(|function| finding(function, known.get(function.name.as_str()).copied()));
    let found: Vec<Finding> = found.take(MOST).collect();
    let mut check = Check::with(CheckKind::Complexity, found);
    check.figures = figures(&after, &known);
    Some(check)
}

/// The figures of a version whose tree is whole; `None` where it is not, or its language has none.
fn in_tree<'p>(
    path: &ProjectPath,
    text: &str,
    parsed: impl FnOnce() -> Option<&'p Parsed<'p>>,
) -> Option<MeasuredFunctions<'p>> {
    let grammar = grammar_of(path, text)?;
    let (tree, text) = parsed()?.whole(grammar)?;
    Some(MeasuredFunctions::of(tree, text))
}

/// The figures of the version before; `None` where its language has none.
fn before(
    path: &ProjectPath,
    base: &str,
    subject: &Subject<'_>,
    after: Option<&MeasuredFunctions<'_>>,
) -> Option<Vec<Complexity>> {
    let grammar = grammar_of(path, base)?;
    match subject.base_parsed().and_then(|parsed| parsed.whole(grammar)) {
        Some((tree, text)) => Some(match after {
            Some(after) => after.of_version(tree, text).all(),
            None => MeasuredFunctions::of(tree, text).all(),
        }),
        None => complexity(path, base, BUDGET),
    }
}

/// The figures of the functions: those that are new or changed first.
fn figures(after: &[Complexity], known: &BTreeMap<&str, &Complexity>) -> Vec<FunctionFigures> {
    let of = |function: &Complexity| CodeFigures {
        lines: function.lines,
        cyclomatic: function.cyclomatic,
        cognitive: function.cognitive,
        nesting: function.nesting,
    };
    let mut all: Vec<FunctionFigures> = after
        .iter()
        .map(|function| FunctionFigures {
            name: function.name.clone(),
            line: function.line,
            now: of(function),
            before: known.get(function.name.as_str()).map(|before| of(before)),
        })
        .collect();
    all.sort_by_key(|function| !function.is_changed());
    all.truncate(MOST_FIGURES);
    all
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
    use super::super::test_changes;
    use super::*;

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
        checked(base, content).map(|check| check.findings).unwrap_or_default()
    }

    fn checked(base: Option<&str>, content: &str) -> Option<Check> {
        test_changes::check(CheckKind::Complexity, ("a.c", base, content), "")
    }

    #[test]
    fn the_figures_of_every_function_are_kept_with_what_they_were() {
        let other = "int other(void)\n{\n    return 1;\n}\n";
        let base = format!("{}{other}", nested(1));
        let check = checked(
            Some(&base),
            &format!("{other}{}{}", nested(2), nested(0).replace("walk", "new_one")),
        );
        let check = check.unwrap();
        assert!(check.findings.is_empty(), "{check:?}");
        let words: Vec<String> = check.figures.iter().map(FunctionFigures::words).collect();
        assert_eq!(words.len(), 3, "{words:?}");
        assert!(words[0].starts_with("walk: cyclomatic 3 (+1), cognitive 3 (+2), "), "{words:?}");
        assert!(words[1].starts_with("new_one: new, cyclomatic 1, "), "{words:?}");
        assert_eq!(words[2], "other: cyclomatic 1, cognitive 0, 4 lines, nesting 0");
        assert_eq!(checked(None, "int x = 1;\n"), None);
    }

    #[test]
    fn other_line_ends_change_no_figure() {
        let check = checked(Some(&nested(3)), &nested(3).replace('\n', "\r\n")).unwrap();
        assert!(check.figures.iter().all(|figures| !figures.is_changed()), "{check:?}");
        let other = "int other(int a)\n{\n    return a > 1 ? a : 1;\n}\n";
        let with = |depth| format!("{}{other}", nested(depth));
        let figures = |before: &str, now: &str| checked(Some(before), now).unwrap().figures;
        let same_ends = figures(&with(1), &with(2));
        assert_eq!(figures(&with(1), &with(2).replace('\n', "\r\n")), same_ends);
        assert_eq!(figures(&with(1).replace('\n', "\r\n"), &with(2)), same_ends);
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
