//! Finds the lines of a log of any size that pass a test; long stretches on a thread of their own.
//!
//! Owns the list of lines that pass. Must not hold the log: only a line that is not complete yet.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regex::{Regex, RegexBuilder};

use crate::model::UserError;
use crate::text::sanitize;
use crate::ui::job::{BackgroundJob, JobState};

use super::logs_index::MAX_LINE;
use super::logs_source::LogSourceView;

/// Most lines whose numbers are kept; of more, the first ones are only counted.
pub const MAX_HITS: usize = 1_000_000;

/// What is read of a log in the frame itself; more goes to a thread.
const AT_ONCE: u64 = 128 << 10;

/// A test for a line.
pub type Test = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What lines are looked for.
#[derive(Clone)]
pub struct Matcher {
    words: String,
    regex: Option<Regex>,
    test: Test,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Matcher").field(&self.words).finish()
    }
}

impl Matcher {
    /// Lines that a regular expression matches; one without capitals matches either case.
    ///
    /// # Errors
    /// When the pattern is no regular expression; the text says why.
    pub fn regex(pattern: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(!pattern.chars().any(char::is_uppercase))
            .size_limit(1 << 20)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "the pattern is too big".to_owned(),
                error => {
                    let text = error.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    last.trim_start_matches("error: ").to_owned()
                }
            })?;
        let own = regex.clone();
        let test: Test = Arc::new(move |line| own.is_match(line));
        Ok(Self { words: pattern.to_owned(), regex: Some(regex), test })
    }

    /// Lines that pass `test`; `words` says which those are.
    #[must_use]
    pub fn new(words: String, test: Test) -> Self {
        Self { words, regex: None, test }
    }

    /// Lines that pass this test and the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (first, second) = (self.test, other.test);
        Self {
            words: format!("{} {}", self.words, other.words),
            regex: self.regex.or(other.regex),
            test: Arc::new(move |line| first(line) && second(line)),
        }
    }

    /// What is looked for, as it was typed.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The expression whose matches are shown in a line.
    #[must_use]
    pub const fn pattern(&self) -> Option<&Regex> {
        self.regex.as_ref()
    }

    /// Whether a line without control characters passes.
    #[must_use]
    pub fn is_match(&self, line: &str) -> bool {
        (self.test)(line)
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Matches {
    /// Numbers of matching lines, rising.
    hits: VecDeque<u64>,
    /// How many came before them, which are too many or no longer kept.
    dropped: u64,
    /// How much was looked at.
    scanned: u64,
}

impl Matches {
    fn total(&self) -> u64 {
        self.dropped + self.hits.len() as u64
    }

    /// Matches are counted from 0, those no longer in the list included.
    fn hit(&self, place: u64) -> Option<u64> {
        let place = usize::try_from(place.checked_sub(self.dropped)?).ok()?;
        self.hits.get(place).copied()
    }

    fn take(&mut self, hits: Vec<u64>) {
        self.hits.extend(hits);
        self.drop_first(self.hits.len().saturating_sub(MAX_HITS));
    }

    /// Forgets the matches before line `number`.
    fn forget_before(&mut self, number: u64) {
        self.drop_first(self.hits.partition_point(|&hit| hit < number));
    }

    fn drop_first(&mut self, count: usize) {
        self.hits.drain(..count);
        self.dropped += count as u64;
    }
}

/// A search through one log.
#[derive(Debug)]
pub struct LogSearch {
    matcher: Matcher,
    source: LogSourceView,
    found: Arc<Mutex<Matches>>,
    scan: Scan,
    stop: Arc<AtomicBool>,
}

/// Who has the reader.
#[derive(Debug)]
enum Scan {
    Here(Box<Scanner>),
    Away(BackgroundJob<(Box<Scanner>, Result<(), UserError>)>),
    /// It broke; nothing more will be found.
    Lost,
}

impl LogSearch {
    /// A search that has not looked at anything yet.
    #[must_use]
    pub fn new(source: LogSourceView, matcher: Matcher) -> Self {
        let found = Arc::<Mutex<Matches>>::default();
        let stop = Arc::<AtomicBool>::default();
        let scanner = Scanner {
            matcher: matcher.clone(),
            found: Arc::clone(&found),
            stop: Arc::clone(&stop),
            number: 0,
            partial: Vec::new(),
        };
        Self { matcher, source, found, scan: Scan::Here(Box::new(scanner)), stop }
    }

    /// What is looked for.
    #[must_use]
    pub const fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// How many complete lines match so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.found().total()
    }

    /// How many of them can be gone to: the last ones.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.found().hits.len() as u64
    }

    /// Number of the first match that can be gone to, counted from 0.
    #[must_use]
    pub fn first_kept(&self) -> u64 {
        self.found().dropped
    }

    /// Forgets the matches before line `number`, which is the first one that is there.
    pub fn forget_before(&self, number: u64) {
        self.found().forget_before(number);
    }

    /// How much was looked at, in the units of the source.
    #[must_use]
    pub fn scanned(&self) -> u64 {
        self.found().scanned
    }

    /// Whether everything up to `end` has been looked at.
    #[must_use]
    pub fn is_complete(&self, end: u64) -> bool {
        match &self.scan {
            Scan::Here(_) => self.found().scanned >= end,
            Scan::Away(_) => false,
            Scan::Lost => true,
        }
    }

    /// Goes on up to `end`: at once when little is left, else on a thread; from the start again
    /// when less is there than was looked at.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn advance(&mut self, end: u64) -> Result<(), UserError> {
        if let Scan::Away(job) = &self.scan {
            match job.look() {
                JobState::Running => return Ok(()),
                JobState::Done((scanner, result)) => {
                    self.scan = Scan::Here(scanner);
                    result?;
                }
                JobState::Lost => self.scan = Scan::Lost,
            }
        }
        let scanned = self.found().scanned;
        let Scan::Here(scanner) = &mut self.scan else { return Ok(()) };
        if scanned > end {
            scanner.restart();
        }
        let left = end - if scanned > end { 0 } else { scanned };
        if left == 0 {
            return Ok(());
        }
        if left <= self.source.at_once(AT_ONCE) {
            return scanner.run(&self.source, end);
        }
        if let Scan::Here(mut scanner) = std::mem::replace(&mut self.scan, Scan::Lost) {
            let source = self.source.clone();
            self.scan = Scan::Away(BackgroundJob::start(move || {
                let result = scanner.run(&source, end);
                (scanner, result)
            }));
        }
        Ok(())
    }

    /// Number of the line that is the `place`-th match, from 0.
    #[must_use]
    pub fn line(&self, place: u64) -> Option<u64> {
        self.found().hit(place)
    }

    /// Numbers of some matching lines, by their places among the matches.
    #[must_use]
    pub fn lines(&self, range: std::ops::Range<u64>) -> Vec<u64> {
        let found = self.found();
        range.map_while(|place| found.hit(place.max(found.dropped))).collect()
    }

    /// How many matches lie before line `number`.
    #[must_use]
    pub fn before(&self, number: u64) -> u64 {
        let found = self.found();
        found.dropped + found.hits.partition_point(|&hit| hit < number) as u64
    }

    /// The first match after line `from`, or the very first when there is none.
    #[must_use]
    pub fn next(&self, from: u64) -> Option<u64> {
        let found = self.found();
        let place = found.hits.partition_point(|&hit| hit <= from);
        found.hits.get(place).or_else(|| found.hits.front()).copied()
    }

    /// The last match before line `from`, or the very last when there is none.
    #[must_use]
    pub fn previous(&self, from: u64) -> Option<u64> {
        let found = self.found();
        let place = found.hits.partition_point(|&hit| hit < from);
        let before = place.checked_sub(1).and_then(|place| found.hits.get(place));
        before.or_else(|| found.hits.back()).copied()
    }

    /// Place of line `number` among the matches, from 1; `None` when it does not match.
    #[must_use]
    pub fn place(&self, number: u64) -> Option<u64> {
        let found = self.found();
        found.hits.binary_search(&number).ok().map(|place| found.dropped + place as u64 + 1)
    }

    fn found(&self) -> MutexGuard<'_, Matches> {
        lock(&self.found)
    }
}

