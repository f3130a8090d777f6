//! Places in the conversation that one jumps to: an agent's turns, proposals, errors.
//!
//! Pure questions to entries; must not know where one looks.

use crate::model::event::Level;
use crate::model::{AgentName, CallId, PhaseOutcome, SessionOutcome, TurnStop};
use crate::view::{CallView, ChatEntry, SessionView};

/// What is jumped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JumpTarget {
    /// Turns of one agent.
    Agent(AgentName),
    /// Calls that proposed something.
    Proposal,
    /// Whatever went wrong.
    Error,
}

impl JumpTarget {
    /// What there is no more of.
    pub fn words(&self) -> String {
        match self {
            Self::Agent(agent) => format!("turn of {agent}"),
            Self::Proposal => "proposal".to_owned(),
            Self::Error => "error".to_owned(),
        }
    }

    /// The calls of an entry that are meant; `None`: the entry itself is, or nothing.
    pub fn calls(&self, entry: &ChatEntry, view: &SessionView) -> Vec<CallId> {
        let Some(turn) = entry.turn() else { return Vec::new() };
        let proposals = &view.review.proposals;
        let is_wanted = |call: &&CallView| match self {
            Self::Agent(_) => false,
            Self::Proposal => proposals.iter().any(|made| made.proposal.call == call.call),
            Self::Error => call.state.succeeded() == Some(false),
        };
        turn.calls().filter(is_wanted).map(|call| call.call).collect()
    }

    /// Whether the entry as a whole is meant.
    pub fn is_entry(&self, entry: &ChatEntry) -> bool {
        match (self, entry) {
            (Self::Agent(agent), ChatEntry::Turn(turn)) => turn.agent == *agent,
            (Self::Error, ChatEntry::Turn(turn)) => {
                matches!(turn.ended, Some((TurnStop::Failed(_) | TurnStop::Interrupted, _)))
            }
            (Self::Error, ChatEntry::Notice { level, .. }) => *level != Level::Info,
            (Self::Error, ChatEntry::PhaseEnded { outcome: PhaseOutcome::Failed(_), .. })
            | (Self::Error, ChatEntry::Ended { outcome: SessionOutcome::Failed(_), .. }) => true,
            (_, _) => false,
        }
    }
}
