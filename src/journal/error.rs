//! What can go wrong with a session on disk.

use std::io;
use std::path::PathBuf;

use crate::model::{ContentHash, LogId, Record, SessionId, UserError};

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// What was to be done, e.g. `record an event`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        source: io::Error,
    },
    /// Another program runs the session.
    #[error("session {session} is open in another firmhand")]
    Locked {
        session: SessionId,
        /// The other program's process id, when it could be read.
        holder: Option<u32>,
    },
    /// A newer program wrote it.
    #[error("the journal has format {found}, this program supports {}", Record::VERSION)]
    Newer {
        /// The format found.
        found: u16,
    },
    /// No session of that name.
    #[error("no session is named {name}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// Sessions it might mean.
        candidates: Vec<SessionId>,
    },
    /// Stored content is gone or damaged.
    #[error("content {} {why}", hash.short())]
    Blob {
        hash: ContentHash,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such log.
    #[error("there is no log {0}")]
    NoLog(LogId),
    /// The oldest output of a log was given up.
    #[error("the first {bytes} bytes of {log} are no longer kept")]
    GivenUp {
        log: LogId,
        /// Bytes that are gone.
        bytes: u64,
    },
    /// An event could not be put into JSON.
    #[error("an event cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl JournalError {
    /// Makes an error out of an IO error, for `map_err`.
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}

impl JournalError {
    /// Why a session could not be deleted, for the person.
    #[must_use]
    pub fn of_deletion(self) -> UserError {
        let open = match &self {
            Self::Locked { session, .. } => Some(format!("Cannot delete session {session}")),
            _ => None,
        };
        let error = UserError::from(self);
        match open {
            Some(what) => UserError::new(what, error.why, "Close it there first, then delete it."),
            None => error,
        }
    }
}

impl From<JournalError> for UserError {
    fn from(error: JournalError) -> Self {
        let why = error.to_string();
        match error {
            JournalError::Io { doing, source, .. } => {
                use io::ErrorKind as Kind;
                let fix = match source.kind() {
                    Kind::StorageFull | Kind::QuotaExceeded => {
                        "Free some space; everything recorded so far is complete."
                    }
                    Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                        "Make the folder writable, or set FIRMHAND_DATA_DIR to another one."
                    }
                    Kind::NotFound => "Check that the session's folder is complete.",
                    _ => "",
                };
                Self::new(format!("Cannot {doing}"), why, fix)
            }
            JournalError::Locked { session, holder } => {
                let who = holder.map_or(String::new(), |pid| format!(" (process {pid})"));
                Self::new(
                    format!("Cannot open session {session} here"),
                    format!("it is open in another firmhand{who}"),
                    format!("Close it first, or watch it with `firmhand replay {session}`."),
                )
            }
            JournalError::Newer { .. } => {
                let fix = "Use the firmhand version that wrote it, or a newer one.";
                Self::new("Cannot read the session", why, fix)
            }
            JournalError::Unknown { candidates, .. } => {
                let names: Vec<&str> = candidates.iter().map(SessionId::as_str).collect();
                let fix = if names.is_empty() {
                    "`firmhand sessions` lists all sessions.".to_owned()
                } else {
                    format!("Did you mean: {}?", names.join(", "))
                };
                Self::new("Cannot open the session", why, fix)
            }
            JournalError::Blob { .. } => {
                let fix =
                    "Restore `blobs.pack` in the session's folder from a copy, if you have one.";
                Self::new("Cannot show a file's content", why, fix)
            }
            JournalError::NoLog(_) => Self::new("Cannot read a log", why, ""),
            JournalError::GivenUp { .. } => {
                Self::new("Cannot read a log", why, "To keep more, raise `logs.keep_mib`.")
            }
            JournalError::Json(_) => Self::new("Cannot record an event", why, ""),
        }
    }
}
