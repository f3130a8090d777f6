//! Who decides a proposal: the rules of the configuration, those of the session, or the person at the
//! desk.
//!
//! Owns the rules of the session and what waits for the person. Must not record a decision, nor carry
//! one out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::examinations::Examinations;
use super::parts::{GateParts, lock};
use super::queue::{ApprovalQueue, DecisionTerms, Queue, Ticket};
use super::session_rules::SessionRules;
use crate::config::Ruling;
use crate::model::{
    Event, Proposal, ProposalEvent, ProposalId, Record, RuleId, RuleSays, SessionRule, UserError,
    Verdict,
};

/// Who decides a proposal.
pub(super) enum Decider {
    /// A rule has.
    Policy(Verdict, String),
    /// Nobody can: it is denied for this reason.
    Nobody(String),
    /// The person will.
    Desk(Ticket),
}

/// Finds out who decides, and keeps what waits for the person.
pub(super) struct Rulings {
    parts: Arc<GateParts>,
    examinations: Arc<Examinations>,
    queue: Queue,
    rules: Mutex<SessionRules>,
    /// A rule of the session was made or ended.
    rule_changes: watch::Sender<()>,
    /// What waits for the person, as it was stated last.
    waiting: Mutex<BTreeMap<ProposalId, Proposal>>,
}

impl Rulings {
    /// Does not keep the desk alive.
    pub(super) fn new(
        parts: &Arc<GateParts>,
        examinations: &Arc<Examinations>,
        desk: &ApprovalQueue,
    ) -> Self {
        Self {
            parts: Arc::clone(parts),
            examinations: Arc::clone(examinations),
            queue: desk.queue(),
            rules: Mutex::default(),
            rule_changes: watch::Sender::default(),
            waiting: Mutex::default(),
        }
    }

    /// Finds out who decides. A denial of the configuration is final; then the rules of the session
    /// are asked, then those of the configuration. What is done to a board is never approved without
    /// a person, save on a simulated board, and never when a phrase has to be typed or a check has
    /// failed: no rule can widen that.
    pub(super) fn judge(&self, proposal: &Proposal, content: &[u8], set: &[Proposal]) -> Decider {
        match self.ruling_alone(proposal, content, set) {
            Some((verdict, rule)) => Decider::Policy(verdict, rule),
            None => Decider::Desk(self.put_down(proposal)),
        }
    }

    /// What the rules say; a change that only stands up together with others of `set` which wait for
    /// the person is approved by none.
    pub(super) fn ruling_alone(
        &self,
        proposal: &Proposal,
        content: &[u8],
        set: &[Proposal],
    ) -> Option<(Verdict, String)> {
        let ruling = self.ruling(proposal)?;
        if !ruling.0.is_approval() {
            return Some(ruling);
        }
        let waits = |other: &&Proposal| {
            other.id != proposal.id
                && self.ruling(other).is_none_or(|(verdict, _)| !verdict.is_approval())
        };
        let waiting = set.iter().filter(waits).filter_map(|other| other.change.path().cloned());
        let may = self.examinations.stands_without(proposal, content, &waiting.collect());
        may.then_some(ruling)
    }

    /// What the rules say; `None` when the person is to be asked.
    pub(super) fn ruling(&self, proposal: &Proposal) -> Option<(Verdict, String)> {
        let (ruling, rule) = self.rule_of_policy(proposal);
        let session = lock(&self.rules).says(proposal);
        match (ruling, session) {
            (Ruling::Deny, _) => Some((Verdict::reject(""), rule)),
            (_, Some((RuleSays::Never, rule))) => Some((Verdict::reject(""), rule)),
            _ if self.must_ask(proposal) => None,
            (_, Some((RuleSays::Always, rule))) => Some((Verdict::Approve, rule)),
            (Ruling::Allow, None) => Some((Verdict::Approve, rule)),
            (Ruling::Ask, None) => None,
        }
    }

    /// Whether no rule may approve a proposal.
    fn must_ask(&self, proposal: &Proposal) -> bool {
        proposal.needs_person() || self.examinations.is_unprotected()
    }

