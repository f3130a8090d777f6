//! Phases that run once for each step of a plan.

use std::sync::Arc;

use super::fixture::*;
use crate::engine::Supervision;
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
review_plan = true
attempts = 2
goal = "planned"
terminate = { spoke = "Planner" }
[[phases]]
name = "step"
title = "step"
for_each = "plan"
participants = ["Writer", "Builder"]
selection = "pipeline"
context = ["plan", "signatures"]
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

fn sending_back() -> SessionBench {
    let rule = "send_back = { to = \"step\", after = \"Reviewer\", field = \"again\", most = 2 }\n";
    SessionBench::new(&format!("{}{rule}", TEAM.replace("Closer", "Reviewer")))
}

const PLAN: &str = "1. the store\n2. the list\n3. the command line";

fn mentions(request: &Request, words: &str) -> bool {
    request.messages.iter().any(|message| message.text.contains(words))
}

/// Plans three steps; what is run in the second one fails when `fails`.
fn model(fails: &'static str) -> impl Fn(&Request) -> Vec<Result<Delta, UserError>> + Send + Sync {
    move |request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        match request.agent.as_str() {
            _ if is_answer => say("it does not pass"),
            "Planner" => say(PLAN),
            "Builder" if !fails.is_empty() && mentions(request, fails) => call("run_tests", "{}"),
            "Builder" => call("run_code", "{}"),
            "Closer" => say("reviewed"),
            _ => say("done"),
        }
    }
}

fn titles(world: &SessionBench) -> Vec<String> {
    let title = |event: Event| match event {
        Event::Phase(PhaseEvent::Started { title, .. }) => Some(title),
        _ => None,
    };
    world.events().into_iter().filter_map(title).collect()
}

const TITLES: [&str; 5] = [
    "plan",
    "step 1 of 3: the store",
    "step 2 of 3: the list",
    "step 3 of 3: the command line",
    "review",
];

#[tokio::test]
async fn each_step_has_a_chat_of_its_own_that_is_reported_the_plan() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| {
        if request.agent.as_str() == "Writer" {
            let count = |words: &str| request.messages.iter().filter(|m| m.text == words).count();
            assert_eq!(count("done"), 0, "nothing of the chats before");
        }
        let is_second = mentions(request, "This chat is about step 2 of 3 alone:\nthe list");
        assert_eq!(is_second, mentions(request, "1. [done] the store\n2. [open] the list"));
        model("")(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(titles(&world), TITLES);
}

#[tokio::test]
async fn a_step_that_fails_needs_attention_and_the_others_go_on() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| {
        if request.agent.as_str() == "Closer" {
            assert!(mentions(request, "2. [needs attention: "), "{:?}", request.messages);
            assert!(mentions(request, "3. [done] the command line"));
        }
        model("step 2 of 3 alone")(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "go on").await.unwrap();
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.why, "step 2 of 3 needs attention");
    assert_eq!(titles(&world), TITLES);
}

#[tokio::test]
async fn a_step_for_which_nothing_was_run_or_saved_needs_attention() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match request.agent.as_str() {
        "Builder" if mentions(request, "step 2 of 3 alone") => say("nothing to do"),
        _ => model("")(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "go on").await.unwrap();
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.why, "step 2 of 3 needs attention");
    let is_reason = |event: &Event| {
        matches!(event, Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(why), .. })
            if why.starts_with("nothing was run and no file was saved; "))
    };
    assert!(world.events().iter().any(is_reason));
}

