//! The panes, each with its own state and drawing.

mod chat;
mod completion;
mod composer;
mod logs;
mod logs_build;
mod logs_digest;
mod logs_draw;
mod logs_events;
mod logs_find;
mod logs_findings;
mod logs_foot;
mod logs_gone;
pub mod logs_index;
pub mod logs_level;
mod logs_open;
mod logs_parts;
pub mod logs_scroll;
pub mod logs_search;
pub mod logs_source;
pub mod logs_text;
mod logs_typing;
pub mod logs_view;
mod logs_wrap;
#[cfg(test)]
mod pane_bench;
mod project;
mod project_row;
mod project_tree;
mod review;
pub mod serial;
mod timeline;
mod wrap;

pub use chat::ChatPane;
pub use composer::Composer;
pub use logs::{LogsPane, Tab as LogsTab};
pub use project::ProjectPane;
pub use review::ReviewPane;
pub use serial::TagCount;
pub use timeline::TimelineBar;
pub use wrap::wrap_words;
