//! Finds what went wrong in output of any length, as it comes.
//!
//! Owns how much of it is kept: a build may print without end, and what it printed first may be what
//! matters.

use std::path::{Path, PathBuf};

use super::finding::{MAX_DIAGNOSTICS, is_error, tidy};
use super::search::{last_line, parse};
use crate::model::Diagnostic;

/// Output that is searched at once, in bytes.
const BLOCK: usize = 8 << 20;

/// What a finding and its advice may take, in bytes; so much is searched again with what follows.
const OVERLAP: usize = 64 << 10;

/// Takes a build's output and keeps what was found in it.
#[derive(Debug)]
pub struct Gather {
    project: PathBuf,
    /// Output that is searched at once, in bytes.
    block: usize,
    pending: Vec<u8>,
    found: Vec<Diagnostic>,
}

impl Gather {
    /// For a build of the project at that absolute path.
    #[must_use]
    pub fn new(project: &Path) -> Self {
        Self::in_blocks(project, BLOCK)
    }

    /// As [`Self::new`], searching at every `block` bytes; more than [`OVERLAP`].
    fn in_blocks(project: &Path, block: usize) -> Self {
        Self { project: project.to_owned(), block, pending: Vec::new(), found: Vec::new() }
    }

    /// Takes more output.
    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(self.block) {
            self.pending.extend_from_slice(part);
            if self.pending.len() >= self.block {
                self.search();
            }
        }
    }

    /// All that was found, as [`parse`] orders it.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        let found = parse(&self.project, &self.pending);
        self.merge(found);
        self.found
    }

    /// As [`Self::finish`], for a build that failed: when no error was found, the last line is one.
    #[must_use]
    pub fn finish_failed(self) -> Vec<Diagnostic> {
        let last = last_line(&self.pending);
        let mut found = self.finish();
        if !found.iter().any(is_error) {
            found.splice(0..0, last);
        }
        found
    }

    /// Searches what is there, and keeps the last lines of it for what follows.
    fn search(&mut self) {
        let from = self.pending.len().saturating_sub(OVERLAP);
        let tail = self.pending.get(from..).unwrap_or_default();
        // A line without an end is no finding; its beginning is given up.
        let line = memchr::memchr(b'\n', tail).map_or(from, |end| from + end + 1);
        let found = parse(&self.project, self.pending.get(..line).unwrap_or_default());
        self.merge(found);
        self.pending.drain(..line);
    }

    fn merge(&mut self, found: Vec<Diagnostic>) {
        self.found.extend(found);
        tidy(&mut self.found);
        debug_assert!(self.found.len() <= MAX_DIAGNOSTICS, "they are bounded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small, because searching without optimisation takes long.
    const SMALL: usize = 4 * OVERLAP;

    /// A part of a flood; 20 of them fill more than two blocks.
    const PART: usize = SMALL / 8;

    fn gathered(parts: &[&[u8]]) -> (Vec<Diagnostic>, usize) {
        let mut gather = Gather::in_blocks(Path::new("/p"), SMALL);
        let mut most = 0;
        for part in parts {
            gather.push(part);
            most = most.max(gather.pending.len());
        }
        (gather.finish(), most)
    }

    #[test]
    fn what_came_first_is_not_lost_in_a_flood_and_memory_stays_bounded() {
        let noise = b"[1/2] a line of noise without any meaning at all, as long as lines are\n";
        let flood = noise.repeat(PART / noise.len());
        let mut parts: Vec<&[u8]> = vec![b"/p/a.c:1:2: error: first\n"];
        parts.extend(std::iter::repeat_n(flood.as_slice(), 20));
        parts.push(b"/p/a.c:9:2: error: la");
        parts.push(b"st\n");
        let (found, most) = gathered(&parts);
        let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(messages, ["first", "last"]);
        assert!(most < SMALL + PART, "{most}");
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let flood = vec![b'x'; PART];
        let mut parts: Vec<&[u8]> = vec![flood.as_slice(); 20];
        parts.push(b"\n/p/a.c:1:2: error: behind it\n");
        let (found, most) = gathered(&parts);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(most < SMALL + PART, "{most}");
    }

    #[test]
    fn small_output_is_read_as_a_whole() {
        let text = include_bytes!("../../../tests/data/build/missing-header.txt");
        let parts: Vec<&[u8]> = text.chunks(7).collect();
        assert_eq!(gathered(&parts).0, parse(Path::new("/p"), text));
    }
}
