//! Carries out what comes next, one step after the other, until the run is over.
//!
//! What comes next is [`Progress`]'s to say; this file only does it and records what happened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::attempt::Answered;
use super::concern::not_run;
use super::context;
use super::handle::{EngineSetup, Limits, Toolbox};
use super::intents::Counter;
use super::outside::Lookout;
use super::seat::Seats;
use super::shared::Shared;
use super::step::Step;
use super::turn::{Asking, Heard};
use crate::gate::{Desk, Gate, GateError, Origin, Recorded};
use crate::model::event::Level;
use crate::model::{
    AgentName, CallId, ContextFile, Event, PhaseOutcome, ProjectPath, SessionOutcome, TeamFact,
    ToolCall, TurnStop, UserError, estimated_tokens,
};
use crate::provider::Request;
use crate::tools::{
    ASK, AskArgs, HAND_OFF, HandOffArgs, PhaseGoal, Reply, SharedState, Tool, ToolError,
};
use crate::workspace::Sandbox;

/// How long a tool may take to end once the run is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// How often a conversation is made shorter for a model that refuses it.
const MOST_FITS: u32 = 4;

/// Runs a team.
pub(super) struct Runner {
    shared: Arc<Shared>,
    gate: Arc<Gate>,
    tools: Toolbox,
    seats: Arc<Seats>,
    state: SharedState,
    project: Arc<Sandbox>,
    limits: Limits,
    /// Proposals from before a restart whose calls have no answer yet.
    recorded: Mutex<BTreeMap<CallId, Vec<Recorded>>>,
}

impl Runner {
    pub fn new(
        setup: EngineSetup,
        shared: Arc<Shared>,
        recorded: BTreeMap<CallId, Vec<Recorded>>,
    ) -> Self {
        Self {
            shared,
            gate: setup.gate,
            seats: Arc::new(Seats::new(&setup.team, &setup.tools)),
            tools: setup.tools,
            state: setup.state,
            project: setup.project,
            limits: setup.limits,
            recorded: Mutex::new(recorded),
        }
    }

    /// Records what others change in the project, as long as it is kept.
    pub fn lookout(&self) -> Lookout {
        let shared = Arc::downgrade(&self.shared);
        Lookout::begin(shared, Arc::clone(&self.project), self.state.clone())
    }

    /// What the clerk works with beside the run.
    pub fn counter(&self, desk: Desk) -> Counter {
        Counter {
            shared: Arc::clone(&self.shared),
            desk,
            gate: Arc::clone(&self.gate),
            ledger: Arc::clone(&self.shared.ledger),
            seats: Arc::clone(&self.seats),
            answer_bytes: self.limits.answer_bytes,
        }
    }

    /// Records the list of the project's files.
    pub fn list_project(&self) -> Result<(), UserError> {
        self.shared.record(self.project.list(self.limits.listed_files).into_event())
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
        let Some(turn) = turn.filter(super::attempt::Turn::is_cut_off) else { return Ok(()) };
        self.answer_open_calls("interrupted", "the program ended before the model was done")?;
        self.shared.record(Event::TurnEnded { turn: turn.id, stop: TurnStop::Interrupted })
    }

    /// Answers the calls of a model answer that did not come to its end; none of them is made.
    pub fn answer_open_calls(&self, code: &str, why: &str) -> Result<(), UserError> {
        let turn = self.shared.progress().running().and_then(|(attempt, _)| attempt.turn.clone());
        let calls = turn.map(|turn| turn.calls).unwrap_or_default();
        for (call, _) in calls.iter().filter(|(_, answered)| *answered == Answered::No) {
            let result = not_run(code, why);
            self.shared.record(Event::ToolAnswered { call: call.id, result, millis: 0 })?;
        }
        Ok(())
    }

    /// Runs until the end.
    pub async fn run(self) -> Result<SessionOutcome, UserError> {
        loop {
            let step = self.shared.progress().next();
            match step {
                Step::Wait => self.shared.changed.notified().await,
                Step::Record(event) => self.step(event)?,
                Step::AskModel => self.ask_model().await?,
                Step::RunCall(call) => self.run_call(call).await?,
                Step::ListContext(call) => self.list_context(call)?,
                Step::Judge(why) => self.judge(why)?,
                Step::Finish(outcome) => return Ok(outcome),
            }
        }
    }

    /// Records a step, unless a wish of the person has changed what comes next meanwhile.
    fn step(&self, event: Event) -> Result<(), UserError> {
        let cut = match &event {
            Event::TurnEnded { .. } => self.shared.progress().cut(),
            _ => None,
        };
        if let Some(why) = cut {
            let fix = "Raise `budget.turn` or `budget.phase` if its agents need more.";
            self.shared.notice(Level::Warning, UserError::new("The turn was ended", why, fix))?;
        }
        let is_phase = matches!(event, Event::PhaseStarted { .. });
        // What was approved is known from its own records; this takes in what others changed.
        if is_phase {
            self.list_project()?;
        }
        self.shared.record_with(|progress| {
            let is_still_next = matches!(progress.next(), Step::Record(next) if next == event);
            is_still_next.then_some(event)
        })?;
        if is_phase {
            self.restore_goal();
        }
        Ok(())
    }

