//! The way into a run: what it needs, how it starts, and the handle on it while it goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::budget_meter::Budgets;
use super::inquiry;
use super::intents::IntentHandler;
use super::progress::RunProgress;
use super::resume;
use super::run::Runner;
use super::shared::Shared;
use super::team::Team;
use crate::gate::{ApprovalQueue, Gate};
use crate::model::event::SessionStart;
use crate::model::{
    Document, Event, Intent, Ledger, RecordSource, SessionEvent, SessionOutcome, TeamEvent,
    ToolName, UserError,
};
use crate::provider::Provider;
use crate::tools::{Registry, SharedState, TOOLS, Tool};
use crate::workspace::Sandbox;

/// The tools of a run, by name.
pub type Toolbox = BTreeMap<ToolName, Arc<dyn Tool>>;

/// Every tool of a registry.
#[must_use]
pub fn toolbox(registry: &Registry) -> Toolbox {
    let names = TOOLS.iter().map(|entry| ToolName::new(entry.name));
    names.filter_map(|name| registry.get(&name).ok().map(|tool| (name, tool))).collect()
}

/// Bounds of a run that no team's file sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineLimits {
    /// Attempts of a phase; `None`: as the team's file says.
    pub max_attempts: Option<u32>,
    /// Bytes one model answer may have.
    pub answer_bytes: usize,
    /// Files in a list of the project.
    pub listed_files: usize,
    /// Whether plans and files for the context wait for the person.
    pub supervision: Supervision,
    /// What may be spent.
    pub budgets: Budgets,
}

/// Whether a run stops for the person before a plan is carried out and before files are read into
/// the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Supervision {
    /// Both are shown, and the run goes on at once.
    #[default]
    Show,
    /// Both wait until the person lets the run go on.
    Ask,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            max_attempts: None,
            answer_bytes: 4 << 20,
            listed_files: 2_000,
            supervision: Supervision::Show,
            budgets: Budgets::default(),
        }
    }
}

/// Everything a run works with.
#[derive(Clone)]
pub struct EngineSetup {
    /// What the session is about: the first record of a new session.
    pub session: SessionStart,
    /// Documents that come with the task; a resumed session has them in its journal.
    pub documents: Vec<Document>,
    /// Who takes part.
    pub team: Arc<Team>,
    /// Takes every fact.
    pub ledger: Arc<dyn Ledger>,
    /// Brings what tools wish for to a decision and an end.
    pub gate: Arc<Gate>,
    /// Where the person's decisions go.
    pub desk: ApprovalQueue,
    /// What agents can call.
    pub tools: Toolbox,
    /// What tools know of the session; the recorder folds every record into it, and for a resumed
    /// session has folded those of the journal.
    pub state: SharedState,
    /// Answers for the agents.
    pub provider: Arc<dyn Provider>,
    /// The project's folder, for listing.
    pub project: Arc<Sandbox>,
    /// Cancelled when the person stops the run; the tools hold the same token.
    pub stop: CancellationToken,
    pub limits: EngineLimits,
}

pub struct Engine;

impl Engine {
    /// Begins a new session: records its start and runs the team on the current runtime.
    ///
    /// # Errors
    /// When the first record cannot be written.
    pub fn start(setup: EngineSetup) -> Result<EngineHandle, UserError> {
        let progress = RunProgress::new(Arc::clone(&setup.team), &setup.limits);
        let shared = Arc::new(Shared::new(progress, &setup));
        shared.record(Event::Session(SessionEvent::Started(Box::new(setup.session.clone()))))?;
        for document in &setup.documents {
            shared.record(Event::Team(TeamEvent::Attached(document.clone())))?;
        }
        let desk = setup.desk.clone();
        shared.set_budget(setup.limits.budgets.session)?;
        let runner = Runner::new(setup, shared, BTreeMap::new());
        runner.list_project()?;
        Ok(EngineHandle::spawn(runner, desk))
    }

