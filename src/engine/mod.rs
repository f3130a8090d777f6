//! Runs teams: turns, tool calls, speaker selection, phases, termination, and the recorder.
//!
//! The run is a fold of its own events: the same fold says what comes next live and after a
//! restart. Must not know the screen, and must not touch a file except through the gate.

mod agent_setup;
mod attempt;
mod blackboard;
mod briefing;
mod budget_meter;
mod chat;
mod concern;
mod condition;
mod context;
mod form;
mod growth;
mod guard;
mod handle;
mod inquiry;
mod intents;
mod listing;
mod memory;
mod outside;
mod phase_file;
mod progress;
pub mod raw_logs;
mod recorder;
mod resume;
mod run;
mod select;
mod selector;
mod shared;
mod side_work;
mod speakers;
mod step;
mod steps;
pub mod team;
mod team_file;
mod team_format;
mod turn;

pub use budget_meter::Budgets;
pub use concern::Concern;
pub use condition::{CallResult, Condition};
pub use handle::{
    BreakOff, Engine, EngineHandle, EngineLimits, EngineSetup, Supervision, Toolbox, toolbox,
};
pub use recorder::Recorder;
pub use team::{Agent, ContextPart, Failure, Phase, PlanReview, Rework, SpeakerSelection, Team};
pub use team_file::{KnownTool, agents};

#[cfg(test)]
pub(crate) mod tests;
