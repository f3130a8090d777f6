//! To where in a replay? A time, an event, a share of it, or where words come up.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_textarea::TextArea;

use super::recorded::{Excerpt, Excerpts, Recorded, RecordedWords, lock};
use crate::model::{Seq, TimelineCommand, TimelineView, Timestamp};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, UiCommand};
use crate::ui::role::Role;
use crate::ui::search::LogSearch;
use crate::view::line_scan::Matcher;

/// Columns of the dialog.
const WIDTH: u16 = 68;

/// Where to go, while it is being written.
#[derive(Debug)]
pub struct JumpTo {
    field: Box<TextArea<'static>>,
    search: Option<LogSearch>,
    /// The way that is gone as soon as something is found.
    wanted: Option<Way>,
    recorded: Recorded,
    /// Words around what matches.
    excerpts: Excerpts,
    /// The match that was gone to, by its line.
    at: Option<u64>,
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

impl JumpTo {
    /// Begins empty, for a session that ends with record `last`.
    #[must_use]
    pub fn new(recorded: Recorded, last: Seq) -> Self {
        let mut field = TextArea::default();
        field.set_cursor_line_style(ratatui::style::Style::new());
        let (search, wanted, at, message) = (None, None, None, String::new());
        let (field, excerpts) = (Box::new(field), Excerpts::default());
        Self { field, search, wanted, recorded, excerpts, at, last: last.0, message }
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        match key.code {
            // Clears, as in every field of one line; the text area would undo.
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                self.field.delete_line_by_head();
            }
            _ => {
                self.field.input(*key);
            }
        }
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
        (self.search, self.at) = (None, None);
        match Matcher::regex(pattern) {
            Ok(matcher) if !pattern.is_empty() => {
                // What an older search still finds goes to its own list.
                self.excerpts = Excerpts::default();
                let (recorded, own) = (self.recorded.clone(), Arc::clone(&self.excerpts));
                let source = RecordedWords::new(recorded, matcher.clone(), self.last, own);
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
        self.at = Some(line);
        let seek = UiCommand::Timeline(TimelineCommand::Seek(Seq(line + 1)));
        // The pane that has the words comes to the front, as a small screen shows one only.
        let pane = self.excerpt(line).and_then(|excerpt| excerpt.pane).map(Effect::Focus);
        pane.into_iter().chain([Effect::Command(seek)]).collect()
    }

    fn excerpt(&self, line: u64) -> Option<Excerpt> {
        lock(&self.excerpts).get(&line).cloned()
    }

    /// How many matches there are and which one this is, or what is wrong.
    fn state(&self) -> String {
        let Some(search) = self.search.as_ref().filter(|_| self.message.is_empty()) else {
            return self.message.clone();
        };
        let total = search.total();
        let so_far = if self.is_busy() { " so far" } else { "" };
        match (self.at.and_then(|line| Some((line, search.place(line)?))), total) {
            (Some((line, place)), _) => {
                format!("match {place} of {total}{so_far} · event {}", line + 1)
            }
            (None, 0) if self.is_busy() => "searching…".to_owned(),
            (None, 0) => "not found in chat, logs, proposed files and events".to_owned(),
            (None, _) => {
                let matches =
                    line::counted(usize::try_from(total).unwrap_or(usize::MAX), "match", "matches");
                format!("{matches}{so_far} · enter goes to the next")
            }
        }
    }

    /// The words around the match that was gone to.
    fn words(&self) -> String {
        self.at.and_then(|line| self.excerpt(line)).map_or_else(String::new, |it| it.words)
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = " enter goes there · ↑↓ matches · esc closes ";
        let inside = super::frame("Go to", hint, (WIDTH, 4), screen, buf, cx);
        let help = "1:23 time · #9 event · 50% of events · /words in chat, logs, files";
        let words = line::cut(&self.words(), usize::from(inside.width));
        let rows = [
            (help.to_owned(), Role::DialogDim),
            (String::new(), Role::Dialog),
            (line::clean(&self.state()), Role::Dialog),
            (words, Role::DialogDim),
        ];
        for ((text, role), row) in rows.into_iter().zip(inside.rows()) {
            line::draw(&cx.line(text, role), row, buf);
        }
        if let Some(row) = inside.rows().nth(1) {
            super::draw_field(TextArea::clone(&self.field), row, buf, cx);
        }
    }
}

/// The place that a text names.
fn place(text: &str, timeline: &TimelineView) -> Result<TimelineCommand, String> {
    let wrong = || format!("`{text}` is not a time, event or percentage; /{text} finds words");
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
#[path = "jump_to_tests.rs"]
mod tests;
