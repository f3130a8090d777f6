//! Firmhand: a full-screen terminal desk from which a person supervises teams of model-backed
//! agents that write firmware for ESP32 boards.
//!
//! Floors, from the ground up; imports go strictly down:
//!
//! - F0 [`model`], [`text`], [`files`]: vocabulary and pure text algorithms, text may use the
//!   model's words; and the one bounded reader of files.
//! - F1 [`journal`], [`config`], [`provider`], [`workspace`], [`toolchain`], [`device`],
//!   [`knowledge`], [`lang`], [`view`].
//! - F2 [`tools`], [`gate`].
//! - F3 [`engine`], [`ui`]: they never import each other and meet in [`model`].
//! - F4 [`app`], [`cli`].

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange and read back their own files")
)]

pub mod app;
#[warn(missing_docs, reason = "what the program itself uses of the library")]
pub mod cli;
pub mod config;
pub mod device;
pub mod engine;
pub mod files;
pub mod gate;
pub mod journal;
pub mod knowledge;
pub mod lang;
pub mod model;
pub mod provider;
pub mod text;
pub mod toolchain;
pub mod tools;
pub mod ui;
pub mod view;
pub mod workspace;
