//! How far a log has grown, and when that is to be recorded.
//!
//! Pure. A line that a board prints now and then is recorded at once; a stream that does not end is
//! thinned out, so that the journal stays short whatever arrives.

use std::time::{Duration, Instant};

use crate::journal::LogLength;

/// A record of growth costs so much time, which passes by itself.
const COST: Duration = Duration::from_millis(50);

/// What a log that rests may save up: a hundred records.
const SAVED: Duration = Duration::from_secs(5);

/// No two records of a log are closer: no screen shows more.
const GAP: Duration = Duration::from_millis(8);

#[derive(Debug, Default)]
pub(in crate::engine) struct Growth {
    /// How long it is.
    pub length: LogLength,
    recorded: LogLength,
    recorded_at: Option<Instant>,
    /// Until when its records are paid for.
    paid_until: Option<Instant>,
    /// Whether it was said that the oldest output is given up.
    pub gives_up: bool,
    /// When it was last said that what comes cannot be written.
    pub failure_reported_at: Option<Instant>,
}

impl Growth {
    /// Whether not all of it is recorded.
    pub fn is_behind(&self) -> bool {
        self.length.bytes > self.recorded.bytes
    }

    /// Whether it may be recorded.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due_at().is_none_or(|at| at <= now)
    }

    /// When it may be recorded; `None`: at any time.
    pub fn due_at(&self) -> Option<Instant> {
        let apart = self.recorded_at? + GAP;
        let paid = self.paid_until.and_then(|until| until.checked_sub(SAVED));
        Some(paid.map_or(apart, |paid| paid.max(apart)))
    }

    /// All of it is recorded.
    pub fn recorded(&mut self, now: Instant) {
        self.recorded = self.length;
        self.recorded_at = Some(now);
        self.paid_until = Some(self.paid_until.map_or(now, |until| until.max(now)) + COST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many pieces, one each `every`, are recorded at once.
    fn recorded(growth: &mut Growth, from: Instant, pieces: u32, every: Duration) -> u32 {
        (0..pieces)
            .map(|piece| {
                let now = from + every * piece;
                growth.length.bytes += 1;
                let is_due = growth.is_due(now);
                if is_due {
                    growth.recorded(now);
                }
                u32::from(is_due)
            })
            .sum()
    }

    #[test]
    fn single_lines_are_recorded_at_once_and_a_stream_is_thinned_out() {
        let start = Instant::now();
        let slow = Duration::from_millis(60);
        assert_eq!(recorded(&mut Growth::default(), start, 1_000, slow), 1_000);
        let brisk = Duration::from_millis(25);
        assert!(recorded(&mut Growth::default(), start, 150, brisk) == 150);
        // Ten seconds of a stream: what was saved up, and twenty a second.
        let mut streaming = Growth::default();
        let count = recorded(&mut streaming, start, 100_000, Duration::from_micros(100));
        assert!((290..=302).contains(&count), "{count}");
        assert!(streaming.is_behind());
        let due = streaming.due_at().unwrap();
        assert!(
            due > start + Duration::from_secs(10) - COST
                && due <= start + Duration::from_secs(10) + COST
        );
        // A log that rests may save up again.
        let later = start + Duration::from_secs(20);
        assert_eq!(recorded(&mut streaming, later, 90, Duration::from_millis(10)), 90);
    }

    #[test]
    fn records_keep_their_distance() {
        let start = Instant::now();
        let mut growth = Growth::default();
        assert!(growth.is_due(start));
        growth.recorded(start);
        assert!(!growth.is_due(start + GAP / 2) && growth.is_due(start + GAP));
    }
}
