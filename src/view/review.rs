//! Proposals: those that wait, in the order they came, and what became of the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kept::{change_newest, shed};
use crate::model::{
    AgentName, BlobRef, Change, ContentHash, Decision, Event, Excerpt, InquiryId, Outcome,
    ProjectPath, Proposal, ProposalEvent, ProposalId, Record, RuleId, SessionRule, Timestamp,
    UserError,
};

/// Settled proposals that are kept at least; of older ones the journal knows.
const KEPT: usize = 2_000;

/// Settled proposals above [`KEPT`] that are given up in one go.
const SPARE: usize = 500;

/// The proposals of the session: those that wait or are under way, and the newest of the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Oldest first; numbers rise.
    pub proposals: Vec<Arc<ProposalView>>,
    /// How many older ones there were, all settled.
    pub older: u64,
    /// What the session last wrote to each file; `None`: it removed it.
    written: Arc<BTreeMap<ProjectPath, Option<ContentHash>>>,
    /// Those not decided yet, oldest first.
    pub waiting: Vec<ProposalId>,
    /// Rules the person made for the session, oldest first; revoked ones too.
    pub rules: Vec<RuleView>,
}

/// A rule of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleView {
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
    pub id: InquiryId,
    /// Who was asked.
    pub agent: AgentName,
    /// The lines it is about; `None`: the whole.
    pub excerpt: Option<Excerpt>,
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
    /// What its file holds once it is carried out.
    pub(super) fn written(&self) -> Option<BlobRef> {
        let change = &self.proposal.change;
        let decided = self.decision.as_ref().and_then(|(decision, _)| decision.written(change));
        decided.or_else(|| change.after())
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

    /// What the session last wrote to a file, if it did and did not remove it since.
    #[must_use]
    pub fn written(&self, path: &ProjectPath) -> Option<ContentHash> {
        self.written.get(path).copied().flatten()
    }

    /// Gives up settled proposals, the oldest first, until `kept` are left. Those that wait or are
    /// under way stay.
    pub(super) fn shed(&mut self, kept: usize) {
        let is_over = |view: &ProposalView| view.outcome.is_some();
        self.older += shed(&mut self.proposals, (kept, 4 * KEPT), is_over);
    }

    fn settle(&mut self, id: ProposalId, outcome: &Outcome) {
        self.waiting.retain(|waiting| *waiting != id);
        self.change(id, |view| view.outcome = Some(outcome.clone()));
        let Some(view) = self.get(id).filter(|_| *outcome == Outcome::Applied) else { return };
        let Some(path) = view.proposal.change.path().cloned() else { return };
        let hash = view.written().map(|content| content.hash);
        Arc::make_mut(&mut self.written).insert(path, hash);
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
        let asked = |view: &ProposalView| view.inquiries.iter().any(|asked| asked.id == id);
        change_newest(&mut self.proposals, asked, |view| {
            if let Some(inquiry) = view.inquiries.iter_mut().find(|asked| asked.id == id) {
                change(inquiry);
            }
        });
    }

    #[expect(clippy::too_many_lines, reason = "names every event")]
    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Proposal(ProposalEvent::Made(proposal)) => {
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
                if self.proposals.len() > KEPT + SPARE {
                    self.shed(KEPT);
                }
            }
            Event::Proposal(ProposalEvent::Restated { proposal, change, checks, why }) => {
                self.change(*proposal, |view| {
                    let before =
                        std::mem::replace(&mut view.proposal.change, Change::clone(change));
                    view.proposal.checks.clone_from(checks);
                    let (at, why) = (record.at, why.clone());
                    view.earlier.push(Restatement { before, at, why });
                });
            }
            Event::Proposal(ProposalEvent::Inquired {
                inquiry,
                proposal,
                agent,
                excerpt,
                text,
                turn: _,
            }) => {
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
            Event::Proposal(ProposalEvent::InquiryTextAdded { inquiry, text }) => {
                self.inquiry(*inquiry, |view| view.answer.push_str(text));
            }
            Event::Proposal(ProposalEvent::InquiryEnded { inquiry, failed, .. }) => {
                self.inquiry(*inquiry, |view| {
                    let failed = failed.clone();
                    view.state = failed.map_or(InquiryState::Answered, InquiryState::Failed);
                });
            }
            Event::Proposal(ProposalEvent::RuleAdded { rule, says }) => {
                let (id, rule, at) = (*rule, says.clone(), record.at);
                self.rules.push(RuleView { id, rule, at, revoked: None });
            }
            Event::Proposal(ProposalEvent::RuleRevoked { rule }) => {
                let known = self.rules.iter_mut().find(|known| known.id == *rule);
                if let Some(known) = known.filter(|known| known.revoked.is_none()) {
                    known.revoked = Some(record.at);
                }
            }
            Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
                self.waiting.retain(|id| id != proposal);
                self.change(*proposal, |view| {
                    view.decision = Some((Decision::clone(decision), record.at))
                });
            }
            Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
                self.settle(*proposal, outcome);
            }
            Event::Proposal(ProposalEvent::FlashProgress { proposal, done, total }) => {
                self.change(*proposal, |view| view.progress = Some((*done, *total)));
            }
            Event::Session(_)
            | Event::Files(_)
            | Event::Phase(_)
            | Event::Turn(_)
            | Event::Model(_)
            | Event::Team(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
