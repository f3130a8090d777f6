//! From the desk to the decision: waits for the verdict, and looks again before it counts.
//!
//! While a proposal waits, its file is watched, and so are the session's rules and the rest of its
//! set. Nothing is decided on a file that has changed since the proposal was stated. What a decision
//! allows is carried out elsewhere.

use std::sync::Arc;

use futures::future::try_join_all;

use super::edited::EditedVersions;
use super::examinations::Examinations;
use super::execution::Execution;
use super::feedback::AgentFeedback;
use super::parts::{GateError, GateParts};
use super::proposing::Pending;
use super::queue::{QueueAnswer, Ticket};
use super::restate::{Moved, Restatements};
use super::rulings::{Decider, Rulings};
use super::set_changes::{SetChanges, changed_and_quiet};
use crate::model::{
    Amended, DecidedBy, Decision, Event, Outcome, Proposal, ProposalEvent, Settlement, UserError,
    Verdict,
};

/// Waits for decisions.
pub(super) struct Deciding {
    pub(super) parts: Arc<GateParts>,
    pub(super) examinations: Arc<Examinations>,
    pub(super) rulings: Arc<Rulings>,
    pub(super) versions: Arc<EditedVersions>,
    pub(super) changes: Arc<SetChanges>,
    pub(super) restatements: Restatements,
    pub(super) execution: Arc<Execution>,
    pub(super) feedback: Arc<AgentFeedback>,
}

impl Deciding {
    /// Waits for every verdict and performs what is approved, in the order of the verdicts.
    pub(super) async fn settle_all(
        &self,
        waiting: Vec<(Pending, Decider)>,
    ) -> Result<Vec<Settlement>, GateError> {
        let set: Vec<Proposal> = match waiting.as_slice() {
            [_] => Vec::new(),
            all => all.iter().map(|(pending, _)| pending.proposal.clone()).collect(),
        };
        let settle = |(pending, judge)| self.settle(pending, judge);
        let settled = try_join_all(waiting.into_iter().map(settle)).await?;
        if settled.iter().any(|settled| settled.outcome != Outcome::Applied) {
            let was_made = |proposal: &&Proposal| {
                let mut of_it = settled.iter().filter(|settled| settled.proposal == proposal.id);
                of_it.any(|settled| {
                    settled.outcome == Outcome::Applied
                        && settled.decision.verdict.amended().is_none()
                })
            };
            for proposal in set.iter().filter(was_made) {
                self.tell_what_it_rested_on(proposal)?;
            }
        }
        Ok(settled)
    }

    /// Tells person and agent when a change that was made does not stand up without the others of
    /// its set, which were not.
    fn tell_what_it_rested_on(&self, proposal: &Proposal) -> Result<(), GateError> {
        let Some(path) = proposal.change.path() else { return Ok(()) };
        let Some(found) = self.examinations.rests_on_others(proposal) else { return Ok(()) };
        let notice = UserError::new(
            format!("`{path}` does not stand up alone: it {found}"),
            format!("proposal {} was made with others, which were not carried out", proposal.id),
            "Undo it, or ask for a change that fits.",
        );
        self.feedback.keep_doubt(proposal, &notice);
        Ok(self.parts.warn(notice)?)
    }

    async fn settle(
        &self,
        mut pending: Pending,
        mut judge: Decider,
    ) -> Result<Settlement, GateError> {
        loop {
            let decision = self.decision(&mut pending, judge).await?;
            let by_person = decision.by == DecidedBy::Person;
            // A rule was not shown anything: there the effect itself finds the file changed.
            if by_person
                && decision.verdict.is_approval()
                && let Some(again) = self.too_late(&mut pending)?
            {
                judge = again;
                continue;
            }
            if decision.verdict.is_approval()
                && let Some(ticket) = self.judged_heavier(&mut pending, &decision).await?
            {
                judge = Decider::Desk(ticket);
                continue;
            }
            if by_person && let Some(ticket) = self.passes_over(&pending, &decision).await? {
                judge = Decider::Desk(ticket);
                continue;
            }
            self.rulings.remove_waiting(pending.proposal.id);
            return self.execution.carry_out(pending, decision).await;
        }
    }

