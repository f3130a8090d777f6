//! The panes, each with its own state and drawing.

mod chat;
mod composer;
pub mod logs;
#[cfg(test)]
mod pane_bench;
mod project;
mod review;
pub mod serial;
mod timeline;
mod timeline_signs;
mod wrap;

pub use chat::ChatPane;
pub use composer::{AskedIn, Composer};
pub use logs::{LogsPane, Tab as LogsTab};
pub use project::ProjectPane;
pub use review::ReviewPane;
pub use serial::TagCount;
pub use timeline::TimelineBar;
pub use timeline_signs::timeline_signs;
pub use wrap::wrap_words;
