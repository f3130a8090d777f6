//! Tests of the library and of the files that ship with it: the sources keep the house rules, data
//! files are read or refused, journals stay readable, foreign bytes do no harm. They start no other
//! program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::field_reassign_with_default,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod bad_scripts;
mod data;
mod events;
mod floor_rules;
mod floors;
mod fuzz;
mod identifiers;
mod journal_format;
mod pinout;
mod proposals;
mod rings;
mod schemas;
mod view_golden;
mod words;
