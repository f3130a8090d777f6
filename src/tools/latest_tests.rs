//! The run of tests that was last, and whether it still says something about the files.

use crate::model::{ContentHash, ProjectPath, TestEvent, TestReport, TestRunId, TestedFile};

/// The run of tests that was last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastTests {
    pub run: TestRunId,
    /// What it came to, without its tests; `None` while it runs, or when the program ended with it.
    pub report: Option<TestReport>,
    /// Whether files were changed since to something else than what they were tested with.
    pub is_outdated: bool,
}

impl LastTests {
    /// Takes an event of a run into account.
    pub(super) fn fold(last: &mut Option<Self>, event: &TestEvent) {
        match event {
            TestEvent::Started { run, .. } => {
                *last = Some(Self { run: *run, report: None, is_outdated: false });
            }
            TestEvent::Ended { run, report } => {
                if let Some(last) = last.as_mut().filter(|last| last.run == *run) {
                    // Only what is asked for is kept.
                    let report = TestReport { tests: Vec::new(), ..TestReport::clone(report) };
                    last.report = Some(report);
                }
            }
        }
    }

    /// A file was changed, or nobody knows what; the inner `None`: it was removed.
    pub(super) fn outdate(&mut self, written: Option<&(ProjectPath, Option<ContentHash>)>) {
        let is_as_tested = written.is_some_and(|(path, content)| {
            self.proposed().any(|file| file.path == *path && Some(file.hash) == *content)
        });
        self.is_outdated |= !is_as_tested;
    }

    /// The files that the tests ran with and that were not saved then.
    pub fn proposed(&self) -> impl Iterator<Item = &TestedFile> {
        self.report.iter().flat_map(|report| &report.proposed)
    }

    /// Whether it passed and no file was changed to anything else since.
    #[must_use]
    pub fn is_fresh_success(&self) -> bool {
        !self.is_outdated && self.report.as_ref().is_some_and(TestReport::has_passed)
    }
}
