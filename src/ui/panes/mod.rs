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
pub mod logs_lens;
pub mod logs_level;
mod logs_parts;
pub mod logs_scroll;
pub mod logs_search;
mod logs_shelf;
pub mod logs_source;
pub mod logs_text;
mod logs_typing;
mod logs_wrap;
mod project;
mod project_row;
mod project_tree;
mod review;
pub mod serial;
#[cfg(test)]
mod test_desk;
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
