//! One raw log on screen: the lines in sight, read in small pieces.
//!
//! Owns the index of its lines and what of them is in sight. Must not draw.

use std::ops::Range;
use std::sync::Arc;

use regex::Regex;

use crate::model::{LogId, LogKind, LogSource, LogStart, UserError};
use crate::text::esp_log::{LogLevel, TagFilter};
use crate::text::sanitize;
use crate::ui::line;

use super::position::{LogView, VisibleLines};
use super::source::LogSourceView;
use crate::text::log_level::level;
use crate::ui::panes::serial::Stamps;
use crate::ui::search::LogSearch;
use crate::view::line_index::{Extent, LineIndex, RawLine};
use crate::view::line_scan::LineSource as _;
use crate::view::line_scan::Matcher;

/// Bytes indexed in one go: a few milliseconds.
const INDEX_BUDGET: u64 = 8 << 20;

/// A line ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// Counted from 0.
    pub number: u64,
    /// Where it begins in the log.
    pub start: u64,
    /// What stands before it.
    pub stamp: String,
    /// Sanitised: safe for the terminal.
    pub text: String,
    /// Columns of the text.
    pub width: usize,
    /// What it says about itself.
    pub level: Option<LogLevel>,
    /// Byte ranges of `text` that the search found.
    pub hits: Vec<Range<usize>>,
    /// Bytes of the line that are not in `text`.
    pub omitted: u64,
}

/// One raw log on screen.
#[derive(Debug)]
pub struct LogText {
    /// Where it is read from.
    pub source: LogSourceView,
    index: LineIndex,
    /// How one looks at it.
    pub view: LogView,
    extent: Extent,
    /// The filter that was typed.
    pub typed: Option<Matcher>,
    /// Which tags show.
    tags: TagFilter,
    /// What stands before the lines.
    pub stamps: Stamps,
    rows: Vec<LogRow>,
    /// What `rows` were read for.
    read_for: Option<(Extent, VisibleLines)>,
    /// Why the log cannot be shown.
    pub error: Option<UserError>,
}

impl LogText {
    /// A log at its end.
    #[must_use]
    pub fn new(source: Arc<dyn LogSource>, log: LogId) -> Self {
        let source = LogSourceView::Raw(source, log);
        Self {
            view: LogView::new(source.clone()),
            source,
            index: LineIndex::new(log),
            extent: Extent::default(),
            typed: None,
            tags: TagFilter::default(),
            stamps: Stamps::Off,
            rows: Vec::new(),
            read_for: None,
            error: None,
        }
    }

    #[must_use]
    pub const fn log(&self) -> LogId {
        self.index.log()
    }

    /// Shows only what passes `typed`, besides the tags.
    pub fn filter_by(&mut self, typed: Option<Matcher>) {
        self.typed = typed;
        self.filter();
    }

    /// Shows only what `tags` lets through, with `stamps` before the lines.
    pub fn look(&mut self, tags: &TagFilter, stamps: Stamps) {
        if self.stamps != stamps {
            self.stamps = stamps;
            self.read_again();
        }
        if self.tags != *tags {
            self.tags = tags.clone();
            self.filter();
        }
    }

    fn filter(&mut self) {
        let tags = (!self.tags.is_empty()).then(|| {
            let tags = self.tags.clone();
            Matcher::new(tags.to_string(), Arc::new(move |line| tags.shows(line)))
        });
        let wanted = match (tags, self.typed.clone()) {
            (Some(tags), Some(typed)) => Some(tags.and(typed)),
            (tags, typed) => tags.or(typed),
        };
        self.view.filter_by(wanted);
        self.read_again();
    }

    /// Where the log begins by now.
    #[must_use]
    pub const fn start(&self) -> LogStart {
        self.index.start()
    }

    /// The lines in sight.
    #[must_use]
    pub fn rows(&self) -> &[LogRow] {
        &self.rows
    }

    /// Whether it has more to do although nothing new came.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.error.is_none() && (!self.index.is_complete() || self.view.is_busy())
    }

    /// Whether its lines are still being counted, which goes on in the frames themselves.
    #[must_use]
    pub const fn is_indexing(&self) -> bool {
        self.error.is_none() && !self.index.is_complete()
    }

    /// Takes over how long the log is, goes on with index, filter and search, and reads what is
    /// in sight.
    pub fn sync(&mut self, extent: Extent) {
        self.extent = extent;
        let start = self.index.start();
        let mut done = self.read();
        // What was about to be read may be given up in that moment; then it goes on behind it.
        if done.is_err() && self.source.start().is_ok_and(|now| now != start) {
            done = self.read();
        }
        self.error = done.err();
        if self.error.is_some() {
            self.rows.clear();
            self.read_for = None;
        }
    }

    fn read(&mut self) -> Result<(), UserError> {
        let LogSourceView::Raw(source, log) = &self.source else { return Ok(()) };
        self.index.set_extent(&**source, self.extent)?;
        self.index.advance(&**source, INDEX_BUDGET)?;
        let first = self.index.start().lines.min(self.index.len());
        self.view.advance(first..self.index.len(), self.extent.bytes)?;
        let key = (self.extent, self.view.sight());
        if self.read_for.as_ref() == Some(&key) && self.index.is_complete() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for range in ranges(&key.1) {
            lines.extend(self.index.lines(&**source, range)?);
        }
        self.read_for = Some(key);
        let searched = self.view.search().map(LogSearch::matcher).and_then(Matcher::pattern);
        let filtered = self.view.filter().map(LogSearch::matcher).and_then(Matcher::pattern);
        let shown = searched.or(filtered);
        let (stamps, log) = (self.stamps, *log);
        let row = |line| {
            let mut row = row(line, log.kind, shown);
            row.stamp = stamps.before(&row.text, row.start, log, &**source);
            row
        };
        self.rows = lines.iter().map(row).collect();
        Ok(())
    }

    /// Reads what is in sight again: it is looked at in another way.
    pub fn read_again(&mut self) {
        self.read_for = None;
    }
}