    async fn ask_model(&self) -> Result<(), UserError> {
        // Models and tools that never wait must not keep the person's wishes waiting.
        tokio::task::yield_now().await;
        let started = Instant::now();
        let asking = {
            let progress = self.shared.progress();
            Asking::new(&progress, &self.seats, &self.shared, &self.limits)
        };
        let Some((asking, request, most)) = asking else { return Ok(()) };
        let turn = asking.turn();
        let heard = self.hear(asking, request, most).await?;
        self.shared.progress().worked(millis_since(started));
        let Err(error) = heard else { return Ok(()) };
        self.answer_open_calls("interrupted", "the model's answer broke off")?;
        self.shared.notice(Level::Error, error.clone())?;
        self.shared.record(Event::TurnEnded { turn, stop: TurnStop::Failed(error) })
    }

    /// Asks with as much of the conversation as the model takes, and the agent may be given: at
    /// most so many tokens.
    async fn hear(
        &self,
        mut asking: Asking<'_>,
        mut request: Request,
        most: Option<u64>,
    ) -> Result<Result<(), UserError>, UserError> {
        let whole = Arc::clone(&request.messages);
        let mut meter = context::within(most, self.shared.provider.meter(&request));
        for _ in 0..MOST_FITS {
            let turn = asking.turn();
            match context::fit(&whole, &request.tools, meter.as_ref()) {
                Ok(fitted) => {
                    request.messages = fitted.messages;
                    if let Some(trimmed) = fitted.trimmed {
                        self.shared.record(Event::Model(trimmed.into_event(turn)))?;
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
            let (limit, error) =
                match asking.listen(self.shared.provider.ask(request.clone())).await? {
                    Ok(Heard::All) => return Ok(Ok(())),
                    Ok(Heard::TooLong(limit, error)) => (limit, error),
                    Err(error) => return Ok(Err(error)),
                };
            let Some(smaller) = context::smaller(&request, meter.as_ref(), limit) else {
                return Ok(Err(error));
            };
            meter = Some(smaller);
            let progress = self.shared.progress();
            let again = Asking::new(&progress, &self.seats, &self.shared, &self.limits);
            let Some((again, ..)) = again else { return Ok(Err(error)) };
            asking = again;
        }
        Ok(Err(UserError::new(
            "The conversation does not fit into the model",
            "its service refused it however much was left out",
            "Choose a model with a larger window, or tell the team to read fewer files.",
        )))
    }

    async fn run_call(&self, id: CallId) -> Result<(), UserError> {
        let found = self.shared.progress().running().and_then(|(attempt, _)| {
            let turn = attempt.turn.as_ref()?;
            let call = turn.open_call().filter(|call| call.id == id)?;
            let (agent, tool) = (turn.agent.clone(), call.tool.clone());
            let origin = Origin { turn: turn.id, call: id, agent, tool };
            let args = turn.listing.arguments(call);
            Some((origin, ToolCall { args, ..call.clone() }, attempt.phase))
        });
        let Some((origin, call, phase)) = found else { return Ok(()) };
        let started = Instant::now();
        let result = match self.allowed(&origin, &call, phase) {
            Ok(_) if call.tool.as_str() == ASK => match AskArgs::read(&call.args) {
                Ok(asked) => return self.ask_person(origin.agent, asked),
                Err(error) => error.to_answer(),
            },
            Ok(_) if call.tool.as_str() == HAND_OFF => self.hand_over(&origin.agent, &call.args),
            Ok(tool) => self.perform(&*tool, origin, call.args).await?,
            Err(error) => error.to_answer(),
        };
        let millis = millis_since(started);
        self.shared.record(Event::ToolAnswered { call: id, result, millis })
    }

    /// Puts an agent's question before the person; its call is answered with their words.
    fn ask_person(&self, agent: AgentName, asked: AskArgs) -> Result<(), UserError> {
        self.shared.record_with(|progress| {
            let question = progress.next_question();
            let (text, options) = (asked.question, asked.options);
            Some(Event::Asked { question, agent: Some(agent), text, options })
        })
    }

    /// Whether the agent that is to go on takes part.
    fn hand_over(&self, from: &AgentName, args: &Value) -> Value {
        let to = match HandOffArgs::read(args) {
            Ok(args) => args.agent,
            Err(error) => return error.to_answer(),
        };
        let progress = self.shared.progress();
        let known = progress.running().map(|(_, phase)| phase.participants.as_slice());
        let others = known.unwrap_or_default().iter().filter(|agent| *agent != from);
        let others: Vec<&str> = others.map(AgentName::as_str).collect();
        if others.contains(&to.as_str()) || to == "person" {
            return json!({ "ok": true, "next": to });
        }
        let message = format!("nobody here but you is called `{to}`");
        let hint = format!("Hand over to one of: {}.", others.join(", "));
        ToolError::new("bad_arguments", message, hint).to_answer()
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
        self.shared.record(Event::Team(TeamFact::ContextListed { call, files }))
    }

    fn allowed(
        &self,
        origin: &Origin,
        call: &ToolCall,
        phase: usize,
    ) -> Result<Arc<dyn Tool>, ToolError> {
        let own = self.seats.tools(phase, &origin.agent);
        let names: Vec<&str> = own.iter().map(|spec| spec.name.as_str()).collect();
        let hint = if names.is_empty() {
            "You have no tools; answer in words.".to_owned()
        } else {
            format!("Your tools are: {}.", names.join(", "))
        };
        let Some(tool) = self.tools.get(&call.tool) else {
            let message = format!("there is no tool `{}`", call.tool);
            return Err(ToolError::new("unknown_tool", message, hint));
        };
        if !own.iter().any(|spec| spec.name == call.tool) {
            let message = format!("{} may not call `{}`", origin.agent, call.tool);
            return Err(ToolError::new("tool_not_allowed", message, hint));
        }
        if !call.args.is_object() {
            let message = match &call.args {
                Value::String(text) => match crate::text::recover::structured(text) {
                    Err(error) => error.to_string(),
                    Ok(_) => "the arguments are no JSON object".to_owned(),
                },
                _ => "the arguments are no JSON object".to_owned(),
            };
            let hint = "Call the tool again with one JSON object that fits its schema.";
            return Err(ToolError::new("malformed_arguments", message, hint));
        }
        Ok(Arc::clone(tool))
    }

    /// Makes a call: runs the tool, brings its drafts through the gate, lets it make its answer.
    async fn perform(
        &self,
        tool: &dyn Tool,
        origin: Origin,
        args: Value,
    ) -> Result<Value, UserError> {
        let started = Instant::now();
        let limit = tool.timeout();
        let reply = self.bounded(limit, tool.call(args)).await;
        self.shared.progress().worked(millis_since(started));
        let (drafts, finish) = match reply {
            Ok(Reply::Answer(answer)) => return Ok(answer),
            Ok(Reply::Propose { drafts, finish }) => (drafts, finish),
            Err(error) => return Ok(error.to_answer()),
        };
        let recorded = {
            let mut all = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
            all.remove(&origin.call).unwrap_or_default()
        };
        // Not bounded and not raced against a stop: the person may think as long as they like,
        // and stopping closes the gate, which then answers at once.
        let settled = if recorded.is_empty() {
            self.gate.submit(&origin, drafts).await
        } else {
            self.gate.resubmit(&origin, recorded, drafts).await
        };
        let settlements = settled.map_err(left)?;
        let review = self.gate.take_feedback(&settlements);
        let answer = self.bounded(limit, finish(settlements)).await;
        let mut answer = answer.unwrap_or_else(|error| error.to_answer());
        // What the person did and said beside yes or no is told with the same answer, whatever
        // the tool makes of the outcomes.
        if let (Some(answer), false) = (answer.as_object_mut(), review.is_empty()) {
            answer.insert("review".to_owned(), Value::Array(review));
        }
        Ok(answer)
    }

    /// Waits for a tool, but no longer than it may take, and hardly longer than the run goes on.
    async fn bounded<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let mut work = std::pin::pin!(tokio::time::timeout(limit, work));
        let done = tokio::select! {
            biased;
            done = &mut work => Some(done),
            // The tool holds the same token and ends by itself, with an orderly answer.
            () = self.shared.stop.cancelled() => tokio::time::timeout(GRACE, work).await.ok(),
        };
        match done {
            Some(Ok(result)) => result,
            Some(Err(_)) => {
                let message = format!("no answer within {} seconds", limit.as_secs());
                Err(ToolError::new("timeout", message, "Ask for less at once."))
            }
            None => Err(ToolError::new("stopped", "the person stopped the run", "")),
        }
    }

    /// Ends an attempt: did it reach the phase's goal?
    fn judge(&self, why: String) -> Result<(), UserError> {
        let state = self.state.snapshot();
        self.shared.record_with(|progress| {
            let Step::Judge(_) = progress.next() else { return None };
            let (attempt, phase) = progress.running()?;
            let reached = match phase.goal {
                PhaseGoal::FilesSaved => {
                    attempt.facts.was_ok("approve_saved_files") || attempt.facts.files_saved()
                }
                PhaseGoal::Answered => attempt.facts.messages > 0,
                PhaseGoal::BoardStable => {
                    let built = state.last_build.as_ref().is_some_and(|b| b.is_fresh_success());
                    built && attempt.facts.is_stable()
                }
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
            Some(Event::PhaseEnded { phase, attempt, outcome })
        })
    }
}

const fn missed(goal: PhaseGoal) -> &'static str {
    match goal {
        PhaseGoal::FilesSaved => "not every planned file was saved",
        PhaseGoal::BuildPassed => "no build of the present files passed",
        PhaseGoal::BoardStable => "the board was not seen to run stably with the present files",
        PhaseGoal::Answered => "nobody answered",
    }
}

fn left(error: GateError) -> UserError {
    match error {
        GateError::Record(error) => error,
        GateError::Detached => UserError::new(
            "The run was left",
            "proposals still wait for a decision",
            "Go on with `firmhand resume`.",
        ),
    }
}

fn millis_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
