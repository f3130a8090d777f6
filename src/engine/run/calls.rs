//! Makes the calls of a turn: sees that they are allowed, runs their tools, brings their drafts
//! through the gate, and answers them.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::recorded_calls::RecordedCalls;
use super::secrets::{redact, secret_in};
use super::tool_run::{ToolRun, call_error};
use crate::engine::concern::OUT_OF_TIME;
use crate::engine::progress::lanes::{Lane, LaneId};
use crate::engine::progress::time_limits::time_left;
use crate::engine::setup::Toolbox;
use crate::gate::ProposalOrigin;
use crate::model::{
    AgentName, BuildEvent, BuildOutcome, CallId, Draft, DraftChange, Event, LogId, LogKind,
    PersonEvent, TestEvent, TestReport, ToolCall, TurnEvent, TurnId, UserError,
};
use crate::tools::{
    ASK, AskArgs, Caller, HAND_OFF, HandOffArgs, LastBuild, Reply, SharedState, Tool, ToolError,
};

/// Who wants a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CalledBy {
    /// That of the agent whose turn it is, in this phase.
    Agent(usize),
    /// The program's own, as the agent's file says.
    Program,
}

/// The calls of a run.
pub(super) struct Calls {
    pub run: ToolRun,
    pub tools: Toolbox,
    pub state: SharedState,
    /// Those from before a restart.
    pub recorded: RecordedCalls,
    /// Held while something is built.
    pub one_build: tokio::sync::Mutex<()>,
}

impl Calls {
    /// Makes the open call `id` of a chat and records its answer.
    pub async fn run_call(&self, lane: LaneId, id: CallId) -> Result<(), UserError> {
        let found = self.run.shared.progress().lane(lane).and_then(|(Lane { attempt, .. }, _)| {
            let turn = attempt.turn.as_ref()?;
            let call = turn.open_call().filter(|call| call.id == id)?;
            let (agent, tool) = (turn.agent.clone(), call.tool.clone());
            let origin = ProposalOrigin { turn: turn.id, call: id, agent, tool };
            let args = turn.listing.arguments(call);
            let by = match turn.work.stage.is_fixed() {
                true => CalledBy::Program,
                false => CalledBy::Agent(attempt.phase),
            };
            Some((origin, ToolCall { args, ..call.clone() }, by))
        });
        let Some((origin, call, by)) = found else { return Ok(()) };
        let started = Instant::now();
        let recorded = self.recorded.take(id);
        let mut result = match self.allowed(&origin, &call, by) {
            // Before all else: what was proposed and done does not depend on what the tool would
            // say now.
            allowed if !recorded.is_empty() => {
                let calls = (&self.run, lane);
                self.recorded.take_up(calls, allowed.ok(), origin, call.args, recorded).await?
            }
            Ok(_) if call.tool.as_str() == ASK => match AskArgs::read(&call.args) {
                Ok(asked) => return self.ask_person(lane, origin.agent, asked),
                Err(error) => error.to_answer(),
            },
            Ok(_) if call.tool.as_str() == HAND_OFF => self.hand_over(&origin.agent, &call.args),
            Ok(tool) => self.perform(&*tool, (lane, origin), call.args).await?,
            Err(error) => error.to_answer(),
        };
        let millis = millis_since(started);
        // A file may hold a key of the person: no model is told it, and no journal keeps it.
        redact(&*self.run.shared.provider(), &mut result);
        self.run.shared.record(Event::Turn(TurnEvent::ToolAnswered { call: id, result, millis }))
    }

    /// Puts an agent's question before the person; its call is answered with their words.
    fn ask_person(&self, lane: LaneId, agent: AgentName, asked: AskArgs) -> Result<(), UserError> {
        self.run.shared.record_with(|progress| {
            // One question at a time: another chat may have asked meanwhile.
            let is_first = progress.question().is_none();
            let (question, step) = (progress.next_question(), lane.step());
            let (text, options, agent) = (asked.question, asked.options, Some(agent));
            let asked = PersonEvent::Asked { question, agent, text, options, step };
            is_first.then_some(Event::Person(asked))
        })
    }

    /// Whether the agent that is to go on takes part.
    fn hand_over(&self, from: &AgentName, args: &Value) -> Value {
        let to = match HandOffArgs::read(args) {
            Ok(args) => args.agent,
            Err(error) => return error.to_answer(),
        };
        let progress = self.run.shared.progress();
        let known = progress.phase().map(|phase| phase.participants.as_slice());
        let others = known.unwrap_or_default().iter().filter(|agent| *agent != from);
        let others: Vec<&str> = others.map(AgentName::as_str).collect();
        if others.contains(&to.as_str()) || to == "person" {
            return json!({ "ok": true, "next": to });
        }
        let message = format!("no other agent here is called `{to}`");
        let hint = format!("Hand over to one of: {}.", others.join(", "));
        ToolError::new("bad_arguments", message, hint).to_answer()
    }

