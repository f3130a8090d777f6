//! Proposals: those that wait, in the order they came, and what became of the others.

use std::sync::Arc;

use crate::model::{
    AgentName, Change, Decision, Event, Excerpt, InquiryId, Outcome, Proposal, ProposalId, Record,
    RuleId, SessionRule, Timestamp, UserError,
};

/// All proposals of the session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Oldest first; numbers rise.
    pub proposals: Vec<Arc<ProposalView>>,
    /// Those not decided yet, oldest first.
    pub waiting: Vec<ProposalId>,
    /// Rules the person made for the session, oldest first; revoked ones too.
    pub rules: Vec<RuleView>,
}

/// A rule of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleView {
    /// Its number.
    pub id: RuleId,
    /// What it says.
    pub rule: SessionRule,
    /// When it was made.
    pub at: Timestamp,
    /// When it was revoked; `None` while it holds.
    pub revoked: Option<Timestamp>,
}

/// A question of the person about a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InquiryView {
    /// Its number.
    pub id: InquiryId,
    /// Who was asked.
    pub agent: AgentName,
    /// The lines it is about; `None`: the whole.
    pub excerpt: Option<Excerpt>,
    /// The question.
    pub text: String,
    /// The answer as far as it has come.
    pub answer: String,
    /// Whether more may come, or why there is no whole answer.
    pub state: InquiryState,
}

/// How far an answer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InquiryState {
    /// The agent thinks or speaks.
    Open,
    /// It has answered.
    Answered,
    /// It could not answer.
    Failed(UserError),
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
    /// What it was before the file changed on disk, oldest first; usually empty.
    pub earlier: Vec<Restatement>,
    /// What the person asked about it, oldest first.
    pub inquiries: Vec<InquiryView>,
    /// The proposals that took it back, oldest first; the last one may have failed.
    pub undone_by: Vec<ProposalId>,
}

/// A proposal that was restated because its file changed on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restatement {
    /// What waited until then.
    pub before: Change,
    /// When it was restated.
    pub at: Timestamp,
    /// What happened, in a sentence for people.
    pub why: String,
}

impl ProposalView {
    /// When what waits now came on screen: dead time for keys is counted from here.
    #[must_use]
    pub fn stated_at(&self) -> Timestamp {
        self.earlier.last().map_or(self.at, |last| last.at)
    }
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

    /// The rules that hold.
    pub fn rules(&self) -> impl Iterator<Item = &RuleView> {
        self.rules.iter().filter(|rule| rule.revoked.is_none())
    }

    /// Whether a proposal was carried out and can be taken back: a file change that was applied
    /// and that no later proposal took back.
    #[must_use]
    pub fn can_undo(&self, id: ProposalId) -> bool {
        let is_applied = |id: ProposalId| {
            self.get(id).is_some_and(|view| view.outcome == Some(Outcome::Applied))
        };
        self.get(id).is_some_and(|view| {
            view.proposal.change.board().is_none()
                && view.outcome == Some(Outcome::Applied)
                && !view.undone_by.iter().any(|by| is_applied(*by))
        })
    }

    fn place(&self, id: ProposalId) -> Option<usize> {
        self.proposals.binary_search_by_key(&id, |view| view.proposal.id).ok()
    }

    fn change(&mut self, id: ProposalId, change: impl FnOnce(&mut ProposalView)) {
        if let Some(view) = self.place(id).and_then(|place| self.proposals.get_mut(place)) {
            change(Arc::make_mut(view));
        }
    }

