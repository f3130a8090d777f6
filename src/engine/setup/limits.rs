//! Bounds of a run that no team's file sets.

use std::time::Duration;

use crate::model::Budget;

/// Bounds of a run that no team's file sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineLimits {
    /// Attempts of a phase; `None`: as the team's file says.
    pub max_attempts: Option<u32>,
    /// What happens when they are used up.
    pub used_up: AttemptsUsedUp,
    /// Longest time of a tool call that is not a build; `None`: as the tool says.
    pub tool: Option<Duration>,
    /// Bytes one model answer may have.
    pub answer_bytes: usize,
    /// Files in a list of the project.
    pub listed_files: usize,
    /// Whether plans and files for the context wait for the person.
    pub supervision: Supervision,
    /// What may be spent.
    pub budgets: Budgets,
}

/// What happens when a phase has no attempt left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttemptsUsedUp {
    /// The run fails.
    #[default]
    Fail,
    /// The person is asked for more.
    Ask,
}

/// Whether a run stops for the person before a plan is carried out and before files are read into
/// the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Supervision {
    /// Both are shown, and the run goes on at once.
    #[default]
    Show,
    /// Both wait until the person lets the run go on.
    Ask,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            max_attempts: None,
            used_up: AttemptsUsedUp::Fail,
            tool: None,
            answer_bytes: 4 << 20,
            listed_files: 2_000,
            supervision: Supervision::Show,
            budgets: Budgets::default(),
        }
    }
}

/// What may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budgets {
    /// By one turn of an agent; the turn ends.
    pub turn: Budget,
    /// By all attempts of a phase together; the phase fails.
    pub phase: Budget,
    /// By the session; the person is asked.
    pub session: Budget,
}
