//! The logs: builds, serial output, and the session's own records.
//!
//! Owns the tabs, what each shows and where one looks in it. Shows only what the view knows of, so
//! that a replay at an earlier moment shows the logs of that moment.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::model::{Diagnostic, EventSource, LogSource, ProjectPath};
use crate::ui::action::Action;
use crate::ui::job;
use crate::ui::pane::{Command, Cx, Effect, FilePlace, Mode, Pane, Saved, TextMode};
use crate::view::{PanicView, SessionView};

use super::logs_build;
use super::logs_draw;
use super::logs_events::EventLog;
use super::logs_lens::Lens;
use super::logs_parts::Parts;
use super::logs_scroll::{Follow, Move};
use super::logs_shelf::Shelf;
pub use super::logs_shelf::Tab;
use super::logs_text::{LogText, matcher};
use super::logs_typing::{Purpose, Typing};
use super::logs_wrap::Wrapping;
use super::serial::{SerialHands, card};

/// Columns that one step to the side goes.
const SIDE_STEP: i64 = 16;

/// What the error of a board looks like in its output.
const BOARD_ERROR: &str = "^E \\(|Guru Meditation|^Backtrace:|abort\\(\\)|assert failed";

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
    pub(super) shelf: Shelf,
    pub(super) tab: Tab,
    pick: Pick,
    pub(super) events: EventLog,
    /// The selected finding of the build.
    pub(super) finding: usize,
    pub(super) typing: Option<Typing>,
    pub(super) hands: SerialHands,
    pub(super) parts: Parts,
    pub(super) wrapping: Wrapping,
}

