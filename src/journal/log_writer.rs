//! Writes one raw log, in files of bounded size of which the oldest are given up.
//!
//! Owns what is on disk of it. Nothing that came is ever counted out: what could not be written
//! keeps its place as a gap.

#![expect(clippy::disallowed_methods, reason = "raw logs are kept below the session's folder")]

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memchr::{memchr, memchr_iter};

use crate::model::{LogKind, Timestamp};

use super::log_limits::{LogLength, LogLimits};
use super::segments::{self, Segment};
use super::times::Times;

/// A file may be longer by this much than its limit, so that it ends with a whole line.
const SLACK: u64 = 64 * 1024;

/// After a failure nothing is tried for so long.
const PAUSE: Duration = Duration::from_millis(500);

/// A log that is written.
#[derive(Debug)]
pub(super) struct LogWriter {
    /// The log's first file, whether or not that is still there.
    first: PathBuf,
    kind: LogKind,
    limits: LogLimits,
    /// Files that are full, oldest first.
    full: VecDeque<Full>,
    current: Option<Current>,
    length: LogLength,
    /// Whether what comes next begins a line.
    is_at_line: bool,
    /// What is no longer kept.
    given_up: u64,
    failed: Option<LogFailure>,
}

/// A file that no longer grows.
#[derive(Debug)]
struct Full {
    path: PathBuf,
    start: u64,
    bytes: u64,
}

/// The file that grows.
#[derive(Debug)]
struct Current {
    file: File,
    path: PathBuf,
    start: u64,
    /// When its lines came; `None` where nobody wants to know, or it cannot be kept.
    times: Option<Times>,
}

/// The last failure.
#[derive(Debug)]
struct LogFailure {
    at: Instant,
    kind: ErrorKind,
}

impl LogWriter {
    /// Goes on with the log whose first file is `first`, or begins it.
    ///
    /// # Errors
    /// When what an earlier run wrote cannot be read.
    pub fn open(first: PathBuf, kind: LogKind, limits: LogLimits) -> io::Result<Self> {
        let mut found = segments::list(&first)?;
        let given_up = found.first().map_or(0, |segment| segment.start);
        let last = found.pop();
        let full = |Segment { path, start, bytes, .. }| Full { path, start, bytes };
        let mut log = Self {
            first,
            kind,
            limits,
            full: found.into_iter().map(full).collect(),
            current: None,
            length: LogLength::default(),
            is_at_line: true,
            given_up,
            failed: None,
        };
        if let Some(last) = last {
            log.go_on(&last)?;
        }
        Ok(log)
    }

