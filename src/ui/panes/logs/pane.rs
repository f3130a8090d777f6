//! The logs as a pane: actions, keys, clicks and drawing.
//!
//! Must not hold any state of its own.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::build;
use super::draw;
use super::findings::Findings;
use super::foot::Typed;
use super::open::Tab;
use super::result_rows;
use super::state::LogsPane;
use crate::ui::action::Action;
use crate::ui::input_line::Purpose;
use crate::ui::pane::{Cx, Effect, Mode, Pane, TextMode};
use crate::ui::panes::serial::{SerialActions, SerialLook};
use crate::ui::scroll::movement;

impl Pane for LogsPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        draw::title(self, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        draw::hints(self, cx)
    }

    fn why_not(&self, action: Action, cx: &Cx<'_>) -> Option<String> {
        let view = cx.view;
        let is_of_port = SerialActions::knows(action) || SerialLook::knows(action);
        let has_search = || self.log_view(view).is_some_and(|log| log.search().is_some());
        let of_list = self.tab.is_list();
        let sources = match self.tab {
            Tab::Build => view.logs.builds.len(),
            Tab::Serial => view.logs.serials.len(),
            Tab::Tests => view.logs.tests.runs.len(),
            Tab::Analysis => view.logs.analyses.all.len(),
            Tab::Events => 1,
        };
        let findings = self.open_logs.build(view).map_or(0, |build| build.diagnostics.len());
        let why = match action {
            _ if is_of_port && self.tab != Tab::Serial => "the serial tab is not shown",
            _ if is_of_port && self.open_logs.serial(view).is_none() => "there is no board yet",
            _ if SerialActions::knows(action) && cx.mode == Mode::Replay => "this is a replay",
            Action::Search | Action::FilterLog | Action::SaveLog | Action::WrapLog if of_list => {
                "this is a list of results"
            }
            Action::Search
            | Action::FilterLog
            | Action::SaveLog
            | Action::Follow
            | Action::NextError
            | Action::PreviousError
            | Action::Copy
                if !of_list && self.log_view(view).is_none() =>
            {
                "there is no output yet"
            }
            Action::NextMatch | Action::PreviousMatch if !has_search() => "there is no search yet",
            Action::NextError | Action::PreviousError
                if self.tab == Tab::Build && findings == 0 =>
            {
                "nothing is wrong here"
            }
            Action::EditFile | Action::Open if !self.can_open(view) => "nothing to open is here",
            Action::NextSource | Action::PreviousSource if sources < 2 => "there is no other one",
            Action::NextCall | Action::PreviousCall if !of_list && !self.has_calls(view) => {
                "no calls of a panic are shown"
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let view = cx.view;
        if let Some(step) = movement(action, self.half_page()) {
            return self.go(step, view);
        }
        match action {
            Action::NextTab => self.show(self.tab.next(view)),
            Action::PreviousTab => self.show(self.tab.previous(view)),
            Action::Follow => return self.toggle_follow(view),
            Action::Back => self.back(view),
            Action::Open | Action::EditFile => return self.open(action, view),
            Action::Search => return self.ask(Purpose::Search, cx),
            Action::FilterLog => return self.ask(Purpose::Filter, cx),
            Action::SaveLog => return self.ask(Purpose::Save, cx),
            Action::WrapLog => return Effect::info(self.wrapping.toggle()),
            Action::Copy => return Effect::copy(draw::taken_away(self, cx)),
            Action::NextMatch | Action::PreviousMatch => return self.hit(action, view),
            Action::NextError => return self.next_error(1, view),
            Action::PreviousError => return self.next_error(-1, view),
            Action::NextCall if self.tab.is_list() => self.results.scroll_output(5, self.tab),
            Action::PreviousCall if self.tab.is_list() => self.results.scroll_output(-5, self.tab),
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
        if self.tab.is_list() {
            return;
        }
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
        draw::draw(self, buf, cx);
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
        let row = usize::from(y.saturating_sub(self.parts.findings.y));
        let height = self.parts.findings.height;
        if self.tab.is_list() && inside {
            let found = result_rows::result_at(&self.results, self.tab, height, row, cx);
            let Some(found) = found else { return Vec::new() };
            self.results.select(self.tab, found);
            return self.open(Action::Open, cx.view);
        }
        let Some(build) = self.open_logs.build(cx.view).filter(|_| inside) else {
            return Vec::new();
        };
        if let Some(found) = build::finding_at(build, self.findings.place, height, row) {
            self.findings.place = found;
            return self.open(Action::Open, cx.view);
        }
        Vec::new()
    }

    fn on_title_click(&mut self, column: u16, cx: &Cx<'_>) -> Vec<Effect> {
        if let Some(tab) = draw::tab_at(column, cx) {
            self.show(tab);
        }
        Vec::new()
    }
}
