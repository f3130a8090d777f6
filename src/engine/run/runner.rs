//! Carries out what comes next, one step after the other, until the run is over.
//!
//! What comes next is [`RunProgress`](crate::engine::progress::RunProgress)'s to say; this file
//! only does it and records what happened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::calls::{Calls, millis_since};
use super::context;
use super::intents::ClerkParts;
use super::next_run::NextRunParts;
use super::outside::Lookout;
use super::recorded_calls::RecordedCalls;
use super::shared::Shared;
use super::signatures;
use super::summary::SummaryRequest;
use super::tool_run::ToolRun;
use super::turn::{AnswerEnd, Asking};
use crate::engine::attempt::{Answered, OpenTurn};
use crate::engine::concern::{OUT_OF_TIME, not_run};
use crate::engine::progress::step::RunStep;
use crate::engine::setup::{EngineLimits, EngineSetup, NextRuns};
use crate::engine::team::{ContextPart, Phase};
use crate::gate::{ApprovalQueue, Gate, Recorded, WorkTime};
use crate::model::event::Level;
use crate::model::{
    CallId, ContextFile, Event, FilesEvent, PhaseEvent, PhaseOutcome, ProjectPath, SessionOutcome,
    TeamEvent, TurnEvent, TurnId, TurnStop, UserError, estimated_tokens,
};
use crate::provider::Request;
use crate::tools::{PhaseGoal, SharedState};
use crate::workspace::Sandbox;

/// How often a conversation is made shorter for a model that refuses it.
const MOST_FITS: u32 = 4;

/// Longest time that models and tools which never wait keep the person's wishes waiting.
const BREATH: Duration = Duration::from_millis(20);

/// Runs a team.
pub(in crate::engine) struct Runner {
    shared: Arc<Shared>,
    gate: Arc<Gate>,
    state: SharedState,
    project: Arc<Sandbox>,
    limits: EngineLimits,
    next_runs: Arc<dyn NextRuns>,
    /// How to get the model that the session began with.
    began_with: String,
    calls: Calls,
    gave_way: Mutex<Instant>,
}

impl Runner {
    pub fn new(
        setup: EngineSetup,
        shared: Arc<Shared>,
        recorded: BTreeMap<CallId, Vec<Recorded>>,
    ) -> Self {
        let time: Weak<dyn WorkTime> = Arc::<Shared>::downgrade(&shared);
        setup.gate.bound_by(time);
        let calls = Calls {
            run: ToolRun {
                shared: Arc::clone(&shared),
                gate: Arc::clone(&setup.gate),
                most: setup.limits.tool,
            },
            tools: setup.tools,
            state: setup.state.clone(),
            recorded: RecordedCalls::new(recorded),
        };
        Self {
            shared,
            gate: setup.gate,
            state: setup.state,
            project: setup.project,
            limits: setup.limits,
            next_runs: setup.next_runs,
            began_with: setup.session.parts.provider,
            calls,
            gave_way: Mutex::new(Instant::now()),
        }
    }

    /// Records what others change in the project, as long as it is kept.
    pub fn lookout(&self) -> Lookout {
        let shared = Arc::downgrade(&self.shared);
        Lookout::begin(shared, Arc::clone(&self.project), self.state.clone())
    }

    /// What the clerk works with beside the run.
    pub fn counter(&self, desk: ApprovalQueue) -> ClerkParts {
        ClerkParts {
            shared: Arc::clone(&self.shared),
            desk,
            gate: Arc::clone(&self.gate),
            ledger: Arc::clone(&self.shared.ledger),
            next: NextRunParts {
                runs: Arc::clone(&self.next_runs),
                state: self.state.clone(),
                tools: self.calls.tools.clone(),
                project: self.project.root().to_path_buf(),
                provider: self.began_with.clone(),
            },
            answer_bytes: self.limits.answer_bytes,
        }
    }

    /// Records the list of the project's files.
    pub fn list_project(&self) -> Result<(), UserError> {
        self.shared.record(self.project.list(self.limits.listed_files).into_event())
    }

    /// The project, and for a phase that asks for it what its sources have for each other.
    fn list_for(&self, phase: &str) -> Result<(), UserError> {
        let wants = |phase: &Phase| phase.context.contains(&ContextPart::Signatures);
        let is_wanted = {
            let progress = self.shared.progress();
            progress.team().phases.iter().any(|known| known.name == phase && wants(known))
        };
        let listing = self.project.list(self.limits.listed_files);
        let signatures =
            if is_wanted { signatures::read(&self.project, &listing) } else { Vec::new() };
        let (files, omitted) = (listing.files, listing.omitted);
        self.shared.record(Event::Files(FilesEvent::Listed { files, omitted, signatures }))
    }

    /// Tells the tools what the phase that runs wants to reach.
    pub fn restore_goal(&self) {
        if let Some((_, phase)) = self.shared.progress().running() {
            self.state.set_goal(phase.goal);
        }
    }

