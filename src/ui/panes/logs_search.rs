//! Finds a pattern in a raw log of any size, a piece at a time.
//!
//! Owns the list of lines that match. Must not hold the log: only a line that is not complete yet.

use regex::{Regex, RegexBuilder};

use crate::model::{LogId, LogSource, UserError};
use crate::text::sanitize;

use super::logs_index::{Extent, MAX_LINE};

/// Most lines whose numbers are kept; further ones are only counted.
const MAX_HITS: usize = 100_000;
/// Bytes read at once.
const BLOCK: u64 = 128 * 1024;

/// A search through one log.
#[derive(Debug, Clone)]
pub struct Search {
    log: LogId,
    regex: Regex,
    pattern: String,
    /// Numbers of matching lines, rising.
    hits: Vec<u64>,
    total: u64,
    /// Bytes looked at, up to a block's end.
    scanned: u64,
    /// Number of the line that `partial` is.
    number: u64,
    /// Start of a line whose end is not read yet.
    partial: Vec<u8>,
}

impl Search {
    /// Prepares a search; a pattern without capitals finds either case.
    ///
    /// # Errors
    /// When the pattern is no regular expression; the text says why.
    pub fn new(log: LogId, pattern: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(!pattern.chars().any(char::is_uppercase))
            .size_limit(1 << 20)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "the pattern is too big".to_owned(),
                error => {
                    let text = error.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    last.trim_start_matches("error: ").to_owned()
                }
            })?;
        Ok(Self {
            log,
            regex,
            pattern: pattern.to_owned(),
            hits: Vec::new(),
            total: 0,
            scanned: 0,
            number: 0,
            partial: Vec::new(),
        })
    }

    /// What is looked for, as it was typed.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// What is looked for.
    #[must_use]
    pub const fn regex(&self) -> &Regex {
        &self.regex
    }

    /// How many complete lines match so far.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Whether everything there is has been looked at.
    #[must_use]
    pub const fn is_complete(&self, extent: Extent) -> bool {
        self.scanned >= extent.bytes
    }

    /// Looks at up to `budget` more bytes; from the start again when the log is shorter than
    /// what was looked at.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn advance(
        &mut self,
        source: &dyn LogSource,
        extent: Extent,
        budget: u64,
    ) -> Result<(), UserError> {
        if self.scanned > extent.bytes {
            self.hits.clear();
            self.partial.clear();
            (self.total, self.scanned, self.number) = (0, 0, 0);
        }
        let end = extent.bytes.min(self.scanned.saturating_add(budget));
        while self.scanned < end {
            let until = end.min(self.scanned + BLOCK);
            let bytes = source.read_log(self.log, self.scanned..until)?;
            if bytes.is_empty() {
                break;
            }
            self.take(&bytes);
            self.scanned += bytes.len() as u64;
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let is_whole = piece.ends_with(b"\n");
            if is_whole && self.partial.is_empty() {
                self.look_at(piece.get(..piece.len().min(MAX_LINE)).unwrap_or_default());
            } else {
                let room = MAX_LINE.saturating_sub(self.partial.len()).min(piece.len());
                self.partial.extend(piece.get(..room).unwrap_or_default());
                if is_whole {
                    let line = std::mem::take(&mut self.partial);
                    self.look_at(&line);
                }
            }
        }
    }

    fn look_at(&mut self, line: &[u8]) {
        if self.regex.is_match(&sanitize::log_line(line)) {
            self.total += 1;
            if self.hits.len() < MAX_HITS {
                self.hits.push(self.number);
            }
        }
        self.number += 1;
    }

    /// The first match after line `from`, or the very first when there is none.
    #[must_use]
    pub fn next(&self, from: u64) -> Option<u64> {
        let place = self.hits.partition_point(|&hit| hit <= from);
        self.hits.get(place).or_else(|| self.hits.first()).copied()
    }

    /// The last match before line `from`, or the very last when there is none.
    #[must_use]
    pub fn previous(&self, from: u64) -> Option<u64> {
        let place = self.hits.partition_point(|&hit| hit < from);
        let before = place.checked_sub(1).and_then(|place| self.hits.get(place));
        before.or_else(|| self.hits.last()).copied()
    }

    /// Place of line `number` among the matches, from 1; `None` when it does not match.
    #[must_use]
    pub fn place(&self, number: u64) -> Option<usize> {
        self.hits.binary_search(&number).ok().map(|place| place + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LogKind;

    struct Memory(Vec<u8>);

    impl LogSource for Memory {
        fn read_log(&self, _: LogId, range: std::ops::Range<u64>) -> Result<Vec<u8>, UserError> {
            let end = usize::try_from(range.end).unwrap().min(self.0.len());
            Ok(self.0.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
        }
    }

    const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

    #[test]
    fn pieces_of_any_size_find_the_same_lines() {
        let text = "I (1) scan: found 0x3c\n\x1b[31mE (2) bus: FOUND nothing\x1b[0m\r\nx\nfound";
        let source = Memory(text.as_bytes().to_vec());
        let extent = Extent { bytes: text.len() as u64, feeds: 3 };
        for budget in [1, 2, 7, 1000] {
            let mut search = Search::new(LOG, "found").unwrap();
            while !search.is_complete(extent) {
                search.advance(&source, extent, budget).unwrap();
            }
            assert_eq!((search.hits.as_slice(), search.total()), (&[0, 1][..], 2));
            assert_eq!((search.next(0), search.next(1)), (Some(1), Some(0)));
            assert_eq!((search.previous(1), search.previous(0)), (Some(0), Some(1)));
            assert_eq!((search.place(1), search.place(2)), (Some(2), None));
            let early = Extent { bytes: 30, feeds: 1 };
            search.advance(&source, early, 1000).unwrap();
            assert_eq!(search.total(), 1);
        }
    }

    #[test]
    fn capitals_matter_only_when_typed_and_bad_patterns_say_why() {
        let source = Memory(b"found\nFOUND\n".to_vec());
        let extent = Extent { bytes: 12, feeds: 2 };
        let mut search = Search::new(LOG, "FOUND").unwrap();
        search.advance(&source, extent, 100).unwrap();
        assert_eq!(search.total(), 1);
        assert!(Search::new(LOG, "(").unwrap_err().contains("unclosed group"));
    }
}
