//! Flashing a simulated boot ROM at a pseudo-terminal, byte by byte, with and without faults.
//!
//! The loaders are the real ones: the one within the program, and `esptool` where Python has it;
//! `FIRMHAND_TEST_PYTHON` names a Python, else `python3` is asked. Where it is missing, that is said.

mod chip;
mod compare;
mod faults;
mod flash;
mod loaders;
mod platformio;
mod wire;
