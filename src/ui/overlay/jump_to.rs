//! To where in a replay? A time, an event, a share of it, or the next event that matches.

use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use tui_textarea::TextArea;

use crate::model::{EventSource, Seq, TimelineCommand, TimelineView, Timestamp};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, UiCommand};
use crate::ui::panes::logs::source::LogSourceView;
use crate::ui::role::Role;
use crate::ui::search::LogSearch;
use crate::view::line_scan::Matcher;

/// Where to go, while it is being written.
#[derive(Debug)]
pub struct JumpTo {
    field: Box<TextArea<'static>>,
    search: Option<LogSearch>,
    events: Events,
    /// The last record there is.
    last: u64,
    message: String,
}

/// The session's records; a name for what cannot be printed.
#[derive(Clone)]
struct Events(Arc<dyn EventSource>);

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}

impl JumpTo {
    /// Begins empty, for a session that ends with record `last`.
    #[must_use]
    pub fn new(events: Arc<dyn EventSource>, last: Seq) -> Self {
        let mut field = TextArea::default();
        field.set_cursor_line_style(ratatui::style::Style::new());
        let (search, message) = (None, String::new());
        Self { field: Box::new(field), search, events: Events(events), last: last.0, message }
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        self.field.input(*key);
        self.message.clear();
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        let line: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
        self.field.insert_str(line);
    }

    /// Goes on with a search.
    pub(super) fn prepare(&mut self) {
        if let Some(search) = &mut self.search
            && let Err(error) = search.advance(self.last)
        {
            self.message = error.to_string();
            self.search = None;
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.is_complete(self.last))
    }

    pub(super) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let Some(timeline) = cx.timeline else { return vec![Effect::Close] };
        let text = self.field.lines().join("").trim().to_owned();
        match action {
            Action::Accept | Action::Down => self.go(&text, timeline, true),
            Action::Up => self.go(&text, timeline, false),
            _ => Effect::info("enter goes there; esc closes"),
        }
    }

    fn go(&mut self, text: &str, timeline: &TimelineView, is_forward: bool) -> Vec<Effect> {
        if let Some(pattern) = text.strip_prefix('/') {
            return self.find(pattern, timeline, is_forward);
        }
        match place(text, timeline) {
            Ok(command) => vec![Effect::Close, Effect::Command(UiCommand::Timeline(command))],
            Err(why) => {
                self.message = why;
                Vec::new()
            }
        }
    }

    fn find(&mut self, pattern: &str, timeline: &TimelineView, is_forward: bool) -> Vec<Effect> {
        let is_same = |search: &LogSearch| search.matcher().words() == pattern;
        if !self.search.as_ref().is_some_and(is_same) {
            match Matcher::regex(pattern) {
                Ok(matcher) if !pattern.is_empty() => {
                    let source = LogSourceView::Records(Arc::clone(&self.events.0));
                    self.search = Some(LogSearch::new(source, matcher));
                }
                Ok(_) => self.message = "type what to find".to_owned(),
                Err(why) => self.message = why,
            }
            self.prepare();
        }
        let Some(search) = &self.search else { return Vec::new() };
        // Lines count from 0, records from 1.
        let here = timeline.position.0.saturating_sub(1);
        let found = if is_forward { search.next(here) } else { search.previous(here) };
        let Some(line) = found else { return Vec::new() };
        let seq = Seq(line + 1);
        self.message = format!("event {seq}");
        vec![Effect::Command(UiCommand::Timeline(TimelineCommand::Seek(seq)))]
    }

    fn state(&self) -> String {
        let found = match &self.search {
            Some(_) if self.is_busy() => "searching… ".to_owned(),
            Some(search) if search.total() == 0 => "no event matches ".to_owned(),
            Some(search) if self.message.is_empty() => {
                format!("{} match · enter goes to the next", search.total())
            }
            Some(search) => format!("{} match · ", search.total()),
            None => String::new(),
        };
        format!("{found}{}", self.message)
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint =
            Line::styled(" enter goes there · ↑↓ matches · esc closes ", cx.style(Role::DialogDim));
        let inside = super::frame("Go to", hint, (60, 3), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            let text = "1:23  a time · #120  an event · 50% · /words  an event";
            line::draw(&Line::styled(text, cx.style(Role::DialogDim)), row, buf);
        }
        if let Some(row) = rows.next() {
            let mut field = self.field.clone();
            field.set_style(cx.style(Role::Dialog));
            field.set_cursor_style(cx.style(Role::Cursor));
            field.render(row, buf);
        }
        if let Some(row) = rows.next() {
            let text = sanitize::line(&self.state()).into_owned();
            line::draw(&Line::styled(text, cx.style(Role::Dialog)), row, buf);
        }
    }
}

/// The place that a text names.
fn place(text: &str, timeline: &TimelineView) -> Result<TimelineCommand, String> {
    let wrong = || format!("`{text}` is not a time, event or percentage");
    if let Some(number) = text.strip_prefix('#') {
        return number.parse().map(|seq| TimelineCommand::Seek(Seq(seq))).map_err(|_| wrong());
    }
    if let Some(share) = text.strip_suffix('%') {
        let share: u64 = share.trim().parse().map_err(|_| wrong())?;
        let seq = timeline.last.0.saturating_mul(share.min(100)) / 100;
        return Ok(TimelineCommand::Seek(Seq(seq.max(1))));
    }
    let mut seconds: i64 = 0;
    if text.is_empty() || text.split(':').count() > 3 {
        return Err(wrong());
    }
    for part in text.split(':') {
        let part: u32 = part.parse().map_err(|_| wrong())?;
        seconds = seconds.saturating_mul(60).saturating_add(i64::from(part));
    }
    let millis = seconds.saturating_mul(1000);
    Ok(TimelineCommand::SeekTime(Timestamp(timeline.from.0.saturating_add(millis))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_events_and_shares_are_understood_and_nothing_else_is() {
        let timeline =
            TimelineView { last: Seq(200), from: Timestamp(5_000), ..Default::default() };
        let at = |text: &str| place(text, &timeline);
        assert_eq!(at("1:23"), Ok(TimelineCommand::SeekTime(Timestamp(88_000))));
        assert_eq!(at("1:00:01"), Ok(TimelineCommand::SeekTime(Timestamp(3_606_000))));
        assert_eq!(at("7"), Ok(TimelineCommand::SeekTime(Timestamp(12_000))));
        assert_eq!(at("#120"), Ok(TimelineCommand::Seek(Seq(120))));
        assert_eq!(at("50%"), Ok(TimelineCommand::Seek(Seq(100))));
        for text in ["", "x", "1:", "#", "%", "1:2:3:4", "-3", "99999999999"] {
            assert!(at(text).is_err(), "{text}");
        }
    }
}
