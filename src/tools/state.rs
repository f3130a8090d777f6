//! What the session has come to, as far as tools have to know it.
//!
//! A fold of records and nothing else, so that a resumed session knows what the live one knew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Caller;
use super::latest_tests::LastTests;
use super::organized_files;
pub use super::organized_files::OrganizedFile;
use super::step_chats::StepChats;
use crate::model::{
    BlobRef, BoardEvent, BoardInfo, BuildEvent, BuildId, BuildOutcome, CallId, Change, ContentHash,
    Decision, Diagnostic, Event, FileEvent, FilesEvent, LogKind, Outcome, PassageMarks, PortEvent,
    ProgramSize, ProjectPath, ProposalEvent, ProposalId, Record, SessionEvent, Severity, TeamEvent,
    TestEvent, TestRunId, TestedFile, Timestamp, TurnEvent, TurnId,
};

// What a phase wants to reach; the team's file says which, and whoever runs the phase sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GoalWord")]
pub enum PhaseGoal {
    // Every organized file is on disk.
    #[default]
    FilesSaved,
    // The last build passed.
    BuildPassed,
    // The last build passed, is on the board, and its output was stable.
    BoardStable,
    // The last tests passed, with the files as they are saved.
    TestsPassed,
    // Somebody answered; nothing is to be saved.
    Answered,
    // What was run last passed, if anything was run.
    RunsPassed,
    // There is a plan.
    Planned,
}

impl PhaseGoal {
    /// Whether it is about a plan or one of its steps.
    #[must_use]
    pub const fn is_of_plan(self) -> bool {
        matches!(self, Self::Planned | Self::RunsPassed)
    }
}

/// The build that was run last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBuild {
    pub build: BuildId,
    /// How it ended; `None` while it runs, or when the program ended with it.
    pub outcome: Option<BuildOutcome>,
    /// When it ended, or began while it has not ended.
    pub at: Timestamp,
    /// How many files were changed through the gate since it began.
    pub changes_since: u32,
}

impl LastBuild {
    /// Whether it passed and the sources are still those it was made from.
    #[must_use]
    pub fn is_fresh_success(&self) -> bool {
        self.outcome == Some(BuildOutcome::Passed) && self.changes_since == 0
    }
}

/// Changed files that are remembered of one run.
const MOST_CHANGED: usize = 500;

/// What the session makes of files; `None`: it removes them.
#[derive(Debug, Clone, PartialEq, Default)]
struct FileWrites {
    /// By approved proposals that are not settled.
    open: BTreeMap<ProposalId, (ProjectPath, Option<ContentHash>)>,
    /// What it last made of each file that it touched.
    done: BTreeMap<ProjectPath, Option<ContentHash>>,
    /// Those that the present run has changed.
    changed: BTreeSet<ProjectPath>,
}

/// Facts of the session that tools rely on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TeamState {
    /// The files of the last list that `file_name_checker` took, in its order.
    pub organized: Vec<OrganizedFile>,
    /// The build that was run last.
    pub last_build: Option<LastBuild>,
    /// What the program of the last measured build takes.
    pub size: Option<ProgramSize>,
    /// The run of tests that was last.
    pub last_tests: Option<LastTests>,
    /// Files of the project that the last build found errors or warnings in.
    pub diagnosed: Vec<ProjectPath>,
    /// The board that is connected.
    pub board: Option<BoardInfo>,
    /// Number of the newest serial log, 0 before the first.
    pub serial_logs: u32,
    /// What the running phase wants to reach.
    pub goal: PhaseGoal,
    name_checks: BTreeMap<CallId, Vec<OrganizedFile>>,
    changes: BTreeSet<ProposalId>,
    /// What each open proposal wants, and in which turn it was made.
    wanted: BTreeMap<ProposalId, (TurnId, Change)>,
    writes: FileWrites,
}

impl TeamState {
    /// Number for the next build.
    #[must_use]
    pub fn next_build(&self) -> BuildId {
        self.last_build.as_ref().map_or(BuildId(1), |last| last.build.next())
    }

