//! Tests that expect the opposite of what they expected: `TEST_ASSERT_FALSE(ok(x))` that becomes
//! `TEST_ASSERT_TRUE(ok(x))`.
//!
//! Must not judge other changes of tests.

use std::sync::LazyLock;

use regex::Regex;

use super::source::SourceText;
use super::test_expectations::is_test;
use super::{Subject, task_kind, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// What says that something is so, or is not so: of Unity, GoogleTest, Catch2, unittest, pytest and Rust.
static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?P<name>TEST_ASSERT(?:_TRUE|_FALSE|(?:_NOT)?_EQUAL\w*|(?:_NOT)?_NULL)?|(?:ASSERT|EXPECT)_(?:TRUE|FALSE|EQ|NE)|(?:REQUIRE|CHECK)(?:_FALSE)?|assert(?:True|False|Equal|NotEqual)|assert_(?:eq|ne)!|assert!?)\s*\(?(?P<what>[^;\n]+)",
    )
    .ok()
});

/// Parts of tasks after which a program does what it did before.
const KEEPS: [&str; 14] = [
    "speed up",
    "faster",
    "optimi",
    "performance",
    "schneller",
    "beschleunig",
    "accélér",
    "plus rapide",
    "más rápid",
    "acelera",
    "functional change",
    "same behavio",
    "change of behavio",
    "refactor",
];

/// What is claimed, whether it is to be so, and the line, from 1.
type Claim = (String, bool, u32);

/// What is to be claimed of a test that expects the opposite; a note where the task may change what the
/// program does.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source().filter(|_| is_test(path))?);
    let (changed, task) = (subject.changed(), subject.context.person_words());
    let (was, is) = (claims(old), claims(new));
    let has = |all: &[Claim], what: &str, so: bool| {
        all.iter().any(|(of, is_so, _)| of == what && *is_so == so)
    };
    let is_flipped = |(what, so, line): &&Claim| {
        changed.added.contains(line)
            && has(&was, what, !so)
            && !has(&was, what, *so)
            && !has(&is, what, !so)
    };
    let (what, _, line) = is.iter().find(is_flipped)?;
    let keeps = task_kind::of(&task).is_some() || KEEPS.iter().any(|part| task.contains(part));
    let level = match keeps && !wishes::may_want_less_checked(&task) {
        true => FindingLevel::Warning,
        false => FindingLevel::Note,
    };
    let text = format!("a test expects the opposite of `{what}` as before");
    let finding = Finding::new(level, text).at(FindingPlace::line(*line));
    Some(finding.advice("Make sure that the program is meant to do the opposite."))
}

fn claims(source: &SourceText<'_>) -> Vec<Claim> {
    let code = source.code_of_any();
    let found = SAYS.iter().flat_map(|says| says.captures_iter(&code));
    let claim = |groups: regex::Captures<'_>| {
        let (name, what) = (groups.name("name")?.as_str(), groups.name("what")?);
        let lower = name.to_ascii_lowercase();
        let denies = ["false", "not", "ne!"];
        let mut is_so = !denies.iter().any(|part| lower.contains(part)) && !lower.ends_with("_ne");
        let mut claimed: String = what.as_str().chars().filter(|c| !c.is_whitespace()).collect();
        while claimed.ends_with([')', ','])
            && claimed.matches(')').count() > claimed.matches('(').count()
        {
            claimed.pop();
        }
        let bare = claimed.strip_prefix('!').or_else(|| {
            what.as_str().trim_start().starts_with("not ").then(|| claimed.get(3..)).flatten()
        });
        if let Some(bare) = bare.map(str::to_owned) {
            claimed = bare;
            is_so = !is_so;
        }
        Some((claimed, is_so, source.number_at(what.start())))
    };
    found.filter_map(claim).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn a_test_that_expects_the_opposite_is_reported() {
        let found = |path: &str, (old, new): (&str, &str), task: &str| -> Vec<String> {
            let all = reported(CheckKind::BeyondTask, (path, Some(old), new), task);
            all.into_iter().filter(|found| found.contains("opposite")).collect()
        };
        let unity =
            "void test_bad(void)\n{\n    TEST_ASSERT_FALSE(parse(bad, sizeof(bad), &f));\n}\n";
        let flipped = unity.replace("FALSE", "TRUE");
        let wanted =
            ["Warning 3: a test expects the opposite of `parse(bad,sizeof(bad),&f)` as before"];
        let task = "Speed up the parser";
        assert_eq!(found("test/test_a.c", (unity, &flipped), task), wanted);
        assert_eq!(found("test/test_a.c", (&flipped, unity), task).len(), 1);
        for (path, old, new) in [
            ("test/test_a.cpp", "EXPECT_EQ(a(1), 2);\n", "EXPECT_NE(a(1), 2);\n"),
            ("tests/a.rs", "    assert!(ok(&x));\n", "    assert!(!ok(&x));\n"),
            ("tests/a.rs", "    assert_eq!(ok(&x), 1);\n", "    assert_ne!(ok(&x), 1);\n"),
            ("tests/test_a.py", "    assert ok(x)\n", "    assert not ok(x)\n"),
            ("tests/test_a.py", "    self.assertTrue(ok(x))\n", "    self.assertFalse(ok(x))\n"),
        ] {
            assert_eq!(found(path, (old, new), task).len(), 1, "{new}");
        }
        for (path, old, new) in [
            ("main/a.c", unity, flipped.as_str()),
            ("test/test_a.c", unity, &unity.replace("bad, sizeof(bad)", "good, sizeof(good)")),
            ("test/test_a.c", unity, &format!("{unity}{flipped}")),
        ] {
            assert_eq!(found(path, (old, new), task), [] as [String; 0], "{new}");
        }
        let task = "Take frames without a checksum, too";
        let noted = found("test/test_a.c", (unity, &flipped), task);
        assert!(noted.iter().all(|found| found.starts_with("Note")), "{noted:?}");
    }
}
