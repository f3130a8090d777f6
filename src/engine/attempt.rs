//! One attempt of a phase: its chat, whose turn it is, and what comes next in it.
//!
//! A fold of the run's own events; the same fold serves the live run and a resumed one.

use std::collections::VecDeque;

use serde_json::Value;

use super::chat::Chat;
use super::condition::{Answer, Facts};
use super::guard::Guard;
use super::progress::Concern;
use super::select::{Assignment, Plan, shortened};
use super::team::{Phase, Selection};
use crate::model::{AgentName, CallId, ToolCall, ToolName, TurnId, TurnStop, Usage};

/// How often a planner may name nobody, or an agent may call wrongly, before the person is asked.
const PATIENCE: u32 = 3;

/// Words of tool errors that mean the model called wrongly, so that it has to call again.
pub(super) const WRONG_CALLS: [&str; 4] =
    ["bad_arguments", "malformed_arguments", "unknown_tool", "tool_not_allowed"];

/// The tool whose files must not be the same twice in a row.
const SAVING_TOOL: &str = "generate_code";

/// What comes next within an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Move {
    /// The next speaker is to be named.
    Choose(AgentName, String),
    /// The one who was named begins.
    Begin(AgentName),
    /// The model of the open turn is asked.
    AskModel,
    /// A call of the open turn is made.
    RunCall(CallId),
    /// The open turn is over.
    EndTurn(TurnStop),
    /// The attempt is over; the words say why.
    End(String),
}

/// A turn that is under way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    /// Its number.
    pub id: TurnId,
    /// Who speaks.
    pub agent: AgentName,
    /// What the model call under way, or the last complete one, said.
    pub text: String,
    /// The tool calls of that model call; the answered ones have `true`.
    pub calls: Vec<(ToolCall, Answered)>,
    is_complete: bool,
    rounds: u32,
    wrong_calls: u32,
}

/// Whether a call has its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answered {
    No,
    Yes,
}

impl Turn {
    fn new(id: TurnId, agent: AgentName) -> Self {
        let (text, calls) = (String::new(), Vec::new());
        Self { id, agent, text, calls, is_complete: false, rounds: 0, wrong_calls: 0 }
    }

    /// The first call without an answer.
    pub fn open_call(&self) -> Option<&ToolCall> {
        self.calls.iter().find(|(_, answered)| *answered == Answered::No).map(|(call, _)| call)
    }

    /// Whether a model call had begun to answer and did not come to its end.
    pub fn is_cut_off(&self) -> bool {
        !self.is_complete && (!self.text.is_empty() || !self.calls.is_empty())
    }
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Attempt {
    /// Place of its phase in the team.
    pub phase: usize,
    /// From 1.
    pub number: u32,
    /// What its conditions look at.
    pub facts: Facts,
    /// Its chat.
    pub chat: Chat,
    /// The turn under way.
    pub turn: Option<Turn>,
    queue: VecDeque<Assignment>,
    last: Option<AgentName>,
    speaker: Option<AgentName>,
    /// How often the planner named nobody in a row.
    nameless: u32,
    ended_by: Option<String>,
    /// What the person said while tools ran: a model wants the answers to its calls first.
    held: Vec<(Option<AgentName>, String)>,
}

impl Attempt {
    /// One that has just begun.
    pub fn new(phase: usize, number: u32) -> Self {
        Self { phase, number, ..Self::default() }
    }

    /// What comes next.
    pub fn next(&self, phase: &Phase) -> Move {
        let Some(turn) = &self.turn else { return self.next_between(phase) };
        if let Some(call) = turn.open_call().filter(|_| turn.is_complete) {
            return Move::RunCall(call.id);
        }
        if turn.is_complete {
            return Move::EndTurn(TurnStop::Done);
        }
        if turn.rounds > 0 {
            if let Some(why) = phase.terminate.met(&self.facts) {
                return Move::EndTurn(TurnStop::Terminated(why));
            }
            if turn.rounds >= phase.max_rounds {
                return Move::EndTurn(TurnStop::Done);
            }
        }
        Move::AskModel
    }

