//! What each run of a session came to: who worked how long, what it cost, what was decided, which
//! files changed, what was built, tested and flashed.
//!
//! A fold of records alone. Time in which nobody worked on a run (between two runs, or while the
//! program was closed) counts for nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::model::{
    AgentName, BuildEvent, BuildOutcome, Change, ChangeKind, DecidedBy, Decision, Event, InquiryId,
    ModelEvent, Outcome, PersonEvent, ProjectPath, Proposal, ProposalEvent, ProposalId, Record,
    SessionEvent, TestEvent, Timestamp, TurnEvent, TurnId, Usage,
};

/// What one agent did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentWork {
    pub turns: u32,
    /// The newest of them.
    pub last_turn: TurnId,
    pub tool_calls: u32,
    /// How long it spoke, without the time in which it waited for the person.
    pub millis: u64,
    pub usage: Usage,
}

/// How proposals were decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DecisionCounts {
    /// Approved by the person as proposed.
    pub approved: u32,
    /// Approved by the person in part or after an edit.
    #[serde(rename = "approved_with_changes")]
    pub amended: u32,
    pub rejected: u32,
    /// Decided by a rule, either way.
    pub by_rule: u32,
    /// Approved by a rule: nobody had to look at them.
    pub approved_by_rule: u32,
    /// Approvals of the person for which every changed line had been on screen.
    #[serde(rename = "approvals_seen_whole")]
    pub seen_whole: u32,
    /// Changed lines that the person approved although they had not been on screen.
    pub lines_unseen: u64,
    /// What was approved and could not be done; [`RunWork::not_done`] names it.
    pub not_done: u32,
}

impl DecisionCounts {
    /// All that were decided.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.approved + self.amended + self.rejected + self.by_rule
    }

    fn count(&mut self, decision: &Decision) {
        match &decision.by {
            DecidedBy::Policy(_) => {
                self.by_rule += 1;
                self.approved_by_rule += u32::from(decision.verdict.is_approval());
            }
            // Nobody decided: the run ended first.
            DecidedBy::Nobody(_) => {}
            DecidedBy::Person if !decision.verdict.is_approval() => self.rejected += 1,
            DecidedBy::Person => {
                match decision.verdict.amended() {
                    Some(_) => self.amended += 1,
                    None => self.approved += 1,
                }
                self.lines_unseen += u64::from(decision.unseen);
                self.seen_whole += u32::from(decision.unseen == 0);
            }
        }
    }
}

/// What became of a file between the start and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileFate {
    Created,
    Changed,
    Deleted,
}

impl FileFate {
    /// Name for people and for JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// How often something passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PassCounts {
    pub passed: u32,
    pub failed: u32,
}

impl PassCounts {
    const fn count(&mut self, has_passed: bool) {
        if has_passed { self.passed += 1 } else { self.failed += 1 }
    }
}

/// Something that was approved and could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotDone {
    pub kind: ChangeKind,
    /// `None`: it was for a board.
    pub path: Option<ProjectPath>,
    /// Whether the same was done later.
    pub is_made_up_for: bool,
}

impl NotDone {
    /// It in words, e.g. `delete main/main.c`.
    #[must_use]
    pub fn what(&self) -> String {
        match &self.path {
            Some(path) => format!("{} {path}", self.kind.as_str()),
            None => self.kind.as_str().to_owned(),
        }
    }

    /// Whether a change does the same: a file may be saved as a whole or inserted into.
    fn is_done_by(&self, kind: ChangeKind, path: Option<&ProjectPath>) -> bool {
        let writes = |kind| matches!(kind, ChangeKind::Save | ChangeKind::Insert);
        let is_same_kind = self.kind == kind || (writes(self.kind) && writes(kind));
        is_same_kind && self.path.as_ref() == path
    }
}

/// What a run, or a whole session, came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunWork {
    /// In the order they first spoke.
    pub agents: Vec<(AgentName, AgentWork)>,
    pub usage: Usage,
    pub decisions: DecisionCounts,
    /// What was approved and could not be done; each once.
    pub not_done: Vec<NotDone>,
    /// Files that are not as they were before, by path.
    files: BTreeMap<ProjectPath, FileSpan>,
    pub builds: PassCounts,
    pub build_millis: u64,
    /// Runs of tests.
    pub tests: PassCounts,
    /// Writes to boards.
    pub flashes: PassCounts,
    /// How long it took, the person's time included.
    pub millis: u64,
    /// How long it waited for the person.
    pub waited_millis: u64,
}

