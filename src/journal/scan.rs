//! Reads a whole journal fast: several threads parse, one folds, in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use memchr::{memchr, memchr_iter};

use crate::model::Record;

use super::error::JournalError;
use super::parse::{BadLine, Damage, ReadItem, check_order, parse_line};
use super::reader::{JournalReader, Position, read_up_to};

/// Bytes one thread parses at once; a few times this is all the memory a scan takes.
const CHUNK: u64 = 256 * 1024;

/// Reads all whole lines there are and hands each to `fold` with the place after it.
///
/// # Errors
/// When the file cannot be read, or a newer program wrote it.
pub fn scan(path: &Path, fold: impl FnMut(ReadItem, Position)) -> Result<Position, JournalError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    scan_with(path, threads, CHUNK, fold)
}

fn scan_with(
    path: &Path,
    threads: usize,
    chunk: u64,
    mut fold: impl FnMut(ReadItem, Position),
) -> Result<Position, JournalError> {
    let failed = || JournalError::io("open the session", path);
    let file = File::open(path).map_err(failed())?;
    let len = file.metadata().map_err(failed())?.len();
    if threads < 2 || len < 4 * chunk {
        let mut reader = JournalReader::open(path)?;
        while let Some(item) = reader.next_item()? {
            fold(item, reader.position());
        }
        return Ok(reader.position());
    }
    let plan = ScanPlan { file: &file, path, len, chunk, chunks: len.div_ceil(chunk) };
    let belt = Belt::new(plan.chunks, threads as u64 + 2);
    thread::scope(|scope| {
        // Whatever ends the fold early must also end the threads that wait for room.
        let _stop = StopOnDrop(&belt);
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(index) = belt.claim() {
                    belt.put(index, plan.parse(index));
                }
            });
        }
        let mut position = Position::default();
        for index in 0..plan.chunks {
            let Some(parsed) = belt.take(index) else { break };
            let parsed = parsed?;
            for (line, end) in parsed.lines {
                position = fold_line(line, parsed.start + end, position, &mut fold)?;
            }
        }
        Ok(position)
    })
}

fn fold_line(
    line: Result<Record, BadLine>,
    offset: u64,
    before: Position,
    fold: &mut impl FnMut(ReadItem, Position),
) -> Result<Position, JournalError> {
    let mut after = Position { offset, line: before.line + 1, seq: before.seq };
    // Only a line out of order needs its text again, and that is in the record.
    let checked = line.and_then(|record| match check_order(&record, b"", before.seq) {
        Ok(()) => Ok(record),
        Err(_) => {
            let text = serde_json::to_vec(&record).unwrap_or_default();
            check_order(&record, &text, before.seq).map(|()| record)
        }
    });
    match checked {
        Ok(record) => {
            after.seq = record.seq;
            fold(ReadItem::Record(record), after);
        }
        Err(BadLine::Newer(found)) => return Err(JournalError::Newer { found }),
        Err(BadLine::Damaged { why, preview }) => {
            fold(ReadItem::Damaged(Damage { line: after.line, why, preview }), after);
        }
    }
    Ok(after)
}

/// How the file is cut: chunk `i` holds the lines that start in `[i, i + 1) * chunk`.
struct ScanPlan<'a> {
    file: &'a File,
    path: &'a Path,
    len: u64,
    chunk: u64,
    chunks: u64,
}

/// The lines of one chunk, each with where it ends, its line feed included, after `start`.
struct Parsed {
    start: u64,
    lines: Vec<(Result<Record, BadLine>, u64)>,
}

impl ScanPlan<'_> {
    fn parse(&self, index: u64) -> Result<Parsed, JournalError> {
        let start = self.line_start(index * self.chunk)?;
        let end = self.line_start((index + 1) * self.chunk)?;
        let size = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
        let mut bytes = vec![0; size];
        let got = self.read(&mut bytes, start)?;
        bytes.truncate(got);
        let mut lines = Vec::with_capacity(size / 128);
        let mut from = 0;
        for feed in memchr_iter(b'\n', &bytes) {
            let line = bytes.get(from..feed).unwrap_or_default();
            from = feed + 1;
            lines.push((parse_line(line), from as u64));
        }
        Ok(Parsed { start, lines })
    }

    /// Start of the first line at or after `offset`; the file's end when none starts there.
    fn line_start(&self, offset: u64) -> Result<u64, JournalError> {
        if offset == 0 {
            return Ok(0);
        }
        let mut at = offset - 1;
        let mut block = [0; 4096];
        while at < self.len {
            let got = self.read(&mut block, at)?;
            match memchr(b'\n', block.get(..got).unwrap_or_default()) {
                Some(feed) => return Ok((at + feed as u64 + 1).min(self.len)),
                None if got == 0 => break,
                None => at += got as u64,
            }
        }
        Ok(self.len)
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> Result<usize, JournalError> {
        read_up_to(self.file, buffer, offset)
            .map_err(JournalError::io("read the session", self.path))
    }
}

