//! What the Serial tab adds to a log: the card of the newest panic, and the person's hands on the
//! port.

pub(super) mod card;
pub(super) mod hands;
mod send_line;

pub(super) use hands::SerialHands;
