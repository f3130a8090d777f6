//! Ways of choosing speakers, plans, files for the context, questions, and the blackboard.

use std::sync::Arc;

use super::fixture::*;
use crate::engine::Supervision;
use crate::model::*;
use crate::model::{PersonEvent, PhaseEvent, SessionEvent, TurnEvent};
use crate::provider::Request;

/// A team of one phase with this way of choosing.
fn team(lines: &str) -> String {
    format!(
        "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n[[phases]]\nname = \"work\"\n\
         title = \"work\"\n{lines}\n"
    )
}

fn choices(world: &SessionBench) -> Vec<(String, String)> {
    let choice = |event: Event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
            Some((agent.to_string(), reason))
        }
        _ => None,
    };
    world.events().into_iter().filter_map(choice).collect()
}

fn speakers(world: &SessionBench) -> Vec<String> {
    choices(world).into_iter().map(|(agent, _)| agent).collect()
}

fn outcome(world: &SessionBench) -> PhaseOutcome {
    let ended = |event: Event| match event {
        Event::Phase(PhaseEvent::Ended { outcome, .. }) => Some(outcome),
        _ => None,
    };
    world.events().into_iter().find_map(ended).unwrap()
}

fn spoke(request: &Request) -> usize {
    request.messages.iter().filter(|m| m.role == MessageRole::Assistant).count()
}

const PIPELINE: &str = r#"
participants = ["Writer", "Builder", "Closer"]
selection = "pipeline"
goal = "build_passed"
terminate = { max_messages = 30 }
[[phases.rework]]
after = "Builder"
failed = "build_project"
through = ["Writer"]
most = 2
"#;

