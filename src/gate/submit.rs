//! The way of a batch of drafts: proposed, ruled on, decided, performed, settled.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tokio_util::sync::CancellationToken;

use super::approved::{Approved, Flash, Ruled, decide};
use super::desk::{Desk, Queue, Spoken, Ticket};
use super::{checks, effects};
use crate::config::{Policy, Ruling};
use crate::model::{
    AgentName, Batch, BatchId, BlobSource, CallId, Change, DecidedBy, Decision, Draft, DraftChange,
    Event, Ledger, Outcome, Proposal, ProposalId, Settlement, ToolName, TurnId, UserError, Verdict,
};
use crate::toolchain::{FlashOrder, Toolchain};
use crate::workspace::Sandbox;

/// Progress of a flash is recorded at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Where drafts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: CallId,
    /// Who called it.
    pub agent: AgentName,
    /// The tool.
    pub tool: ToolName,
}

/// Why a batch came to no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The program leaves; what was not decided goes on waiting in the journal.
    #[error("the program leaves while proposals wait")]
    Detached,
    /// Something could not be recorded or read back, so nothing that relies on it was done.
    #[error(transparent)]
    Record(#[from] UserError),
}

/// What a gate works with.
#[derive(Clone)]
pub struct GateParts {
    /// Takes facts.
    pub ledger: Arc<dyn Ledger>,
    /// Gives contents back after a restart.
    pub blobs: Arc<dyn BlobSource>,
    /// The project.
    pub sandbox: Arc<Sandbox>,
    /// Flashes.
    pub toolchain: Arc<dyn Toolchain>,
    /// Rules that decide for the person.
    pub policy: Arc<Policy>,
    /// Ends a running flash at once.
    pub cancel: CancellationToken,
}

/// The numbers that come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// For a proposal.
    pub proposal: ProposalId,
    /// For a batch.
    pub batch: BatchId,
}

impl Numbers {
    /// The numbers that follow those of a session's proposals, or the first ones.
    pub fn after<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> Self {
        let (mut proposal, mut batch) = (ProposalId(1), BatchId(1));
        for known in proposals {
            proposal = proposal.max(known.id.next());
            batch = batch.max(known.batch.id.next());
        }
        Self { proposal, batch }
    }
}

/// The one way from a draft to an effect.
pub struct Gate {
    pub(super) parts: GateParts,
    queue: Queue,
    numbers: Mutex<Numbers>,
}

/// A recorded proposal without a decision, and the bytes of its new content.
pub(super) struct Pending {
    pub(super) proposal: Proposal,
    pub(super) content: Vec<u8>,
}

/// Who will speak the verdict.
pub(super) enum Judge {
    Policy(Verdict, String),
    Desk(Ticket),
}

impl Gate {
    /// Opens a gate whose proposals wait on `desk`. The gate does not keep the desk alive.
    #[must_use]
    pub fn new(parts: GateParts, desk: &Desk, numbers: Numbers) -> Self {
        Self { parts, queue: desk.queue(), numbers: Mutex::new(numbers) }
    }

