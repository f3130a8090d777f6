//! Decisions: the desk where proposals wait, the policies that decide for the person, and the effects.
//!
//! Owns the only constructor of an approved effect. Must not know engine or screen.

pub mod approved;
mod checks;
mod desk;
pub mod effects;
mod folder;
mod resume;
mod submit;

pub use desk::{Desk, DeskError};
pub use resume::Recorded;
pub use submit::{Gate, GateError, GateParts, Numbers, Origin};

#[cfg(test)]
mod gate_tests;
