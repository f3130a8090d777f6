//! Raw process and serial output, byte for byte, in files beside the journal.
//!
//! Owns who writes and who reads which log. A log keeps its newest output, as much as
//! [`LogLimits`] says, and every offset in it counts from its start.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{LogId, LogSource, LogStart, Timestamp, UserError};

use super::error::JournalError;
pub use super::log_limits::{LogLength, LogLimits};
use super::log_writer::LogWriter;
use super::reader::read_up_to;
use super::segments::{self, Gap, Segment};
use super::times;

/// A session's raw logs: appended by the running program, read by anyone.
#[derive(Debug)]
pub struct LogFiles {
    /// The folder of the logs.
    folder: PathBuf,
    limits: LogLimits,
    writing: Mutex<BTreeMap<LogId, LogWriter>>,
    reading: Mutex<BTreeMap<LogId, Reading>>,
}

/// The raw bytes of a log in its folder, or their beginning; [`LogFiles`] knows the files after it.
pub(super) fn log_file(folder: &Path, log: LogId) -> PathBuf {
    folder.join(format!("{log}.log"))
}

/// What a reader knows of a log.
#[derive(Debug, Default)]
struct Reading {
    segments: Arc<[Segment]>,
    /// The file that was read last, by where it begins.
    open: Option<(u64, Arc<File>)>,
    /// The same for when lines came.
    times: Option<(u64, Arc<File>)>,
    /// Gaps after files, by where those begin.
    gaps: BTreeMap<u64, Gap>,
}

/// Bytes one read may ask for; panes ask for a screenful.
const MAX_READ: u64 = 64 * 1024 * 1024;

/// Times that a read looks for files anew; more only come while it reads.
const MAX_LOOKS: usize = 8;

/// How a read of some files went.
enum Went {
    /// All that was asked for is there.
    Through,
    /// The files end, or are gone; there may be others by now.
    Short,
}

impl LogFiles {
    pub(super) fn new(folder: PathBuf) -> Self {
        let (writing, reading) = (Mutex::default(), Mutex::default());
        Self { folder, limits: LogLimits::default(), writing, reading }
    }

    /// The same logs, of which so much is kept from now on.
    #[must_use]
    pub fn keeping(self, limits: LogLimits) -> Self {
        Self { limits, ..self }
    }

    /// How much of each log is kept.
    #[must_use]
    pub const fn limits(&self) -> LogLimits {
        self.limits
    }