/// A file before the first change and after the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileSpan {
    existed: bool,
    exists: bool,
}

impl RunWork {
    /// Files that are not as they were before.
    pub fn files(&self) -> impl Iterator<Item = (&ProjectPath, FileFate)> {
        self.files.iter().filter_map(|(path, span)| {
            let fate = match (span.existed, span.exists) {
                (false, true) => FileFate::Created,
                (true, true) => FileFate::Changed,
                (true, false) => FileFate::Deleted,
                (false, false) => return None,
            };
            Some((path, fate))
        })
    }

    /// What that agent did so far.
    #[must_use]
    pub fn agent(&self, name: &AgentName) -> Option<&AgentWork> {
        self.agents.iter().find(|(known, _)| known == name).map(|(_, work)| work)
    }

    fn agent_mut(&mut self, name: &AgentName) -> &mut AgentWork {
        let place = self.agents.iter().position(|(known, _)| known == name);
        let place = place.unwrap_or_else(|| {
            self.agents.push((name.clone(), AgentWork::default()));
            self.agents.len() - 1
        });
        &mut self.agents[place].1
    }

    /// Whether nobody did anything that could be told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.decisions.total() == 0
    }

    fn add(&mut self, other: &Self) {
        for (name, work) in &other.agents {
            let own = self.agent_mut(name);
            own.turns += work.turns;
            own.last_turn = own.last_turn.max(work.last_turn);
            own.tool_calls += work.tool_calls;
            own.millis += work.millis;
            own.usage += work.usage;
        }
        self.usage += other.usage;
        let (own, new) = (&mut self.decisions, &other.decisions);
        own.approved += new.approved;
        own.amended += new.amended;
        own.rejected += new.rejected;
        own.by_rule += new.by_rule;
        own.approved_by_rule += new.approved_by_rule;
        own.seen_whole += new.seen_whole;
        own.lines_unseen += new.lines_unseen;
        own.not_done += new.not_done;
        for not_done in &other.not_done {
            self.note_not_done(not_done.clone());
        }
        for (path, span) in &other.files {
            self.touch(path, span.existed, span.exists);
        }
        for (own, new) in [
            (&mut self.builds, other.builds),
            (&mut self.tests, other.tests),
            (&mut self.flashes, other.flashes),
        ] {
            own.passed += new.passed;
            own.failed += new.failed;
        }
        self.build_millis += other.build_millis;
        self.millis += other.millis;
        self.waited_millis += other.waited_millis;
    }

    fn note_not_done(&mut self, new: NotDone) {
        self.not_done.retain(|known| (known.kind, &known.path) != (new.kind, &new.path));
        self.not_done.push(new);
    }

    /// What was approved and is not done to this day.
    pub fn left_undone(&self) -> impl Iterator<Item = &NotDone> {
        self.not_done.iter().filter(|not_done| !not_done.is_made_up_for)
    }

    fn settle(&mut self, proposal: &Proposal, outcome: &Outcome) {
        let is_done = *outcome == Outcome::Applied;
        let (kind, path) = (proposal.change.change_kind(), proposal.change.path());
        if is_done {
            for not_done in &mut self.not_done {
                not_done.is_made_up_for |= not_done.is_done_by(kind, path);
            }
        } else if *outcome != Outcome::Denied {
            self.decisions.not_done += 1;
            self.note_not_done(NotDone { kind, path: path.cloned(), is_made_up_for: false });
        }
        match &proposal.change {
            Change::Save { base: Some(base), content, .. } if base.hash == content.hash => {}
            Change::Save { path, base, .. } if is_done => self.touch(path, base.is_some(), true),
            Change::Insert { path, .. } if is_done => self.touch(path, true, true),
            Change::Delete { path, .. } if is_done => self.touch(path, true, false),
            Change::Read(plan) if is_done => self.touch(&plan.path, false, true),
            Change::Flash(_) | Change::Erase(_) | Change::Nvs(_) => match outcome {
                Outcome::Applied => self.flashes.count(true),
                Outcome::Failed(_) | Outcome::Interrupted(_) => self.flashes.count(false),
                Outcome::Denied | Outcome::Stale { .. } => {}
            },
            _ => {}
        }
    }

    fn touch(&mut self, path: &ProjectPath, existed: bool, exists: bool) {
        self.files
            .entry(path.clone())
            .and_modify(|span| span.exists = exists)
            .or_insert(FileSpan { existed, exists });
    }
}

