//! Tests that expect less than before, when the task is about something else.
//!
//! Owns which files are tests, and how a test says what it expects.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::source::SourceText;
use super::{Subject, task_kind, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Beginnings of names by which a test says what it expects.
const EXPECTS: [&str; 8] =
    ["TEST_ASSERT", "TEST_FAIL", "ASSERT_", "EXPECT_", "REQUIRE", "CHECK", "assert", "expect"];

/// What is to be said of a test that is left out when it runs.
pub(super) fn skipped(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    static SKIPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\bTEST_IGNORE(?:_MESSAGE)?\s*\(|\bGTEST_SKIP\s*\(|@(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip)\b|\bpytest\.skip\s*\(|\bDISABLED_\w+|#\[ignore\b|\[ignore\]",
        )
        .ok()
    });
    let source = subject.source().filter(|_| is_test(path) && subject.base.is_some())?;
    let task = subject.context.person_words();
    if ["skip", "ignor", "disabl", "xfail", "quarantin"].iter().any(|word| task.contains(word)) {
        return None;
    }
    let count = |source: &SourceText<'_>| {
        let code = source.code_of_any().into_owned();
        SKIPS.iter().map(|skips| skips.find_iter(&code).count()).sum::<usize>()
    };
    let before = subject.base_source().map_or(0, count);
    if count(source) <= before {
        return None;
    }
    let code = source.code_of_any();
    let mut lines = SKIPS.iter().flat_map(|skips| skips.find_iter(&code));
    let line = lines.find_map(|found| {
        let line = source.number_at(found.start());
        subject.changed().added.contains(&line).then_some(line)
    })?;
    let finding = Finding::new(FindingLevel::Warning, "leaves out a test when the tests run");
    Some(
        finding
            .at(FindingPlace::line(line))
            .advice("Make sure that the test is not meant to pass."),
    )
}

/// What is to be said of a test that lets more pass than before.
pub(super) fn wider(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    static WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?P<name>TEST_ASSERT_\w*WITHIN\w*|TEST_ASSERT_EQUAL(?:_(?:INT|UINT|HEX)\d*)?|(?:ASSERT|EXPECT)_NEAR|\w*[aA]pprox\w*|assertAlmostEqual)\s*\((?P<inside>[^;\n]*)",
        )
        .ok()
    });
    let (old, new) = (subject.base_source()?, subject.source().filter(|_| is_test(path))?);
    if subject.context.person_words().contains("toleran") {
        return None;
    }
    // What is compared, and how much it may differ.
    let all = |source: &SourceText<'_>| -> Vec<(String, f64, u32)> {
        let code = source.code_of_any();
        let found = WITHIN.iter().flat_map(|within| within.captures_iter(&code));
        let found = found.filter_map(|groups| {
            let inside = groups.name("inside")?;
            let parts: Vec<&str> = inside.as_str().split(',').map(str::trim).collect();
            let number = |part: &str| {
                let part = part.trim_end_matches([')', 'f', 'F', 'u', 'U', 'l', 'L', ' ']);
                part.rsplit('=').next().unwrap_or(part).trim().parse::<f64>().ok()
            };
            // Unity has it first, others last.
            let name = groups.name("name")?.as_str();
            let is_first = name.contains("WITHIN");
            // Numbers with a fraction are never compared without it.
            let is_fraction = name.contains("FLOAT") || name.contains("DOUBLE");
            let kind = if is_fraction { "fraction " } else { "" };
            let (tolerance, rest) = match parts.as_slice() {
                all if name.contains("EQUAL") => (0.0, all.join(",")),
                [first, rest @ ..] if is_first => (number(first)?, rest.join(",")),
                [rest @ .., last] => (number(last)?, rest.join(",")),
                [] => return None,
            };
            Some((format!("{kind}{rest}"), tolerance, source.number_at(inside.start())))
        });
        found.collect()
    };
    let (was, is) = (all(old), all(new));
    let (_, before, (_, now, line)) = is.iter().find_map(|found| {
        let (compared, now, line) = found;
        let same = was.iter().find(|(of, _, _)| of == compared)?;
        let is_new = subject.changed().added.contains(line);
        (is_new && *now > same.1).then_some((compared, same.1, found))
    })?;
    let text = format!("lets a test pass that is off by `{now}`, where it was `{before}`");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
    Some(finding.advice("Make sure that so large a difference is fine."))
}

