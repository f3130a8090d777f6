//! Takes a tool call up again that the last run of the program left unanswered.
//!
//! Nothing that was decided is decided anew, and nothing that may have happened is done twice.

use std::sync::Arc;

use super::deciding::Deciding;
use super::effects;
use super::examinations::Examinations;
use super::execution::Execution;
use super::feedback::AgentFeedback;
use super::folder::{PlaceError, look};
use super::parts::{GateError, GateParts, ProposalOrigin};
use super::proposing::{Pending, Proposing};
use super::rulings::{Decider, Rulings};
use super::set_changes::SetChanges;
use crate::model::{
    Batch, BoardInfo, Change, Check, CheckKind, ContentHash, Decision, Draft, Event, Finding,
    FindingLevel, Outcome, ProjectPath, Proposal, ProposalEvent, ProposalId, Settlement,
};

/// A proposal of that call as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The proposal as it was stated last.
    pub proposal: Proposal,
    /// What it was about when it was made, if it was restated since.
    pub made: Option<Change>,
    /// How it was decided; `None` while it waits.
    pub decision: Option<Decision>,
    /// What came of it; `None` while it waits, or when the program ended before it was known.
    pub outcome: Option<Outcome>,
}

impl Recorded {
    /// The proposal as it was made.
    #[must_use]
    pub fn as_made(&self) -> Proposal {
        let mut proposal = self.proposal.clone();
        if let Some(made) = &self.made {
            proposal.change = made.clone();
        }
        proposal
    }
}

/// Takes up what the last run of the program left.
pub(super) struct Recovery {
    pub(super) parts: Arc<GateParts>,
    pub(super) examinations: Arc<Examinations>,
    pub(super) rulings: Arc<Rulings>,
    pub(super) changes: Arc<SetChanges>,
    pub(super) proposing: Arc<Proposing>,
    pub(super) deciding: Arc<Deciding>,
    pub(super) execution: Arc<Execution>,
    pub(super) feedback: Arc<AgentFeedback>,
}

