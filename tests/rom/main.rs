//! Flashing a simulated boot ROM at a pseudo-terminal, byte by byte, with and without faults.
//!
//! The tools are the real ones. `esptool` is run where Python has it: `FIRMHAND_TEST_PYTHON` names
//! a Python, else `python3` is asked. Elsewhere its tests say that they did nothing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod chip;
mod esptool;
mod flash;
mod platformio;
mod wire;
