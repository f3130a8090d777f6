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
#[path = "../wire/mod.rs"]
mod wire;