impl Recovery {
    /// Brings a call to its end some of whose drafts are proposals already. `recorded` and `drafts`
    /// are matched by position.
    pub(super) async fn resubmit(
        &self,
        origin: &ProposalOrigin,
        mut recorded: Vec<Recorded>,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Settlement>, GateError> {
        recorded.sort_by_key(|recorded| recorded.proposal.batch.index);
        let missing: Vec<Draft> = drafts.into_iter().skip(recorded.len()).collect();
        let batch = recorded.last().map(|last| last.proposal.batch);
        let mut settled = Vec::new();
        let mut waiting = Vec::new();
        for Recorded { proposal, decision, outcome, .. } in recorded {
            match (decision, outcome) {
                (Some(decision), Some(outcome)) => {
                    self.feedback.keep(&proposal, &decision);
                    settled.push(Settlement { proposal: proposal.id, decision, outcome });
                }
                (Some(decision), None) => settled.push(self.look_up(&proposal, decision)?),
                (None, _) => waiting.push(self.put_back(proposal)?),
            }
        }
        if !missing.is_empty() {
            let batch = match batch {
                Some(last) => Batch { index: last.index.saturating_add(1), ..last },
                None => self.proposing.new_batch(missing.len()),
            };
            waiting.extend(self.proposing.propose(origin, batch, missing).await?);
        }
        settled.extend(self.deciding.settle_all(waiting).await?);
        // Numbers rise with the position in the batch.
        settled.sort_by_key(|settlement| settlement.proposal);
        Ok(settled)
    }

    fn put_back(&self, mut proposal: Proposal) -> Result<(Pending, Decider), GateError> {
        if let (Some(after), Some(path)) = (proposal.change.after(), proposal.change.path()) {
            // An approval whose record did not get to the disk may have left it. The folder may be
            // out of reach by now; then the effect says so.
            let base = proposal.change.before().map(|blob| blob.hash);
            let to = Some(after.hash);
            let _ = effects::tidy(&self.parts.project_dir, proposal.id, path, base, to);
        }
        let (content, damage) = match self.content_of(&proposal.change) {
            Ok(content) => (content, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let reported =
            proposal.checks.iter().find(|check| check.kind == CheckKind::Stored).cloned();
        proposal.checks.retain(|check| check.kind != CheckKind::Stored);
        let ruling = damage.as_ref().and_then(|_| self.rulings.ruling(&proposal));
        let found = damage.clone().map(|why| {
            let finding = Finding::new(FindingLevel::Stop, why);
            Check::with(CheckKind::Stored, vec![finding.advice("Reject it.")])
        });
        let is_reported = reported == found;
        proposal.checks.splice(0..0, found);
        let judge = match damage.clone() {
            None => self.rulings.judge(&proposal, &content, &self.rulings.all_waiting()),
            Some(why) => self.rulings.judge_damaged(&proposal, ruling, why),
        };
        self.examinations.note_content(&proposal.change, &content);
        let judged_at = self.changes.count();
        let pending = Pending { proposal, content, seen: None, damage, judged_at };
        if !is_reported {
            self.tell_damage(&pending)?;
        }
        Ok((pending, judge))
    }

    /// Tells, on the proposal itself, that its contents cannot be read, or can be read again.
    fn tell_damage(&self, pending: &Pending) -> Result<(), GateError> {
        let Proposal { id, change, checks, .. } = pending.proposal.clone();
        let why = match &pending.damage {
            Some(why) => format!("{why}; it can only be rejected"),
            None => "its contents can be read again".to_owned(),
        };
        let change = Box::new(change);
        self.parts.ledger.record(Event::Proposal(ProposalEvent::Restated {
            proposal: id,
            change,
            checks,
            why,
        }))?;
        Ok(())
    }

    /// The new content of a change; empty for one that has none. Why it, or the one it replaces,
    /// cannot be shown any more: a power cut or a damaged disk may have taken either.
    fn content_of(&self, change: &Change) -> Result<Vec<u8>, String> {
        let blobs = &self.parts.blobs;
        if let Some(before) = change.before()
            && let Err(error) = blobs.blob(&before.hash)
        {
            // The file itself may still hold it.
            let disk = change.path().map(|path| self.parts.project_dir.read_if_there(path));
            let same = |disk: &Vec<u8>| ContentHash::of(disk) == before.hash;
            let kept = disk.and_then(Result::ok).flatten().filter(same);
            let is_kept = kept.is_some_and(|disk| self.parts.ledger.store(&disk).is_ok());
            if !is_kept {
                return Err(format!("what the file held is lost: {}", error.why));
            }
        }
        match change.after().map(|after| blobs.blob(&after.hash)) {
            Some(Ok(content)) => Ok(content.to_vec()),
            Some(Err(error)) => Err(format!("its new content is lost: {}", error.why)),
            None => Ok(Vec::new()),
        }
    }

    /// Finds out what became of a decided proposal that has no outcome, and records it.
    pub(super) fn look_up(
        &self,
        proposal: &Proposal,
        decision: Decision,
    ) -> Result<Settlement, GateError> {
        let result = match decision.verdict.is_approval() {
            false => Outcome::Denied.into(),
            true => {
                let outcome = self.verify(proposal, &decision);
                match proposal.change.path() {
                    Some(path) => effects::lasting(outcome, &self.parts.project_dir, path),
                    None => outcome.into(),
                }
            }
        };
        self.execution.done(proposal, decision, result)
    }

    /// Tells from the disk what became of an approved change.
    fn verify(&self, proposal: &Proposal, decision: &Decision) -> Outcome {
        let path = match &proposal.change {
            Change::Save { path, .. }
            | Change::Insert { path, .. }
            | Change::Delete { path, .. } => path,
            Change::Flash(plan) => return unknown("flash", &plan.board),
            Change::Erase(plan) => return unknown("erasing", &plan.board),
            Change::Nvs(plan) => return unknown("change of its settings", &plan.board),
            Change::Read(plan) => return self.verify_read(proposal.id, &plan.path),
            Change::Send(plan) => {
                return Outcome::Interrupted(format!(
                    "The program ended while it sent; whether {} got it is unknown.",
                    plan.board.label
                ));
            }
        };
        let before = proposal.change.before().map(|blob| blob.hash);
        let after = decision.written(&proposal.change).map(|blob| blob.hash);
        if let Err(error) = effects::tidy(&self.parts.project_dir, proposal.id, path, before, after)
        {
            return Outcome::Failed(error.tell("verify", path));
        }
        let found = look(&self.parts.project_dir, path).map(|found| found.map(|found| found.hash));
        judge_disk(path, before, after, found)
    }

    /// A file that was not there and now is can only be what was read: it is put there whole.
    fn verify_read(&self, id: ProposalId, path: &ProjectPath) -> Outcome {
        let tidy = effects::tidy(&self.parts.project_dir, id, path, None, Some(effects::UNKNOWN));
        match tidy.and_then(|()| look(&self.parts.project_dir, path)) {
            Ok(Some(_)) => Outcome::Applied,
            Ok(None) => Outcome::Interrupted(format!(
                "The program ended while the flash was read; `{path}` was not written."
            )),
            Err(error) => Outcome::Failed(error.tell("verify", path)),
        }
    }
}

fn unknown(act: &str, board: &BoardInfo) -> Outcome {
    let label = &board.label;
    Outcome::Interrupted(format!(
        "The program ended during the {act}; what {label} holds now is unknown."
    ))
}

fn judge_disk(
    path: &ProjectPath,
    before: Option<ContentHash>,
    after: Option<ContentHash>,
    found: Result<Option<ContentHash>, PlaceError>,
) -> Outcome {
    match found {
        Ok(found) if found == after => Outcome::Applied,
        Ok(found) if found == before => Outcome::Interrupted(format!(
            "The program ended before `{path}` was changed; it is as it was before."
        )),
        Ok(found) => Outcome::Stale { found },
        Err(error) => Outcome::Failed(error.tell("verify", path)),
    }
}
