//! How far a conversation has come: the state that travels with the requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::script::Script;
use crate::model::UserError;

/// What the next call has to know of those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    /// The step that was played last.
    pub at: String,
    /// By path: what was handed in last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Handed>,
    /// How often each of the person's messages was seen, by a short hash.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, u32>,
}

/// A version of a file that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Handed {
    /// Place in the script's list of files.
    pub file: usize,
    /// Counted from 0.
    pub version: usize,
}

impl Cursor {
    /// Reads the state of a request; `None` before the first answer.
    pub fn read(state: Option<&str>, script: &Script) -> Result<Option<Self>, UserError> {
        let Some(state) = state else { return Ok(None) };
        serde_json::from_str(state).map(Some).map_err(|error| {
            UserError::new(
                format!("Cannot go on with the recording {}", script.file),
                format!("the session's place in it cannot be read: {error}"),
                "Begin a new session.",
            )
        })
    }

    /// As text, for [`Delta::Done`](crate::provider::Delta::Done).
    pub fn write(&self) -> Option<String> {
        // A struct of texts and numbers always serialises.
        serde_json::to_string(self).ok()
    }
}