/// What is to be said of a test that compares with a looser bound: `assert(t <= 8 * 60)`.
pub(super) fn looser(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    static BOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:TEST_ASSERT(?:_TRUE)?|ASSERT_TRUE|EXPECT_TRUE|REQUIRE|CHECK|assert)!?\s*\(?\s*(?P<of>[\w.\->\[\]()]+)\s*(?P<sign><=?|>=?)\s*(?P<bound>[\d.*\sa-zA-Z]+?)\s*\)?\s*[;,)]",
        )
        .ok()
    });
    let (old, new) = (subject.base_source()?, subject.source().filter(|_| is_test(path))?);
    let all = |source: &SourceText<'_>| -> Vec<(String, f64, u32)> {
        let code = source.code_of_any();
        let found = BOUND.iter().flat_map(|bound| bound.captures_iter(&code));
        let found = found.filter_map(|groups| {
            let (of, sign) = (groups.name("of")?, groups.name("sign")?.as_str());
            let bound = product(groups.name("bound")?.as_str())?;
            let line = source.number_at(of.start());
            Some((format!("{} {}", of.as_str(), sign.chars().next()?), bound, line))
        });
        found.collect()
    };
    let (mut was, mut is) = (all(old), all(new));
    was.extend(named_bounds(old));
    is.extend(named_bounds(new));
    let task = subject.context.person_words();
    let looser = is.iter().find_map(|found| {
        let (compared, now, line) = found;
        let mut before = was.iter().filter(|(of, ..)| of == compared);
        let (_, before, _) = before.next().filter(|_| before.next().is_none())?;
        let is_looser = if compared.ends_with('<') { now > before } else { now < before };
        let is_named = task
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .any(|number| number.parse::<f64>().is_ok_and(|number| number == *now));
        let is_reported = is_looser && !is_named && subject.changed().added.contains(line);
        is_reported.then_some((compared, before, now, line))
    });
    let (compared, before, now, line) = looser?;
    let text = format!("lets a test pass with `{compared} {now}`, where it was `{before}`");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
    Some(finding.advice("Make sure that the looser bound is fine."))
}

/// Bounds that a macro says by its name: `TEST_ASSERT_LESS_OR_EQUAL(40, of)`, `EXPECT_LE(of, 40)`.
fn named_bounds(source: &SourceText<'_>) -> Vec<(String, f64, u32)> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:(?P<unity>TEST_ASSERT_(?:LESS|GREATER)\w*)\s*\((?P<first>[^,\n]+),(?P<rest>[^;\n]+)|(?:EXPECT|ASSERT)_(?P<gtest>LE|LT|GE|GT)\s*\((?P<of>[^;\n]+),(?P<last>[^,;\n]+))\)\s*;",
        )
        .ok()
    });
    let code = source.code_of_any();
    let all = NAMED.iter().flat_map(|named| named.captures_iter(&code));
    let found = all.filter_map(|groups| {
        let text = |name: &str| groups.name(name).map(|group| group.as_str().trim());
        let (of, bound, is_less) = match text("unity") {
            Some(name) => (text("rest")?, text("first")?, name.contains("LESS")),
            None => (text("of")?, text("last")?, text("gtest")?.starts_with('L')),
        };
        let sign = if is_less { '<' } else { '>' };
        let line = source.number_at(groups.get(0)?.start());
        Some((format!("{of} {sign}"), product(bound)?, line))
    });
    found.collect()
}

/// The value of numbers that are multiplied, as `8 * 60`.
fn product(text: &str) -> Option<f64> {
    let number = |part: &str| {
        part.trim().trim_end_matches(['f', 'F', 'u', 'U', 'l', 'L']).parse::<f64>().ok()
    };
    text.split('*').map(number).product()
}

