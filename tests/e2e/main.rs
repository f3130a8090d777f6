//! The real program in a pseudo-terminal, driven by key names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod attaching;
mod boards;
mod choosing;
mod deciding;
mod desk;
mod flashing;
mod follow_ups;
mod headless;
mod interrupted;
mod keys;
mod kinds;
mod lasting;
mod leaving;
mod lines;
mod nvs;
mod panes;
mod pending_list;
mod phrase;
mod place;
mod platformio;
mod policy;
mod ports;
mod programs;
mod readme;
mod recordings;
mod reviewing;
mod rom;
mod saved_sessions;
mod screens;
mod searching;
mod selftest;
mod surroundings;
mod terminal;
#[path = "../wire/mod.rs"]
mod wire;
