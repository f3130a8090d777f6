//! From the desk to the outcome: waits for the verdict, records it, performs what it allows.
//!
//! While a proposal waits, its file is watched and the session's rules are heard. Nothing is
//! decided on a file that has changed since the proposal was stated.

use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::sync::watch;

use super::approved::{Ruled, SyncPending, decide};
use super::effects::{self, EffectResult, StagedFile};
use super::feedback::{Versions, feedback};
use super::queue::{DecisionTerms, QueueAnswer, Ticket};
use super::restate::Moved;
use super::submit::{Gate, GateError, Judge, Pending, SetChanges};
use crate::model::event::Level;
use crate::model::{
    Amended, DecidedBy, Decision, Event, Outcome, PersonEvent, Proposal, ProposalEvent, Settlement,
    UserError, Verdict,
};

/// How long nothing more of a set is decided before the rest is judged again.
const QUIET: Duration = Duration::from_millis(150);

impl Gate {
    /// Waits for every verdict and performs what is approved, in the order of the verdicts.
    pub(super) async fn settle_all(
        &self,
        waiting: Vec<(Pending, Judge)>,
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
        let Some(found) = self.rests_on_others(proposal) else { return Ok(()) };
        let notice = UserError::new(
            format!("`{path}` does not stand up alone: it {found}"),
            format!("proposal {} was made with others, which were not carried out", proposal.id),
            "Undo it, or ask for a change that fits.",
        );
        self.keep_doubt(proposal, &notice);
        self.parts
            .ledger
            .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
        Ok(())
    }