    /// Goes on with a session from its records: what was under way is taken up where it was.
    ///
    /// # Errors
    /// When the session has ended, has no first record, or was run by another team; or when it
    /// cannot be recorded that it goes on.
    pub fn resume(
        setup: EngineSetup,
        records: &dyn RecordSource,
    ) -> Result<EngineHandle, UserError> {
        let rebuilt = resume::rebuild(&setup, records)?;
        let gate = Arc::clone(&setup.gate);
        let shared = Arc::new(Shared::new(rebuilt.progress, &setup));
        shared.record(Event::Session(SessionEvent::Resumed {
            program: setup.session.program.clone(),
        }))?;
        let desk = setup.desk.clone();
        shared.set_budget(setup.limits.budgets.session)?;
        let beside = Arc::clone(&shared);
        let runner = Runner::new(setup, shared, rebuilt.proposals);
        // After the record that the session goes on: what is found out now belongs to this start.
        gate.settle_unfinished()?;
        runner.list_project()?;
        runner.close_interrupted()?;
        inquiry::close(&beside)?;
        runner.restore_goal();
        Ok(EngineHandle::spawn(runner, desk))
    }
}

/// A run that goes on. Dropping it leaves the run alone; see [`EngineHandle::detach`].
pub struct EngineHandle {
    /// Where the person's wishes go.
    pub intents: mpsc::Sender<Intent>,
    task: JoinHandle<()>,
    ended: watch::Receiver<Option<RunEnd>>,
}

/// How a run ended.
type RunEnd = Result<SessionOutcome, UserError>;

/// How many wishes may wait.
const INTENTS: usize = 64;

/// Waits for a run to break off.
#[derive(Debug)]
pub struct BreakOff(watch::Receiver<Option<RunEnd>>);

impl BreakOff {
    /// Resolves once, when a fact could not be recorded and the run ended for it; says why. Never
    /// resolves for a run that ends in order or is left. Safe to drop and call again.
    pub async fn error(&mut self) -> UserError {
        let ended = self.0.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
        if let Some(Err(why)) = ended {
            // Told once.
            self.0 = watch::channel(None).1;
            return why;
        }
        std::future::pending().await
    }
}

impl EngineHandle {
    fn spawn(runner: Runner, desk: ApprovalQueue) -> Self {
        let (intents, inbox) = mpsc::channel(INTENTS);
        let clerk = IntentHandler::new(runner.counter(desk), inbox);
        let lookout = runner.lookout();
        let (end, ended) = watch::channel(None);
        // One task for both, so that ending it ends everything at once. The clerk stays when the
        // run is over, for what can still be wished then.
        let task = tokio::spawn(async move {
            let mut clerk = std::pin::pin!(clerk.serve());
            let outcome = tokio::select! {
                biased;
                failed = &mut clerk => Err(failed),
                outcome = runner.run() => outcome,
            };
            drop(lookout);
            let goes_on = outcome.is_ok();
            end.send_replace(Some(outcome));
            if goes_on {
                // A fact that cannot be recorded any more ends the clerk; the run has its outcome.
                let _ = clerk.await;
            }
        });
        Self { intents, task, ended }
    }

    /// Tells when the run breaks off.
    #[must_use]
    pub fn break_off(&self) -> BreakOff {
        BreakOff(self.ended.clone())
    }

    /// Whether the run is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.ended.borrow().is_some() || self.task.is_finished()
    }

    /// Waits until the run is over.
    ///
    /// # Errors
    /// When a fact could not be recorded, which ends the run at once.
    pub async fn join(mut self) -> Result<SessionOutcome, UserError> {
        let ended = self.ended.wait_for(Option::is_some).await;
        let outcome = ended.ok().and_then(|ended| ended.clone());
        self.task.abort();
        let left = self.task.await;
        outcome.unwrap_or_else(|| {
            let why = left.err().map_or_else(String::new, |error| error.to_string());
            Err(UserError::new(
                "The run stopped unexpectedly",
                why,
                "Continue with `firmhand resume`.",
            ))
        })
    }

    /// Waits until the run is over, however it ended, and keeps the handle.
    pub async fn finished(&mut self) {
        // An error means that the task is gone, and with it the run.
        let _ = self.ended.wait_for(Option::is_some).await;
    }

    /// Leaves the session without ending it: nothing more is recorded, proposals keep waiting, and
    /// [`Engine::resume`] can take it up again.
    pub async fn detach(self) {
        if self.task.is_finished() {
            return;
        }
        self.task.abort();
        // The result of an aborted task says nothing; what counts is that it has ended.
        let _ = self.task.await;
    }
}
