//! The state of the logs: the tabs, what each shows, and what is looked for.
//!
//! Owns the tabs, what each shows and where one looks in it. Shows only what the view knows of, so
//! that a replay at an earlier moment shows the logs of that moment.

use std::sync::Arc;
use std::time::Instant;

use ratatui::layout::Rect;

use super::areas::{LogsAreas, Values};
use super::build;
use super::events::EventLog;
use super::findings::{self, Findings};
use super::foot::Foot;
use super::missing_start;
use super::open::{OpenLogs, Tab};
use super::position::LogView;
use super::results::Results;
use super::text::LogText;
use super::wrap::Wrapping;
use crate::model::{Diagnostic, EventSource, LogSource};
use crate::text::esp_log::TagFilter;
use crate::ui::action::{Action, KeyContext};
use crate::ui::input_line::{InputLine, Purpose};
use crate::ui::job;
use crate::ui::pane::{Cx, Effect, FilePlace, Saved, TextMode, UiCommand};
use crate::ui::panes::serial::{SerialLook, card};
use crate::ui::scroll::{Follow, Move};
use crate::ui::search::LogSearch;
use crate::view::SessionView;
use crate::view::line_scan::{Matcher, matcher};

/// Who picks the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// Whatever began last.
    Newest,
    /// The person did.
    Person,
}

/// The logs pane.
pub struct LogsPane {
    pub(super) open_logs: OpenLogs,
    pub(super) tab: Tab,
    pub(super) pick: Pick,
    pub(super) events: EventLog,
    pub(super) findings: Findings,
    pub(super) results: Results,
    pub(super) foot: Foot,
    pub(super) look: SerialLook,
    pub(super) parts: LogsAreas,
    pub(super) wrapping: Wrapping,
}

impl LogsPane {
    /// Logs read from `logs`, records from `events`.
    #[must_use]
    pub fn new(logs: Arc<dyn LogSource>, events: Arc<dyn EventSource>) -> Self {
        Self {
            open_logs: OpenLogs::new(logs),
            tab: Tab::Build,
            pick: Pick::Newest,
            events: EventLog::new(events),
            findings: Findings::default(),
            results: Results::default(),
            foot: Foot::default(),
            look: SerialLook::default(),
            parts: LogsAreas::default(),
            wrapping: Wrapping::Cut,
        }
    }

    /// Turns to a tab, and stays there.
    pub fn show(&mut self, tab: Tab) {
        self.tab = tab;
        self.pick = Pick::Person;
        self.foot.leave();
    }

    /// Shows only what `tags` lets through of what ports print.
    pub fn filter_tags(&mut self, tags: TagFilter) {
        self.look.tags = tags;
    }

    /// Which tab is shown.
    #[must_use]
    pub const fn tab(&self) -> Tab {
        self.tab
    }

