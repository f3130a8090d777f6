//! Tests of what is told of rules, and of the time that calls took themselves.

use serde_json::json;

use super::*;
use crate::model::{
    Batch, BatchId, BlobRef, CallId, Change, Check, CheckKind, DecidedBy, Decision, Event, Facts,
    FindingLevel, Outcome, Proposal, ProposalEvent, ProposalId, SessionEvent, TurnEvent, TurnId,
    Verdict,
};

fn proposed(id: u32, checks: Vec<Check>, held_rule: &str) -> Event {
    let content = BlobRef { hash: ContentHash::of(b"a"), bytes: 1 };
    let path = ProjectPath::new("main/a.c").unwrap();
    Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(id),
        turn: TurnId(1),
        call: CallId(1),
        agent: "A".into(),
        tool: "generate_code".into(),
        reason: String::new(),
        batch: Batch { id: BatchId(1), index: 1, of: 1 },
        change: Change::Save { path, base: None, content },
        checks,
        facts: Facts { held_rule: held_rule.into(), ..Facts::default() },
    })))
}

fn decided(id: u32, verdict: Verdict, by: DecidedBy) -> Event {
    let decision = Decision { verdict, by, shown: ContentHash::of(b"a"), unseen: 0, stops: 0 };
    Event::Proposal(ProposalEvent::Decided {
        proposal: ProposalId(id),
        decision: Box::new(decision),
    })
}

fn settled(id: u32, outcome: Outcome) -> Event {
    Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(id), outcome })
}

/// The view after these events, each at its time in milliseconds.
fn view(events: Vec<(i64, Event)>) -> SessionView {
    let mut view = SessionView::default();
    for (seq, (at, event)) in (1..).zip(events) {
        view.apply(&Record { v: 1, seq: Seq(seq), at: Timestamp(at), event });
    }
    view
}

fn texts(view: &SessionView) -> Vec<String> {
    let ruled = view.chat.entries.iter().filter_map(|entry| match &**entry {
        ChatEntry::Ruled(ruled) => Some(ruled.sentence()),
        _ => None,
    });
    ruled.collect()
}

#[test]
fn what_a_rule_decided_is_told_once_it_is_done() {
    let rule = || DecidedBy::Policy("always save main/** (session rule 1)".into());
    let mut events =
        vec![(0, proposed(1, Vec::new(), "")), (1, decided(1, Verdict::Approve, rule()))];
    assert_eq!(texts(&view(events.clone())), [""; 0], "nothing is said before it is so");
    events.extend([
        (2, settled(1, Outcome::Applied)),
        (3, proposed(2, Vec::new(), "")),
        (4, decided(2, Verdict::reject(""), rule())),
        (5, settled(2, Outcome::Denied)),
        (6, proposed(3, Vec::new(), "")),
        (7, decided(3, Verdict::Approve, DecidedBy::Person)),
        (8, settled(3, Outcome::Applied)),
        (9, proposed(4, Vec::new(), "")),
        (10, decided(4, Verdict::Approve, rule())),
        (11, settled(4, Outcome::Stale { found: None })),
    ]);
    let expected = [
        "saved main/a.c by rule \"always save main/**\"",
        "refused to save main/a.c by rule \"always save main/**\"",
        "did not save main/a.c, which rule \"always save main/**\" allowed",
    ];
    assert_eq!(texts(&view(events)), expected);
}

#[test]
fn what_a_rule_did_not_decide_says_what_was_found() {
    let found = Check::of(CheckKind::Secrets, FindingLevel::Stop, "contains a password");
    let events = vec![(0, proposed(1, vec![found], "always save main/** (session rule 1)"))];
    let expected = "rule \"always save main/**\" does not decide #1, save main/a.c: \
                    it contains a password";
    assert_eq!(texts(&view(events)), [expected]);
}

#[test]
fn the_time_of_a_call_leaves_out_the_time_of_the_person() {
    let (turn, call) = (TurnId(1), CallId(1));
    let begun = || {
        vec![
            (0, Event::Turn(TurnEvent::Started { turn, agent: "A".into(), step: None })),
            (
                0,
                Event::Turn(TurnEvent::ToolCalled {
                    turn,
                    call,
                    tool: "generate_code".into(),
                    args: json!({}),
                }),
            ),
        ]
    };
    let answered = |at: i64| {
        (
            at,
            Event::Turn(TurnEvent::ToolAnswered {
                call,
                result: json!({}),
                millis: at.unsigned_abs(),
            }),
        )
    };
    let millis = |events: Vec<(i64, Event)>| {
        let view = view(events);
        let turn = view.chat.entries.first().and_then(|entry| entry.turn()).unwrap();
        match turn.call(call).map(|call| &call.state) {
            Some(CallState::Done { millis, .. }) => *millis,
            other => panic!("{other:?}"),
        }
    };
    let mut events = begun();
    // Two that wait side by side, and one after them.
    events.extend([
        (100, proposed(1, Vec::new(), "")),
        (110, proposed(2, Vec::new(), "")),
        (5_100, decided(1, Verdict::Approve, DecidedBy::Person)),
        (5_150, settled(1, Outcome::Applied)),
        (9_100, decided(2, Verdict::reject("no"), DecidedBy::Person)),
        (9_110, settled(2, Outcome::Denied)),
        (9_200, proposed(3, Vec::new(), "")),
        (10_200, decided(3, Verdict::Approve, DecidedBy::Person)),
        answered(10_300),
    ]);
    assert_eq!(millis(events), 300);
    let mut alone = begun();
    alone.push(answered(70));
    assert_eq!(millis(alone), 70);
    // After a restart the recorded time begins anew.
    let mut again = begun();
    again.extend([
        (100, proposed(1, Vec::new(), "")),
        (50_000, Event::Session(SessionEvent::Resumed { program: "0".into(), choices: None })),
        (60_000, decided(1, Verdict::Approve, DecidedBy::Person)),
        (60_050, Event::Turn(TurnEvent::ToolAnswered { call, result: json!({}), millis: 10_050 })),
    ]);
    assert_eq!(millis(again), 50);
}
