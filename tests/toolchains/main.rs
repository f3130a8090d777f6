//! Tests that start other programs: compilers, ESP-IDF, PlatformIO, esptool, ser2net. A test whose
//! program is not installed says so and passes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod board_bench;
mod board_facts;
mod build_logs;
mod builds;
mod esp_idf;
mod platformio;
mod rom;
mod ser2net;
mod virtual_board;

/// Walls that the program under test builds.
fn sandbox_runner() -> firmhand::sandbox::Runner {
    firmhand::sandbox::Runner::new(env!("CARGO_BIN_EXE_firmhand").into())
}

/// Walls around builds, where this machine has them.
fn build_sandbox() -> firmhand::toolchain::BuildSandbox {
    firmhand::toolchain::BuildSandbox {
        runner: sandbox_runner(),
        walls: firmhand::toolchain::BuildWalls::On,
        private: Vec::new(),
        writable: Vec::new(),
    }
}
