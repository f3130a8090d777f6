//! The dialog that is open, and when it no longer makes sense.
//!
//! Decides nothing, and loses nothing that was typed.

use std::time::Instant;

use ratatui::layout::Size;

use crate::view::{RunState, SessionView};

use super::action::{Action, KeyContext};
use super::guard::Care;
use super::key::Key;
use super::keymap::{Keymap, Lookup};
use super::overlay::{Overlay, TextKeys};
use super::pane::ReviewRequest;

/// The dialog that is open, if any.
#[derive(Default)]
pub(super) struct Dialogs {
    open: Option<Overlay>,
    /// Dialogs that were opened so far.
    opened: u32,
}

/// A dialog that was closed because what it was about no longer waits as it was shown.
pub(super) struct Dropped {
    /// Words for the person.
    pub words: &'static str,
    /// What was typed in it.
    pub keep: Option<ReviewRequest>,
}

impl Dialogs {
    /// Opens a dialog in place of the one that is open.
    pub(super) fn open(&mut self, overlay: Overlay) {
        self.opened += 1;
        self.open = Some(overlay);
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }

    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) const fn get(&self) -> Option<&Overlay> {
        self.open.as_ref()
    }

    pub(super) const fn get_mut(&mut self) -> Option<&mut Overlay> {
        self.open.as_mut()
    }

    /// Which of all dialogs is open, counted from 1.
    pub(super) fn number(&self) -> Option<u32> {
        self.open.as_ref().map(|_| self.opened)
    }

    /// Closes answers that opened by themselves, unless `key` means something to them: they stand
    /// in nobody's way.
    pub(super) fn make_way(&mut self, key: Key, keymap: &Keymap) {
        let is_unbound = keymap.look_up(&[KeyContext::Dialog], &[key]) == Lookup::Unbound;
        self.open.take_if(|open| is_unbound && matches!(open, Overlay::Question(_)));
    }

    /// The dialog that takes this key as text.
    pub(super) fn text_field(&mut self, key: Key, keymap: &Keymap) -> Option<&mut Overlay> {
        let takes = |keys: TextKeys| match keys {
            TextKeys::None => false,
            TextKeys::Digits => key.digit().is_some(),
            TextKeys::Line => key.is_text(),
            TextKeys::Alongside => key.is_text() && !key.is_vertical(),
            TextKeys::Page => {
                let found = keymap.look_up(&[KeyContext::Dialog], &[key]);
                key.is_text()
                    || !matches!(found, Lookup::Action(Action::AcceptText | Action::Cancel))
            }
        };
        self.open.as_mut().filter(|open| takes(open.text_keys()))
    }

    /// Brings the dialog up to date for a screen of that size.
    pub(super) fn prepare(&mut self, screen: Size) {
        if let Some(open) = &mut self.open {
            open.prepare(screen);
        }
    }

    /// When the dialog changes by itself.
    pub(super) fn next_wake(&self, now: Instant) -> Option<Instant> {
        self.open.as_ref().and_then(|open| open.next_wake(now))
    }

    /// Closes a dialog about something that no longer waits as it was shown.
    pub(super) fn drop_stale(&mut self, view: &SessionView) -> Option<Dropped> {
        let open = self.open.as_ref()?;
        let asked = view.head.question.as_ref().map(|question| question.id);
        let dropped = if open.question().is_some_and(|question| Some(question) != asked) {
            Dropped { words: "the question no longer waits; nothing was answered here", keep: None }
        } else {
            Dropped { words: why_stale(open, view)?, keep: open.keep() }
        };
        self.open = None;
        Some(dropped)
    }
}

/// Why a dialog about proposals no longer makes sense.
fn why_stale(open: &Overlay, view: &SessionView) -> Option<&'static str> {
    let about = open.proposals();
    let is_gone = about.iter().any(|(id, _)| !view.review.waiting.contains(id));
    let is_changed = about.iter().any(|(id, hash)| {
        view.review.get(*id).is_some_and(|now| now.proposal.change.hash() != *hash)
    });
    let decides =
        open.care() == Some(Care::Looked) || open.question().is_some() || !about.is_empty();
    if matches!(view.head.state, RunState::BrokenOff(_)) && decides {
        Some("the run stopped unexpectedly; nothing was decided here")
    } else if is_gone {
        Some("the proposal no longer waits; nothing was decided here")
    } else if is_changed {
        Some("the proposal has changed; nothing was decided, and your words are kept")
    } else {
        None
    }
}
