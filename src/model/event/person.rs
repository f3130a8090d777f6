//! Facts of the person at the screen.

use serde::{Deserialize, Serialize};

use crate::model::error::UserError;
use crate::model::ids::{AgentName, QuestionId};

/// How important a [`PersonEvent::Noticed`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is off, the run goes on.
    Warning,
    Error,
}

/// What the person says and does, and what they are asked and told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PersonEvent {
    /// The person said something.
    #[serde(rename = "person_said")]
    Wrote {
        /// `None`: to all agents.
        to: Option<AgentName>,
        text: String,
    },
    /// The run asks the person.
    #[serde(rename = "asked")]
    Asked {
        /// Number of the question.
        question: QuestionId,
        /// Who asks; `None`: the program itself.
        agent: Option<AgentName>,
        text: String,
        /// Answers to choose from; empty: free text.
        options: Vec<String>,
        /// The step of the plan in whose chat it came up, counted from 1; `None`: in the only chat, or
        /// in none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// The person answered.
    #[serde(rename = "answered")]
    Answered { question: QuestionId, answer: String },
    /// The person wants this agent to speak next, whatever a policy says.
    #[serde(rename = "speaker_named")]
    SpeakerNamed { agent: AgentName },
    /// The run holds.
    #[serde(rename = "paused")]
    Paused,
    /// The run goes on.
    #[serde(rename = "unpaused")]
    Unpaused,
    /// The person wants the run to end.
    #[serde(rename = "stop_requested")]
    StopRequested,
    /// Something the person should know.
    #[serde(rename = "noticed")]
    Noticed {
        /// How important it is.
        level: Level,
        /// What, why, and what to do.
        notice: UserError,
    },
}
