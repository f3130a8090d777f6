//! A deciding key from when it is pressed until it takes effect.
//!
//! Owns the moment in between, in which further keys tell that it was pasted. Must not know what
//! is decided.

use std::time::Instant;

use crate::view::SessionView;

use super::action::Action;
use super::guard::{Care, KeyRefusal, Subject};
use super::input::Now;
use super::key::Key;
use super::layout::PaneId;
use super::overlay::Overlay;
use super::pane::{Decides, Effect, Mode, Notice, UiCommand};
use super::{Composing, Ui};

/// A deciding key that was pressed and has no effect yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pressed {
    action: Action,
    key: Option<Key>,
    at: Instant,
    /// When it takes effect.
    due: Instant,
}

impl Ui {
    /// Lets a deciding key take effect whose moment has come. Call it when [`Ui::next_wake`] says
    /// so and no event waits to be dealt with: an event that waits may be the rest of pasted text.
    pub fn settle(&mut self, view: &SessionView, now: Instant) -> Vec<UiCommand> {
        let Some(pressed) = self.controls.deciding.pressed.take_if(|pressed| pressed.due <= now)
        else {
            return Vec::new();
        };
        self.note_shown();
        self.scene.clock.now = now;
        let now = Now { view, at: now };
        let effects = self.perform(pressed.action, now);
        let commands = self.carry_out(effects, now);
        if commands.iter().any(|command| matches!(command, UiCommand::Intent(_))) {
            self.controls.deciding.guard.note_decided(pressed.key, pressed.at);
        }
        self.refresh(view, now.at);
        commands
    }

    /// When a deciding key takes effect.
    pub(super) fn settles_at(&self) -> Option<Instant> {
        self.controls.deciding.pressed.map(|pressed| pressed.due)
    }

    /// Takes a deciding key back that had no effect yet, and says why.
    pub(super) fn take_back(&mut self, why: KeyRefusal, now: Instant) {
        if self.controls.deciding.pressed.take().is_some() {
            self.tell(Notice::error(why.words()), now);
        }
    }

    /// Another key was watched: takes a deciding key back that had no effect yet.
    pub(super) fn overtake(&mut self, now: Instant) {
        if self.controls.deciding.pressed.is_some() {
            let why = self.controls.deciding.guard.overtaken();
            self.take_back(why, now);
        }
    }

    /// Does what a key asked for, if it may; what decides waits for a moment.
    pub(super) fn act(&mut self, action: Action, key: Option<Key>, now: Now<'_>) -> Vec<Effect> {
        let Some(care) = self.care(action, key) else { return self.perform(action, now) };
        if self.scene.mode == Mode::Replay && action.is_decision() {
            return Effect::refuse("this is a replay: nothing can be decided");
        }
        match self.controls.deciding.guard.check(care, now.at) {
            Err(refusal) => Effect::refuse(refusal.words()),
            Ok(due) => {
                self.controls.deciding.pressed = Some(Pressed { action, key, at: now.at, due });
                Vec::new()
            }
        }
    }

    /// Whether the screen says why keys do not count, which they still do not.
    pub(super) fn has_refusal_notice(&self) -> bool {
        let notice = self.controls.notice.as_ref();
        !self.controls.deciding.guard.is_quiet()
            && notice.is_some_and(|(notice, _)| KeyRefusal::says(&notice.text))
    }

    /// How much care an action takes here; none: it decides nothing.
    fn care(&self, action: Action, key: Option<Key>) -> Option<Care> {
        if action.is_decision() {
            return Some(Care::Looked);
        }
        match &self.controls.overlay {
            // There it opens what is selected.
            Some(Overlay::Batch(_)) => None,
            Some(overlay) => matches!(action, Action::Accept | Action::AcceptText)
                .then(|| overlay.care())
                .flatten(),
            // What was chosen from the palette was chosen with care.
            None if key.is_some() && action.is_about_proposal() => {
                (self.scene.mode == Mode::Live).then_some(Care::Looked)
            }
            None => None,
        }
    }

    /// What a deciding key is about now.
    fn subject(&self, view: &SessionView) -> Option<Subject> {
        if !self.is_usable() || self.scene.mode == Mode::Replay {
            return None;
        }
        if let Some(overlay) = &self.controls.overlay {
            let is_looked_at = overlay.care() == Some(Care::Looked);
            return is_looked_at.then_some(Subject::Dialog(self.controls.deciding.dialogs));
        }
        if self.controls.composing == Composing::Yes {
            return None;
        }
        match self.controls.front {
            PaneId::Review => self.panes.review.subject(view).map(|(subject, _)| subject),
            PaneId::Chat | PaneId::Project | PaneId::Logs => None,
        }
    }

    /// Takes note of what a deciding key is about; tells whether it counts otherwise than before.
    pub(super) fn watch_subject(&mut self, view: &SessionView, now: Instant) -> bool {
        let subject = self.subject(view);
        if self.controls.deciding.guard.look_at(subject, now) {
            self.take_back(KeyRefusal::Changed, now);
            self.controls.deciding.unseen = None;
        }
        if let Some(Subject::Proposal { .. }) = subject {
            let unseen = self.panes.review.subject(view).is_some_and(|(_, unseen)| unseen);
            if self.controls.deciding.unseen == Some(true) && !unseen {
                self.controls.deciding.guard.completed(now);
            }
            self.controls.deciding.unseen = Some(unseen);
        }
        let is_ready = self.controls.deciding.guard.ready_at().is_some_and(|at| at <= now);
        let decides = if is_ready { Decides::Now } else { Decides::NotYet };
        std::mem::replace(&mut self.scene.decides, decides) != decides
    }

    /// What a deciding key is about has been drawn.
    pub(super) fn note_subject_drawn(&mut self) {
        let is_drawn = match (self.controls.deciding.guard.subject(), &self.controls.overlay) {
            (Some(Subject::Dialog(number)), Some(_)) => number == self.controls.deciding.dialogs,
            (Some(Subject::Proposal { .. }), None) => self.layout.pane(PaneId::Review).is_some(),
            (Some(_), _) | (None, _) => false,
        };
        if is_drawn {
            self.controls.deciding.guard.drawn(self.scene.clock.now);
        }
    }

    /// When keys come alive, or what was drawn has to be noted.
    pub(super) fn decides_at(&self) -> Option<Instant> {
        let noted = self.drawn.get() && self.controls.deciding.guard.waits_to_be_drawn();
        let ready = self
            .controls
            .deciding
            .guard
            .ready_at()
            .filter(|_| self.scene.decides == Decides::NotYet);
        let noted = noted.then_some(self.scene.clock.now);
        [noted, ready, self.settles_at()].into_iter().flatten().min()
    }
}