/// A turn that has not ended.
#[derive(Debug, Clone, PartialEq)]
struct OpenTurn {
    agent: AgentName,
    since: Timestamp,
    /// The person's waiting time when it began.
    waited: u64,
}

/// What the runs of a session came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// One for each run, the first one first.
    runs: Vec<Arc<RunWork>>,
    /// Whether the last run goes on.
    is_active: bool,
    last_at: Timestamp,
    open_turns: BTreeMap<TurnId, OpenTurn>,
    /// Who answers each question about a proposal.
    asked: BTreeMap<InquiryId, AgentName>,
    waiting: Vec<ProposalId>,
    has_question: bool,
}

impl Work {
    /// The run that goes on or was the last one.
    #[must_use]
    pub fn run(&self) -> Option<&Arc<RunWork>> {
        self.runs.last()
    }

    /// Every run, the first one first.
    #[must_use]
    pub fn runs(&self) -> &[Arc<RunWork>] {
        &self.runs
    }

    /// All runs together.
    #[must_use]
    pub fn total(&self) -> RunWork {
        let mut total = RunWork::default();
        self.runs.iter().for_each(|run| total.add(run));
        total
    }

    /// Whether something waits for the person.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.has_question || !self.waiting.is_empty()
    }

    /// When the newest record was made: times run on from here.
    #[must_use]
    pub const fn counted_until(&self) -> Timestamp {
        self.last_at
    }

    /// How long the last run has taken, and how long of that it waited for the person, `after`
    /// milliseconds after the newest record.
    #[must_use]
    pub fn times(&self, after: u64) -> (u64, u64) {
        let Some(run) = self.run() else { return (0, 0) };
        let after = if self.is_active { after } else { 0 };
        let waits = if self.is_waiting() { after } else { 0 };
        (run.millis + after, run.waited_millis + waits)
    }

    /// How long that agent has spoken in the last run, `after` milliseconds after the newest record.
    #[must_use]
    pub fn spoke(&self, agent: &AgentName, after: u64) -> u64 {
        let before = self.run().and_then(|run| run.agent(agent)).map_or(0, |work| work.millis);
        let open = self.open_turns.values().filter(|open| open.agent == *agent);
        before + open.map(|open| self.worked_in(open, after)).sum::<u64>()
    }

    /// How long a turn that is open has taken without the person's waiting time, `after` milliseconds
    /// after the newest record.
    #[must_use]
    pub fn turn(&self, turn: TurnId, after: u64) -> u64 {
        self.open_turns.get(&turn).map_or(0, |open| self.worked_in(open, after))
    }

    fn worked_in(&self, open: &OpenTurn, after: u64) -> u64 {
        let waited = self.times(after).1;
        let after = if self.is_active { after } else { 0 };
        let spent = self.last_at.millis_since(open.since) + after;
        spent.saturating_sub(waited.saturating_sub(open.waited))
    }

    fn now(&mut self) -> Option<&mut RunWork> {
        self.runs.last_mut().map(Arc::make_mut)
    }

    /// Folds one record in; `proposal` finds a proposal by its number.
    pub(super) fn apply<'p>(
        &mut self,
        record: &Record,
        proposal: impl FnOnce(ProposalId) -> Option<&'p Proposal>,
    ) {
        self.pass_time(record);
        match &record.event {
            Event::Session(event) => self.session(event),
            Event::Turn(event) => self.turn_event(event, record.at),
            Event::Proposal(event) => self.proposal(event, proposal),
            Event::Build(BuildEvent::Ended { outcome, millis, .. }) => {
                if let Some(run) = self.now() {
                    run.build_millis += millis;
                    match outcome {
                        BuildOutcome::Passed => run.builds.count(true),
                        BuildOutcome::Failed | BuildOutcome::TimedOut => run.builds.count(false),
                        BuildOutcome::Cancelled | BuildOutcome::NotRun(_) => {}
                    }
                }
            }
            Event::Test(TestEvent::Ended { report, .. }) => {
                if let Some(run) = self.now() {
                    run.tests.count(report.has_passed());
                }
            }
            Event::Model(ModelEvent::Summarised(summary)) => {
                self.add_usage(summary.turn, summary.usage);
            }
            Event::Person(PersonEvent::Asked { .. }) => self.has_question = true,
            Event::Person(PersonEvent::Answered { .. }) => self.has_question = false,
            Event::Phase(_)
            | Event::Model(_)
            | Event::Team(_)
            | Event::Files(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    fn pass_time(&mut self, record: &Record) {
        let passed = record.at.millis_since(self.last_at);
        let was_closed = matches!(record.event, Event::Session(SessionEvent::Resumed { .. }));
        let (is_active, waits) = (self.is_active && !was_closed, self.is_waiting());
        self.last_at = record.at;
        if let Some(run) = self.now().filter(|_| is_active) {
            run.millis += passed;
            run.waited_millis += if waits { passed } else { 0 };
        }
    }

    fn session(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Started(_) | SessionEvent::RunStarted(_) => {
                self.runs.push(Arc::new(RunWork::default()));
                self.is_active = true;
            }
            SessionEvent::Resumed { .. } => {
                self.open_turns.clear();
                self.has_question = false;
            }
            SessionEvent::Ended { .. } => {
                self.is_active = false;
                self.has_question = false;
                self.open_turns.clear();
            }
            SessionEvent::Sandboxed { .. } => {}
        }
    }

    fn turn_event(&mut self, event: &TurnEvent, at: Timestamp) {
        match event {
            TurnEvent::Started { turn, agent, .. } => {
                let waited = self.run().map_or(0, |run| run.waited_millis);
                let open = OpenTurn { agent: agent.clone(), since: at, waited };
                self.open_turns.insert(*turn, open);
                if let Some(run) = self.now() {
                    let work = run.agent_mut(agent);
                    work.turns += 1;
                    work.last_turn = *turn;
                }
            }
            TurnEvent::ToolCalled { turn, .. } => {
                self.with_agent(*turn, |work| work.tool_calls += 1);
            }
            TurnEvent::ModelAnswered { turn, usage, .. } => {
                self.add_usage(*turn, *usage);
            }
            TurnEvent::Ended { turn, .. } => {
                let Some(open) = self.open_turns.remove(turn) else { return };
                if let Some(run) = self.now() {
                    let waited = run.waited_millis.saturating_sub(open.waited);
                    run.agent_mut(&open.agent).millis +=
                        at.millis_since(open.since).saturating_sub(waited);
                }
            }
            _ => {}
        }
    }

    fn add_usage(&mut self, turn: TurnId, usage: Usage) {
        self.with_agent(turn, |work| work.usage += usage);
        if let Some(run) = self.now() {
            run.usage += usage;
        }
    }

    fn with_agent(&mut self, turn: TurnId, change: impl FnOnce(&mut AgentWork)) {
        let Some(agent) = self.open_turns.get(&turn).map(|open| open.agent.clone()) else { return };
        if let Some(run) = self.now() {
            change(run.agent_mut(&agent));
        }
    }

    fn proposal<'p>(
        &mut self,
        event: &ProposalEvent,
        find: impl FnOnce(ProposalId) -> Option<&'p Proposal>,
    ) {
        match event {
            ProposalEvent::Made(proposal) => self.waiting.push(proposal.id),
            ProposalEvent::Decided { proposal, decision } => {
                self.waiting.retain(|waiting| waiting != proposal);
                if let Some(run) = self.now() {
                    run.decisions.count(decision);
                }
            }
            ProposalEvent::Settled { proposal, outcome } => {
                self.waiting.retain(|waiting| waiting != proposal);
                if let (Some(run), Some(proposal)) = (self.now(), find(*proposal)) {
                    run.settle(proposal, outcome);
                }
            }
            ProposalEvent::Inquired { inquiry, agent, .. } => {
                self.asked.insert(*inquiry, agent.clone());
            }
            ProposalEvent::InquiryEnded { inquiry, usage, .. } => {
                let agent = self.asked.remove(inquiry);
                if let Some(run) = self.now() {
                    run.usage += *usage;
                    if let Some(agent) = agent {
                        run.agent_mut(&agent).usage += *usage;
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