impl LogsPane {
    /// Logs read from `logs`, records from `events`.
    #[must_use]
    pub fn new(logs: Arc<dyn LogSource>, events: Arc<dyn EventSource>) -> Self {
        Self {
            shelf: Shelf::new(logs),
            tab: Tab::Build,
            pick: Pick::Newest,
            events: EventLog::new(events),
            finding: 0,
            typing: None,
            hands: SerialHands::default(),
            parts: Parts::default(),
            wrapping: Wrapping::Cut,
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
        match self.tab {
            Tab::Events => self.events.is_busy().then(|| now + job::LOOK),
            Tab::Build | Tab::Serial => {
                let text = self.text(view).filter(|text| text.is_busy())?;
                // Lines are counted in the frames themselves; the rest is done elsewhere.
                Some(if text.is_indexing() { now } else { now + job::LOOK })
            }
        }
    }

    pub(super) fn text(&self, view: &SessionView) -> Option<&LogText> {
        self.shelf.text(self.tab, view)
    }

    /// How one looks at what is shown.
    pub(super) fn lens(&self, view: &SessionView) -> Option<&Lens> {
        match self.tab {
            Tab::Events => Some(&self.events.lens),
            Tab::Build | Tab::Serial => self.text(view).map(|text| &text.lens),
        }
    }

    fn lens_mut(&mut self, view: &SessionView) -> Option<&mut Lens> {
        match self.tab {
            Tab::Events => Some(&mut self.events.lens),
            Tab::Build | Tab::Serial => {
                self.shelf.text_mut(self.tab, view).map(|text| &mut text.lens)
            }
        }
    }

    fn go(&mut self, step: Move, view: &SessionView) -> Vec<Effect> {
        if matches!(step, Move::Columns(_)) && self.wrapping == Wrapping::Wrapped {
            return Effect::info("long lines are wrapped here: there is nothing to the side");
        }
        match self.lens_mut(view) {
            Some(lens) => lens.go(step),
            None => return Effect::info("there is no output yet"),
        }
        Vec::new()
    }

    fn half_page(&self, view: &SessionView) -> i64 {
        let height = self.lens(view).map_or(2, |lens| lens.scroll.height());
        i64::try_from(height / 2).unwrap_or(1).max(1)
    }

    fn toggle_follow(&mut self, view: &SessionView) -> Vec<Effect> {
        match self.lens_mut(view) {
            Some(lens) => lens.toggle_follow(),
            None => return Effect::info("there is no output yet"),
        }
        Vec::new()
    }

    /// Leaves what is open: search, then filter, then a place further up, then an older log.
    fn back(&mut self, view: &SessionView) {
        let Some(lens) = self.lens(view) else { return };
        let is_held = lens.scroll.follow() == Follow::Held;
        if lens.search().is_some() {
            self.look_for(None, view);
        } else if lens.filter().is_some() {
            self.filter_by("", view).unwrap_or_default();
        } else if is_held {
            self.go(Move::End, view);
        } else {
            self.shelf.choose_newest();
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
        match self.lens_mut(view) {
            Some(lens) if lens.search().is_some() => {
                if action == Action::NextMatch {
                    lens.next_hit();
                } else {
                    lens.previous_hit();
                }
                Vec::new()
            }
            Some(_) | None => Effect::info("nothing is searched for yet"),
        }
    }

    fn ask(&mut self, purpose: Purpose, view: &SessionView) -> Vec<Effect> {
        let Some(lens) = self.lens(view) else {
            return Effect::info("there is no output yet");
        };
        let text = match (purpose, self.shelf.log(self.tab, view)) {
            (Purpose::Search | Purpose::Files, _) => String::new(),
            (Purpose::Filter, _) => {
                lens.filter().map_or_else(String::new, |f| f.matcher().words().to_owned())
            }
            (Purpose::Save, Some((log, _))) => format!("{log}.log"),
            (Purpose::Save, None) => "events.jsonl".to_owned(),
        };
        self.typing = Some(Typing::new(purpose, &text));
        Vec::new()
    }

    fn finish_typing(&mut self, view: &SessionView) -> Vec<Effect> {
        let Some(typing) = self.typing.take() else { return Vec::new() };
        let text = typing.text();
        let done = match typing.purpose() {
            Purpose::Search | Purpose::Files => {
                matcher(&text).map(|found| self.look_for(found, view))
            }
            Purpose::Filter => self.filter_by(&text, view),
            Purpose::Save if text.trim().is_empty() => Err("a name is needed".to_owned()),
            Purpose::Save => {
                let what = match self.shelf.log(self.tab, view) {
                    Some((log, extent)) => Saved::Log(log, extent.bytes),
                    None => Saved::Events(view.seq),
                };
                let to = text.trim().to_owned();
                return vec![Effect::Command(Command::Save { what, to })];
            }
        };
        if let Err(wrong) = done {
            self.typing = Some(typing.refused(wrong));
        }
        Vec::new()
    }

    fn look_for(&mut self, wanted: Option<super::logs_search::Matcher>, view: &SessionView) {
        if let Some(lens) = self.lens_mut(view) {
            lens.search_for(wanted);
        }
        self.read_again(view);
    }

    fn filter_by(&mut self, pattern: &str, view: &SessionView) -> Result<(), String> {
        let wanted = matcher(pattern)?;
        if let Some(lens) = self.lens_mut(view) {
            lens.filter_by(wanted);
        }
        self.read_again(view);
        Ok(())
    }

    fn read_again(&mut self, view: &SessionView) {
        if let Some(text) = self.shelf.text_mut(self.tab, view) {
            text.read_again();
        }
    }

    fn next_error(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let pattern = match self.tab {
            Tab::Build => return self.select_finding(step, view),
            Tab::Serial if self.panic(view).is_some() => return self.select_call(step, view),
            Tab::Serial => BOARD_ERROR,
            Tab::Events => "failed|rejected|error|\"ok\":false",
        };
        let Some(lens) = self.lens_mut(view) else {
            return Effect::info("there is no output yet");
        };
        if lens.search().is_none_or(|search| search.matcher().words() != pattern) {
            let wanted = matcher(pattern).unwrap_or_default();
            self.look_for(wanted, view);
        } else if step > 0 {
            lens.next_hit();
        } else {
            lens.previous_hit();
        }
        Vec::new()
    }

    fn select_finding(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let count = self.shelf.build(view).map_or(0, |build| build.diagnostics.len());
        let Some(next) = self.finding.checked_add_signed(step).filter(|next| *next < count) else {
            return Effect::info("there is no further finding");
        };
        self.finding = next;
        self.show_in_log(view)
    }

    pub(super) fn selected<'v>(&self, view: &'v SessionView) -> Option<&'v Diagnostic> {
        match self.tab {
            Tab::Build => self.shelf.build(view)?.diagnostics.get(self.finding),
            Tab::Serial | Tab::Events => None,
        }
    }

