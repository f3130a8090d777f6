//! Proposals: those that wait, in the order they came, and what became of the others.

use std::sync::Arc;

use crate::model::{Decision, Event, Outcome, Proposal, ProposalId, Record, Timestamp};

/// All proposals of the session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Oldest first; numbers rise.
    pub proposals: Vec<Arc<ProposalView>>,
    /// Those not decided yet, oldest first.
    pub waiting: Vec<ProposalId>,
}

/// One proposal and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalView {
    /// The proposal.
    pub proposal: Proposal,
    /// When it was made.
    pub at: Timestamp,
    /// How it was decided; `None` while it waits.
    pub decision: Option<(Decision, Timestamp)>,
    /// What came of it; `None` while it waits or is under way.
    pub outcome: Option<Outcome>,
    /// Bytes flashed so far, of how many.
    pub progress: Option<(u64, u64)>,
}

impl Review {
    /// The proposal with that number.
    #[must_use]
    pub fn get(&self, id: ProposalId) -> Option<&ProposalView> {
        let place = self.place(id)?;
        self.proposals.get(place).map(AsRef::as_ref)
    }

    /// The proposals that wait, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &ProposalView> {
        self.waiting.iter().filter_map(|id| self.get(*id))
    }

    fn place(&self, id: ProposalId) -> Option<usize> {
        self.proposals.binary_search_by_key(&id, |view| view.proposal.id).ok()
    }

    fn change(&mut self, id: ProposalId, change: impl FnOnce(&mut ProposalView)) {
        if let Some(view) = self.place(id).and_then(|place| self.proposals.get_mut(place)) {
            change(Arc::make_mut(view));
        }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Proposed(proposal) => {
                self.waiting.push(proposal.id);
                self.proposals.push(Arc::new(ProposalView {
                    proposal: proposal.clone(),
                    at: record.at,
                    decision: None,
                    outcome: None,
                    progress: None,
                }));
            }
            Event::Decided { proposal, decision } => {
                self.waiting.retain(|id| id != proposal);
                self.change(*proposal, |view| view.decision = Some((decision.clone(), record.at)));
            }
            Event::Settled { proposal, outcome } => {
                self.waiting.retain(|id| id != proposal);
                self.change(*proposal, |view| view.outcome = Some(outcome.clone()));
            }
            Event::FlashProgress { proposal, done, total } => {
                self.change(*proposal, |view| view.progress = Some((*done, *total)));
            }
            Event::SessionStarted(_)
            | Event::SessionResumed { .. }
            | Event::SessionEnded { .. }
            | Event::ProjectListed { .. }
            | Event::PhaseStarted { .. }
            | Event::PhaseEnded { .. }
            | Event::SpeakerChosen { .. }
            | Event::TurnStarted { .. }
            | Event::TextAdded { .. }
            | Event::ToolCalled { .. }
            | Event::ToolAnswered { .. }
            | Event::ModelAnswered { .. }
            | Event::Model(_)
            | Event::TurnEnded { .. }
            | Event::Team(_)
            | Event::BuildStarted { .. }
            | Event::BuildProgress { .. }
            | Event::BuildEnded { .. }
            | Event::LogGrew { .. }
            | Event::BoardConnected(_)
            | Event::BoardLost { .. }
            | Event::SerialOpened { .. }
            | Event::SerialClosed { .. }
            | Event::PersonSaid { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Paused
            | Event::Unpaused
            | Event::StopRequested
            | Event::Noticed { .. } => {}
        }
    }
}