    /// Closes a turn whose model had begun to answer when the program ended; it is taken again.
    pub fn close_interrupted(&self) -> Result<(), UserError> {
        let turn = self.shared.progress().running().and_then(|(attempt, _)| attempt.turn.clone());
        let Some(turn) = turn.filter(OpenTurn::is_cut_off) else { return Ok(()) };
        self.answer_open_calls("interrupted", "the program ended before the model had finished")?;
        self.shared
            .record(Event::Turn(TurnEvent::Ended { turn: turn.id, stop: TurnStop::Interrupted }))
    }

    /// Answers the calls of a model answer that did not come to its end; none of them is made.
    pub fn answer_open_calls(&self, code: &str, why: &str) -> Result<(), UserError> {
        let turn = self.shared.progress().running().and_then(|(attempt, _)| attempt.turn.clone());
        let calls = turn.map(|turn| turn.calls).unwrap_or_default();
        for (call, _) in calls.iter().filter(|(_, answered)| *answered == Answered::No) {
            let result = not_run(code, why);
            self.shared.record(Event::Turn(TurnEvent::ToolAnswered {
                call: call.id,
                result,
                millis: 0,
            }))?;
        }
        Ok(())
    }

    /// Runs until the end of the present run.
    pub async fn run(&self) -> Result<SessionOutcome, UserError> {
        loop {
            let (step, is_stopping) = {
                let progress = self.shared.progress();
                (progress.next(), progress.is_stopping())
            };
            if is_stopping {
                self.calls.recorded.settle(&self.gate).await?;
            }
            match step {
                RunStep::Wait => self.shared.changed.notified().await,
                RunStep::Record(event) => self.step(event)?,
                RunStep::AskModel => self.ask_model().await?,
                RunStep::RunCall(call) => self.calls.run_call(call).await?,
                RunStep::ListContext(call) => self.list_context(call)?,
                RunStep::Judge(why) => self.judge(why)?,
                RunStep::Finish(outcome) => return Ok(outcome),
            }
        }
    }

    /// Resolves when a run is under way.
    pub async fn next_run(&self) {
        while self.shared.progress().ended().is_some() {
            self.shared.changed.notified().await;
        }
    }

    /// Records what the open call is about to read, with sizes.
    fn list_context(&self, call: CallId) -> Result<(), UserError> {
        let wanted: Vec<_> = {
            let progress = self.shared.progress();
            let listed = progress.listed(call).into_iter();
            listed.map(|(path, by)| (progress.reason(&path), path, by)).collect()
        };
        let size = |path: &ProjectPath| {
            let start = self.project.read_start(path, 0).ok()?;
            Some(start.total)
        };
        let files = wanted.into_iter().map(|(reason, path, by)| {
            let bytes = size(&path);
            let tokens = estimated_tokens(bytes.unwrap_or(0));
            ContextFile { tokens, bytes, path, by, reason }
        });
        let files = files.collect();
        self.shared.record(Event::Team(TeamEvent::ContextListed { call, files }))
    }

    /// Records a step, unless a wish of the person has changed what comes next meanwhile.
    fn step(&self, event: Event) -> Result<(), UserError> {
        let cut = match &event {
            Event::Turn(TurnEvent::Ended { .. }) => self.shared.progress().cut(),
            _ => None,
        };
        if let Some(why) = cut {
            let fix = "Raise `budget.turn` or `budget.phase` if its agents need more.";
            self.shared.notice(Level::Warning, UserError::new("The turn was stopped", why, fix))?;
        }
        let phase = match &event {
            Event::Phase(PhaseEvent::Started { phase, .. }) => Some(phase.clone()),
            _ => None,
        };
        // What was approved is known from its own records; this takes in what others changed.
        if let Some(phase) = &phase {
            self.list_for(phase)?;
        }
        self.shared.record_with(|progress| {
            let is_still_next = matches!(progress.next(), RunStep::Record(next) if next == event);
            is_still_next.then_some(event)
        })?;
        if phase.is_some() {
            self.restore_goal();
        }
        Ok(())
    }

