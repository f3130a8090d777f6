//! The simulated boot ROM of the flashing tests, for a whole session.

#[path = "../toolchains/rom/chip.rs"]
#[allow(dead_code, reason = "a session meets no faults")]
pub mod chip;
#[path = "../toolchains/rom/flash.rs"]
mod flash;
#[path = "../toolchains/rom/wire.rs"]
mod wire;