    fn next_between(&self, phase: &Phase) -> Move {
        if let Some(why) = self.ended_by.clone().or_else(|| phase.terminate.met(&self.facts)) {
            return Move::End(why);
        }
        if let Some(agent) = &self.speaker {
            return Move::Begin(agent.clone());
        }
        let (agent, reason) = self.choose(phase);
        Move::Choose(agent, reason)
    }

    /// The next speaker and why.
    fn choose(&self, phase: &Phase) -> (AgentName, String) {
        match &phase.selection {
            Selection::Planner(planner) => self.choose_planned(planner),
            Selection::RoundRobin => {
                let place = |name| phase.participants.iter().position(|agent| agent == name);
                let next = self.last.as_ref().and_then(place).map_or(0, |last| last + 1);
                let next = next % phase.participants.len().max(1);
                // A checked team has participants in every phase.
                let agent = phase.participants.get(next).cloned();
                let agent = agent.unwrap_or_else(|| AgentName::from(""));
                (agent, "the agents of this phase speak in turn".to_owned())
            }
        }
    }

    fn choose_planned(&self, planner: &AgentName) -> (AgentName, String) {
        let reason = match &self.last {
            None => format!("{planner} opens the chat"),
            Some(last) if last != planner => format!("{planner} speaks after every other agent"),
            Some(_) => match self.queue.front() {
                Some(next) => {
                    let task = shortened(&next.task);
                    let reason = format!("{planner} asked {} to “{task}”", next.agent);
                    return (next.agent.clone(), reason);
                }
                None => format!("{planner} named nobody, so it is asked again"),
            },
        };
        (planner.clone(), reason)
    }

    /// The person said something.
    pub fn told(&mut self, to: Option<AgentName>, text: String) {
        let waits = self.turn.as_ref().is_some_and(|t| t.is_complete && t.open_call().is_some());
        if waits {
            self.held.push((to, text));
        } else {
            self.chat.tell(to, text);
        }
    }

    /// An agent was named.
    pub fn chosen(&mut self, agent: &AgentName) {
        if self.queue.front().is_some_and(|next| next.agent == *agent) {
            self.queue.pop_front();
        }
        self.speaker = Some(agent.clone());
    }

    /// A turn began.
    pub fn begun(&mut self, turn: TurnId, agent: &AgentName) {
        self.speaker = None;
        self.turn = Some(Turn::new(turn, agent.clone()));
    }

    /// More text came.
    pub fn added(&mut self, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.text.push_str(text);
        }
    }

