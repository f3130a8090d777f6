//! The sandbox around what agents wrote, from outside: real programs that really try.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod agents_code;
mod agents_tests;
mod builds;
mod command;
mod escapes;
mod limits;
mod place;
mod project;
mod runs;
mod stand;
