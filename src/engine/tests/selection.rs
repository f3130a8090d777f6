//! Who speaks, in which order, and why.

use std::sync::Arc;

use super::fixture::*;
use crate::model::*;
use crate::model::{PersonEvent, TurnEvent};
use crate::provider::Request;

fn choices(events: &[Event]) -> Vec<(String, String)> {
    let choice = |event: &Event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
            Some((agent.to_string(), reason.clone()))
        }
        _ => None,
    };
    events.iter().filter_map(choice).collect()
}

#[tokio::test]
async fn the_planner_speaks_first_and_after_every_other_agent() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    world.supervise(handle, "go on").await.unwrap();
    let choices = choices(&world.events());
    let expected = [
        ("Planner", "Planner opens the chat"),
        ("Writer", "Planner asked Writer to “write main.txt”"),
        ("Planner", "Planner speaks after every other agent"),
        ("Closer", "Planner asked Closer to “close it”"),
        ("Planner", "Planner opens the chat"),
        ("Builder", "Planner asked Builder to “build”"),
    ];
    let got: Vec<(&str, &str)> =
        choices.iter().take(6).map(|(a, r)| (a.as_str(), r.as_str())).collect();
    assert_eq!(got, expected);
    for pair in choices.windows(2) {
        let opens = pair[1].1.ends_with("opens the chat");
        assert!(opens || (pair[0].0 == "Planner") != (pair[1].0 == "Planner"), "{pair:?}");
    }
}

#[tokio::test]
async fn several_lines_queue_up_and_silence_goes_on_with_the_queue() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(
        u64::MAX,
        Arc::new(|request: &Request| {
            let spoken =
                request.messages.iter().filter(|m| m.role == MessageRole::Assistant).count();
            match (request.agent.as_str(), request.phase.as_str(), spoken) {
                ("Planner", "write", 0) => say("Writer : one\nCloser : two"),
                ("Planner", _, 0) => say("Builder : build\nCloser : close"),
                ("Planner", ..) => say("Well done, go on."),
                _ => usual(request),
            }
        }),
    );
    let _ = world.supervise(handle.unwrap(), "stop").await;
    let names: Vec<String> = choices(&world.events()).into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(names[..4], ["Planner", "Writer", "Planner", "Closer"]);
    assert_eq!(names[4..8], ["Planner", "Builder", "Planner", "Closer"]);
}

#[tokio::test]
async fn a_planner_who_names_nobody_is_asked_again_and_then_the_person() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match request.messages.last() {
        Some(last) if last.text.contains("listen to me") => say("Writer : write"),
        _ if request.agent.as_str() == "Planner" => say("TesterAgent : test it"),
        _ => say("hm"),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { question, text, options, .. }) = asked else {
        unreachable!()
    };
    assert!(text.starts_with("Planner did not name"), "{text}");
    assert_eq!(options, ["go on", "stop"]);
    assert_eq!(choices(&world.events()).len(), 3);
    let answer = "listen to me".to_owned();
    handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
    until(
        &world,
        |event| matches!(event, Event::Turn(TurnEvent::SpeakerChosen { agent, .. }) if agent.as_str() == "Writer"),
    )
    .await;
    assert!(world.events().iter().any(
        |event| matches!(event, Event::Person(PersonEvent::Wrote { to: None, text }) if text == "listen to me")
    ));
    handle.intents.send(Intent::Stop).await.unwrap();
    handle.join().await.unwrap();
}

#[tokio::test]
async fn round_robin_follows_the_file() {
    let team = TEAM
        .replace("selection = \"planner\"\nplanner = \"Planner\"", "selection = \"round_robin\"");
    let world = SessionBench::new(&team.replace("max_messages = 20", "max_messages = 5"));
    let model = |request: &Request| say(&format!("message {}", request.messages.len()));
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "stop").await.unwrap();
    let names: Vec<String> = choices(&world.events()).into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(names, ["Planner", "Writer", "Closer", "Planner", "Writer"]);
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.why.contains("the limit of 5 messages"), "{error:?}");
}
