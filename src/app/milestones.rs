//! Where moments of one kind lie in a recorded session, so that one can go from each to the next.
//!
//! Owns a fixed number of places in the journal, however long it is; between two of them the
//! journal itself is read. Must not fold records into a view.

use std::path::{Path, PathBuf};

use crate::journal::{JournalReader, Position, ReadItem};
use crate::model::{Direction, Record, Seq, UserError};
use crate::view::{MarkKind, mark_of};

/// Most places that are kept.
const MOST: u64 = 4_096;

/// Least bytes of journal between two of them.
const LEAST_SPACING: u64 = 64 * 1024;

/// A stretch of the journal: where it begins, and the kinds of moments in it, a bit each.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: Position,
    kinds: u8,
}

/// The stretches of one journal.
#[derive(Debug)]
pub(super) struct Milestones {
    path: PathBuf,
    spacing: u64,
    stretches: Vec<Stretch>,
    /// The place after the last record.
    end: Position,
}

impl Milestones {
    /// For a journal of so many bytes.
    pub fn along(path: &Path, bytes: u64) -> Self {
        let spacing = bytes.div_ceil(MOST).max(LEAST_SPACING);
        let first = Stretch { start: Position::default(), kinds: 0 };
        let (path, end) = (path.to_owned(), Position::default());
        Self { path, spacing, stretches: vec![first], end }
    }

    /// Takes note of a record and of the place after it. All records must come, in order.
    pub fn note(&mut self, record: &Record, after: Position) {
        let before = std::mem::replace(&mut self.end, after);
        let from = self.stretches.last().map_or(0, |last| last.start.offset);
        if before.offset >= from + self.spacing {
            self.stretches.push(Stretch { start: before, kinds: 0 });
        }
        if let (Some(mark), Some(last)) = (mark_of(record), self.stretches.last_mut()) {
            last.kinds |= bit(mark.kind);
        }
    }

    /// The moment of that kind next to `here`; `None`: there is none on that side.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn next(
        &self,
        kind: MarkKind,
        direction: Direction,
        here: Seq,
    ) -> Result<Option<Seq>, UserError> {
        let forward = self.stretches.partition_point(|it| it.start.seq <= here).saturating_sub(1);
        let back = self.stretches.partition_point(|it| it.start.seq < here);
        let way: Box<dyn Iterator<Item = usize>> = match direction {
            Direction::Forward => Box::new(forward..self.stretches.len()),
            Direction::Back => Box::new((0..back).rev()),
        };
        for place in way {
            let has = self.stretches.get(place).is_some_and(|it| it.kinds & bit(kind) != 0);
            if !has {
                continue;
            }
            let found = self.of_kind(place, kind)?;
            let next = match direction {
                Direction::Forward => found.into_iter().find(|seq| *seq > here),
                Direction::Back => found.into_iter().rfind(|seq| *seq < here),
            };
            if next.is_some() {
                return Ok(next);
            }
        }
        Ok(None)
    }

    /// All moments of a kind in a stretch.
    fn of_kind(&self, place: usize, kind: MarkKind) -> Result<Vec<Seq>, UserError> {
        let Some(stretch) = self.stretches.get(place) else { return Ok(Vec::new()) };
        let until = self.stretches.get(place + 1).map_or(self.end, |next| next.start);
        let mut reader = JournalReader::open_at(&self.path, stretch.start)?;
        let mut found = Vec::new();
        while reader.position().offset < until.offset {
            match reader.next_item()? {
                Some(ReadItem::Record(record)) => {
                    found.extend(mark_of(&record).filter(|it| it.kind == kind).map(|it| it.seq));
                }
                Some(ReadItem::Damaged(_)) => {}
                None => break,
            }
        }
        Ok(found)
    }
}

/// The bit that stands for a kind.
const fn bit(kind: MarkKind) -> u8 {
    1 << kind.weight()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::{Event, SessionEvent, Timestamp};

    #[test]
    fn however_long_a_journal_is_only_so_many_places_are_kept() {
        // As if each record of a journal of 5 million had 400 bytes.
        let (count, size) = (5_000_000, 400);
        let mut milestones = Milestones::along(Path::new("journal"), count * size);
        let event = Event::Session(SessionEvent::Resumed { program: String::new(), choices: None });
        let record = Record { v: Record::VERSION, seq: Seq(1), at: Timestamp(0), event };
        for place in 1..=count {
            let after = Position { offset: place * size, line: place, seq: Seq(place) };
            milestones.note(&record, after);
        }
        let kept = milestones.stretches.len() as u64;
        assert!((MOST / 2..=MOST + 1).contains(&kept), "{kept}");
    }
}
