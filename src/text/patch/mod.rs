//! Unified diffs: reads them and applies them to a text.
//!
//! Where `git apply` succeeds the result is the same, save that lines beyond the counts of a
//! hunk's header are taken instead of dropped. Beyond that, white space and wrong line numbers are
//! forgiven where only one place fits, and what was forgiven is told.

mod apply;
mod parse;

use std::fmt;

pub use apply::{Applied, Patched, apply};
pub use parse::{Hunk, Op, Patch, parse};

/// Why a diff cannot be read or applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchError {
    /// There is no hunk in it.
    Empty,
    /// It is about several files.
    SeveralFiles,
    /// A line that is not part of a diff: its number from 1, and the line.
    Line(usize, String),
    /// A hunk does not fit.
    Hunk {
        /// Which one, from 1.
        number: usize,
        header: String,
        reason: String,
    },
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no hunk (`@@ -1,3 +1,4 @@`) in the diff"),
            Self::SeveralFiles => f.write_str("the diff is about several files"),
            Self::Line(number, line) => {
                write!(f, "line {number} of the diff, `{line}`, starts with none of ` `, `+`, `-`")
            }
            Self::Hunk { number, header, reason } => {
                write!(f, "hunk {number} (`{header}`) does not apply: {reason}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    use similar::TextDiff;

    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";

    fn patched(source: &str, diff: &str) -> Result<Patched, PatchError> {
        apply(source, &parse(diff)?)
    }

    #[test]
    fn a_plain_diff_applies_with_nothing_to_tell() {
        let diff = "--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@ head\n b\n-c\n+C\n+CC\n d\n";
        let done = patched(OLD, diff).unwrap();
        assert_eq!(done.text, OLD.replace("c\n", "C\nCC\n"));
        let as_stated = Applied { line: 2, offset: Some(0), is_loose: false, is_recounted: false };
        assert_eq!(done.hunks, [as_stated]);
    }

    #[test]
    fn what_was_forgiven_is_reported() {
        let moved = patched(OLD, "@@ -6,3 +6,3 @@\n b\n-c\n+C\n d\n").unwrap();
        assert_eq!((moved.hunks[0].line, moved.hunks[0].offset), (2, Some(-4)));
        let at_start = patched(OLD, "@@ -1,3 +1,3 @@\n b\n-c\n+C\n d\n").unwrap();
        assert_eq!(at_start.hunks[0].offset, Some(1));
        let counted = patched(OLD, "@@ -2,9 +2,9 @@\n b\n-c\n+C\n d\n").unwrap();
        assert!(counted.hunks[0].is_recounted);
        let more = patched(OLD, "@@ -2,2 +2,2 @@\n b\n-c\n+C\n d\n-e\n").unwrap();
        assert_eq!(more.text, "a\nb\nC\nd\nf\ng\nh\ni\nj\n");
        let bare = patched(OLD, "```diff\n@@ @@\n b\n-c\n+C\n d\n```\n").unwrap();
        assert_eq!((bare.text.contains("C\n"), bare.hunks[0].offset), (true, None));
        let spaced = patched(
            "if (x) {\r\n\ty();\r\n}\r\n",
            "@@ -1,3 +1,3 @@\n if (x) {\n-    y();\n+    z();\n }\n",
        )
        .unwrap();
        assert_eq!(spaced.text, "if (x) {\r\n    z();\r\n}\r\n");
        assert!(spaced.hunks[0].is_loose);
        let blank = patched("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n").unwrap();
        assert_eq!(blank.text, "a\n\nB\n");
    }

    #[test]
    fn a_hunk_that_does_not_fit_is_named_with_its_reason() {
        for (source, diff, words) in [
            (
                OLD,
                "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n@@ -7,3 +7,3 @@\n g\n-X\n+Y\n i\n",
                "hunk 2 (`@@ -7,3 +7,3 @@`)",
            ),
            (OLD, "@@ -2,3 +2,3 @@\n g\n-X\n+Y\n i\n", "line 8 is `h`, the hunk has `X`"),
            (OLD, "@@ -2,3 +2,3 @@\n x1\n-x2\n+Y\n x3\n", "none of its lines"),
            ("q\nx\nq\nx\nq\n", "@@ -1,2 +1,2 @@\n-x\n+y\n q\n", "at 2 places (lines 2, 4)"),
            (OLD, "@@ @@\n+z\n", "no line of context"),
            (OLD, "hello", "no hunk"),
            (OLD, "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n", "several files"),
            (OLD, "@@ -1,2 +1,2 @@\n a\nwords\n", "line 3 of the diff, `words`"),
        ] {
            let reported = patched(source, diff).unwrap_err().to_string();
            assert!(reported.contains(words), "{reported}");
        }
    }

    #[test]
    fn ends_without_a_line_end_are_kept() {
        let diff = "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
        assert_eq!(patched("a\nb", diff).unwrap().text, "a\nc");
        let new = "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert_eq!(patched("", new).unwrap().text, "a\nb\n");
        assert!(parse(new).unwrap().creates());
    }

    /// Texts of few different lines, so that hunks fit at several places.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![4 => "[a-c]", 1 => Just(String::new()), 1 => "[a-c] \t?", 1 => Just("a\r".to_owned())];
        (proptest::collection::vec(line, 0..24), any::<bool>()).prop_map(|(lines, ends)| {
            // A lone carriage return ends a line for some, and for `git` it does not.
            let text = lines.join("\n").trim_end_matches('\r').to_owned();
            if ends && !text.is_empty() { format!("{text}\n") } else { text }
        })
    }

    /// The diff between two texts, and a third text near the first that it is applied to.
    fn case() -> impl Strategy<Value = (String, String, String, usize)> {
        (
            text(),
            proptest::collection::vec((0_usize..24, "[a-d]{0,1}", 0_u8..3), 0..6),
            proptest::collection::vec((0_usize..24, "[a-d]{0,1}", 0_u8..3), 0..3),
            0_usize..4,
        )
            .prop_map(|(old, edits, drift, context)| {
                let new = edited(&old, &edits);
                let target = edited(&old, &drift);
                (old, new, target, context)
            })
    }

    fn edited(text: &str, edits: &[(usize, String, u8)]) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        for (at, with, how) in edits {
            let at = at % (lines.len() + 1);
            match how {
                0 => lines.insert(at, format!("{with}\n")),
                1 if at < lines.len() => drop(lines.remove(at)),
                _ if at < lines.len() => lines[at] = format!("{with}\n"),
                _ => {}
            }
        }
        // Only the last line may lack its end.
        let last = lines.len().saturating_sub(1);
        for (index, line) in lines.iter_mut().enumerate() {
            if index < last && !line.ends_with('\n') {
                line.push('\n');
            }
        }
        lines.concat()
    }

    /// What `git apply` makes of it; `None` when it refuses.
    fn git(folder: &std::path::Path, target: &str, diff: &str) -> Option<String> {
        std::fs::write(folder.join("x"), target).unwrap();
        std::fs::write(folder.join("p"), diff).unwrap();
        let done = Command::new("git")
            .args(["apply", "p"])
            .current_dir(folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", folder)
            .env("HOME", folder)
            .output()
            .unwrap();
        done.status.success().then(|| std::fs::read_to_string(folder.join("x")).unwrap())
    }

    #[test]
    fn where_git_applies_the_result_is_the_same() {
        if Command::new("git").arg("--version").output().is_err() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let cases =
            std::env::var("FIRMHAND_GIT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
        let (mut both, mut more) = (std::cell::Cell::new(0_u32), std::cell::Cell::new(0_u32));
        let mut runner =
            TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        runner
            .run(&case(), |(old, new, target, context)| {
                let diff = TextDiff::from_lines(&old, &new)
                    .unified_diff()
                    .context_radius(context)
                    .header("a/x", "b/x")
                    .to_string();
                if diff.is_empty() {
                    return Ok(());
                }
                let ours = patched(&target, &diff);
                match git(folder.path(), &target, &diff) {
                    Some(theirs) => {
                        both.set(both.get() + 1);
                        prop_assert_eq!(ours.map(|done| done.text), Ok(theirs), "{}", diff);
                    }
                    None => more.set(more.get() + u32::from(ours.is_ok())),
                }
                Ok(())
            })
            .unwrap();
        println!("{} applied by both, {} more by ours", both.get_mut(), more.get_mut());
        assert!(*both.get_mut() > cases / 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_diff_turns_the_old_text_into_the_new_one((old, new, _, _) in case()) {
            let diff = TextDiff::from_lines(&old, &new).unified_diff().header("a/x", "b/x").to_string();
            if !diff.is_empty() {
                prop_assert_eq!(patched(&old, &diff).map(|done| done.text), Ok(new), "{}", diff);
            }
        }

        #[test]
        fn any_text_is_refused_or_applied(diff in "(@@ -[0-3],[0-3] \\+[0-3] @@|@@|[ +-]a|\n|\\\\|---? a|\\+\\+\\+ b|é){0,24}", source in text()) {
            let _ = patched(&source, &diff);
        }
    }
}