    /// When it has more to read although nothing new came.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, now: Instant) -> Option<Instant> {
        match self.tab {
            Tab::Tests | Tab::Analysis => None,
            Tab::Events => self.events.is_busy().then(|| now + job::LOOK),
            Tab::Build | Tab::Serial => {
                if self.tab == Tab::Serial && self.look.is_busy() {
                    return Some(now);
                }
                let text = self.text(view).filter(|text| text.is_busy())?;
                // Lines are counted in the frames themselves; the rest is done elsewhere.
                Some(if text.is_indexing() { now } else { now + job::LOOK })
            }
        }
    }

    pub(super) fn text(&self, view: &SessionView) -> Option<&LogText> {
        self.open_logs.text(self.tab, view)
    }

    /// How one looks at what is shown.
    pub(super) fn log_view(&self, view: &SessionView) -> Option<&LogView> {
        match self.tab {
            Tab::Events => Some(&self.events.view),
            Tab::Tests | Tab::Analysis => None,
            Tab::Build | Tab::Serial => self.text(view).map(|text| &text.view),
        }
    }

    pub(super) fn log_view_mut(&mut self, view: &SessionView) -> Option<&mut LogView> {
        match self.tab {
            Tab::Events => Some(&mut self.events.view),
            Tab::Tests | Tab::Analysis => None,
            Tab::Build | Tab::Serial => {
                self.open_logs.text_mut(self.tab, view).map(|text| &mut text.view)
            }
        }
    }

    pub(super) fn go(&mut self, step: Move, view: &SessionView) -> Vec<Effect> {
        if let Some(hex) = self.look.hex.as_mut().filter(|_| self.tab == Tab::Serial) {
            hex.go(step);
            return Vec::new();
        }
        if self.tab.is_list() {
            let page = i64::from(self.parts.findings.height).max(1);
            self.results.go(step, page, (self.tab, view));
            return Vec::new();
        }
        if matches!(step, Move::Columns(_)) && self.wrapping == Wrapping::Wrapped {
            return Effect::info("long lines are wrapped here: nothing to scroll to the side");
        }
        match self.log_view_mut(view) {
            Some(shown) => shown.go(step),
            None => return Effect::info("there is no output yet"),
        }
        let start = self.text(view).map(LogText::start).filter(|_| self.tab != Tab::Events);
        match start.and_then(|start| missing_start::words(start, view.started_at)) {
            Some(gone) if step == Move::Start => {
                Effect::info(format!("the start of the kept output: {gone}"))
            }
            Some(_) | None => Vec::new(),
        }
    }

    pub(super) fn half_page(&self) -> i64 {
        i64::from(self.parts.text.height / 2).max(1)
    }

    pub(super) fn toggle_follow(&mut self, view: &SessionView) -> Vec<Effect> {
        if let Some(hex) = self.look.hex.as_mut().filter(|_| self.tab == Tab::Serial) {
            let rows = hex.rows();
            hex.scroll.toggle(rows);
            return Vec::new();
        }
        match self.log_view_mut(view) {
            Some(shown) => shown.toggle_follow(),
            None => return Effect::info("there is no output yet"),
        }
        Vec::new()
    }

    /// Leaves what is open: bytes, then search, filter, tags, a place further up, an older log.
    pub(super) fn back(&mut self, view: &SessionView) {
        let is_serial = self.tab == Tab::Serial;
        if self.tab.is_list() {
            self.results.choose_newest();
            self.pick = Pick::Newest;
            return;
        }
        if is_serial && self.look.hex.take().is_some() {
            return;
        }
        let Some(shown) = self.log_view(view) else { return };
        let is_held = shown.scroll.follow() == Follow::Held;
        if shown.search().is_some() {
            self.look_for(None, view);
        } else if self.typed_filter(view).is_some() {
            self.filter_by("", view).unwrap_or_default();
        } else if is_serial && !self.look.tags.is_empty() {
            self.look.tags = TagFilter::default();
        } else if is_held {
            self.go(Move::End, view);
        } else {
            self.open_logs.choose_newest();
            self.pick = Pick::Newest;
        }
    }

    /// Turns to the log that began last, unless the person has picked one.
    pub(super) fn follow_newest(&mut self, view: &SessionView) {
        let build = view.logs.builds.last().map(|build| build.at);
        let serial = view.logs.serials.last().map(|serial| serial.at);
        if self.pick == Pick::Newest && self.foot.mode() == TextMode::Off {
            let tests = view.logs.tests.runs.last().map(|run| run.at);
            self.tab = match serial.max(build) {
                latest if tests > latest => Tab::Tests,
                _ if serial > build => Tab::Serial,
                _ => Tab::Build,
            };
        }
    }

    pub(super) fn hit(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.log_view_mut(view) {
            Some(shown) if shown.search().is_some() => {
                shown.step_hit(if action == Action::NextMatch { 1 } else { -1 });
                Vec::new()
            }
            Some(_) | None => Effect::info("there is no search yet"),
        }
    }

    /// Turns to an older (-1) or newer (1) build or connection.
    pub(super) fn turn(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        if self.tab.is_list() {
            let turned = self.results.turn(step, self.tab, view);
            return turned.map_or_else(Effect::info, |()| Vec::new());
        }
        if let Err(why) = self.open_logs.turn(self.tab, step, view) {
            return Effect::info(why);
        }
        self.findings = Findings::default();
        Vec::new()
    }

    pub(super) fn lay_out(&mut self, area: Rect, view: &SessionView) {
        let wanted = match self.tab {
            Tab::Build => self.open_logs.build(view).map_or(0, build::rows),
            Tab::Serial => self.open_logs.serial(view).map_or(0, card::rows),
            Tab::Tests | Tab::Analysis => self.results.count(self.tab, view).max(1),
            Tab::Events => 0,
        };
        let has_head = self.tab.is_list() || self.open_logs.log(self.tab, view).is_some();
        let is_drawn = self.tab == Tab::Serial && has_head && self.look.chart.is_some();
        let values = if is_drawn { Values::Shown } else { Values::Hidden };
        self.parts = LogsAreas::new(area, usize::from(has_head), wanted, values);
    }

    /// The filter that was typed for what is shown.
    pub(super) fn typed_filter(&self, view: &SessionView) -> Option<&Matcher> {
        match self.tab {
            Tab::Events => self.events.view.filter().map(LogSearch::matcher),
            Tab::Tests | Tab::Analysis => None,
            Tab::Build | Tab::Serial => self.text(view)?.typed.as_ref(),
        }
    }

    pub(super) fn ask(&mut self, purpose: Purpose, cx: &Cx<'_>) -> Vec<Effect> {
        let view = cx.view;
        if self.tab.is_list() {
            return Effect::info("this is a list of results; the other tabs can be searched");
        }
        if self.log_view(view).is_none() {
            return Effect::info("there is no output yet");
        }
        if self.tab == Tab::Serial && self.look.hex.is_some() && purpose != Purpose::Save {
            let key = cx.key(KeyContext::Logs, Action::LogHex);
            return Effect::refuse(format!("these are bytes; `{key}` shows lines again"));
        }
        let text = match (purpose, self.open_logs.log(self.tab, view)) {
            (Purpose::Search | Purpose::Files, _) => String::new(),
            (Purpose::Filter, _) => {
                self.typed_filter(view).map_or_else(String::new, |f| f.words().to_owned())
            }
            (Purpose::Save, Some((log, _))) => format!("{log}.log"),
            (Purpose::Save, None) => "events.jsonl".to_owned(),
        };
        self.foot.begin(purpose, &text);
        Vec::new()
    }

    pub(super) fn entered(&mut self, typing: InputLine, view: &SessionView) -> Vec<Effect> {
        let text = typing.text();
        let done = match typing.purpose() {
            Purpose::Search | Purpose::Files => {
                matcher(&text).map(|found| self.look_for(found, view))
            }
            Purpose::Filter => self.filter_by(&text, view),
            Purpose::Save if text.trim().is_empty() => Err("a name is needed".to_owned()),
            Purpose::Save => {
                let what = match self.open_logs.log(self.tab, view) {
                    Some((log, extent)) => Saved::Log(log, extent.bytes),
                    None => Saved::Events(view.seq),
                };
                let to = text.trim().to_owned();
                return vec![Effect::Command(UiCommand::Save { what, to })];
            }
        };
        if let Err(wrong) = done {
            self.foot.refuse(typing, wrong);
        }
        Vec::new()
    }

    pub(super) fn look_for(&mut self, wanted: Option<Matcher>, view: &SessionView) {
        if let Some(shown) = self.log_view_mut(view) {
            shown.search_for(wanted);
        }
        if let Some(text) = self.open_logs.text_mut(self.tab, view) {
            text.read_again();
        }
    }

    pub(super) fn filter_by(&mut self, pattern: &str, view: &SessionView) -> Result<(), String> {
        let wanted = matcher(pattern)?;
        match self.tab {
            Tab::Events => self.events.view.filter_by(wanted),
            Tab::Tests | Tab::Analysis => {}
            Tab::Build | Tab::Serial => {
                if let Some(text) = self.open_logs.text_mut(self.tab, view) {
                    text.filter_by(wanted);
                }
            }
        }
        Ok(())
    }

    pub(super) fn next_error(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        if self.tab.is_list() {
            return self.results.next_bad(step, self.tab, view);
        }
        let Some(errors) = findings::errors(self.tab) else {
            return self.select_finding(step, view);
        };
        if self.tab == Tab::Serial {
            self.look.hex = None;
        }
        let Some(shown) = self.log_view_mut(view) else {
            return Effect::info("there is no output yet");
        };
        if shown.search().is_none_or(|search| search.matcher().words() != errors.words()) {
            self.look_for(Some(errors), view);
        } else {
            shown.step_hit(step);
        }
        Vec::new()
    }

    fn select_finding(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let count = self.open_logs.build(view).map_or(0, |build| build.diagnostics.len());
        if self.findings.step(step, count).is_err() {
            return Effect::info("there is no other finding");
        }
        self.show_in_log(view)
    }

    pub(super) fn selected<'v>(&self, view: &'v SessionView) -> Option<&'v Diagnostic> {
        self.findings.diagnostic(&self.open_logs, self.tab, view)
    }

    /// Goes to the place in the output where the newest panic begins.
    fn show_panic(&mut self, view: &SessionView) -> Vec<Effect> {
        let panic = findings::panic(&self.open_logs, self.tab, view);
        let Some(line) = panic.map(|panic| panic.line) else { return Vec::new() };
        if let Some(text) = self.open_logs.text_mut(self.tab, view) {
            let first = text.start().lines;
            if line < first {
                return Effect::info("the output around this failure is no longer kept");
            }
            text.view.go(Move::Start);
            text.view.go(Move::Lines(i64::try_from(line - first).unwrap_or(i64::MAX)));
        }
        Vec::new()
    }

    /// Goes to the place in the raw log where the selected finding is printed.
    fn show_in_log(&mut self, view: &SessionView) -> Vec<Effect> {
        let Some(found) = self.selected(view) else { return Vec::new() };
        let place = build::place(found);
        let words = if place.is_empty() { found.message.clone() } else { place };
        // What is escaped is always an expression.
        self.look_for(matcher(&regex::escape(&words)).unwrap_or_default(), view);
        Vec::new()
    }

    /// Where the selected finding or result is in the project.
    pub(super) fn place_to_open(&self, view: &SessionView) -> Option<FilePlace> {
        let place = self.findings.file_place(&self.open_logs, self.tab, view);
        place.or_else(|| self.results.file_place(self.tab, view))
    }

    /// Whether there is something to open.
    pub(super) fn can_open(&self, view: &SessionView) -> bool {
        self.place_to_open(view).is_some() || self.selected(view).is_some() || self.has_calls(view)
    }

    /// Whether a panic is shown.
    pub(super) fn has_calls(&self, view: &SessionView) -> bool {
        findings::panic(&self.open_logs, self.tab, view).is_some()
    }

    /// Opens the file of the selected finding; without one, its place in the raw log.
    pub(super) fn open(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.place_to_open(view) {
            Some(place) if action == Action::EditFile => {
                vec![Effect::Command(UiCommand::Edit(place))]
            }
            Some(place) => vec![Effect::Preview(place)],
            None if self.selected(view).is_some() => {
                let mut effects = self.show_in_log(view);
                effects.extend(Effect::info("no file of the project is named; this is the log"));
                effects
            }
            None if findings::panic(&self.open_logs, self.tab, view).is_some() => {
                self.show_panic(view)
            }
            None => Effect::info("there is nothing to open here"),
        }
    }
}
