//! Whole sessions without a screen, and model services of every dialect.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod demo;
mod models;
mod reverty;
#[path = "../wire/mod.rs"]
mod wire;

/// Walls that the program under test builds.
fn sandbox_runner() -> firmhand::sandbox::Runner {
    firmhand::sandbox::Runner::new(env!("CARGO_BIN_EXE_firmhand").into())
}
