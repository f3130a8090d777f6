//! Makes proposals of drafts: stores their contents, looks at them, numbers and records them.
//!
//! Owns the numbers that come next. Must not decide anything.

use std::sync::{Arc, Mutex};
use std::thread;

use super::compare::compared;
use super::examinations::Examinations;
use super::examine::{self, Examined, Stated};
use super::folder::Identity;
use super::parts::{GateError, GateParts, NextNumbers, ProposalOrigin, lock};
use super::rulings::{Decider, Rulings};
use super::set_changes::{SetChanges, SetCount};
use crate::model::{Batch, Check, Draft, Event, Facts, Proposal, ProposalEvent};

/// A recorded proposal without a decision, and the bytes of its new content.
pub(super) struct Pending {
    pub(super) proposal: Proposal,
    pub(super) content: Vec<u8>,
    /// The file's entry when its content was last looked at.
    pub(super) seen: Option<Option<Identity>>,
    /// Why its contents cannot be read; then it can only be rejected.
    pub(super) damage: Option<String>,
    /// What had become of the other proposals when its checks were made.
    pub(super) judged_at: SetCount,
}

/// A draft whose contents are stored.
struct Stored {
    stated: Stated,
    reason: String,
    checks: Vec<Check>,
}

/// Makes proposals of drafts.
pub(super) struct Proposing {
    parts: Arc<GateParts>,
    examinations: Arc<Examinations>,
    rulings: Arc<Rulings>,
    changes: Arc<SetChanges>,
    numbers: Mutex<NextNumbers>,
}

impl Proposing {
    pub(super) fn new(
        parts: &Arc<GateParts>,
        examinations: &Arc<Examinations>,
        (rulings, changes): (&Arc<Rulings>, &Arc<SetChanges>),
        numbers: NextNumbers,
    ) -> Self {
        Self {
            parts: Arc::clone(parts),
            examinations: Arc::clone(examinations),
            rulings: Arc::clone(rulings),
            changes: Arc::clone(changes),
            numbers: Mutex::new(numbers),
        }
    }

    /// A new batch of `drafts` proposals, at its first.
    pub(super) fn new_batch(&self, drafts: usize) -> Batch {
        let of = u32::try_from(drafts).unwrap_or(u32::MAX);
        Batch { id: lock(&self.numbers).take_batch(), index: 1, of }
    }

    /// Records drafts as proposals, the first with `batch` and the others counting on from it.
    pub(super) async fn propose(
        &self,
        origin: &ProposalOrigin,
        batch: Batch,
        mut drafts: Vec<Draft>,
    ) -> Result<Vec<(Pending, Decider)>, GateError> {
        let compiled = self.examinations.compiler().drafts(&drafts).await;
        let mut known = Vec::with_capacity(drafts.len());
        for draft in &mut drafts {
            known.push(compared(&self.parts, draft).await);
        }
        let stored = drafts.into_iter().map(|draft| self.stored(draft));
        let stored = stored.collect::<Result<Vec<_>, _>>()?;
        let mut pending: Vec<Pending> = thread::scope(|scope| {
            // The contents go to the disk while they are looked at. Without a thread the first
            // record waits for them.
            let ledger = &self.parts.ledger;
            let _ = thread::Builder::new().spawn_scoped(scope, || ledger.sync_contents());
            let placed = (batch.index..).map(|index| Batch { index, ..batch });
            let each = stored.into_iter().zip(placed).zip(known);
            each.map(|((stored, place), facts)| self.look_at(origin, place, stored, facts))
                .collect()
        });
        for (pending, compiled) in pending.iter_mut().zip(compiled) {
            super::syntax::add_word(&mut pending.proposal.checks, compiled, &pending.content);
        }
        let all: Vec<Proposal> = pending.iter().map(|pending| pending.proposal.clone()).collect();
        let mut waiting = Vec::with_capacity(pending.len());
        for mut pending in pending {
            pending.proposal.facts.held_rule = self.rulings.held_rule(&pending.proposal);
            // On the desk before it can be seen: a quick hand must find it there.
            let judge = self.rulings.judge(&pending.proposal, &pending.content, &all);
            let event = Event::Proposal(ProposalEvent::Made(Box::new(pending.proposal.clone())));
            self.examinations.observe(&event);
            self.parts.ledger.record(event)?;
            waiting.push((pending, judge));
        }
        Ok(waiting)
    }

    /// Stores the contents of a draft, looks at it, and gives it its number. Records nothing.
    pub(super) fn prepare(
        &self,
        origin: &ProposalOrigin,
        batch: Batch,
        draft: Draft,
        facts: Facts,
    ) -> Result<Pending, GateError> {
        Ok(self.look_at(origin, batch, self.stored(draft)?, facts))
    }

    /// Stores the contents of a draft.
    fn stored(&self, draft: Draft) -> Result<Stored, GateError> {
        let store = |content: &[u8]| self.parts.ledger.store(content);
        let Draft { change, reason, checks } = draft;
        let stated = examine::state(change, store)?;
        self.examinations.note_content(&stated.change, &stated.content);
        Ok(Stored { stated, reason, checks })
    }

    /// Looks at a stored draft, and gives it its number.
    fn look_at(
        &self,
        origin: &ProposalOrigin,
        batch: Batch,
        stored: Stored,
        facts: Facts,
    ) -> Pending {
        let Stored { stated: Stated { change, base, content }, reason, checks } = stored;
        let versions = (&change, base.as_deref(), content.as_slice());
        let Examined { checks, facts } = self.examinations.examine(versions, checks, facts);
        let proposal = Proposal {
            id: lock(&self.numbers).take_proposal(),
            turn: origin.turn,
            call: origin.call,
            agent: origin.agent.clone(),
            tool: origin.tool.clone(),
            reason,
            batch,
            change,
            checks,
            facts,
        };
        let judged_at = self.changes.count();
        Pending { proposal, content, seen: None, damage: None, judged_at }
    }
}
