//! What the person wishes while the run goes on.

use std::sync::Arc;

use super::fixture::*;
use crate::model::event::Level;
use crate::model::*;
use crate::model::{PersonEvent, PhaseEvent, ProposalEvent, SessionEvent, TurnEvent};

#[tokio::test]
async fn stopping_denies_what_waits_and_ends_in_order() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    handle.intents.send(Intent::Stop).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
    assert_eq!(world.file(), None);
    let events = world.events();
    let names: Vec<&str> = events[events.len() - 6..].iter().map(name).collect();
    assert_eq!(names, ["decided", "settled", "answered", "turn", "phase", "session"]);
    let decided = events.iter().find_map(|event| match event {
        Event::Proposal(ProposalEvent::Decided { decision, .. }) => Some(decision.by.clone()),
        _ => None,
    });
    assert_eq!(decided, Some(DecidedBy::Nobody("the person stopped the run".into())));
}

/// Agent and phase of a request, and whether the words to all and those to one are in it.
type Received = (String, String, bool, bool);

fn name(event: &Event) -> &'static str {
    match event {
        Event::Proposal(ProposalEvent::Decided { .. }) => "decided",
        Event::Proposal(ProposalEvent::Settled { .. }) => "settled",
        Event::Turn(TurnEvent::ToolAnswered { .. }) => "answered",
        Event::Turn(TurnEvent::Ended { stop: TurnStop::Stopped, .. }) => "turn",
        Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Stopped, .. }) => "phase",
        Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped }) => "session",
        _ => "other",
    }
}

#[tokio::test]
async fn a_model_that_never_ends_is_stopped_at_once() {
    let world = SessionBench::new(TEAM);
    let endless = |_: &crate::provider::Request| {
        (0..2_000_000).map(|_| Ok(crate::provider::Delta::Text(String::new()))).collect()
    };
    let handle = world.begin(u64::MAX, Arc::new(endless)).unwrap();
    handle.intents.send(Intent::Stop).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
}

#[tokio::test]
async fn a_pause_holds_the_run_until_it_is_lifted() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    let proposed =
        until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    let Event::Proposal(ProposalEvent::Made(proposal)) = proposed else { unreachable!() };
    for intent in [Intent::Pause, Intent::Pause] {
        handle.intents.send(intent).await.unwrap();
    }
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Paused))).await;
    let (id, shown) = (proposal.id, proposal.change.hash());
    let verdict = Verdict::Approve;
    handle
        .intents
        .send(Intent::Decide {
            shown: Shown { stops: u32::MAX, ..Shown::whole(id, shown) },
            verdict,
        })
        .await
        .unwrap();
    until(&world, |event| matches!(event, Event::Turn(TurnEvent::ToolAnswered { .. }))).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let events = world.events();
    let paused =
        events.iter().position(|event| *event == Event::Person(PersonEvent::Paused)).unwrap();
    let is_work = |e: &Event| {
        matches!(
            e,
            Event::Turn(TurnEvent::TextAdded { .. }) | Event::Turn(TurnEvent::SpeakerChosen { .. })
        )
    };
    assert!(!events[paused..].iter().any(is_work), "{events:#?}");
    assert_eq!(
        events.iter().filter(|event| **event == Event::Person(PersonEvent::Paused)).count(),
        1
    );
    handle.intents.send(Intent::Resume).await.unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
}

#[tokio::test]
async fn a_decision_on_something_else_than_what_waits_is_a_warning_and_decides_nothing() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    let shown = ContentHash::of(b"something else");
    let decide = Intent::Decide {
        shown: Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), shown) },
        verdict: Verdict::Approve,
    };
    handle.intents.send(decide).await.unwrap();
    until(&world, |event| {
        matches!(event, Event::Person(PersonEvent::Noticed { level: Level::Warning, .. }))
    })
    .await;
    assert!(
        !world
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    handle.detach().await;
}

#[tokio::test]
async fn words_to_the_team_reach_everyone_later_and_in_the_next_phase() {
    let world = SessionBench::new(TEAM);
    let received: Arc<std::sync::Mutex<Vec<Received>>> = Arc::default();
    let seen = Arc::clone(&received);
    let model = move |request: &crate::provider::Request| {
        let has = |what: &str| request.messages.iter().any(|m| m.text == what);
        let place = (request.agent.to_string(), request.phase.clone());
        seen.lock().unwrap().push((place.0, place.1, has("use pin 21"), has("for Closer")));
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    let say =
        |to: Option<&str>, text: &str| Intent::Say { to: to.map(Into::into), text: text.into() };
    handle.intents.send(say(None, "use pin 21")).await.unwrap();
    handle.intents.send(say(Some("Closer"), "for Closer")).await.unwrap();
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Wrote { to: Some(_), .. })))
        .await;
    world.supervise(handle, "stop").await.unwrap();
    let received = received.lock().unwrap();
    assert!(received[..2].iter().all(|(_, _, team, _)| !team));
    assert!(received[2..].iter().all(|(_, _, team, _)| *team), "{received:?}");
    assert!(
        received[2..].iter().all(|(agent, _, _, own)| *own == (agent == "Closer")),
        "{received:?}"
    );
}