    async fn ask_model(&self) -> Result<(), UserError> {
        self.give_way().await;
        let started = Instant::now();
        let Some((asking, request, most)) = self.asking() else { return Ok(()) };
        let turn = asking.turn();
        let left = self.shared.progress().time_left();
        let heard = within(left, self.hear(asking, request, most)).await;
        self.shared.progress().worked(millis_since(started));
        let Some(heard) = heard else { return self.cut_off(turn) };
        let Err(error) = heard? else { return Ok(()) };
        self.answer_open_calls("interrupted", "the model's answer was interrupted")?;
        self.shared.notice(Level::Error, error.clone())?;
        self.shared.record(Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Failed(error) }))
    }

    /// Ends a turn in the middle of its model's answer, because a time is over.
    fn cut_off(&self, turn: TurnId) -> Result<(), UserError> {
        let (why, stop) = self.shared.progress().time_over();
        self.answer_open_calls(OUT_OF_TIME, &why)?;
        let fix =
            "Raise the limit in minutes or seconds that is named here if its agents need more.";
        self.shared.notice(Level::Warning, UserError::new("The answer was cut off", why, fix))?;
        self.shared.record(Event::Turn(TurnEvent::Ended { turn, stop }))
    }

    /// Lets the person's wishes be heard, now and then: models and tools that never wait must not
    /// keep them waiting, and to give way at every turn would cost more than the turn.
    async fn give_way(&self) {
        if self.gave_way.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= BREATH {
            tokio::task::yield_now().await;
            *self.gave_way.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    }

    /// The request of the open turn as it is now.
    fn asking(&self) -> Option<(Asking<'_>, Request, Option<u64>)> {
        let progress = self.shared.progress();
        Asking::new(&progress, &self.shared.agents(), &self.shared, &self.limits)
    }

    /// Asks with as much of the conversation as the model takes, and the agent may be given: at
    /// most so many tokens. What is old is summarised first; what does not fit then is left out.
    async fn hear<'a>(
        &'a self,
        mut asking: Asking<'a>,
        mut request: Request,
        most: Option<u64>,
    ) -> Result<Result<(), UserError>, UserError> {
        let mut meter = context::within(most, self.shared.provider().meter(&request));
        for _ in 0..MOST_FITS {
            let turn = asking.turn();
            if let Some(summary) = SummaryRequest::of(&self.shared, &request, meter.as_ref()) {
                summary.carry_out(&self.shared).await?;
                if let Some((again, shorter, _)) = self.asking() {
                    (asking, request) = (again, shorter);
                }
            }
            match context::fit(&request.messages, &request.tools, meter.as_ref()) {
                Ok(fitted) => {
                    request.messages = fitted.messages;
                    if let Some(trimmed) = fitted.trimmed {
                        self.shared.record(Event::Model(trimmed.into_event(turn)))?;
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
            let (limit, error) =
                match asking.listen(self.shared.provider().ask(request.clone())).await? {
                    Ok(AnswerEnd::All) => return Ok(Ok(())),
                    Ok(AnswerEnd::TooLong(limit, error)) => (limit, error),
                    Err(error) => return Ok(Err(error)),
                };
            let Some(smaller) = context::smaller(&request, meter.as_ref(), limit) else {
                return Ok(Err(error));
            };
            meter = Some(smaller);
            let Some((again, whole, _)) = self.asking() else { return Ok(Err(error)) };
            (asking, request) = (again, whole);
        }
        Ok(Err(UserError::new(
            "The conversation does not fit into the model",
            "its service refused it even after parts were left out",
            "Choose a model with a larger window, or tell the team to read fewer files.",
        )))
    }

    /// Ends an attempt: did it reach the phase's goal?
    fn judge(&self, why: String) -> Result<(), UserError> {
        let state = self.state.snapshot();
        self.shared.record_with(|progress| {
            let RunStep::Judge(_) = progress.next() else { return None };
            let (attempt, phase) = progress.running()?;
            let reached = match phase.goal {
                PhaseGoal::FilesSaved => {
                    attempt.facts.was_ok("approve_saved_files") || attempt.facts.files_saved()
                }
                PhaseGoal::Answered => attempt.facts.messages > 0,
                PhaseGoal::Planned => progress.has_plan(),
                PhaseGoal::RunsPassed => attempt.facts.messages > 0 && attempt.facts.runs_passed(),
                PhaseGoal::BoardStable => {
                    let built = state.last_build.as_ref().is_some_and(|b| b.is_fresh_success());
                    built && attempt.facts.is_stable()
                }
                PhaseGoal::TestsPassed => state.tests_passed(),
                PhaseGoal::BuildPassed => {
                    state.last_build.as_ref().is_some_and(|last| last.is_fresh_success())
                }
            };
            let outcome = if reached {
                PhaseOutcome::Succeeded(why)
            } else {
                PhaseOutcome::Failed(format!("{}; {why}", missed(phase.goal)))
            };
            let (phase, attempt) = (phase.name.clone(), attempt.number);
            Some(Event::Phase(PhaseEvent::Ended { phase, attempt, outcome }))
        })
    }
}

const fn missed(goal: PhaseGoal) -> &'static str {
    match goal {
        PhaseGoal::FilesSaved => "not every planned file was saved",
        PhaseGoal::BuildPassed => "no build of the current files passed",
        PhaseGoal::BoardStable => "the board did not run stably with the current files",
        PhaseGoal::TestsPassed => "the tests did not pass with the files as they are saved",
        PhaseGoal::Answered => "nobody answered",
        PhaseGoal::Planned => "no numbered list with at least two steps was written",
        PhaseGoal::RunsPassed => "what was run or saved last failed",
    }
}

/// Waits for `work`, but not longer than `left`; `None`: it was given up.
async fn within<T>(left: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match left {
        Some(left) => tokio::time::timeout(left, work).await.ok(),
        None => Some(work.await),
    }
}
