//! The logs of the session, and which build and which connection of them are shown.
//!
//! Must not draw, nor know of keys.

use std::sync::Arc;

use crate::model::{LogId, LogSource};
use crate::view::{BuildView, SerialView, SessionView};

use super::text::LogText;
use crate::view::line_index::Extent;

/// Logs whose place is remembered.
const MAX_KEPT: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Build,
    Serial,
    /// Runs of tests.
    Tests,
    /// What linters found, and how complex functions are.
    Analysis,
    Events,
}

impl Tab {
    /// All of them, from the left.
    pub const ALL: [Self; 5] =
        [Self::Build, Self::Serial, Self::Tests, Self::Analysis, Self::Events];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Build => "Build",
            Self::Serial => "Serial",
            Self::Tests => "Tests",
            Self::Analysis => "Analysis",
            Self::Events => "Events",
        }
    }

    /// Whether there is something to show, or may be soon; what no team of this session used is left
    /// out.
    fn is_shown(self, view: &SessionView) -> bool {
        match self {
            Self::Build | Self::Serial | Self::Events => true,
            Self::Tests => !view.logs.tests.runs.is_empty(),
            Self::Analysis => !view.logs.analyses.all.is_empty(),
        }
    }

    /// Those that are shown, from the left.
    pub(super) fn shown(view: &SessionView) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|tab| tab.is_shown(view))
    }

    /// The one to the right, or the first.
    pub(super) fn next(self, view: &SessionView) -> Self {
        let mut after = Self::shown(view).skip_while(|tab| *tab != self).skip(1);
        after.next().unwrap_or(Self::Build)
    }

    /// The one to the left, or the last.
    pub(super) fn previous(self, view: &SessionView) -> Self {
        let before = Self::shown(view).take_while(|tab| *tab != self).last();
        before.or_else(|| Self::shown(view).last()).unwrap_or(Self::Events)
    }

    /// Whether it is a list of results instead of lines of a log.
    pub(super) const fn is_list(self) -> bool {
        matches!(self, Self::Tests | Self::Analysis)
    }
}

/// Every raw log that was looked at, and which one is shown.
pub(super) struct OpenLogs {
    logs: Arc<dyn LogSource>,
    /// The build and the connection that were chosen; `None`: the newest.
    chosen: [Option<LogId>; 2],
    texts: Vec<LogText>,
}

impl OpenLogs {
    pub fn new(logs: Arc<dyn LogSource>) -> Self {
        Self { logs, chosen: [None; 2], texts: Vec::new() }
    }

    /// Where logs are read from.
    pub fn source(&self) -> Arc<dyn LogSource> {
        Arc::clone(&self.logs)
    }

    /// The build that is shown.
    pub fn build<'v>(&self, view: &'v SessionView) -> Option<&'v BuildView> {
        let builds = &view.logs.builds;
        let chosen = builds.iter().find(|build| Some(build.log) == self.chosen[0]);
        chosen.or(builds.last()).map(AsRef::as_ref)
    }

    /// The connection that is shown.
    pub fn serial<'v>(&self, view: &'v SessionView) -> Option<&'v SerialView> {
        let serials = &view.logs.serials;
        let chosen = serials.iter().find(|serial| Some(serial.log) == self.chosen[1]);
        chosen.or(serials.last()).map(AsRef::as_ref)
    }

    /// The raw log that a tab shows, and how much of it is there.
    pub fn log(&self, tab: Tab, view: &SessionView) -> Option<(LogId, Extent)> {
        match tab {
            Tab::Build => self.build(view).map(|build| (build.log, build.bytes, build.lines)),
            Tab::Serial => self.serial(view).map(|serial| (serial.log, serial.bytes, serial.lines)),
            Tab::Tests | Tab::Analysis | Tab::Events => None,
        }
        .map(|(log, bytes, feeds)| (log, Extent { bytes, feeds }))
    }

    pub fn text(&self, tab: Tab, view: &SessionView) -> Option<&LogText> {
        let (log, _) = self.log(tab, view)?;
        self.texts.iter().find(|text| text.log() == log)
    }

    pub fn text_mut(&mut self, tab: Tab, view: &SessionView) -> Option<&mut LogText> {
        let (log, _) = self.log(tab, view)?;
        self.texts.iter_mut().find(|text| text.log() == log)
    }

    /// The log of a tab, which is opened if need be; tells whether it was.
    pub fn open(&mut self, tab: Tab, view: &SessionView) -> Option<(&mut LogText, Extent, bool)> {
        let (log, extent) = self.log(tab, view)?;
        let known = self.texts.iter().position(|text| text.log() == log);
        let is_new = known.is_none();
        if is_new {
            if self.texts.len() >= MAX_KEPT {
                self.texts.remove(0);
            }
            self.texts.push(LogText::new(Arc::clone(&self.logs), log));
        }
        let place = known.unwrap_or(self.texts.len() - 1);
        self.texts.get_mut(place).map(|text| (text, extent, is_new))
    }

    /// Shows the newest build and connection again.
    pub const fn choose_newest(&mut self) {
        self.chosen = [None; 2];
    }

    /// Turns to an older (-1) or newer (1) build or connection.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn turn(&mut self, tab: Tab, step: isize, view: &SessionView) -> Result<(), &'static str> {
        let (slot, logs): (usize, Vec<LogId>) = match tab {
            Tab::Build => (0, view.logs.builds.iter().map(|build| build.log).collect()),
            Tab::Serial => (1, view.logs.serials.iter().map(|serial| serial.log).collect()),
            Tab::Tests | Tab::Analysis | Tab::Events => {
                return Err("there is only one log of events");
            }
        };
        let shown = self.log(tab, view).map(|(log, _)| log);
        let place = logs.iter().position(|log| Some(*log) == shown);
        let next = place.and_then(|place| place.checked_add_signed(step));
        let Some(log) = next.and_then(|place| logs.get(place)) else {
            let older = [view.logs.older_builds, view.logs.older_serials];
            let has_older = older.get(slot).is_some_and(|count| *count > 0);
            return Err(match (step < 0, has_older) {
                (true, true) => "`firmhand replay` shows older events",
                (true, false) => "this is the first one",
                (false, _) => "this is the newest one",
            });
        };
        if let Some(chosen) = self.chosen.get_mut(slot) {
            *chosen = (logs.last() != Some(log)).then_some(*log);
        }
        Ok(())
    }
}
