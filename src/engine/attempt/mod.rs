//! One attempt of a phase: its chat, whose turn it is, and what its calls are about to read.
//!
//! Must not know the phases before or after it.

pub(super) mod chat;
pub(super) mod cited;
mod file_set;
pub(super) mod listing;
mod open_turn;
pub(super) mod plan_steps;
pub(super) mod repetition;
mod state;

pub(super) use open_turn::{AcceptedAnswer, Answered, OpenTurn};
pub(super) use state::{Attempt, Move, WRONG_CALLS};
