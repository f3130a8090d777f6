//! One attempt of a phase: its chat, whose turn it is, and what its calls are about to read.
//!
//! Must not know the phases before or after it.

pub(super) mod chat;
pub(super) mod listing;
pub(super) mod plan_steps;
pub(super) mod repetition;
mod state;

pub(super) use state::{Answered, Attempt, Move, OpenTurn, WRONG_CALLS};
