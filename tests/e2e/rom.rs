//! The simulated boot ROM of the flashing tests, for a whole session.

#[path = "../rom/chip.rs"]
#[allow(dead_code, reason = "a session meets no faults")]
pub mod chip;
#[path = "../rom/flash.rs"]
mod flash;
#[path = "../rom/wire.rs"]
mod wire;