impl Drop for LogSearch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What goes through a log.
#[derive(Debug)]
pub(super) struct Scanner {
    matcher: Matcher,
    found: Arc<Mutex<Matches>>,
    stop: Arc<AtomicBool>,
    /// Number of the line that `partial` is.
    number: u64,
    /// Start of a line whose end is not read yet.
    partial: Vec<u8>,
}

impl Scanner {
    fn restart(&mut self) {
        *lock(&self.found) = Matches::default();
        self.number = 0;
        self.partial.clear();
    }

    fn run(&mut self, source: &LogSourceView, end: u64) -> Result<(), UserError> {
        let mut scanned = lock(&self.found).scanned;
        while scanned < end && !self.stop.load(Ordering::Relaxed) {
            let start = source.start()?;
            if scanned < start.bytes {
                // What is no longer kept cannot match; lines after it have their numbers.
                scanned = start.bytes.min(end);
                self.number = start.lines;
                self.partial.clear();
                lock(&self.found).scanned = scanned;
                continue;
            }
            let mut hits = Vec::new();
            let read = source.scan(scanned..end, &mut |piece| self.take(piece, &mut hits));
            let read = match read {
                Ok(read) => read,
                // It was given up just now.
                Err(_) if source.start()?.bytes > scanned => continue,
                Err(error) => return Err(error),
            };
            // What is missing at the end of a damaged log will not come any more.
            scanned = if read == 0 { end } else { scanned + read };
            let mut found = lock(&self.found);
            found.take(hits);
            found.scanned = scanned;
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8], hits: &mut Vec<u64>) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let is_whole = piece.ends_with(b"\n");
            if is_whole && self.partial.is_empty() {
                self.look_at(piece.get(..piece.len().min(MAX_LINE)).unwrap_or_default(), hits);
            } else {
                let room = MAX_LINE.saturating_sub(self.partial.len()).min(piece.len());
                self.partial.extend(piece.get(..room).unwrap_or_default());
                if is_whole {
                    let line = std::mem::take(&mut self.partial);
                    self.look_at(&line, hits);
                }
            }
        }
    }

    fn look_at(&mut self, line: &[u8], hits: &mut Vec<u64>) {
        if self.matcher.is_match(&sanitize::log_line(line)) {
            hits.push(self.number);
        }
        self.number += 1;
    }
}

/// A panic elsewhere leaves the list whole: it only grows.
fn lock(found: &Mutex<Matches>) -> MutexGuard<'_, Matches> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "logs_search_tests.rs"]
mod tests;
