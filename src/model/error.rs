//! The one error shape that a person sees.

use serde::{Deserialize, Serialize};

/// What went wrong, why, and how to mend it: three plain sentences for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {why}")]
pub struct UserError {
    /// What could not be done.
    pub what: String,
    pub why: String,
    /// What the person can do about it; empty when nothing can be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

impl UserError {
    /// Builds the three parts at once.
    pub fn new(what: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), fix: fix.into() }
    }

    /// Wraps an IO or library error whose text says the cause.
    pub fn from_cause(what: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        Self::new(what, cause.to_string(), "")
    }

    /// Adds or replaces the advice.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }
}
