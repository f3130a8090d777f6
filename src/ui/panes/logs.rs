//! The logs: builds, serial output, and the session's own records.
//!
//! Owns the tabs, what each shows and where one looks in it. Shows only what the view knows of, so
//! that a replay at an earlier moment shows the logs of that moment.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{EventSource, LogId, LogSource};
use crate::ui::action::Action;
use crate::ui::pane::{Cx, Effect, Mode, Pane, TextMode};
use crate::view::{BuildView, SerialView, SessionView};

use super::logs_build;
use super::logs_draw;
use super::logs_events::EventLog;
use super::logs_index::Extent;
use super::logs_scroll::{Follow, Move, Scroll};
use super::logs_text::LogText;
use super::logs_typing::Typing;
use super::serial::{SerialHands, card};

/// Logs whose place is remembered.
const MAX_KEPT: usize = 16;
/// Columns that one step to the side goes.
const SIDE_STEP: i64 = 16;

/// A tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Builds.
    Build,
    /// Serial output.
    Serial,
    /// Records.
    Events,
}

impl Tab {
    /// All of them, from the left.
    pub const ALL: [Self; 3] = [Self::Build, Self::Serial, Self::Events];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Build => "Build",
            Self::Serial => "Serial",
            Self::Events => "Events",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Build => Self::Serial,
            Self::Serial => Self::Events,
            Self::Events => Self::Build,
        }
    }
}

/// Who picks the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    /// Whatever began last.
    Newest,
    /// The person did.
    Person,
}

/// Where the parts of the pane are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts {
    pub head: Rect,
    pub findings: Rect,
    pub text: Rect,
    pub foot: Rect,
}

/// The logs pane.
pub struct LogsPane {
    logs: Arc<dyn LogSource>,
    source: Arc<dyn EventSource>,
    pub(super) tab: Tab,
    pick: Pick,
    /// The build and the connection that were chosen; `None`: the newest.
    chosen: [Option<LogId>; 2],
    texts: Vec<LogText>,
    pub(super) events: EventLog,
    /// The selected finding of the build.
    pub(super) finding: usize,
    pub(super) typing: Option<Typing>,
    pub(super) hands: SerialHands,
    pub(super) parts: Parts,
}

impl LogsPane {
    /// Logs read from `logs`, records from `events`.
    #[must_use]
    pub fn new(logs: Arc<dyn LogSource>, events: Arc<dyn EventSource>) -> Self {
        Self {
            logs,
            source: events,
            tab: Tab::Build,
            pick: Pick::Newest,
            chosen: [None; 2],
            texts: Vec::new(),
            events: EventLog::default(),
            finding: 0,
            typing: None,
            hands: SerialHands::default(),
            parts: Parts::default(),
        }
    }

    /// Turns to a tab, and stays there.
    pub fn show(&mut self, tab: Tab) {
        self.tab = tab;
        self.pick = Pick::Person;
        self.typing = None;
        self.hands.leave();
    }

    /// Which tab is shown.
    #[must_use]
    pub const fn tab(&self) -> Tab {
        self.tab
    }

