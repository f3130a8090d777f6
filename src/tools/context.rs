//! What every tool is given when it is made.

use std::sync::Arc;

use super::state::SharedState;
use crate::config::assets::Assets;
use crate::device::SerialHub;
use crate::knowledge::{Knowledge, NameList};
use crate::model::{BlobSource, Ledger};
use crate::sandbox::Runner;
use crate::toolchain::{StopSwitch, Toolchain};
use crate::workspace::ProjectDir;

/// Handles on everything tools work with. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    /// The project folder, for reading.
    pub project_dir: Arc<ProjectDir>,
    /// Takes facts and raw output.
    pub ledger: Arc<dyn Ledger>,
    /// What the session has come to so far.
    pub state: SharedState,
    /// Searched by `retrieve_docs`.
    pub knowledge: Arc<Knowledge>,
    /// File names the framework has taken.
    pub names: Arc<NameList>,
    /// Data files that are read when a tool asks for them.
    pub assets: Assets,
    /// Builds and plans flashes; the gate does the flashing.
    pub toolchain: Arc<dyn Toolchain>,
    /// Runs what agents wrote.
    pub runner: Runner,
    /// Contents of proposals; `None` where there are none.
    pub contents: Option<Arc<dyn BlobSource>>,
    /// Keeps serial ports open.
    pub serial: Arc<SerialHub>,
    /// Bounds of answers.
    pub limits: AnswerLimits,
    /// Ends whatever runs at once.
    pub cancel: StopSwitch,
}

/// Bounds of what tools answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Files in one list.
    pub files: usize,
    /// Bytes of one file's content.
    pub file_bytes: usize,
    /// Bytes of text in one answer.
    pub answer_bytes: usize,
    /// Diagnostics in one answer.
    pub diagnostics: usize,
    /// Seconds a build may take.
    pub build_seconds: u64,
    /// Seconds a board is listened to when the agent does not say.
    pub monitor_seconds: u32,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self {
            files: 500,
            file_bytes: 64 * 1024,
            answer_bytes: 128 * 1024,
            diagnostics: 50,
            build_seconds: 1_200,
            monitor_seconds: 10,
        }
    }
}
