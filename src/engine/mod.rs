//! Runs teams: turns, tool calls, speaker selection, phases, termination, and the recorder.
//!
//! The run is a fold of its own events: the same fold says what comes next live and after a
//! restart. Must not know the screen, and must not touch a file except through the gate.
//!
//! From the ground up; a folder names those before it only:
//!
//! - `team`: teams and agents, and the files they are read from.
//! - `speaker`: who speaks next.
//! - `attempt`: one attempt of a phase, with its chat.
//! - `setup`: what a run is given, and what each agent brings to its requests.
//! - `progress`: how far a run has come, the fold of its events.
//! - `run`: carries out what comes next, and takes the person's wishes meanwhile.
//! - `recorder`: the sole writer of a session.

mod attempt;
mod concern;
mod handle;
mod progress;
mod recorder;
mod run;
mod setup;
mod speaker;
mod team;

pub use concern::Concern;
pub use handle::{BreakOff, Engine, EngineHandle};
pub use recorder::Recorder;
pub use setup::{
    AttemptsUsedUp, Budgets, EngineLimits, EngineSetup, NextModel, NextRun, NextRuns, Supervision,
    Toolbox, toolbox,
};
pub use team::{
    Agent, CallResult, Condition, ContextPart, Failure, KnownTool, Phase, PlanReview, Rework,
    SpeakerSelection, Team, agents, team_schema,
};

#[cfg(test)]
pub(crate) mod tests;
