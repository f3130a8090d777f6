//! Appends records to a session's journal: one write, one whole line.
//!
//! Content first, then the line: no record is written before the contents that were stored ahead of
//! it are on the disk.

#![expect(clippy::disallowed_methods, reason = "appends to the journal")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;

use crate::model::{Event, Record, Seq, Timestamp};
use crate::text::secrets::Secrets;

use super::blobs::Blobs;
use super::dir::SessionDir;
use super::discreet;
use super::error::JournalError;
use super::lock::SessionLock;
use super::storage::{Storage, append_once};
use super::tail::{Wanted, read_tail};

/// The only writer of a session; holds its lock.
#[derive(Debug)]
pub struct JournalWriter {
    file: Box<dyn Storage>,
    path: PathBuf,
    blobs: Blobs,
    /// Length of the file up to the last whole line.
    len: u64,
    next: Seq,
    line: Vec<u8>,
    /// Set while bytes of a line that counts for nothing may stand behind `len`.
    is_torn: bool,
    /// Why the disk did not take lines once. Those before may be lost although a later attempt
    /// succeeds, so that nothing is recorded behind them.
    unsynced: Option<ErrorKind>,
    secrets: Secrets,
    _lock: SessionLock,
}

/// What was found when a session was opened to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopened {
    /// The last record's number.
    pub last: Seq,
    /// When that record was made; 0 when there is none.
    pub last_at: Timestamp,
    /// Where the bytes of a torn last line were put, if there was one.
    pub torn: Option<PathBuf>,
}

impl JournalWriter {
    /// Starts the journal of a new session.
    ///
    /// # Errors
    /// When it is locked or cannot be made.
    pub fn create(dir: &SessionDir) -> Result<Self, JournalError> {
        let lock = SessionLock::acquire(dir)?;
        let path = dir.journal();
        let failed = || JournalError::io("start the session's journal", dir.journal());
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(failed())?;
        // The file's name must outlive a power failure as its content does.
        File::open(dir.root()).and_then(|root| root.sync_all()).map_err(failed())?;
        let (file, blobs, secrets) = (Box::new(file), dir.blobs(), Secrets::default());
        let (line, len, next) = (Vec::new(), 0, Seq(1));
        let (is_torn, unsynced) = (false, None);
        Ok(Self { file, path, blobs, len, next, line, is_torn, unsynced, secrets, _lock: lock })
    }

    /// Opens a session to go on. A torn last line is moved to a file of its own.
    ///
    /// # Errors
    /// When it is locked, was written by a newer program, or cannot be opened.
    pub fn reopen(dir: &SessionDir) -> Result<(Self, Reopened), JournalError> {
        let lock = SessionLock::acquire(dir)?;
        let path = dir.journal();
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(JournalError::io("open the session", &path))?;
        let tail = read_tail(&file, &path, TAIL, &Wanted::All)?;
        let torn = match tail.len > tail.whole {
            true => Some(put_aside(dir, &file, tail.whole, tail.len)?),
            false => None,
        };
        let next = tail.next_seq();
        let last_at = tail.records.last().map_or(Timestamp(0), |record| record.at);
        let reopened = Reopened { last: Seq(next.0 - 1), last_at, torn };
        let (blobs, secrets) = (dir.blobs(), Secrets::default());
        // A program that was killed may have stored contents that are not on the disk yet.
        blobs.sync_found()?;
        let (file, len, line) = (Box::new(file), tail.whole, Vec::new());
        let (is_torn, unsynced) = (false, None);
        let writer =
            Self { file, path, blobs, len, next, line, is_torn, unsynced, secrets, _lock: lock };
        Ok((writer, reopened))
    }

    /// Writes none of these secrets from now on.
    pub fn guard(&mut self, secrets: &Secrets) {
        self.secrets = secrets.clone();
    }

    /// The session's content store.
    #[must_use]
    pub const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// The number the next record gets.
    #[must_use]
    pub const fn next_seq(&self) -> Seq {
        self.next
    }

    /// Appends one record and returns it; it is on disk when [`Event::is_synced`] says so, and the
    /// contents it may name are in any case.
    ///
    /// # Errors
    /// When it, or a content, could not be written or synced. Then the file is as it was before, and
    /// after a failed sync nothing more is recorded by this writer.
    pub fn append(&mut self, at: Timestamp, event: Event) -> Result<Record, JournalError> {
        self.append_and(at, event, |file, is_synced| match is_synced {
            true => file.sync(),
            false => Ok(()),
        })
    }

