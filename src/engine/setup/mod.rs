//! What a run is given before it starts, and what each agent brings to its requests.
//!
//! Must not know how far a run has come.

mod agent;
mod limits;
mod next_runs;
mod run_setup;

pub(super) use agent::AgentSlots;
pub use limits::{AttemptsUsedUp, Budgets, EngineLimits, Supervision};
pub use next_runs::{NextModel, NextRun, NextRuns};
pub use run_setup::{EngineSetup, Toolbox, toolbox};