/// Carries parsed chunks to the fold in order, with a bound on how many are under way.
struct Belt {
    state: Mutex<BeltState>,
    changed: Condvar,
    chunks: u64,
    free_bytes: u64,
}

#[derive(Default)]
struct BeltState {
    next: u64,
    taken: u64,
    done: BTreeMap<u64, Result<Parsed, JournalError>>,
    is_stopped: bool,
}

impl Belt {
    fn new(chunks: u64, free_bytes: u64) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), chunks, free_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, BeltState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, BeltState>) -> MutexGuard<'a, BeltState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next chunk to parse; `None` when there is none left.
    fn claim(&self) -> Option<u64> {
        let mut state = self.lock();
        while !state.is_stopped
            && state.next < self.chunks
            && state.next >= state.taken + self.free_bytes
        {
            state = self.wait(state);
        }
        if state.is_stopped || state.next >= self.chunks {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, index: u64, parsed: Result<Parsed, JournalError>) {
        self.lock().done.insert(index, parsed);
        self.changed.notify_all();
    }

    fn take(&self, index: u64) -> Option<Result<Parsed, JournalError>> {
        let mut state = self.lock();
        loop {
            if let Some(parsed) = state.done.remove(&index) {
                state.taken = index + 1;
                self.changed.notify_all();
                return Some(parsed);
            }
            if state.is_stopped {
                return None;
            }
            state = self.wait(state);
        }
    }
}

struct StopOnDrop<'a>(&'a Belt);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(path: &Path, threads: usize, chunk: u64) -> (Vec<(ReadItem, Position)>, Position) {
        let mut items = Vec::new();
        let end = scan_with(path, threads, chunk, |item, after| items.push((item, after))).unwrap();
        (items, end)
    }

    proptest! {
        #[test]
        fn threads_read_what_one_reads(
            lines in proptest::collection::vec((0..60u64, "[a-z\\\\\"]{0,90}"), 0..60),
            torn in "[a-z]{0,20}",
            chunk in 16..200u64,
        ) {
            let mut text = String::new();
            for (seq, garbage) in lines {
                if garbage.len() % 3 == 0 {
                    text.push_str(&garbage);
                } else {
                    let message = serde_json::to_string(&garbage).unwrap();
                    text.push_str(&format!(
                        r#"{{"v":1,"seq":{seq},"at":5,"event":{{"text_added":{{"turn":1,"text":{message}}}}}}}"#
                    ));
                }
                text.push('\n');
            }
            text.push_str(&torn);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            prop_assert_eq!(collect(file.path(), 3, chunk), collect(file.path(), 1, chunk));
        }
    }

    /// Lines longer than what is read at once, and chunks that end at, before and behind their ends.
    #[test]
    fn long_lines_are_read_whole_wherever_chunks_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut text = String::new();
        for (seq, length) in [4_096, 9_000, 10, 4_000, 12_288, 1].into_iter().enumerate() {
            let long = "x".repeat(length);
            text.push_str(&format!(
                "{{\"v\":1,\"seq\":{seq},\"at\":0,\"event\":{{\"text_added\":{{\"turn\":1,\"text\":\"{long}\"}}}}}}\n"
            ));
        }
        std::fs::write(file.path(), &text).unwrap();
        let alone = collect(file.path(), 1, 64);
        assert_eq!(alone.0.len(), 6);
        let ends = text.match_indices('\n').map(|(at, _)| at as u64);
        let close = ends.flat_map(|end| [end - 1, end, end + 1, end + 2]);
        for chunk in close.filter(|chunk| *chunk * 4 <= text.len() as u64).chain([64, 4_096]) {
            assert_eq!(collect(file.path(), 3, chunk), alone, "{chunk}");
        }
    }

    #[test]
    fn a_newer_format_ends_the_scan_with_its_number() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut text = String::new();
        for seq in 1..200 {
            let v = if seq == 150 { 9 } else { 1 };
            text.push_str(&format!("{{\"v\":{v},\"seq\":{seq},\"at\":0,\"event\":\"paused\"}}\n"));
        }
        std::fs::write(file.path(), text).unwrap();
        let error = scan_with(file.path(), 2, 64, |_, _| {}).unwrap_err();
        assert!(matches!(error, JournalError::Newer { found: 9 }), "{error}");
    }
}
