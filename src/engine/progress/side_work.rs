//! What the person does beside the run: questions about proposals, and changes taken back.
//!
//! Part of the run's fold; must not read a clock or record anything.

use std::collections::BTreeMap;

use crate::model::{AgentName, Event, InquiryId, Outcome, ProposalEvent, ProposalId, TurnId};

/// What agents are to hear of what happened beside the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hearsay {
    /// `None`: the whole team.
    pub to: Option<AgentName>,
    /// The turn in whose chat it is told; `None`: in every chat.
    pub turn: Option<TurnId>,
    pub words: String,
}

/// What is under way beside the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct SideWork {
    last: InquiryId,
    /// Questions of the person that agents are answering.
    inquiries: BTreeMap<InquiryId, OpenInquiry>,
    /// Changes the person is taking back, and the words for it.
    undos: BTreeMap<ProposalId, String>,
}

impl SideWork {
    /// Number for the next question.
    pub const fn next_inquiry(&self) -> InquiryId {
        self.last.next()
    }

    /// Questions of the person that have no whole answer yet.
    pub fn open_inquiries(&self) -> Vec<InquiryId> {
        self.inquiries.keys().copied().collect()
    }

    /// Follows what happens; gives the words that the team, or one agent, is to hear of it.
    pub(super) fn apply(&mut self, event: &Event) -> Option<Hearsay> {
        let answered = self.inquired(event);
        answered.or_else(|| Some(Hearsay { to: None, turn: None, words: self.undone(event)? }))
    }

    /// The turn that the question of a proposal's agent belongs to.
    pub fn turn_of(&self, inquiry: InquiryId) -> Option<TurnId> {
        self.inquiries.get(&inquiry)?.turn
    }

    /// Follows a question about a proposal; once it is answered, gives who was asked and the words
    /// to remember it by.
    fn inquired(&mut self, event: &Event) -> Option<Hearsay> {
        if let Event::Proposal(ProposalEvent::Inquired { inquiry, agent, text, turn, .. }) = event {
            let (agent, text, answer) = (agent.clone(), text.clone(), String::new());
            let turn = *turn;
            self.last = *inquiry;
            self.inquiries.insert(*inquiry, OpenInquiry { agent, text, answer, turn });
        }
        if let Event::Proposal(ProposalEvent::InquiryTextAdded { inquiry, text }) = event {
            self.inquiries.get_mut(inquiry)?.answer.push_str(text);
        }
        if let Event::Proposal(ProposalEvent::InquiryEnded { inquiry, failed, .. }) = event {
            let open = self.inquiries.remove(inquiry)?;
            let words = remembered(&open.text, open.answer.trim());
            let has_answer = failed.is_none() && !open.answer.trim().is_empty();
            let received = Hearsay { to: Some(open.agent), turn: open.turn, words };
            return has_answer.then_some(received);
        }
        None
    }

    /// Follows a change the person takes back; once that is done, gives the words for the team, so
    /// that nobody builds on it.
    fn undone(&mut self, event: &Event) -> Option<String> {
        if let Event::Proposal(ProposalEvent::Made(proposal)) = event
            && let (Some(undoes), Some(path)) = (proposal.facts.undoes, proposal.change.path())
        {
            let words = format!(
                "The person took back the change of `{path}` (proposal {undoes}); the file is as it \
                 was before that change."
            );
            self.undos.insert(proposal.id, words);
        }
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = event {
            let words = self.undos.remove(proposal)?;
            return (*outcome == Outcome::Applied).then_some(words);
        }
        None
    }
}

/// What an agent remembers of a question it has answered.
fn remembered(question: &str, answer: &str) -> String {
    format!("The person asked about your proposal: “{question}” You answered: “{answer}”")
}

/// A question on its way to an answer, as the run's own fold knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenInquiry {
    /// Who was asked.
    agent: AgentName,
    text: String,
    /// The answer so far.
    answer: String,
    /// The turn that the proposal was made in, if it is known.
    turn: Option<TurnId>,
}