    async fn settle(
        &self,
        mut pending: Pending,
        mut judge: Judge,
    ) -> Result<Settlement, GateError> {
        loop {
            let (decision, by_person) = match judge {
                Judge::Policy(verdict, rule) => {
                    self.note_decided(pending.proposal.id);
                    let shown = pending.proposal.change.hash();
                    (
                        Decision {
                            verdict,
                            by: DecidedBy::Policy(rule),
                            shown,
                            unseen: 0,
                            stops: 0,
                        },
                        false,
                    )
                }
                Judge::Nobody(why) => {
                    self.note_decided(pending.proposal.id);
                    let shown = pending.proposal.change.hash();
                    let (verdict, by) = (Verdict::reject(""), DecidedBy::Nobody(why));
                    (Decision { verdict, by, shown, unseen: 0, stops: 0 }, false)
                }
                Judge::Desk(ticket) => match self.hear(&mut pending, ticket).await? {
                    QueueAnswer::Verdict { verdict, by, unseen, stops } => {
                        let shown = pending.proposal.change.hash();
                        let by_person = by == DecidedBy::Person;
                        (Decision { verdict, by, shown, unseen, stops }, by_person)
                    }
                    QueueAnswer::Detached => return Err(GateError::Detached),
                },
            };
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
                judge = Judge::Desk(ticket);
                continue;
            }
            if by_person && let Some(ticket) = self.passes_over(&pending, &decision).await? {
                judge = Judge::Desk(ticket);
                continue;
            }
            return self.carry_out(pending, decision).await;
        }
    }

    /// Waits until somebody, or a rule of the session, decides; states the proposal anew whenever
    /// its file changes.
    async fn hear(
        &self,
        pending: &mut Pending,
        mut ticket: Ticket,
    ) -> Result<QueueAnswer, GateError> {
        let mut rules = self.watch_rules();
        let mut looks = self.parts.sandbox.looks();
        let mut set = self.watch_set();
        loop {
            let judged_at = pending.judged_at;
            tokio::select! {
                biased;
                spoken = ticket.wait() => return Ok(spoken),
                _ = rules.changed() => {
                    if let Some((verdict, rule)) =
                        self.ruling_alone(
                            &pending.proposal,
                            &pending.content,
                            &self.all_waiting(),
                        )
                        && (pending.damage.is_none() || !verdict.is_approval())
                    {
                        self.note_decided(pending.proposal.id);
                        let by = DecidedBy::Policy(rule);
                        return Ok(QueueAnswer::Verdict { verdict, by, unseen: 0, stops: 0 });
                    }
                }
                () = looks.next() => {
                    match self.has_moved(pending).then(|| self.moved(pending)).transpose()?.flatten() {
                        Some(Moved::Restated(new, event))
                            if ticket.restate(DecisionTerms::of(&new.proposal)) =>
                        {
                            *pending = *new;
                            self.stated(&pending.proposal);
                            self.parts.ledger.record(event)?;
                        }
                        Some(Moved::Void(why)) => ticket.deny(&why),
                        Some(Moved::Restated(..)) | None => {}
                    }
                }
                () = changed_and_quiet(&mut set, judged_at) => {
                    if let Some((new, event)) = self.judged_again(pending).await?
                        && ticket.restate(DecisionTerms::of(&new.proposal))
                    {
                        *pending = new;
                        self.stated(&pending.proposal);
                        self.parts.ledger.record(event)?;
                    }
                }
            }
        }
    }

    /// Whether the file has changed since what was approved was stated. Then nothing is approved:
    /// the proposal is stated anew and put on the desk again, or denied.
    fn too_late(&self, pending: &mut Pending) -> Result<Option<Judge>, GateError> {
        if !self.has_moved(pending) {
            return Ok(None);
        }
        let (new, event) = match self.moved(pending)? {
            Some(Moved::Restated(new, event)) => (new, event),
            Some(Moved::Void(why)) => return Ok(Some(Judge::Nobody(why))),
            None => return Ok(None),
        };
        *pending = *new;
        let ticket = self.put_down(&pending.proposal);
        self.parts.ledger.record(event)?;
        let notice = UserError::new(
            format!("Cannot accept the approval of proposal {}", pending.proposal.id),
            "the file has changed on disk since it was shown",
            "Look at the proposal again; it is now compared with the current file.",
        );
        self.parts
            .ledger
            .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
        Ok(Some(Judge::Desk(ticket)))
    }

    /// Whether more is found about an approved proposal than the approval names, since others of its
    /// set were not carried out as they were proposed. Then nothing is approved: it is stated anew
    /// and put on the desk again.
    async fn judged_heavier(
        &self,
        pending: &mut Pending,
        decision: &Decision,
    ) -> Result<Option<Ticket>, GateError> {
        let Some((new, event)) = self.judged_again(pending).await? else { return Ok(None) };
        let is_covered = new.proposal.stops() <= decision.stops
            && new.proposal.phrase() == pending.proposal.phrase();
        *pending = new;
        if is_covered {
            self.parts.ledger.record(event)?;
            return Ok(None);
        }
        let ticket = self.put_down(&pending.proposal);
        self.parts.ledger.record(event)?;
        let notice = UserError::new(
            format!("Cannot accept the approval of proposal {}", pending.proposal.id),
            "more was found about it after another change of its set was decided",
            "Look at its findings again.",
        );
        self.parts
            .ledger
            .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
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
        self.compile_decided(&pending.proposal, &content).await;
        let Some(found) = self.objection(&pending.proposal, &content, decision)? else {
            return Ok(None);
        };
        let ticket = self.put_down(&pending.proposal);
        let (id, why) = (pending.proposal.id, format!("your version {found}"));
        let (change, checks) = (&pending.proposal.change, &pending.proposal.checks);
        self.parts.ledger.record(Event::Proposal(ProposalEvent::Restated {
            proposal: id,
            change: Box::new(change.clone()),
            checks: checks.clone(),
            why: why.clone(),
        }))?;
        let what = format!("Cannot accept the approval of proposal {id}");
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
        let notice = UserError::new(what, why, fix);
        self.parts
            .ledger
            .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
        Ok(Some(ticket))
    }

    async fn carry_out(
        &self,
        pending: Pending,
        decision: Decision,
    ) -> Result<Settlement, GateError> {
        let Pending { proposal, content, .. } = pending;
        self.taken(proposal.id);
        let written = match decision.verdict.amended() {
            Some(amended) => self.parts.blobs.blob(&amended.hash)?.to_vec(),
            None => content,
        };
        let (ruled, laid) = self.decide(&proposal, &decision, written)?;
        let done = match ruled {
            Ruled::Flash(approved) => self.flash(&approved).await?.into(),
            Ruled::Erase(approved) => self.erase(&approved).await?.into(),
            Ruled::Send(approved) => self.send(&approved).await.into(),
            Ruled::Read(approved) => self.read_back(&approved).await,
            Ruled::Nvs(approved) => self.edit_nvs(&approved).await?.into(),
            Ruled::Denied | Ruled::Save(_) | Ruled::Insert(_) | Ruled::Delete(_) => {
                self.perform_on_files(ruled, laid)
            }
        };
        self.done(&proposal, decision, done)
    }

    /// Records the decision, and lays what it approves ready meanwhile.
    pub(super) fn decide(
        &self,
        proposal: &Proposal,
        decision: &Decision,
        content: Vec<u8>,
    ) -> Result<(Ruled, Option<StagedFile>), UserError> {
        let mut laid = None;
        let mut lay = |granted: &SyncPending<'_>| laid = effects::lay(granted, &self.parts.sandbox);
        let edited = match decision.verdict.amended() {
            Some(_) => Some(self.with_content(proposal, &content)?),
            None => None,
        };
        let of = (proposal, edited.as_ref().unwrap_or(proposal));
        let ruled = decide(self.parts.ledger.as_ref(), of, decision, content, &mut lay)?;
        Ok((ruled, laid))
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
            self.keep_doubt(proposal, &notice);
            self.parts
                .ledger
                .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
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
        self.observe(&event);
        self.parts.ledger.record(event)?;
        if outcome != Outcome::Applied || decision.verdict.amended().is_some() {
            self.note_set_change(proposal);
        }
        self.history().settled(proposal, &decision, &outcome);
        self.tell(proposal, &decision);
        Ok(Settlement { proposal: id, decision, outcome })
    }

    /// Makes what the agent is told beside the outcome.
    pub(super) fn tell(&self, proposal: &Proposal, decision: &Decision) {
        if decision.verdict.amended().is_none()
            && decision.verdict.words().is_empty()
            && decision.verdict.comments().is_empty()
        {
            return;
        }
        // What is lost of a session does not keep the rest from being told.
        let read = |blob: Option<crate::model::BlobRef>| -> Arc<[u8]> {
            let content = blob.and_then(|blob| self.parts.blobs.blob(&blob.hash).ok());
            content.unwrap_or_else(|| Arc::from([]))
        };
        let (base, proposed) = (read(proposal.change.before()), read(proposal.change.after()));
        let written = read(decision.verdict.amended().or(proposal.change.after()));
        let versions = Versions { base: &base, proposed: &proposed, written: &written };
        self.keep_feedback(proposal.id, feedback(proposal, decision, &versions));
    }

    /// Performs what changes files; what is done to a board takes its time and goes another way.
    pub(super) fn perform_on_files(&self, ruled: Ruled, laid: Option<StagedFile>) -> EffectResult {
        let sandbox = &self.parts.sandbox;
        match ruled {
            Ruled::Denied
            | Ruled::Flash(_)
            | Ruled::Erase(_)
            | Ruled::Send(_)
            | Ruled::Read(_)
            | Ruled::Nvs(_) => Outcome::Denied.into(),
            Ruled::Save(approved) => effects::save(&approved, laid, sandbox),
            Ruled::Insert(approved) => effects::insert(&approved, laid, sandbox),
            Ruled::Delete(approved) => effects::delete(&approved, sandbox),
        }
    }
}

/// Resolves when proposals were not carried out as proposed since `judged_at`, and no more of them
/// for a while. Safe to drop and call again.
async fn changed_and_quiet(set: &mut watch::Receiver<SetChanges>, judged_at: SetChanges) {
    loop {
        let is_judged = *set.borrow_and_update() == judged_at;
        let next = match is_judged {
            true => set.changed().await,
            false => match tokio::time::timeout(QUIET, set.changed()).await {
                Ok(next) => next,
                Err(_) => return,
            },
        };
        if next.is_err() {
            // The gate is gone.
            return std::future::pending().await;
        }
    }
}
