//! Serial ports: listening, line splitting and recognising what a board prints.
//!
//! Owns the open ports and the tasks that empty them. Must not write to a board or decide
//! anything.

mod lines;
mod serial;

pub use lines::{Line, LineKind, LineSplitter, LogLevel, recognise};
pub use serial::{DEFAULT_BAUD, Listener, Received, SerialHub};
