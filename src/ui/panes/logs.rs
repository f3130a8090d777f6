//! The logs: builds, serial output, and the session's own records.
//!
//! Owns the tabs, what each shows and where one looks in it. Shows only what the view knows of, so
//! that a replay at an earlier moment shows the logs of that moment.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::model::{EventSource, LogSource};
use crate::text::esp_log::TagFilter;
use crate::ui::action::Action;
use crate::ui::job;
use crate::ui::pane::{Cx, Effect, Pane, TextMode};
use crate::view::SessionView;

use super::logs_build;
use super::logs_draw;
use super::logs_events::EventLog;
use super::logs_findings::Findings;
use super::logs_foot::{Foot, Typed};
use super::logs_gone;
use super::logs_open::OpenLogs;
pub use super::logs_open::Tab;
use super::logs_parts::{LogsAreas, Values};
use super::logs_scroll::{Follow, Move, movement};
use super::logs_text::LogText;
use super::logs_typing::Purpose;
use super::logs_view::LogView;
use super::logs_wrap::Wrapping;
use super::serial::{SerialActions, SerialLook, card};

/// Who picks the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    /// Whatever began last.
    Newest,
    /// The person did.
    Person,
}

/// The logs pane.
pub struct LogsPane {
    pub(super) open_logs: OpenLogs,
    pub(super) tab: Tab,
    pick: Pick,
    pub(super) events: EventLog,
    pub(super) findings: Findings,
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
            Tab::Build | Tab::Serial => self.text(view).map(|text| &text.view),
        }
    }

    pub(super) fn log_view_mut(&mut self, view: &SessionView) -> Option<&mut LogView> {
        match self.tab {
            Tab::Events => Some(&mut self.events.view),
            Tab::Build | Tab::Serial => {
                self.open_logs.text_mut(self.tab, view).map(|text| &mut text.view)
            }
        }
    }

    fn go(&mut self, step: Move, view: &SessionView) -> Vec<Effect> {
        if let Some(hex) = self.look.hex.as_mut().filter(|_| self.tab == Tab::Serial) {
            hex.go(step);
            return Vec::new();
        }
        if matches!(step, Move::Columns(_)) && self.wrapping == Wrapping::Wrapped {
            return Effect::info("long lines are wrapped here: nothing to scroll to the side");
        }
        match self.log_view_mut(view) {
            Some(lens) => lens.go(step),
            None => return Effect::info("there is no output yet"),
        }
        let start = self.text(view).map(LogText::start).filter(|_| self.tab != Tab::Events);
        match start.and_then(|start| logs_gone::words(start, view.started_at)) {
            Some(gone) if step == Move::Start => {
                Effect::info(format!("the start of the kept output: {gone}"))
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn half_page(&self) -> i64 {
        i64::from(self.parts.text.height / 2).max(1)
    }

    fn toggle_follow(&mut self, view: &SessionView) -> Vec<Effect> {
        if let Some(hex) = self.look.hex.as_mut().filter(|_| self.tab == Tab::Serial) {
            let rows = hex.rows();
            hex.scroll.toggle(rows);
            return Vec::new();
        }
        match self.log_view_mut(view) {
            Some(lens) => lens.toggle_follow(),
            None => return Effect::info("there is no output yet"),
        }
        Vec::new()
    }

    /// Leaves what is open: bytes, then search, filter, tags, a place further up, an older log.
    fn back(&mut self, view: &SessionView) {
        let is_serial = self.tab == Tab::Serial;
        if is_serial && self.look.hex.take().is_some() {
            return;
        }
        let Some(lens) = self.log_view(view) else { return };
        let is_held = lens.scroll.follow() == Follow::Held;
        if lens.search().is_some() {
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
    fn follow_newest(&mut self, view: &SessionView) {
        let build = view.logs.builds.last().map(|build| build.at);
        let serial = view.logs.serials.last().map(|serial| serial.at);
        if self.pick == Pick::Newest && self.foot.mode() == TextMode::Off {
            self.tab = if serial > build { Tab::Serial } else { Tab::Build };
        }
    }

    fn hit(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.log_view_mut(view) {
            Some(lens) if lens.search().is_some() => {
                if action == Action::NextMatch {
                    lens.next_hit();
                } else {
                    lens.previous_hit();
                }
                Vec::new()
            }
            Some(_) | None => Effect::info("there is no search yet"),
        }
    }

    /// Turns to an older (-1) or newer (1) build or connection.
    fn turn(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        match self.open_logs.turn(self.tab, step, view) {
            Ok(()) => self.findings = Findings::default(),
            Err(why) => return Effect::info(why),
        }
        Vec::new()
    }

    fn lay_out(&mut self, area: Rect, view: &SessionView) {
        let wanted = match self.tab {
            Tab::Build => self.open_logs.build(view).map_or(0, logs_build::rows),
            Tab::Serial => self.open_logs.serial(view).map_or(0, card::rows),
            Tab::Events => 0,
        };
        let has_head = self.open_logs.log(self.tab, view).is_some();
        let is_drawn = self.tab == Tab::Serial && has_head && self.look.chart.is_some();
        let values = if is_drawn { Values::Shown } else { Values::Hidden };
        self.parts = LogsAreas::new(area, usize::from(has_head), wanted, values);
    }
}

impl Pane for LogsPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        logs_draw::title(self, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        logs_draw::hints(self, cx)
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let view = cx.view;
        if let Some(step) = movement(action, self.half_page()) {
            return self.go(step, view);
        }
        match action {
            Action::NextTab => self.show(self.tab.next()),
            Action::PreviousTab => self.show(self.tab.next().next()),
            Action::Follow => return self.toggle_follow(view),
            Action::Back => self.back(view),
            Action::Open | Action::EditFile => return self.open(action, view),
            Action::Search => return self.ask(Purpose::Search, cx),
            Action::FilterLog => return self.ask(Purpose::Filter, cx),
            Action::SaveLog => return self.ask(Purpose::Save, cx),
            Action::WrapLog => return Effect::info(self.wrapping.toggle()),
            Action::Copy => return Effect::copy(logs_draw::taken_away(self, cx)),
            Action::NextMatch | Action::PreviousMatch => return self.hit(action, view),
            Action::NextError => return self.next_error(1, view),
            Action::PreviousError => return self.next_error(-1, view),
            Action::NextCall => return self.findings.step_call(1, &self.open_logs, self.tab, view),
            Action::PreviousCall => {
                return self.findings.step_call(-1, &self.open_logs, self.tab, view);
            }
            Action::NextSource => return self.turn(1, view),
            Action::PreviousSource => return self.turn(-1, view),
            _ if SerialLook::knows(action) => {
                let log = self.open_logs.log(self.tab, view).filter(|_| self.tab == Tab::Serial);
                let (_, now) = log.unzip();
                let text = log.and_then(|_| self.open_logs.text(self.tab, view));
                return self.look.act(action, text, now.unwrap_or_default());
            }
            _ if SerialActions::knows(action) => {
                let serial = self.open_logs.serial(view).filter(|_| self.tab == Tab::Serial);
                return self.foot.control.act(action, serial, cx);
            }
            _ => return Effect::refuse(format!("`{}` does nothing in the logs", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        self.follow_newest(cx.view);
        self.lay_out(area, cx.view);
        let height = usize::from(self.parts.text.height);
        if self.tab == Tab::Events {
            self.events.view.scroll.set_height(height);
            self.events.sync(cx.view.seq);
            return;
        }
        let source = self.open_logs.source();
        let Some((text, extent, is_new)) = self.open_logs.open(self.tab, cx.view) else { return };
        if is_new {
            self.findings = Findings::default();
        }
        text.view.scroll.set_height(height);
        if self.tab == Tab::Build {
            return text.sync(extent);
        }
        let extent = self.look.extent(text.log(), extent);
        text.look(&self.look.tags, self.look.stamps);
        text.sync(extent);
        self.look.sync(&*source, (text.log(), extent.bytes), self.parts.text);
    }

    fn draw(&self, _area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        logs_draw::draw(self, buf, cx);
    }

    fn text_mode(&self) -> TextMode {
        self.foot.mode()
    }

    fn on_text(&mut self, key: &KeyEvent, cx: &Cx<'_>) -> Vec<Effect> {
        match self.foot.key(key, self.open_logs.serial(cx.view)) {
            Typed::Effects(effects) => effects,
            Typed::Entered(typing) => self.entered(*typing, cx.view),
        }
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Effect> {
        self.foot.paste(text);
        Vec::new()
    }

    fn on_click(&mut self, at: Position, cx: &Cx<'_>) -> Vec<Effect> {
        let y = self.parts.head.y + at.y;
        let inside = self.parts.findings.contains(Position::new(self.parts.findings.x, y));
        let Some(build) = self.open_logs.build(cx.view).filter(|_| inside) else {
            return Vec::new();
        };
        let row = usize::from(y - self.parts.findings.y);
        let height = self.parts.findings.height;
        if let Some(found) = logs_build::finding_at(build, self.findings.place(), height, row) {
            self.findings.select(found);
            return self.open(Action::Open, cx.view);
        }
        Vec::new()
    }

    fn on_title_click(&mut self, column: u16, cx: &Cx<'_>) -> Vec<Effect> {
        if let Some(tab) = logs_draw::tab_at(column, cx) {
            self.show(tab);
        }
        Vec::new()
    }
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