    /// When it has more to read although nothing new came.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, now: Instant) -> Option<Instant> {
        self.text(view).is_some_and(LogText::is_busy).then_some(now)
    }

    /// The build that is shown.
    pub(super) fn build<'v>(&self, view: &'v SessionView) -> Option<&'v BuildView> {
        let builds = &view.logs.builds;
        let chosen = builds.iter().find(|build| Some(build.log) == self.chosen[0]);
        chosen.or(builds.last()).map(AsRef::as_ref)
    }

    /// The connection that is shown.
    pub(super) fn serial<'v>(&self, view: &'v SessionView) -> Option<&'v SerialView> {
        let serials = &view.logs.serials;
        let chosen = serials.iter().find(|serial| Some(serial.log) == self.chosen[1]);
        chosen.or(serials.last()).map(AsRef::as_ref)
    }

    /// The raw log that is shown, and how much of it is there.
    fn log(&self, view: &SessionView) -> Option<(LogId, Extent)> {
        match self.tab {
            Tab::Build => {
                self.build(view).map(|b| (b.log, Extent { bytes: b.bytes, feeds: b.lines }))
            }
            Tab::Serial => {
                self.serial(view).map(|s| (s.log, Extent { bytes: s.bytes, feeds: s.lines }))
            }
            Tab::Events => None,
        }
    }

    pub(super) fn text(&self, view: &SessionView) -> Option<&LogText> {
        let (log, _) = self.log(view)?;
        self.texts.iter().find(|text| text.log() == log)
    }

    fn text_mut(&mut self, view: &SessionView) -> Option<&mut LogText> {
        let (log, _) = self.log(view)?;
        self.texts.iter_mut().find(|text| text.log() == log)
    }

    /// Where one looks, among how many lines.
    pub(super) fn scroll(&self, view: &SessionView) -> Option<(&Scroll, u64)> {
        match self.tab {
            Tab::Events => Some((&self.events.scroll, self.events.count())),
            Tab::Build | Tab::Serial => self.text(view).map(|text| (&text.scroll, text.len())),
        }
    }

    fn go(&mut self, step: Move, view: &SessionView) -> Vec<Effect> {
        match self.tab {
            Tab::Events => self.events.go(step),
            Tab::Build | Tab::Serial => match self.text_mut(view) {
                Some(text) => text.go(step),
                None => return Effect::info("there is no output yet"),
            },
        }
        Vec::new()
    }

    fn half_page(&self, view: &SessionView) -> i64 {
        let height = self.scroll(view).map_or(2, |(scroll, _)| scroll.height());
        i64::try_from(height / 2).unwrap_or(1).max(1)
    }

    fn toggle_follow(&mut self, view: &SessionView) -> Vec<Effect> {
        match self.tab {
            Tab::Events => {
                let len = self.events.count();
                self.events.scroll.toggle(len);
            }
            Tab::Build | Tab::Serial => {
                if let Some(text) = self.text_mut(view) {
                    text.toggle_follow();
                }
            }
        }
        Vec::new()
    }

    /// Leaves what is open: the search, then a place further up, then an older log.
    fn back(&mut self, view: &SessionView) {
        if let Some(text) = self.text_mut(view)
            && text.search().is_some()
        {
            // An empty pattern is always one.
            let _ = text.search_for("");
            return;
        }
        let is_held = self.scroll(view).is_some_and(|(scroll, _)| scroll.follow() == Follow::Held);
        if is_held {
            self.go(Move::End, view);
        } else {
            self.chosen = [None; 2];
            self.pick = Pick::Newest;
        }
    }

    /// Turns to the log that began last, unless the person has picked one.
    fn follow_newest(&mut self, view: &SessionView) {
        let build = view.logs.builds.last().map(|build| build.at);
        let serial = view.logs.serials.last().map(|serial| serial.at);
        if self.pick == Pick::Newest && self.typing.is_none() && !self.hands.is_typing() {
            self.tab = if serial > build { Tab::Serial } else { Tab::Build };
        }
    }

    fn hit(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.text_mut(view) {
            Some(text) if text.search().is_some() => {
                if action == Action::NextMatch {
                    text.next_hit()
                } else {
                    text.previous_hit()
                }
                Vec::new()
            }
            Some(_) | None => Effect::info("nothing is searched for yet"),
        }
    }

    fn start_search(&mut self, view: &SessionView) -> Vec<Effect> {
        if self.text(view).is_none() {
            return Effect::info("there is no output to search here");
        }
        self.typing = Some(Typing::default());
        Vec::new()
    }

    fn finish_search(&mut self, view: &SessionView) {
        let Some(typing) = self.typing.take() else { return };
        let Some(text) = self.text_mut(view) else { return };
        if let Err(wrong) = text.search_for(&typing.pattern()) {
            self.typing = Some(typing.refused(wrong));
        }
    }

    fn select_finding(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let panic = self.serial(view).and_then(card::shown).filter(|_| self.tab == Tab::Serial);
        if let Some(panic) = panic {
            let count = panic.report.frames().count();
            let next = self.finding.checked_add_signed(step).filter(|next| *next < count);
            let Some(next) = next else { return Effect::info("there is no further call") };
            self.finding = next;
            return Vec::new();
        }
        if self.tab != Tab::Build {
            let pattern = "^E \\(|Guru Meditation|^Backtrace:|abort\\(\\)|assert failed";
            let Some(text) = self.text_mut(view) else {
                return Effect::info("errors are listed for builds and serial output");
            };
            if text.search().is_none_or(|search| search.pattern() != pattern) {
                // The pattern is a constant that compiles.
                let _ = text.search_for(pattern);
            } else if step > 0 {
                text.next_hit();
            } else {
                text.previous_hit();
            }
            return Vec::new();
        }
        let count = self.build(view).map_or(0, |build| build.diagnostics.len());
        let Some(next) = self.finding.checked_add_signed(step).filter(|next| *next < count) else {
            return Effect::info("there is no further finding");
        };
        self.finding = next;
        self.open_finding(view)
    }

    /// Goes to the place in the output where the newest panic begins.
    fn open_panic(&mut self, view: &SessionView) -> Vec<Effect> {
        let panic = self.serial(view).and_then(card::shown);
        let Some(line) = panic.map(|panic| panic.line) else {
            return Effect::info("there is nothing to open here");
        };
        if let Some(text) = self.text_mut(view) {
            text.go(Move::Start);
            text.go(Move::Lines(i64::try_from(line).unwrap_or(i64::MAX)));
        }
        Vec::new()
    }

    /// Goes to the place in the raw log where the selected finding is printed.
    fn open_finding(&mut self, view: &SessionView) -> Vec<Effect> {
        if self.tab == Tab::Serial {
            return self.open_panic(view);
        }
        let found = match self.tab {
            Tab::Build => self.build(view).and_then(|build| build.diagnostics.get(self.finding)),
            Tab::Serial | Tab::Events => None,
        };
        let Some(found) = found else { return Effect::info("there is nothing to open here") };
        let place = logs_build::place(found);
        let words = if place.is_empty() { found.message.clone() } else { place };
        let Some(text) = self.text_mut(view) else { return Vec::new() };
        match text.search_for(&regex::escape(&words)) {
            Ok(()) => Vec::new(),
            Err(why) => Effect::refuse(why),
        }
    }

    /// Turns to an older (-1) or newer (1) build or connection.
    fn turn(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let (slot, logs): (usize, Vec<LogId>) = match self.tab {
            Tab::Build => (0, view.logs.builds.iter().map(|build| build.log).collect()),
            Tab::Serial => (1, view.logs.serials.iter().map(|serial| serial.log).collect()),
            Tab::Events => return Effect::info("there is only one log of events"),
        };
        let shown = self.log(view).map(|(log, _)| log);
        let place = logs.iter().position(|log| Some(*log) == shown);
        let next = place.and_then(|place| place.checked_add_signed(step));
        let Some(log) = next.and_then(|place| logs.get(place)) else {
            let words = if step < 0 { "this is the first one" } else { "this is the newest one" };
            return Effect::info(words);
        };
        if let Some(chosen) = self.chosen.get_mut(slot) {
            *chosen = (logs.last() != Some(log)).then_some(*log);
        }
        self.finding = 0;
        Vec::new()
    }

    fn lay_out(&mut self, area: Rect, view: &SessionView) {
        let foot_rows = u16::from(area.height > 3);
        let head_rows = u16::from(self.log(view).is_some() && area.height > 1);
        let rest = area.height.saturating_sub(foot_rows + head_rows);
        let wanted = match self.tab {
            Tab::Build => self.build(view).map_or(0, logs_build::rows),
            Tab::Serial => self.serial(view).map_or(0, card::rows),
            Tab::Events => 0,
        };
        let found_rows = u16::try_from(wanted).unwrap_or(u16::MAX).min(rest.div_ceil(2));
        let part = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
        self.parts = Parts {
            head: part(0, head_rows),
            findings: part(head_rows, found_rows),
            text: part(head_rows + found_rows, rest - found_rows),
            foot: part(area.height - foot_rows, foot_rows),
        };
    }
}