#[tokio::test]
async fn what_is_no_plan_is_asked_for_again_with_the_reason() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match request.agent.as_str() {
        "Planner" if !mentions(request, "The attempt before this one failed: no numbered list") => {
            say("First the store, then the rest.")
        }
        _ => model("")(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(titles(&world)[..2], ["plan", "plan"]);
    assert_eq!(titles(&world).len(), 6);
}

#[tokio::test]
async fn a_plan_without_steps_ends_the_run_with_the_reason() {
    for plan in ["First the store, then the rest.", "1.\n2. \n", "1. only the store"] {
        let world = SessionBench::new(TEAM);
        let handle = world.begin(u64::MAX, Arc::new(move |_: &Request| say(plan))).unwrap();
        let outcome = world.supervise(handle, "go on").await.unwrap();
        let SessionOutcome::Failed(error) = outcome else { panic!("{plan}: {outcome:?}") };
        assert!(format!("{error:?}").contains("no numbered list"), "{plan}: {error:?}");
        assert_eq!(titles(&world), ["plan", "plan"], "{plan}");
    }
}

#[tokio::test]
async fn steps_that_wait_for_each_other_are_carried_out_in_the_order_of_the_list() {
    let plan = "1. the store, after step 2\n2. the list, after step 1";
    let world = SessionBench::new(TEAM);
    let model = move |request: &Request| match request.agent.as_str() {
        "Planner" => say(plan),
        _ => model("")(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let steps = ["step 1 of 2: the store, after step 2", "step 2 of 2: the list, after step 1"];
    assert_eq!(titles(&world)[1..3], steps);
}

#[tokio::test]
async fn steps_that_wait_for_each_other_or_for_no_step_are_reported_before_the_start() {
    for (plan, fault) in [
        ("1. A (after 2)\n2. B (after 1)", "Steps 1 and 2 wait for each other. Start"),
        ("1. A (after 9)\n2. B (after nothing)", "waits for step 9, which is not in the plan."),
        ("1. A\n2. B (after 1)", "has planned the work. Start"),
    ] {
        let mut world = SessionBench::new(TEAM);
        world.supervision = Supervision::Ask;
        let model = move |request: &Request| match request.agent.as_str() {
            "Planner" => say(plan),
            _ => model("")(request),
        };
        let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
        assert_eq!(world.supervise(handle, START_PLAN).await.unwrap(), SessionOutcome::Completed);
        let asked = world.events().into_iter().find_map(|event| match event {
            Event::Person(PersonEvent::Asked { text, .. }) => Some(text),
            _ => None,
        });
        assert!(asked.as_ref().unwrap().contains(fault), "{plan}: {asked:?}");
    }
}

#[tokio::test]
async fn a_plan_of_more_steps_than_are_kept_is_carried_out_to_its_end() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| match request.agent.as_str() {
        "Planner" => {
            say(&(1..=230).map(|number| format!("{number}. part {number}\n")).collect::<String>())
        }
        "Writer" if mentions(request, "about step 200 of 200") => {
            assert!(mentions(request, "31. part 230"), "the last step holds the rest");
            model("")(request)
        }
        _ => model("")(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let titles = titles(&world);
    assert_eq!(titles.len(), 202);
    assert!(titles[200].starts_with("step 200 of 200: The other 31 steps"), "{}", titles[200]);
}

#[tokio::test]
async fn steps_that_the_person_takes_out_or_adds_count_at_once() {
    let mut world = SessionBench::new(TEAM);
    world.supervision = Supervision::Ask;
    let handle = world.begin(u64::MAX, Arc::new(model(""))).unwrap();
    until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let item = |task: &str| PlanItem { task: task.into(), agent: None };
    let items = vec![item("the store"), item("a page of help")];
    handle.intents.send(Intent::EditPlan { items }).await.unwrap();
    until(&world, |event| matches!(event, Event::Team(TeamEvent::PlanMade { by: None, .. }))).await;
    assert_eq!(world.supervise(handle, START_PLAN).await.unwrap(), SessionOutcome::Completed);
    let wanted = ["plan", "step 1 of 2: the store", "step 2 of 2: a page of help", "review"];
    assert_eq!(titles(&world), wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cut_off_in_any_step_goes_on_in_it() {
    let whole = SessionBench::new(TEAM);
    let handle = whole.begin(u64::MAX, Arc::new(model("step 2 of 3 alone"))).unwrap();
    let outcome = whole.supervise(handle, "go on").await.unwrap();
    let total = whole.records().len() as u64;
    for life in 1..total {
        let world = SessionBench::new(TEAM);
        if let Ok(handle) = world.begin(life, Arc::new(model("step 2 of 3 alone"))) {
            world.supervise(handle, "go on").await.unwrap_err();
        }
        let handle = world.resume(Arc::new(model("step 2 of 3 alone"))).unwrap();
        assert_eq!(world.supervise(handle, "go on").await.unwrap(), outcome, "after {life}");
        assert_eq!(titles(&world), TITLES, "cut off after {life}");
    }
}

#[tokio::test]
async fn a_review_sends_one_step_back_with_its_reason() {
    let world = sending_back();
    let count = std::sync::atomic::AtomicU32::new(0);
    let counted = move |request: &Request| {
        if request.agent.as_str() == "Reviewer" {
            return match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => say(r#"{"again": [{"step": 9, "reason": "x"}]}"#),
                1 => {
                    assert!(mentions(request, "`again` names step 9, and the plan has 3"));
                    say(r#"{"again": [{"step": 2, "reason": "no end"}]}"#)
                }
                _ => say(r#"{"again": []}"#),
            };
        }
        if mentions(request, "the review sent it back: no end") {
            assert!(mentions(request, "This chat is about step 2 of 3 alone"));
        }
        model("")(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(counted)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let again = ["step 2 of 3 again: the list", "review"];
    assert_eq!(titles(&world), [&TITLES[..], &again].concat());
}

#[tokio::test]
async fn a_step_that_is_sent_back_too_often_needs_attention() {
    let world = sending_back();
    let model = |request: &Request| match request.agent.as_str() {
        "Reviewer" => say(r#"{"again": [{"step": 2, "reason": "no end"}]}"#),
        _ => model("")(request),
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let outcome = world.supervise(handle, "go on").await.unwrap();
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.why, "step 2 of 3 needs attention");
    assert_eq!(titles(&world).iter().filter(|title| title.as_str() == "review").count(), 3);
}

#[tokio::test]
async fn a_step_is_given_the_signatures_of_what_exists() {
    let world = SessionBench::new(TEAM);
    std::fs::write(world.project().join("store.py"), "def load(path: str) -> list: return []\n")
        .unwrap();
    std::fs::write(world.project().join("store.h"), "int store_load(const char *path);\n").unwrap();
    let model = |request: &Request| {
        let python = mentions(request, "store.py:\ndef load(path: str) -> list");
        let c = mentions(request, "store.h:\nint store_load(const char *path);");
        let is_step = ["Writer", "Builder"].contains(&request.agent.as_str());
        assert_eq!((python, c), (is_step, is_step), "{:?}", request.messages);
        model("")(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
}
