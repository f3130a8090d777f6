//! Decisions: the desk where proposals wait, the policies that decide for the person, and the effects.
//!
//! Owns the only constructor of an approved effect. Must not know engine or screen.

mod admission;
pub mod approved;
mod boards;
mod compare;
mod deciding;
mod edited;
mod effect_time;
pub mod effects;
mod examinations;
mod examine;
mod execution;
mod facts;
mod feedback;
mod findings;
mod folder;
mod history;
mod leftovers;
mod parts;
mod proposing;
mod queue;
mod restate;
mod resume;
mod rulings;
mod session_rules;
mod set_changes;
mod submit;
mod syntax;
mod table_offset;
mod undo;

pub use edited::VersionExaminer;
pub use effect_time::WorkTime;
pub use examine::examine;
pub use findings::{FindingsContext, chip_of};
pub use leftovers::{Leftover, discard_unnamed, leftovers, settle_leftovers};
pub use parts::{GateError, GateParts, NextNumbers, ProposalOrigin};
pub use queue::{ApprovalQueue, QueueError};
pub use resume::Recorded;
pub use submit::Gate;
pub use undo::{PERSON, UNDO_TOOL};

#[cfg(test)]
mod gate_tests;
