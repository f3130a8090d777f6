//! Raw process and serial output, byte for byte, in files beside the journal.

#![expect(clippy::disallowed_methods, reason = "raw logs are kept below the session's folder")]

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;

use crate::model::{LogId, LogKind, LogSource, Timestamp, UserError};

use super::dir::SessionDir;
use super::error::JournalError;
use super::reader::read_up_to;
use super::times::{self, Times};

/// How long a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogLength {
    /// Bytes.
    pub bytes: u64,
    /// Line feeds among them.
    pub lines: u64,
}

/// A session's raw logs: appended by the running program, read by anyone.
#[derive(Debug)]
pub struct LogFiles {
    dir: SessionDir,
    writing: Mutex<BTreeMap<LogId, Growing>>,
    reading: Mutex<BTreeMap<LogId, Arc<File>>>,
    /// When lines came, for the logs that are asked for that.
    timing: Mutex<BTreeMap<LogId, File>>,
}

#[derive(Debug)]
struct Growing {
    file: File,
    length: LogLength,
    /// When the lines of a port came; `None` where nobody wants to know, or it cannot be kept.
    times: Option<Times>,
}

/// Bytes one read may ask for; panes ask for a screenful.
const MAX_READ: u64 = 64 * 1024 * 1024;

/// Longest raw log in bytes.
pub const MAX_LOG: u64 = 256 << 20;

impl LogFiles {
    pub(super) fn new(dir: SessionDir) -> Self {
        let (writing, reading, timing) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { dir, writing, reading, timing }
    }

    /// Appends bytes that came at `at` and tells the length after them. A log holds [`MAX_LOG`] bytes at most, so that
    /// a device that never stops talking cannot fill the disk; what comes later is dropped.
    ///
    /// # Errors
    /// When they could not be written; then none of them stays.
    pub fn append(
        &self,
        log: LogId,
        bytes: &[u8],
        at: Timestamp,
    ) -> Result<LogLength, JournalError> {
        let mut writing = lock(&self.writing);
        let growing = match writing.entry(log) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let times = (log.kind == LogKind::Serial).then(|| self.dir.times_file(log));
                entry.insert(open_growing(&self.dir.log_file(log), times.as_deref())?)
            }
        };
        let room = MAX_LOG.saturating_sub(growing.length.bytes);
        let bytes = bytes.get(..usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or(bytes);
        if let Err(error) = growing.file.write_all(bytes) {
            // Cutting back keeps length and file in step; if it fails, the count is taken anew.
            if growing.file.set_len(growing.length.bytes).is_err() {
                writing.remove(&log);
            }
            return Err(JournalError::io("write a log", self.dir.log_file(log))(error));
        }
        if let Some(times) = &mut growing.times
            && times.note(growing.length.bytes, bytes, at).is_err()
        {
            growing.times = None;
        }
        growing.length.bytes += bytes.len() as u64;
        growing.length.lines += memchr_iter(b'\n', bytes).count() as u64;
        Ok(growing.length)
    }

    /// Closes a log that will not grow any more.
    pub fn close(&self, log: LogId) {
        lock(&self.writing).remove(&log);
    }

    fn open_reading(&self, log: LogId) -> Result<Arc<File>, JournalError> {
        let mut reading = lock(&self.reading);
        if let Some(file) = reading.get(&log) {
            return Ok(Arc::clone(file));
        }
        let path = self.dir.log_file(log);
        let file = File::open(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => JournalError::NoLog(log),
            _ => JournalError::io("read a log", &path)(error),
        })?;
        let file = Arc::new(file);
        reading.insert(log, Arc::clone(&file));
        Ok(file)
    }
}

impl LogSource for LogFiles {
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let file = self.open_reading(log)?;
        let failed = || JournalError::io("read a log", self.dir.log_file(log));
        let end = file.metadata().map_err(failed())?.len().min(range.end);
        let size = end.saturating_sub(range.start).min(MAX_READ);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        let got = read_up_to(&file, &mut bytes, range.start).map_err(failed())?;
        bytes.truncate(got);
        Ok(bytes)
    }

    fn arrived(&self, log: LogId, offset: u64) -> Option<Timestamp> {
        let mut timing = lock(&self.timing);
        let file = match timing.entry(log) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(File::open(self.dir.times_file(log)).ok()?)
            }
        };
        times::find(file, offset)
    }
}

/// Opens a log to append to; one that an earlier run began is counted first.
fn open_growing(path: &Path, times: Option<&Path>) -> Result<Growing, JournalError> {
    let failed = || JournalError::io("write a log", path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed())?;
    }
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed())?;
    let mut length = LogLength::default();
    let mut last = b'\n';
    let mut block = vec![0; 64 * 1024];
    loop {
        let got = file.read(&mut block).map_err(failed())?;
        if got == 0 {
            // What cannot be noted is missed by nobody but the clock beside the lines.
            let times = times.and_then(|times| Times::open(times, last == b'\n').ok());
            return Ok(Growing { file, length, times });
        }
        let bytes = block.get(..got).unwrap_or_default();
        last = bytes.last().copied().unwrap_or(last);
        length.bytes += got as u64;
        length.lines += memchr_iter(b'\n', bytes).count() as u64;
    }
}

/// A panic elsewhere leaves these maps whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_grow_and_are_read_by_range() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "t", Timestamp(0)).unwrap();
        let log = LogId { kind: LogKind::Serial, number: 1 };
        let logs = dir.logs();
        assert!(logs.read_log(log, 0..9).unwrap_err().why.contains("serial-1"));
        assert_eq!(
            logs.append(log, b"one\ntw", Timestamp(1)).unwrap(),
            LogLength { bytes: 6, lines: 1 }
        );
        assert_eq!(
            logs.append(log, b"o\n\xff", Timestamp(2)).unwrap(),
            LogLength { bytes: 9, lines: 2 }
        );
        assert_eq!(logs.read_log(log, 4..8).unwrap(), b"two\n");
        assert_eq!(logs.read_log(log, 8..100).unwrap(), b"\xff");
        assert_eq!(logs.read_log(log, 50..60).unwrap(), b"");
        let came = [0, 4, 8].map(|offset| logs.arrived(log, offset).unwrap().0);
        assert_eq!(came, [1, 1, 2]);
        let build = LogId { kind: LogKind::Build, number: 1 };
        logs.append(build, b"x\n", Timestamp(4)).unwrap();
        assert_eq!(logs.arrived(build, 0), None);
        // A later run counts what is there.
        let later = dir.logs();
        assert_eq!(
            later.append(log, b"\n", Timestamp(3)).unwrap(),
            LogLength { bytes: 10, lines: 3 }
        );
    }
}
