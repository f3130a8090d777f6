//! A run that is cut off anywhere and taken up again comes to the same end.

use std::sync::Arc;

use super::fixture::*;
use crate::model::*;
use crate::model::{ProposalEvent, SessionEvent, TurnEvent};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cut_off_at_any_record_ends_as_if_it_had_not_been() {
    let whole = SessionBench::new(TEAM);
    let handle = whole.begin(u64::MAX, Arc::new(usual)).unwrap();
    let outcome = whole.supervise(handle, "go on").await.unwrap();
    assert_eq!(outcome, SessionOutcome::Completed, "{:#?}", whole.events());
    assert_eq!(whole.file().unwrap(), "mended");
    // How many records there are may depend on the time that a step takes.
    for life in 1.. {
        let world = SessionBench::new(TEAM);
        if let Ok(handle) = world.begin(life, Arc::new(usual))
            && world.supervise(handle, "go on").await.is_ok()
        {
            assert!(life > 50, "the whole run has {life} records");
            break;
        }
        assert_eq!(world.records().len() as u64, life);
        let handle = world.resume(Arc::new(usual)).unwrap();
        let outcome = world.supervise(handle, "go on").await.unwrap();
        assert_eq!(outcome, SessionOutcome::Completed, "cut off after {life}");
        assert_eq!(world.file().unwrap(), "mended", "cut off after {life}");
        no_number_twice(&world.events());
    }
}

pub(super) fn no_number_twice(events: &[Event]) {
    let mut turns = Vec::new();
    let mut calls = Vec::new();
    let mut proposals = Vec::new();
    for event in events {
        match event {
            Event::Turn(TurnEvent::Started { turn, .. }) => turns.push(turn.0),
            Event::Turn(TurnEvent::ToolCalled { call, .. }) => calls.push(call.0),
            Event::Proposal(ProposalEvent::Made(proposal)) => proposals.push(proposal.id.0),
            _ => {}
        }
    }
    for numbers in [turns, calls, proposals] {
        let expected: Vec<u32> = (1..).take(numbers.len()).collect();
        assert_eq!(numbers, expected);
    }
}

#[tokio::test]
async fn leaving_keeps_what_waits() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    handle.detach().await;
    let events = world.events();
    assert!(
        !events.iter().any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    assert!(
        !events.iter().any(|event| matches!(event, Event::Session(SessionEvent::Ended { .. })))
    );
    let handle = world.resume(Arc::new(usual)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let proposed = world
        .events()
        .into_iter()
        .filter(|e| matches!(e, Event::Proposal(ProposalEvent::Made(_))))
        .count();
    assert_eq!(proposed, 2);
}
