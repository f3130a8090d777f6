//! What the Serial tab adds to a log: how one looks at it, the card of the newest panic, and the
//! person's hands on the port.

pub(super) mod card;
mod chart;
pub(super) mod control;
pub(super) mod head;
mod hex;
mod look;
mod send_line;
mod stamps;
mod tag_count;

pub(super) use control::SerialActions;
pub(super) use look::SerialLook;
pub use stamps::Stamps;
pub use tag_count::TagCount;
