//! What happens to the project's files besides what agents propose.

use serde::{Deserialize, Serialize};

use super::path::ProjectPath;

/// Something about the project's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileEvent {
    /// Somebody else than this session changed files.
    ChangedOutside {
        /// Sorted by path.
        files: Vec<OutsideChange>,
    },
}

/// A file that somebody else changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideChange {
    pub path: ProjectPath,
    /// Its length now; `None`: it is gone.
    pub bytes: Option<u64>,
}
