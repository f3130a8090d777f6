//! What a build tells.

use serde::{Deserialize, Serialize};

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The build cannot succeed with it.
    Error,
    /// It builds, but look.
    Warning,
    /// Explains another diagnostic.
    Note,
}

/// One finding of a compiler, linker, CMake or ninja.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Relative to the project where the file lies in it; `None` when no file is named.
    pub file: Option<String>,
    /// From 1; `None` when unknown.
    pub line: Option<u32>,
    /// In bytes from 1, as GCC counts; `None` when unknown.
    pub column: Option<u32>,
    /// How bad it is.
    pub severity: Severity,
    /// One line of text.
    pub message: String,
    /// The framework's or our own advice; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildOutcome {
    /// There is something to flash.
    Passed,
    /// The project has errors.
    Failed,
    /// It ran into the time limit and was ended.
    TimedOut,
    /// The person stopped it.
    Cancelled,
    /// The build could not even start; the text says why.
    NotRun(super::error::UserError),
}