    /// The rule that would approve a proposal if nothing stood against that; else empty.
    pub(super) fn held_rule(&self, proposal: &Proposal) -> String {
        let (ruling, rule) = self.rule_of_policy(proposal);
        let session = lock(&self.rules).says(proposal);
        match (ruling, session) {
            _ if !self.must_ask(proposal) => String::new(),
            (Ruling::Deny, _) | (_, Some((RuleSays::Never, _))) | (Ruling::Ask, None) => {
                String::new()
            }
            (_, Some((RuleSays::Always, rule))) => rule,
            (Ruling::Allow, None) => rule,
        }
    }

    /// What the configuration says.
    pub(super) fn rule_of_policy(&self, proposal: &Proposal) -> (Ruling, String) {
        let Proposal { tool, agent, change, .. } = proposal;
        self.parts.policy.decide(change.kind(), tool, agent, change.path())
    }

    /// Finds out who decides a proposal that is damaged for the reason `why`. A rule cannot approve
    /// it; a person sees it and can reject it. `ruling` is what the rules say of it undamaged.
    pub(super) fn judge_damaged(
        &self,
        proposal: &Proposal,
        ruling: Option<(Verdict, String)>,
        why: String,
    ) -> Decider {
        match ruling {
            Some((verdict, _)) if verdict.is_approval() => Decider::Nobody(why),
            Some((verdict, rule)) => Decider::Policy(verdict, rule),
            None => {
                self.keep_waiting(proposal);
                Decider::Desk(self.queue.put(proposal.id, DecisionTerms::damaged(proposal, why)))
            }
        }
    }

    /// Puts a proposal on the desk.
    pub(super) fn put_down(&self, proposal: &Proposal) -> Ticket {
        self.keep_waiting(proposal);
        self.queue.put(proposal.id, DecisionTerms::of(proposal))
    }

    /// Changes what `ticket` is about; whether that was still possible.
    pub(super) fn restate(&self, ticket: &Ticket, proposal: &Proposal) -> bool {
        let is_open = ticket.restate(DecisionTerms::of(proposal));
        if is_open {
            self.keep_waiting(proposal);
        }
        is_open
    }

    /// A proposal that waits for the person, as it was stated last.
    pub(super) fn waiting(&self, proposal: ProposalId) -> Option<Proposal> {
        lock(&self.waiting).get(&proposal).cloned()
    }

    /// Everything that waits for the person, as it was stated last.
    pub(super) fn all_waiting(&self) -> Vec<Proposal> {
        lock(&self.waiting).values().cloned().collect()
    }

    fn keep_waiting(&self, proposal: &Proposal) {
        lock(&self.waiting).insert(proposal.id, proposal.clone());
    }

    /// A proposal no longer waits.
    pub(super) fn remove_waiting(&self, proposal: ProposalId) {
        lock(&self.waiting).remove(&proposal);
    }

    /// Notes what was decided without the desk.
    pub(super) fn note_decided(&self, proposal: ProposalId) {
        self.queue.note_decided(proposal);
    }

    /// Makes a rule of the session; it also decides what waits and fits it.
    ///
    /// # Errors
    /// When the rule may not be made, or could not be recorded; then it does not hold.
    pub(super) fn add_rule(&self, rule: SessionRule) -> Result<RuleId, UserError> {
        SessionRules::check(&rule)?;
        let id = {
            let mut rules = lock(&self.rules);
            let id = rules.next();
            self.parts.ledger.record(Event::Proposal(ProposalEvent::RuleAdded {
                rule: id,
                says: rule.clone(),
            }))?;
            rules.add(id, &rule);
            id
        };
        self.rule_changes.send_replace(());
        Ok(id)
    }

    /// Ends a rule of the session.
    ///
    /// # Errors
    /// When it does not hold, or could not be recorded.
    pub(super) fn revoke_rule(&self, id: RuleId) -> Result<(), UserError> {
        let mut rules = lock(&self.rules);
        if !rules.revoke(id) {
            let why = "this session has no such rule";
            return Err(UserError::new(format!("Cannot revoke rule {id}"), why, ""));
        }
        self.parts.ledger.record(Event::Proposal(ProposalEvent::RuleRevoked { rule: id }))?;
        Ok(())
    }

    /// Folds a record of an earlier start of the program in.
    pub(super) fn recall(&self, record: &Record) {
        lock(&self.rules).recall(record);
    }

    /// Tells of every change of the session's rules from now on.
    pub(super) fn watch_rules(&self) -> watch::Receiver<()> {
        self.rule_changes.subscribe()
    }
}