    /// The decision on a proposal, once there is one.
    async fn decision(&self, pending: &mut Pending, judge: Decider) -> Result<Decision, GateError> {
        let (verdict, by, unseen, stops) = match judge {
            Decider::Policy(verdict, rule) => {
                self.rulings.note_decided(pending.proposal.id);
                (verdict, DecidedBy::Policy(rule), 0, 0)
            }
            Decider::Nobody(why) => {
                self.rulings.note_decided(pending.proposal.id);
                (Verdict::reject(""), DecidedBy::Nobody(why), 0, 0)
            }
            Decider::Desk(ticket) => match self.wait(pending, ticket).await? {
                QueueAnswer::Verdict { verdict, by, unseen, stops } => (verdict, by, unseen, stops),
                QueueAnswer::Detached => return Err(GateError::Detached),
            },
        };
        let shown = pending.proposal.change.hash();
        Ok(Decision { verdict, by, shown, unseen, stops })
    }

    /// Waits until somebody, or a rule of the session, decides; restates the proposal whenever
    /// its file changes.
    async fn wait(
        &self,
        pending: &mut Pending,
        mut ticket: Ticket,
    ) -> Result<QueueAnswer, GateError> {
        let mut rules = self.rulings.watch_rules();
        let mut looks = self.parts.project_dir.looks();
        let mut set = self.changes.watch();
        loop {
            let judged_at = pending.judged_at;
            tokio::select! {
                biased;
                answer = ticket.wait() => return Ok(answer),
                _ = rules.changed() => {
                    if let Some(answer) = self.ruled(pending) {
                        return Ok(answer);
                    }
                }
                () = looks.next() => self.look(pending, &ticket)?,
                () = changed_and_quiet(&mut set, judged_at) => {
                    if let Some((proposal, event)) = self.judged_again(pending).await?
                        && self.rulings.restate(&ticket, &proposal)
                    {
                        pending.proposal = proposal;
                        self.parts.ledger.record(event)?;
                    }
                }
            }
        }
    }

    /// What the rules say of a waiting proposal now; a damaged one they can only reject.
    fn ruled(&self, pending: &Pending) -> Option<QueueAnswer> {
        let Pending { proposal, content, damage, .. } = pending;
        let waiting = self.rulings.all_waiting();
        let (verdict, rule) = self.rulings.ruling_alone(proposal, content, &waiting)?;
        if damage.is_some() && verdict.is_approval() {
            return None;
        }
        self.rulings.note_decided(proposal.id);
        let by = DecidedBy::Policy(rule);
        Some(QueueAnswer::Verdict { verdict, by, unseen: 0, stops: 0 })
    }

    /// Looks whether the file of a waiting proposal has changed, and states it anew then.
    fn look(&self, pending: &mut Pending, ticket: &Ticket) -> Result<(), GateError> {
        if !self.restatements.has_moved(pending) {
            return Ok(());
        }
        match self.restatements.moved(pending)? {
            Some(Moved::Restated(new, event)) if self.rulings.restate(ticket, &new.proposal) => {
                *pending = *new;
                self.parts.ledger.record(event)?;
            }
            Some(Moved::Void(why)) => ticket.deny(&why),
            Some(Moved::Restated(..)) | None => {}
        }
        Ok(())
    }

    /// The proposal with its checks made again, if others of its set were not carried out as they
    /// were proposed and something else is found now.
    async fn judged_again(
        &self,
        pending: &mut Pending,
    ) -> Result<Option<(Proposal, Event)>, GateError> {
        let judged_at = std::mem::replace(&mut pending.judged_at, self.changes.count());
        if pending.damage.is_some() {
            return Ok(None);
        }
        self.changes.judged_again(&pending.proposal, &pending.content, judged_at).await
    }