    /// What the model call under way has said counts for nothing.
    pub fn taken_back(&mut self) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_complete) {
            turn.text.clear();
            turn.calls.clear();
        }
    }

    /// A tool call came.
    pub fn called(&mut self, id: CallId, tool: &ToolName, args: &Value) {
        if let Some(turn) = &mut self.turn {
            let call = ToolCall { id, tool: tool.clone(), args: args.clone() };
            turn.calls.push((call, Answered::No));
        }
    }

    /// A model call is complete.
    pub fn completed(&mut self, usage: Usage, guard: &mut Guard) -> Option<Concern> {
        self.facts.tokens += usage.total();
        let turn = self.turn.as_mut()?;
        turn.is_complete = true;
        turn.rounds += 1;
        let calls: Vec<ToolCall> = turn.calls.iter().map(|(call, _)| call.clone()).collect();
        let mut saves = calls.iter().filter(|call| call.tool.as_str() == SAVING_TOOL);
        let repeated = saves.any(|call| guard.repeats_save(&call.args));
        let rewritten = guard.repeats_files(&turn.agent, &turn.text);
        self.chat.said(&turn.agent, &turn.text, calls);
        (repeated || rewritten).then(|| Concern::SameFiles(turn.agent.clone()))
    }

    /// A tool answered. Answers to calls of a model call that never completed count for nothing.
    pub fn answered(
        &mut self,
        id: CallId,
        result: &Value,
        guard: &mut Guard,
    ) -> Option<(ToolName, Option<Concern>)> {
        let turn = self.turn.as_mut()?;
        let (call, answered) = turn.calls.iter_mut().find(|(call, _)| call.id == id)?;
        *answered = Answered::Yes;
        let tool = call.tool.clone();
        if !turn.is_complete {
            return None;
        }
        let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
        if is_ok && tool.as_str() == SAVING_TOOL {
            guard.decided(&call.args);
        }
        self.facts.answered(&tool, if is_ok { Answer::Ok } else { Answer::Any });
        self.chat.answered(&turn.agent, id, &tool, result);
        let code = result.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        turn.wrong_calls = if WRONG_CALLS.contains(&code) { turn.wrong_calls + 1 } else { 0 };
        let mut concern = None;
        if turn.wrong_calls >= PATIENCE {
            turn.wrong_calls = 0;
            concern = Some(Concern::WrongCalls(turn.agent.clone()));
        }
        if tool.as_str() == SAVING_TOOL
            && let Some(why) = guard.fails_again(result)
        {
            concern = Some(Concern::NothingDone(turn.agent.clone(), why));
        }
        if has_entries(result, "saved") || has_entries(result, "deleted") {
            guard.changed();
        }
        if turn.open_call().is_none() {
            turn.is_complete = false;
            turn.text.clear();
            turn.calls.clear();
            for (to, text) in std::mem::take(&mut self.held) {
                self.chat.tell(to, text);
            }
        }
        Some((tool, concern))
    }

    /// The turn ended.
    pub fn ended(&mut self, stop: &TurnStop, phase: &Phase) -> Option<Concern> {
        let turn = self.turn.take()?;
        for (to, text) in std::mem::take(&mut self.held) {
            self.chat.tell(to, text);
        }
        match stop {
            TurnStop::Failed(error) => {
                self.speaker = Some(turn.agent.clone());
                return Some(Concern::Failed(turn.agent, error.clone()));
            }
            TurnStop::Interrupted | TurnStop::Stopped => {
                self.speaker = Some(turn.agent);
                return None;
            }
            TurnStop::Terminated(why) => self.ended_by = Some(why.clone()),
            TurnStop::Done => {}
        }
        self.facts.messages += 1;
        self.facts.heard(&phase.terminate, &turn.agent, &turn.text);
        self.last = Some(turn.agent.clone());
        match &phase.selection {
            Selection::Planner(planner) if *planner == turn.agent => {
                self.planned(planner, &turn.text, phase)
            }
            Selection::Planner(_) | Selection::RoundRobin => None,
        }
    }

    fn planned(&mut self, planner: &AgentName, text: &str, phase: &Phase) -> Option<Concern> {
        let plan = Plan::read(text, &phase.participants, planner);
        let unknown = plan.unknown.join(", ");
        plan.merge_into(&mut self.queue);
        if !self.queue.is_empty() {
            self.nameless = 0;
            return None;
        }
        let others = phase.participants.iter().filter(|agent| *agent != planner);
        let others: Vec<&str> = others.map(AgentName::as_str).collect();
        let what = if unknown.is_empty() {
            "Nobody was named to go on.".to_owned()
        } else {
            format!("Nobody here is called {unknown}.")
        };
        let how = "End your message with a line `<Agent> : <task>`. In this chat are";
        self.chat.tell(Some(planner.clone()), format!("{what} {how}: {}.", others.join(", ")));
        self.nameless += 1;
        if self.nameless < PATIENCE {
            return None;
        }
        self.nameless = 0;
        Some(Concern::NobodyNamed(planner.clone()))
    }
}

fn has_entries(result: &Value, field: &str) -> bool {
    result.get(field).and_then(Value::as_array).is_some_and(|entries| !entries.is_empty())
}
