//! A search through a log of any size; long stretches on a thread of their own.
//!
//! Owns who has the reader, and what was found. Must not hold the log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::model::UserError;
use crate::ui::job::{BackgroundJob, JobState};
use crate::view::line_scan::{LineSource, Matcher, Matches, Scanner, lock};

/// What is read of a log in the frame itself; more goes to a thread.
const AT_ONCE: u64 = 128 << 10;

/// A search through one log.
#[derive(Debug)]
pub struct LogSearch {
    matcher: Matcher,
    source: Arc<dyn LineSource>,
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
    pub fn new(source: impl LineSource + 'static, matcher: Matcher) -> Self {
        let found = Arc::<Mutex<Matches>>::default();
        let stop = Arc::<AtomicBool>::default();
        let scanner = Scanner::new(matcher.clone(), Arc::clone(&found), Arc::clone(&stop));
        let source = Arc::new(source);
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
            return scanner.run(&*self.source, end);
        }
        if let Scan::Here(mut scanner) = std::mem::replace(&mut self.scan, Scan::Lost) {
            let source = Arc::clone(&self.source);
            self.scan = Scan::Away(BackgroundJob::start(move || {
                let result = scanner.run(&*source, end);
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
        found.place(number)
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

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
