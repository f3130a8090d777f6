//! Answers that rest on passages: what is told of those that name none, or others.

use std::sync::Arc;

use super::fixture::*;
use crate::engine::EngineLimits;
use crate::model::event::Level;
use crate::model::*;
use crate::provider::Request;

const TEAM: &str = "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n[[phases]]\n\
    name = \"work\"\ntitle = \"work\"\ngoal = \"GOAL\"\nparticipants = [\"Librarian\"]\n\
    selection = \"round_robin\"\nterminate = { spoke = \"Librarian\" }\n";

/// What is told after the turn of an agent that was given two passages.
async fn reported(goal: &str, answer: &'static str) -> Vec<String> {
    let world = SessionBench::new(&TEAM.replace("GOAL", goal));
    let model = Arc::new(move |_: &Request| say(answer));
    let handle = world.begin_within(EngineLimits::default(), model).unwrap();
    world.supervise(handle, "go on").await.unwrap();
    let events = world.events().into_iter();
    let after = events.skip_while(|event| !matches!(event, Event::Turn(TurnEvent::Ended { .. })));
    let notice = |event| match event {
        Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }) => Some(notice.what),
        _ => None,
    };
    after.filter_map(notice).collect()
}

#[tokio::test]
async fn sources_that_are_invented_or_missing_are_told_after_the_answer() {
    assert_eq!(reported("answered", "So it is [2].").await, Vec::<String>::new());
    let invented = "The answer names sources that do not exist: [3] [0]";
    assert_eq!(reported("answered", "So it is [1-3], not [0].").await, [invented]);
    assert_eq!(reported("answered", "So it is.").await, ["The answer names no source"]);
}
