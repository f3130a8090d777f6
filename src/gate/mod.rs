//! Decisions: the desk where proposals wait, the policies that decide for the person, and the effects.
//!
//! Owns the only constructor of an approved effect. Must not know engine or screen.

mod admission;
pub mod approved;
mod boards;
mod compare;
mod edited;
mod effect_time;
pub mod effects;
mod examine;
mod facts;
mod feedback;
mod findings;
mod folder;
mod history;
mod leftovers;
mod queue;
mod restate;
mod resume;
mod session_rules;
mod settle;
mod submit;
mod syntax;
mod table_offset;
mod undo;

pub use edited::VersionExaminer;
pub use effect_time::WorkTime;
pub use examine::examine;
pub use findings::FindingsContext;
pub use leftovers::{Leftover, leftovers, settle_leftovers};
pub use queue::{ApprovalQueue, QueueError};
pub use resume::Recorded;
pub use submit::{Gate, GateError, GateParts, NextNumbers, Origin};
pub use undo::{PERSON, UNDO_TOOL};

#[cfg(test)]
mod gate_tests;
