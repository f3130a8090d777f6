//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! Must not read a clock, wait or record anything.

mod attempt_limit;
mod blackboard;
mod budget_meter;
mod earlier;
pub(super) mod lanes;
mod memory;
mod next;
#[cfg(test)]
mod person_answer_tests;
mod plan_track;
mod resume;
mod run_progress;
mod side_work;
mod stage;
pub(super) mod step;
pub(super) mod time_limits;

pub(super) use next::next;
pub(super) use resume::rebuild;
pub(super) use run_progress::RunProgress;
