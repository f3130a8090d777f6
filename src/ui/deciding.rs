//! When keys decide: from what they are about until one that was pressed takes effect.
//!
//! Owns the guard, the moment between a deciding key and its effect, in which further keys tell
//! that it was pasted, and whether all of a proposal was in sight. Must not know what is decided.

use std::time::Instant;

use super::action::Action;
use super::areas::Areas;
use super::dialogs::Dialogs;
use super::guard::{Care, Guard, KeyRefusal, Subject};
use super::key::Key;
use super::layout::PaneId;
use super::overlay::Overlay;
use super::pane::{Decides, Mode};

/// A deciding key that was pressed and has no effect yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pressed {
    /// What it does.
    pub action: Action,
    key: Option<Key>,
    at: Instant,
    /// When it takes effect.
    due: Instant,
}

/// When a key may decide.
#[derive(Debug, Default)]
pub(super) struct Deciding {
    /// What watches the keys.
    pub guard: Guard,
    /// A deciding key that has no effect yet.
    pressed: Option<Pressed>,
    /// Whether the proposal on screen had lines that were not in sight yet.
    unseen: Option<bool>,
}

impl Deciding {
    /// Another key was watched: takes a deciding key back that had no effect yet; tells why.
    pub(super) fn overtake(&mut self) -> Option<KeyRefusal> {
        self.pressed.take()?;
        Some(self.guard.overtaken())
    }

    /// Takes note of pasted text, as [`Self::overtake`] does of a key.
    pub(super) fn pasted(&mut self, now: Instant) -> Option<KeyRefusal> {
        self.guard.pasted(now);
        self.pressed.take().map(|_| KeyRefusal::Pasted)
    }

    /// A deciding key was pressed; it takes effect when its moment has come.
    ///
    /// # Errors
    /// Why it may not decide.
    pub(super) fn press(
        &mut self,
        (action, key): (Action, Option<Key>),
        care: Care,
        at: Instant,
    ) -> Result<(), KeyRefusal> {
        let due = self.guard.check(care, at)?;
        self.pressed = Some(Pressed { action, key, at, due });
        Ok(())
    }

    /// The deciding key whose moment has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Pressed> {
        self.pressed.take_if(|pressed| pressed.due <= now)
    }

    /// When a deciding key takes effect.
    pub(super) fn settles_at(&self) -> Option<Instant> {
        self.pressed.map(|pressed| pressed.due)
    }

    /// That key has decided.
    pub(super) fn note_decided(&mut self, pressed: Pressed) {
        self.guard.note_decided(pressed.key, pressed.at);
    }

    /// Takes note of what a deciding key is about, and whether lines of it have not been in sight.
    /// A deciding key that was about something else is taken back; tells why.
    pub(super) fn look_at(
        &mut self,
        about: Option<(Subject, bool)>,
        now: Instant,
    ) -> Option<KeyRefusal> {
        let mut taken_back = None;
        if self.guard.look_at(about.map(|(subject, _)| subject), now) {
            taken_back = self.pressed.take().map(|_| KeyRefusal::Changed);
            self.unseen = None;
        }
        if let Some((Subject::Proposal { .. }, unseen)) = about {
            if self.unseen == Some(true) && !unseen {
                self.guard.completed(now);
            }
            self.unseen = Some(unseen);
        }
        taken_back
    }

    /// What a deciding key is about has been drawn.
    pub(super) fn note_drawn(&mut self, dialogs: &Dialogs, areas: &Areas, at: Instant) {
        let is_drawn = match (self.guard.subject(), dialogs.number()) {
            (Some(Subject::Dialog(number)), Some(open)) => number == open,
            (Some(Subject::Proposal { .. }), None) => areas.shows(PaneId::Review),
            (Some(_), _) | (None, _) => false,
        };
        if is_drawn {
            self.guard.drawn(at);
        }
    }

    /// Whether a key may decide now.
    pub(super) fn decides(&self, now: Instant) -> Decides {
        match self.guard.ready_at() {
            Some(at) if at <= now => Decides::Now,
            Some(_) | None => Decides::NotYet,
        }
    }
}

/// How much care an action takes with that dialog open; none: it decides nothing.
pub(super) fn care(
    action: Action,
    key: Option<Key>,
    dialog: Option<&Overlay>,
    mode: Mode,
) -> Option<Care> {
    if action.is_decision() {
        return Some(Care::Looked);
    }
    match dialog {
        // There it opens what is selected.
        Some(Overlay::Batch(_)) => None,
        Some(overlay) => {
            matches!(action, Action::Accept | Action::AcceptText).then(|| overlay.care()).flatten()
        }
        // What was chosen from the palette was chosen with care.
        None if key.is_some() && action.is_about_proposal() => {
            (mode == Mode::Live).then_some(Care::Looked)
        }
        None => None,
    }
}
