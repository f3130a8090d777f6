//! Tests of the proposals as the screen knows them.

use super::*;
use crate::model::ProposalEvent;
use crate::model::{
    Batch, BatchId, BlobRef, CallId, CheckKind, ContentHash, DecidedBy, Facts, ProjectPath,
    RuleSays, Seq, TurnId, Usage, Verdict,
};

fn change(content: &str) -> Change {
    let blob =
        |text: &str| BlobRef { hash: ContentHash::of(text.as_bytes()), bytes: text.len() as u64 };
    let path = ProjectPath::new("main/a.c").unwrap();
    Change::Save { path, base: Some(blob("base")), content: blob(content) }
}

fn proposed(id: u32, undoes: Option<u32>) -> Event {
    Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
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
    })))
}

fn applied(id: u32) -> [Event; 2] {
    let (verdict, by) = (Verdict::Approve, DecidedBy::Person);
    let decision = Decision { verdict, by, shown: change("first").hash(), unseen: 0, stops: 0 };
    let proposal = ProposalId(id);
    [
        Event::Proposal(ProposalEvent::Decided { proposal, decision: Box::new(decision) }),
        Event::Proposal(ProposalEvent::Settled { proposal, outcome: Outcome::Applied }),
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
    let restated = Event::Proposal(ProposalEvent::Restated {
        proposal,
        change: Box::new(change("second")),
        checks: vec![check],
        why,
    });
    let review = view([proposed(1, None), restated]);
    let shown = review.get(proposal).unwrap();
    assert_eq!(shown.proposal.change, change("second"));
    assert_eq!(
        (shown.earlier[0].before.clone(), shown.earlier.last().map_or(shown.at, |last| last.at)),
        (change("first"), Timestamp(20))
    );
    assert_eq!((shown.at, shown.proposal.checks.len()), (Timestamp(10), 1));
    assert_eq!(review.waiting, [proposal]);
}

#[test]
fn questions_and_their_answers_stand_with_the_proposal() {
    let (inquiry, proposal) = (InquiryId(1), ProposalId(1));
    let text = |text: &str| {
        Event::Proposal(ProposalEvent::InquiryTextAdded { inquiry, text: text.into() })
    };
    let asked = Event::Proposal(ProposalEvent::Inquired {
        inquiry,
        proposal,
        agent: "A".into(),
        turn: None,
        excerpt: None,
        text: "why?".into(),
    });
    let ended = Event::Proposal(ProposalEvent::InquiryEnded {
        inquiry,
        usage: Usage::default(),
        failed: None,
    });
    let review = view([proposed(1, None), asked, text("be"), text("cause"), ended]);
    let found = &review.get(proposal).unwrap().inquiries[0];
    assert_eq!((found.answer.as_str(), &found.state), ("because", &InquiryState::Answered));
}

#[test]
fn rules_are_listed_until_they_are_revoked() {
    let (kind, path, tool, agent) = (None, Some("main/**".to_owned()), None, None);
    let says = SessionRule { says: RuleSays::Always, kind, path, tool, agent };
    let added =
        |id| Event::Proposal(ProposalEvent::RuleAdded { rule: RuleId(id), says: says.clone() });
    let review =
        view([added(1), added(2), Event::Proposal(ProposalEvent::RuleRevoked { rule: RuleId(1) })]);
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

#[test]
fn of_very_many_proposals_the_newest_and_the_open_ones_are_kept() {
    let count = u32::try_from(KEPT * 3).unwrap();
    let open = 5;
    let events = (1..=count).flat_map(|id| {
        let settled = if id == open { vec![] } else { applied(id).to_vec() };
        std::iter::once(proposed(id, None)).chain(settled)
    });
    let review = view(events);
    assert!((KEPT..=KEPT + SPARE).contains(&review.proposals.len()));
    assert_eq!(review.older + review.proposals.len() as u64, u64::from(count));
    assert_eq!(review.waiting, [ProposalId(open)]);
    assert_eq!(
        review.waiting().map(|view| view.proposal.id).collect::<Vec<_>>(),
        [ProposalId(open)]
    );
    assert!(review.get(ProposalId(count)).is_some() && review.get(ProposalId(6)).is_none());
    let path = ProjectPath::new("main/a.c").unwrap();
    assert_eq!(review.written(&path), change("first").after().map(|blob| blob.hash));
}