    /// Takes the drafts of one tool call to their end: one settlement for each, in their order.
    /// All are proposed before any is decided; each is performed as soon as it is approved.
    ///
    /// Dropping the future leaves what is undecided waiting in the journal.
    ///
    /// # Errors
    /// The program leaves, or something could not be recorded.
    pub async fn submit(
        &self,
        origin: &Origin,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Settlement>, GateError> {
        let of = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
        let batch = Batch { id: self.next_batch(), index: 1, of };
        let waiting = self.propose(origin, batch, drafts)?;
        self.settle_all(waiting).await
    }

    /// Records drafts as proposals, the first with `batch` and the others counting on from it.
    pub(super) fn propose(
        &self,
        origin: &Origin,
        batch: Batch,
        drafts: Vec<Draft>,
    ) -> Result<Vec<(Pending, Judge)>, GateError> {
        let mut waiting = Vec::with_capacity(drafts.len());
        for (index, draft) in (batch.index..).zip(drafts) {
            let pending = self.prepare(origin, Batch { index, ..batch }, draft)?;
            // On the desk before it can be seen: a quick hand must find it there.
            let judge = self.judge(&pending.proposal);
            self.parts.ledger.record(Event::Proposed(pending.proposal.clone()))?;
            waiting.push((pending, judge));
        }
        Ok(waiting)
    }

    /// Waits for every verdict and performs what is approved, in the order of the verdicts.
    pub(super) async fn settle_all(
        &self,
        waiting: Vec<(Pending, Judge)>,
    ) -> Result<Vec<Settlement>, GateError> {
        try_join_all(waiting.into_iter().map(|(pending, judge)| self.settle(pending, judge))).await
    }

    fn prepare(&self, origin: &Origin, batch: Batch, draft: Draft) -> Result<Pending, GateError> {
        let store = |content: &[u8]| self.parts.ledger.store(content);
        let (change, content) = match draft.change {
            DraftChange::Save { path, base, content } => {
                let base = base.as_deref().map(store).transpose()?;
                (Change::Save { path, base, content: store(&content)? }, content)
            }
            DraftChange::Insert { path, base, content } => {
                let base = store(&base)?;
                (Change::Insert { path, base, content: store(&content)? }, content)
            }
            DraftChange::Delete { path, base } => {
                (Change::Delete { path, base: store(&base)? }, Vec::new())
            }
            DraftChange::Flash(plan) => (Change::Flash(plan), Vec::new()),
        };
        let mut checks = draft.checks;
        checks::complete(&self.parts.sandbox, &change, &mut checks);
        let proposal = Proposal {
            id: self.next_proposal(),
            turn: origin.turn,
            call: origin.call,
            agent: origin.agent.clone(),
            tool: origin.tool.clone(),
            reason: draft.reason,
            batch,
            change,
            checks,
        };
        Ok(Pending { proposal, content })
    }

    /// Finds out who decides. A flash is never approved without a person, save on a simulated
    /// board, and never when it touches what the board boots from: no rule can widen that.
    pub(super) fn judge(&self, proposal: &Proposal) -> Judge {
        let Proposal { id, tool, agent, change, .. } = proposal;
        let (ruling, rule) = self.parts.policy.decide(change.kind(), tool, agent, change.path());
        let needs_person = match change {
            Change::Flash(plan) => plan.touches_boot || !plan.board.simulated,
            Change::Save { .. } | Change::Insert { .. } | Change::Delete { .. } => false,
        };
        match ruling {
            Ruling::Deny => Judge::Policy(Verdict::Reject { reason: String::new() }, rule),
            Ruling::Allow if !needs_person => Judge::Policy(Verdict::Approve, rule),
            Ruling::Allow | Ruling::Ask => Judge::Desk(self.queue.put(*id, change.hash())),
        }
    }

    async fn settle(&self, pending: Pending, judge: Judge) -> Result<Settlement, GateError> {
        let Pending { proposal, content } = pending;
        let (verdict, by, unseen) = match judge {
            Judge::Policy(verdict, rule) => {
                self.queue.note_decided(proposal.id);
                (verdict, DecidedBy::Policy(rule), 0)
            }
            Judge::Desk(ticket) => match ticket.wait().await {
                Spoken::Verdict { verdict, by, unseen } => (verdict, by, unseen),
                Spoken::Detached => return Err(GateError::Detached),
            },
        };
        let decision = Decision { verdict, by, shown: proposal.change.hash(), unseen };
        let ruled = decide(self.parts.ledger.as_ref(), &proposal, &decision, content)?;
        let outcome = self.perform(ruled).await?;
        self.settled(proposal.id, decision, outcome)
    }

    pub(super) fn settled(
        &self,
        proposal: ProposalId,
        decision: Decision,
        outcome: Outcome,
    ) -> Result<Settlement, GateError> {
        self.parts.ledger.record(Event::Settled { proposal, outcome: outcome.clone() })?;
        Ok(Settlement { proposal, decision, outcome })
    }

    async fn perform(&self, ruled: Ruled) -> Result<Outcome, GateError> {
        let sandbox = &self.parts.sandbox;
        Ok(match ruled {
            Ruled::Denied => Outcome::Denied,
            Ruled::Save(approved) => effects::save(&approved, sandbox),
            Ruled::Insert(approved) => effects::insert(&approved, sandbox),
            Ruled::Delete(approved) => effects::delete(&approved, sandbox),
            Ruled::Flash(approved) => self.flash(&approved).await?,
        })
    }

    async fn flash(&self, approved: &Approved<Flash>) -> Result<Outcome, GateError> {
        let cancel = self.parts.cancel.child_token();
        // When whoever waits here goes away, the flash must not go on unseen.
        let _ended = cancel.clone().drop_guard();
        let progress = self.progress(approved.proposal());
        let toolchain = self.parts.toolchain.as_ref();
        let flashed = effects::flash(approved, toolchain, |flash| FlashOrder {
            project: self.parts.sandbox.root().to_owned(),
            plan: flash.plan.clone(),
            progress,
            cancel,
        });
        match flashed.await {
            Ok(board) => {
                self.parts.ledger.record(Event::BoardConnected(board))?;
                Ok(Outcome::Applied)
            }
            Err(error) => Ok(Outcome::Failed(error)),
        }
    }

    fn progress(&self, proposal: ProposalId) -> Arc<dyn Fn(u64, u64) + Send + Sync> {
        let ledger = Arc::clone(&self.parts.ledger);
        let last: Mutex<Option<Instant>> = Mutex::new(None);
        Arc::new(move |done, total| {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let due = last.is_none_or(|last| last.elapsed() >= PROGRESS_EVERY);
            if due || done >= total {
                *last = Some(Instant::now());
                // Progress is for the eye; the outcome is what must not be lost.
                let _ = ledger.record(Event::FlashProgress { proposal, done, total });
            }
        })
    }

    pub(super) fn next_batch(&self) -> BatchId {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = numbers.batch;
        numbers.batch = batch.next();
        batch
    }

    fn next_proposal(&self) -> ProposalId {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let proposal = numbers.proposal;
        numbers.proposal = proposal.next();
        proposal
    }
}
