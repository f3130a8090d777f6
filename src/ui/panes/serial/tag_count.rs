//! Which tags a port's output has, and how many lines of each.
//!
//! Owns the counting, which goes on apart from the screen. Must not draw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::text::esp_log;
use crate::ui::panes::logs::source::LogSourceView;
use crate::ui::search::LogSearch;
use crate::view::line_scan::Matcher;

/// Tags that are told apart; garbage at a wrong speed can look like any number of them.
const MAX_TAGS: usize = 500;

#[derive(Debug, Default)]
struct Counts {
    tags: BTreeMap<String, u64>,
    others: u64,
}

/// The tags of one log up to where it was when the counting began.
#[derive(Debug)]
pub struct TagCount {
    counts: Arc<Mutex<Counts>>,
    search: LogSearch,
    end: u64,
}

impl TagCount {
    /// Begins to count the first `end` bytes of a log.
    pub fn new(source: LogSourceView, end: u64) -> Self {
        let counts = Arc::<Mutex<Counts>>::default();
        let own = Arc::clone(&counts);
        let count = move |line: &str| {
            let mut counts = own.lock().unwrap_or_else(PoisonError::into_inner);
            let tag = esp_log::parse(line).map(|log| log.tag);
            match tag.and_then(|tag| counts.tags.get_mut(tag)) {
                Some(count) => *count += 1,
                None => match tag.filter(|_| counts.tags.len() < MAX_TAGS) {
                    Some(tag) => drop(counts.tags.insert(tag.to_owned(), 1)),
                    None => counts.others += 1,
                },
            }
            // Lines are counted here; none of them has to be found again.
            false
        };
        let search = LogSearch::new(source, Matcher::new("tags".to_owned(), Arc::new(count)));
        Self { counts, search, end }
    }

    /// Goes on; what cannot be read is not counted.
    pub fn advance(&mut self) {
        let _ = self.search.advance(self.end);
    }

    /// Whether it goes on.
    pub fn is_busy(&self) -> bool {
        !self.search.is_complete(self.end)
    }

    /// The tags with the lines of each, the most lines first.
    pub fn tags(&self) -> Vec<(String, u64)> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tags: Vec<(String, u64)> =
            counts.tags.iter().map(|(tag, count)| (tag.clone(), *count)).collect();
        tags.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        tags
    }

    /// Lines that have no tag.
    pub fn others(&self) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).others
    }
}
