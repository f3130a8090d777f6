//! Which proposal is on screen, and which decisions are on their way.
//!
//! Pure state over numbers of proposals; must not read or draw them.

use std::time::{Duration, Instant};

use crate::model::{ProposalId, Timestamp};
use crate::view::Review;

/// A decision that is not recorded by then did not arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the person looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum QueueChoice {
    /// The oldest that waits.
    #[default]
    Queue,
    /// One that waits, which the person turned to; when it is decided the queue goes on.
    Waiting(ProposalId),
    /// One that is decided already, which the person looks at again.
    Decided(ProposalId),
    /// The newest: in a replay, what the person has gone to.
    Newest,
}

/// The proposals as the person goes through them.
#[derive(Debug, Default)]
pub struct Queue {
    choice: QueueChoice,
    on_screen: Option<ProposalId>,
    /// Decisions that are not recorded yet.
    sent: Vec<(ProposalId, Instant)>,
}

/// The last proposal, if it was made at that time or later.
fn newest(review: &Review, since: Timestamp) -> Option<ProposalId> {
    review.proposals.last().filter(|view| view.at >= since).map(|view| view.proposal.id)
}

impl Queue {
    /// The proposal on screen.
    #[must_use]
    pub const fn on_screen(&self) -> Option<ProposalId> {
        self.on_screen
    }

    /// Whether a decision on it is on its way.
    #[must_use]
    pub fn is_sent(&self, id: ProposalId) -> bool {
        self.sent.iter().any(|(sent, _)| *sent == id)
    }

    /// When a decision that is on its way counts as lost.
    #[must_use]
    pub fn lost_at(&self) -> Option<Instant> {
        self.sent.iter().map(|(_, at)| *at + PATIENCE).min()
    }

    /// A decision on it goes out.
    pub fn send(&mut self, id: ProposalId, now: Instant) {
        if !self.is_sent(id) {
            self.sent.push((id, now));
        }
        self.choice = QueueChoice::Queue;
    }

    /// Turns to one that waits.
    pub const fn look_at(&mut self, id: ProposalId) {
        self.choice = QueueChoice::Waiting(id);
    }

    /// Turns to the newest, and to each that is newer.
    pub const fn look_at_newest(&mut self) {
        self.choice = QueueChoice::Newest;
    }

    /// Goes back to the oldest that waits.
    pub const fn back(&mut self) {
        self.choice = QueueChoice::Queue;
    }

    /// Chooses what is on screen; tells whether it is another one now. What was decided before
    /// `since`, in an earlier run, does not stay there by itself.
    pub fn choose(&mut self, review: &Review, since: Timestamp, now: Instant) -> bool {
        self.sent.retain(|(id, at)| {
            review.waiting.contains(id) && now.saturating_duration_since(*at) < PATIENCE
        });
        let next = match self.choice {
            QueueChoice::Waiting(id) if review.waiting.contains(&id) => Some(id),
            QueueChoice::Decided(id) if review.get(id).is_some() => Some(id),
            QueueChoice::Newest => newest(review, since),
            QueueChoice::Queue | QueueChoice::Waiting(_) | QueueChoice::Decided(_) => {
                self.choice = QueueChoice::Queue;
                let stays = self.on_screen.filter(|id| review.waiting.contains(id));
                self.first(review).or(stays).or(newest(review, since))
            }
        };
        let is_new = next != self.on_screen;
        self.on_screen = next;
        is_new
    }

    /// The oldest that waits and was not decided here.
    fn first(&self, review: &Review) -> Option<ProposalId> {
        review.waiting.iter().copied().find(|id| !self.is_sent(*id))
    }

    /// Turns to the neighbour of what is on screen among all proposals; tells whether there is
    /// one.
    pub fn turn(&mut self, step: isize, review: &Review) -> bool {
        let all = review.proposals.iter();
        let place = match self.on_screen {
            Some(id) => all.clone().position(|view| view.proposal.id == id),
            // Behind the last of an earlier run.
            None => Some(all.len()),
        };
        let next = place.and_then(|place| place.checked_add_signed(step));
        let Some(view) = next.and_then(|place| review.proposals.get(place)) else { return false };
        let id = view.proposal.id;
        self.choice = match self.first(review) {
            Some(first) if first == id => QueueChoice::Queue,
            Some(_) | None if review.waiting.contains(&id) => QueueChoice::Waiting(id),
            Some(_) | None => QueueChoice::Decided(id),
        };
        true
    }
}
