//! Carries out what comes next, one step after the other, until the run is over.
//!
//! What comes next is [`RunProgress`](crate::engine::progress::RunProgress)'s to say; this file
//! only does it and records what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};

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
use super::unread::ReadMessages;
use crate::engine::attempt::Answered;
use crate::engine::concern::{OUT_OF_TIME, not_run};
use crate::engine::progress::lanes::{Lane, LaneId};
use crate::engine::progress::step::RunStep;
use crate::engine::progress::{RunProgress, next, time_limits};
use crate::engine::setup::{EngineLimits, EngineSetup, NextRuns};
use crate::engine::team::{ContextPart, Phase};
use crate::gate::{ApprovalQueue, Gate, Recorded, WorkTime};
use crate::model::event::Level;
use crate::model::{
    CallId, ContextFile, Event, FilesEvent, PhaseEvent, PhaseOutcome, ProjectPath, SessionEvent,
    SessionOutcome, TeamEvent, TurnEvent, TurnId, TurnStop, UserError, estimated_tokens,
};
use crate::provider::Request;
use crate::tools::{PhaseGoal, SharedState};
use crate::workspace::ProjectDir;

/// How often a conversation is made shorter for a model that refuses it.
const MOST_FITS: u32 = 4;

/// Longest time that models and tools which never wait keep the person's wishes waiting.
const BREATH: Duration = Duration::from_millis(20);

/// What takes time, by the chat that waits for it.
type UnderWay<'a> = FuturesUnordered<BoxFuture<'a, (LaneId, Result<(), UserError>)>>;