    /// The panic that the Serial tab explains.
    fn panic<'v>(&self, view: &'v SessionView) -> Option<&'v PanicView> {
        self.shelf.serial(view).and_then(card::shown).filter(|_| self.tab == Tab::Serial)
    }

    fn select_call(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let count = self.panic(view).map_or(0, |panic| panic.report.frames().count());
        let next = self.finding.checked_add_signed(step).filter(|next| *next < count);
        let Some(next) = next else { return Effect::info("there is no further call") };
        self.finding = next;
        Vec::new()
    }

    /// Goes to the place in the output where the newest panic begins.
    fn show_panic(&mut self, view: &SessionView) -> Vec<Effect> {
        let Some(line) = self.panic(view).map(|panic| panic.line) else { return Vec::new() };
        if let Some(text) = self.shelf.text_mut(self.tab, view) {
            text.lens.go(Move::Start);
            text.lens.go(Move::Lines(i64::try_from(line).unwrap_or(i64::MAX)));
        }
        Vec::new()
    }

    /// Goes to the place in the raw log where the selected finding is printed.
    fn show_in_log(&mut self, view: &SessionView) -> Vec<Effect> {
        let Some(found) = self.selected(view) else { return Vec::new() };
        let place = logs_build::place(found);
        let words = if place.is_empty() { found.message.clone() } else { place };
        // What is escaped is always an expression.
        self.look_for(matcher(&regex::escape(&words)).unwrap_or_default(), view);
        Vec::new()
    }

    /// Where the selected finding lies, when that is a file of the project.
    fn file_place(&self, view: &SessionView) -> Option<FilePlace> {
        let found = self.selected(view)?;
        let path = ProjectPath::new(found.file.as_deref()?).ok()?;
        Some(FilePlace { path, line: found.line })
    }

    /// Opens the file of the selected finding; without one, its place in the raw log.
    fn open(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.file_place(view) {
            Some(place) if action == Action::EditFile => {
                vec![Effect::Command(Command::Edit(place))]
            }
            Some(place) => vec![Effect::Preview(place)],
            None if self.selected(view).is_some() => {
                let mut effects = self.show_in_log(view);
                effects.extend(Effect::info("no file of the project is named; this is the log"));
                effects
            }
            None if self.panic(view).is_some() => self.show_panic(view),
            None => Effect::info("there is nothing to open here"),
        }
    }

    /// Turns to an older (-1) or newer (1) build or connection.
    fn turn(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        match self.shelf.turn(self.tab, step, view) {
            Ok(()) => self.finding = 0,
            Err(why) => return Effect::info(why),
        }
        Vec::new()
    }

    fn lay_out(&mut self, area: Rect, view: &SessionView) {
        let wanted = match self.tab {
            Tab::Build => self.shelf.build(view).map_or(0, logs_build::rows),
            Tab::Serial => self.shelf.serial(view).map_or(0, card::rows),
            Tab::Events => 0,
        };
        let has_head = self.shelf.log(self.tab, view).is_some();
        self.parts = Parts::new(area, usize::from(has_head), wanted);
    }
}

impl Pane for LogsPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        logs_draw::title(self, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = Vec::new();
        if self.file_place(cx.view).is_some() {
            hints.push(Action::Open);
        }
        hints.push(Action::NextTab);
        if self.lens(cx.view).is_some() {
            hints.extend([Action::Search, Action::FilterLog, Action::NextError]);
        }
        if self.tab == Tab::Serial && cx.mode == Mode::Live && self.shelf.serial(cx.view).is_some()
        {
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
            Action::Open | Action::EditFile => return self.open(action, view),
            Action::Search => return self.ask(Purpose::Search, view),
            Action::FilterLog => return self.ask(Purpose::Filter, view),
            Action::SaveLog => return self.ask(Purpose::Save, view),
            Action::WrapLog => return Effect::info(self.wrapping.toggle()),
            Action::Copy => return Effect::copy(logs_draw::taken_away(self, cx)),
            Action::NextMatch | Action::PreviousMatch => return self.hit(action, view),
            Action::NextError => return self.next_error(1, view),
            Action::PreviousError => return self.next_error(-1, view),
            Action::NextSource => return self.turn(1, view),
            Action::PreviousSource => return self.turn(-1, view),
            _ if SerialHands::knows(action) => {
                let serial = self.shelf.serial(view).filter(|_| self.tab == Tab::Serial).cloned();
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
            self.events.lens.scroll.set_height(height);
            self.events.sync(cx.view.seq);
            return;
        }
        let Some((text, extent, is_new)) = self.shelf.open(self.tab, cx.view) else { return };
        text.lens.scroll.set_height(height);
        text.sync(extent);
        if is_new {
            self.finding = 0;
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
            let serial = self.shelf.serial(cx.view).cloned();
            return self.hands.on_key(key, serial.as_ref());
        }
        match key.code {
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => return self.finish_typing(cx.view),
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

    fn on_click(&mut self, at: Position, cx: &Cx<'_>) -> Vec<Effect> {
        let y = self.parts.head.y + at.y;
        let inside = self.parts.findings.contains(Position::new(self.parts.findings.x, y));
        let Some(build) = self.shelf.build(cx.view).filter(|_| inside) else { return Vec::new() };
        let row = usize::from(y - self.parts.findings.y);
        let height = self.parts.findings.height;
        if let Some(found) = logs_build::finding_at(build, self.finding, height, row) {
            self.finding = found;
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
