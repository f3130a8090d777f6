//! What goes to a model and comes back from it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cost::Cost;
use super::ids::{AgentName, CallId, ToolName};

/// Who a message is from, in the sense of the chat protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The agent's own instructions.
    System,
    /// The task, the person, or another agent.
    User,
    /// The agent that is asked.
    Assistant,
    /// The answer to one tool call.
    Tool,
}

/// One message of the conversation a model is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who it is from.
    pub role: MessageRole,
    /// The agent that spoke; `None` for the person and for instructions.
    pub agent: Option<AgentName>,
    /// The text; for a tool message the tool's JSON answer.
    pub text: String,
    /// Tool calls an assistant message made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// For a tool message: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<CallId>,
}

impl Message {
    /// Words alone, without calls.
    #[must_use]
    pub const fn of(role: MessageRole, agent: Option<AgentName>, text: String) -> Self {
        Self { role, agent, text, calls: Vec::new(), answers: None }
    }
}

/// A model's wish to use a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Session-wide number, given by the engine when the call arrives.
    pub id: CallId,
    pub tool: ToolName,
    /// Its arguments, a JSON object if the model did as asked.
    pub args: Value,
}

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Of `input`, those the service had cached.
    #[serde(default)]
    pub cached: u64,
    /// What it cost; nothing where no price is known.
    #[serde(default, skip_serializing_if = "Cost::is_zero")]
    pub cost: Cost,
    /// Whether the cost, or a part of it, comes from a list of prices that may be out of date.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
}

impl Usage {
    /// All tokens sent and received.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The cost in words; an estimate is marked as one.
    #[must_use]
    pub fn cost_in_words(self) -> String {
        if self.is_estimated { self.cost.about() } else { self.cost.to_string() }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cost += other.cost;
        self.is_estimated |= other.is_estimated;
    }
}
