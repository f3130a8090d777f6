//! Firmhand: a full-screen terminal desk from which a person supervises teams of model-backed
//! agents that write firmware for ESP32 boards.
//!
//! Floors, from the ground up; imports go strictly down:
//!
//! - F0 [`model`], [`text`], [`files`]: vocabulary and pure text algorithms, text may use the
//!   model's words; and the one bounded reader of files.
//! - F1 [`journal`], [`config`], [`provider`], [`workspace`], [`toolchain`], [`device`],
//!   [`knowledge`], [`lang`], [`policy`], [`sandbox`], [`view`].
//! - F2 [`tools`], [`gate`].
//! - F3 [`engine`], [`ui`]: they never import each other and meet in [`model`].
//! - F4 [`app`], [`cli`].
//!
//! # Glossary
//!
//! Names in the code follow these words.
//!
//! - **session**: everything from one start to its end, a folder on disk. [`journal::SessionDir`]
//! - **record**: one line of a session's journal: number, time, event. [`model::Record`]
//! - **event**: a fact that was recorded. [`model::Event`]
//! - **blob**: a content that records name by its hash. [`model::BlobRef`]
//! - **raw log**: output of a build or a port, kept next to the journal. [`journal::LogFiles`]
//! - **fold**: what records add up to, the same live, resumed and replayed. [`view::SessionView`]
//! - **ledger**: takes events, and writes them before anybody sees them. [`model::Ledger`]
//! - **feed**: where the screen's records come from, live or from a replay. [`app::Feed`]
//! - **launch plan**: what a request comes to, with nothing left open. [`app::plan::LaunchPlan`]
//! - **run**: the work of one team on one task, in one session. [`engine::Engine`]
//! - **team**: the agents of a run, and its phases. [`engine::Team`]
//! - **phase**: a part of a run with a goal and a number of attempts. [`engine::Phase`]
//! - **agent**: a model with instructions and tools. [`engine::Agent`]
//! - **turn**: one agent's answer, with the tools that it calls. [`model::TurnEvent`]
//! - **provider**: a model service, or a recording of one. [`provider::Provider`]
//! - **profile**: a service, a model and the source of its key. [`app::profiles::Profiles`]
//! - **tool call**: what an agent asks a tool to do. [`model::ToolCall`]
//! - **draft**: a change as a tool hands it in. [`model::Draft`]
//! - **proposal**: a change that waits for a decision, with what was checked. [`model::Proposal`]
//! - **batch**: proposals that belong together. [`model::Batch`]
//! - **finding**: what a check found in a proposal. [`model::Finding`]
//! - **diagnostic**: what a compiler or a linter reports. [`model::Diagnostic`]
//! - **verdict**: what was decided: approve, reject, change. [`model::Verdict`]
//! - **decision**: a verdict and whose it is. [`model::Decision`]
//! - **policy**: rules that decide for the person. [`config::Policy`]
//! - **learned policy**: a table that says which agent speaks next. [`policy::Trained`]
//! - **approval**: the proof of a decision that an effect needs. [`gate::approved::Approved`]
//! - **effect**: a write to the project, or to a board. [`gate::effects`]
//! - **outcome**: what became of a proposal. [`model::Outcome`]
//! - **approval queue**: where proposals wait. [`gate::ApprovalQueue`]
//! - **toolchain**: what builds and flashes. [`toolchain::Toolchain`]
//! - **sandbox**: the walls around a program that an agent wrote. [`sandbox::Runner`]
//! - **action**: what a key does. [`ui::action::Action`]
//! - **intent**: a person's wish on its way to the engine. [`model::Intent`]
//! - **pane**: a part of the screen. [`ui::layout::PaneId`]
//! - **overlay**: a dialog above the panes. [`ui::overlay::Overlay`]
//! - **keymap**: which keys are which actions. [`ui::Keymap`]

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests arrange and read back their own files")
)]

pub mod app;
#[warn(missing_docs, reason = "what the program itself uses of the library")]
pub mod cli;
pub mod engine;
pub mod gate;
pub mod tools;
pub mod ui;

pub use firmhand_base::{
    config, device, files, journal, knowledge, lang, model, policy, provider, sandbox, text,
    toolchain, view, workspace,
};
