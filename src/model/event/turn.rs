//! Facts of the conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::{AgentName, CallId, ToolName, TurnId};
use crate::model::message::Usage;
use crate::model::outcome::TurnStop;
use crate::model::policy::{PolicyChoice, PolicyTable};

/// Who speaks, what an agent says and which tools it calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TurnEvent {
    /// The next speaker is known.
    #[serde(rename = "speaker_chosen")]
    SpeakerChosen {
        agent: AgentName,
        /// Why, in a sentence for people.
        reason: String,
        /// What a learned policy said, where one chose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<Box<PolicyChoice>>,
        /// The step of the plan whose chat it is, counted from 1; `None`: the only chat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// A learned table chooses who speaks from here on, in this run.
    #[serde(rename = "policy_taken")]
    PolicyTaken(Box<PolicyTable>),
    /// An agent begins to speak.
    #[serde(rename = "turn_started")]
    Started {
        /// Number of the turn.
        turn: TurnId,
        agent: AgentName,
        /// The step of the plan whose chat it is, counted from 1; `None`: the only chat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// It said some more.
    #[serde(rename = "text_added")]
    TextAdded {
        turn: TurnId,
        /// What to append.
        text: String,
    },
    /// It called a tool.
    #[serde(rename = "tool_called")]
    ToolCalled {
        turn: TurnId,
        /// Number of the call.
        call: CallId,
        tool: ToolName,
        /// The arguments as the model gave them.
        args: Value,
    },
    /// The tool answered.
    #[serde(rename = "tool_answered")]
    ToolAnswered {
        call: CallId,
        /// The JSON object with `ok`.
        result: Value,
        /// How long it took, waiting for the person included.
        millis: u64,
    },
    /// One model call of the turn is complete; a turn with tool calls has several.
    #[serde(rename = "model_answered")]
    ModelAnswered {
        turn: TurnId,
        /// Tokens it cost.
        usage: Usage,
        /// What the provider wants to be given back with the agent's next request, so that it
        /// can go on after a restart. Opaque to everyone else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// The agent is done.
    #[serde(rename = "turn_ended")]
    Ended {
        turn: TurnId,
        /// Why it ended.
        stop: TurnStop,
    },
}
