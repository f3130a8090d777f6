//! What can go wrong with the project's folder, and how that is told to a person.

use std::io;

use crate::model::{ProjectPath, UserError};

/// Why something in the project folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The project folder itself cannot be opened.
    #[error("cannot open the project folder `{folder}`: {source}")]
    Root {
        /// The folder as it was given.
        folder: String,
        source: io::Error,
    },
    /// There is nothing at that path.
    #[error("`{0}` does not exist")]
    Missing(ProjectPath),
    /// A folder, socket, pipe or device is there instead of a file.
    #[error("`{0}` is not a regular file")]
    NotAFile(ProjectPath),
    /// A symbolic link on the way leads out of the project.
    #[error("`{0}` is outside of the project folder, behind a symbolic link")]
    Outside(ProjectPath),
    /// It is too long to be handled whole.
    #[error("`{path}` has {bytes} bytes, more than the {limit} that are handled")]
    TooLarge {
        path: ProjectPath,
        /// Length in bytes.
        bytes: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// Anything else the disk says.
    #[error("cannot read `{path}`: {source}")]
    Io { path: ProjectPath, source: io::Error },
}

impl WorkspaceError {
    /// Sorts what the sandboxed directory says into one of the kinds.
    pub(super) fn of(path: &ProjectPath, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing(path.clone()),
            // The sandboxed directory reports an escape as a permission error without a number of
            // the operating system.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                Self::Outside(path.clone())
            }
            _ => Self::Io { path: path.clone(), source },
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Root { .. } => "Name an existing folder that you may read.",
            Self::Missing(_) => "Use `list_project_files` to see which files there are.",
            Self::NotAFile(_) => "Name a file.",
            Self::Outside(_) => "Replace the link by the file itself, or open the other folder.",
            Self::TooLarge { .. } => "Do not keep such files among the sources.",
            Self::Io { .. } => "Check the permissions of the file and its folders.",
        }
    }
}

impl From<WorkspaceError> for UserError {
    fn from(error: WorkspaceError) -> Self {
        let what = match &error {
            WorkspaceError::Root { folder, .. } => format!("Cannot open the project `{folder}`"),
            WorkspaceError::Missing(path)
            | WorkspaceError::NotAFile(path)
            | WorkspaceError::Outside(path)
            | WorkspaceError::TooLarge { path, .. }
            | WorkspaceError::Io { path, .. } => format!("Cannot read `{path}`"),
        };
        let why = match &error {
            WorkspaceError::Root { source, .. } | WorkspaceError::Io { source, .. } => {
                source.to_string()
            }
            _ => error.to_string(),
        };
        Self::new(what, why, error.advice())
    }
}
