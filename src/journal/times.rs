//! When the lines of a raw log came, in a file beside it.
//!
//! Owns that file: entries of sixteen bytes, the offset of a line and the moment it began to
//! arrive, both rising, at most one for each millisecond. Losing it loses no output.

#![expect(clippy::disallowed_methods, reason = "it lies below the session's folder")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use memchr::memchr;

use crate::model::Timestamp;

use super::reader::read_up_to;

/// Bytes of an entry: offset and milliseconds since 1970, the lowest byte first.
const ENTRY: usize = 16;

/// Notes when lines come.
#[derive(Debug)]
pub(super) struct Times {
    file: File,
    last: Option<Timestamp>,
    /// Whether the next byte begins a line.
    is_at_start: bool,
}

impl Times {
    /// Goes on in the file at `path`; `is_at_start`: the log ends with a whole line.
    pub fn open(path: &Path, is_at_start: bool) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        // Half an entry would shift all that follow it.
        let whole = file.metadata()?.len() / ENTRY as u64 * ENTRY as u64;
        file.set_len(whole)?;
        Ok(Self { file, last: None, is_at_start })
    }

    /// Notes that `bytes` came at `at`, to lie at `offset` of the log.
    pub fn note(&mut self, offset: u64, bytes: &[u8], at: Timestamp) -> io::Result<()> {
        let start =
            if self.is_at_start { Some(0) } else { memchr(b'\n', bytes).map(|feed| feed + 1) };
        if let Some(last) = bytes.last() {
            self.is_at_start = *last == b'\n';
        }
        let Some(start) = start.filter(|start| *start < bytes.len()) else { return Ok(()) };
        if self.last.is_some_and(|last| last >= at) {
            return Ok(());
        }
        let mut entry = [0; ENTRY];
        let (place, moment) = entry.split_at_mut(ENTRY / 2);
        place.copy_from_slice(&(offset + start as u64).to_le_bytes());
        moment.copy_from_slice(&at.0.to_le_bytes());
        self.file.write_all(&entry)?;
        self.last = Some(at);
        Ok(())
    }
}

/// When the line with the byte at `offset` began to arrive, as `file` has it.
pub(super) fn find(file: &File, offset: u64) -> Option<Timestamp> {
    let count = file.metadata().ok()?.len() / ENTRY as u64;
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if entry(file, middle)?.0 <= offset { low = middle + 1 } else { high = middle }
    }
    Some(entry(file, low.checked_sub(1)?)?.1)
}

fn entry(file: &File, number: u64) -> Option<(u64, Timestamp)> {
    let mut bytes = [0; ENTRY];
    let got = read_up_to(file, &mut bytes, number * ENTRY as u64).ok()?;
    let (place, moment) = bytes.split_at(ENTRY / 2);
    let place = u64::from_le_bytes(place.try_into().ok()?);
    let moment = i64::from_le_bytes(moment.try_into().ok()?);
    (got == ENTRY).then_some((place, Timestamp(moment)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_the_time_its_first_byte_came() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/serial-1.times");
        let mut times = Times::open(&path, true).unwrap();
        let pieces: [(&[u8], i64); 6] = [
            (b"on", 5),
            (b"e\n", 6),
            (b"two\nthr", 7),
            (b"ee\nfour\n", 9),
            (b"", 10),
            (b"five", 12),
        ];
        let mut offset = 0;
        for (bytes, at) in pieces {
            times.note(offset, bytes, Timestamp(at)).unwrap();
            offset += bytes.len() as u64;
        }
        let file = File::open(&path).unwrap();
        let at = |offset| find(&file, offset).map(|at| at.0);
        // one, two, three, four, five
        assert_eq!([0, 4, 8, 14, 19].map(at), [5, 7, 7, 9, 12].map(Some));
        drop(times);
        // Half an entry, as a crash leaves it.
        fs::write(&path, [fs::read(&path).unwrap(), vec![1; 5]].concat()).unwrap();
        let mut again = Times::open(&path, false).unwrap();
        again.note(23, b" and\nsix\n", Timestamp(30)).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!([19, 28].map(|at| find(&file, at).unwrap().0), [12, 30]);
    }

    #[test]
    fn nothing_is_known_of_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serial-1.times");
        Times::open(&path, true).unwrap();
        assert_eq!(find(&File::open(&path).unwrap(), 0), None);
    }
}