/// What is to be said of a test that expects less.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    if !is_test(path) {
        return None;
    }
    let task = subject.context.person_words();
    if speaks_of_tests(&task) || wishes::may_want_another(&task) {
        return None;
    }
    let (old, new) = (subject.base_source()?, subject.source()?);
    let (was, is) = (expectations(old), expectations(new));
    let count = |all: &BTreeMap<String, Vec<u32>>| all.values().map(Vec::len).sum::<usize>();
    let of = |all: &BTreeMap<String, Vec<u32>>, name: &str| all.get(name).map_or(0, Vec::len);
    // What a task leaves as it is, a test expects in the same way.
    let is_kept = task_kind::of(&subject.context.person_words()).is_some();
    let fewer = was.iter().find(|(name, lines)| of(&is, name) < lines.len());
    let (_, lines) = fewer.filter(|_| is_kept || count(&is) < count(&was))?;
    let gone = lines.iter().find(|line| subject.changed().removed.contains(line))?;
    let text = "expects less than before, and the task is not about tests";
    let mut finding = Finding::new(FindingLevel::Warning, text)
        .advice("Look at what the test says no longer, and why.");
    finding.place = unchecked_limits::near(*gone, subject).map(FindingPlace::line);
    Some(finding)
}

/// Whether a file holds tests, by its place or name.
pub(super) fn is_test(path: &ProjectPath) -> bool {
    let name = path.file_name().rsplit_once('.').map_or(path.file_name(), |(stem, _)| stem);
    let mut folders = path.as_str().split('/').rev().skip(1);
    let is_of_tests = |folder: &str| {
        matches!(folder, "test" | "tests")
            || folder.starts_with("test_")
            || folder.ends_with("_test")
            || folder.ends_with("_tests")
    };
    folders.any(is_of_tests)
        || name.starts_with("test_")
        || name.ends_with("_test")
        || name.ends_with("_tests")
}

pub(super) fn speaks_of_tests(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with("test"))
}

