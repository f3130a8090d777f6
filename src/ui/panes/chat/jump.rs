//! Places in the conversation that one jumps to: an agent's turns, proposals, errors.
//!
//! Pure questions to entries; must not know where one looks.

use crate::model::event::Level;
use crate::model::{AgentName, CallId, PhaseOutcome, SessionOutcome, TurnStop};
use crate::view::{Entry, Part, SessionView};

/// What is jumped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Turns of one agent.
    Agent(AgentName),
    /// Calls that proposed something.
    Proposal,
    /// Whatever went wrong.
    Error,
}

impl Target {
    /// What there is no more of.
    pub fn words(&self) -> String {
        match self {
            Self::Agent(agent) => format!("turn of {agent}"),
            Self::Proposal => "proposal".to_owned(),
            Self::Error => "error".to_owned(),
        }
    }

    /// The calls of an entry that are meant; `None`: the entry itself is, or nothing.
    pub fn calls(&self, entry: &Entry, view: &SessionView) -> Vec<CallId> {
        let Entry::Turn(turn) = entry else { return Vec::new() };
        let wanted = |part: &Part| match part {
            Part::Call(call) => {
                let is_it = match self {
                    Self::Agent(_) => false,
                    Self::Proposal => {
                        let made = |view: &std::sync::Arc<crate::view::ProposalView>| {
                            view.proposal.call == call.call
                        };
                        view.review.proposals.iter().any(made)
                    }
                    Self::Error => call.state.succeeded() == Some(false),
                };
                is_it.then_some(call.call)
            }
            Part::Text(_) | Part::Reasoning(_) | Part::Retry(_) | Part::Trimmed(_) => None,
        };
        turn.parts.iter().filter_map(wanted).collect()
    }

    /// Whether the entry as a whole is meant.
    pub fn is_entry(&self, entry: &Entry) -> bool {
        match (self, entry) {
            (Self::Agent(agent), Entry::Turn(turn)) => turn.agent == *agent,
            (Self::Error, Entry::Turn(turn)) => {
                matches!(turn.ended, Some((TurnStop::Failed(_) | TurnStop::Interrupted, _)))
            }
            (Self::Error, Entry::Notice { level, .. }) => *level != Level::Info,
            (Self::Error, Entry::PhaseEnded { outcome, .. }) => {
                matches!(outcome, PhaseOutcome::Failed(_))
            }
            (Self::Error, Entry::Ended { outcome }) => matches!(outcome, SessionOutcome::Failed(_)),
            (_, _) => false,
        }
    }
}
