//! The entries of the conversation: phases, choices of speaker, turns with text and tool calls.

use std::sync::Arc;

use serde_json::Value;

use super::plan::FilePlan;
use super::ruled::RuledView;
use super::work::RunWork;

use crate::model::event::RunStart;
use crate::model::{
    AgentName, CallId, ChatSummary, LeftOut, PhaseOutcome, QuestionId, SessionOutcome, TeamEvent,
    Timestamp, ToolName, TurnId, TurnStop, Usage, UserError, event::Level,
};

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEntry {
    /// A phase or attempt began.
    PhaseStarted {
        /// Name for people.
        title: String,
        /// Counted from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        at: Timestamp,
    },
    PhaseEnded {
        /// Name of the phase, with the number of its step where several are open.
        phase: String,
        /// Counted from 1.
        attempt: u32,
        outcome: PhaseOutcome,
    },
    /// The next speaker was chosen.
    Choice { agent: AgentName, reason: String },
    /// An agent's turn.
    Turn(TurnView),
    /// The person said something.
    Person {
        /// `None`: to everyone.
        to: Option<AgentName>,
        text: String,
        at: Timestamp,
    },
    /// The run asked the person.
    Question {
        id: QuestionId,
        agent: Option<AgentName>,
        text: String,
        /// Answers to choose from.
        options: Vec<String>,
        /// The answer, once there is one.
        answer: Option<String>,
    },
    /// The team laid out something for its own work: a plan, files for the context, a document.
    Fact { fact: TeamEvent, at: Timestamp },
    /// Something the person should know.
    Notice {
        level: Level,
        /// What, why, how to mend.
        notice: UserError,
    },
    /// A rule decided a proposal, or left it to the person.
    Ruled(RuledView),
    /// The files that are to be written.
    FilePlan(FilePlan),
    /// The person asked for more.
    RunStarted { start: RunStart, at: Timestamp },
    /// The program opened the session again.
    Resumed { at: Timestamp },
    /// The run is over.
    Ended {
        outcome: SessionOutcome,
        /// What it came to; `None`: no team worked.
        work: Option<Arc<RunWork>>,
    },
}

impl ChatEntry {
    /// The turn that it is.
    #[must_use]
    pub fn turn(&self) -> Option<&TurnView> {
        if let Self::Turn(turn) = self { Some(turn) } else { None }
    }

    pub(super) fn turn_mut(&mut self) -> Option<&mut TurnView> {
        if let Self::Turn(turn) = self { Some(turn) } else { None }
    }
}

/// One turn of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnView {
    pub turn: TurnId,
    pub agent: AgentName,
    /// The step of the plan whose chat it is, counted from 1, where several are open.
    pub step: Option<u32>,
    /// When it began.
    pub at: Timestamp,
    /// Text and tool calls as they came.
    pub parts: Vec<TurnPart>,
    /// Tokens so far.
    pub usage: Usage,
    /// Why it ended and when; `None` while it goes on.
    pub ended: Option<(TurnStop, Timestamp)>,
}

impl TurnView {
    /// Its tool calls, as they came.
    pub fn calls(&self) -> impl Iterator<Item = &CallView> {
        self.parts.iter().filter_map(TurnPart::call)
    }

    /// Its first words, or else the tools that it called.
    #[must_use]
    pub fn begins(&self) -> String {
        let words = self.parts.iter().filter_map(TurnPart::text);
        let line = words.flat_map(str::lines).map(str::trim).find(|line| !line.is_empty());
        line.map_or_else(
            || self.calls().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(", "),
            ToOwned::to_owned,
        )
    }

    /// A tool call by its number.
    #[must_use]
    pub fn call(&self, wanted: CallId) -> Option<&CallView> {
        self.calls().find(|view| view.call == wanted)
    }
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnPart {
    /// Markdown as the model wrote it; only ever grows while the turn goes on.
    Text(String),
    /// A tool call.
    Call(CallView),
    /// What the model thought; nothing that anybody else is told.
    Reasoning(String),
    /// The model's service failed, and the call is made again.
    Retry(RetryView),
    /// The answer before it cannot be used, and why; the agent is asked again.
    Refused(String),
    /// Not everything fitted into the model.
    Trimmed(TrimView),
    /// The oldest part of the conversation was summarised, or could not be.
    Summary(SummaryView),
}

impl TurnPart {
    /// The tool call that it is.
    #[must_use]
    pub fn call(&self) -> Option<&CallView> {
        if let Self::Call(view) = self { Some(view) } else { None }
    }

    /// The Markdown that it is.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// A model call that is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryView {
    /// The try that comes next, from 2.
    pub attempt: u32,
    /// How many there may be.
    pub most: u32,
    /// When it comes.
    pub due: Timestamp,
    /// What went wrong.
    pub fault: UserError,
}

/// What was left out of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrimView {
    /// The oldest comes first.
    pub left_out: Vec<LeftOut>,
    /// Tokens the model was given.
    pub tokens: u64,
    /// Tokens it can take.
    pub window: u64,
}

/// A summary, and what it replaces for the agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryView {
    pub summary: Box<ChatSummary>,
    /// What each of the replaced turns was about, oldest first.
    pub turns: Vec<SummarisedView>,
}

/// A turn that is replaced for the agents, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarisedView {
    pub turn: TurnId,
    /// How many of its messages are replaced.
    pub messages: u32,
    /// Who spoke, and the first words or calls; `None` where the turn is not kept in memory.
    pub about: Option<(AgentName, String)>,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView {
    pub call: CallId,
    pub tool: ToolName,
    /// The arguments as given.
    pub args: Value,
    /// How far it is.
    pub state: CallState,
}

/// How far a tool call is.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// No answer yet.
    Running { since: Timestamp },
    Done {
        /// The JSON object with `ok`.
        result: Value,
        /// How long it took, without the time that its proposals waited for a decision.
        millis: u64,
    },
}

impl CallState {
    /// Whether the tool said `"ok": true`; `None` while it runs.
    #[must_use]
    pub fn succeeded(&self) -> Option<bool> {
        match self {
            Self::Running { .. } => None,
            Self::Done { result, .. } => {
                Some(result.get("ok").and_then(Value::as_bool).unwrap_or(false))
            }
        }
    }
}