#[tokio::test]
async fn a_pipeline_goes_back_on_failure_and_then_on_to_its_end() {
    let world = SessionBench::new(&team(PIPELINE));
    let model = |request: &Request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        match request.agent.as_str() {
            _ if is_answer => say("done"),
            "Writer" if spoke(request) == 0 => call("generate_code", r#"{"code": "a bug"}"#),
            "Writer" => call("generate_code", r#"{"code": "mended"}"#),
            "Builder" => call("build_project", "{}"),
            _ => call("approve_saved_files", "{}"),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let ended = world.supervise(handle, "stop").await.unwrap();
    assert_eq!(ended, SessionOutcome::Completed);
    assert_eq!(speakers(&world), ["Writer", "Builder", "Writer", "Builder", "Closer"]);
    let reasons: Vec<String> = choices(&world).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons[0], "agent 1 of 3 in this phase");
    assert_eq!(reasons[2], "build_project failed, rework 1 of 2");
    assert_eq!(reasons[4], "agent 3 of 3 in this phase");
    assert_eq!(outcome(&world), PhaseOutcome::Succeeded("the pipeline is complete".into()));
}

#[tokio::test]
async fn a_pipeline_that_fails_too_often_asks_the_person() {
    let world = SessionBench::new(&team(PIPELINE));
    let model = |request: &Request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        match request.agent.as_str() {
            _ if is_answer => say("done"),
            "Writer" => {
                let code = format!(r#"{{"code": "bug {}"}}"#, spoke(request));
                call("generate_code", &code)
            }
            _ => call("build_project", "{}"),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let ended = world.supervise(handle, "stop").await.unwrap();
    assert_eq!(ended, SessionOutcome::Stopped);
    let asked = world.events().into_iter().find_map(|event| match event {
        Event::Person(PersonEvent::Asked { text, .. }) => Some(text),
        _ => None,
    });
    assert!(asked.is_some(), "{:?}", speakers(&world));
}

const SELECTOR: &str = r#"
participants = ["Planner", "Writer", "Builder"]
selection = "selector"
selector = "Planner"
goal = "answered"
terminate = { any = [{ spoke = "Builder" }, { max_messages = 12 }] }
"#;

#[tokio::test]
async fn a_selector_names_each_speaker_and_only_it_hears_itself() {
    let world = SessionBench::new(&team(SELECTOR));
    let model = |request: &Request| {
        let hears_json = request.messages.iter().skip(1).any(|m| m.text.contains("\"next\""));
        assert!(request.agent.as_str() == "Planner" || !hears_json, "{:?}", request.messages);
        let names =
            request.form.as_ref().map(|form| form.schema["properties"]["next"]["enum"].clone());
        let others =
            (request.agent.as_str() == "Planner").then(|| serde_json::json!(["Writer", "Builder"]));
        assert_eq!(names, others, "only the selector's answer has a form");
        match (request.agent.as_str(), spoke(request)) {
            ("Planner", 0) => say(r#"{"next": "Writer", "why": "nothing is written"}"#),
            ("Planner", _) => say(r#"{"next": "Builder", "why": "it is written"}"#),
            _ => say("done"),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(speakers(&world), ["Planner", "Writer", "Planner", "Builder"]);
    assert_eq!(choices(&world)[1].1, "Planner chose Writer: nothing is written");
    assert_eq!(outcome(&world), PhaseOutcome::Succeeded("Builder spoke".into()));
}

#[tokio::test]
async fn a_selector_that_answers_nonsense_is_told_and_then_the_person_is_asked() {
    let world = SessionBench::new(&team(SELECTOR));
    let model = |request: &Request| {
        let reported =
            request.messages.iter().any(|m| m.text.contains("Nobody here is called Tester"));
        assert_eq!(reported, spoke(request) > 0);
        say(r#"{"next": "Tester"}"#)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Stopped);
    assert_eq!(speakers(&world), ["Planner", "Planner", "Planner"]);
    assert!(choices(&world)[1].1.contains("chose nobody"));
}

const HAND_OFF: &str = r#"
participants = ["Writer", "Builder"]
selection = "hand_off"
first = "Writer"
goal = "answered"
terminate = { any = [{ hand_off = "person" }, { max_messages = 9 }] }
"#;

#[tokio::test]
async fn agents_hand_over_to_each_other_until_it_is_the_persons_turn() {
    let world = SessionBench::new(&team(HAND_OFF));
    let model = |request: &Request| {
        let last = request.messages.last().unwrap();
        match (request.agent.as_str(), last.role) {
            ("Writer", MessageRole::Tool) if last.text.contains("bad_arguments") => {
                assert!(last.text.contains("Hand over to one of: Builder."), "{}", last.text);
                call("hand_off", r#"{"agent": "Builder", "task": "build it"}"#)
            }
            (_, MessageRole::Tool) => say("yours"),
            ("Writer", _) => call("hand_off", r#"{"agent": "Tester", "task": "test"}"#),
            _ => call("hand_off", r#"{"agent": "person", "task": "look at it"}"#),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(speakers(&world), ["Writer", "Builder"]);
    assert_eq!(choices(&world)[1].1, "Writer handed over to Builder: “build it”");
    assert_eq!(outcome(&world), PhaseOutcome::Succeeded("it was handed over to person".into()));
}

#[tokio::test]
async fn a_question_of_an_agent_waits_and_its_call_gets_the_answer() {
    let lines = "participants = [\"Writer\"]\nselection = \"round_robin\"\ngoal = \"answered\"\n\
                 terminate = { spoke = \"Writer\" }";
    let world = SessionBench::new(&team(lines));
    let model = |request: &Request| match request.messages.last() {
        Some(last) if last.role == MessageRole::Tool => {
            assert_eq!(last.text, r#"{"ok":true,"answer":"GPIO 4"}"#);
            say("thanks")
        }
        _ => call("ask_user", r#"{"question": "Which pin?", "options": ["GPIO 2", "GPIO 4"]}"#),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "GPIO 4").await.unwrap(), SessionOutcome::Completed);
    let asked = world.events().into_iter().find_map(|event| match event {
        Event::Person(PersonEvent::Asked { agent, text, options, .. }) => {
            Some((agent, text, options.len()))
        }
        _ => None,
    });
    assert_eq!(asked, Some((Some("Writer".into()), "Which pin?".to_owned(), 2)));
    let message = world
        .events()
        .iter()
        .any(|event| matches!(event, Event::Person(PersonEvent::Wrote { .. })));
    assert!(!message, "the answer belongs to the call alone");
}

const PLANNED: &str = r#"
participants = ["Planner", "Writer", "Builder"]
selection = "planner"
planner = "Planner"
review_plan = true
goal = "answered"
terminate = { max_messages = 3 }
"#;

fn plan_of_two(request: &Request) -> Vec<Result<crate::provider::Delta, UserError>> {
    match (request.agent.as_str(), spoke(request)) {
        ("Planner", 0) => say("1. Writer : write\n2. Builder : build"),
        ("Planner", _) => say("go on"),
        _ => say("done"),
    }
}

#[tokio::test]
async fn a_plan_waits_for_the_person_who_may_change_it_first() {
    let mut world = SessionBench::new(&team(PLANNED));
    world.supervision = Supervision::Ask;
    let handle = world.begin(u64::MAX, Arc::new(plan_of_two)).unwrap();
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { question, options, .. }) = asked else { unreachable!() };
    assert_eq!(options, ["start", "stop"]);
    assert_eq!(speakers(&world), ["Planner"]);
    let item = |task: &str, agent: &str| PlanItem { task: task.into(), agent: Some(agent.into()) };
    let items = vec![item("build first", "Builder"), item("ghost", "Nobody")];
    handle.intents.send(Intent::EditPlan { items }).await.unwrap();
    until(&world, |event| {
        matches!(event, Event::Team(TeamEvent::PlanMade { by: None, items }) if items.len() == 2)
    })
    .await;
    let answer = "start".to_owned();
    handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
    handle.join().await.unwrap();
    assert_eq!(speakers(&world), ["Planner", "Builder", "Planner"]);
    assert_eq!(choices(&world)[1].1, "Planner asked Builder to “build first”");
}

#[tokio::test]
async fn other_words_to_a_plan_bring_another_plan() {
    let mut world = SessionBench::new(&team(PLANNED));
    world.supervision = Supervision::Ask;
    let model = |request: &Request| {
        let wants = request.messages.iter().any(|m| m.text == "build first");
        match request.agent.as_str() {
            "Planner" if wants => say("1. Builder : build\n2. Writer : write"),
            "Planner" => say("1. Writer : write\n2. Builder : build"),
            _ => say("done"),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let answer = |n, text: &str| Intent::Answer { question: QuestionId(n), answer: text.into() };
    handle.intents.send(answer(1, "build first")).await.unwrap();
    let second = |event: &Event| matches!(event, Event::Person(PersonEvent::Asked { question, .. }) if question.0 == 2);
    until(&world, second).await;
    handle.intents.send(answer(2, "start")).await.unwrap();
    handle.join().await.unwrap();
    assert_eq!(speakers(&world), ["Planner", "Planner", "Builder"]);
    assert_eq!(choices(&world)[1].1, "you want Planner to plan again");
}

#[tokio::test]
async fn a_plan_without_supervision_is_shown_and_carried_out() {
    let world = SessionBench::new(&team(PLANNED));
    let handle = world.begin(u64::MAX, Arc::new(plan_of_two)).unwrap();
    handle.join().await.unwrap();
    assert_eq!(speakers(&world), ["Planner", "Writer", "Planner"]);
    let is_plan = |event: &Event| matches!(event, Event::Team(TeamEvent::PlanMade { .. }));
    assert!(world.events().iter().any(is_plan));
}

const READING: &str = r#"
participants = ["Reader"]
selection = "round_robin"
goal = "answered"
terminate = { spoke = "Reader" }
"#;

#[tokio::test]
async fn files_for_the_context_wait_with_their_sizes_and_can_be_changed() {
    let mut world = SessionBench::new(&team(READING));
    world.supervision = Supervision::Ask;
    std::fs::write(world.project().join("a.c"), "x".repeat(40)).unwrap();
    let model = |request: &Request| match request.messages.last() {
        Some(last) if last.role == MessageRole::Tool => {
            assert!(last.text.contains(r#""paths":["b.c","c.c"]"#), "{}", last.text);
            say("read")
        }
        _ => call("read_project_files", r#"{"paths": ["a.c", "b.c"]}"#),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { question, .. }) = asked else { unreachable!() };
    let listed = |events: Vec<Event>| {
        let lists = events.into_iter().filter_map(|event| match event {
            Event::Team(TeamEvent::ContextListed { files, .. }) => Some(files),
            _ => None,
        });
        lists.collect::<Vec<_>>()
    };
    let first = listed(world.events()).remove(0);
    let sizes: Vec<_> = first.iter().map(|file| (file.bytes, file.tokens)).collect();
    assert_eq!(sizes, [(Some(40), 10), (None, 0)]);
    let path = |text: &str| ProjectPath::new(text).unwrap();
    let edit = Intent::EditContext { add: vec![path("c.c")], remove: vec![path("a.c")] };
    handle.intents.send(edit).await.unwrap();
    until(&world, |event| {
        matches!(event, Event::Team(TeamEvent::ContextListed { files, .. })
            if files.iter().any(|file| file.by == ChosenBy::Person))
    })
    .await;
    let answer = "read them".to_owned();
    handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Completed);
}

#[tokio::test]
async fn other_words_to_the_files_refuse_the_call() {
    let mut world = SessionBench::new(&team(READING));
    world.supervision = Supervision::Ask;
    let model = |request: &Request| match request.messages.last() {
        Some(last) if last.role == MessageRole::Tool => {
            assert!(last.text.contains("not_chosen") && last.text.contains("only headers"));
            say("as you like")
        }
        _ => call("read_project_files", r#"{"paths": ["a.c"]}"#),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let ended = world.supervise(handle, "only headers").await.unwrap();
    assert_eq!(ended, SessionOutcome::Completed);
}

#[tokio::test]
async fn what_was_produced_is_on_the_blackboard_in_order_and_once() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    world.supervise(handle, "go on").await.unwrap();
    let posted = world.events().into_iter().filter_map(|event| match event {
        Event::Team(TeamEvent::ArtifactPosted(artifact)) => Some(artifact),
        _ => None,
    });
    let posted: Vec<Artifact> = posted.collect();
    assert!(posted.iter().map(|artifact| artifact.number).eq(1..=posted.len() as u32));
    let kinds: Vec<ArtifactKind> = posted.iter().map(|artifact| artifact.kind).collect();
    assert_eq!(kinds, [ArtifactKind::Task, ArtifactKind::Error, ArtifactKind::Result]);
}

#[tokio::test]
async fn a_plan_that_was_carried_out_does_not_wait_after_a_restart() {
    let mut world = SessionBench::new(&team(PLANNED));
    let handle = world.begin(u64::MAX, Arc::new(plan_of_two)).unwrap();
    until(
        &world,
        |event| matches!(event, Event::Turn(TurnEvent::SpeakerChosen { agent, .. }) if agent.as_str() == "Writer"),
    )
    .await;
    handle.detach().await;
    let is_over = world
        .events()
        .iter()
        .any(|event| matches!(event, Event::Session(SessionEvent::Ended { .. })));
    if is_over {
        return;
    }
    world.supervision = Supervision::Ask;
    let handle = world.resume(Arc::new(plan_of_two)).unwrap();
    handle.join().await.unwrap();
    assert!(
        !world
            .events()
            .iter()
            .any(|event| matches!(event, Event::Person(PersonEvent::Asked { .. })))
    );
}
