//! The screen takes note of what is new: lays out, turns to what waits, and says when it wants to be
//! woken.

use std::time::{Duration, Instant};

use ratatui::layout::{Rect, Size};

use super::clock::Clock;
use super::file_glance::FileGlance;
use super::layout::{Layout, LayoutInput, LogsWish, PaneId, ReviewWish, StripWish};
use super::overlay::{AnswerList, Overlay};
use super::pane::{Keys, Mode, Pane, TextMode};
use super::panes::TimelineBar;
use super::screen_kind::ScreenKind;
use super::{Composing, Controls, TYPING_TIME, Ui, strip};
use crate::model::TimelineView;
use crate::view::{ChatEntry, RunState, SessionView};

impl Ui {
    /// Takes note of what is new in the session. Call it after records were folded in, and
    /// whenever [`Ui::next_wake`] says so; then draw.
    pub fn sync(&mut self, view: &SessionView, timeline: Option<&TimelineView>, now: Instant) {
        self.note_shown();
        self.scene.clock.now = now;
        self.scene.timeline = timeline.copied();
        if view.seq.0 != self.memory.seq {
            self.scene.clock.anchor = (now, view.at);
        }
        self.learn_agents(view);
        self.follow_proposals(view, now);
        self.offer_teams(view);
        if self.controls.notice.as_ref().is_some_and(|(_, until)| now >= *until) {
            self.controls.notice = None;
        }
        self.memory.seq = view.seq.0;
        self.refresh(view, now);
    }

    /// Looks up the teams for the next run, once for each run that is over.
    fn offer_teams(&mut self, view: &SessionView) {
        let over =
            if matches!(view.head.state, RunState::Ended(_)) { view.head.runs.len() } else { 0 };
        if over == self.memory.offered {
            return;
        }
        self.memory.offered = over;
        let teams = self.panes.teams.as_ref().filter(|_| over > 0);
        self.panes.composer.offer_teams(teams.map_or_else(Vec::new, |teams| teams.offers()));
    }

