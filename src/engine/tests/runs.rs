//! Turns, tool calls, phases and attempts.

use std::sync::{Arc, Mutex};

use super::fixture::*;
use crate::engine::EngineLimits;
use crate::model::*;
use crate::model::{BuildEvent, PersonEvent, PhaseEvent, ProposalEvent, TurnEvent};
use crate::provider::{Delta, Request};

async fn run(
    world: &SessionBench,
    model: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> Ended {
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    world.supervise(handle, "stop").await
}

/// Phase, attempt and messages of a first request.
type Opened = (String, u32, Vec<String>);
type Answer = Vec<Result<Delta, UserError>>;
type Ended = Result<SessionOutcome, UserError>;

#[tokio::test]
async fn each_attempt_begins_with_a_fresh_short_chat() {
    let world = SessionBench::new(TEAM);
    let opened: Arc<Mutex<Vec<Opened>>> = Arc::default();
    let seen = Arc::clone(&opened);
    let outcome = run(&world, move |request| {
        let texts: Vec<String> = request.messages.iter().map(|m| m.text.clone()).collect();
        let is_first = !request.messages.iter().any(|m| m.role == MessageRole::Assistant);
        if request.agent.as_str() == "Planner" && is_first {
            seen.lock().unwrap().push((request.phase.clone(), request.attempt, texts));
        }
        usual(request)
    })
    .await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Completed);
    let opened = opened.lock().unwrap();
    let places: Vec<(&str, u32)> = opened.iter().map(|(p, a, _)| (p.as_str(), *a)).collect();
    assert_eq!(places, [("write", 1), ("build", 1), ("build", 2)]);
    assert_eq!(opened[0].2[1..], ["make main.txt"]);
    assert_eq!(
        opened[1].2[1..],
        ["make main.txt", "Files of the project:\n- main.txt (5 bytes)\n"]
    );
    let last = "The last build failed:\na bug";
    assert_eq!(
        opened[2].2[1..],
        ["make main.txt", "Files of the project:\n- main.txt (6 bytes)\n", last]
    );
    let ends: Vec<Event> = world
        .events()
        .into_iter()
        .filter(|e| matches!(e, Event::Phase(PhaseEvent::Ended { .. })))
        .collect();
    let Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(why), attempt: 1, .. }) =
        &ends[1]
    else {
        panic!("{ends:?}")
    };
    assert_eq!(
        why,
        "no build of the current files passed; the agents ended it (approve_saved_files)"
    );
}

#[tokio::test]
async fn where_a_person_is_there_a_phase_out_of_attempts_asks_for_more() {
    let late = |request: &Request| match (request.agent.as_str(), request.phase.as_str()) {
        ("Planner", "build") if request.attempt <= 3 => say("Closer : close"),
        _ => usual(request),
    };
    let used_up = crate::engine::AttemptsUsedUp::Ask;
    for answer in ["go on", "end the run"] {
        let world = SessionBench::new(TEAM);
        let limits = EngineLimits { used_up, ..EngineLimits::default() };
        let handle = world.begin_within(limits, Arc::new(late)).unwrap();
        let outcome = world.supervise(handle, answer).await.unwrap();
        let asked = world.events().into_iter().find_map(|event| match event {
            Event::Person(PersonEvent::Asked { text, agent: None, .. }) => Some(text),
            _ => None,
        });
        let asked = asked.expect("the person is asked");
        assert!(asked.contains("“build & fix” did not reach its goal in 3 attempts"), "{asked}");
        let more = world.events().into_iter().any(|event| {
            matches!(event, Event::Phase(PhaseEvent::Started { attempt: 4, max_attempts: 6, .. }))
        });
        match (answer, outcome) {
            ("go on", SessionOutcome::Completed) => assert!(more),
            ("end the run", SessionOutcome::Failed(error)) => {
                assert!(!more && error.what.contains("after 3 attempts"), "{error:?}");
            }
            (answer, outcome) => panic!("{answer}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn a_phase_out_of_attempts_fails_the_session_with_a_clear_reason() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, |request| match (request.agent.as_str(), request.phase.as_str()) {
        ("Planner", "build") => say("Closer : close"),
        _ => usual(request),
    })
    .await;
    let SessionOutcome::Failed(error) = outcome.unwrap() else { panic!() };
    assert_eq!(error.what, "The phase “build & fix” did not reach its goal after 3 attempts");
    let attempts = world.events().into_iter().filter_map(|event| match event {
        Event::Phase(PhaseEvent::Started { phase, attempt, max_attempts: 3, .. })
            if phase == "build" =>
        {
            Some(attempt)
        }
        _ => None,
    });
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 3]);
}

fn answers(events: &[Event]) -> Vec<serde_json::Value> {
    let answer = |event: &Event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => Some(result.clone()),
        _ => None,
    };
    events.iter().filter_map(answer).collect()
}

