//! One raw log on screen: position, search, and the lines in sight.
//!
//! Owns reading what is in sight, in small pieces. Must not draw.

use std::ops::Range;

use crate::model::{LogId, LogKind, LogSource, UserError};
use crate::text::sanitize;

use super::logs_index::{Extent, LineIndex, RawLine};
use super::logs_scroll::{Move, Scroll};
use super::logs_search::Search;

/// Bytes indexed in one go: a few milliseconds.
const INDEX_BUDGET: u64 = 8 << 20;
/// Bytes searched in one go: a few milliseconds.
const SEARCH_BUDGET: u64 = 768 << 10;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// `E`, or a compiler's error.
    Error,
    /// `W`, or a compiler's warning.
    Warning,
    /// `I`.
    Info,
    /// `D`.
    Debug,
    /// `V`, or a build's progress.
    Verbose,
    /// None is stated.
    Plain,
}

/// A line ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// From 0.
    pub number: u64,
    /// Sanitised text.
    pub text: String,
    /// What it says about itself.
    pub level: LogLevel,
    /// Byte ranges of `text` that the search found.
    pub hits: Vec<Range<usize>>,
    /// Bytes of the line that are not in `text`.
    pub omitted: u64,
}

/// One raw log on screen.
#[derive(Debug, Clone)]
pub struct LogText {
    index: LineIndex,
    /// Where one looks.
    pub scroll: Scroll,
    search: Option<Search>,
    extent: Extent,
    rows: Vec<Row>,
    /// What `rows` were read for.
    read_for: Option<(Extent, Range<u64>)>,
    /// The match that was gone to last.
    hit: Option<u64>,
    /// Whether to go to a match as soon as the search is through.
    wants_hit: bool,
    error: Option<UserError>,
}

impl LogText {
    /// A log at its end.
    #[must_use]
    pub fn new(log: LogId) -> Self {
        Self {
            index: LineIndex::new(log),
            scroll: Scroll::default(),
            search: None,
            extent: Extent::default(),
            rows: Vec::new(),
            read_for: None,
            hit: None,
            wants_hit: false,
            error: None,
        }
    }

    /// Which log.
    #[must_use]
    pub const fn log(&self) -> LogId {
        self.index.log()
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.index.len()
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lines in sight.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Why the log cannot be shown.
    #[must_use]
    pub const fn error(&self) -> Option<&UserError> {
        self.error.as_ref()
    }

    /// The search that is on.
    #[must_use]
    pub const fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Whether it has more to do although nothing new came.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let searching = |search: &Search| !search.is_complete(self.extent);
        self.error.is_none()
            && (!self.index.is_complete() || self.search.as_ref().is_some_and(searching))
    }

    /// Takes over how long the log is, goes on with index and search, and reads what is in sight.
    pub fn sync(&mut self, source: &dyn LogSource, extent: Extent) {
        self.extent = extent;
        self.error = self.read(source).err();
        if self.error.is_some() {
            self.rows.clear();
            self.read_for = None;
        }
    }

    fn read(&mut self, source: &dyn LogSource) -> Result<(), UserError> {
        self.index.set_extent(source, self.extent)?;
        self.index.advance(source, INDEX_BUDGET)?;
        if let Some(search) = &mut self.search {
            search.advance(source, self.extent, SEARCH_BUDGET)?;
        }
        if self.wants_hit && self.search.as_ref().is_some_and(|s| s.is_complete(self.extent)) {
            self.wants_hit = false;
            let end = self.scroll.range(self.index.len()).end;
            let found = self.search.as_ref().and_then(|search| search.previous(end));
            self.show(found);
        }
        let range = self.scroll.range(self.index.len());
        let key = Some((self.extent, range.clone()));
        if key == self.read_for && self.index.is_complete() {
            return Ok(());
        }
        self.read_for = key;
        let lines = self.index.lines(source, range)?;
        let regex = self.search.as_ref().map(Search::regex);
        let kind = self.index.log().kind;
        self.rows = lines.into_iter().map(|line| row(&line, kind, regex)).collect();
        Ok(())
    }

    /// Moves.
    pub fn go(&mut self, step: Move) {
        self.scroll.go(step, self.index.len());
    }

    /// Holds or follows.
    pub fn toggle_follow(&mut self) {
        self.scroll.toggle(self.index.len());
    }

    /// Looks for `pattern` from now on; an empty one ends the search.
    ///
    /// # Errors
    /// When it is no regular expression; the text says why.
    pub fn search_for(&mut self, pattern: &str) -> Result<(), String> {
        self.search =
            if pattern.is_empty() { None } else { Some(Search::new(self.log(), pattern)?) };
        self.wants_hit = self.search.is_some();
        self.hit = None;
        self.read_for = None;
        Ok(())
    }

    /// Goes to the next match, round the end.
    pub fn next_hit(&mut self) {
        let here = self.hit_in_sight();
        let found = self.search.as_ref().and_then(|search| search.next(here));
        self.show(found);
    }

    /// Goes to the match before, round the start.
    pub fn previous_hit(&mut self) {
        let here = self.hit_in_sight();
        let found = self.search.as_ref().and_then(|search| search.previous(here));
        self.show(found);
    }

