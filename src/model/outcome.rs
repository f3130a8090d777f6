//! How turns, phases and sessions end.

use serde::{Deserialize, Serialize};

use super::error::UserError;

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStop {
    /// The agent yielded.
    Done,
    /// A termination condition of the phase was met; the text names it.
    Terminated(String),
    /// The person stopped it.
    Stopped,
    /// The model's service or the script failed.
    Failed(UserError),
    /// The program ended in the middle; the turn is taken again.
    Interrupted,
}

/// How a phase, or one attempt of it, ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseOutcome {
    /// Its goal was reached; the text names the condition.
    Succeeded(String),
    /// This attempt did not reach it; the text says why.
    Failed(String),
    /// The person stopped it.
    Stopped,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// Every phase succeeded.
    Completed,
    /// A phase failed for good.
    Failed(UserError),
    /// The person stopped it.
    Stopped,
}
