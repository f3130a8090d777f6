//! What agents can do.
//!
//! A tool reads, or it returns drafts of effects; it never performs one. Owns argument checking,
//! schemas and bounded answers. Must not import the gate: whoever runs a tool brings its drafts
//! there.

mod answer;
mod args;
mod context;
mod entry;
mod error;
mod registry;
mod report;
mod state;
mod step_chats;

mod analyze_complexity;
mod approve_saved_files;
mod arduino;
mod build;
mod check_program;
mod checks;
mod cmake;
mod delete_files;
mod dialogue;
mod edit_nvs;
mod erase_flash;
mod file_name_checker;
mod files;
mod find_relevant_files;
mod flash;
mod flash_regions;
mod generate_code;
mod get_pinout_info;
mod headers;
mod insert_code;
mod latest_tests;
mod list_boards;
mod map_sketch;
mod nvs_csv;
mod organized_files;
mod panics;
mod read_flash;
mod recorded;
mod retrieve_docs;
mod run_code;
mod run_static_analysis;
mod run_tests;
mod scan_i2c;
mod scratch;
mod serial;
mod serial_capture;
mod serial_send;
mod source_index;
mod unkept;
mod virtual_kit;
mod write_file;

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::model::{BlobSource, Draft, DraftChange, Proposal, ToolSpec, TurnId};

pub use context::{AnswerLimits, ToolContext};
pub use dialogue::{ASK, AskArgs, HAND_OFF, HandOffArgs};
pub use entry::ToolEntry;
pub use error::ToolError;
pub use recorded::{Finish, plain_finish};
pub use registry::{Registry, TOOLS, known};
pub use state::{LastBuild, OrganizedFile, PhaseGoal, SharedState, TeamState};
pub use unkept::Unkept;
pub use virtual_kit::load_kit;

/// What a call leads to.
pub enum Reply {
    /// The answer, a JSON object with `"ok": true`; or with `"ok": false` where there is more to
    /// tell than a [`ToolError`] holds.
    Answer(Value),
    /// Effects to be decided; `finish` makes the answer from what became of them, one settlement
    /// for each draft, in order.
    Propose {
        drafts: Vec<Draft>,
        /// Makes the answer.
        finish: Finish,
    },
}

impl Reply {
    /// One effect without findings, to be decided.
    fn propose(change: DraftChange, reason: String, finish: Finish) -> Self {
        Self::Propose { drafts: vec![Draft { change, reason, checks: Vec::new() }], finish }
    }
}

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caller {
    pub turn: TurnId,
    /// The step of the plan whose chat is open beside those of others; `None`: it is the only chat.
    pub step: Option<u32>,
}

/// Something an agent can call.
pub trait Tool: Send + Sync {
    /// Name, description and schema.
    fn spec(&self) -> ToolSpec;

    /// How long a call may take, the person's thinking not counted.
    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Whether it builds: a build has a limit of its own in the settings.
    fn is_build(&self) -> bool {
        false
    }

    /// Runs with arguments that are a JSON value, maybe not of the right shape. Deterministic for
    /// the same project: a call that was cut off before all of its drafts were recorded is made
    /// again, and its drafts are matched with the recorded proposals by position.
    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>>;

    /// [`Tool::call`] for tools that keep something apart for each of several chats.
    fn call_for(&self, _caller: &Caller, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        self.call(args)
    }

    /// Makes what makes the answer of a call that an earlier start of the program left unanswered
    /// and that is not made again. `recorded` are its proposals as they were made, in order; what
    /// they are about may be done already. `contents` has what the files held.
    fn finish_recorded<'a>(
        &'a self,
        _args: &'a Value,
        recorded: &'a [Proposal],
        _contents: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        recorded::ready(plain_finish(recorded))
    }
}

#[cfg(test)]
mod tool_tests;

#[cfg(test)]
mod edit_tests;

#[cfg(test)]
mod board_tests;
