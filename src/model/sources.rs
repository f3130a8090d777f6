//! The doors through which higher floors reach a session's storage.

use std::ops::Range;
use std::sync::Arc;

use super::blob::{BlobRef, ContentHash};
use super::error::UserError;
use super::event::Event;
use super::ids::{LogId, Seq};
use super::path::ProjectPath;
use super::proposal::Proposal;
use super::record::Record;
use super::time::Timestamp;

/// Reads content by its hash.
pub trait BlobSource: Send + Sync {
    /// The content of `hash`.
    ///
    /// # Errors
    /// When it is missing, unreadable, or its bytes no longer have that hash.
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError>;
}

/// Looks at what a person would write instead of what was proposed.
pub trait Examiner: Send + Sync {
    /// The proposal as it would be if it wrote `content`, with the checks and facts of that
    /// content, the compiler's among them. Nothing is stored, recorded or decided. It may take
    /// seconds, and blocks the thread that calls it.
    ///
    /// # Errors
    /// When the proposal writes no text, its file cannot be read back, or the run is over.
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError>;
}

/// Where a raw log begins whose oldest output is no longer kept. All zero: everything is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStart {
    /// Bytes that are no longer kept, so the offset of the first one that is.
    pub bytes: u64,
    /// Line feeds among them, so the number of the first line that is there, or its rest.
    pub lines: u64,
    /// When what is kept began to arrive; `None` where that is not known.
    pub since: Option<Timestamp>,
}

/// Reads raw logs by byte offset. Offsets count from the start of the log, whatever is still kept.
pub trait LogSource: Send + Sync {
    /// The bytes of `log` within `range`; shorter when the log ends before.
    ///
    /// # Errors
    /// When the log is missing or unreadable, or the range begins before [`LogSource::start`].
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError>;

    /// Where `log` begins by now; it moves on while the log is written.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn start(&self, _log: LogId) -> Result<LogStart, UserError> {
        Ok(LogStart::default())
    }

    /// When the line with the byte at `offset` of `log` began to arrive; `None` where that was not
    /// noted.
    fn arrived(&self, _log: LogId, _offset: u64) -> Option<Timestamp> {
        None
    }
}

/// The beginning of a file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStart {
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// How many it has in all.
    pub total: u64,
}

/// Reads the files of the project as they are on disk now.
pub trait FileSource: Send + Sync {
    /// At most `limit` bytes from the start of a file.
    ///
    /// # Errors
    /// When it is missing, no file, outside of the project, or unreadable.
    fn file_start(&self, path: &ProjectPath, limit: u64) -> Result<FileStart, UserError>;
}

/// Reads a session's own records by their numbers.
pub trait EventSource: Send + Sync {
    /// The records numbered within `range`, in order; those that are not there or cannot be read
    /// are left out.
    ///
    /// # Errors
    /// When the journal is missing or unreadable.
    fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError>;
}

/// Gives the records of a session, oldest first, as often as they are asked for.
pub trait RecordSource {
    /// Hands each record to `fold`, without keeping any: a session may have millions.
    ///
    /// # Errors
    /// When the journal cannot be read.
    fn each(&self, fold: &mut dyn FnMut(&Record)) -> Result<(), UserError>;
}

impl RecordSource for Vec<Record> {
    fn each(&self, fold: &mut dyn FnMut(&Record)) -> Result<(), UserError> {
        self.iter().for_each(fold);
        Ok(())
    }
}

/// Writes facts. There is one behind a running session: the recorder.
pub trait Ledger: Send + Sync {
    /// Appends `event`; when this returns, every reader can see it, and it is on disk if
    /// [`Event::is_synced`] says so.
    ///
    /// # Errors
    /// When it could not be written; then nothing may be done that relies on it.
    fn record(&self, event: Event) -> Result<Seq, UserError>;

    /// As [`Ledger::record`], and calls `meanwhile` once, as soon as `event` is written: what it
    /// does may go on while the event is on its way to the disk. It must not record anything.
    ///
    /// # Errors
    /// As [`Ledger::record`]; `meanwhile` may have been called all the same.
    fn record_meanwhile(
        &self,
        event: Event,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Seq, UserError> {
        let seq = self.record(event)?;
        meanwhile();
        Ok(seq)
    }

    /// Stores content and tells its address.
    ///
    /// # Errors
    /// When it could not be written.
    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError>;

    /// Begins to bring what was stored to the disk, where it is before any record that is made
    /// afterwards. To be called while there is other work to do; without it the next record waits.
    fn sync_contents(&self) {}

    /// Appends raw bytes to a log. The ledger itself records how far the log has grown
    /// ([`LogEvent::Grew`](super::event::LogEvent::Grew)), at most twenty times a second in the long
    /// run, and once more on [`Ledger::flush_log`].
    ///
    /// # Errors
    /// When they could not be written.
    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError>;

    /// Records the final length of a log.
    ///
    /// # Errors
    /// When it could not be recorded.
    fn flush_log(&self, log: LogId) -> Result<(), UserError>;
}
