//! Reads a journal that may still be growing.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::model::Seq;

use super::error::JournalError;
use super::parse::{BadLine, Damage, ReadItem, check_order, parse_line};

/// A place between two lines of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Bytes before it.
    pub offset: u64,
    /// Lines before it.
    pub line: u64,
    /// Number of the last record before it; 0 when there is none.
    pub seq: Seq,
}

/// Reads items one after the other. At the end it waits for more: an incomplete last line is left
/// until it is whole.
#[derive(Debug)]
pub struct JournalReader {
    file: File,
    path: PathBuf,
    position: Position,
    /// Bytes of the file from `position` on, starting at `start`.
    buffer: Vec<u8>,
    start: usize,
}

/// Bytes read at once.
const BLOCK: usize = 256 * 1024;

impl JournalReader {
    /// Opens the file of records at its beginning.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::open_at(path, Position::default())
    }

    /// Opens it at a place that an earlier reader or scan told.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_at(path: &Path, position: Position) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(JournalError::io("open the session", path))?;
        Ok(Self { file, path: path.to_owned(), position, buffer: Vec::new(), start: 0 })
    }

    /// The place after the last item read.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// Goes to a place that an earlier reader or scan told.
    pub fn seek(&mut self, position: Position) {
        self.position = position;
        self.buffer.clear();
        self.start = 0;
    }

    /// The next item; `None` when there is no whole line left for now.
    ///
    /// # Errors
    /// When the file cannot be read, or a newer program wrote it.
    pub fn next_item(&mut self) -> Result<Option<ReadItem>, JournalError> {
        let Some(end) = self.line_end()? else { return Ok(None) };
        let line = self.buffer.get(self.start..end).unwrap_or_default();
        let last = self.position.seq;
        let read =
            parse_line(line).and_then(|record| check_order(&record, line, last).map(|()| record));
        self.position.offset += (end + 1 - self.start) as u64;
        self.position.line += 1;
        self.start = end + 1;
        match read {
            Ok(record) => {
                self.position.seq = record.seq;
                Ok(Some(ReadItem::Record(record)))
            }
            Err(BadLine::Newer(found)) => Err(JournalError::Newer { found }),
            Err(BadLine::Damaged { why, preview }) => {
                Ok(Some(ReadItem::Damaged(Damage { line: self.position.line, why, preview })))
            }
        }
    }

    /// The next item, if it is one of the records up to `published`. What follows them may still be
    /// taken back by the writer, when it cannot be synced: it is read again, never kept.
    ///
    /// # Errors
    /// As [`JournalReader::next_item`].
    pub fn next_published(&mut self, published: Seq) -> Result<Option<ReadItem>, JournalError> {
        if self.position.seq >= published {
            self.seek(self.position);
            return Ok(None);
        }
        self.next_item()
    }

    /// Index in the buffer of the line feed that ends the next line.
    fn line_end(&mut self) -> Result<Option<usize>, JournalError> {
        let buffered = self.buffer.get(self.start..).unwrap_or_default();
        if let Some(end) = memchr(b'\n', buffered) {
            return Ok(Some(self.start + end));
        }
        // Bytes of an incomplete line are read again, never kept: after a failed write the writer
        // takes them back.
        let mut wanted = BLOCK;
        loop {
            self.start = 0;
            self.buffer.resize(wanted, 0);
            let got = self.fill()?;
            self.buffer.truncate(got);
            match memchr(b'\n', &self.buffer) {
                Some(end) => return Ok(Some(end)),
                None if got < wanted => {
                    self.buffer.clear();
                    return Ok(None);
                }
                None => wanted *= 2,
            }
        }
    }

    /// Fills the buffer from the current position; the number of bytes there were.
    fn fill(&mut self) -> Result<usize, JournalError> {
        read_up_to(&self.file, &mut self.buffer, self.position.offset)
            .map_err(JournalError::io("read the session", &self.path))
    }
}

/// Reads at `offset` until `buffer` is full or the file ends; the number of bytes read.
pub(super) fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut got = 0;
    while let Some(free) = buffer.get_mut(got..).filter(|free| !free.is_empty()) {
        match file.read_at(free, offset + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
