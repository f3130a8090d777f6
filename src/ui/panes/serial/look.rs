//! How one looks at the output of ports: which tags and levels, what stands before lines, whether
//! it stands still, whether it is bytes.
//!
//! Owns what was chosen; it holds for every port. What is kept of a port is never changed by it.

use ratatui::layout::Rect;

use crate::model::{LogId, LogSource};
use crate::text::esp_log::{ANY, LogLevel, TagFilter};
use crate::ui::action::Action;
use crate::ui::overlay::{Overlay, TagList};
use crate::ui::pane::Effect;
use crate::ui::panes::logs::text::LogText;
use crate::ui::scroll::Follow;
use crate::view::line_index::Extent;

use super::chart::ValueChart;
use super::hex::HexView;
use super::stamps::Stamps;
use super::tag_count::TagCount;

/// A way of looking at ports.
#[derive(Debug, Default)]
pub struct SerialLook {
    /// Which lines show.
    pub tags: TagFilter,
    /// What stands before them.
    pub stamps: Stamps,
    /// The bytes instead of lines.
    pub hex: Option<HexView>,
    /// The values in the lines.
    pub chart: Option<ValueChart>,
    /// The log that stands still, and where.
    held: Option<(LogId, Extent)>,
}

impl SerialLook {
    /// Whether an action changes how one looks.
    pub const fn knows(action: Action) -> bool {
        matches!(
            action,
            Action::LogLess
                | Action::LogMore
                | Action::LogTags
                | Action::LogTimes
                | Action::LogHex
                | Action::LogValues
                | Action::NextValue
                | Action::HoldLog
        )
    }

    /// How much of a log shows when so much of it is there.
    pub fn extent(&self, log: LogId, now: Extent) -> Extent {
        match self.held {
            // A replay may have gone back to before.
            Some((held, extent)) if held == log && extent.bytes <= now.bytes => extent,
            Some(_) | None => now,
        }
    }

    /// Lines that came since it stands still; `None` while it goes on.
    pub fn missed(&self, log: LogId, now: Extent) -> Option<u64> {
        let (_, extent) = self.held.filter(|(held, _)| *held == log)?;
        Some(now.feeds.saturating_sub(extent.feeds))
    }

    /// Does what a key asked for; `text` is the log that shows, `now` how much of it is there.
    pub fn act(&mut self, action: Action, text: Option<&LogText>, now: Extent) -> Vec<Effect> {
        let Some(text) = text else {
            return Effect::refuse("this key is for the Serial tab, once a port was opened");
        };
        match action {
            Action::LogLess => self.step(-1),
            Action::LogMore => self.step(1),
            Action::LogTags => {
                let count = TagCount::new(text.source.clone(), now.bytes);
                let list = TagList::new(count, self.tags.clone());
                vec![Effect::open(Overlay::Tags(Box::new(list)))]
            }
            Action::LogTimes => {
                self.stamps = self.stamps.next();
                Effect::info(self.stamps.words())
            }
            Action::LogHex if self.hex.take().is_some() => Effect::info("lines again"),
            Action::LogHex => {
                let first = text.rows().first().map(|row| row.start);
                let held = text.view.scroll.follow() == Follow::Held;
                let bytes = self.extent(text.log(), now).bytes;
                self.hex = Some(HexView::new(first.filter(|_| held), bytes));
                Effect::info("every byte as received; filters do not apply")
            }
            Action::LogValues if self.chart.take().is_some() => Vec::new(),
            Action::LogValues => {
                self.chart = Some(ValueChart::new(text.log()));
                Vec::new()
            }
            Action::NextValue => match self.chart.as_mut().map(ValueChart::next) {
                Some(Some(_)) => Vec::new(),
                Some(None) => Effect::info("there is no other value"),
                None => Effect::refuse("no values are drawn yet"),
            },
            _ if self.held.is_some_and(|(held, _)| held == text.log()) => {
                self.held = None;
                Effect::info("goes on")
            }
            _ => {
                self.held = Some((text.log(), now));
                Effect::info("paused: new output is still recorded")
            }
        }
    }

    /// Reads the bytes in sight, if it is bytes that show, and goes on with values.
    pub fn sync(&mut self, source: &dyn LogSource, (log, bytes): (LogId, u64), area: Rect) {
        if let Some(hex) = &mut self.hex {
            hex.sync(source, log, bytes, area);
        }
        if let Some(chart) = &mut self.chart {
            chart.sync(source, log, bytes);
        }
    }

    /// Whether values are still looked for although nothing new came.
    pub fn is_busy(&self) -> bool {
        self.chart.as_ref().is_some_and(ValueChart::is_busy)
    }

    /// Shows one level less or more of every tag that has none of its own.
    fn step(&mut self, by: isize) -> Vec<Effect> {
        let level = self.tags.level_of(ANY);
        let shown = LogLevel::ALL.iter().filter(|one| Some(**one) <= level).count();
        let next = shown.saturating_add_signed(by).clamp(1, LogLevel::ALL.len());
        let next = LogLevel::ALL.get(next - 1).copied().unwrap_or(LogLevel::Verbose);
        self.tags.set(ANY, Some(next));
        Effect::info(match next {
            LogLevel::Error => "only errors, and lines without a level",
            LogLevel::Warning => "warnings and errors, and lines without a level",
            LogLevel::Info => "all but debug and verbose lines",
            LogLevel::Debug => "all but verbose lines",
            LogLevel::Verbose => "lines of every level",
        })
    }
}