/// Runs a team.
pub(in crate::engine) struct Runner {
    shared: Arc<Shared>,
    gate: Arc<Gate>,
    state: SharedState,
    project: Arc<ProjectDir>,
    limits: EngineLimits,
    next_runs: Arc<dyn NextRuns>,
    /// How to get the model that the session began with.
    began_with: String,
    calls: Calls,
    gave_way: Mutex<Instant>,
    read: ReadMessages,
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
            one_build: tokio::sync::Mutex::default(),
        };
        let read = ReadMessages::of(&shared.progress());
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
            read,
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
        if let Some(phase) = self.shared.progress().phase() {
            self.state.set_goal(phase.goal);
        }
    }

    /// Closes turns whose models had begun to answer when the program ended; they are taken again.
    pub fn close_interrupted(&self) -> Result<(), UserError> {
        let cut_off: Vec<(LaneId, TurnId)> = {
            let progress = self.shared.progress();
            let turns = progress.lanes().filter_map(|(id, lane, _)| {
                let turn = lane.attempt.turn.as_ref().filter(|turn| turn.is_cut_off())?;
                Some((id, turn.id))
            });
            turns.collect()
        };
        for (lane, turn) in cut_off {
            let why = "the program ended before the model had finished";
            self.answer_open_calls(lane, "interrupted", why)?;
            let stop = TurnStop::Interrupted;
            self.shared.record(Event::Turn(TurnEvent::Ended { turn, stop }))?;
        }
        Ok(())
    }

    /// Answers the calls of a model answer that did not come to its end; none of them is made.
    fn answer_open_calls(&self, lane: LaneId, code: &str, why: &str) -> Result<(), UserError> {
        let turn = self.shared.progress().lane(lane).and_then(|(it, _)| it.attempt.turn.clone());
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

    /// Runs until the end of the present run. What takes time goes on side by side, one thing in each
    /// open chat; everything else is one step after the other.
    pub async fn run(&self) -> Result<SessionOutcome, UserError> {
        let mut under_way: UnderWay<'_> = FuturesUnordered::new();
        let mut busy = BTreeSet::new();
        loop {
            let (step, is_stopping, is_all_busy) = {
                let progress = self.shared.progress();
                let is_all_busy = progress.lanes().all(|(id, ..)| busy.contains(&id));
                (next(&progress, &busy), progress.is_stopping(), is_all_busy)
            };
            if is_stopping {
                self.calls.recorded.settle(&self.gate).await?;
            }
            match step {
                // What is under way in every chat comes to its end before anything else happens.
                RunStep::Wait => tokio::select! {
                    biased;
                    Some((lane, done)) = under_way.next(), if !busy.is_empty() => {
                        busy.remove(&lane);
                        done?;
                    }
                    () = self.shared.changed.notified(), if busy.is_empty() || !is_all_busy => {}
                },
                RunStep::Record(event) => self.step(event, &busy)?,
                RunStep::AskModel(lane) => {
                    busy.insert(lane);
                    under_way.push(self.ask_model(lane).map(move |done| (lane, done)).boxed());
                }
                RunStep::RunCall(lane, call) => {
                    busy.insert(lane);
                    let calls = self.calls.run_call(lane, call);
                    under_way.push(calls.map(move |done| (lane, done)).boxed());
                }
                RunStep::ListContext(call) => self.list_context(call)?,
                RunStep::Judge(lane, why) => self.judge(lane, why)?,
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

    /// Records a step, unless a wish of the person or another chat has changed what comes next
    /// meanwhile.
    fn step(&self, event: Event, busy: &BTreeSet<LaneId>) -> Result<(), UserError> {
        let cut = match &event {
            Event::Turn(TurnEvent::Ended { turn, .. }) => {
                let progress = self.shared.progress();
                progress.lane_of_turn(*turn).and_then(|lane| time_limits::cut(&progress, lane))
            }
            _ => None,
        };
        if let Some(why) = cut {
            let fix = "Raise `budget.turn` or `budget.phase` if its agents need more.";
            self.shared.notice(Level::Warning, UserError::new("The turn was stopped", why, fix))?;
        }
        if matches!(event, Event::Session(SessionEvent::Ended { .. })) {
            self.tell_unread()?;
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
            let next = next(progress, busy);
            let is_still_next = matches!(next, RunStep::Record(next) if next == event);
            is_still_next.then_some(event)
        })?;
        if phase.is_some() {
            self.restore_goal();
        }
        Ok(())
    }

    fn tell_unread(&self) -> Result<(), UserError> {
        let unread = self.read.at_end(&self.shared.progress());
        unread.map_or(Ok(()), |unread| self.shared.notice(Level::Warning, unread))
    }

    async fn ask_model(&self, lane: LaneId) -> Result<(), UserError> {
        self.give_way().await;
        let started = Instant::now();
        let Some((asking, request, most)) = self.asking(lane) else { return Ok(()) };
        let turn = asking.turn();
        let left = time_limits::time_left(&self.shared.progress(), lane);
        let received = within(left, self.hear(lane, asking, request, most)).await;
        self.shared.progress().worked(Some(lane), millis_since(started));
        let Some(received) = received else { return self.cut_off(lane, turn) };
        let Err(error) = received? else { return Ok(()) };
        self.answer_open_calls(lane, "interrupted", "the model's answer was interrupted")?;
        self.shared.notice(Level::Error, error.clone())?;
        self.shared.record(Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Failed(error) }))
    }

    /// Ends a turn in the middle of its model's answer, because a time is over.
    fn cut_off(&self, lane: LaneId, turn: TurnId) -> Result<(), UserError> {
        let (why, stop) = time_limits::time_over(&self.shared.progress(), lane);
        self.answer_open_calls(lane, OUT_OF_TIME, &why)?;
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

    /// The request of the open turn of a chat as it is now.
    fn asking(&self, lane: LaneId) -> Option<(Asking<'_>, Request, Option<u64>)> {
        let progress = self.shared.progress();
        self.read.all(&progress);
        Asking::new((&progress, lane), &self.shared.agents(), &self.shared, &self.limits)
    }

    /// Asks with as much of the conversation as the model takes, and the agent may be given: at
    /// most so many tokens. What is old is summarised first; what does not fit then is left out.
    async fn hear<'a>(
        &'a self,
        lane: LaneId,
        mut asking: Asking<'a>,
        mut request: Request,
        most: Option<u64>,
    ) -> Result<Result<(), UserError>, UserError> {
        let mut meter = context::within(most, self.shared.provider().meter(&request));
        for _ in 0..MOST_FITS {
            let turn = asking.turn();
            if let Some(summary) =
                SummaryRequest::of((&self.shared, lane), &request, meter.as_ref())
            {
                summary.carry_out((&self.shared, lane)).await?;
                if let Some((again, shorter, _)) = self.asking(lane) {
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
            let Some((again, whole, _)) = self.asking(lane) else { return Ok(Err(error)) };
            (asking, request) = (again, whole);
        }
        Ok(Err(UserError::new(
            "The conversation does not fit into the model",
            "its service refused it even after parts were left out",
            "Choose a model with a larger window, or tell the team to read fewer files.",
        )))
    }

    /// Ends an attempt: did it reach the phase's goal?
    fn judge(&self, lane: LaneId, why: String) -> Result<(), UserError> {
        let state = self.state.snapshot();
        let busy = |progress: &RunProgress| {
            let others = progress.lanes().map(|(id, ..)| id).filter(|id| *id != lane);
            others.collect::<BTreeSet<_>>()
        };
        self.shared.record_with(|progress| {
            let RunStep::Judge(..) = next(progress, &busy(progress)) else { return None };
            let (Lane { attempt, .. }, phase) = progress.lane(lane)?;
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
            let left = match phase.goal {
                PhaseGoal::RunsPassed => attempt.unsaved_files(),
                _ => Vec::new(),
            };
            let outcome = if !left.is_empty() {
                let left = left.join(", ");
                PhaseOutcome::Failed(format!("written and not handed in: {left}; {why}"))
            } else if reached {
                PhaseOutcome::Succeeded(why)
            } else if phase.goal == PhaseGoal::RunsPassed && !attempt.facts.has_results() {
                PhaseOutcome::Failed(format!("nothing was run and no file was saved; {why}"))
            } else {
                PhaseOutcome::Failed(format!("{}; {why}", missed(phase.goal)))
            };
            let (phase, attempt, step) = (phase.name.clone(), attempt.number, lane.step());
            Some(Event::Phase(PhaseEvent::Ended { phase, attempt, outcome, step }))
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