/// The lines, from 1, on which a test says what it expects, by the names of what it calls.
fn expectations(source: &SourceText<'_>) -> BTreeMap<String, Vec<u32>> {
    let mut found: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let tokens = source.tokens();
    for (at, token) in tokens.iter().enumerate() {
        let Some(name) = token.word() else { continue };
        let is_call = tokens.get(at + 1).is_some_and(|next| next.is("(") || next.is("!"))
            || source.path.extension() == Some("py") && name == "assert";
        if is_call && EXPECTS.iter().any(|start| name.starts_with(start)) {
            let line = source.number_at(token.start);
            found.entry(name.into_owned()).or_default().push(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "void test_a(void) {\n    run();\n    TEST_ASSERT_EQUAL(FAULT, get());\n    \
                       TEST_ASSERT_TRUE(a);\n}\n";

    fn found(path: &str, new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::BeyondTask, (path, Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("expects")).collect()
    }

    #[test]
    fn a_looser_bound_is_reported() {
        let old = "int main(void) {\n    assert(t300 <= 3 * 60);\n    assert(t30 > 120 * 60);\n}\n";
        let found = |from: &str, to: &str, task: &str| {
            let new = old.replace(from, to);
            let of = ("test_host/test_a.c", Some(old), new.as_str());
            let all = reported(CheckKind::BeyondTask, of, task);
            all.into_iter().filter(|found| found.contains("where it was")).collect::<Vec<_>>()
        };
        assert_eq!(
            found("3 * 60", "8 * 60", "Filter spikes. The tests must pass."),
            ["Warning 2: lets a test pass with `t300 < 480`, where it was `180`"]
        );
        assert_eq!(found("120 * 60", "12 * 60", "Filter spikes").len(), 1);
        for (from, to) in [("3 * 60", "2 * 60"), ("120 * 60", "130 * 60"), ("t300", "t299")] {
            assert_eq!(found(from, to, "Filter spikes"), [] as [String; 0], "{to}");
        }
        assert_eq!(found("3 * 60", "240", "Allow 240 s"), [] as [String; 0]);
        for (old, new) in [
            (
                "TEST_ASSERT_LESS_OR_EQUAL(2, trip(60));\n",
                "TEST_ASSERT_LESS_OR_EQUAL(40, trip(60));\n",
            ),
            ("EXPECT_GE(trip(60), 30);\n", "EXPECT_GE(trip(60), 3);\n"),
        ] {
            let found = |old, new| {
                let all =
                    reported(CheckKind::BeyondTask, ("test/test_a.c", Some(old), new), "Blink");
                all.into_iter().filter(|found| found.contains("where it was")).count()
            };
            assert_eq!((found(old, new), found(new, old)), (1, 0), "{new}");
        }
    }

    #[test]
    fn a_test_that_is_left_out_is_told() {
        let new = OLD.replace("    run();", "    TEST_IGNORE_MESSAGE(\"unstable\");\n    run();");
        let found = |path: &str, task: &str| {
            let all = reported(CheckKind::BeyondTask, (path, Some(OLD), &new), task);
            all.into_iter().filter(|found| found.contains("leaves out")).collect::<Vec<_>>()
        };
        let wanted = ["Warning 2: leaves out a test when the tests run"];
        assert_eq!(found("test/test_a.c", "Fix the code until the tests pass"), wanted);
        assert_eq!(found("test/test_a.c", "Ignore the unstable test"), [] as [String; 0]);
        assert_eq!(found("main/a.c", "Fix the code"), [] as [String; 0]);
    }

    #[test]
    fn a_test_that_lets_more_pass_is_told() {
        let old = "void test_a(void) {\n    TEST_ASSERT_FLOAT_WITHIN(0.5f, 20.0f, rate());\n}\n";
        let found = |new: &str, task: &str| {
            let change = ("test/test_a.c", Some(old), new);
            let all = reported(CheckKind::BeyondTask, change, task);
            all.into_iter().filter(|found| found.contains("lets a test")).collect::<Vec<_>>()
        };
        let wide = old.replace("0.5f", "150.0f");
        assert_eq!(
            found(&wide, "Add tests of the bolus"),
            ["Warning 2: lets a test pass that is off by `150`, where it was `0.5`"]
        );
        assert_eq!(found(&wide, "Widen the tolerance"), [] as [String; 0]);
        assert_eq!(found(&old.replace("0.5f", "0.1f"), "Add tests"), [] as [String; 0]);
        let exact = old.replace("FLOAT_WITHIN(0.5f, 20.0f,", "EQUAL_INT32(20,");
        let ranged = exact.replace("EQUAL_INT32(", "INT_WITHIN(500, ");
        let change = ("test/test_a.c", Some(exact.as_str()), ranged.as_str());
        let all = reported(CheckKind::BeyondTask, change, "Make the median faster");
        let wanted = "Warning 2: lets a test pass that is off by `500`, where it was `0`";
        assert!(all.contains(&wanted.to_owned()), "{all:?}");
        let fraction = exact.replace("EQUAL_INT32(20,", "FLOAT_WITHIN(0.1f, 20,");
        let change = ("test/test_a.c", Some(exact.as_str()), fraction.as_str());
        let all = reported(CheckKind::BeyondTask, change, "Return the rate as a float");
        assert!(!all.iter().any(|found| found.contains("lets a test")), "{all:?}");
        let more = old.replace("}", "    TEST_ASSERT_FLOAT_WITHIN(2.0f, 5.0f, bolus());\n}");
        assert_eq!(found(&more, "Add tests"), [] as [String; 0]);
    }

    #[test]
    fn a_test_that_expects_less_is_told_where_it_did() {
        let path = "test/test_a.c";
        let wanted = ["Warning 3: expects less than before, and the task is not about tests"];
        let less = OLD.replace("    TEST_ASSERT_EQUAL(FAULT, get());\n", "");
        assert_eq!(found(path, &less, "Publish the charge"), wanted);
        assert_eq!(found("main/a.c", &less, "Publish the charge"), [] as [String; 0]);
        assert_eq!(found(path, &less, "Fix the test of the charge"), [] as [String; 0]);
        assert_eq!(found(path, &less, "Remove the alarm"), [] as [String; 0]);
        assert_eq!(found(path, &less, "Replace the sensor by another"), [] as [String; 0]);
        let other = OLD.replace("TEST_ASSERT_EQUAL(FAULT, get())", "TEST_ASSERT_TRUE(b)");
        assert_eq!(found(path, &other, "Refactor the driver, no new behaviour"), wanted);
        assert_eq!(found(path, &other, "Publish the charge"), [] as [String; 0], "as many");
        let value = OLD.replace("FAULT", "OK");
        assert_eq!(found(path, &value, "Publish the charge"), [] as [String; 0]);
        let more = OLD.replace("    run", "    TEST_ASSERT_TRUE(c);\n    run");
        assert_eq!(found(path, &more, "Refactor the driver"), [] as [String; 0]);
    }
}
