//! The files of one raw log: where each begins, and what is between them.
//!
//! Owns their names and reading across them. `serial-1.log` begins at byte 0; a later one is named
//! `serial-1.OFFSET-LINES-MILLIS.log` after the bytes and line feeds before it and the moment it
//! was begun, so that a file is all there is to know of itself: making one and deleting one are
//! single steps, and a crash between them leaves a log that is whole. Must not write.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

use crate::model::Timestamp;

use super::reader::read_up_to;

/// One file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Bytes of the log before it.
    pub start: u64,
    /// Line feeds before it.
    pub lines: u64,
    /// When it was begun; `None` for the first one.
    pub since: Option<Timestamp>,
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes when it was looked at.
    pub bytes: u64,
}

/// The name of the file that begins at `start` of the log whose first file is `first`.
pub(super) fn path(first: &Path, start: u64, lines: u64, since: Timestamp) -> PathBuf {
    if start == 0 {
        return first.to_owned();
    }
    first.with_extension(format!("{start}-{lines}-{}.log", since.0))
}

/// The files of the log whose first file is, or was, `first`; in order.
///
/// # Errors
/// When the folder is there but cannot be read.
pub(super) fn list(first: &Path) -> io::Result<Vec<Segment>> {
    let (Some(folder), Some(stem)) = (first.parent(), first.file_stem()) else {
        return Ok(Vec::new());
    };
    let stem = stem.to_string_lossy();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut named = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(&*stem)) else { continue };
        if let Some((start, lines, since)) = parse(name) {
            named.push((start, lines, since, folder.join(format!("{stem}{name}"))));
        }
    }
    // Sizes are taken after the names: a file that another one follows no longer grows.
    let mut found: Vec<Segment> = named
        .into_iter()
        .filter_map(|(start, lines, since, path)| {
            let bytes = fs::metadata(&path).ok()?.len();
            Some(Segment { start, lines, since, path, bytes })
        })
        .collect();
    found.sort_by_key(|segment| segment.start);
    Ok(found)
}

/// What the end of a file's name says: `.log`, `.OFFSET-LINES-MILLIS.log`.
fn parse(name: &str) -> Option<(u64, u64, Option<Timestamp>)> {
    if name == ".log" {
        return Some((0, 0, None));
    }
    let mut parts = name.strip_prefix('.')?.strip_suffix(".log")?.splitn(3, '-');
    let (start, lines) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let since = parts.next()?.parse().ok()?;
    (start > 0).then_some((start, lines, Some(Timestamp(since))))
}

/// Line feeds in a file.
///
/// # Errors
/// When it cannot be read.
pub(super) fn feeds(file: &File) -> io::Result<u64> {
    let mut block = vec![0; 64 * 1024];
    let (mut offset, mut feeds) = (0, 0);
    loop {
        let got = read_up_to(file, &mut block, offset)?;
        let bytes = block.get(..got).unwrap_or_default();
        feeds += memchr_iter(b'\n', bytes).count() as u64;
        offset += got as u64;
        if got < block.len() {
            return Ok(feeds);
        }
    }
}

/// Output that came and could not be written: it keeps its place, so that all that follows keeps
/// its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// Where it is in the log.
    pub place: Range<u64>,
    /// Line feeds that were in it.
    pub feeds: u64,
}

impl Gap {
    /// What is read in its place within `range`: words, blanks, and the line feeds that it had.
    pub fn read(&self, range: &Range<u64>) -> Vec<u8> {
        let size = self.place.end - self.place.start;
        let words = format!("--- {size} bytes are missing here: they could not be written ---");
        let blanks = size.saturating_sub(self.feeds);
        let byte = |at: u64| {
            let at = at - self.place.start;
            if at >= blanks {
                return b'\n';
            }
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            words.as_bytes().get(at).copied().unwrap_or(b' ')
        };
        (range.start.max(self.place.start)..range.end.min(self.place.end)).map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_where_a_file_begins_and_others_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("serial-1.log");
        let later = path(&first, 70, 3, Timestamp(9));
        assert!(later.ends_with("serial-1.70-3-9.log"), "{later:?}");
        for name in ["serial-10.log", "serial-1.times", "serial-1.x-3-9.log", "serial-1.0-0-9.log"]
        {
            fs::write(folder.path().join(name), "no").unwrap();
        }
        fs::write(&later, "later").unwrap();
        fs::write(path(&first, 9, 1, Timestamp(4)), "").unwrap();
        let found = list(&first).unwrap();
        let reported: Vec<_> = found.iter().map(|s| (s.start, s.lines, s.since, s.bytes)).collect();
        assert_eq!(reported, [(9, 1, Some(Timestamp(4)), 0), (70, 3, Some(Timestamp(9)), 5)]);
        fs::write(&first, "first").unwrap();
        assert_eq!(list(&first).unwrap()[0].path, first);
        assert!(list(&folder.path().join("none/serial-1.log")).unwrap().is_empty());
    }

    #[test]
    fn a_gap_reads_as_words_with_the_line_feeds_that_it_had() {
        let gap = Gap { place: 10..110, feeds: 3 };
        let all = gap.read(&(0..500));
        assert_eq!((all.len(), memchr_iter(b'\n', &all).count()), (100, 3));
        assert!(all.starts_with(b"--- 100 bytes are missing here"), "{all:?}");
        let pieces: Vec<u8> = (0..50).flat_map(|n| gap.read(&(10 + 2 * n..12 + 2 * n))).collect();
        assert_eq!(pieces, all);
        assert_eq!(Gap { place: 0..2, feeds: 2 }.read(&(0..2)), b"\n\n");
    }
}
