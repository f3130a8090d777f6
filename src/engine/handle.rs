//! The way into a run: how it starts, and the handle on it while it goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::progress::{RunProgress, rebuild};
use super::run::{IntentHandler, Runner, Shared, close_inquiries};
use super::setup::EngineSetup;
use crate::gate::ApprovalQueue;
use crate::model::{
    Event, Intent, OpenCall, PortEvent, RecordSource, SessionEvent, SessionOutcome, TeamEvent,
    UserError,
};

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
        shared.change_budget(setup.limits.budgets.session)?;
        let runner = Runner::new(setup, Arc::clone(&shared), BTreeMap::new());
        runner.list_project()?;
        Ok(EngineHandle::spawn(runner, desk, &shared))
    }

    /// Goes on with a session from its records: what was under way is taken up where it was. When
    /// its last run is over, it waits for the next.
    ///
    /// # Errors
    /// When the session has no first record, or was run by another team; or when it
    /// cannot be recorded that it goes on.
    pub fn resume(
        setup: EngineSetup,
        records: &dyn RecordSource,
    ) -> Result<EngineHandle, UserError> {
        let rebuilt = rebuild(&setup, records)?;
        let gate = Arc::clone(&setup.gate);
        let is_over = rebuilt.progress.ended().is_some();
        let shared = Arc::new(Shared::new(rebuilt.progress, &setup));
        let choices = &setup.session.parts.choices;
        let resumed = SessionEvent::Resumed {
            program: setup.session.program.clone(),
            choices: (rebuilt.choices != *choices).then(|| Box::new(choices.clone())),
        };
        if is_over {
            // It does not go on before its next run; what was open is closed.
            for log in rebuilt.open_ports {
                let why = "the program ended".to_owned();
                shared.record(Event::Port(PortEvent::Closed { log, why }))?;
            }
            shared.resume_later(resumed);
        } else {
            shared.record(Event::Session(resumed))?;
        }
        let desk = setup.desk.clone();
        // What the session may use was recorded; it stays so where nothing else is set now.
        shared.change_budget(setup.limits.budgets.session)?;
        let shared_run = Arc::clone(&shared);
        let runner = Runner::new(setup, shared, rebuilt.proposals);
        // After the record that the session goes on: what is found out now belongs to this start.
        gate.settle_unfinished()?;
        runner.list_project()?;
        runner.close_interrupted()?;
        close_inquiries(&shared_run)?;
        runner.restore_goal();
        let handle = EngineHandle::spawn(runner, desk, &shared_run);
        Ok(EngineHandle { was_over: is_over, ..handle })
    }
}

/// A run that goes on. Dropping it leaves the run alone; see [`EngineHandle::detach`].
pub struct EngineHandle {
    /// Where the person's wishes go.
    pub intents: mpsc::Sender<Intent>,
    /// Whether the last run of the session was over when the session was opened again.
    pub was_over: bool,
    /// Calls that models are still writing, of which no record tells.
    pub open_calls: watch::Receiver<Arc<[OpenCall]>>,
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
        let broken = |ended: &Option<RunEnd>| matches!(ended, Some(Err(_)));
        let ended = self.0.wait_for(broken).await.ok().and_then(|ended| ended.clone());
        if let Some(Err(why)) = ended {
            // Told once.
            self.0 = watch::channel(None).1;
            return why;
        }
        std::future::pending().await
    }
}

impl EngineHandle {
    fn spawn(runner: Runner, desk: ApprovalQueue, shared: &Shared) -> Self {
        let open_calls = shared.open_calls.subscribe();
        let (intents, inbox) = mpsc::channel(INTENTS);
        let clerk = IntentHandler::new(runner.counter(desk), inbox);
        let (end, ended) = watch::channel(None);
        // One task for both, so that ending it ends everything at once. The clerk stays when a run
        // is over, for what can still be wished then: the next run among it.
        let task = tokio::spawn(async move {
            let mut clerk = std::pin::pin!(clerk.serve());
            loop {
                let lookout = runner.lookout();
                let outcome = tokio::select! {
                    biased;
                    failed = &mut clerk => Err(failed),
                    outcome = runner.run() => outcome,
                };
                drop(lookout);
                let goes_on = outcome.is_ok();
                end.send_replace(Some(outcome));
                if !goes_on {
                    return;
                }
                tokio::select! {
                    biased;
                    // The clerk ends when a fact can no longer be recorded; the run has its
                    // outcome.
                    _failed = &mut clerk => return,
                    () = runner.next_run() => {}
                }
                end.send_replace(None);
            }
        });
        Self { intents, was_over: false, open_calls, task, ended }
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
