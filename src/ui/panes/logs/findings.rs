//! What a log tells about that one can go to: findings of a build, calls of a failure, errors.
//!
//! Owns which of them is selected. Must not draw, nor move in a log.

use std::sync::Arc;

use crate::model::{Diagnostic, LogKind, ProjectPath};
use crate::text::esp_log::LogLevel;
use crate::ui::pane::{Effect, FilePlace};
use crate::view::{PanicView, SessionView};

use super::open::{OpenLogs, Tab};
use crate::text::log_level::level;
use crate::ui::panes::serial::card;
use crate::view::line_scan::Matcher;

/// The finding or call that is selected, by its place in the list of its tab.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Findings {
    pub place: usize,
}
impl Findings {
    /// Selects one further on among `count`.
    ///
    /// # Errors
    /// When there is none.
    pub fn step(&mut self, by: isize, count: usize) -> Result<(), ()> {
        let next = self.place.checked_add_signed(by).filter(|next| *next < count);
        self.place = next.ok_or(())?;
        Ok(())
    }

    /// Selects the caller (1) of the selected call of a failure, or what it called (-1).
    pub fn step_call(
        &mut self,
        by: isize,
        open_logs: &OpenLogs,
        tab: Tab,
        view: &SessionView,
    ) -> Vec<Effect> {
        let Some(panic) = panic(open_logs, tab, view) else {
            return Effect::info("no firmware failure is shown here");
        };
        match self.step(by, panic.report.frames().count()) {
            Ok(()) => Vec::new(),
            Err(()) => Effect::info("there is no other call"),
        }
    }

    /// The selected finding of the build that shows.
    pub fn diagnostic<'v>(
        self,
        open_logs: &OpenLogs,
        tab: Tab,
        view: &'v SessionView,
    ) -> Option<&'v Diagnostic> {
        let build = open_logs.build(view).filter(|_| tab == Tab::Build)?;
        build.diagnostics.get(self.place)
    }

    /// Where the selected finding or call lies, when that is a file of the project.
    pub fn file_place(
        self,
        open_logs: &OpenLogs,
        tab: Tab,
        view: &SessionView,
    ) -> Option<FilePlace> {
        let found = self.diagnostic(open_logs, tab, view).map(|found| (&found.file, found.line));
        let call =
            panic(open_logs, tab, view).and_then(|panic| panic.report.frames().nth(self.place));
        let (file, line) = found.or(call.map(|call| (&call.file, call.line)))?;
        Some(FilePlace { path: ProjectPath::new(file.as_deref()?).ok()?, line })
    }
}

/// The panic that the Serial tab explains.
pub(super) fn panic<'v>(
    open_logs: &OpenLogs,
    tab: Tab,
    view: &'v SessionView,
) -> Option<&'v PanicView> {
    open_logs.serial(view).and_then(card::shown).filter(|_| tab == Tab::Serial)
}

/// What the errors of a log look like.
pub(super) fn errors(tab: Tab) -> Option<Matcher> {
    match tab {
        Tab::Build | Tab::Tests | Tab::Analysis => None,
        Tab::Serial => {
            let test = |line: &str| level(LogKind::Serial, line) == Some(LogLevel::Error);
            Some(Matcher::new("errors".to_owned(), Arc::new(test)))
        }
        Tab::Events => Matcher::regex("failed|rejected|error|\"ok\":false").ok(),
    }
}
