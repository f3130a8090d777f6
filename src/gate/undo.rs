//! Takes applied changes back: proposals of their own, approved by the wish itself.
//!
//! Goes the one way every effect goes: recorded, decided, checked against the disk, settled. What
//! the disk no longer holds as it was applied stays as it is.

use std::sync::{Arc, Mutex};

use super::execution::Execution;
use super::history::ChangeHistory;
use super::parts::{GateParts, ProposalOrigin, lock};
use super::proposing::Proposing;
use super::resume::Recovery;
use super::rulings::Rulings;
use crate::config::Ruling;
use crate::model::{
    AgentName, DecidedBy, Decision, Draft, DraftChange, Event, Facts, Outcome, ProposalEvent,
    ProposalId, Settlement, ToolName, UserError, Verdict,
};

/// What the screen calls the way an undo takes, in the place of a tool.
pub const UNDO_TOOL: &str = "undo";

/// Who an undo is of, in the place of an agent.
pub const PERSON: &str = "person";

/// Takes changes back.
pub(super) struct Undo {
    pub(super) parts: Arc<GateParts>,
    pub(super) rulings: Arc<Rulings>,
    pub(super) proposing: Arc<Proposing>,
    pub(super) execution: Arc<Execution>,
    pub(super) recovery: Arc<Recovery>,
    pub(super) history: Arc<Mutex<ChangeHistory>>,
}

impl Undo {
    /// Takes the change that proposal `id` made back. The events that were recorded are given too,
    /// in order, for whoever folds them.
    ///
    /// # Errors
    /// When there is nothing to take back under that number, or it could not be recorded.
    pub(super) fn undo(&self, id: ProposalId) -> Result<(Settlement, Vec<Event>), UserError> {
        let carried = lock(&self.history).undoable(id)?.clone();
        let content = |blob: crate::model::BlobRef| -> Result<Vec<u8>, UserError> {
            Ok(self.parts.blobs.blob(&blob.hash)?.to_vec())
        };
        let base = carried.after.map(content).transpose()?;
        let (path, before) = (carried.path, carried.before.map(content).transpose()?);
        let change = match (before, base) {
            (Some(content), base) => DraftChange::Save { path, base, content },
            (None, Some(base)) => DraftChange::Delete { path, base },
            (None, None) => {
                let why = "the file was not there before and is not there now";
                return Err(UserError::new(format!("Cannot undo proposal {id}"), why, ""));
            }
        };
        let draft = Draft { change, reason: format!("undoes proposal {id}"), checks: Vec::new() };
        let origin = ProposalOrigin {
            turn: carried.turn,
            call: carried.call,
            agent: AgentName::new(PERSON),
            tool: ToolName::new(UNDO_TOOL),
        };
        let batch = self.proposing.new_batch(1);
        let facts = Facts { undoes: Some(id), ..Facts::default() };
        let pending = self.proposing.prepare(&origin, batch, draft, facts)?;
        let proposed = Event::Proposal(ProposalEvent::Made(Box::new(pending.proposal.clone())));
        self.parts.ledger.record(proposed.clone())?;
        self.rulings.note_decided(pending.proposal.id);
        let decision = self.say_undo(&pending.proposal);
        let decided = Event::Proposal(ProposalEvent::Decided {
            proposal: pending.proposal.id,
            decision: Box::new(decision.clone()),
        });
        let settlement = self.execution.carry_out_on_files(pending, decision)?;
        let settled = Event::Proposal(ProposalEvent::Settled {
            proposal: settlement.proposal,
            outcome: settlement.outcome.clone(),
        });
        Ok((settlement, vec![proposed, decided, settled]))
    }

    /// The wish is the approval, but what the configuration denies stays denied.
    fn say_undo(&self, proposal: &crate::model::Proposal) -> Decision {
        let (ruling, rule) = self.rulings.rule_of_policy(proposal);
        let (verdict, by) = match ruling {
            Ruling::Deny => (Verdict::reject(""), DecidedBy::Policy(rule)),
            Ruling::Allow | Ruling::Ask => (Verdict::Approve, DecidedBy::Person),
        };
        // The wish is for exactly this content, whatever it holds.
        let (shown, stops) = (proposal.change.hash(), proposal.stops());
        Decision { verdict, by, shown, unseen: 0, stops }
    }

    /// Looks up on the disk what became of undos that were cut off, and settles them.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub(super) fn settle_unfinished(&self) -> Result<(), UserError> {
        let unfinished = lock(&self.history).unfinished_undos();
        for (proposal, decision) in unfinished {
            match decision {
                Some(decision) => self.recovery.look_up(&proposal, decision).map(drop)?,
                None => {
                    let by = DecidedBy::Nobody("the program ended".to_owned());
                    let (verdict, shown) = (Verdict::reject(""), proposal.change.hash());
                    let decision = Decision { verdict, by, shown, unseen: 0, stops: 0 };
                    let decided = Event::Proposal(ProposalEvent::Decided {
                        proposal: proposal.id,
                        decision: Box::new(decision.clone()),
                    });
                    self.parts.ledger.record(decided)?;
                    self.execution.settled(&proposal, decision, Outcome::Denied)?;
                }
            }
        }
        Ok(())
    }
}
