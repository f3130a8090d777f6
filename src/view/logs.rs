//! Builds and serial connections; their raw bytes lie in log files, only lengths are kept here.

use std::sync::Arc;

use super::analyses::Analyses;
use super::kept::{change_newest, shed};
use super::test_runs::TestRuns;
use crate::model::{
    BuildEvent, BuildId, BuildOutcome, CoreDump, Diagnostic, Event, LogEvent, LogId, LogKind,
    PanicReport, PortChange, PortEvent, ProgramSize, Record, SerialControl, SessionEvent, Severity,
    Timestamp,
};

/// Builds that are kept at least, and connections; of older ones the journal knows.
const KEPT: usize = 500;

/// How many above that are given up in one go.
const SPARE: usize = 100;

/// Failures of one connection that are kept at least, and core dumps.
const KEPT_PANICS: usize = 1_000;

/// The builds and serial connections of the session: those that go on, and the newest of the
/// others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logs {
    /// Oldest first.
    pub builds: Vec<Arc<BuildView>>,
    /// Oldest first.
    pub serials: Vec<Arc<SerialView>>,
    /// How many older builds there were, all over.
    pub older_builds: u64,
    /// How many older connections there were, all closed.
    pub older_serials: u64,
    /// Runs of tests.
    pub tests: TestRuns,
    /// What linters and measures of complexity found.
    pub analyses: Analyses,
    /// What the program of the last measured build takes.
    measured: Option<ProgramSize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BuildView {
    pub build: BuildId,
    /// Its raw output.
    pub log: LogId,
    /// What was run.
    pub command: String,
    /// When it began.
    pub at: Timestamp,
    /// Steps done, of how many; `None` before the first step.
    pub progress: Option<(u32, u32)>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<BuildOutcome>,
    /// Errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// What its program takes.
    pub size: BuildSize,
    /// Whether the session has changed files since it began.
    pub has_changed_since: bool,
    /// How long it took; 0 while it runs.
    pub millis: u64,
    /// Bytes of raw output so far.
    pub bytes: u64,
    /// Lines of raw output so far.
    pub lines: u64,
}

/// What the program of a build takes, next to that of the build before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BuildSize {
    /// `None` unless it passed and was measured.
    pub now: Option<ProgramSize>,
    /// Of the last measured build before.
    pub before: Option<ProgramSize>,
}

impl BuildView {
    /// The first of the errors for which it failed; `None` unless it failed.
    #[must_use]
    pub fn first_error(&self) -> Option<&Diagnostic> {
        let mut all = self.diagnostics.iter();
        let error = all.find(|found| found.severity == Severity::Error)?;
        (self.outcome == Some(BuildOutcome::Failed)).then_some(error)
    }

    /// How many diagnostics of that severity there are.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }
}

/// One serial connection.
#[derive(Debug, Clone, PartialEq)]
pub struct SerialView {
    pub port: String,
    /// Its raw bytes.
    pub log: LogId,
    /// Bits per second; 0 where it means nothing.
    pub baud: u32,
    /// When it was opened.
    pub at: Timestamp,
    /// Bytes so far.
    pub bytes: u64,
    /// Lines so far.
    pub lines: u64,
    /// Why it was closed; `None` while open.
    pub closed: Option<String>,
    /// Since when and why it is away; `None` while it is there.
    pub away: Option<(Timestamp, String)>,
    /// What failed on the board, oldest first.
    pub panics: Vec<Arc<PanicView>>,
    /// Core dumps that it printed, oldest first.
    pub dumps: Vec<CoreDump>,
}

/// A failure of the firmware and where it was printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PanicView {
    /// Number of its first line, from 0.
    pub line: u64,
    /// The line after its last one.
    pub end: u64,
    /// When it was understood.
    pub at: Timestamp,
    /// Details of it.
    pub report: PanicReport,
}

impl SerialView {
    fn apply(&mut self, at: Timestamp, event: &PortChange) {
        match event {
            PortChange::Lost { why } => self.away = Some((at, why.clone())),
            PortChange::Back { .. } => self.away = None,
            PortChange::Controlled(SerialControl::Baud(baud)) => self.baud = *baud,
            PortChange::Panicked { line, end, report } => {
                let report = report.clone();
                let panic = PanicView { line: *line, end: *end, at, report: *report };
                self.panics.push(Arc::new(panic));
                keep_newest(&mut self.panics);
            }
            PortChange::CoreDumped(dump) => {
                self.dumps.push(dump.clone());
                keep_newest(&mut self.dumps);
            }
            PortChange::Sent { .. }
            | PortChange::Controlled(SerialControl::Reset | SerialControl::BootLoader) => {}
        }
    }
}

