//! The two lower floors of Firmhand, F0 and F1, as a package of their own; the floors and the words
//! of the code are in the documentation of the package `firmhand`. Must not know proposals' way
//! through the gate, teams, or the screen.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange and read back their own files")
)]

pub mod config;
pub mod device;
pub mod files;
pub mod journal;
pub mod knowledge;
pub mod lang;
pub mod model;
pub mod policy;
pub mod provider;
pub mod sandbox;
pub mod text;
pub mod toolchain;
pub mod view;
pub mod workspace;