#[tokio::test]
async fn wrong_calls_are_answered_with_what_is_wrong_and_the_third_asks_the_person() {
    for (tool, args, code) in [
        ("generate_code", "not json", "malformed_arguments"),
        ("generate_code", "[1]", "malformed_arguments"),
        ("generate_code", "{}", "bad_arguments"),
        ("make_coffee", "{}", "unknown_tool"),
        ("build_project", "{}", "tool_not_allowed"),
    ] {
        let world = SessionBench::new(TEAM);
        let outcome = run(&world, move |request| match request.agent.as_str() {
            "Planner" => say("Writer : write"),
            // Some other words each time, so that only the wrong calls count.
            _ => {
                let text = format!("try {}", request.messages.len());
                let mut deltas = vec![Ok(Delta::Text(text))];
                deltas.extend(call(tool, args));
                deltas
            }
        })
        .await;
        assert_eq!(outcome.unwrap(), SessionOutcome::Stopped);
        let answers = answers(&world.events());
        assert_eq!(answers[0]["error"]["code"], code, "{args}");
        let asked =
            until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
        let Event::Person(PersonEvent::Asked { text, .. }) = asked else { unreachable!() };
        assert_eq!(text, "Writer called its tools incorrectly three times in a row. Continue?");
        assert_eq!(answers.len(), 3);
    }
}

#[tokio::test]
async fn an_agent_that_errs_once_can_correct_itself() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, |request| {
        let last = request.messages.last().unwrap();
        let is_first = last.role != MessageRole::Tool;
        match (request.agent.as_str(), request.phase.as_str()) {
            ("Writer", "write") if is_first => call("generate_code", "{\"code\": "),
            ("Writer", "write") if last.text.contains("malformed") => {
                call("generate_code", r#"{"code": "fine"}"#)
            }
            _ => usual(request),
        }
    })
    .await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Completed);
    assert_eq!(world.file().unwrap(), "fine");
}

#[tokio::test]
async fn the_same_files_again_are_not_saved_before_the_person_is_asked() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, |request| match request.agent.as_str() {
        "Planner" => say("Writer : again"),
        _ if request.messages.last().unwrap().role == MessageRole::Tool => say("Again."),
        _ => call("generate_code", r#"{"code": "same"}"#),
    })
    .await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Stopped);
    let events = world.events();
    let proposed = events
        .iter()
        .filter(|event| matches!(event, Event::Proposal(ProposalEvent::Made(_))))
        .count();
    assert_eq!(proposed, 1);
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { text, .. }) = asked else { unreachable!() };
    assert_eq!(text, "Writer wrote the same files as last time. Continue?");
}

#[tokio::test]
async fn the_same_failing_build_again_asks_the_person() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, |request| match (request.agent.as_str(), request.phase.as_str()) {
        ("Planner", "build") => say("Builder : build"),
        _ => usual(request),
    })
    .await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Stopped);
    let events = world.events();
    let builds = events
        .iter()
        .filter(|event| matches!(event, Event::Build(BuildEvent::Started { .. })))
        .count();
    assert_eq!(builds, 2);
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { text, .. }) = asked else { unreachable!() };
    assert_eq!(text, "The build fails in the same way as before. Continue?");
}

#[tokio::test]
async fn conditions_that_must_hold_together_end_an_attempt_only_together() {
    let both =
        r#"terminate = { all = [{ text = "ENOUGH", agent = "Closer" }, { max_messages = 4 }] }"#;
    let old = r#"terminate = { any = [{ tool = "approve_saved_files", answer = "ok" }, { max_messages = 20 }] }"#;
    let world = SessionBench::new(&TEAM.replace(old, both));
    let outcome = run(&world, |request| match request.agent.as_str() {
        "Planner" => say("Closer : ENOUGH"),
        _ => say(&format!("ENOUGH {}", request.messages.len())),
    })
    .await;
    assert!(matches!(outcome.unwrap(), SessionOutcome::Failed(_)));
    let events = world.events();
    assert_eq!(
        events.iter().filter(|e| matches!(e, Event::Turn(TurnEvent::Ended { .. }))).count(),
        4
    );
    let Some(Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(why), .. })) =
        events.iter().find(|event| matches!(event, Event::Phase(PhaseEvent::Ended { .. })))
    else {
        panic!()
    };
    assert!(why.contains("Closer said “ENOUGH” and the limit of 4 messages"), "{why}");
}

#[tokio::test]
async fn a_model_that_fails_asks_the_person_and_takes_the_turn_again() {
    let world = SessionBench::new(TEAM);
    let failures = Mutex::new(1);
    let model = move |request: &Request| {
        let mut left = failures.lock().unwrap();
        if request.agent.as_str() == "Writer" && *left > 0 {
            *left -= 1;
            let dry = UserError::new("No answer", "the script has run dry", "");
            return vec![Ok(Delta::Text("Half a".into())), Err(dry)];
        }
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "retry").await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Completed);
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { text, options, .. }) = asked else { unreachable!() };
    assert_eq!(text, "The model did not answer Writer: the script has run dry. Try again?");
    assert_eq!(options, ["retry", "stop"]);
    let events = world.events();
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Turn(TurnEvent::Ended { stop: TurnStop::Failed(_), .. })))
    );
    assert!(events.iter().any(|e| matches!(e, Event::Person(PersonEvent::Noticed { .. }))));
}

#[tokio::test]
async fn text_is_recorded_whole_and_in_few_pieces() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, |request| match request.agent.as_str() {
        "Planner" => {
            let pieces = (0..1_000).map(|i| Ok(Delta::Text(format!("{i} "))));
            pieces.chain([Ok(done())]).collect()
        }
        _ => say("x"),
    })
    .await;
    assert_eq!(outcome.unwrap(), SessionOutcome::Stopped);
    let mut text = String::new();
    let mut pieces = 0;
    for event in world.events() {
        if let Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: more }) = event {
            text.push_str(&more);
            pieces += 1;
        }
    }
    let expected: String = (0..1_000).map(|i| format!("{i} ")).collect();
    assert_eq!(text, expected);
    assert!((2..500).contains(&pieces), "{pieces}");
}