    fn go_on(&mut self, last: &Segment) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).append(true).open(&last.path)?;
        self.length = LogLength { bytes: last.start, lines: last.lines };
        let mut block = vec![0; 64 * 1024];
        loop {
            let got = file.read(&mut block)?;
            let bytes = block.get(..got).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            self.count(bytes);
        }
        let times = self.times(&last.path, self.is_at_line);
        self.current = Some(Current { file, path: last.path.clone(), start: last.start, times });
        Ok(())
    }

    /// What came so far.
    pub const fn length(&self) -> LogLength {
        self.length
    }

    /// Bytes that are no longer kept.
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Appends what came at `at`.
    ///
    /// # Errors
    /// When not all of it could be written. It counts all the same; what is missing is a gap.
    pub fn append(&mut self, bytes: &[u8], at: Timestamp) -> io::Result<()> {
        let mut rest = bytes;
        let mut done = Ok(());
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.free_bytes(rest));
            let written = self.write(now, at);
            self.count(now);
            done = done.and(written);
            rest = later;
        }
        done
    }

    fn count(&mut self, bytes: &[u8]) {
        self.length.bytes += bytes.len() as u64;
        self.length.lines += memchr_iter(b'\n', bytes).count() as u64;
        self.is_at_line = bytes.last().map_or(self.is_at_line, |byte| *byte == b'\n');
    }

    /// Bytes of the file that comes next; `None` when that is a new one.
    fn held(&self) -> Option<u64> {
        let held = self.length.bytes - self.current.as_ref()?.start;
        let most = self.limits.segment + if self.is_at_line { 0 } else { SLACK };
        (held < most).then_some(held)
    }

    /// How many of `bytes` go to the file that comes next: all, or as many as end it with a line.
    fn free_bytes(&self, bytes: &[u8]) -> usize {
        let held = self.held().unwrap_or(0);
        let most = (self.limits.segment + SLACK).saturating_sub(held);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len());
        let wanted = usize::try_from(self.limits.segment.saturating_sub(held));
        let wanted = wanted.unwrap_or(usize::MAX).saturating_sub(1);
        let over = bytes.get(wanted..most).unwrap_or_default();
        memchr(b'\n', over).map_or(most, |end| wanted + end + 1).max(1)
    }

    fn write(&mut self, bytes: &[u8], at: Timestamp) -> io::Result<()> {
        if let Some(failed) = self.failed.as_ref().filter(|failed| failed.at.elapsed() < PAUSE) {
            return Err(failed.kind.into());
        }
        let written = self.try_write(bytes, at);
        self.failed = None;
        if let Err(error) = &written {
            self.failed = Some(LogFailure { at: Instant::now(), kind: error.kind() });
            // The next file begins where the gap ends.
            self.leave();
        }
        written
    }

    fn try_write(&mut self, bytes: &[u8], at: Timestamp) -> io::Result<()> {
        let offset = self.length.bytes;
        if self.held().is_none() {
            self.begin(at)?;
        }
        let Some(current) = &mut self.current else { return Err(ErrorKind::NotFound.into()) };
        current.file.write_all(bytes)?;
        if let Some(times) = &mut current.times
            && times.note(offset, bytes, at).is_err()
        {
            current.times = None;
        }
        Ok(())
    }

    /// Begins a file, after making room for it.
    fn begin(&mut self, at: Timestamp) -> io::Result<()> {
        self.leave();
        self.give_up();
        if let Some(folder) = self.first.parent() {
            fs::create_dir_all(folder)?;
        }
        let LogLength { bytes: start, lines } = self.length;
        let path = segments::path(&self.first, start, lines, at);
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        let times = self.times(&path, true);
        self.current = Some(Current { file, path, start, times });
        Ok(())
    }

    fn times(&self, path: &Path, is_at_start: bool) -> Option<Times> {
        // What cannot be noted is missed by nobody but the clock beside the lines.
        let is_wanted = self.kind == LogKind::Serial;
        is_wanted.then(|| Times::open(&path.with_extension("times"), is_at_start).ok()).flatten()
    }

    /// Lets go of the file that grew; one that nothing was written to goes.
    fn leave(&mut self) {
        let Some(Current { file, path, start, .. }) = self.current.take() else { return };
        match file.metadata().map(|metadata| metadata.len()) {
            Ok(0) => {
                // An empty file says nothing wrong.
                let _ = remove(&path);
            }
            Ok(bytes) => self.full.push_back(Full { path, start, bytes }),
            Err(_) => self.full.push_back(Full { path, start, bytes: self.limits.segment }),
        }
    }

    /// Gives up the oldest files, as many as must go for one more.
    fn give_up(&mut self) {
        let LogLimits { keep, segment } = self.limits;
        let mut held: u64 = self.full.iter().map(|full| full.bytes).sum();
        // The ends of lines that made files longer must not cost a whole file.
        let most = keep.saturating_add(SLACK.min(segment / 16));
        while held.saturating_add(segment) > most
            && let Some(oldest) = self.full.front()
        {
            // One that cannot be removed now is tried again with the next file.
            if remove(&oldest.path).is_err() {
                break;
            }
            held -= oldest.bytes;
            self.full.pop_front();
            self.given_up = self.full.front().map_or(self.length.bytes, |oldest| oldest.start);
        }
    }
}

/// Removes a file of a log; first of all what is known about its lines.
fn remove(path: &Path) -> io::Result<()> {
    for path in [&path.with_extension("times"), path] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "log_writer_tests.rs"]
mod tests;
