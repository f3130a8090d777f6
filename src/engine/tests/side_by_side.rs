//! Steps of a plan that are carried out side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fixture::*;
use super::resume::no_number_twice;
use crate::config::{Origin, Policy, PolicyRule, Ruling};
use crate::model::*;
use crate::provider::{Delta, Request};

const TEAM: &str = r#"
name = "small"
title = "Steps"
description = "x"
[[phases]]
name = "plan"
title = "plan"
participants = ["Planner"]
selection = "round_robin"
planner = "Planner"
goal = "planned"
terminate = { spoke = "Planner" }
[[phases]]
name = "step"
title = "step"
for_each = "plan"
parallel = 3
participants = ["Writer", "Builder"]
selection = "pipeline"
context = ["plan"]
goal = "runs_passed"
terminate = { max_messages = 6 }
[[phases]]
name = "review"
title = "review"
participants = ["Closer"]
selection = "round_robin"
context = ["plan"]
goal = "answered"
terminate = { spoke = "Closer" }
"#;

/// The first three steps wait for nothing, the last one for all.
const PLAN: &str = "1. the store (after nothing)\n2. the list (after nothing)\n\
                    3. the help (after nothing)\n4. the program";

fn mentions(request: &Request, words: &str) -> bool {
    request.messages.iter().any(|message| message.text.contains(words))
}

fn is_answered(request: &Request) -> bool {
    request.messages.last().is_some_and(|last| last.role == MessageRole::Tool)
}

fn usual(request: &Request) -> Vec<Result<Delta, UserError>> {
    match request.agent.as_str() {
        "Planner" => say(PLAN),
        "Builder" if mentions(request, "step 2 of 4 alone") && !is_answered(request) => {
            call("run_tests", "{}")
        }
        "Closer" => say("reviewed"),
        "Builder" if !is_answered(request) => call("run_code", "{}"),
        agent => {
            let step = request.step.unwrap_or_default();
            say(&format!("{agent} has done step {step}"))
        }
    }
}

/// What happened in the chats of steps, in order: `1 begins`, `1 Writer`, `1 ends`.
fn story(world: &SessionBench) -> Vec<String> {
    let reported = |event: Event| match event {
        Event::Phase(PhaseEvent::Started { step: Some(step), .. }) => {
            Some(format!("{step} begins"))
        }
        Event::Turn(TurnEvent::Started { step: Some(step), agent, .. }) => {
            Some(format!("{step} {agent}"))
        }
        Event::Phase(PhaseEvent::Ended { step: Some(step), .. }) => Some(format!("{step} ends")),
        _ => None,
    };
    world.events().into_iter().filter_map(reported).collect()
}

#[tokio::test]
async fn steps_that_do_not_wait_for_each_other_are_carried_out_side_by_side() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| {
        if let Some(step @ 1..=3) = request.step {
            let others = (1..=3).filter(|other| *other != step);
            let is_alone = !others.into_iter().any(|other| {
                mentions(request, &format!("has done step {other}"))
                    || mentions(request, &format!("step {other} of 4 alone"))
            });
            assert!(is_alone, "{:?}", request.messages);
        }
        if request.step == Some(4) {
            assert!(mentions(request, "3. [done] the help"), "{:?}", request.messages);
        }
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "go on").await.unwrap();
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.why, "step 2 of 4 needs attention");
    let story = story(&world);
    let begun = ["1 begins", "2 begins", "3 begins", "1 Writer", "2 Writer", "3 Writer"];
    assert_eq!(story[..6], begun, "{story:?}");
    assert_eq!(story[story.len() - 4..], ["4 begins", "4 Writer", "4 Builder", "4 ends"]);
}

