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
    /// The way that is gone as soon as something is found.
    wanted: Option<Way>,
    events: Events,
    /// The last record there is.
    last: u64,
    message: String,
}

/// Which of the events that match is gone to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The next one.
    Forward,
    /// The one before.
    Back,
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
        let (search, wanted, message) = (None, None, String::new());
        let (field, events) = (Box::new(field), Events(events));
        Self { field, search, wanted, events, last: last.0, message }
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        self.field.input(*key);
        self.look_for_typed();
    }

    fn text(&self) -> String {
        self.field.lines().join("").trim().to_owned()
    }

    /// Looks for words while they are typed, so that it shows how many events match.
    fn look_for_typed(&mut self) {
        self.message.clear();
        self.wanted = None;
        match self.text().strip_prefix('/') {
            // What is not finished yet may be wrong.
            Some(pattern) if Matcher::regex(pattern).is_ok() => self.look_for(pattern),
            _ => self.search = None,
        }
    }

    /// Begins to look for words, unless that is done already.
    fn look_for(&mut self, pattern: &str) {
        let is_same = |search: &LogSearch| search.matcher().words() == pattern;
        if self.search.as_ref().is_some_and(is_same) {
            return;
        }
        self.search = None;
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

    pub(super) fn on_paste(&mut self, text: &str) {
        let line: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
        self.field.insert_str(line);
        self.look_for_typed();
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
        let text = self.text();
        match action {
            Action::Accept | Action::Down => self.go(&text, timeline, Way::Forward),
            Action::Up => self.go(&text, timeline, Way::Back),
            _ => Effect::info("enter goes there; esc closes"),
        }
    }

    fn go(&mut self, text: &str, timeline: &TimelineView, way: Way) -> Vec<Effect> {
        if let Some(pattern) = text.strip_prefix('/') {
            self.look_for(pattern);
            self.wanted = self.search.as_ref().map(|_| way);
            return self.go_found(timeline);
        }
        match place(text, timeline) {
            Ok(command) => vec![Effect::Close, Effect::Command(UiCommand::Timeline(command))],
            Err(why) => {
                self.message = why;
                Vec::new()
            }
        }
    }

    /// Goes to the event that was wanted, once it is known.
    pub(super) fn go_found(&mut self, timeline: &TimelineView) -> Vec<Effect> {
        let (Some(way), Some(search)) = (self.wanted, &self.search) else { return Vec::new() };
        // Lines count from 0, records from 1.
        let here = timeline.position.0.saturating_sub(1);
        let found = match way {
            Way::Forward => search.next(here),
            Way::Back => search.previous(here),
        };
        // One further on may still be found, or one nearer.
        let is_near = |line: u64| way == Way::Forward && line > here;
        if !search.is_complete(self.last) && !found.is_some_and(is_near) {
            return Vec::new();
        }
        self.wanted = None;
        let Some(line) = found else { return Vec::new() };
        let seq = Seq(line + 1);
        self.message = format!("event {seq}");
        vec![Effect::Command(UiCommand::Timeline(TimelineCommand::Seek(seq)))]
    }

    fn state(&self) -> String {
        let found = match &self.search {
            Some(search) if self.is_busy() => format!("searching… {} so far ", search.total()),
            Some(search) if search.total() == 0 => "no event matches ".to_owned(),
            Some(search) => {
                let matches = match search.total() {
                    1 => "1 event matches".to_owned(),
                    total => format!("{total} events match"),
                };
                match self.message.is_empty() {
                    true => format!("{matches} · enter goes to the next"),
                    false => format!("{matches} · "),
                }
            }
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
    use std::ops::Range;

    use super::*;
    use crate::model::{Event, Record, TurnEvent, TurnId, UserError};

    /// Turns of which one is that of `Needle`.
    struct Turns(u64);

    impl EventSource for Turns {
        fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
            let record = |seq| {
                let agent = if seq == self.0 { "Needle" } else { "Hay" }.into();
                let event = Event::Turn(TurnEvent::Started { turn: TurnId(1), agent, step: None });
                Record { v: 1, seq: Seq(seq), at: Timestamp(0), event }
            };
            Ok(range.map(record).collect())
        }
    }

    #[test]
    fn the_first_enter_goes_to_what_matches_however_long_the_search_takes() {
        for (needle, last) in [(7, 40), (90_000, 100_000)] {
            let timeline = TimelineView { last: Seq(last), position: Seq(1), ..Default::default() };
            let mut jump = JumpTo::new(Arc::new(Turns(needle)), Seq(last));
            jump.on_paste("/needle");
            let mut effects = jump.go("/needle", &timeline, Way::Forward);
            for _ in 0..1_000 {
                if !effects.is_empty() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
                jump.prepare();
                effects = jump.go_found(&timeline);
            }
            let seek = UiCommand::Timeline(TimelineCommand::Seek(Seq(needle)));
            assert!(matches!(&effects[..], [Effect::Command(to)] if *to == seek), "{effects:?}");
            assert!(jump.go_found(&timeline).is_empty(), "it goes there once");
        }
    }

    #[test]
    fn how_many_events_match_shows_while_words_are_typed() {
        let mut jump = JumpTo::new(Arc::new(Turns(7)), Seq(40));
        jump.on_paste("/needl");
        assert_eq!(jump.state(), "1 event matches · enter goes to the next");
        jump.on_paste("[");
        assert_eq!(jump.state(), "", "what is not finished is not wrong yet");
    }

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