    /// Folds one record in. Whoever records calls this with every record, in order, before the
    /// next tool runs; a resumed session calls it with every record of the journal.
    #[expect(clippy::too_many_lines, reason = "names every event")]
    pub fn fold(&mut self, record: &Record) {
        match &record.event {
            Event::Turn(TurnEvent::ToolCalled { call, tool, args, .. })
                if tool.as_str() == organized_files::NAME =>
            {
                if let Some(files) = organized_files::organized(args) {
                    self.name_checks.insert(*call, files);
                }
            }
            Event::Turn(TurnEvent::ToolAnswered { call, result, .. }) => {
                self.answered(*call, result)
            }
            Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { .. })) => {
                self.changed();
                self.outdate_tests(None);
            }
            Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
                self.decided(*proposal, decision)
            }
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                self.wanted.insert(proposal.id, (proposal.turn, proposal.change.clone()));
                if proposal.change.board().is_none() {
                    self.changes.insert(proposal.id);
                }
            }
            Event::Proposal(ProposalEvent::Restated { proposal, change, .. }) => {
                if let Some((_, wanted)) = self.wanted.get_mut(proposal) {
                    wanted.clone_from(change);
                }
            }
            Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
                self.settled(*proposal, outcome)
            }
            Event::Build(BuildEvent::Started { build, .. }) => {
                let at = record.at;
                self.last_build =
                    Some(LastBuild { build: *build, outcome: None, at, changes_since: 0 });
            }
            Event::Build(BuildEvent::Ended { build, outcome, diagnostics, size, .. }) => {
                self.diagnosed = diagnosed(diagnostics);
                if size.is_some() {
                    self.size = size.as_deref().cloned();
                }
                if let Some(last) = self.last_build.as_mut().filter(|last| last.build == *build) {
                    last.outcome = Some(outcome.clone());
                    last.at = record.at;
                }
            }
            Event::Test(event) => LastTests::fold(&mut self.last_tests, event),
            Event::Board(BoardEvent::Connected(board)) => self.board = Some(board.clone()),
            Event::Board(BoardEvent::Lost { port, .. }) => {
                if self.board.as_ref().is_some_and(|board| board.port == *port) {
                    self.board = None;
                }
            }
            Event::Port(PortEvent::Opened { log, .. }) => {
                if log.kind == LogKind::Serial {
                    self.serial_logs = self.serial_logs.max(log.number);
                }
            }
            // What an earlier run had planned is not what this one has to save.
            Event::Session(SessionEvent::RunStarted(_)) => {
                self.organized.clear();
                self.writes.changed.clear();
            }
            Event::Turn(_)
            | Event::Session(_)
            | Event::Files(_)
            | Event::Phase(_)
            | Event::Model(_)
            | Event::Team(_)
            | Event::Proposal(_)
            | Event::Build(_)
            | Event::Log(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    /// Number for the next run of tests.
    #[must_use]
    pub fn next_test_run(&self) -> TestRunId {
        self.last_tests.as_ref().map_or(TestRunId(1), |last| last.run.next())
    }

    /// What the proposals want that wait for a decision, in the order they were made; where chats are
    /// open side by side, without those of others.
    pub fn waiting_for(&self, caller: &Caller) -> impl Iterator<Item = &Change> {
        let is_own = |turn: &TurnId| caller.step.is_none() || *turn == caller.turn;
        self.wanted.values().filter(move |(turn, _)| is_own(turn)).map(|(_, change)| change)
    }

    /// Whether the last tests passed with the files as they are now.
    #[must_use]
    pub fn tests_passed(&self) -> bool {
        let is_saved = |file: &TestedFile| self.written(&file.path) == Some(&Some(file.hash));
        let last = self.last_tests.as_ref();
        last.is_some_and(|last| last.is_fresh_success() && last.proposed().all(is_saved))
    }

    fn outdate_tests(&mut self, written: Option<&(ProjectPath, Option<ContentHash>)>) {
        if let Some(last) = &mut self.last_tests {
            last.outdate(written);
        }
    }

    fn answered(&mut self, call: CallId, result: &Value) {
        let Some(files) = self.name_checks.remove(&call) else { return };
        if result.get("ok") == Some(&Value::Bool(true)) {
            self.organized = files;
        }
    }

    /// Whether an approved proposal for that file is under way.
    #[must_use]
    pub fn is_being_written(&self, path: &ProjectPath) -> bool {
        self.writes.open.values().any(|(of, _)| of == path)
    }

    /// What the session last made of a file; the inner `None`: it removed it.
    #[must_use]
    pub fn written(&self, path: &ProjectPath) -> Option<&Option<ContentHash>> {
        self.writes.done.get(path)
    }

    /// Files that the present run has changed.
    #[must_use]
    pub const fn changed_files(&self) -> &BTreeSet<ProjectPath> {
        &self.writes.changed
    }

    fn decided(&mut self, proposal: ProposalId, decision: &Decision) {
        let wanted = self.wanted.remove(&proposal).map(|(_, change)| change);
        if let Some(change) = wanted.filter(|_| decision.verdict.is_approval())
            && let Some(path) = change.path()
        {
            // Only some of the lines may have been approved, or edited ones.
            let content = decision.written(&change).map(|content| content.hash);
            self.writes.open.insert(proposal, (path.clone(), content));
        }
    }

    /// Somebody changed sources since the last build.
    const fn changed(&mut self) {
        if let Some(last) = &mut self.last_build {
            last.changes_since = last.changes_since.saturating_add(1);
        }
    }

    fn settled(&mut self, proposal: ProposalId, outcome: &Outcome) {
        self.wanted.remove(&proposal);
        let writing = self.writes.open.remove(&proposal);
        let is_same =
            writing.as_ref().is_some_and(|(path, content)| self.written(path) == Some(content));
        if let Some((path, content)) = writing.clone()
            && *outcome == Outcome::Applied
        {
            if self.writes.changed.len() < MOST_CHANGED {
                self.writes.changed.insert(path.clone());
            }
            self.writes.done.insert(path, content);
        }
        // What was interrupted or failed may have reached the disk; a rebuild costs little.
        let untouched = matches!(outcome, Outcome::Denied | Outcome::Stale { .. });
        if !self.changes.remove(&proposal) || untouched {
            return;
        }
        self.changed();
        // The same content once more leaves the tests as they are.
        if !is_same {
            self.outdate_tests(writing.as_ref());
        }
    }
}

