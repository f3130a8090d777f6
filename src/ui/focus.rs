//! Where keys go: to a pane or to the message that is being written.
//!
//! Owns from where the person was called away, and the keys of a sequence that is not complete.

use std::time::{Duration, Instant};

use crate::view::SessionView;

use super::action::KeyContext;
use super::dialogs::Dialogs;
use super::key::Key;
use super::layout::PaneId;
use super::pane::{Keys, Mode};
use super::panes::ReviewPane;
use super::screen_kind::ScreenKind;

/// How long after the last key the person still counts as writing.
pub(super) const TYPING_TIME: Duration = Duration::from_secs(1);

/// Whether a message is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Composing {
    Yes,
    No,
}

/// Where keys go while no dialog is open.
pub(super) struct Focus {
    kind: ScreenKind,
    front: PaneId,
    /// The pane that was turned to before a proposal or a question called the person away from it.
    before: Option<PaneId>,
    composing: Composing,
    /// Whether the pane that is turned to has the whole screen.
    zoom: Option<PaneId>,
    /// Keys of a sequence that is not complete.
    pending: Vec<Key>,
    /// When a key last went to the composer.
    typed_at: Option<Instant>,
}

impl Focus {
    pub(super) const fn new(front: PaneId) -> Self {
        Self {
            kind: ScreenKind::Team,
            front,
            before: None,
            composing: Composing::No,
            zoom: None,
            pending: Vec::new(),
            typed_at: None,
        }
    }

    /// From now on there is nothing but the output of ports, on the whole screen. How the panes
    /// of a team were left is not forgotten.
    pub(super) fn be_monitor(&mut self) {
        self.kind = ScreenKind::Port;
        self.before = Some(self.front);
        self.front = PaneId::Logs;
        self.zoom = Some(PaneId::Logs);
    }

    /// What the screen is for.
    pub(super) const fn kind(&self) -> ScreenKind {
        self.kind
    }

    /// The pane that is turned to.
    pub(super) const fn front(&self) -> PaneId {
        self.front
    }

    /// The pane that the person turned to last.
    pub(super) fn chosen(&self) -> PaneId {
        self.before.unwrap_or(self.front)
    }

    /// The person turns to a pane.
    pub(super) const fn turn_to(&mut self, id: PaneId) {
        self.front = id;
        self.before = None;
        self.composing = Composing::No;
    }

    /// A proposal calls the person to the review.
    pub(super) fn call_to_review(&mut self) {
        if self.front != PaneId::Review {
            self.before = Some(self.front);
            self.call_to(PaneId::Review);
        }
    }

    /// A question calls the person to the chat.
    pub(super) fn call_to_chat(&mut self) {
        self.before.get_or_insert(self.front);
        self.call_to(PaneId::Chat);
    }

    fn call_to(&mut self, id: PaneId) {
        self.front = id;
        self.zoom = None;
        self.pending.clear();
    }

    /// No proposal waits any more: back to where the person was called away from.
    pub(super) fn return_from_review(&mut self) {
        if let Some(before) = self.before.take()
            && self.front == PaneId::Review
        {
            self.front = before;
        }
    }

    /// The question was answered: back to where the person was called away from.
    pub(super) fn return_from_chat(&mut self) {
        if self.front == PaneId::Chat {
            self.front = self.before.take().unwrap_or(PaneId::Chat);
        }
    }

    /// The pane that has the whole screen.
    pub(super) fn zoom(&self) -> Option<PaneId> {
        self.zoom.map(|_| self.front)
    }

    pub(super) fn toggle_zoom(&mut self) {
        self.zoom = if self.zoom.is_some() { None } else { Some(self.front) };
    }

    pub(super) const fn unzoom(&mut self) {
        self.zoom = None;
    }

    /// Whether a message is being written.
    pub(super) fn is_composing(&self) -> bool {
        self.composing == Composing::Yes
    }

    /// From now on keys write a message.
    pub(super) const fn compose(&mut self, now: Instant) {
        self.composing = Composing::Yes;
        self.note_typed(now);
    }

    /// From now on keys are actions again, after a moment also those that decide.
    pub(super) const fn leave_composer(&mut self) {
        self.composing = Composing::No;
        self.typed_at = None;
    }

    /// A key or pasted text went to the composer.
    pub(super) const fn note_typed(&mut self, now: Instant) {
        self.typed_at = Some(now);
    }

    /// Whether the person has only just typed something.
    pub(super) fn is_typing(&self, now: Instant) -> bool {
        self.is_composing() && self.typed_until().is_some_and(|until| now < until)
    }

    /// Until when the person counts as writing.
    pub(super) fn typed_until(&self) -> Option<Instant> {
        self.typed_at.map(|at| at + TYPING_TIME)
    }

    /// Another key of a sequence.
    pub(super) fn push(&mut self, key: Key) {
        self.pending.push(key);
    }

    /// Keys of a sequence that is not complete.
    pub(super) fn pending(&self) -> &[Key] {
        &self.pending
    }

    /// The sequence is complete, or was broken off.
    pub(super) fn take_pending(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.pending)
    }

    /// Whether keys go to that pane.
    pub(super) fn keys_of(&self, id: PaneId, dialogs: &Dialogs) -> Keys {
        let here = self.front == id && !self.is_composing() && !dialogs.is_open();
        if here { Keys::Here } else { Keys::Elsewhere }
    }

    /// Whether keys go to the message that is being written.
    pub(super) fn keys_of_composer(&self, dialogs: &Dialogs) -> Keys {
        let here = self.is_composing() && !dialogs.is_open();
        if here { Keys::Here } else { Keys::Elsewhere }
    }

    /// The contexts that hold, the most special one first.
    pub(super) fn contexts(
        &self,
        dialogs: &Dialogs,
        review: &ReviewPane,
        mode: Mode,
        view: &SessionView,
    ) -> Vec<KeyContext> {
        if dialogs.is_open() {
            return vec![KeyContext::Dialog];
        }
        if self.is_composing() {
            return vec![KeyContext::Composer, KeyContext::Global];
        }
        let mut chain = Vec::new();
        let has_options =
            view.head.question.as_ref().is_some_and(|question| !question.options.is_empty());
        if has_options && self.front == PaneId::Chat && mode == Mode::Live {
            chain.push(KeyContext::Question);
        }
        // Nothing is decided in a replay, so that keys of decisions are free for moving in it.
        if mode == Mode::Replay && self.front == PaneId::Review {
            chain.push(KeyContext::Replay);
        }
        if self.front == PaneId::Review && review.is_picking() {
            chain.push(KeyContext::Select);
        }
        chain.push(match self.front {
            PaneId::Project => KeyContext::Project,
            PaneId::Chat => KeyContext::Chat,
            PaneId::Review => KeyContext::Review,
            PaneId::Logs => KeyContext::Logs,
        });
        chain.push(KeyContext::Pane);
        if mode == Mode::Replay && self.front != PaneId::Review {
            chain.push(KeyContext::Replay);
        }
        chain.push(KeyContext::Global);
        chain
    }
}