impl Pane for LogsPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        logs_draw::title(self, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = vec![Action::NextTab];
        if self.text(cx.view).is_some() {
            hints.extend([Action::Search, Action::NextError]);
        }
        if self.tab == Tab::Serial && cx.mode == Mode::Live && self.serial(cx.view).is_some() {
            hints.extend([Action::SerialSend, Action::SerialReset, Action::SerialConnect]);
        }
        hints.extend([Action::Follow, Action::PreviousSource]);
        hints
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let view = cx.view;
        match action {
            Action::NextTab => self.show(self.tab.next()),
            Action::PreviousTab => self.show(self.tab.next().next()),
            Action::Up => return self.go(Move::Lines(-1), view),
            Action::Down => return self.go(Move::Lines(1), view),
            Action::HalfPageUp => return self.go(Move::Lines(-self.half_page(view)), view),
            Action::HalfPageDown => return self.go(Move::Lines(self.half_page(view)), view),
            Action::PageUp => return self.go(Move::Pages(-1), view),
            Action::PageDown => return self.go(Move::Pages(1), view),
            Action::Top => return self.go(Move::Start, view),
            Action::Bottom => return self.go(Move::End, view),
            Action::Left => return self.go(Move::Columns(-SIDE_STEP), view),
            Action::Right => return self.go(Move::Columns(SIDE_STEP), view),
            Action::Follow => return self.toggle_follow(view),
            Action::Back => self.back(view),
            Action::Open => return self.open_finding(view),
            Action::Search => return self.start_search(view),
            Action::NextMatch | Action::PreviousMatch => return self.hit(action, view),
            Action::NextError => return self.select_finding(1, view),
            Action::PreviousError => return self.select_finding(-1, view),
            Action::NextSource => return self.turn(1, view),
            Action::PreviousSource => return self.turn(-1, view),
            _ if SerialHands::knows(action) => {
                let serial = self.serial(view).filter(|_| self.tab == Tab::Serial).cloned();
                return self.hands.act(action, serial.as_ref(), cx);
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
            self.events.scroll.set_height(height);
            self.events.sync(self.source.as_ref(), cx.view.seq);
            return;
        }
        let Some((log, extent)) = self.log(cx.view) else { return };
        if self.text(cx.view).is_none() {
            if self.texts.len() >= MAX_KEPT {
                self.texts.remove(0);
            }
            self.texts.push(LogText::new(log));
            self.finding = 0;
        }
        let logs = Arc::clone(&self.logs);
        if let Some(text) = self.text_mut(cx.view) {
            text.scroll.set_height(height);
            text.sync(logs.as_ref(), extent);
        }
    }

    fn draw(&self, _area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        logs_draw::draw(self, buf, cx);
    }

    fn text_mode(&self) -> TextMode {
        if self.typing.is_some() || self.hands.is_typing() { TextMode::On } else { TextMode::Off }
    }

    fn on_text(&mut self, key: &KeyEvent, cx: &Cx<'_>) -> Vec<Effect> {
        if self.hands.is_typing() {
            let serial = self.serial(cx.view).cloned();
            return self.hands.on_key(key, serial.as_ref());
        }
        match key.code {
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => self.finish_search(cx.view),
            _ => {
                if let Some(typing) = &mut self.typing {
                    typing.on_key(key);
                }
            }
        }
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Effect> {
        if self.hands.is_typing() {
            self.hands.paste(text);
        } else if let Some(typing) = &mut self.typing {
            typing.insert(text);
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
