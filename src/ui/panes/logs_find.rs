//! What is looked for in the logs: filters, searches, findings and panics.

use crate::model::Diagnostic;
use crate::ui::action::{Action, KeyContext};
use crate::ui::pane::{Cx, Effect, Saved, UiCommand};
use crate::view::SessionView;

use super::logs::{LogsPane, Tab};
use super::logs_build;
use super::logs_findings;
use super::logs_scroll::Move;
use super::logs_search::{LogSearch, Matcher};
use super::logs_text::matcher;
use super::logs_typing::{LogInput, Purpose};

impl LogsPane {
    /// The filter that was typed for what is shown.
    pub(super) fn typed_filter(&self, view: &SessionView) -> Option<&Matcher> {
        match self.tab {
            Tab::Events => self.events.view.filter().map(LogSearch::matcher),
            Tab::Build | Tab::Serial => self.text(view)?.typed(),
        }
    }

    pub(super) fn ask(&mut self, purpose: Purpose, cx: &Cx<'_>) -> Vec<Effect> {
        let view = cx.view;
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

    pub(super) fn entered(&mut self, typing: LogInput, view: &SessionView) -> Vec<Effect> {
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
        if let Some(lens) = self.log_view_mut(view) {
            lens.search_for(wanted);
        }
        self.read_again(view);
    }

    pub(super) fn filter_by(&mut self, pattern: &str, view: &SessionView) -> Result<(), String> {
        let wanted = matcher(pattern)?;
        match self.tab {
            Tab::Events => self.events.view.filter_by(wanted),
            Tab::Build | Tab::Serial => {
                if let Some(text) = self.open_logs.text_mut(self.tab, view) {
                    text.filter_by(wanted);
                }
            }
        }
        Ok(())
    }

    fn read_again(&mut self, view: &SessionView) {
        if let Some(text) = self.open_logs.text_mut(self.tab, view) {
            text.read_again();
        }
    }

    pub(super) fn next_error(&mut self, step: isize, view: &SessionView) -> Vec<Effect> {
        let Some(errors) = logs_findings::errors(self.tab) else {
            return self.select_finding(step, view);
        };
        if self.tab == Tab::Serial {
            self.look.hex = None;
        }
        let Some(lens) = self.log_view_mut(view) else {
            return Effect::info("there is no output yet");
        };
        if lens.search().is_none_or(|search| search.matcher().words() != errors.words()) {
            self.look_for(Some(errors), view);
        } else if step > 0 {
            lens.next_hit();
        } else {
            lens.previous_hit();
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
        let panic = logs_findings::panic(&self.open_logs, self.tab, view);
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
        let place = logs_build::place(found);
        let words = if place.is_empty() { found.message.clone() } else { place };
        // What is escaped is always an expression.
        self.look_for(matcher(&regex::escape(&words)).unwrap_or_default(), view);
        Vec::new()
    }

    /// Opens the file of the selected finding; without one, its place in the raw log.
    pub(super) fn open(&mut self, action: Action, view: &SessionView) -> Vec<Effect> {
        match self.findings.file_place(&self.open_logs, self.tab, view) {
            Some(place) if action == Action::EditFile => {
                vec![Effect::Command(UiCommand::Edit(place))]
            }
            Some(place) => vec![Effect::Preview(place)],
            None if self.selected(view).is_some() => {
                let mut effects = self.show_in_log(view);
                effects.extend(Effect::info("no file of the project is named; this is the log"));
                effects
            }
            None if logs_findings::panic(&self.open_logs, self.tab, view).is_some() => {
                self.show_panic(view)
            }
            None => Effect::info("there is nothing to open here"),
        }
    }
}
