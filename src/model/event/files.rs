//! Facts of the project's files that no proposal made.

use serde::{Deserialize, Serialize};

use crate::model::files::FileEvent;
use crate::model::path::ProjectPath;

/// One file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    /// Where it is.
    pub path: ProjectPath,
    /// Length in bytes.
    pub bytes: u64,
}

/// What a source file has for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSignatures {
    pub path: ProjectPath,
    /// Functions and types, in one line each.
    pub lines: Vec<String>,
}

/// The files of the project as they are on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FilesEvent {
    /// The files of the project as they are now; replaces the list known before.
    #[serde(rename = "project_listed")]
    Listed {
        /// Sorted by path.
        files: Vec<ProjectFile>,
        /// How many more there are than could be listed.
        #[serde(default)]
        omitted: u64,
        /// What its sources have for each other, where a phase asks for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        signatures: Vec<FileSignatures>,
    },
    /// Something about the project's files that no agent did.
    #[serde(rename = "files")]
    Disk(FileEvent),
}
