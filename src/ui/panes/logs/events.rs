//! The session's own records, a line each.
//!
//! Owns reading what is in sight, up to the record the view stands at.

use std::sync::Arc;

use crate::model::{EventSource, Record, Seq, Timestamp, UserError};

use super::digest::{Digest, digest};
use super::position::{LogView, VisibleLines};
use super::source::LogSourceView;

/// A record ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub seq: Seq,
    pub at: Timestamp,
    pub digest: Digest,
}

/// The records in sight.
pub struct EventLog {
    source: Arc<dyn EventSource>,
    /// How one looks at them.
    pub view: LogView,
    rows: Vec<EventRow>,
    read_for: Option<VisibleLines>,
    /// The last record that is known.
    pub last: Seq,
    /// Why they cannot be shown.
    pub error: Option<UserError>,
}

impl EventLog {
    /// The records at their end.
    #[must_use]
    pub fn new(source: Arc<dyn EventSource>) -> Self {
        let view = LogView::new(LogSourceView::Records(Arc::clone(&source)));
        let (rows, read_for, error) = (Vec::new(), None, None);
        Self { source, view, rows, read_for, last: Seq(0), error }
    }

    /// The records in sight.
    #[must_use]
    pub fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    /// Whether filter or search go on although nothing new came.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.error.is_none() && self.view.is_busy()
    }

    /// Reads what is in sight of the records up to `last`.
    pub fn sync(&mut self, last: Seq) {
        self.last = last;
        if let Err(error) = self.read() {
            self.rows.clear();
            self.read_for = None;
            self.error = Some(error);
        }
    }

    fn read(&mut self) -> Result<(), UserError> {
        self.view.advance(0..self.last.0, self.last.0)?;
        let sight = self.view.sight();
        if self.read_for.as_ref() == Some(&sight) {
            return Ok(());
        }
        // Lines count from 0, records from 1.
        let records = match &sight {
            VisibleLines::Range(range) => self.source.records(range.start + 1..range.end + 1)?,
            VisibleLines::Picked(picked) => {
                let mut records = Vec::new();
                for line in picked {
                    records.extend(self.source.records(line + 1..line + 2)?);
                }
                records
            }
        };
        let row =
            |record: &Record| EventRow { seq: record.seq, at: record.at, digest: digest(record) };
        self.rows = records.iter().map(row).collect();
        self.error = None;
        self.read_for = Some(sight);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::model::PersonEvent;
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::model::Event;
    use crate::ui::scroll::Move;

    struct Journal(AtomicU64);

    impl EventSource for Journal {
        fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(range
                .filter(|seq| *seq <= 50)
                .map(|seq| Record {
                    v: 1,
                    seq: Seq(seq),
                    at: Timestamp(0),
                    event: Event::Person(PersonEvent::Paused),
                })
                .collect())
        }
    }

    #[test]
    fn only_what_is_in_sight_and_known_is_read_and_only_once() {
        let journal = Arc::new(Journal(AtomicU64::new(0)));
        let mut log = EventLog::new(Arc::<Journal>::clone(&journal));
        log.view.scroll.set_height(10);
        for _ in 0..3 {
            log.sync(Seq(30));
        }
        let numbers: Vec<u64> = log.rows().iter().map(|row| row.seq.0).collect();
        assert_eq!(numbers, (21..=30).collect::<Vec<_>>());
        assert_eq!(journal.0.load(Ordering::Relaxed), 1);
        log.view.go(Move::Start);
        log.sync(Seq(30));
        assert_eq!(log.rows()[0].seq, Seq(1));
    }
}
