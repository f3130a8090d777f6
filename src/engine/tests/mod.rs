//! Runs whole teams against models made of functions, with real files, gate and journal.

mod answers;
mod cited;
mod decisions;
mod endless;
pub(crate) mod fixture;
mod fixture_tools;
mod follow_ups;
mod models;
mod nested;
mod plan_phases;
mod resume;
mod runs;
mod selection;
mod side_by_side;
mod team_files;
mod teamwork;
mod wishes;