/// The files that findings name, each once; notes only explain others.
fn diagnosed(findings: &[Diagnostic]) -> Vec<ProjectPath> {
    let mut files: Vec<ProjectPath> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.severity != Severity::Note) {
        let path = finding.file.as_deref().and_then(|file| ProjectPath::new(file).ok());
        if let Some(path) = path.filter(|path| !files.contains(path)) {
            files.push(path);
        }
    }
    files
}

/// The state as the tools and the recorder share it.
#[derive(Debug, Clone, Default)]
pub struct SharedState(Arc<Mutex<FoldedState>>);

/// What is folded together.
#[derive(Debug, Default)]
struct FoldedState {
    team: TeamState,
    marks: PassageMarks,
    /// Passages that the agent whose turn it is was given.
    passages: usize,
    chats: StepChats,
    /// Runs of tests that have not ended, with the turn that they belong to if it is known.
    open_tests: BTreeMap<TestRunId, Option<TurnId>>,
}

impl SharedState {
    /// Folds one record in, see [`TeamState::fold`].
    pub fn fold(&self, record: &Record) {
        let mut folded = self.lock();
        match &record.event {
            Event::Team(TeamEvent::PassageMarked(marked)) => folded.marks.take(marked),
            Event::Turn(TurnEvent::Started { .. }) => folded.passages = 0,
            Event::Test(TestEvent::Started { run, .. }) => {
                folded.open_tests.entry(*run).or_default();
            }
            Event::Test(TestEvent::Ended { run, .. }) => _ = folded.open_tests.remove(run),
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
                let chunks = result.get("chunks").and_then(Value::as_array);
                folded.passages += chunks.map_or(0, Vec::len);
            }
            _ => {}
        }
        folded.chats.fold(&record.event);
        folded.team.fold(record);
    }

    /// Sets what the running phase wants to reach.
    pub fn set_goal(&self, goal: PhaseGoal) {
        self.lock().team.goal = goal;
    }

    /// A copy of the state as it is now. Nothing is locked afterwards, so that the holder may
    /// record.
    #[must_use]
    pub fn snapshot(&self) -> TeamState {
        self.lock().team.clone()
    }

    /// Gives the next run of tests its number, for that turn.
    #[must_use]
    pub fn begin_test_run(&self, turn: TurnId) -> TestRunId {
        let mut folded = self.lock();
        let last = folded.open_tests.keys().next_back().copied();
        let run = folded.team.next_test_run().max(last.map_or(TestRunId(1), |last| last.next()));
        folded.open_tests.insert(run, Some(turn));
        run
    }

    /// The run of tests of a turn that has not ended.
    #[must_use]
    pub fn open_test_run(&self, turn: TurnId) -> Option<TestRunId> {
        let folded = self.lock();
        let open = folded.open_tests.iter().find(|(_, of)| **of == Some(turn));
        open.map(|(run, _)| *run)
    }

    /// What a file held when the chat of a step began, if another chat has changed it since and this one
    /// has not read it again; the inner `None`: it was not there.
    #[must_use]
    pub fn known_before(&self, step: u32, path: &ProjectPath) -> Option<Option<BlobRef>> {
        self.lock().chats.known_before(step, path)
    }

    /// The passages that the person pinned or muted.
    #[must_use]
    pub fn marks(&self) -> PassageMarks {
        self.lock().marks.clone()
    }

    /// How many passages the agent whose turn it is was given.
    #[must_use]
    pub fn passages(&self) -> usize {
        self.lock().passages
    }

    /// The lock is never held across a call to the ledger, which folds into this very state.
    fn lock(&self) -> MutexGuard<'_, FoldedState> {
        // Each fold leaves the state whole, so a panic elsewhere does not make it wrong.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
