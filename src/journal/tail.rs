//! The end of a journal, read without the rest.

use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::model::{Record, Seq};

use super::error::JournalError;
use super::parse::{BadLine, parse_line};
use super::reader::read_up_to;

/// What stands at the end of a journal.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Length of the file in bytes.
    pub len: u64,
    /// End of the last whole line; what follows is torn.
    pub whole: u64,
    /// The first record, where the whole file was read.
    pub first: Option<Record>,
    /// Records near the end that are wanted, oldest first, and the last of all.
    pub records: Vec<Record>,
    /// Lines after the last record that are none.
    pub damaged_after: u64,
}

impl Tail {
    /// The number the next record gets. Each damaged line at the end may have had a number.
    pub fn next_seq(&self) -> Seq {
        let last = self.records.last().map_or(0, |record| record.seq.0);
        Seq(last + self.damaged_after + 1)
    }
}

/// Which lines before the last record are read.
pub(super) enum Wanted {
    All,
    /// Those of these events, by their names in journals. A line that begins in any other way than a
    /// record of this program is read too.
    Events(&'static [&'static str]),
}

impl Wanted {
    pub(super) fn has(&self, line: &[u8]) -> bool {
        let Self::Events(names) = self else { return true };
        let start = line.get(..line.len().min(NAMED_BY)).unwrap_or_default();
        let Some(at) = EVENT_FINDER.find(start) else { return true };
        let name = start.get(at + EVENT.len()..).unwrap_or_default();
        match memchr(b'"', name).and_then(|end| name.get(..end)) {
            Some(name) => names.iter().any(|wanted| wanted.as_bytes() == name),
            None => true,
        }
    }
}

/// What stands before the name of an event, and within how many bytes the name has ended.
const EVENT: &[u8] = b"\"event\":{\"";
const NAMED_BY: usize = 160;

/// Made once: there are many lines.
static EVENT_FINDER: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(EVENT));

/// Reads at least the last `window` bytes, and more until a record is among them.
pub(super) fn read_tail(
    file: &File,
    path: &Path,
    window: u64,
    wanted: &Wanted,
) -> Result<Tail, JournalError> {
    let failed = || JournalError::io("read the session", path);
    let len = file.metadata().map_err(failed())?.len();
    let mut window = window.max(1);
    loop {
        let start = len.saturating_sub(window);
        let size = usize::try_from(len - start).unwrap_or(usize::MAX);
        let mut buffer = vec![0; size];
        let got = read_up_to(file, &mut buffer, start).map_err(failed())?;
        buffer.truncate(got);
        let tail = parse_tail(&buffer, start, wanted)?;
        if start == 0 || !tail.records.is_empty() {
            return Ok(Tail { len, ..tail });
        }
        window = window.saturating_mul(4);
    }
}

/// Lines at the start that may be damaged before the search for the first record is given up.
pub(super) const FIRST_LINES: usize = 8;

fn first_record(lines: &[u8]) -> Option<Record> {
    lines.split(|&byte| byte == b'\n').take(FIRST_LINES).find_map(|line| parse_line(line).ok())
}

fn parse_tail(buffer: &[u8], start: u64, wanted: &Wanted) -> Result<Tail, JournalError> {
    let Some(last_feed) = memrchr(b'\n', buffer) else { return Ok(Tail::default()) };
    let mut tail = Tail { whole: start + last_feed as u64 + 1, ..Tail::default() };
    // The first line of the window is whole only at the start of the file.
    let first = match start {
        0 => 0,
        _ => memchr(b'\n', buffer).map_or(0, |feed| feed + 1),
    };
    let Some(lines) = buffer.get(first..=last_feed) else { return Ok(tail) };
    if start == 0 {
        tail.first = first_record(lines);
    }
    let mut from = 0;
    let mut all = Vec::new();
    // Every line of these has its end.
    for feed in memchr_iter(b'\n', lines) {
        all.push(lines.get(from..feed).unwrap_or_default());
        from = feed + 1;
    }
    let mut last = None;
    while let Some(line) = all.pop() {
        match parse_line(line) {
            Ok(record) => {
                last = Some(record);
                break;
            }
            Err(BadLine::Newer(found)) => return Err(JournalError::Newer { found }),
            Err(BadLine::Damaged { .. }) => tail.damaged_after += 1,
        }
    }
    for line in all.into_iter().filter(|line| wanted.has(line)) {
        match parse_line(line) {
            Ok(record) => tail.records.push(record),
            Err(BadLine::Newer(found)) => return Err(JournalError::Newer { found }),
            Err(BadLine::Damaged { .. }) => {}
        }
    }
    tail.records.extend(last);
    Ok(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str, window: u64) -> Tail {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_tail(&File::open(file.path()).unwrap(), file.path(), window, &Wanted::All).unwrap()
    }

    #[test]
    fn the_end_is_what_follows_the_first_line_feed_of_the_window() {
        let line = |seq: u64| format!("{{\"v\":1,\"seq\":{seq},\"at\":0,\"event\":\"paused\"}}\n");
        let lines: String = (1..=20).map(line).collect();
        let whole = tail(&lines, 1 << 20);
        assert_eq!(whole.first.as_ref().map(|record| record.seq), Some(Seq(1)));
        assert_eq!((whole.records.len(), whole.next_seq()), (20, Seq(21)));
        assert_eq!((whole.len, whole.whole), (lines.len() as u64, lines.len() as u64));
        let part = tail(&lines, 2 * line(20).len() as u64);
        assert!(part.first.is_none(), "it may not be the first of the journal");
        assert_eq!(part.records.first().map(|record| record.seq), Some(Seq(20)));
        let damaged = tail(&format!("{lines}one\ntwo\n{{\"v\":1,"), 1 << 20);
        assert_eq!((damaged.damaged_after, damaged.next_seq()), (2, Seq(23)));
        assert_eq!(damaged.len - damaged.whole, 7);
    }
}
