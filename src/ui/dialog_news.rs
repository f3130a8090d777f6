//! News for what the person is writing: the proposal changed or is gone, the own editor has ended.
//!
//! Decides nothing, and loses nothing that was typed.

use std::time::Instant;

use crate::view::{RunState, SessionView};

use super::Ui;
use super::guard::Care;
use super::input::Now;
use super::pane::{Effect, Notice, OutsideEdit, UiCommand};

impl Ui {
    /// Closes a dialog about something that no longer waits as it was shown; what was typed is
    /// kept.
    pub(super) fn drop_stale_overlay(&mut self, view: &SessionView, now: Instant) {
        let Some(overlay) = &self.controls.overlay else { return };
        let asked = view.head.question.as_ref().map(|question| question.id);
        if overlay.question().is_some_and(|question| Some(question) != asked) {
            self.controls.overlay = None;
            self.tell(
                Notice::error("the question no longer waits; nothing was answered here"),
                now,
            );
            return;
        }
        let about = overlay.proposals();
        let is_gone = about.iter().any(|(id, _)| !view.review.waiting.contains(id));
        let is_changed = about.iter().any(|(id, hash)| {
            view.review.get(*id).is_some_and(|now| now.proposal.change.hash() != *hash)
        });
        let decides = overlay.care() == Some(Care::Looked)
            || overlay.question().is_some()
            || !about.is_empty();
        let is_broken_off = matches!(view.head.state, RunState::BrokenOff(_)) && decides;
        if !is_gone && !is_changed && !is_broken_off {
            return;
        }
        if let Some(keep) = overlay.keep() {
            self.panes.review.on_request(keep, &view.review);
        }
        self.controls.overlay = None;
        let text = if is_broken_off {
            "the run stopped unexpectedly; nothing was decided here"
        } else if is_gone {
            "the proposal no longer waits; nothing was decided here"
        } else {
            "the proposal has changed; nothing was decided, and your words are kept"
        };
        self.tell(Notice::error(text), now);
    }

    /// Takes back what came of [`UiCommand::EditOutside`].
    pub fn edited(
        &mut self,
        edit: &OutsideEdit,
        result: Result<String, String>,
        view: &SessionView,
        now: Instant,
    ) -> Vec<UiCommand> {
        self.scene.clock.now = now;
        let effects = match result {
            Ok(text) => self.panes.review.edited(edit.shown, text, &view.review),
            Err(why) => Effect::refuse(why),
        };
        let commands = self.carry_out(effects, Now { view, at: now });
        self.refresh(view, now);
        commands
    }
}
