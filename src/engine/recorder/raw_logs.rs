//! Keeps secrets out of raw logs: what a board or a build prints is cleaned on its way to the disk,
//! and so on its way to every screen.
//!
//! Owns what is held back of each log because a secret may begin there. Must not write.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::LogId;
use crate::text::redact::RawPieces;
use crate::text::secrets::Secrets;

/// Cleans the pieces of raw logs.
#[derive(Debug, Default)]
pub(in crate::engine) struct RawLogs {
    pub secrets: Secrets,
    open: Mutex<BTreeMap<LogId, RawPieces>>,
}

impl RawLogs {
    /// Hands what can be written of a piece to `write`. Pieces of a log are written in the order
    /// in which they come here.
    pub fn pass<R>(&self, log: LogId, bytes: &[u8], write: impl FnOnce(&[u8]) -> R) -> R {
        let redactor = self.secrets.redactor();
        if redactor.is_empty() {
            return write(bytes);
        }
        let mut open = self.open();
        let clean = open.entry(log).or_default().push(&redactor, bytes);
        write(&clean)
    }

    /// Hands what was held back of a log that is over to `write`.
    pub fn end<R: Default>(&self, log: LogId, write: impl FnOnce(&[u8]) -> R) -> R {
        let mut open = self.open();
        let Some(mut pieces) = open.remove(&log) else { return R::default() };
        write(&pieces.end(&self.secrets.redactor()))
    }

    /// Hands what was held back for too long to `write`.
    pub fn rest(&self, mut write: impl FnMut(LogId, &[u8])) {
        for (log, pieces) in self.open().iter_mut().filter(|(_, pieces)| pieces.has_rest()) {
            write(*log, &Cow::from(pieces.rest()));
        }
    }

    /// Whether something is held back that can be passed on by and by.
    pub fn has_rest(&self) -> bool {
        self.open().values().any(RawPieces::has_rest)
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<LogId, RawPieces>> {
        // Each piece leaves them whole, so a panic elsewhere does not make them wrong.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
