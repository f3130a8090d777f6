//! The session's own records, a line each.
//!
//! Owns reading what is in sight, up to the record the view stands at.

use crate::model::{EventSource, Record, Seq, Timestamp, UserError};

use super::logs_digest::{Digest, digest};
use super::logs_scroll::{Move, Scroll};

/// A record ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its number.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// What.
    pub digest: Digest,
}

/// The records in sight.
#[derive(Debug, Default)]
pub struct EventLog {
    /// Where one looks.
    pub scroll: Scroll,
    rows: Vec<EventRow>,
    read_for: Option<std::ops::Range<u64>>,
    len: u64,
    error: Option<UserError>,
}

impl EventLog {
    /// The records in sight.
    #[must_use]
    pub fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    /// Why they cannot be shown.
    #[must_use]
    pub const fn error(&self) -> Option<&UserError> {
        self.error.as_ref()
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.len
    }

    /// Moves.
    pub fn go(&mut self, step: Move) {
        self.scroll.go(step, self.len);
    }

    /// Reads what is in sight of the records up to `last`.
    pub fn sync(&mut self, source: &dyn EventSource, last: Seq) {
        self.len = last.0;
        let range = self.scroll.range(self.len);
        if self.read_for.as_ref() == Some(&range) {
            return;
        }
        // Lines count from 0, records from 1.
        match source.records(range.start + 1..range.end + 1) {
            Ok(records) => {
                self.rows = records.iter().map(row).collect();
                self.error = None;
                self.read_for = Some(range);
            }
            Err(error) => {
                self.rows.clear();
                self.error = Some(error);
            }
        }
    }
}

fn row(record: &Record) -> EventRow {
    EventRow { seq: record.seq, at: record.at, digest: digest(record) }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::model::Event;

    struct Journal(AtomicU64);

    impl EventSource for Journal {
        fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(range
                .filter(|seq| *seq <= 50)
                .map(|seq| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event: Event::Paused })
                .collect())
        }
    }

    #[test]
    fn only_what_is_in_sight_and_known_is_read_and_only_once() {
        let journal = Journal(AtomicU64::new(0));
        let mut log = EventLog::default();
        log.scroll.set_height(10);
        for _ in 0..3 {
            log.sync(&journal, Seq(30));
        }
        let numbers: Vec<u64> = log.rows().iter().map(|row| row.seq.0).collect();
        assert_eq!(numbers, (21..=30).collect::<Vec<_>>());
        assert_eq!(journal.0.load(Ordering::Relaxed), 1);
        log.go(Move::Start);
        log.sync(&journal, Seq(30));
        assert_eq!(log.rows()[0].seq, Seq(1));
    }
}
