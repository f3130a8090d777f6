//! How one looks at a log: where, through which filter, and for what.
//!
//! Owns the position, the filter and the search; the same for raw logs and for records. Places
//! count what passes the filter, line numbers count the whole log. Must not read lines nor draw.

use std::ops::Range;

use crate::model::UserError;

use super::source::LogSourceView;
use crate::ui::scroll::{Follow, Move, Scroll};
use crate::ui::search::LogSearch;
use crate::view::line_scan::Matcher;

/// Matches outside the filter that are passed over in one step.
const MAX_PASSED: u64 = 200_000;

/// Which lines are in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisibleLines {
    /// All in a row.
    Range(Range<u64>),
    /// Those that passed the filter.
    Picked(Vec<u64>),
}

/// A way of looking at one log.
#[derive(Debug)]
pub struct LogView {
    source: LogSourceView,
    /// Where one looks.
    pub scroll: Scroll,
    search: Option<LogSearch>,
    filter: Option<LogSearch>,
    /// Lines in the whole log.
    lines: u64,
    /// How far the log goes, in the units of the source.
    end: u64,
    /// The match that was gone to last.
    hit: Option<u64>,
    /// Whether to go to a match as soon as the search is through.
    wants_hit: bool,
    /// The line to go back to as soon as the filter is through.
    wants_line: Option<u64>,
}

impl LogView {
    /// A look at the end of a log.
    #[must_use]
    pub fn new(source: LogSourceView) -> Self {
        Self {
            source,
            scroll: Scroll::default(),
            search: None,
            filter: None,
            lines: 0,
            end: 0,
            hit: None,
            wants_hit: false,
            wants_line: None,
        }
    }

    /// The search that is on.
    #[must_use]
    pub const fn search(&self) -> Option<&LogSearch> {
        self.search.as_ref()
    }

    /// The filter that is on.
    #[must_use]
    pub const fn filter(&self) -> Option<&LogSearch> {
        self.filter.as_ref()
    }

    /// How many lines there are to look at, those no longer kept included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.filter.as_ref().map_or(self.lines, LogSearch::total)
    }

    /// Whether there is no line to look at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scroll.range(self.len()).is_empty()
    }

    /// Whether search or filter go on although nothing new came.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let all = [&self.search, &self.filter];
        all.into_iter().flatten().any(|search| !search.is_complete(self.end))
    }

    /// How much of the log search and filter have been through, in percent.
    #[must_use]
    pub fn percent(&self) -> u64 {
        let all = [&self.search, &self.filter];
        let least = all.into_iter().flatten().map(LogSearch::scanned).min().unwrap_or(self.end);
        least.saturating_mul(100) / self.end.max(1)
    }

    /// Takes over which lines there are, from the first one that is kept, and how far the log
    /// goes, and goes on with filter and search.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn advance(&mut self, lines: Range<u64>, end: u64) -> Result<(), UserError> {
        (self.lines, self.end) = (lines.end, end);
        for search in [&mut self.search, &mut self.filter].into_iter().flatten() {
            search.advance(end)?;
            search.forget_before(lines.start);
        }
        self.scroll.set_first(match &self.filter {
            Some(filter) => filter.first_kept(),
            None => lines.start,
        });
        let is_through = |search: &Option<LogSearch>| {
            search.as_ref().is_none_or(|search| search.is_complete(end))
        };
        if is_through(&self.filter)
            && let Some(line) = self.wants_line.take()
        {
            self.show(Some(line));
        }
        if self.wants_hit && is_through(&self.search) && is_through(&self.filter) {
            self.wants_hit = false;
            let last = self.scroll.range(self.len()).end.checked_sub(1);
            let from = last.map_or(0, |last| self.line_at(last) + 1);
            let found = self.search.as_ref().and_then(|search| search.previous(from));
            self.step_to(found, LogSearch::previous);
        }
        Ok(())
    }

    /// The lines in sight.
    #[must_use]
    pub fn sight(&self) -> VisibleLines {
        let range = self.scroll.range(self.len());
        match &self.filter {
            Some(filter) => VisibleLines::Picked(filter.lines(range)),
            None => VisibleLines::Range(range),
        }
    }

    pub fn go(&mut self, step: Move) {
        let step = match (step, &self.filter) {
            (Move::To(line), Some(filter)) => Move::To(filter.before(line)),
            (step, _) => step,
        };
        self.scroll.go(step, self.len());
    }

    /// Holds or follows.
    pub fn toggle_follow(&mut self) {
        self.scroll.toggle(self.len());
    }

    /// Looks for `matcher` from now on; `None` ends the search.
    pub fn search_for(&mut self, matcher: Option<Matcher>) {
        self.search = matcher.map(|matcher| LogSearch::new(self.source.clone(), matcher));
        self.wants_hit = self.search.is_some();
        self.hit = None;
    }

    /// Shows only what passes `matcher` from now on; `None`: everything.
    pub fn filter_by(&mut self, matcher: Option<Matcher>) {
        if self.scroll.follow() == Follow::Held {
            self.wants_line = Some(self.here());
        }
        self.filter = matcher.map(|matcher| LogSearch::new(self.source.clone(), matcher));
    }

    /// Goes to the next match, round the end, or with a negative `step` to the one before.
    pub fn step_hit(&mut self, step: isize) {
        let next = if step < 0 { LogSearch::previous } else { LogSearch::next };
        let found = self.search.as_ref().and_then(|search| next(search, self.here()));
        self.step_to(found, next);
    }

    /// The line the search stands at: the match gone to last while it is in sight, else the line
    /// a third down the screen.
    #[must_use]
    pub fn here(&self) -> u64 {
        let range = self.scroll.range(self.len());
        let third = range.start + self.scroll.height() as u64 / 3;
        let third = self.line_at(third.min(range.end.saturating_sub(1)));
        self.hit.filter(|hit| range.contains(&self.place_of(*hit))).unwrap_or(third)
    }

    /// The match that was gone to last.
    #[must_use]
    pub const fn hit(&self) -> Option<u64> {
        self.hit
    }

    fn line_at(&self, place: u64) -> u64 {
        let filter = self.filter.as_ref();
        filter.map_or(place, |filter| filter.line(place).unwrap_or(0))
    }

    fn place_of(&self, line: u64) -> u64 {
        self.filter.as_ref().map_or(line, |filter| filter.before(line))
    }

    /// Goes to a match, or to the first one after it in that direction that passes the filter.
    fn step_to(&mut self, found: Option<u64>, step: impl Fn(&LogSearch, u64) -> Option<u64>) {
        let passes = |line: u64| self.filter.as_ref().is_none_or(|f| f.place(line).is_some());
        let mut found = found;
        for _ in 0..self.search.as_ref().map_or(0, LogSearch::kept).min(MAX_PASSED) {
            let Some(line) = found.filter(|line| !passes(*line)) else { break };
            found = self.search.as_ref().and_then(|search| step(search, line));
        }
        let found = found.filter(|line| passes(*line));
        self.hit = found.or(self.hit);
        self.show(found);
    }

    fn show(&mut self, line: Option<u64>) {
        let Some(line) = line else { return };
        // Always to the same place on screen, so that the next step starts from it.
        let height = self.scroll.height() as u64;
        let place = self.place_of(line);
        self.scroll.hold_at(place.saturating_sub(height / 3), self.len());
    }
}
