//! What a run of tests reports.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::ids::{LogId, TestRunId};
use super::path::ProjectPath;

/// How one test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// What it checks does not hold.
    Failed,
    /// It could not be carried out: it does not load, or it ended its runner.
    Error,
    Passed,
    /// It was left out on purpose.
    Skipped,
}

impl TestOutcome {
    /// What the screen calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
        }
    }

    /// Whether something is wrong with it.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }
}

/// One test of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// As its framework names it.
    pub name: String,
    pub outcome: TestOutcome,
    /// How long it took.
    #[serde(default)]
    pub millis: u64,
    /// Why it failed or was left out; one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Relative to the project; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it printed and where it failed, as far as it is kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl TestCase {
    /// One that says nothing but how it ended.
    #[must_use]
    pub fn new(name: impl Into<String>, outcome: TestOutcome) -> Self {
        Self {
            name: name.into(),
            outcome,
            millis: 0,
            message: String::new(),
            file: None,
            line: None,
            output: String::new(),
        }
    }
}

/// How many tests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u32,
    pub failed: u32,
    pub errors: u32,
    pub skipped: u32,
}

impl TestCounts {
    /// Counts one more.
    pub const fn add(&mut self, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Failed => self.failed += 1,
            TestOutcome::Error => self.errors += 1,
            TestOutcome::Skipped => self.skipped += 1,
        }
    }

    #[must_use]
    pub const fn total(self) -> u32 {
        self.passed + self.failed + self.errors + self.skipped
    }

    /// How many are wrong.
    #[must_use]
    pub const fn bad(self) -> u32 {
        self.failed + self.errors
    }
}

/// A file as it was while tests ran, which the project did not hold then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedFile {
    pub path: ProjectPath,
    /// What it held.
    pub hash: ContentHash,
}

/// What a run of tests came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// What ran them, e.g. `pytest 8.3`.
    pub framework: String,
    pub counts: TestCounts,
    /// Those that are kept: what is wrong first, then in the order they ran.
    pub tests: Vec<TestCase>,
    /// How many more there were.
    #[serde(default)]
    pub omitted: u32,
    /// Names of tests that passed and have no check of anything in their source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checking_nothing: Vec<String>,
    /// Proposed files that the tests ran with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposed: Vec<TestedFile>,
    /// Why the run did not come to its end; empty when it did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stopped: String,
    /// What else is to be known, e.g. what is missing and how to get it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Lines of code that the tests ran through, of a hundred; `None` where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<u32>,
    /// How long it took.
    #[serde(default)]
    pub millis: u64,
}

impl TestReport {
    /// Whether tests ran to their end and nothing is wrong with any.
    #[must_use]
    pub const fn has_passed(&self) -> bool {
        self.stopped.is_empty() && self.counts.bad() == 0 && self.counts.passed > 0
    }

    /// The result in a few words, e.g. `2 of 7 tests failed`.
    #[must_use]
    pub fn summary(&self) -> String {
        let TestCounts { passed, skipped, .. } = self.counts;
        let (bad, total) = (self.counts.bad(), self.counts.total());
        let tests =
            |count: u32| if count == 1 { "1 test".to_owned() } else { format!("{count} tests") };
        let mut text = match (total, bad) {
            (0, _) => "no tests".to_owned(),
            (_, 0) => format!("{} passed", tests(passed)),
            (_, bad) => format!("{bad} of {} failed", tests(total)),
        };
        if skipped > 0 {
            text.push_str(&format!(", {skipped} skipped"));
        }
        match self.checking_nothing.len() {
            0 => {}
            1 => text.push_str(", 1 of them checks nothing"),
            count => text.push_str(&format!(", {count} of them check nothing")),
        }
        if !self.stopped.is_empty() {
            text.push_str(&format!("; {}", self.stopped));
        }
        text
    }
}

/// How runs of tests go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TestEvent {
    /// A run began.
    #[serde(rename = "tests_started")]
    Started {
        run: TestRunId,
        /// Where its raw output goes.
        log: LogId,
        /// What is run, for people.
        command: String,
    },
    /// A run ended.
    #[serde(rename = "tests_ended")]
    Ended { run: TestRunId, report: Box<TestReport> },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_passed_when_every_test_ran_and_none_is_wrong() {
        let mut report = TestReport::default();
        assert!(!report.has_passed(), "nothing ran");
        report.counts = TestCounts { passed: 6, skipped: 1, ..TestCounts::default() };
        assert!(report.has_passed());
        assert_eq!(report.summary(), "6 tests passed, 1 skipped");
        report.checking_nothing = vec!["test_a".to_owned(), "test_b".to_owned()];
        assert_eq!(report.summary(), "6 tests passed, 1 skipped, 2 of them check nothing");
        report.checking_nothing.clear();
        report.counts.errors = 1;
        assert_eq!(report.summary(), "1 of 8 tests failed, 1 skipped");
        report.counts = TestCounts { passed: 1, ..TestCounts::default() };
        report.stopped = "the sandbox ended it (time)".to_owned();
        assert!(!report.has_passed());
        assert_eq!(report.summary(), "1 test passed; the sandbox ended it (time)");
    }
}
