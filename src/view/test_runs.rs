//! The runs of tests of a session.
//!
//! A fold of records. Must not read the runs' raw output, of which only the length is kept.

use std::sync::Arc;

use super::kept::change_newest;
use crate::model::{
    Event, LogEvent, LogId, LogKind, Record, SessionEvent, TestEvent, TestOutcome, TestReport,
    TestRunId, Timestamp,
};

/// Runs that are kept; of older ones the journal knows.
const KEPT: usize = 60;

#[derive(Debug, Clone, PartialEq)]
pub struct TestRunView {
    pub run: TestRunId,
    /// Its raw output.
    pub log: LogId,
    /// What was run.
    pub command: String,
    /// When it began.
    pub at: Timestamp,
    /// What it came to; `None` while it runs.
    pub report: Option<Arc<TestReport>>,
    /// Bytes of raw output so far.
    pub bytes: u64,
    /// Lines of raw output so far.
    pub lines: u64,
}

/// The newest runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TestRuns {
    /// Oldest first.
    pub runs: Vec<Arc<TestRunView>>,
    /// How many older ones there were.
    pub older: u64,
}

impl TestRuns {
    pub(super) fn apply(&mut self, record: &Record) {
        if let Event::Test(event) = &record.event {
            self.tested(event, record.at);
        }
        if let Event::Log(LogEvent::Grew { log, bytes, lines }) = &record.event
            && log.kind == LogKind::Test
        {
            let (bytes, lines) = (*bytes, *lines);
            let is_it = |run: &TestRunView| run.log == *log;
            change_newest(&mut self.runs, is_it, |run| (run.bytes, run.lines) = (bytes, lines));
        }
        if let Event::Session(SessionEvent::Resumed { .. }) = &record.event {
            self.end_all();
        }
    }

    fn tested(&mut self, event: &TestEvent, at: Timestamp) {
        match event {
            TestEvent::Started { run, log, command } => {
                self.shed(KEPT);
                self.runs.push(Arc::new(TestRunView {
                    run: *run,
                    log: *log,
                    command: command.clone(),
                    at,
                    report: None,
                    bytes: 0,
                    lines: 0,
                }));
            }
            TestEvent::Ended { run, report } => {
                let report = Arc::new(TestReport::clone(report));
                let is_it = |view: &TestRunView| view.run == *run;
                change_newest(&mut self.runs, is_it, |view| view.report = Some(report));
            }
        }
    }

    /// Gives up the oldest until fewer than `kept` are left.
    pub(super) fn shed(&mut self, kept: usize) {
        let surplus = (self.runs.len() + 1).saturating_sub(kept);
        self.runs.drain(..surplus.min(self.runs.len()));
        self.older += surplus as u64;
    }

    /// What ran when the program ended is over.
    fn end_all(&mut self) {
        for view in self.runs.iter_mut().filter(|view| view.report.is_none()) {
            let stopped = "the program ended".to_owned();
            let report = TestReport { stopped, ..TestReport::default() };
            Arc::make_mut(view).report = Some(Arc::new(report));
        }
    }

    /// How a test ended in each run up to that one which had it, the oldest first.
    #[must_use]
    pub fn history(&self, until: TestRunId, name: &str) -> Vec<TestOutcome> {
        let runs = self.runs.iter().take_while(|view| view.run <= until);
        let reports = runs.filter_map(|view| view.report.as_ref());
        let found = |report: &Arc<TestReport>| {
            report.tests.iter().find(|test| test.name == name).map(|test| test.outcome)
        };
        reports.filter_map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Seq, TestCase};

    fn record(event: Event) -> Record {
        Record { v: 1, seq: Seq(1), at: Timestamp(0), event }
    }

    fn started(number: u32) -> Record {
        let log = LogId { kind: LogKind::Test, number };
        let (run, command) = (TestRunId(number), "pytest".to_owned());
        record(Event::Test(TestEvent::Started { run, log, command }))
    }

    fn ended(number: u32, outcome: TestOutcome) -> Record {
        let mut report =
            TestReport { tests: vec![TestCase::new("t", outcome)], ..TestReport::default() };
        report.counts.add(outcome);
        let run = TestRunId(number);
        record(Event::Test(TestEvent::Ended { run, report: Box::new(report) }))
    }

    #[test]
    fn the_history_of_a_test_ends_with_the_run_that_is_looked_at() {
        let mut runs = TestRuns::default();
        for (number, outcome) in
            [(1, TestOutcome::Failed), (2, TestOutcome::Passed), (3, TestOutcome::Error)]
        {
            runs.apply(&started(number));
            assert!(runs.runs.last().unwrap().report.is_none(), "it runs");
            runs.apply(&ended(number, outcome));
        }
        let until = |run| runs.history(TestRunId(run), "t");
        assert_eq!(until(2), [TestOutcome::Failed, TestOutcome::Passed]);
        assert_eq!(until(3).len(), 3);
        assert!(runs.history(TestRunId(3), "other").is_empty());
    }

    #[test]
    fn of_many_runs_the_newest_are_kept_and_a_lost_one_is_over() {
        let mut runs = TestRuns::default();
        for number in 1..=200 {
            runs.apply(&started(number));
        }
        assert_eq!((runs.runs.len(), runs.older), (KEPT, 200 - KEPT as u64));
        assert_eq!(runs.runs.last().unwrap().run, TestRunId(200));
        runs.apply(&record(Event::Session(SessionEvent::Resumed {
            program: "p".into(),
            choices: None,
        })));
        assert!(runs.runs.iter().all(|view| view.report.is_some()));
        let report = runs.runs.last().unwrap().report.as_ref().unwrap();
        assert!(report.summary().contains("the program ended"));
    }
}