    fn allowed(
        &self,
        origin: &ProposalOrigin,
        call: &ToolCall,
        by: CalledBy,
    ) -> Result<Arc<dyn Tool>, ToolError> {
        let agents = self.run.shared.agents();
        let own = match by {
            CalledBy::Agent(phase) => agents.tools(phase, &origin.agent),
            CalledBy::Program => &[],
        };
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
        if by != CalledBy::Program && !own.iter().any(|spec| spec.name == call.tool) {
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
        (lane, origin): (LaneId, ProposalOrigin),
        args: Value,
    ) -> Result<Value, UserError> {
        // All agents share one build folder.
        let _alone = if tool.is_build() { Some(self.one_build.lock().await) } else { None };
        let started = Instant::now();
        let limit = self.run.limit(tool);
        let time_left = time_left(&self.run.shared.progress(), lane);
        let caller = self.caller(lane, origin.turn);
        let reply = self.run.bounded((limit, time_left), tool.call_for(&caller, args)).await;
        let millis = millis_since(started);
        self.run.shared.progress().worked(Some(lane), millis);
        let (mut drafts, finish) = match reply {
            Ok(Reply::Answer(answer)) => return Ok(answer),
            Ok(Reply::Propose { drafts, finish }) => (drafts, finish),
            Err(error) => {
                if error.code == OUT_OF_TIME {
                    self.end_build(millis)?;
                    self.end_tests(origin.turn, millis)?;
                }
                return Ok(error.to_answer());
            }
        };
        self.base_on_what_was_known(&caller, &mut drafts)?;
        if let Err(error) = self.run.gate.admit(&drafts) {
            return Ok(ToolError::from_user_error("refused", &error).to_answer());
        }
        if let Some(error) = secret_in(&*self.run.shared.provider(), &drafts) {
            return Ok(error.to_answer());
        }
        // Not bounded and not raced against a stop: the person may think as long as they like,
        // and stopping closes the gate, which then answers at once.
        let settlements = self.run.gate.submit(&origin, drafts).await.map_err(call_error)?;
        self.run.answer(limit, finish, settlements).await
    }

    /// Who calls, for tools that keep something apart for each of several chats.
    fn caller(&self, lane: LaneId, turn: TurnId) -> Caller {
        let progress = self.run.shared.progress();
        let is_one_of_several = progress.phase().is_some_and(|phase| phase.steps.parallel > 1);
        Caller { turn, step: lane.step().filter(|_| is_one_of_several) }
    }

    /// A file that another chat has changed meanwhile is proposed on top of what this one knew: the
    /// gate merges both, or says where they meet.
    fn base_on_what_was_known(
        &self,
        caller: &Caller,
        drafts: &mut [Draft],
    ) -> Result<(), UserError> {
        let Some(step) = caller.step else { return Ok(()) };
        for Draft { change, reason, .. } in drafts {
            let DraftChange::Save { path, base, .. } = change else { continue };
            let Some(known) = self.state.known_before(step, path) else { continue };
            *base = match known {
                Some(blob) => Some(self.run.gate.contents().blob(&blob.hash)?.to_vec()),
                None => None,
            };
            if !reason.is_empty() {
                reason.push('\n');
            }
            reason.push_str("Another step of the plan has changed this file meanwhile.");
        }
        Ok(())
    }

    /// Records the end of tests of a turn that is no longer waited for, if there are some.
    fn end_tests(&self, turn: TurnId, millis: u64) -> Result<(), UserError> {
        let Some(run) = self.state.open_test_run(turn) else { return Ok(()) };
        let stopped = "the time that the run may take was over".to_owned();
        let report = Box::new(TestReport { stopped, millis, ..TestReport::default() });
        self.run.shared.record(Event::Test(TestEvent::Ended { run, report }))
    }

    /// Records the end of a build that nobody waits for now, if there is one.
    fn end_build(&self, millis: u64) -> Result<(), UserError> {
        let open = self.state.snapshot().last_build.filter(|last| last.outcome.is_none());
        let Some(LastBuild { build, .. }) = open else { return Ok(()) };
        self.run.shared.ledger.flush_log(LogId { kind: LogKind::Build, number: build.0 })?;
        let outcome = BuildOutcome::Cancelled;
        let diagnostics = Vec::new();
        self.run.shared.record(Event::Build(BuildEvent::Ended {
            build,
            outcome,
            diagnostics,
            millis,
            size: None,
        }))
    }
}

/// Milliseconds since `started`.
pub(super) fn millis_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
