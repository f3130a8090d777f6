//! What models do to a run: answers taken back, conversations too long, budgets used up.

use std::sync::{Arc, Mutex};

use super::fixture::*;
use crate::engine::{Budgets, EngineLimits};
use crate::model::event::SessionChoices;
use crate::model::*;
use crate::model::{BuildEvent, PersonEvent, SessionEvent, TurnEvent};
use crate::provider::{Delta, Request};

type Answer = Vec<Result<Delta, UserError>>;

async fn run(
    world: &SessionBench,
    budgets: Budgets,
    answer: &str,
    model: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> SessionOutcome {
    let limits = EngineLimits { budgets, ..EngineLimits::default() };
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
    let world = SessionBench::new(TEAM);
    let received: Arc<Mutex<String>> = Arc::default();
    let all = Arc::clone(&received);
    let outcome = run(&world, Budgets::default(), "stop", move |request| {
        let mut received = all.lock().unwrap();
        received.extend(request.messages.iter().map(|message| message.text.as_str()));
        let again = Delta::Again { attempt: 2, most: 3, wait_millis: 0, fault: fault() };
        let half = Delta::Call { tool: "build_project".into(), args: "{}".into() };
        let cut = [Delta::Text("HALF A SENT".into()), half, again].map(Ok);
        cut.into_iter().chain(usual(request)).collect()
    })
    .await;
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(!received.lock().unwrap().contains("HALF"));
    let builds = world
        .events()
        .into_iter()
        .filter(|e| matches!(e, Event::Build(BuildEvent::Started { .. })));
    assert_eq!(builds.count(), 2, "calls of a cut answer are not made");
    let faults = |e: &Event| matches!(e, Event::Model(ModelEvent::Faulted { .. }));
    assert!(world.events().iter().any(faults));
}

#[tokio::test]
async fn a_call_is_shown_while_it_is_written_and_leaves_no_record() {
    let world = SessionBench::new(TEAM);
    let part = |place, args: &str| {
        Ok(Delta::CallPart { place, tool: "generate_code".into(), args: args.into() })
    };
    let model = move |_: &Request| {
        let mut answer = vec![
            part(0, "{\"reason\": \"a SECRET"),
            part(0, " plan\", \"path\": \"a"),
            part(1, ""),
        ];
        answer.extend(hang_after("").split_off(1));
        answer
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let mut open = handle.open_calls.clone();
    let grown = tokio::time::timeout(std::time::Duration::from_secs(5), async {
        open.wait_for(|calls| calls.len() == 2).await.unwrap().to_vec()
    });
    let grown = grown.await.unwrap();
    assert_eq!((grown[0].turn, grown[0].call, grown[1].call), (TurnId(1), CallId(1), CallId(2)));
    let words: Vec<(&str, &str, bool)> = grown[0]
        .args
        .iter()
        .map(|arg| (arg.label.as_str(), arg.newest.as_str(), arg.is_whole))
        .collect();
    assert_eq!(words, [("reason", "a SECRET plan", true), ("path", "a", false)]);
    handle.intents.send(Intent::Stop).await.unwrap();
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
    assert!(open.borrow_and_update().is_empty(), "a stopped call is gone");
    assert!(!format!("{:?}", world.events()).contains("SECRET"));
}

#[tokio::test]
async fn a_conversation_that_is_refused_is_asked_again_with_less() {
    let world = SessionBench::new(TEAM);
    let outcome = run(&world, Budgets::default(), "stop", |request| {
        let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
        match (request.agent.as_str(), request.messages.len()) {
            ("Closer", _) if bytes > 10_000 => {
                vec![Ok(Delta::TooLong { limit: None }), Err(fault())]
            }
            ("Planner", 2) => {
                say(&format!("1. **Writer** : write main.txt\n{}", "x".repeat(20_000)))
            }
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

/// The planner says so much that the closer's service refuses the conversation; a request for a
/// summary is answered with `summary`. What is asked is kept.
fn refusing(summary: &'static str, asked: &Arc<Mutex<Vec<Request>>>) -> Arc<Model> {
    let all = Arc::clone(asked);
    Arc::new(move |request: &Request| {
        all.lock().unwrap().push(request.clone());
        let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
        let is_of_summary = request.messages[0].text.starts_with("You shorten the record");
        match (request.agent.as_str(), request.messages.len()) {
            _ if is_of_summary => say(summary),
            ("Closer", _) if bytes > 10_000 => {
                vec![Ok(Delta::TooLong { limit: None }), Err(fault())]
            }
            ("Planner", 2) => {
                say(&format!("1. **Writer** : write main.txt\n{}", "x".repeat(20_000)))
            }
            _ => usual(request),
        }
    })
}

async fn refused(world: &SessionBench, summary: &'static str) -> Vec<Request> {
    let asked = Arc::default();
    let handle = world.begin(u64::MAX, refusing(summary, &asked)).unwrap();
    let outcome = world.supervise(handle, "stop").await.unwrap();
    assert_eq!(outcome, SessionOutcome::Completed, "{:#?}", world.events());
    std::mem::take(&mut *asked.lock().unwrap())
}

fn summaries(world: &SessionBench) -> Vec<ChatSummary> {
    let summaries = world.events().into_iter().filter_map(|event| match event {
        Event::Model(ModelEvent::Summarised(summary)) => Some(*summary),
        _ => None,
    });
    summaries.collect()
}

/// Whether the conversation goes on from the summary.
fn has_summary(request: &Request) -> bool {
    let texts: Vec<&str> = request.messages.iter().map(|it| it.text.as_str()).collect();
    assert!(!texts.iter().any(|text| text.len() > 10_000));
    texts[1].contains("make main.txt") && texts.iter().any(|text| text.ends_with("was saved."))
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_summarised_and_the_summary_is_sent_from_then_on() {
    let world = SessionBench::new(TEAM);
    let asked = refused(&world, "The writer wrote main.txt, which was saved.").await;
    let made = summaries(&world);
    let first = &made[0];
    assert!(first.failed.is_none() && first.usage.total() > 0, "{first:?}");
    assert!(first.messages() >= 1 && first.replaces[0].turn == TurnId(1), "{first:?}");
    let cut = |e: &Event| matches!(e, Event::Model(ModelEvent::Trimmed { .. }));
    assert!(!world.events().iter().any(cut), "nothing has to be left out");
    let at = asked.iter().position(|it| it.messages[0].text.starts_with("You shorten")).unwrap();
    let request = &asked[at];
    assert!(request.tools.is_empty() && request.messages.len() == 2);
    assert!(request.messages[1].text.contains("Planner: 1. **Writer** : write main.txt"));
    let mut later = asked.iter().skip(at + 1).filter(|it| it.phase == request.phase).peekable();
    assert!(later.peek().is_some() && later.all(has_summary));
}

#[tokio::test]
async fn without_a_summary_parts_are_left_out_as_before_and_the_reason_is_shown() {
    let world = SessionBench::new(TEAM);
    refused(&world, "").await;
    let made = summaries(&world);
    assert_eq!(made.len(), 1, "it is not asked for again in the same turn");
    assert!(made[0].failed.as_ref().is_some_and(|why| why.why.contains("empty")), "{made:?}");
    assert!(made[0].usage.total() > 0, "what it cost counts");
    let cut = |e: &Event| matches!(e, Event::Model(ModelEvent::Trimmed { .. }));
    assert!(world.events().iter().any(cut));
}

#[tokio::test]
async fn a_run_that_is_cut_off_after_the_summary_goes_on_from_it() {
    let summary = "The writer wrote main.txt, which was saved.";
    let whole = SessionBench::new(TEAM);
    refused(&whole, summary).await;
    let is_made = |e: &Event| matches!(e, Event::Model(ModelEvent::Summarised(_)));
    let made = whole.events().iter().position(is_made).unwrap() as u64;
    let (world, asked) = (SessionBench::new(TEAM), Arc::default());
    let handle = world.begin(made + 1, refusing(summary, &asked)).unwrap();
    world.supervise(handle, "stop").await.unwrap_err();
    assert!(is_made(&world.events()[made as usize]));
    asked.lock().unwrap().clear();
    let handle = world.resume(refusing(summary, &asked)).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    let asked = asked.lock().unwrap();
    let phase = &asked[0].phase;
    assert!(asked.iter().filter(|it| it.phase == *phase).all(has_summary));
}

#[tokio::test]
async fn a_session_asks_when_its_budget_is_used_up_and_goes_on_with_as_much_again() {
    let world = SessionBench::new(TEAM);
    let budgets = Budgets { session: tokens(10), ..Budgets::default() };
    assert_eq!(run(&world, budgets, "go on", usual).await, SessionOutcome::Completed);
    let limits = world.events().into_iter().filter_map(|event| match event {
        Event::Model(ModelEvent::Budgeted(budget)) => budget.tokens,
        _ => None,
    });
    let limits: Vec<u64> = limits.collect();
    assert_eq!(limits[..3], [10, 22, 34], "each time 10 more than were used");
    assert!(world.events().iter().any(is_asked));

    let world = SessionBench::new(TEAM);
    assert_eq!(run(&world, budgets, "stop", usual).await, SessionOutcome::Stopped);
    let last = world.events().pop();
    assert_eq!(
        last,
        Some(Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped }))
    );
    let opened = world
        .events()
        .iter()
        .filter(|e| matches!(e, Event::Turn(TurnEvent::Started { .. })))
        .count();
    let ended =
        world.events().iter().filter(|e| matches!(e, Event::Turn(TurnEvent::Ended { .. }))).count();
    assert_eq!(opened, ended, "everything that began has an end");
}

/// Whether the person is asked for more than ten tokens.
fn is_asked(event: &Event) -> bool {
    matches!(event, Event::Person(PersonEvent::Asked { text, .. }) if text.contains("12 of 10 tokens"))
}

/// Begins a session that may use so much, and leaves it with the question for more.
async fn leave_when_asked(world: &SessionBench, session: Budget) {
    let budgets = Budgets { session, ..Budgets::default() };
    let limits = EngineLimits { budgets, ..EngineLimits::default() };
    let handle = world.begin_within(limits, Arc::new(usual)).unwrap();
    while !world.events().iter().any(is_asked) {
        world.decide(&handle, "").await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    handle.detach().await;
}

/// Opening a session again without a budget does not remove the one that it has.
#[tokio::test]
async fn a_session_that_is_resumed_keeps_its_budget_and_asks_again() {
    let world = SessionBench::new(TEAM);
    leave_when_asked(&world, tokens(10)).await;
    let handle = world.resume(Arc::new(usual)).unwrap();
    let asked = || world.events().iter().filter(|event| is_asked(event)).count();
    until(&world, |_| asked() == 2).await;
    let events = world.events();
    // Nothing is said of what stays as it was.
    let is_resumed =
        |e: &Event| matches!(e, Event::Session(SessionEvent::Resumed { choices: None, .. }));
    let resumed = events.iter().position(is_resumed).unwrap();
    let is_answer = |e: &Event| matches!(e, Event::Turn(TurnEvent::ModelAnswered { .. }));
    assert!(!events[resumed..].iter().any(is_answer), "no model may answer before the person");
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let limits = world.events().into_iter().filter_map(|event| match event {
        Event::Model(ModelEvent::Budgeted(budget)) => Some(budget.tokens),
        _ => None,
    });
    assert_eq!(limits.take(2).collect::<Vec<_>>(), [Some(10), Some(22)]);
}

/// What is said of one kind of limit when a session goes on leaves the other kinds as they are, and
/// what the person sets then is recorded.
#[tokio::test]
async fn limits_are_changed_when_a_session_is_resumed() {
    let world = SessionBench::new(TEAM);
    let session = Budget { tokens: Some(10), seconds: Some(900), ..Budget::default() };
    leave_when_asked(&world, session).await;
    let choices = SessionChoices { max_attempts: Some(4), ..SessionChoices::default() };
    let budgets = Budgets { session: tokens(5_000), ..Budgets::default() };
    let handle = world.resume_with(Arc::new(usual), |setup| {
        setup.session.parts.choices = choices.clone();
        setup.limits.budgets = budgets;
    });
    assert_eq!(world.supervise(handle.unwrap(), "go on").await.unwrap(), SessionOutcome::Completed);
    let events = world.events();
    let set = events.iter().find_map(|event| match event {
        Event::Session(SessionEvent::Resumed { choices, .. }) => choices.clone(),
        _ => None,
    });
    assert_eq!(set.as_deref(), Some(&choices));
    let last = events.iter().rev().find_map(|event| match event {
        Event::Model(ModelEvent::Budgeted(budget)) => Some(*budget),
        _ => None,
    });
    assert_eq!(last, Some(Budget { tokens: Some(5_000), ..session }));
}

#[tokio::test]
async fn a_turn_ends_with_its_budget_and_the_run_goes_on() {
    let world = SessionBench::new(TEAM);
    let budgets = Budgets { turn: tokens(3), ..Budgets::default() };
    assert_eq!(run(&world, budgets, "stop", usual).await, SessionOutcome::Completed);
    let reported = |e: &Event| matches!(e, Event::Person(PersonEvent::Noticed { notice, .. }) if notice.what == "The turn was stopped");
    assert!(world.events().iter().any(reported));
    let says = |e: &Event| matches!(e, Event::Turn(TurnEvent::TextAdded { text, .. }) if text == "It is saved.");
    assert!(!world.events().iter().any(says), "the writer had no second round");
}

#[tokio::test]
async fn a_phase_fails_with_its_budget() {
    let world = SessionBench::new(TEAM);
    let budgets = Budgets { phase: tokens(5), ..Budgets::default() };
    let SessionOutcome::Failed(error) = run(&world, budgets, "stop", usual).await else { panic!() };
    assert!(error.why.contains("the budget of the phase is used up: 6 of 5 tokens"), "{error:?}");
}

fn seconds(most: u64) -> Budget {
    Budget { seconds: Some(most), ..Budget::default() }
}

fn stops(world: &SessionBench) -> Vec<TurnStop> {
    let stops = world.events().into_iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::Ended { stop, .. }) => Some(stop),
        _ => None,
    });
    stops.collect()
}

fn was_asked(world: &SessionBench, words: &str) -> bool {
    let asked = |e: &Event| matches!(e, Event::Person(PersonEvent::Asked { text, .. }) if text.contains(words));
    world.events().iter().any(asked)
}

#[tokio::test]
async fn the_time_of_a_session_ends_a_model_that_never_ends_and_the_person_is_asked() {
    for (answer, times) in [("stop", 1), ("go on", 2)] {
        let world = SessionBench::new(TEAM);
        let budgets = Budgets { session: seconds(1), ..Budgets::default() };
        let asked = Mutex::new(0);
        let outcome = run(&world, budgets, answer, move |request| {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            let says = request.messages.iter().any(|message| message.text.contains("HALF"));
            assert!(!says, "half an answer is told to nobody");
            // A call of half an answer is not made either.
            let mut half =
                vec![Ok(Delta::Call { tool: "build_project".into(), args: "{}".into() })];
            half.extend(hang_after("1. **Writer** : HALF A SENT"));
            if *asked == 1 { half } else { usual(request) }
        })
        .await;
        let expected = [SessionOutcome::Stopped, SessionOutcome::Completed];
        assert_eq!(outcome, expected[times - 1]);
        assert_eq!(stops(&world)[0], TurnStop::Interrupted);
        assert!(was_asked(&world, "1 of 1 seconds of work are over"), "{:#?}", world.events());
    }
}

#[tokio::test]
async fn the_turns_of_a_session_are_counted_and_the_person_is_asked_for_more() {
    let begun = |world: &SessionBench| {
        let started = |e: &Event| matches!(e, Event::Turn(TurnEvent::Started { .. }));
        world.events().iter().filter(|event| started(event)).count()
    };
    let free = SessionBench::new(TEAM);
    run(&free, Budgets::default(), "stop", usual).await;
    let needed = begun(&free);
    for (answer, most, is_asked) in [("stop", 1, true), ("go on", 1, true), ("stop", needed, false)]
    {
        let world = SessionBench::new(TEAM);
        let turns = u32::try_from(most).ok();
        let session = Budget { turns, ..Budget::default() };
        let budgets = Budgets { session, ..Budgets::default() };
        let outcome = run(&world, budgets, answer, usual).await;
        let is_over = answer == "stop" && is_asked;
        let expected = if is_over { SessionOutcome::Stopped } else { SessionOutcome::Completed };
        assert_eq!(outcome, expected, "{answer} {most}");
        assert_eq!(was_asked(&world, "1 of 1 turns are over"), is_asked, "{:#?}", world.events());
        assert!(needed > 2 && is_over || begun(&world) == needed, "{answer} {most}");
    }
}

#[tokio::test]
async fn the_time_of_a_turn_ends_its_model_and_the_run_goes_on() {
    let world = SessionBench::new(TEAM);
    let budgets = Budgets { turn: seconds(1), ..Budgets::default() };
    let asked = Mutex::new(0);
    let outcome = run(&world, budgets, "stop", move |request| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked == 1 { hang_after("1. **Closer** : not this") } else { usual(request) }
    })
    .await;
    assert_eq!(outcome, SessionOutcome::Completed, "{:#?}", world.events());
    assert_eq!(stops(&world)[0], TurnStop::Done);
    let planned = |e: &Event| matches!(e, Event::Team(TeamEvent::PlanMade { items, .. }) if items.iter().any(|item| item.task == "not this"));
    assert!(!world.events().iter().any(planned), "half a plan is none");
    let reported = |e: &Event| matches!(e, Event::Person(PersonEvent::Noticed { notice, .. }) if notice.why.contains("budget of a turn"));
    assert!(world.events().iter().any(reported));
}

#[tokio::test]
async fn the_time_of_a_phase_ends_its_model_and_the_phase() {
    let world = SessionBench::new(TEAM);
    let budgets = Budgets { phase: seconds(1), ..Budgets::default() };
    let SessionOutcome::Failed(error) = run(&world, budgets, "stop", |_| hang_after("a")).await
    else {
        panic!()
    };
    assert!(error.why.contains("the budget of the phase is used up: 1 of 1 sec"), "{error:?}");

    let limited = TEAM.replace("{ max_messages = 20 }", "{ max_seconds = 1 }");
    let world = SessionBench::new(&limited);
    let outcome = run(&world, Budgets::default(), "stop", |_| hang_after("a")).await;
    let SessionOutcome::Failed(error) = outcome else { panic!() };
    assert!(error.why.contains("the limit of 1 seconds"), "{error:?}");
}

#[tokio::test]
async fn the_time_of_a_session_ends_a_tool_and_a_build_that_never_end() {
    for (agent, tool, builds) in
        [("Builder", "build_project", 1), ("Reader", "read_project_files", 0)]
    {
        let all = "\"Closer\", \"Builder\", \"Reader\"]";
        let world = SessionBench::new(&TEAM.replacen("\"Closer\"]", all, 1));
        std::fs::write(world.project().join("main.txt"), "int a;").unwrap();
        let budgets = Budgets { session: seconds(1), ..Budgets::default() };
        let outcome = run(&world, budgets, "stop", move |request| match request.agent.as_str() {
            "Planner" => say(&format!("1. **{agent}** : work")),
            _ => call(tool, r#"{"hang": true}"#),
        })
        .await;
        assert_eq!(outcome, SessionOutcome::Stopped);
        let events = world.events();
        let result = |e: &Event| match e {
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => Some(result.to_string()),
            _ => None,
        };
        let result = events.iter().find_map(result).unwrap();
        assert!(result.contains("out_of_time"), "{result}");
        assert!(was_asked(&world, "seconds of work are over"));
        let ended = |e: &Event| {
            matches!(e, Event::Build(BuildEvent::Ended { outcome: BuildOutcome::Cancelled, .. }))
        };
        assert_eq!(events.iter().filter(|e| ended(e)).count(), builds, "{tool}");
    }
}

#[tokio::test]
async fn malformed_arguments_go_back_with_what_is_wrong_with_them() {
    let world = SessionBench::new(TEAM);
    let reported: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&reported);
    run(&world, Budgets::default(), "stop", move |request| {
        let last = request.messages.last().unwrap();
        if last.role == MessageRole::Tool {
            all.lock().unwrap().push(last.text.clone());
        }
        if request.agent.as_str() == "Writer" && last.role != MessageRole::Tool {
            return call("generate_code", r#"{"code": "int a;"#);
        }
        usual(request)
    })
    .await;
    let reported = reported.lock().unwrap();
    assert!(
        reported[0].contains("malformed_arguments") && reported[0].contains("cut off"),
        "{reported:?}"
    );
}

#[tokio::test]
async fn a_choice_of_a_model_that_cannot_be_is_told() {
    let world = SessionBench::new(TEAM);
    let waits = |request: &Request| match request.agent.as_str() {
        "Planner" => say("nobody"),
        _ => usual(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(waits)).unwrap();
    handle.intents.send(Intent::UseModel { profile: "other".into() }).await.unwrap();
    let reported = |e: &Event| matches!(e, Event::Person(PersonEvent::Noticed { notice, .. }) if notice.what.contains("`other`"));
    until(&world, reported).await;
    handle.detach().await;
}
