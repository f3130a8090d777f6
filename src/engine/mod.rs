//! Runs teams: turns, tool calls, speaker selection, phases, termination, and the recorder.
//!
//! The run is a fold of its own events: the same fold says what comes next live and after a
//! restart. Must not know the screen, and must not touch a file except through the gate.

mod attempt;
mod beside;
mod blackboard;
mod briefing;
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
mod purse;
pub mod raw_logs;
mod recorder;
mod resume;
mod run;
mod seat;
mod select;
mod selector;
mod shared;
mod speakers;
mod step;
mod steps;
pub mod team;
mod team_file;
mod team_format;
mod turn;

pub use concern::Concern;
pub use condition::{Answer, Condition};
pub use handle::{
    BreakOff, Engine, EngineHandle, EngineSetup, Limits, Supervision, Toolbox, toolbox,
};
pub use purse::Budgets;
pub use recorder::Recorder;
pub use team::{Agent, ContextPart, Failure, Phase, PlanReview, Rework, Selection, Team};
pub use team_file::{KnownTool, agents};

#[cfg(test)]
pub(crate) mod tests;