    /// Whether the file has changed since what was approved was stated. Then nothing is approved:
    /// the proposal is restated and put on the desk again, or denied.
    fn too_late(&self, pending: &mut Pending) -> Result<Option<Decider>, GateError> {
        if !self.restatements.has_moved(pending) {
            return Ok(None);
        }
        let (new, event) = match self.restatements.moved(pending)? {
            Some(Moved::Restated(new, event)) => (new, event),
            Some(Moved::Void(why)) => return Ok(Some(Decider::Nobody(why))),
            None => return Ok(None),
        };
        *pending = *new;
        let ticket = self.rulings.put_down(&pending.proposal);
        self.parts.ledger.record(event)?;
        let why = "the file has changed on disk since it was shown";
        let fix = "Look at the proposal again; it is now compared with the current file.";
        self.refuse_approval(&pending.proposal, why, fix)?;
        Ok(Some(Decider::Desk(ticket)))
    }

    /// Whether more is found about an approved proposal than the approval names, since others of its
    /// set were not carried out as they were proposed. Then nothing is approved: it is restated
    /// and put on the desk again.
    async fn judged_heavier(
        &self,
        pending: &mut Pending,
        decision: &Decision,
    ) -> Result<Option<Ticket>, GateError> {
        let Some((proposal, event)) = self.judged_again(pending).await? else { return Ok(None) };
        // The person's own version is looked at by itself.
        let is_covered = decision.verdict.amended().is_some()
            || proposal.stops() <= decision.stops && proposal.phrase() == pending.proposal.phrase();
        pending.proposal = proposal;
        if is_covered {
            self.parts.ledger.record(event)?;
            return Ok(None);
        }
        let ticket = self.rulings.put_down(&pending.proposal);
        self.parts.ledger.record(event)?;
        let why = "more was found about it after another change of its set was decided";
        self.refuse_approval(&pending.proposal, why, "Look at its findings again.")?;
        Ok(Some(ticket))
    }

    /// Whether the person's own version holds findings that the decision does not name. Then nothing
    /// is decided: the proposal goes on waiting, and the person is told.
    async fn passes_over(
        &self,
        pending: &Pending,
        decision: &Decision,
    ) -> Result<Option<Ticket>, GateError> {
        let Some(amended) = decision.verdict.amended() else { return Ok(None) };
        let content = self.parts.blobs.blob(&amended.hash)?;
        self.versions.compile_decided(&pending.proposal, &content).await;
        let Some(found) = self.versions.objection(&pending.proposal, &content, decision)? else {
            return Ok(None);
        };
        let ticket = self.rulings.put_down(&pending.proposal);
        let (id, why) = (pending.proposal.id, format!("your version {found}"));
        let (change, checks) = (&pending.proposal.change, &pending.proposal.checks);
        self.parts.ledger.record(Event::Proposal(ProposalEvent::Restated {
            proposal: id,
            change: Box::new(change.clone()),
            checks: checks.clone(),
            why: why.clone(),
        }))?;
        let fix = match decision.verdict {
            Verdict::ApproveAmended { how: Amended::Lines, .. } => {
                "Pick other lines, or open them with `edit`: an edit is approved despite a finding."
            }
            Verdict::Approve
            | Verdict::ApproveConfirmed { .. }
            | Verdict::ApproveAndTell { .. }
            | Verdict::ApproveAmended { how: Amended::Edit, .. }
            | Verdict::Reject { .. } => "Change it, reject it, or approve it despite the finding.",
        };
        self.refuse_approval(&pending.proposal, &why, fix)?;
        Ok(Some(ticket))
    }

    /// Tells the person why an approval does not count.
    fn refuse_approval(&self, proposal: &Proposal, why: &str, fix: &str) -> Result<(), GateError> {
        let what = format!("Cannot accept the approval of proposal {}", proposal.id);
        let notice = UserError::new(what, why, fix);
        Ok(self.parts.warn(notice)?)
    }
}