/// The lines in sight as few ranges.
fn ranges(sight: &VisibleLines) -> Vec<Range<u64>> {
    let picked = match sight {
        VisibleLines::Range(range) => return vec![range.clone()],
        VisibleLines::Picked(picked) => picked,
    };
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for &line in picked {
        match ranges.last_mut() {
            Some(last) if last.end == line => last.end += 1,
            Some(_) | None => ranges.push(line..line + 1),
        }
    }
    ranges
}

fn row(raw: &RawLine, kind: LogKind, regex: Option<&Regex>) -> LogRow {
    let text = sanitize::log_line(&raw.bytes).into_owned();
    let hits = regex.map_or_else(Vec::new, |regex| {
        regex.find_iter(&text).filter(|hit| !hit.is_empty()).map(|hit| hit.range()).collect()
    });
    let level = level(kind, &text);
    let width = line::width(&text);
    let (number, start, omitted) = (raw.number, raw.start, raw.omitted);
    LogRow { number, start, stamp: String::new(), text, width, level, hits, omitted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::scroll::Move;
    use crate::view::line_scan::matcher;

    struct MemoryLog(Vec<u8>);

    impl LogSource for MemoryLog {
        fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
            let end = usize::try_from(range.end).unwrap().min(self.0.len());
            Ok(self.0.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
        }
    }

    fn log(lines: usize) -> (LogText, Extent) {
        let text: String = (0..lines).map(|n| format!("I ({n}) tag: value {}\n", n % 50)).collect();
        let extent = Extent { bytes: text.len() as u64, feeds: lines as u64 };
        let source = Arc::new(MemoryLog(text.into_bytes()));
        let mut log = LogText::new(source, LogId { kind: LogKind::Serial, number: 1 });
        log.view.scroll.set_height(12);
        (log, extent)
    }

    fn search(log: &mut LogText, pattern: &str) {
        log.view.search_for(matcher(pattern).unwrap());
        log.read_again();
    }

    fn finish(log: &mut LogText, extent: Extent) {
        log.sync(extent);
        while log.is_busy() {
            std::thread::yield_now();
            log.sync(extent);
        }
    }

    fn numbers(log: &LogText) -> Vec<u64> {
        log.rows().iter().map(|row| row.number).collect()
    }

    #[test]
    fn the_end_shows_first_and_hits_are_walked_in_order() {
        let (mut log, extent) = log(1000);
        log.sync(extent);
        assert_eq!(numbers(&log), (988..1000).collect::<Vec<_>>());
        search(&mut log, "value 7$");
        finish(&mut log, extent);
        assert_eq!(log.view.search().unwrap().total(), 20);
        let hit = log.rows().iter().find(|row| !row.hits.is_empty()).unwrap();
        assert_eq!((hit.number, log.view.here()), (957, 957));
        log.view.step_hit(-1);
        assert_eq!(log.view.here(), 907);
        log.view.step_hit(1);
        assert_eq!(log.view.here(), 957);
        assert!(matcher("(").is_err());
    }

    #[test]
    fn a_filter_shows_only_what_passes_and_leads_back_to_the_same_place() {
        let (mut log, extent) = log(100_000);
        finish(&mut log, extent);
        log.view.filter_by(matcher("value (7|8)$").unwrap());
        finish(&mut log, extent);
        assert_eq!(log.view.len(), 4_000);
        assert_eq!(numbers(&log)[9..], [99_908, 99_957, 99_958]);
        // A search in it passes over what the filter hides.
        search(&mut log, "value [67]$");
        finish(&mut log, extent);
        assert_eq!(log.view.here(), 99_957);
        log.view.step_hit(-1);
        assert_eq!(log.view.here(), 99_907);
        assert!(numbers(&log).contains(&99_907));
        log.view.filter_by(None);
        finish(&mut log, extent);
        assert!(numbers(&log).contains(&99_907) && numbers(&log).contains(&99_906));
        // New lines pass through the filter as they come, also at the end.
        log.view.go(Move::End);
        log.view.filter_by(matcher("value 7$").unwrap());
        finish(&mut log, Extent { bytes: extent.bytes / 2, feeds: extent.feeds / 2 });
        assert!(log.view.len() <= 1_010, "{}", log.view.len());
        finish(&mut log, extent);
        assert_eq!((log.view.len(), numbers(&log).last().copied()), (2_000, Some(99_957)));
    }

    #[test]
    fn a_log_that_is_gone_says_so() {
        struct Gone;
        impl LogSource for Gone {
            fn read_log(&self, _: LogId, _: Range<u64>) -> Result<Vec<u8>, UserError> {
                Err(UserError::new("cannot read the log", "it is gone", ""))
            }
        }
        let mut log = LogText::new(Arc::new(Gone), LogId { kind: LogKind::Serial, number: 1 });
        log.sync(Extent { bytes: 3, feeds: 1 });
        assert_eq!(log.error.as_ref().unwrap().why, "it is gone");
        assert!(!log.is_busy());
    }
}
