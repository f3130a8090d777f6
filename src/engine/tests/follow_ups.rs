//! A session goes on when a run is over: one journal, one project, one history of changes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::fixture::*;
use crate::engine::EngineHandle;
use crate::model::event::RunStart;
use crate::model::*;
use crate::model::{PersonEvent, PhaseEvent, ProposalEvent, SessionEvent, TurnEvent};
use crate::provider::Request;

fn next(task: &str) -> Intent {
    Intent::StartRun { task: task.to_owned(), team: None }
}

fn ends(world: &SessionBench) -> Vec<SessionOutcome> {
    let events = world.events().into_iter();
    let ended = events.filter_map(|event| match event {
        Event::Session(SessionEvent::Ended { outcome }) => Some(outcome),
        _ => None,
    });
    ended.collect()
}

/// Approves what waits until so many runs are over.
async fn until_over(world: &SessionBench, handle: &EngineHandle, runs: usize) {
    for _ in 0..5_000 {
        if ends(world).len() == runs {
            return;
        }
        world.decide(handle, "go on").await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("not over: {:#?}", world.events());
}

fn starts(world: &SessionBench) -> Vec<RunStart> {
    let events = world.events().into_iter();
    let started = events.filter_map(|event| match event {
        Event::Session(SessionEvent::RunStarted(start)) => Some(*start),
        _ => None,
    });
    started.collect()
}

fn warnings(world: &SessionBench) -> Vec<String> {
    let events = world.events().into_iter();
    let received = events.filter_map(|event| match event {
        Event::Person(PersonEvent::Noticed { notice, .. }) => Some(notice.to_string()),
        _ => None,
    });
    received.collect()
}

async fn until_warned(world: &SessionBench, words: &str) {
    let is_it = |event: &Event| {
        matches!(event, Event::Person(PersonEvent::Noticed { notice, .. })
            if notice.to_string().contains(words))
    };
    until(world, is_it).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_request_runs_in_the_same_session_and_knows_what_came_before() {
    let world = SessionBench::new(TEAM);
    let received = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&received);
    let model = move |request: &Request| {
        let texts = request.messages.iter().map(|message| message.text.clone());
        sink.lock().unwrap().extend(texts);
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    until_over(&world, &handle, 1).await;
    received.lock().unwrap().clear();
    handle.intents.send(next("make it faster")).await.unwrap();
    until_over(&world, &handle, 2).await;
    assert_eq!(ends(&world), [SessionOutcome::Completed, SessionOutcome::Completed]);
    let start = RunStart {
        number: 2,
        task: "make it faster".into(),
        team: "small".into(),
        why: "there is no other".into(),
        changed: vec![ProjectPath::new("main.txt").unwrap()],
    };
    assert_eq!(starts(&world), [start]);
    let received = received.lock().unwrap().clone();
    assert!(received.iter().any(|text| text == "make it faster"), "{received:#?}");
    let before = "1. “make main.txt” (completed; changed: main.txt)";
    assert!(received.iter().any(|text| text.contains(before)), "{received:#?}");
    assert!(!received.iter().any(|text| text == "make main.txt"), "the old task is no task now");
    super::resume::no_number_twice(&world.events());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_run_is_followed_by_one_that_decides_and_builds() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    handle.intents.send(Intent::Stop).await.unwrap();
    until(&world, |event| matches!(event, Event::Session(SessionEvent::Ended { .. }))).await;
    handle.intents.send(next("make main.txt after all")).await.unwrap();
    until_over(&world, &handle, 2).await;
    assert_eq!(ends(&world), [SessionOutcome::Stopped, SessionOutcome::Completed]);
    assert_eq!(world.file().unwrap(), "mended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_session_waits_for_the_next_request_and_can_take_back_old_changes() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until_over(&world, &handle, 1).await;
    handle.detach().await;
    let last = world.events().into_iter().rev().find_map(|event| match event {
        Event::Proposal(ProposalEvent::Made(proposal)) => Some(proposal.id),
        _ => None,
    });
    let proposal = last.unwrap();
    let handle = world.resume(Arc::new(usual)).unwrap();
    handle.intents.send(Intent::Undo { proposal }).await.unwrap();
    while world.file().as_deref() != Some("a bug") {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    std::fs::write(world.project().join("main.txt"), "something else").unwrap();
    handle.intents.send(next("again")).await.unwrap();
    until_over(&world, &handle, 2).await;
    handle.detach().await;
    // A third one, after another restart.
    let handle = world.resume(Arc::new(usual)).unwrap();
    handle.intents.send(next("and again")).await.unwrap();
    until_over(&world, &handle, 3).await;
    let numbers: Vec<u32> = starts(&world).iter().map(|start| start.number).collect();
    assert_eq!(numbers, [2, 3]);
    super::resume::no_number_twice(&world.events());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_that_is_cut_off_goes_on_with_its_own_task() {
    let whole = SessionBench::new(TEAM);
    let handle = whole.begin(u64::MAX, Arc::new(usual)).unwrap();
    until_over(&whole, &handle, 1).await;
    let first = whole.records().len() as u64;
    handle.intents.send(next("again")).await.unwrap();
    until_over(&whole, &handle, 2).await;
    let total = whole.records().len() as u64;
    for life in (first + 1..total).step_by(3) {
        let world = SessionBench::new(TEAM);
        let handle = world.begin(life, Arc::new(usual)).unwrap();
        until_over(&world, &handle, 1).await;
        handle.intents.send(next("again")).await.unwrap();
        while !handle.is_finished() || (world.records().len() as u64) < life {
            world.decide(&handle, "go on").await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        handle.detach().await;
        let handle = world.resume(Arc::new(usual)).unwrap();
        until_over(&world, &handle, 2).await;
        assert_eq!(ends(&world)[1], SessionOutcome::Completed, "cut off after {life}");
        super::resume::no_number_twice(&world.events());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_started_is_said() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))).await;
    handle.intents.send(next("too early")).await.unwrap();
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Noticed { .. }))).await;
    until_over(&world, &handle, 1).await;
    handle.intents.send(next("   ")).await.unwrap();
    let team = Some("none".to_owned());
    handle.intents.send(Intent::StartRun { task: "x".into(), team }).await.unwrap();
    until_warned(&world, "no team").await;
    std::fs::rename(world.project(), world.project().with_extension("away")).unwrap();
    handle.intents.send(next("nowhere")).await.unwrap();
    until_warned(&world, "is gone").await;
    let received = warnings(&world).join("\n");
    for word in ["not over yet", "no team", "is gone"] {
        assert!(received.contains(word), "{word}: {received}");
    }
    assert_eq!(starts(&world), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_begins_while_a_board_is_written() {
    let world = SessionBench::new(TEAM);
    let (handle, gate) = world.begin_at_gate(Arc::new(usual));
    until_over(&world, &handle, 1).await;
    let work = gate.work_on_board();
    handle.intents.send(next("again")).await.unwrap();
    until_warned(&world, "a board is being written or read").await;
    assert_eq!(starts(&world), []);
    // Once that is done, the same words begin the run.
    drop(work);
    handle.intents.send(next("again")).await.unwrap();
    until_over(&world, &handle, 2).await;
    let tasks: Vec<String> = starts(&world).into_iter().map(|start| start.task).collect();
    assert_eq!(tasks, ["again"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_run_begins_at_once() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    until_over(&world, &handle, 1).await;
    let turns = |world: &SessionBench| {
        let events = world.events().into_iter();
        events.filter(|event| matches!(event, Event::Turn(TurnEvent::Started { .. }))).count()
    };
    let before = turns(&world);
    let pressed = Instant::now();
    handle.intents.send(next("again")).await.unwrap();
    while turns(&world) == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    println!("the next run began after {:?}", pressed.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_that_were_allowed_on_top_are_for_that_run_alone() {
    let world = SessionBench::new(TEAM);
    let late = |request: &Request| match (request.agent.as_str(), request.phase.as_str()) {
        ("Planner", "build") if request.attempt <= 3 => say("Closer : close"),
        _ => usual(request),
    };
    let used_up = crate::engine::AttemptsUsedUp::Ask;
    let limits = crate::engine::EngineLimits { used_up, ..crate::engine::EngineLimits::default() };
    let handle = world.begin_within(limits, Arc::new(late)).unwrap();
    until_over(&world, &handle, 1).await;
    handle.intents.send(next("blink twice")).await.unwrap();
    until_over(&world, &handle, 2).await;
    let starts = world.events().into_iter().filter_map(|event| match event {
        Event::Phase(PhaseEvent::Started { phase, attempt, max_attempts, .. }) => {
            Some((phase, attempt, max_attempts))
        }
        _ => None,
    });
    let starts: Vec<_> = starts.collect();
    let of = |phase: &str, attempt| {
        let of = starts.iter().filter(|(name, number, _)| name == phase && *number == attempt);
        of.map(|(.., most)| *most).collect::<Vec<_>>()
    };
    assert_eq!((of("write", 1), of("build", 1)), (vec![1, 1], vec![3, 3]), "{starts:?}");
    assert_eq!(of("build", 4).first(), Some(&6), "{starts:?}");
}