impl Logs {
    /// A file of the project has changed: the newest build does not tell of it.
    pub(super) fn note_changed_file(&mut self) {
        if let Some(newest) = self.builds.last_mut().filter(|build| !build.has_changed_since) {
            Arc::make_mut(newest).has_changed_since = true;
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub(super) fn apply(&mut self, record: &Record) {
        self.tests.apply(record);
        self.analyses.apply(record);
        match &record.event {
            Event::Build(BuildEvent::Started { build, log, command }) => {
                self.shed(KEPT + SPARE, KEPT);
                self.builds.push(Arc::new(BuildView {
                    build: *build,
                    log: *log,
                    command: command.clone(),
                    at: record.at,
                    progress: None,
                    outcome: None,
                    diagnostics: Vec::new(),
                    size: BuildSize { now: None, before: self.measured.clone() },
                    has_changed_since: false,
                    millis: 0,
                    bytes: 0,
                    lines: 0,
                }));
            }
            Event::Build(BuildEvent::Progress { build, done, total }) => {
                self.change_build(*build, |view| view.progress = Some((*done, *total)));
            }
            Event::Build(BuildEvent::Ended { build, outcome, diagnostics, millis, size }) => {
                if let Some(size) = size {
                    self.measured = Some(ProgramSize::clone(size));
                }
                self.change_build(*build, |view| {
                    view.outcome = Some(outcome.clone());
                    view.diagnostics.clone_from(diagnostics);
                    view.millis = *millis;
                    view.size.now = size.as_deref().cloned();
                });
            }
            Event::Log(LogEvent::Grew { log, bytes, lines }) => match log.kind {
                LogKind::Build => {
                    let is_it = |view: &BuildView| view.log == *log;
                    change_newest(&mut self.builds, is_it, |view| {
                        (view.bytes, view.lines) = (*bytes, *lines);
                    });
                }
                LogKind::Serial => self.change_serial(*log, |view| {
                    (view.bytes, view.lines) = (*bytes, *lines);
                }),
                LogKind::Test => {}
            },
            Event::Port(PortEvent::Opened { port, log, baud }) => {
                self.shed(KEPT + SPARE, KEPT);
                self.serials.push(Arc::new(SerialView {
                    port: port.clone(),
                    log: *log,
                    baud: *baud,
                    at: record.at,
                    bytes: 0,
                    lines: 0,
                    closed: None,
                    away: None,
                    panics: Vec::new(),
                    dumps: Vec::new(),
                }));
            }
            Event::Port(PortEvent::Closed { log, why }) => {
                self.change_serial(*log, |view| {
                    view.closed = Some(why.clone());
                    view.away = None;
                });
            }
            Event::Port(PortEvent::Changed { log, event }) => {
                self.change_serial(*log, |view| view.apply(record.at, event));
            }
            Event::Session(SessionEvent::Resumed { .. }) => self.close_all(),
            Event::Session(_)
            | Event::Files(_)
            | Event::Phase(_)
            | Event::Turn(_)
            | Event::Model(_)
            | Event::Team(_)
            | Event::Proposal(_)
            | Event::Board(_)
            | Event::Test(_)
            | Event::Person(_) => {}
        }
    }

    /// Gives up what is over, the oldest first, where there are more than `most`, until `kept` are
    /// left.
    pub(super) fn shed(&mut self, most: usize, kept: usize) {
        let kept = (kept, 4 * KEPT);
        if self.builds.len() > most {
            self.older_builds += shed(&mut self.builds, kept, |view| view.outcome.is_some());
        }
        if self.serials.len() > most {
            self.older_serials += shed(&mut self.serials, kept, |view| view.closed.is_some());
        }
        self.tests.shed(most);
    }

    fn change_build(&mut self, build: BuildId, change: impl FnOnce(&mut BuildView)) {
        change_newest(&mut self.builds, |view| view.build == build, change);
    }

    fn change_serial(&mut self, log: LogId, change: impl FnOnce(&mut SerialView)) {
        change_newest(&mut self.serials, |view| view.log == log, change);
    }

    /// What was open when the program ended is over.
    fn close_all(&mut self) {
        for view in self.serials.iter_mut().filter(|view| view.closed.is_none()) {
            Arc::make_mut(view).closed = Some("the program ended".to_owned());
        }
        for view in self.builds.iter_mut().filter(|view| view.outcome.is_none()) {
            Arc::make_mut(view).outcome = Some(BuildOutcome::Cancelled);
        }
    }
}

/// Takes out the oldest half of twice as many as are kept.
fn keep_newest<T>(all: &mut Vec<T>) {
    if all.len() >= 2 * KEPT_PANICS {
        all.drain(..KEPT_PANICS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Seq;

    #[test]
    fn of_very_many_builds_and_connections_the_newest_and_the_open_ones_are_kept() {
        let mut logs = Logs::default();
        let mut seq = 0;
        let mut add = |event| {
            seq += 1;
            logs.apply(&Record { v: 1, seq: Seq(seq), at: Timestamp(0), event });
        };
        for number in 1..=2_000 {
            let log = LogId { kind: LogKind::Build, number };
            add(Event::Build(BuildEvent::Started {
                build: BuildId(number),
                log,
                command: "b".into(),
            }));
            let outcome = BuildOutcome::Failed;
            let (build, diagnostics) = (BuildId(number), vec![]);
            if number != 3 {
                add(Event::Build(BuildEvent::Ended {
                    build,
                    outcome,
                    diagnostics,
                    millis: 1,
                    size: None,
                }));
            }
            let log = LogId { kind: LogKind::Serial, number };
            add(Event::Port(PortEvent::Opened { port: "p".into(), log, baud: 1 }));
            if number != 4 {
                add(Event::Port(PortEvent::Closed { log, why: "w".into() }));
            }
        }
        assert!((KEPT..=KEPT + SPARE + 1).contains(&logs.builds.len()), "{}", logs.builds.len());
        assert_eq!(logs.older_builds + logs.builds.len() as u64, 2_000);
        assert_eq!(logs.older_serials + logs.serials.len() as u64, 2_000);
        assert_eq!((logs.builds[0].build, logs.serials[0].log.number), (BuildId(3), 4));
        assert_eq!(logs.builds.last().unwrap().build, BuildId(2_000));
    }
}
