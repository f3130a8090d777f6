//! The foot of the start screen: what is written, why something was not done, all of the task of the
//! session that is turned to, and the keys.
//!
//! Must not change anything.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use super::draw::{WIDE, WITH_VERBS};
use super::{CHAIN, Start, StartSession, TaskLine, TaskOutlook, details, verbs};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::overlay::ModelOffer;
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::ui::start_rows::StartRow;

/// Rows of a notice at most.
const MOST_NOTICE: usize = 6;

/// Rows of an advice at most.
const MOST_ADVICE: usize = 5;

/// Rows of a screen below which a session's task has one row only.
const LOW: u16 = 20;

/// The foot of that screen.
pub(super) struct StartFoot<'s>(pub &'s Start);

impl StartFoot<'_> {
    /// Label of the model that answers new tasks.
    fn model_label(&self) -> Option<&str> {
        let chosen = |offer: &&ModelOffer| self.0.facts.model.as_ref() == Some(&offer.profile);
        self.0.facts.models.iter().find(chosen).map(|offer| offer.label.as_str())
    }

    /// What would become of the task that is being written, once there are words.
    fn outlook(&self, task: &TaskLine) -> Option<TaskOutlook> {
        let (words, project) = task.words_and_project()?;
        let mut outlook = self.0.facts.outlooks.of(words, project)?;
        // A model that is there answers instead of a recording.
        if !self.0.facts.models.is_empty() {
            outlook.answered = None;
        }
        Some(outlook)
    }

    /// The task that is being written, below what is chosen for it.
    fn draw_task(&self, task: &TaskLine, at: Rect, buf: &mut Buffer) {
        let (one, chosen) = match self.0.facts.models.len() {
            0 | 1 => (self.model_label(), None),
            _ => (None, self.model_label().or(Some("no model"))),
        };
        let outlook = self.outlook(task);
        let limits = task.limits(&self.0.facts.outlooks);
        let facts = (outlook.as_ref(), limits.as_slice());
        let mut rows = task.settings(chosen, facts, at.width, &self.0.theme);
        rows.extend(task.draw(one, (at.width, at.y / 3), &self.0.theme));
        let above = u16::try_from(rows.len()).unwrap_or(1).saturating_sub(1);
        for (y, row) in (at.y.saturating_sub(above)..=at.y).zip(rows) {
            let at = Rect { y, ..at };
            Clear.render(at, buf);
            buf.set_style(at, self.0.theme.style(Role::Text));
            line::draw(&row, at, buf);
        }
    }

    /// The text that is being written, the advice or the session that is turned to, and the keys.
    pub(super) fn draw(&self, first: Rect, buf: &mut Buffer) {
        let second = Rect { y: first.y + 1, ..first };
        if self.draw_session_line(first, second, buf) {
            return;
        }
        let notice = self.notice_rows(usize::from(second.width));
        // What is typed stays on the screen, above what was wrong with it.
        let covered = u16::try_from(notice.len()).unwrap_or(1).saturating_sub(1);
        let first = Rect { y: first.y.saturating_sub(covered), ..first };
        if let Some(task) = &self.0.task.open {
            self.draw_task(task, first, buf);
        } else if let Some(StartRow::HealthLine(place)) = self.0.rows.get(self.0.selected)
            && let Some(finding) = self.0.facts.findings.get(*place)
            && !finding.fix.is_empty()
        {
            self.draw_advice(&finding.fix, first, buf);
        } else if notice.is_empty()
            && first.width < WIDE
            && let Some(StartRow::Session(place)) = self.0.rows.get(self.0.selected)
            && let Some(session) = self.0.facts.sessions.get(*place)
        {
            self.draw_session(session, first, buf);
        }
        if notice.is_empty() {
            return self.draw_keys(second, buf);
        }
        for (y, text) in (first.y + 1..=second.y).zip(notice) {
            let row = Rect { y, ..second };
            Clear.render(row, buf);
            buf.set_style(row, self.0.theme.style(Role::NoticeError));
            line::draw(&Line::from(self.0.span(text, Role::NoticeError)), row, buf);
        }
    }

    /// What is typed or asked about a session, in place of all else; whether anything is.
    fn draw_session_line(&self, first: Rect, second: Rect, buf: &mut Buffer) -> bool {
        let Some((lead, text, keys)) = self.0.sessions.line() else { return false };
        let space = usize::from(first.width).saturating_sub(line::width(&lead) + 2);
        let row = Line::from(vec![
            self.0.span(line::cut(&lead, usize::from(first.width)), Role::Accent),
            self.0.span(line::cut_start(text, space), Role::Text),
            self.0.span(" ", Role::Cursor),
        ]);
        line::draw(&row, first, buf);
        line::draw(&Line::from(self.0.span(keys, Role::KeyHelp)), second, buf);
        true
    }

    /// How to fix something: as many rows as it takes, upwards from the last one.
    fn draw_advice(&self, fix: &str, first: Rect, buf: &mut Buffer) {
        let rows = wrap_words(&format!("fix: {fix}"), usize::from(first.width));
        let rows = rows.get(..rows.len().min(MOST_ADVICE)).unwrap_or_default();
        let count = u16::try_from(rows.len()).unwrap_or(1);
        for (y, words) in (first.y.saturating_add(1).saturating_sub(count)..).zip(rows) {
            let at = Rect { y, ..first };
            Clear.render(at, buf);
            buf.set_style(at, self.0.theme.style(Role::Text));
            line::draw(&Line::from(self.0.span(words.clone(), Role::Text)), at, buf);
        }
    }

    /// Rows above the last two that a session's task may take, where nothing stands next to the list.
    pub(super) fn session_rows(&self, screen: Rect) -> u16 {
        match screen.height {
            _ if self.0.facts.sessions.is_empty() || screen.width >= WIDE + 2 => 0,
            ..LOW => 1,
            LOW.. => 2,
        }
    }

    /// The task of a session, whole as far as it has rows, above the rest of what there is to say; where
    /// the row of the list has no space for them, what can be done with it comes first.
    fn draw_session(&self, session: &StartSession, last: Rect, buf: &mut Buffer) {
        let (asked, task, rest) = details::task_and_rest(session);
        let lead = format!("{asked} ");
        let width = usize::from(last.width).saturating_sub(line::width(&lead));
        let mut rows = wrap_words(&sanitize::line(task), width);
        let most = usize::from(self.session_rows(*buf.area()));
        let is_cut = rows.len() > most;
        rows.truncate(most);
        if let Some(row) = rows.last_mut().filter(|_| is_cut) {
            *row = line::broken_off(row, width);
        }
        let count = u16::try_from(rows.len()).unwrap_or(0);
        for (nth, (y, words)) in (last.y.saturating_sub(count)..).zip(rows).enumerate() {
            let lead = if nth == 0 { lead.clone() } else { " ".repeat(line::width(&lead)) };
            let row =
                Line::from(vec![self.0.span(lead, Role::Dim), self.0.span(words, Role::Text)]);
            line::draw(&row, Rect { y, ..last }, buf);
        }
        let verbs = match last.width < WITH_VERBS {
            true => format!("{}   ", self.0.verb_words(session, verbs(session)).trim_start()),
            false => String::new(),
        };
        let row = Line::from(vec![self.0.span(verbs, Role::Strong), self.0.span(rest, Role::Dim)]);
        line::draw(&row, last, buf);
    }

    /// All of a notice, as its end says what to do.
    fn notice_rows(&self, width: usize) -> Vec<String> {
        let Some(notice) = &self.0.notice else { return Vec::new() };
        let mut rows = wrap_words(&sanitize::line(notice), width);
        if rows.len() > MOST_NOTICE {
            rows.truncate(MOST_NOTICE);
            if let Some(last) = rows.last_mut() {
                *last = line::broken_off(last, width);
            }
        }
        rows
    }

    /// The keys that do something now, as many whole ones as there is space for, and always the last.
    fn draw_keys(&self, second: Rect, buf: &mut Buffer) {
        let hints = self.key_hints();
        let width = |(key, words): &(String, &str)| line::width(key) + 1 + line::width(words) + 3;
        let help = hints.last().map_or(0, width);
        let mut left = (usize::from(second.width) + 3).saturating_sub(help);
        let mut spans = Vec::new();
        for (place, hint) in hints.iter().enumerate() {
            let is_last = place + 1 == hints.len();
            match left.checked_sub(width(hint)) {
                _ if is_last => {}
                Some(less) => left = less,
                None => continue,
            }
            let (key, words) = hint;
            spans.extend([
                self.0.span(key.clone(), Role::Key),
                self.0.span(format!(" {words}   "), Role::KeyHelp),
            ]);
        }
        if let Some(last) = spans.last_mut() {
            last.content = last.content.trim_end().to_owned().into();
        }
        line::draw(&Line::from(spans), second, buf);
    }

    /// Keys and what they do here; what is done most comes first.
    fn key_hints(&self) -> Vec<(String, &'static str)> {
        if let Some(task) = &self.0.task.open {
            let place = task.has_places().then_some(("tab", "elsewhere"));
            let before = ("alt for ctrl", "one back");
            let keys = [("enter", "starts")].into_iter().chain(place).chain([before]);
            let keys = keys.chain([("esc", "back, keeps the text")]);
            return keys.map(|(key, words)| (key.to_owned(), words)).collect();
        }
        let row = self.0.rows.get(self.0.selected);
        let open = match row {
            Some(StartRow::Model(_)) => "use this model",
            _ => "open",
        };
        let named = |(words, action)| self.0.keymap.key_of(&CHAIN, action).map(|key| (key, words));
        let mut hints: Vec<(String, &'static str)> =
            [("choose", Action::Down), (open, Action::Accept)]
                .into_iter()
                .filter_map(named)
                .collect();
        if matches!(row, Some(StartRow::Session(_))) {
            hints.push(("← →".to_owned(), "how"));
            let own = [("rename", Action::Change), ("delete", Action::Remove)];
            hints.extend(own.into_iter().filter_map(named));
        }
        let search = Some(("search sessions", Action::Find));
        let search = search.filter(|_| !self.0.facts.sessions.is_empty());
        let all = [Some(("new task", Action::Compose)), search, Some(("help", Action::Help))];
        hints.extend(all.into_iter().flatten().filter_map(named));
        hints
    }
}
