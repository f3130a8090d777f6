//! The logs: builds, serial output, and the session's own records.
//!
//! Shows only what the view knows of, so that a replay at an earlier moment shows the logs of that
//! moment. Must not write.

mod areas;
mod build;
pub(in crate::ui) mod digest;
mod draw;
mod events;
mod findings;
mod foot;
mod missing_start;
mod open;
mod pane;
pub mod position;
mod result_rows;
mod results;
mod row;
pub mod source;
mod state;
pub mod text;
mod wrap;

pub use open::Tab;
pub use state::LogsPane;

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;

#[cfg(test)]
mod results_tests;
