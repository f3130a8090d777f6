//! Carries a decision out: records it, performs what it allows, records what came of it.
//!
//! The only caller of `decide`, from which every proof of approval comes. Must not decide anything.

use std::sync::{Arc, Mutex};

use super::approved::{Ruled, SyncPending, decide};
use super::boards::Boards;
use super::edited::EditedVersions;
use super::effects::{self, EffectResult, StagedFile};
use super::examinations::Examinations;
use super::feedback::AgentFeedback;
use super::history::ChangeHistory;
use super::parts::{GateError, GateParts, lock};
use super::proposing::Pending;
use super::set_changes::SetChanges;
use crate::model::{Decision, Event, Outcome, Proposal, ProposalEvent, Settlement, UserError};

/// Carries decisions out.
pub(super) struct Execution {
    pub(super) parts: Arc<GateParts>,
    pub(super) examinations: Arc<Examinations>,
    pub(super) versions: Arc<EditedVersions>,
    pub(super) changes: Arc<SetChanges>,
    pub(super) boards: Arc<Boards>,
    pub(super) feedback: Arc<AgentFeedback>,
    pub(super) history: Arc<Mutex<ChangeHistory>>,
}

impl Execution {
    /// Brings a decided proposal to its outcome.
    pub(super) async fn carry_out(
        &self,
        pending: Pending,
        decision: Decision,
    ) -> Result<Settlement, GateError> {
        let Pending { proposal, content, .. } = pending;
        let written = match decision.verdict.amended() {
            Some(amended) => self.parts.blobs.blob(&amended.hash)?.to_vec(),
            None => content,
        };
        let (ruled, staged) = self.decide(&proposal, &decision, written)?;
        let done = match ruled {
            Ruled::Flash(approved) => self.boards.flash_approved(&approved).await?.into(),
            Ruled::Erase(approved) => self.boards.erase(&approved).await?.into(),
            Ruled::Send(approved) => self.boards.send(&approved).await.into(),
            Ruled::Read(approved) => self.boards.read_back(&approved).await,
            Ruled::Nvs(approved) => self.boards.edit_nvs(&approved).await?.into(),
            Ruled::Denied | Ruled::Save(_) | Ruled::Insert(_) | Ruled::Delete(_) => {
                self.perform_on_files(ruled, staged)
            }
        };
        self.done(&proposal, decision, done)
    }

    /// As [`Self::carry_out`] for what is no change of a board, at once.
    pub(super) fn carry_out_on_files(
        &self,
        pending: Pending,
        decision: Decision,
    ) -> Result<Settlement, GateError> {
        let Pending { proposal, content, .. } = pending;
        let (ruled, staged) = self.decide(&proposal, &decision, content)?;
        let done = self.perform_on_files(ruled, staged);
        self.done(&proposal, decision, done)
    }

    /// Records the decision, and stages what it approves meanwhile.
    fn decide(
        &self,
        proposal: &Proposal,
        decision: &Decision,
        content: Vec<u8>,
    ) -> Result<(Ruled, Option<StagedFile>), UserError> {
        let mut staged = None;
        let project_dir = &self.parts.project_dir;
        let mut stage = |pending: &SyncPending<'_>| staged = effects::stage(pending, project_dir);
        let edited = match decision.verdict.amended() {
            Some(_) => Some(self.versions.with_content(proposal, &content)?),
            None => None,
        };
        let of = (proposal, edited.as_ref().unwrap_or(proposal));
        let ruled = decide(self.parts.ledger.as_ref(), of, decision, content, &mut stage)?;
        let written = decision.written(&proposal.change).map(|blob| blob.hash);
        if let (Some(after), Some(path)) = (proposal.change.after(), proposal.change.path())
            && written != Some(after.hash)
        {
            // An approval of the same proposal that did not get to the disk may have left it. Where
            // the folder is out of reach, the next start of the program finds it.
            let _ = effects::tidy(project_dir, proposal.id, path, None, Some(after.hash));
        }
        Ok((ruled, staged))
    }

    /// Performs what changes files; what is done to a board takes its time and goes another way.
    fn perform_on_files(&self, ruled: Ruled, staged: Option<StagedFile>) -> EffectResult {
        let project_dir = &self.parts.project_dir;
        match ruled {
            Ruled::Denied
            | Ruled::Flash(_)
            | Ruled::Erase(_)
            | Ruled::Send(_)
            | Ruled::Read(_)
            | Ruled::Nvs(_) => Outcome::Denied.into(),
            Ruled::Save(approved) => effects::save(&approved, staged, project_dir),
            Ruled::Insert(approved) => effects::insert(&approved, staged, project_dir),
            Ruled::Delete(approved) => effects::delete(&approved, project_dir),
        }
    }

    /// Records what came of a decided proposal, and tells person and agent what is uncertain.
    pub(super) fn done(
        &self,
        proposal: &Proposal,
        decision: Decision,
        done: EffectResult,
    ) -> Result<Settlement, GateError> {
        let settlement = self.settled(proposal, decision, done.outcome)?;
        if let Some(notice) = done.doubt {
            self.feedback.keep_doubt(proposal, &notice);
            self.parts.warn(notice)?;
        }
        Ok(settlement)
    }

    /// Records what came of a decided proposal.
    pub(super) fn settled(
        &self,
        proposal: &Proposal,
        decision: Decision,
        outcome: Outcome,
    ) -> Result<Settlement, GateError> {
        let id = proposal.id;
        let event =
            Event::Proposal(ProposalEvent::Settled { proposal: id, outcome: outcome.clone() });
        self.examinations.observe(&event);
        self.parts.ledger.record(event)?;
        if outcome != Outcome::Applied || decision.verdict.amended().is_some() {
            self.changes.note(proposal);
        }
        lock(&self.history).settled(proposal, &decision, &outcome);
        self.feedback.keep(proposal, &decision);
        Ok(Settlement { proposal: id, decision, outcome })
    }
}