    /// The line the search stands at: the match gone to last while it is in sight, else the line
    /// a third down the screen.
    #[must_use]
    pub fn hit_in_sight(&self) -> u64 {
        let range = self.scroll.range(self.index.len());
        let third = range.start + self.scroll.height() as u64 / 3;
        let third = third.min(range.end.saturating_sub(1));
        self.hit.filter(|hit| range.contains(hit)).unwrap_or(third)
    }

    fn show(&mut self, line: Option<u64>) {
        let Some(line) = line else { return };
        self.hit = Some(line);
        // Always to the same place on screen, so that the next step starts from it.
        let height = self.scroll.height() as u64;
        self.scroll.go(Move::Start, self.index.len());
        let top = line.saturating_sub(height / 3);
        self.scroll.go(Move::Lines(i64::try_from(top).unwrap_or(i64::MAX)), self.index.len());
    }
}

fn row(line: &RawLine, kind: LogKind, regex: Option<&regex::Regex>) -> Row {
    let text = sanitize::log_line(&line.bytes).into_owned();
    let hits = regex.map_or_else(Vec::new, |regex| {
        regex.find_iter(&text).filter(|hit| !hit.is_empty()).map(|hit| hit.range()).collect()
    });
    let level = match kind {
        LogKind::Serial => serial_level(&text),
        LogKind::Build => build_level(&text),
    };
    Row { number: line.number, text, level, hits, omitted: line.omitted }
}

/// The level of a line of ESP-IDF's log: `E (1234) tag: …`.
fn serial_level(text: &str) -> LogLevel {
    let mut chars = text.chars();
    let level = match chars.next() {
        Some('E') => LogLevel::Error,
        Some('W') => LogLevel::Warning,
        Some('I') => LogLevel::Info,
        Some('D') => LogLevel::Debug,
        Some('V') => LogLevel::Verbose,
        Some(_) | None => LogLevel::Plain,
    };
    if chars.as_str().starts_with(" (") {
        return level;
    }
    let is_panic = ["Guru Meditation Error", "Backtrace:", "abort() was called", "assert failed:"]
        .iter()
        .any(|start| text.starts_with(start));
    if is_panic { LogLevel::Error } else { LogLevel::Plain }
}

/// What a line of a build says about itself.
fn build_level(text: &str) -> LogLevel {
    if text.contains("error:") || text.starts_with("FAILED:") || text.contains("CMake Error") {
        LogLevel::Error
    } else if text.contains("warning:") || text.contains("CMake Warning") {
        LogLevel::Warning
    } else if text.contains("note:") {
        LogLevel::Info
    } else if text.starts_with('[') && text.split(']').next().is_some_and(|s| s.contains('/')) {
        LogLevel::Verbose
    } else {
        LogLevel::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Memory(Vec<u8>);

    impl LogSource for Memory {
        fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
            let end = usize::try_from(range.end).unwrap().min(self.0.len());
            Ok(self.0.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
        }
    }

    fn log(lines: usize) -> (LogText, Memory, Extent) {
        let text: String = (0..lines).map(|n| format!("I ({n}) tag: value {}\n", n % 50)).collect();
        let extent = Extent { bytes: text.len() as u64, feeds: lines as u64 };
        let mut log = LogText::new(LogId { kind: LogKind::Serial, number: 1 });
        log.scroll.set_height(12);
        (log, Memory(text.into_bytes()), extent)
    }

    #[test]
    fn the_end_shows_first_and_hits_are_walked_in_order() {
        let (mut log, source, extent) = log(1000);
        log.sync(&source, extent);
        assert_eq!((log.rows().len(), log.rows()[11].number), (12, 999));
        log.search_for("value 7$").unwrap();
        log.sync(&source, extent);
        assert!(!log.is_busy());
        assert_eq!(log.search().unwrap().total(), 20);
        let hit = log.rows().iter().find(|row| !row.hits.is_empty()).unwrap();
        assert_eq!((hit.number, log.hit_in_sight()), (957, 957));
        log.previous_hit();
        assert_eq!(log.hit_in_sight(), 907);
        log.next_hit();
        assert_eq!(log.hit_in_sight(), 957);
        assert!(log.search_for("(").is_err());
    }

    #[test]
    fn levels_are_told_from_the_text() {
        assert_eq!(serial_level("E (31) bus: timeout"), LogLevel::Error);
        assert_eq!(serial_level("Every word"), LogLevel::Plain);
        assert_eq!(serial_level("Backtrace: 0x4008:0x3ffb"), LogLevel::Error);
        assert_eq!(build_level("a.c:3:1: error: no"), LogLevel::Error);
        assert_eq!(build_level("[3/9] Building C object"), LogLevel::Verbose);
    }

    #[test]
    fn a_log_that_is_gone_says_so() {
        struct Gone;
        impl LogSource for Gone {
            fn read_log(&self, _: LogId, _: Range<u64>) -> Result<Vec<u8>, UserError> {
                Err(UserError::new("cannot read the log", "it is gone", ""))
            }
        }
        let (mut log, _, extent) = log(3);
        log.sync(&Gone, extent);
        assert_eq!(log.error().unwrap().why, "it is gone");
        assert!(!log.is_busy());
    }
}
