//! Finds the lines of a log of any size that pass a test.
//!
//! Owns the list of lines that pass. Must not hold the log, only a line that is not complete yet,
//! and must not know on which thread it works.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regex::{Regex, RegexBuilder};

use super::line_index::MAX_LINE;
use crate::model::{LogStart, UserError};
use crate::text::sanitize;

/// Most lines whose numbers are kept; of more, the first ones are only counted.
pub const MAX_HITS: usize = 1_000_000;

/// A log that can be looked through.
pub trait LineSource: fmt::Debug + Send + Sync {
    /// How much can be looked through in a frame, when that is `bytes` of a raw log.
    fn at_once(&self, bytes: u64) -> u64;

    /// Where it begins by now.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn start(&self) -> Result<LogStart, UserError>;

    /// Gives what lies at the start of `range` to `take`, as bytes with line ends, and tells how
    /// much of the range that was; 0: there is nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    fn scan(&self, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<u64, UserError>;
}

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

/// The matcher of a pattern; `None` for an empty one.
///
/// # Errors
/// When it is no regular expression; the text says why.
pub fn matcher(pattern: &str) -> Result<Option<Matcher>, String> {
    if pattern.is_empty() { Ok(None) } else { Matcher::regex(pattern).map(Some) }
}

/// What was found so far.
#[derive(Debug, Default)]
pub struct Matches {
    /// Numbers of matching lines, rising.
    pub hits: VecDeque<u64>,
    /// How many came before them, which are too many or no longer kept.
    pub dropped: u64,
    /// How much was looked at.
    pub scanned: u64,
}

impl Matches {
    /// How many there are, the dropped ones included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.dropped + self.hits.len() as u64
    }

    /// The line of a match; they are counted from 0, those no longer in the list included.
    #[must_use]
    pub fn hit(&self, place: u64) -> Option<u64> {
        let place = usize::try_from(place.checked_sub(self.dropped)?).ok()?;
        self.hits.get(place).copied()
    }

    /// Place of line `number` among them, from 1; `None` when it does not match.
    #[must_use]
    pub fn place(&self, number: u64) -> Option<u64> {
        self.hits.binary_search(&number).ok().map(|place| self.dropped + place as u64 + 1)
    }

    fn take(&mut self, hits: Vec<u64>) {
        self.hits.extend(hits);
        self.drop_first(self.hits.len().saturating_sub(MAX_HITS));
    }

    /// Forgets the matches before line `number`.
    pub fn forget_before(&mut self, number: u64) {
        self.drop_first(self.hits.partition_point(|&hit| hit < number));
    }

    fn drop_first(&mut self, count: usize) {
        self.hits.drain(..count);
        self.dropped += count as u64;
    }
}

/// What goes through a log.
#[derive(Debug)]
pub struct Scanner {
    matcher: Matcher,
    found: Arc<Mutex<Matches>>,
    stop: Arc<AtomicBool>,
    /// Number of the line that `partial` is.
    number: u64,
    /// Start of a line whose end is not read yet.
    partial: Vec<u8>,
}

impl Scanner {
    /// A scan from the start; what it finds is put into `found`, and `stop` ends it early.
    #[must_use]
    pub const fn new(matcher: Matcher, found: Arc<Mutex<Matches>>, stop: Arc<AtomicBool>) -> Self {
        Self { matcher, found, stop, number: 0, partial: Vec::new() }
    }

    pub fn restart(&mut self) {
        *lock(&self.found) = Matches::default();
        self.number = 0;
        self.partial.clear();
    }

    /// Goes on up to `end`, in the units of the source.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn run(&mut self, source: &dyn LineSource, end: u64) -> Result<(), UserError> {
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
                let space = MAX_LINE.saturating_sub(self.partial.len()).min(piece.len());
                self.partial.extend(piece.get(..space).unwrap_or_default());
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
pub fn lock(found: &Mutex<Matches>) -> MutexGuard<'_, Matches> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
