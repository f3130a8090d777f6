//! Runs teams: turns, tool calls, speaker selection, phases, termination, and the recorder.
//!
//! The run is a fold of its own events: the same fold says what comes next live and after a
//! restart. Must not know the screen, and must not touch a file except through the gate.

mod attempt;
mod chat;
mod condition;
mod guard;
mod handle;
mod intents;
mod progress;
pub mod recorder;
mod resume;
mod run;
mod seat;
mod select;
pub mod team;
mod team_file;
mod turn;

pub use condition::{Answer, Condition};
pub use handle::{Engine, EngineHandle, EngineSetup, Limits, Toolbox, toolbox};
pub use progress::Concern;
pub use recorder::Recorder;
pub use team::{Agent, ContextPart, Phase, Selection, Team};
pub use team_file::{KnownTool, agents};

#[cfg(test)]
pub(crate) mod tests;
