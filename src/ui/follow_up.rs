//! Turns the person to what waits: proposals first, then questions.
//!
//! Owns what the person was turned or called to already. Must not decide or answer anything.

use std::time::Instant;

use crate::model::{ProposalId, QuestionId};
use crate::view::SessionView;

use super::areas::Areas;
use super::attention::Attention;
use super::focus::Focus;
use super::layout::PaneId;
use super::overlay::AnswerList;
use super::pane::Mode;

/// What the person was turned to already.
#[derive(Default)]
pub(super) struct FollowUp {
    waiting: Vec<ProposalId>,
    question: Option<QuestionId>,
    /// The question that the person was turned to last, if it still waits.
    turned_to: Option<QuestionId>,
    /// The question whose answers were opened by themselves last.
    opened: Option<QuestionId>,
    pub attention: Attention,
}

impl FollowUp {
    /// Focus the review when a proposal appears, and back when none waits any more. While the
    /// person writes, nothing moves; the keys never leave the message by themselves.
    pub(super) fn follow(
        &mut self,
        view: &SessionView,
        now: Instant,
        (focus, areas, mode): (&mut Focus, &Areas, Mode),
    ) {
        let is_typing = focus.is_typing(now);
        if mode == Mode::Live {
            self.attention.look(view, &self.waiting, self.question);
            if self.has_new_proposal(view) && !is_typing {
                focus.call_to_review();
            } else if view.review.waiting.is_empty() && !self.waiting.is_empty() {
                focus.return_from_review();
            }
            if self.has_new_question(view) && !is_typing {
                self.follow_question(view, focus, areas);
            }
        }
        self.question = asked(view);
        if !is_typing {
            self.waiting.clone_from(&view.review.waiting);
        }
    }

    /// Turns to the chat when the team asks something and the chat is not on screen, and back once
    /// it is answered.
    fn follow_question(&mut self, view: &SessionView, focus: &mut Focus, areas: &Areas) {
        self.turned_to = asked(view);
        match self.turned_to {
            Some(_) if areas.shows(PaneId::Chat) => {}
            Some(_) => focus.call_to_chat(),
            None => focus.return_from_chat(),
        }
    }

    /// Whether something waits that the person is turned to as soon as no message is written.
    pub(super) fn is_due(&self, view: &SessionView) -> bool {
        self.has_new_proposal(view) || self.has_new_question(view)
    }

    /// Whether a proposal waits that the person was not called to yet.
    fn has_new_proposal(&self, view: &SessionView) -> bool {
        view.review.waiting.iter().any(|waiting| !self.waiting.contains(waiting))
    }

    /// Whether a question waits, or was answered, that the person was not turned to yet. Proposals
    /// go first.
    fn has_new_question(&self, view: &SessionView) -> bool {
        asked(view) != self.turned_to && view.review.waiting.is_empty()
    }

    /// The answers to a question that waits, once.
    pub(super) fn new_answers(&mut self, view: &SessionView) -> Option<AnswerList> {
        let asks = asked(view);
        if asks.is_none() || asks == self.opened {
            return None;
        }
        self.opened = asks;
        AnswerList::of(view)
    }
}

fn asked(view: &SessionView) -> Option<QuestionId> {
    view.head.question.as_ref().map(|question| question.id)
}
