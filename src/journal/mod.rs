//! Sessions on disk: the append-only journal, content-addressed blobs, raw logs, and the list of
//! sessions.
//!
//! Owns every byte below a session's folder except the project. Must not interpret events beyond
//! what the list of sessions tells.

pub mod blobs;
pub mod dir;
mod discreet;
pub mod error;
pub mod events;
mod facts;
mod kept_facts;
pub mod list;
mod lock;
mod log_limits;
mod log_writer;
pub mod logs;
pub mod manage;
mod pack;
mod parse;
pub mod reader;
mod requests;
pub mod scan;
mod segments;
mod storage;
mod tail;
mod times;
pub mod writer;

pub use blobs::Blobs;
pub use dir::{SessionDir, clean_title};
pub use error::JournalError;
pub use events::JournalEvents;
pub use facts::{JournalFacts, LaterRequest};
pub use list::{SessionState, SessionSummary, list_sessions, summary};
pub use logs::{LogFiles, LogLength, LogLimits};
pub use manage::{delete, rename};
pub use parse::{Damage, ReadItem};
pub use reader::{JournalReader, Position};
pub use requests::{KnownRequests, complete_requests};
pub use scan::scan;
pub use writer::{JournalWriter, Reopened};