    fn inquiry(&mut self, id: InquiryId, change: impl FnOnce(&mut InquiryView)) {
        // Questions are few and recent, so the search from the end is short.
        let asked = |view: &Arc<ProposalView>| view.inquiries.iter().any(|asked| asked.id == id);
        if let Some(view) = self.proposals.iter_mut().rev().find(|view| asked(view)) {
            let view = Arc::make_mut(view);
            if let Some(inquiry) = view.inquiries.iter_mut().find(|asked| asked.id == id) {
                change(inquiry);
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "names every event")]
    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Proposed(proposal) => {
                self.waiting.push(proposal.id);
                if let Some(undone) = proposal.facts.undoes {
                    self.change(undone, |view| view.undone_by.push(proposal.id));
                }
                self.proposals.push(Arc::new(ProposalView {
                    proposal: Proposal::clone(proposal),
                    at: record.at,
                    decision: None,
                    outcome: None,
                    progress: None,
                    earlier: Vec::new(),
                    inquiries: Vec::new(),
                    undone_by: Vec::new(),
                }));
            }
            Event::Restated { proposal, change, checks, why } => {
                self.change(*proposal, |view| {
                    let before =
                        std::mem::replace(&mut view.proposal.change, Change::clone(change));
                    view.proposal.checks.clone_from(checks);
                    let (at, why) = (record.at, why.clone());
                    view.earlier.push(Restatement { before, at, why });
                });
            }
            Event::Inquired { inquiry, proposal, agent, excerpt, text } => {
                self.change(*proposal, |view| {
                    view.inquiries.push(InquiryView {
                        id: *inquiry,
                        agent: agent.clone(),
                        excerpt: excerpt.clone(),
                        text: text.clone(),
                        answer: String::new(),
                        state: InquiryState::Open,
                    });
                });
            }
            Event::InquiryTextAdded { inquiry, text } => {
                self.inquiry(*inquiry, |view| view.answer.push_str(text));
            }
            Event::InquiryEnded { inquiry, failed, .. } => {
                self.inquiry(*inquiry, |view| {
                    let failed = failed.clone();
                    view.state = failed.map_or(InquiryState::Answered, InquiryState::Failed);
                });
            }
            Event::RuleAdded { rule, says } => {
                let (id, rule, at) = (*rule, says.clone(), record.at);
                self.rules.push(RuleView { id, rule, at, revoked: None });
            }
            Event::RuleRevoked { rule } => {
                let known = self.rules.iter_mut().find(|known| known.id == *rule);
                if let Some(known) = known.filter(|known| known.revoked.is_none()) {
                    known.revoked = Some(record.at);
                }
            }
            Event::Decided { proposal, decision } => {
                self.waiting.retain(|id| id != proposal);
                self.change(*proposal, |view| {
                    view.decision = Some((Decision::clone(decision), record.at))
                });
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
            | Event::Files(_)
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
            | Event::Port { .. }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Batch, BatchId, BlobRef, CallId, CheckKind, ContentHash, DecidedBy, Facts, ProjectPath,
        RuleSays, Seq, TurnId, Usage, Verdict,
    };

    fn change(content: &str) -> Change {
        let blob = |text: &str| BlobRef {
            hash: ContentHash::of(text.as_bytes()),
            bytes: text.len() as u64,
        };
        let path = ProjectPath::new("main/a.c").unwrap();
        Change::Save { path, base: Some(blob("base")), content: blob(content) }
    }

    fn proposed(id: u32, undoes: Option<u32>) -> Event {
        Event::Proposed(Box::new(Proposal {
            id: ProposalId(id),
            turn: TurnId(1),
            call: CallId(1),
            agent: "A".into(),
            tool: "generate_code".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: change("first"),
            checks: vec![],
            facts: Facts { undoes: undoes.map(ProposalId), ..Facts::default() },
        }))
    }

    fn applied(id: u32) -> [Event; 2] {
        let (verdict, by) = (Verdict::Approve, DecidedBy::Person);
        let decision = Decision { verdict, by, shown: change("first").hash(), unseen: 0, stops: 0 };
        let proposal = ProposalId(id);
        [
            Event::Decided { proposal, decision: Box::new(decision) },
            Event::Settled { proposal, outcome: Outcome::Applied },
        ]
    }

    fn view(events: impl IntoIterator<Item = Event>) -> Review {
        let mut review = Review::default();
        for (seq, event) in (1..).zip(events) {
            let at = Timestamp(i64::try_from(seq).unwrap() * 10);
            review.apply(&Record { v: 1, seq: Seq(seq), at, event });
        }
        review
    }

    #[test]
    fn a_restated_proposal_shows_what_waits_now_and_keeps_what_it_was() {
        let proposal = ProposalId(1);
        let level = crate::model::FindingLevel::Warning;
        let check = crate::model::Check::of(CheckKind::Merged, level, "merged");
        let why = "the file was changed".to_owned();
        let restated = Event::Restated {
            proposal,
            change: Box::new(change("second")),
            checks: vec![check],
            why,
        };
        let review = view([proposed(1, None), restated]);
        let shown = review.get(proposal).unwrap();
        assert_eq!(shown.proposal.change, change("second"));
        assert_eq!(
            (shown.earlier[0].before.clone(), shown.stated_at()),
            (change("first"), Timestamp(20))
        );
        assert_eq!((shown.at, shown.proposal.checks.len()), (Timestamp(10), 1));
        assert_eq!(review.waiting, [proposal]);
    }

    #[test]
    fn questions_and_their_answers_stand_with_the_proposal() {
        let (inquiry, proposal) = (InquiryId(1), ProposalId(1));
        let text = |text: &str| Event::InquiryTextAdded { inquiry, text: text.into() };
        let asked = Event::Inquired {
            inquiry,
            proposal,
            agent: "A".into(),
            excerpt: None,
            text: "why?".into(),
        };
        let ended = Event::InquiryEnded { inquiry, usage: Usage::default(), failed: None };
        let review = view([proposed(1, None), asked, text("be"), text("cause"), ended]);
        let found = &review.get(proposal).unwrap().inquiries[0];
        assert_eq!((found.answer.as_str(), &found.state), ("because", &InquiryState::Answered));
    }

    #[test]
    fn rules_are_listed_until_they_are_revoked() {
        let (kind, path, tool, agent) = (None, Some("main/**".to_owned()), None, None);
        let says = SessionRule { says: RuleSays::Always, kind, path, tool, agent };
        let added = |id| Event::RuleAdded { rule: RuleId(id), says: says.clone() };
        let review = view([added(1), added(2), Event::RuleRevoked { rule: RuleId(1) }]);
        let holding: Vec<RuleId> = review.rules().map(|rule| rule.id).collect();
        assert_eq!((holding, review.rules[0].revoked), (vec![RuleId(2)], Some(Timestamp(30))));
    }

    #[test]
    fn what_was_applied_can_be_undone_once_and_the_undo_as_well() {
        let first: Vec<Event> = std::iter::once(proposed(1, None)).chain(applied(1)).collect();
        assert!(view(first.clone()).can_undo(ProposalId(1)));
        let undone = first.into_iter().chain([proposed(2, Some(1))]);
        let waiting = view(undone.clone());
        assert!(waiting.can_undo(ProposalId(1)), "the undo was not carried out yet");
        let review = view(undone.chain(applied(2)));
        assert!(!review.can_undo(ProposalId(1)) && review.can_undo(ProposalId(2)));
        assert_eq!(review.get(ProposalId(1)).unwrap().undone_by, [ProposalId(2)]);
        assert!(!view([proposed(1, None)]).can_undo(ProposalId(1)));
    }
}