#[tokio::test]
async fn a_step_whose_model_says_nothing_does_not_hold_up_the_others() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match (request.step, request.agent.as_str()) {
        (Some(1), "Writer") => hang_after("I begin"),
        (Some(1..=3), _) => say("done"),
        _ => usual(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    for step in [2, 3] {
        let is_end = |event: &Event| matches!(event, Event::Phase(PhaseEvent::Ended { step: Some(of), .. }) if *of == step);
        until(&world, is_end).await;
    }
    assert!(!story(&world).iter().any(|reported| reported == "1 ends" || reported == "4 begins"));
    handle.intents.send(Intent::Stop).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
    assert!(story(&world).contains(&"1 ends".to_owned()));
}

#[tokio::test]
async fn a_stop_ends_every_open_chat() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match request.step {
        Some(_) => hang_after("I begin"),
        None => usual(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    until(
        &world,
        |event| matches!(event, Event::Turn(TurnEvent::TextAdded { turn, .. }) if turn.0 == 4),
    )
    .await;
    handle.intents.send(Intent::Stop).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
    let ends = world.events().into_iter().filter(|event| {
        matches!(
            event,
            Event::Phase(PhaseEvent::Ended { step: Some(_), outcome: PhaseOutcome::Stopped, .. })
        )
    });
    assert_eq!(ends.count(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cut_off_while_steps_are_open_goes_on_in_all_of_them() {
    let whole = SessionBench::new(TEAM);
    let handle = whole.begin(u64::MAX, Arc::new(usual)).unwrap();
    let outcome = whole.supervise(handle, "go on").await.unwrap();
    let sorted = |world: &SessionBench| {
        let begun = story(world).into_iter().filter(|reported| !reported.contains("er"));
        let mut begun: Vec<String> = begun.collect();
        begun.sort();
        begun
    };
    let total = whole.records().len() as u64;
    for life in 1..total {
        let world = SessionBench::new(TEAM);
        if let Ok(handle) = world.begin(life, Arc::new(usual)) {
            world.supervise(handle, "go on").await.unwrap_err();
        }
        let handle = world.resume(Arc::new(usual)).unwrap();
        let ended = world.supervise(handle, "go on").await.unwrap();
        assert_eq!(ended, outcome, "cut off after {life}");
        assert_eq!(sorted(&world), sorted(&whole), "cut off after {life}");
        no_number_twice(&world.events());
    }
}

#[tokio::test]
async fn questions_of_several_steps_come_one_at_a_time_and_each_gets_its_answer() {
    let world = SessionBench::new(&TEAM.replace("runs_passed", "answered"));
    let model = |request: &Request| match (request.step, request.agent.as_str()) {
        (Some(step @ 1..=2), "Writer") if is_answered(request) => {
            let own = format!(r#"{{"ok":true,"answer":"for {step}"}}"#);
            assert_eq!(request.messages.last().unwrap().text, own);
            say("thanks")
        }
        (Some(step @ 1..=2), "Writer") => {
            call("ask_user", &format!(r#"{{"question": "What for {step}?"}}"#))
        }
        _ => say(if request.agent.as_str() == "Planner" { PLAN } else { "done" }),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let mut answered = 0;
    while !handle.is_finished() {
        let (mut open, mut count) = (BTreeMap::new(), 0);
        for event in world.events() {
            match event {
                Event::Person(PersonEvent::Asked { question, text, step, agent, .. }) => {
                    assert!(agent.is_some());
                    assert_eq!(text, format!("What for {}?", step.unwrap()));
                    open.insert(question, step.unwrap());
                    count += 1;
                }
                Event::Person(PersonEvent::Answered { question, .. }) => _ = open.remove(&question),
                _ => {}
            }
            assert!(open.len() <= 1, "one question at a time");
        }
        if let Some((question, step)) = open.into_iter().next().filter(|_| count > answered) {
            answered = count;
            let answer = format!("for {step}");
            handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Completed);
    assert_eq!(answered, 2);
}

/// Steps 1 and 2 write the same file, the second one by this agent.
fn both_write(
    second: &'static str,
    [one, two]: [&'static str; 2],
) -> impl Fn(&Request) -> Vec<Result<Delta, UserError>> + Send + Sync {
    let save = |code: &str| call("generate_code", &serde_json::json!({ "code": code }).to_string());
    move |request| match (request.step, request.agent.as_str()) {
        (Some(_), _) if is_answered(request) => say("I handed it in"),
        (Some(1), "Writer") => save(one),
        (Some(2), agent) if agent == second => save(two),
        (Some(_), _) => say("done"),
        _ => say(if request.agent.as_str() == "Planner" { PLAN } else { "done" }),
    }
}

/// The second agent of a step may hand in files, too.
fn of_two_writers() -> SessionBench {
    SessionBench::new(&TEAM.replace("Builder", "Second"))
}

fn allow_all() -> Policy {
    let origin = Origin::User { file: "test.toml".into(), line: 1 };
    let (tool, agent, path) = (None, None, None);
    Policy::new(vec![PolicyRule { decide: Ruling::Allow, kind: None, tool, agent, path, origin }])
}

#[tokio::test]
async fn a_file_that_two_steps_write_differently_is_put_before_the_person() {
    for second in ["Writer", "Second"] {
        let world = of_two_writers();
        std::fs::write(world.project().join("main.txt"), "zero\n").unwrap();
        let model = Arc::new(both_write(second, ["one\n", "two\n"]));
        let (handle, ..) = world.begin_under(allow_all(), model);
        let restated =
            until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Restated { .. })))
                .await;
        let Event::Proposal(ProposalEvent::Restated { proposal, change, checks, .. }) = restated
        else {
            panic!("{restated:?}")
        };
        let mut findings = checks.iter().flat_map(|check| &check.findings);
        let finding = findings.find(|finding| finding.text.contains("meet at line 1"));
        assert_eq!(finding.unwrap().level, FindingLevel::Stop, "{second}: {checks:?}");
        let is_first = |event: &Event| match event {
            Event::Proposal(ProposalEvent::Made(made)) if made.id == proposal => {
                made.reason.contains("Another step of the plan has changed this file")
            }
            _ => false,
        };
        assert!(world.events().iter().any(is_first), "{second}");
        // Either may be first.
        let first = world.file().unwrap();
        assert!(["one\n", "two\n"].contains(&first.as_str()), "{second}: {first}");
        let shown = Shown::whole(proposal, change.hash());
        let verdict = Verdict::reject("keep what the other step wrote");
        handle.intents.send(Intent::Decide { shown, verdict }).await.unwrap();
        world.supervise(handle, "go on").await.unwrap();
        assert_eq!(world.file().unwrap(), first, "{second}");
    }
}

#[tokio::test]
async fn changes_of_two_steps_in_different_places_of_a_file_are_merged() {
    let world = of_two_writers();
    std::fs::write(world.project().join("main.txt"), "a\nb\nc\nd\ne\n").unwrap();
    let model = both_write("Second", ["one\nb\nc\nd\ne\n", "a\nb\nc\nd\ntwo\n"]);
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let is_restated =
        |event: &Event| matches!(event, Event::Proposal(ProposalEvent::Restated { .. }));
    let mut restated = None;
    while restated.is_none() {
        world.decide(&handle, "go on").await;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        restated = world.events().into_iter().find(is_restated);
    }
    let Some(Event::Proposal(ProposalEvent::Restated { proposal, change, .. })) = restated else {
        panic!("{restated:?}")
    };
    let shown = Shown::whole(proposal, change.hash());
    handle.intents.send(Intent::Decide { shown, verdict: Verdict::Approve }).await.unwrap();
    world.supervise(handle, "go on").await.unwrap();
    assert_eq!(world.file().unwrap(), "one\nb\nc\nd\ntwo\n");
}
