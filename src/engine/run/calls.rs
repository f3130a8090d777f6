//! Makes the calls of a turn: sees that they are allowed, runs their tools, brings their drafts
//! through the gate, and answers them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Runner, millis_since};
use crate::engine::concern::OUT_OF_TIME;
use crate::gate::{GateError, Origin};
use crate::model::{
    AgentName, BuildEvent, BuildOutcome, CallId, ContextFile, Event, LogId, LogKind, PersonEvent,
    ProjectPath, Settlement, TeamEvent, ToolCall, TurnEvent, UserError, estimated_tokens,
};
use crate::tools::{
    ASK, AskArgs, Finish, HAND_OFF, HandOffArgs, LastBuild, Reply, Tool, ToolError,
};

/// How long a tool may take to end once the run is stopped.
const GRACE: Duration = Duration::from_secs(5);

impl Runner {
    pub(super) async fn run_call(&self, id: CallId) -> Result<(), UserError> {
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
        let recorded = self.recorded_of(id);
        let mut result = match self.allowed(&origin, &call, phase) {
            // Before all else: what was proposed and done does not depend on what the tool would
            // say now.
            allowed if !recorded.is_empty() => {
                self.take_up(allowed.ok(), origin, call.args, recorded).await?
            }
            Ok(_) if call.tool.as_str() == ASK => match AskArgs::read(&call.args) {
                Ok(asked) => return self.ask_person(origin.agent, asked),
                Err(error) => error.to_answer(),
            },
            Ok(_) if call.tool.as_str() == HAND_OFF => self.hand_over(&origin.agent, &call.args),
            Ok(tool) => self.perform(&*tool, origin, call.args).await?,
            Err(error) => error.to_answer(),
        };
        let millis = millis_since(started);
        // A file may hold a key of the person: no model is told it, and no journal keeps it.
        self.redact(&mut result);
        self.shared.record(Event::Turn(TurnEvent::ToolAnswered { call: id, result, millis }))
    }

    /// Puts an agent's question before the person; its call is answered with their words.
    fn ask_person(&self, agent: AgentName, asked: AskArgs) -> Result<(), UserError> {
        self.shared.record_with(|progress| {
            let question = progress.next_question();
            let (text, options) = (asked.question, asked.options);
            Some(Event::Person(PersonEvent::Asked { question, agent: Some(agent), text, options }))
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
        let message = format!("no other agent here is called `{to}`");
        let hint = format!("Hand over to one of: {}.", others.join(", "));
        ToolError::new("bad_arguments", message, hint).to_answer()
    }

    /// Records what the open call is about to read, with sizes.
    pub(super) fn list_context(&self, call: CallId) -> Result<(), UserError> {
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
                    Ok(_) => "the arguments are not a JSON object".to_owned(),
                },
                _ => "the arguments are not a JSON object".to_owned(),
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
        let time_left = self.shared.progress().time_left();
        let reply = self.bounded((limit, time_left), tool.call(args)).await;
        let millis = millis_since(started);
        self.shared.progress().worked(millis);
        let (drafts, finish) = match reply {
            Ok(Reply::Answer(answer)) => return Ok(answer),
            Ok(Reply::Propose { drafts, finish }) => (drafts, finish),
            Err(error) => {
                if error.code == OUT_OF_TIME {
                    self.end_build(millis)?;
                }
                return Ok(error.to_answer());
            }
        };
        if let Err(error) = self.gate.admit(&drafts) {
            return Ok(ToolError::from_user_error("refused", &error).to_answer());
        }
        if let Some(error) = self.secret_in(&drafts) {
            return Ok(error.to_answer());
        }
        // Not bounded and not raced against a stop: the person may think as long as they like,
        // and stopping closes the gate, which then answers at once.
        let settlements = self.gate.submit(&origin, drafts).await.map_err(call_error)?;
        self.answer(limit, finish, settlements).await
    }

    /// Lets a tool make its answer of what became of its drafts.
    pub(super) async fn answer(
        &self,
        limit: Duration,
        finish: Finish,
        settlements: Vec<Settlement>,
    ) -> Result<Value, UserError> {
        let review = self.gate.take_feedback(&settlements);
        // What was decided is done by now, and its answer must not be lost for want of time.
        let answer = self.bounded((limit, None), finish(settlements)).await;
        let mut answer = answer.unwrap_or_else(|error| error.to_answer());
        // What the person did and said beside yes or no is told with the same answer, whatever
        // the tool makes of the outcomes.
        if let (Some(answer), false) = (answer.as_object_mut(), review.is_empty()) {
            answer.insert("review".to_owned(), Value::Array(review));
        }
        Ok(answer)
    }

    /// Records the end of a build that nobody waits for any more, if there is one.
    fn end_build(&self, millis: u64) -> Result<(), UserError> {
        let open = self.state.snapshot().last_build.filter(|last| last.outcome.is_none());
        let Some(LastBuild { build, .. }) = open else { return Ok(()) };
        self.shared.ledger.flush_log(LogId { kind: LogKind::Build, number: build.0 })?;
        let outcome = BuildOutcome::Cancelled;
        let diagnostics = Vec::new();
        self.shared.record(Event::Build(BuildEvent::Ended {
            build,
            outcome,
            diagnostics,
            millis,
            size: None,
        }))
    }

    /// Waits for a tool, but no longer than it may take and than there is time `left`, and hardly
    /// longer than the run goes on.
    pub(super) async fn bounded<T>(
        &self,
        (limit, left): (Duration, Option<Duration>),
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let until = left.map_or(limit, |left| left.min(limit));
        let mut work = std::pin::pin!(tokio::time::timeout(until, work));
        let done = tokio::select! {
            biased;
            done = &mut work => Some(done),
            // The tool holds the same token and ends by itself, with an orderly answer.
            () = self.shared.stop.cancelled() => tokio::time::timeout(GRACE, work).await.ok(),
        };
        match done {
            Some(Ok(result)) => result,
            Some(Err(_)) if until < limit => {
                let message = "the time that the session, the phase or the turn may take is over";
                Err(ToolError::new(OUT_OF_TIME, message, ""))
            }
            Some(Err(_)) => {
                let message = format!("no answer within {} seconds", limit.as_secs());
                Err(ToolError::new("timeout", message, "Ask for less in one call."))
            }
            None => Err(ToolError::new("stopped", "the person stopped the run", "")),
        }
    }
}

pub(super) fn call_error(error: GateError) -> UserError {
    match error {
        GateError::Record(error) => error,
        GateError::Detached => UserError::new(
            "The run was closed",
            "proposals still wait for a decision",
            "Continue with `firmhand resume`.",
        ),
    }
}
