//! What models do to a run: answers taken back, conversations too long, budgets used up.

use std::sync::{Arc, Mutex};

use super::fixture::*;
use crate::engine::{Budgets, Limits};
use crate::model::*;
use crate::provider::{Delta, Request};

type Answer = Vec<Result<Delta, UserError>>;

async fn run(
    world: &World,
    budgets: Budgets,
    answer: &str,
    model: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> SessionOutcome {
    let limits = Limits { budgets, ..Limits::default() };
    let handle = world.begin_within(limits, Arc::new(model)).unwrap();
    world.supervise(handle, answer).await.unwrap()
}

fn tokens(most: u64) -> Budget {
    Budget { tokens: Some(most), ..Budget::default() }
}

fn fault() -> UserError {
    UserError::new("cut", "the connection was lost", "")
}

#[tokio::test]
async fn what_an_answer_had_said_before_it_was_cut_is_told_to_nobody() {
    let world = World::new(TEAM);
    let heard: Arc<Mutex<String>> = Arc::default();
    let all = Arc::clone(&heard);
    let outcome = run(&world, Budgets::default(), "stop", move |request| {
        let mut heard = all.lock().unwrap();
        heard.extend(request.messages.iter().map(|message| message.text.as_str()));
        let again = Delta::Again { attempt: 2, most: 3, wait_millis: 0, fault: fault() };
        let half = Delta::Call { tool: "build_project".into(), args: "{}".into() };
        let cut = [Delta::Text("HALF A SENT".into()), half, again].map(Ok);
        cut.into_iter().chain(usual(request)).collect()
    })
    .await;
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(!heard.lock().unwrap().contains("HALF"));
    let builds = world.events().into_iter().filter(|e| matches!(e, Event::BuildStarted { .. }));
    assert_eq!(builds.count(), 2, "calls of a cut answer are not made");
    let faults = |e: &Event| matches!(e, Event::Model(ModelEvent::Faulted { .. }));
    assert!(world.events().iter().any(faults));
}

#[tokio::test]
async fn a_conversation_that_is_refused_is_asked_again_with_less() {
    let world = World::new(TEAM);
    let outcome = run(&world, Budgets::default(), "stop", |request| {
        let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
        match (request.agent.as_str(), request.messages.len()) {
            ("Closer", _) if bytes > 10_000 => {
                vec![Ok(Delta::TooLong { limit: None }), Err(fault())]
            }
            ("Planner", 2) => say(&format!("1. **Writer** : write main.c\n{}", "x".repeat(20_000))),
            _ => usual(request),
        }
    })
    .await;
    assert_eq!(outcome, SessionOutcome::Completed, "{:#?}", world.events());
    let trimmed = world.events().into_iter().find_map(|event| match event {
        Event::Model(ModelEvent::Trimmed { left_out, .. }) => Some(left_out),
        _ => None,
    });
    let what = &trimmed.expect("something was left out")[0].what;
    assert!(what.starts_with("Planner: “1. **Writer**"), "{what}");
}

#[tokio::test]
async fn a_session_asks_when_its_budget_is_used_up_and_goes_on_with_as_much_again() {
    let world = World::new(TEAM);
    let budgets = Budgets { session: tokens(10), ..Budgets::default() };
    assert_eq!(run(&world, budgets, "go on", usual).await, SessionOutcome::Completed);
    let limits = world.events().into_iter().filter_map(|event| match event {
        Event::Model(ModelEvent::Budgeted(budget)) => budget.tokens,
        _ => None,
    });
    let limits: Vec<u64> = limits.collect();
    assert_eq!(limits[..3], [10, 22, 34], "each time 10 more than were used");
    let asked =
        |e: &Event| matches!(e, Event::Asked { text, .. } if text.contains("12 of 10 tokens"));
    assert!(world.events().iter().any(asked));

    let world = World::new(TEAM);
    assert_eq!(run(&world, budgets, "stop", usual).await, SessionOutcome::Stopped);
    let last = world.events().pop();
    assert_eq!(last, Some(Event::SessionEnded { outcome: SessionOutcome::Stopped }));
    let opened = world.events().iter().filter(|e| matches!(e, Event::TurnStarted { .. })).count();
    let ended = world.events().iter().filter(|e| matches!(e, Event::TurnEnded { .. })).count();
    assert_eq!(opened, ended, "everything that began has an end");
}

#[tokio::test]
async fn a_turn_ends_with_its_budget_and_the_run_goes_on() {
    let world = World::new(TEAM);
    let budgets = Budgets { turn: tokens(3), ..Budgets::default() };
    assert_eq!(run(&world, budgets, "stop", usual).await, SessionOutcome::Completed);
    let told = |e: &Event| matches!(e, Event::Noticed { notice, .. } if notice.what == "The turn was ended");
    assert!(world.events().iter().any(told));
    let said = |e: &Event| matches!(e, Event::TextAdded { text, .. } if text == "It is saved.");
    assert!(!world.events().iter().any(said), "the writer had no second round");
}

#[tokio::test]
async fn a_phase_fails_with_its_budget() {
    let world = World::new(TEAM);
    let budgets = Budgets { phase: tokens(5), ..Budgets::default() };
    let SessionOutcome::Failed(error) = run(&world, budgets, "stop", usual).await else { panic!() };
    assert!(error.why.contains("the budget of the phase is used up: 6 of 5 tokens"), "{error:?}");
}

#[tokio::test]
async fn malformed_arguments_go_back_with_what_is_wrong_with_them() {
    let world = World::new(TEAM);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&told);
    run(&world, Budgets::default(), "stop", move |request| {
        let last = request.messages.last().unwrap();
        if last.role == Role::Tool {
            all.lock().unwrap().push(last.text.clone());
        }
        if request.agent.as_str() == "Writer" && last.role != Role::Tool {
            return call("generate_code", r#"{"code": "int a;"#);
        }
        usual(request)
    })
    .await;
    let told = told.lock().unwrap();
    assert!(told[0].contains("malformed_arguments") && told[0].contains("cut off"), "{told:?}");
}

#[tokio::test]
async fn a_choice_of_a_model_that_cannot_be_is_told() {
    let world = World::new(TEAM);
    let waits = |request: &Request| match request.agent.as_str() {
        "Planner" => say("nobody"),
        _ => usual(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(waits)).unwrap();
    handle.intents.send(Intent::UseModel { profile: "other".into() }).await.unwrap();
    let told =
        |e: &Event| matches!(e, Event::Noticed { notice, .. } if notice.what.contains("`other`"));
    until(&world, told).await;
    handle.detach().await;
}
