//! The end of a journal, read without the rest.

use std::fs::File;
use std::path::Path;

use memchr::{memchr, memrchr};

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
    /// Records near the end, oldest first.
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

/// Reads at least the last `window` bytes, and more until a record is among them.
pub(super) fn read_tail(file: &File, path: &Path, window: u64) -> Result<Tail, JournalError> {
    let failed = || JournalError::io("read the session", path);
    let len = file.metadata().map_err(failed())?.len();
    let mut window = window.max(1);
    loop {
        let start = len.saturating_sub(window);
        let size = usize::try_from(len - start).unwrap_or(usize::MAX);
        let mut buffer = vec![0; size];
        let got = read_up_to(file, &mut buffer, start).map_err(failed())?;
        buffer.truncate(got);
        let tail = parse_tail(&buffer, start)?;
        if start == 0 || !tail.records.is_empty() {
            return Ok(Tail { len, ..tail });
        }
        window = window.saturating_mul(4);
    }
}

fn parse_tail(buffer: &[u8], start: u64) -> Result<Tail, JournalError> {
    let Some(last_feed) = memrchr(b'\n', buffer) else { return Ok(Tail::default()) };
    let mut tail = Tail { whole: start + last_feed as u64 + 1, ..Tail::default() };
    // The first line of the window is whole only at the start of the file.
    let first = match start {
        0 => 0,
        _ => memchr(b'\n', buffer).map_or(0, |feed| feed + 1),
    };
    let Some(lines) = buffer.get(first..=last_feed) else { return Ok(tail) };
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        match parse_line(line.strip_suffix(b"\n").unwrap_or(line)) {
            Ok(record) => {
                tail.damaged_after = 0;
                tail.records.push(record);
            }
            Err(BadLine::Newer(found)) => return Err(JournalError::Newer { found }),
            Err(BadLine::Damaged { .. }) => tail.damaged_after += 1,
        }
    }
    Ok(tail)
}