    /// When it wants [`Ui::sync`] and a new frame although nothing happened; `None`: never. The
    /// moment may have passed already.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, _now: Instant) -> Option<Instant> {
        let notice = self.controls.notice.as_ref().map(|(_, until)| *until);
        let typed = self.controls.typed_at.map(|at| at + TYPING_TIME);
        let is_new = self.has_new_proposal(view) || self.has_new_question(view);
        let idle = typed.filter(|_| self.scene.mode == Mode::Live && is_new);
        let spinner = self.is_busy(view).then_some(self.scene.clock.now + Clock::TICK);
        // By then what waits has been on screen, and can be decided.
        let alive = self.decides_at();
        let shows = |id| self.layout.pane(id).is_some() && self.controls.overlay.is_none();
        let synced = self.scene.clock.now;
        let review = self.panes.review.next_wake(view, synced).filter(|_| shows(PaneId::Review));
        let logs = self.panes.logs.next_wake(view, synced).filter(|_| shows(PaneId::Logs));
        let chat = self.panes.chat.next_wake(synced).filter(|_| shows(PaneId::Chat));
        let overlay = self.controls.overlay.as_ref().and_then(|overlay| overlay.next_wake(synced));
        let waiting = self.counts_waiting(view).then_some(synced + Duration::from_secs(1));
        let glance = self.panes.glance.as_ref().and_then(|glance| glance.next_wake(synced));
        let own = [notice, idle, spinner, alive, waiting, glance];
        own.into_iter().chain([review, logs, chat, overlay]).flatten().min()
    }

    /// Whether something is under way that the person does not hold up.
    fn is_busy(&self, view: &SessionView) -> bool {
        let builds = view.logs.builds.last().is_some_and(|build| build.outcome.is_none());
        self.scene.mode == Mode::Live
            && matches!(view.head.state, RunState::Running | RunState::Stopping)
            && view.review.waiting.is_empty()
            && view.head.question.is_none()
            && (!view.head.speakers.is_empty() || builds)
    }

    /// Whether the time that the person is waited for is on screen.
    fn counts_waiting(&self, view: &SessionView) -> bool {
        let shows =
            !self.layout.strip.is_empty() || matches!(self.controls.overlay, Some(Overlay::Run(_)));
        let goes_on = self.scene.mode == Mode::Live && !view.head.state.is_over();
        shows && goes_on && view.work.is_waiting()
    }

    /// Whether a proposal waits that the person was not called to yet.
    fn has_new_proposal(&self, view: &SessionView) -> bool {
        view.review.waiting.iter().any(|waiting| !self.memory.waiting.contains(waiting))
    }

    /// Whether the person has only just typed something.
    fn is_typing(&self, now: Instant) -> bool {
        self.controls.composing == Composing::Yes
            && self.controls.typed_at.is_some_and(|at| now < at + TYPING_TIME)
    }

    /// What was prepared last has been drawn since: the panes may count it as seen.
    pub(super) fn note_shown(&mut self) {
        if !self.drawn.replace(false) {
            return;
        }
        self.note_subject_drawn();
        for area in &self.layout.panes {
            match area.id {
                PaneId::Project => self.panes.project.was_shown(),
                PaneId::Chat => self.panes.chat.was_shown(),
                PaneId::Review
                    if self.controls.overlay.is_none() && self.panes.glance.is_none() =>
                {
                    self.panes.review.was_shown();
                }
                PaneId::Review => {}
                PaneId::Logs => self.panes.logs.was_shown(),
            }
        }
    }

    fn learn_agents(&mut self, view: &SessionView) {
        let entries = &view.chat.entries;
        // Agents that were seen stay known, also when a replay goes back.
        let from = if entries.len() < self.memory.entries { 0 } else { self.memory.entries };
        let new = entries.iter().skip(from);
        self.scene.agents.learn(new.filter_map(|entry| match &**entry {
            ChatEntry::Choice { agent, .. } => Some(agent),
            entry => entry.turn().map(|turn| &turn.agent),
        }));
        self.memory.entries = entries.len();
    }

    /// Focus the review when a proposal appears, and back when none waits any more. While the
    /// person writes, nothing moves; the keys never leave the message by themselves.
    fn follow_proposals(&mut self, view: &SessionView, now: Instant) {
        let is_new = self.has_new_proposal(view) && !self.is_typing(now);
        let asks = view.head.question.as_ref().map(|question| question.id);
        if self.scene.mode == Mode::Live {
            let (known, asked) = (&self.memory.waiting, self.memory.question);
            self.controls.attention.look(view, known, asked);
        }
        self.memory.question = asks;
        if self.scene.mode == Mode::Live {
            if is_new && self.controls.front != PaneId::Review {
                self.controls.before = Some(self.controls.front);
                self.controls.front = PaneId::Review;
                self.controls.zoom = None;
                self.controls.pending.clear();
            } else if view.review.waiting.is_empty()
                && !self.memory.waiting.is_empty()
                && let Some(before) = self.controls.before.take()
                && self.controls.front == PaneId::Review
            {
                self.controls.front = before;
            }
        }
        self.follow_question(view, now);
        if !self.is_typing(now) {
            self.memory.waiting.clone_from(&view.review.waiting);
        }
        self.drop_stale_overlay(view, now);
    }

    /// Turns to the chat when the team asks something and the chat is not on screen, and back once
    /// it is answered. Proposals go first, and while the person writes nothing moves.
    fn follow_question(&mut self, view: &SessionView, now: Instant) {
        if self.scene.mode != Mode::Live || !self.has_new_question(view) || self.is_typing(now) {
            return;
        }
        let asks = view.head.question.as_ref().map(|question| question.id);
        self.memory.turned_to = asks;
        match asks {
            Some(_) if self.layout.pane(PaneId::Chat).is_none() => {
                self.controls.before.get_or_insert(self.controls.front);
                self.controls.front = PaneId::Chat;
                self.controls.zoom = None;
                self.controls.pending.clear();
            }
            None if self.controls.front == PaneId::Chat => {
                self.controls.front = self.controls.before.take().unwrap_or(PaneId::Chat);
            }
            Some(_) | None => {}
        }
    }

    /// Opens the answers to a question once, by itself, when nothing else has the keys. Whoever
    /// writes a message answers with it.
    fn open_answers(&mut self, view: &SessionView) {
        let asks = view.head.question.as_ref().map(|question| question.id);
        let has_keys_elsewhere = self.controls.overlay.is_some()
            || self.controls.composing == Composing::Yes
            || self.pane(self.controls.front).text_mode() == TextMode::On;
        if asks.is_none() || asks == self.memory.opened || has_keys_elsewhere {
            return;
        }
        if self.scene.mode != Mode::Live || !view.review.waiting.is_empty() || !self.is_usable() {
            return;
        }
        self.memory.opened = asks;
        if let Some(list) = AnswerList::of(view) {
            self.controls.pending.clear();
            self.controls.deciding.dialogs += 1;
            self.controls.overlay = Some(Overlay::Question(list));
        }
    }

    /// Whether a question waits, or was answered, that the person was not turned to yet.
    fn has_new_question(&self, view: &SessionView) -> bool {
        let asks = view.head.question.as_ref().map(|question| question.id);
        asks != self.memory.turned_to && view.review.waiting.is_empty()
    }

    /// Lays out, and brings every pane that shows up to date.
    pub(super) fn refresh(&mut self, view: &SessionView, now: Instant) {
        self.open_answers(view);
        self.prepare_composer(view);
        let rows = match (self.scene.mode, self.controls.desk) {
            (Mode::Live, ScreenKind::Team) => self.panes.composer.rows(),
            (Mode::Live, ScreenKind::Port) => 0,
            (Mode::Replay, _) => TimelineBar::ROWS,
        };
        let is_quiet = view.logs.builds.is_empty() && view.logs.serials.is_empty();
        let logs = if is_quiet { LogsWish::Quiet } else { LogsWish::Full };
        let review = match view.review.proposals.is_empty() {
            true => ReviewWish::Quiet,
            false => ReviewWish::Full,
        };
        let strip = match self.controls.desk == ScreenKind::Team && strip::is_wanted(view) {
            true => StripWish::Full,
            false => StripWish::Quiet,
        };
        self.layout = Layout::new(&wish(self.size, &self.controls, rows, (logs, review, strip)));
        self.panes.review.set_screen_width(self.size.width);
        if let Some(overlay) = &mut self.controls.overlay {
            overlay.prepare(self.size);
        }
        self.prepare_panes(view);
        if self.watch_subject(view, now) {
            self.prepare_panes(view);
        }
    }

    fn prepare_panes(&mut self, view: &SessionView) {
        let areas = self.layout.panes.clone();
        self.look_at_file(view);
        for area in areas {
            let keys = self.keys_of(area.id);
            let cx = self.scene.cx(view, keys);
            match area.id {
                PaneId::Project => self.panes.project.prepare(area.body, &cx),
                PaneId::Chat => self.panes.chat.prepare(area.body, &cx),
                PaneId::Review => self.panes.review.prepare(area.body, &cx),
                PaneId::Logs => self.panes.logs.prepare(area.body, &cx),
            }
        }
    }

    /// Shows the file under the cursor beside the list of files while nothing waits.
    fn look_at_file(&mut self, view: &SessionView) {
        let before = self.panes.glance.take();
        let Some(area) = self.layout.pane(PaneId::Review).copied() else { return };
        if self.controls.front != PaneId::Project || !view.review.waiting.is_empty() {
            return;
        }
        let Some(path) = self.panes.project.file_at_cursor() else { return };
        let cx = self.scene.cx(view, Keys::Elsewhere);
        let mut glance = FileGlance::of(path, before, &self.panes.files, &cx);
        glance.prepare(area.body.height);
        self.panes.glance = Some(glance);
    }

    pub(super) fn keys_of(&self, id: PaneId) -> Keys {
        let here = self.controls.front == id
            && self.controls.composing == Composing::No
            && self.controls.overlay.is_none();
        if here { Keys::Here } else { Keys::Elsewhere }
    }
}

/// What the panes need of a screen of that size.
pub(super) fn wish(
    size: Size,
    controls: &Controls,
    bottom_rows: u16,
    (logs, review, strip): (LogsWish, ReviewWish, StripWish),
) -> LayoutInput {
    let screen = Rect::new(0, 0, size.width, size.height);
    let zoom = controls.zoom.map(|_| controls.front);
    let sizes = controls.screen.sizes;
    LayoutInput { screen, front: controls.front, zoom, bottom_rows, logs, review, strip, sizes }
}
