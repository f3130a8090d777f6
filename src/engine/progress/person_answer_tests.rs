//! Tests of what the person's answer to a question changes in a run.

use std::sync::Arc;

use crate::engine::setup::{Budgets, EngineLimits};
use crate::engine::tests::fixture::*;
use crate::model::{Budget, Event, Intent, ModelEvent, PersonEvent, QuestionId, SessionOutcome};

fn tokens(most: u64) -> EngineLimits {
    let session = Budget { tokens: Some(most), ..Budget::default() };
    let budgets = Budgets { session, ..Budgets::default() };
    EngineLimits { budgets, ..EngineLimits::default() }
}

fn budgets(world: &SessionBench) -> usize {
    let is_budget = |event: &Event| matches!(event, Event::Model(ModelEvent::Budgeted(_)));
    world.events().iter().filter(|event| is_budget(event)).count()
}

#[tokio::test]
async fn only_an_answer_that_was_offered_allows_more() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin_within(tokens(5), Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let question = QuestionId(1);
    let answer = "sure, why not".to_owned();
    handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
    let is_hint = |event: &Event| matches!(event, Event::Person(PersonEvent::Noticed { notice, .. }) if notice.fix == "Answer 1 (go on) or 2 (stop).");
    until(&world, is_hint).await;
    let is_answer = |event: &Event| matches!(event, Event::Person(PersonEvent::Answered { .. }));
    assert!(!world.events().iter().any(is_answer) && budgets(&world) == 1);
    assert_eq!(world.supervise(handle, "2").await.unwrap(), SessionOutcome::Stopped);
    assert_eq!(budgets(&world), 1, "the number of the second answer is the second answer");
}

#[tokio::test]
async fn nobody_is_asked_for_more_when_nothing_more_is_to_be_done() {
    let team = "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n\
        [[phases]]\nname = \"work\"\ntitle = \"work\"\ngoal = \"answered\"\n\
        selection = \"pipeline\"\nparticipants = [\"Closer\"]\n\
        terminate = { max_messages = 1 }\n";
    let world = SessionBench::new(team);
    let handle = world.begin_within(tokens(1), Arc::new(|_: &_| say("Done."))).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
}
