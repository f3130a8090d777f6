//! The recorded demo, played without a screen: all the ways a person can take through it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod branches;
mod decisions;
mod stage;
mod teams;
mod whole;
#[path = "../wire/mod.rs"]
mod wire;
mod wired;
mod workbench;
