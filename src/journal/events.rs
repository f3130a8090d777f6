//! Finds records of a journal by their numbers.
//!
//! Owns no index: numbers rise with the offset, so halving the file finds any of them in some
//! twenty reads, also in a journal of a million records that still grows. Must not fold records.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::model::{EventSource, Record, Seq, UserError};

use super::error::JournalError;
use super::parse::{ReadItem, parse_line};
use super::reader::{JournalReader, Position, read_up_to};

/// Below this size a part of the file is read in order, in bytes.
const SMALL: u64 = 64 * 1024;
/// Bytes read at first to find one line.
const PROBE: usize = 8 * 1024;

/// The records of one session, by number.
#[derive(Debug, Clone)]
pub struct JournalEvents {
    path: PathBuf,
}

impl JournalEvents {
    /// Looks into the journal file at `path`.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn read(&self, range: &Range<u64>) -> Result<Vec<Record>, JournalError> {
        let offset = start_of(&self.path, range.start)?;
        let place = Position { offset, line: 0, seq: Seq(0) };
        let mut reader = JournalReader::open_at(&self.path, place)?;
        let mut records = Vec::new();
        while let Some(item) = reader.next_item()? {
            let ReadItem::Record(record) = item else { continue };
            if record.seq.0 >= range.end {
                break;
            }
            if record.seq.0 >= range.start {
                records.push(record);
            }
        }
        Ok(records)
    }
}

impl EventSource for JournalEvents {
    fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.read(&range)?)
    }
}

/// Offset of a line at or before the one of record `wanted`, and not far from it.
fn start_of(path: &Path, wanted: u64) -> Result<u64, JournalError> {
    let failed = || JournalError::io("read the session", path);
    let file = File::open(path).map_err(failed())?;
    let (mut low, mut high) = (0, file.metadata().map_err(failed())?.len());
    while high.saturating_sub(low) > SMALL {
        let middle = low + (high - low) / 2;
        match first_record(&file, middle, high).map_err(failed())? {
            Some((offset, seq)) if seq < wanted => low = offset,
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}

/// Offset and number of the first readable record that begins within `from..until`.
fn first_record(file: &File, from: u64, until: u64) -> std::io::Result<Option<(u64, u64)>> {
    let mut at = from;
    // The line that `from` lies in is not whole.
    let mut skips = true;
    let mut size = PROBE;
    while at < until {
        let mut buffer = vec![0; size];
        let got = read_up_to(file, &mut buffer, at)?;
        buffer.truncate(got);
        let Some(end) = memchr(b'\n', &buffer) else {
            if got < size {
                return Ok(None);
            }
            size *= 4;
            continue;
        };
        if !skips && let Ok(record) = parse_line(buffer.get(..end).unwrap_or_default()) {
            return Ok(Some((at, record.seq.0)));
        }
        skips = false;
        at += end as u64 + 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{JournalWriter, SessionDir};
    use crate::model::TurnEvent;
    use crate::model::{Event, Timestamp, TurnId};

    #[test]
    fn any_window_of_a_long_journal_is_found() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "task", Timestamp(0)).unwrap();
        let mut writer = JournalWriter::create(&dir).unwrap();
        for number in 0..3_000_u32 {
            let text = "x".repeat((number as usize * 37) % 900);
            let event = Event::Turn(TurnEvent::TextAdded { turn: TurnId(number), text });
            writer.append(Timestamp(0), event).unwrap();
        }
        let events = JournalEvents::new(dir.journal());
        for start in (1..3_000_u64).step_by(97).chain([1, 2, 2_990, 3_000]) {
            let found = events.records(start..start + 20).unwrap();
            let numbers: Vec<u64> = found.iter().map(|record| record.seq.0).collect();
            assert_eq!(numbers, (start..(start + 20).min(3_001)).collect::<Vec<_>>());
        }
        assert_eq!(events.records(3_001..3_010).unwrap(), []);
        assert_eq!(events.records(5..5).unwrap(), []);
        assert!(JournalEvents::new(data.path().join("none")).records(0..2).is_err());
    }

    /// Lines of up to 40 kB, some of them damaged: the search ends close before the record.
    #[test]
    fn a_record_is_looked_for_close_to_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut text, mut starts) = (String::new(), Vec::new());
        for number in 1..=300_u64 {
            starts.push(text.len() as u64);
            let long = "x".repeat(usize::try_from(number * 977 % 40_000).unwrap());
            let event = TurnEvent::TextAdded { turn: TurnId(1), text: long };
            let (seq, event) = (Seq(number), Event::Turn(event));
            let record = Record { v: Record::VERSION, seq, at: Timestamp(0), event };
            text.push_str(&serde_json::to_string(&record).unwrap());
            text.push_str(if number % 3 == 0 { "\ndamaged\n" } else { "\n" });
        }
        std::fs::write(&path, text).unwrap();
        for (number, start) in (1..).zip(starts) {
            let found = start_of(&path, number).unwrap();
            assert!(found <= start && start - found <= SMALL + 2 * 41_000, "{number}: {found}");
        }
    }
}
