//! Facts of builds and raw logs.

use serde::{Deserialize, Serialize};

use crate::model::build::{BuildOutcome, Diagnostic, ProgramSize};
use crate::model::ids::{BuildId, LogId};

/// How builds go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum BuildEvent {
    /// A build began.
    #[serde(rename = "build_started")]
    Started {
        /// Number of the build.
        build: BuildId,
        /// Where its raw output goes.
        log: LogId,
        /// What is run, for people.
        command: String,
    },
    /// The build got on.
    #[serde(rename = "build_progress")]
    Progress {
        build: BuildId,
        /// Steps that are done.
        done: u32,
        /// Steps in all.
        total: u32,
    },
    /// The build ended.
    #[serde(rename = "build_ended")]
    Ended {
        build: BuildId,
        outcome: BuildOutcome,
        /// What was found, errors first.
        diagnostics: Vec<Diagnostic>,
        /// How long it took.
        millis: u64,
        /// What the program takes; `None` when the build did not pass or it was not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<Box<ProgramSize>>,
    },
}

/// How raw logs grow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LogEvent {
    /// A raw log is now this long.
    #[serde(rename = "log_grew")]
    Grew {
        log: LogId,
        /// Its length in bytes.
        bytes: u64,
        /// Line feeds in it.
        lines: u64,
    },
}