    /// As [`JournalWriter::append`], and calls `meanwhile` once the record is written, while it is
    /// on its way to the disk.
    ///
    /// # Errors
    /// As [`JournalWriter::append`]; `meanwhile` may have been called all the same.
    pub fn append_meanwhile(
        &mut self,
        at: Timestamp,
        event: Event,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Record, JournalError> {
        self.append_and(at, event, |file, is_synced| match is_synced {
            true => sync_meanwhile(file, meanwhile),
            false => {
                meanwhile();
                Ok(())
            }
        })
    }

    fn append_and(
        &mut self,
        at: Timestamp,
        event: Event,
        finish: impl FnOnce(&dyn Storage, bool) -> std::io::Result<()>,
    ) -> Result<Record, JournalError> {
        self.mend()?;
        if let Some(kind) = self.unsynced {
            return Err(JournalError::io("record an event", &self.path)(kind.into()));
        }
        self.blobs.sync()?;
        let is_synced = event.is_synced();
        let mut record = Record { v: Record::VERSION, seq: self.next, at, event };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &record)?;
        let redactor = self.secrets.redactor();
        if let Some(clean) = discreet::without_secrets(&redactor, &self.line, &record)? {
            record = clean;
            self.line.clear();
            serde_json::to_writer(&mut self.line, &record)?;
        }
        self.line.push(b'\n');
        // Until all went well, and not if something panics meanwhile, the line counts for nothing.
        self.is_torn = true;
        let mut written = append_once(&*self.file, &self.line);
        if written.is_ok() {
            written = finish(&*self.file, is_synced);
            self.unsynced = written.as_ref().err().map(std::io::Error::kind);
        }
        if let Err(error) = written {
            // If that fails too, the next append tries again before it writes.
            let _ = self.mend();
            return Err(JournalError::io("record an event", &self.path)(error));
        }
        self.is_torn = false;
        self.len += self.line.len() as u64;
        self.next = record.seq.next();
        Ok(record)
    }

    /// Cuts the file back to its last whole line after a failed append.
    fn mend(&mut self) -> Result<(), JournalError> {
        if self.is_torn {
            let failed = JournalError::io("repair the journal after a failed write", &self.path);
            self.file.cut(self.len).map_err(failed)?;
            self.is_torn = false;
        }
        Ok(())
    }
}

/// Bytes at the end that nearly always hold a whole record.
const TAIL: u64 = 64 * 1024;

/// Syncs a file on another thread while `meanwhile` runs on this one; what both have to sync goes
/// to the disk together.
fn sync_meanwhile(file: &dyn Storage, meanwhile: &mut dyn FnMut()) -> std::io::Result<()> {
    thread::scope(|scope| {
        let syncing = thread::Builder::new().name("journal".to_owned());
        let syncing = syncing.spawn_scoped(scope, || file.sync());
        meanwhile();
        match syncing.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(synced)) => synced,
            // The thread could not be had, or did not get to its end.
            Ok(Err(_)) | Err(_) => file.sync(),
        }
    })
}

/// Moves the bytes from `whole` to `len` into a file beside the journal.
fn put_aside(dir: &SessionDir, file: &File, whole: u64, len: u64) -> Result<PathBuf, JournalError> {
    let (path, mut aside) = free_file(dir.root())?;
    let failed = || JournalError::io("put a damaged line aside", &path);
    let mut bytes = vec![0; usize::try_from(len - whole).unwrap_or(0)];
    file.read_exact_at(&mut bytes, whole).map_err(failed())?;
    aside.write_all(&bytes).and_then(|()| aside.sync_all()).map_err(failed())?;
    file.set_len(whole).and_then(|()| file.sync_all()).map_err(failed())?;
    Ok(path)
}

fn free_file(root: &Path) -> Result<(PathBuf, File), JournalError> {
    let mut number = 1_u32;
    loop {
        let path = root.join(format!("journal.damaged-{number}"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(JournalError::io("put a damaged line aside", path)(error)),
        }
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "torn_tests.rs"]
mod torn_tests;