    /// Appends bytes that came at `at` and tells the length after them.
    ///
    /// # Errors
    /// When not all of them could be written. They count all the same, so that what comes later
    /// has its place; readers find words about the gap.
    pub fn append(
        &self,
        log: LogId,
        bytes: &[u8],
        at: Timestamp,
    ) -> Result<LogLength, JournalError> {
        let failed = || JournalError::io("write a log", log_file(&self.folder, log));
        let mut writing = lock(&self.writing);
        let writer = match writing.entry(log) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(
                LogWriter::open(log_file(&self.folder, log), log.kind, self.limits)
                    .map_err(failed())?,
            ),
        };
        writer.append(bytes, at).map_err(failed())?;
        Ok(writer.length())
    }

    /// Bytes that were given up of a log that is written here.
    #[must_use]
    pub fn given_up(&self, log: LogId) -> u64 {
        lock(&self.writing).get(&log).map_or(0, LogWriter::given_up)
    }

    /// Closes a log that no longer grows.
    pub fn close(&self, log: LogId) {
        lock(&self.writing).remove(&log);
    }

    /// Looks for the files of a log.
    fn look(&self, log: LogId) -> Result<Arc<[Segment]>, JournalError> {
        let first = log_file(&self.folder, log);
        let found = segments::list(&first).map_err(JournalError::io("read a log", &first))?;
        let mut reading = lock(&self.reading);
        let known = reading.entry(log).or_default();
        let is_there = |start: u64| found.iter().any(|segment| segment.start == start);
        // A file that is gone takes room as long as it is open.
        known.open.take_if(|(start, _)| !is_there(*start));
        known.times.take_if(|(start, _)| !is_there(*start));
        known.gaps.retain(|start, _| is_there(*start));
        known.segments = found.into();
        Ok(Arc::clone(&known.segments))
    }

    /// The files of a log as they were when somebody looked for them last.
    fn known(&self, log: LogId) -> Result<Arc<[Segment]>, JournalError> {
        let known = lock(&self.reading).get(&log).map(|known| Arc::clone(&known.segments));
        known.filter(|known| !known.is_empty()).map_or_else(|| self.look(log), Ok)
    }

    fn read(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, JournalError> {
        let range = range.start..range.end.min(range.start.saturating_add(MAX_READ));
        let mut bytes = Vec::new();
        let mut segments = self.known(log)?;
        for _ in 0..MAX_LOOKS {
            if matches!(self.fill(log, &segments, &range, &mut bytes)?, Went::Through) {
                return Ok(bytes);
            }
            let found = self.look(log)?;
            let starts =
                |segments: &[Segment]| segments.iter().map(|s| s.start).collect::<Vec<_>>();
            if starts(&found) == starts(&segments) {
                break;
            }
            segments = found;
        }
        match segments.first() {
            None => Err(JournalError::NoLog(log)),
            Some(first) if bytes.is_empty() && range.start < first.start => {
                Err(JournalError::GivenUp { log, bytes: first.start })
            }
            Some(_) => Ok(bytes),
        }
    }

    /// Goes on reading `range` after what is in `bytes`.
    fn fill(
        &self,
        log: LogId,
        segments: &[Segment],
        range: &Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<Went, JournalError> {
        loop {
            let at = range.start + bytes.len() as u64;
            if at >= range.end && !segments.is_empty() {
                return Ok(Went::Through);
            }
            let next = segments.partition_point(|segment| segment.start <= at);
            let Some(segment) = next.checked_sub(1).and_then(|place| segments.get(place)) else {
                return Ok(Went::Short);
            };
            let next = segments.get(next);
            let Some(file) = self.file(log, segment)? else { return Ok(Went::Short) };
            let until = next.map_or(range.end, |next| next.start.min(range.end));
            let failed = || JournalError::io("read a log", &segment.path);
            let end = segment.start + file.metadata().map_err(failed())?.len();
            let held = bytes.len();
            let wanted = until.min(end).saturating_sub(at);
            bytes.resize(held + usize::try_from(wanted).unwrap_or(0), 0);
            let into = bytes.get_mut(held..).unwrap_or_default();
            let got = read_up_to(&file, into, at - segment.start).map_err(failed())?;
            bytes.truncate(held + got);
            let at = at + got as u64;
            if at < until {
                let Some(next) = next else { return Ok(Went::Short) };
                bytes.extend(self.gap(log, segment, next, &file)?.read(&(at..until)));
            }
        }
    }

    /// The gap between a file and the next one.
    fn gap(
        &self,
        log: LogId,
        segment: &Segment,
        next: &Segment,
        file: &File,
    ) -> Result<Gap, JournalError> {
        let known = lock(&self.reading).get(&log).and_then(|r| r.gaps.get(&segment.start).cloned());
        if let Some(gap) = known.filter(|gap| gap.place.end == next.start) {
            return Ok(gap);
        }
        let failed = || JournalError::io("read a log", &segment.path);
        let bytes = file.metadata().map_err(failed())?.len();
        let feeds = segments::feeds(file).map_err(failed())?;
        let place = (segment.start + bytes).min(next.start)..next.start;
        let feeds = next.lines.saturating_sub(segment.lines + feeds);
        let gap = Gap { feeds: feeds.min(place.end - place.start), place };
        lock(&self.reading).entry(log).or_default().gaps.insert(segment.start, gap.clone());
        Ok(gap)
    }

    /// A file of a log; `None` when it is gone.
    fn file(&self, log: LogId, segment: &Segment) -> Result<Option<Arc<File>>, JournalError> {
        let mut reading = lock(&self.reading);
        let known = reading.entry(log).or_default();
        match opened(&mut known.open, segment.start, &segment.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::io("read a log", &segment.path)(error)),
        }
    }
}

/// The file of the part that begins there, which stays open until another is asked for.
fn opened(last: &mut Option<(u64, Arc<File>)>, start: u64, path: &Path) -> io::Result<Arc<File>> {
    if let Some((_, file)) = last.as_ref().filter(|(known, _)| *known == start) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    *last = Some((start, Arc::clone(&file)));
    Ok(file)
}

impl LogSource for LogFiles {
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        Ok(self.read(log, range)?)
    }

    fn start(&self, log: LogId) -> Result<LogStart, UserError> {
        let found = self.look(log)?;
        Ok(found.first().map_or_else(LogStart::default, |first| LogStart {
            bytes: first.start,
            lines: first.lines,
            since: first.since,
        }))
    }

    fn arrived(&self, log: LogId, offset: u64) -> Option<Timestamp> {
        let segments = self.known(log).ok()?;
        let next = segments.partition_point(|segment| segment.start <= offset);
        let segment = segments.get(next.checked_sub(1)?)?;
        let mut reading = lock(&self.reading);
        let known = reading.entry(log).or_default();
        let path = segment.path.with_extension("times");
        let file = opened(&mut known.times, segment.start, &path).ok()?;
        times::find(&file, offset)
    }
}

/// A panic elsewhere leaves these maps whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
