//! Answers that have a form: asked for again, checked, and what comes of their fields.

use std::sync::Arc;

use super::fixture::*;
use crate::engine::EngineLimits;
use crate::model::*;
use crate::provider::{Delta, Request};

type Answer = Vec<Result<Delta, UserError>>;

fn team(lines: &str) -> String {
    format!(
        "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n[limits]\nmax_tries = 2\n\
         [[phases]]\nname = \"work\"\ntitle = \"work\"\ngoal = \"answered\"\n{lines}\n"
    )
}

const PIPELINE: &str = "selection = \"pipeline\"\nterminate = { max_messages = 30 }";

async fn run(
    world: &SessionBench,
    answer: &str,
    model: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> SessionOutcome {
    let handle = world.begin_within(EngineLimits::default(), Arc::new(model)).unwrap();
    world.supervise(handle, answer).await.unwrap()
}

fn questions(world: &SessionBench) -> Vec<String> {
    let asked = |event: Event| match event {
        Event::Person(PersonEvent::Asked { text, .. }) => Some(text),
        _ => None,
    };
    world.events().into_iter().filter_map(asked).collect()
}

fn speakers(world: &SessionBench) -> Vec<(String, String)> {
    let choice = |event: Event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
            Some((agent.to_string(), reason))
        }
        _ => None,
    };
    world.events().into_iter().filter_map(choice).collect()
}

fn answers(world: &SessionBench) -> usize {
    let is_one = |event: &Event| matches!(event, Event::Turn(TurnEvent::ModelAnswered { .. }));
    world.events().iter().filter(|event| is_one(event)).count()
}

fn hears(request: &Request, words: &str) -> bool {
    request.messages.iter().any(|message| message.text.contains(words))
}

const WHOLE: &str = r#"[{"file_name": "a.c", "code": "int a;"}]"#;

#[tokio::test]
async fn a_list_of_files_that_is_cut_off_is_asked_for_again_with_the_fault() {
    let world =
        SessionBench::new(&team(&format!("participants = [\"Lister\", \"Second\"]\n{PIPELINE}")));
    let ended = run(&world, "stop", |request| match request.agent.as_str() {
        "Lister" if hears(request, "Your answer cannot be used: the JSON value that begins at line 1, column 1 is cut off") => say(WHOLE),
        "Lister" => say(&WHOLE[..30]),
        _ => {
            assert!(hears(request, WHOLE) && !hears(request, "cannot be used"));
            say("done")
        }
    })
    .await;
    assert_eq!(ended, SessionOutcome::Completed);
    assert_eq!(speakers(&world).len(), 2, "it is the same turn");
    let refused = world.events().into_iter().find_map(|event| match event {
        Event::Team(TeamEvent::ArtifactPosted(artifact)) => {
            artifact.title.starts_with("Lister is asked again: ").then_some(artifact.kind)
        }
        _ => None,
    });
    assert_eq!(refused, Some(ArtifactKind::Feedback), "it is shown");
}

#[tokio::test]
async fn the_person_is_asked_when_an_answer_cannot_be_read_so_often_as_the_team_says() {
    let lines =
        format!("participants = [\"Lister\"]\n{PIPELINE}\nretries = {{ Lister = \"max_tries\" }}");
    let world = SessionBench::new(&team(&lines));
    let ended = run(&world, "stop", |_| say("I have written it.")).await;
    assert_eq!(ended, SessionOutcome::Stopped);
    assert_eq!(answers(&world), 3, "once, and two tries");
    let asked = questions(&world);
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0]
            .starts_with("The answers of Lister cannot be read: the answer holds no JSON value"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn an_answer_in_another_range_is_asked_again_and_its_value_chooses_instructions() {
    let lines = format!("participants = [\"Rater\", \"Second\", \"Rater2\"]\n{PIPELINE}")
        .replace(", \"Rater2\"", "");
    let second = "\n[[phases]]\nname = \"next\"\ntitle = \"next\"\ngoal = \"answered\"\nparticipants = [\"Rater\"]\n";
    let world = SessionBench::new(&format!("{}{second}{PIPELINE}", team(&lines)));
    let ended =
        run(&world, "stop", |request| match (request.agent.as_str(), request.phase.as_str()) {
            ("Rater", "work")
                if hears(request, "complexity: 11 instead of an integer, 1 to 10") =>
            {
                assert!(!hears(request, "It is hard."));
                assert!(request.form.is_none(), "no service holds it to JSON");
                assert!(hears(request, "Answer with one ```toon block"));
                say("```toon\ncomplexity: 7\n```")
            }
            ("Rater", "work") => say("complexity: 11"),
            ("Rater", _) => {
                assert!(hears(request, "It is hard."), "{:?}", request.messages);
                say("complexity: 8")
            }
            _ => say("done"),
        })
        .await;
    assert_eq!(ended, SessionOutcome::Completed);
    let contract = |event: &Event| matches!(event, Event::Team(TeamEvent::ArtifactPosted(it)) if it.kind == ArtifactKind::Contract);
    assert_eq!(world.events().iter().filter(|event| contract(event)).count(), 2);
}

#[tokio::test]
async fn a_report_that_rests_on_nothing_that_was_run_is_asked_for_again() {
    let world = SessionBench::new(&team(&format!("participants = [\"Runner\"]\n{PIPELINE}")));
    std::fs::write(world.project().join("main.txt"), "good\n").unwrap();
    let model = |request: &Request| {
        let has_run = request.messages.iter().any(|message| message.role == MessageRole::Tool);
        match has_run || !hears(request, "first call `build_project`") {
            true => say(r#"{"missing": []}"#),
            false => call("build_project", "{}"),
        }
    };
    assert_eq!(run(&world, "stop", model).await, SessionOutcome::Completed);
    assert_eq!((answers(&world), speakers(&world).len()), (3, 1), "refused, a call, a report");
}

#[tokio::test]
async fn the_program_checks_an_answer_itself_and_asks_again_until_it_passes() {
    let lines = format!(
        "participants = [\"Writer\", \"Checked\"]\n{PIPELINE}\nchecks = {{ Checked = \"max_tries\" }}"
    );
    let world = SessionBench::new(&team(&lines));
    let model = |request: &Request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        match request.agent.as_str() {
            _ if is_answer => say("saved"),
            "Writer" => call("generate_code", r#"{"code": "a bug"}"#),
            _ => {
                let count = request
                    .messages
                    .iter()
                    .filter(|m| {
                        m.text.starts_with(
                            "The program called `approve_saved_files` for Checked: {\"ok\":false",
                        )
                    })
                    .count();
                say(&format!(r#"[{{"file_name": "a.c", "code": "{count}"}}]"#))
            }
        }
    };
    assert_eq!(run(&world, "stop", model).await, SessionOutcome::Stopped);
    let calls = world.events().into_iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::ToolCalled { tool, args, .. }) => {
            (tool.as_str() == "approve_saved_files").then(|| args["files"][0]["code"].to_string())
        }
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), ["\"0\"", "\"1\"", "\"2\""]);
    assert_eq!(
        questions(&world),
        ["The answer of Checked still fails its check after 2 corrections. Ask it again?"]
    );
}

/// A judge that looks at code which fails, and whose answer says who is to blame.
fn judged(verdict: &'static str) -> impl Fn(&Request) -> Answer + Send + Sync + 'static {
    move |request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        let count = request
            .messages
            .iter()
            .filter(|it| it.text.contains("code\": [") || it.text.contains("\"code\":["))
            .count();
        match request.agent.as_str() {
            _ if is_answer => say(&format!("saved {count}")),
            "Writer" if count == 0 => call("generate_code", r#"{"code": "a bug"}"#),
            "Writer" => call("generate_code", r#"{"code": "mended"}"#),
            "Judge" => say(verdict),
            _ => say(&format!("tests {count}")),
        }
    }
}

const REWORK: &str = r#"
participants = ["Writer", "Second", "Judge"]
[[phases.rework]]
after = "Judge"
answer = [{ field = "code", filled = true }, { field = "tests", filled = false }]
through = ["Writer"]
most = "max_tries"
[[phases.rework]]
after = "Judge"
answer = [{ field = "code", filled = false }, { field = "tests", filled = true }]
through = ["Second"]
most = "max_tries"
[[phases.rework]]
after = "Judge"
failed = "build_project"
through = ["Writer", "Second"]
most = "max_tries"
"#;

#[tokio::test]
async fn a_field_of_an_answer_decides_who_works_again() {
    for (verdict, again) in [
        (r#"{"code": ["a bug"], "tests": []}"#, vec!["Writer"]),
        (r#"{"code": ["a bug"], "tests": ["none"]}"#, vec!["Writer", "Second"]),
        (r#"{"code": [], "tests": []}"#, vec!["Writer", "Second"]),
    ] {
        let (head, tables) = REWORK.split_once("[[").unwrap();
        let world = SessionBench::new(&team(&format!("{head}{PIPELINE}\n[[{tables}")));
        let ended = run(&world, "stop", judged(verdict)).await;
        assert_eq!(ended, SessionOutcome::Completed, "{verdict}: {:#?}", world.events());
        let spoke = speakers(&world);
        let names: Vec<&str> = spoke.iter().map(|(agent, _)| agent.as_str()).collect();
        let wanted = [vec!["Writer", "Second", "Judge"], again, vec!["Judge"]].concat();
        assert_eq!(names, wanted, "{verdict}");
    }
    let (head, tables) = REWORK.split_once("[[").unwrap();
    let world = SessionBench::new(&team(&format!("{head}{PIPELINE}\n[[{tables}")));
    run(&world, "stop", judged(r#"{"code": ["a bug"], "tests": []}"#)).await;
    let reason = speakers(&world)[3].1.clone();
    assert_eq!(reason, "Judge answered: code is not empty, tests is empty, rework 1 of 2");
    assert_eq!(answers(&world), 6, "the judge is not asked when all is well");
}

#[tokio::test]
async fn reworks_of_all_kinds_count_together() {
    let (head, tables) = REWORK.split_once("[[").unwrap();
    let world = SessionBench::new(&team(&format!("{head}{PIPELINE}\n[[{tables}")));
    let ended = run(&world, "stop", |request| {
        let is_answer = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        let judged = request.messages.iter().filter(|it| it.text.contains("\"tests\": [")).count();
        match request.agent.as_str() {
            _ if is_answer => say(&format!("saved {judged}")),
            "Writer" if judged == 0 => call("generate_code", r#"{"code": "a bug"}"#),
            "Judge" if judged % 2 == 0 => say(&format!(r#"{{"code": ["{judged}"], "tests": []}}"#)),
            "Judge" => say(&format!(r#"{{"code": [], "tests": ["{judged}"]}}"#)),
            _ => say(&format!("look {judged}")),
        }
    })
    .await;
    assert_eq!(ended, SessionOutcome::Stopped);
    let asked = questions(&world);
    assert!(
        asked.iter().any(|text| text.contains("build fails in the same way")
            || text.contains("failed again after 2")),
        "{asked:?}"
    );
}

#[tokio::test]
async fn an_agent_that_says_the_same_twice_is_stopped_unless_something_happened() {
    let lines = "participants = [\"Second\"]\nselection = \"round_robin\"\nterminate = { max_messages = 8 }";
    let world = SessionBench::new(&team(lines));
    let ended = run(&world, "stop", |_| say("There is nothing to save.")).await;
    assert_eq!(ended, SessionOutcome::Stopped);
    assert_eq!(answers(&world), 2);
    assert_eq!(questions(&world), ["Second says and does the same as in its last turn. Continue?"]);
    let world = SessionBench::new(&team(lines));
    let ended = run(&world, "go on", |_| say("There is nothing to save.")).await;
    assert_eq!(ended, SessionOutcome::Completed);
    assert_eq!(questions(&world).len(), 4, "asked once for two turns");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cut_off_at_any_record_makes_its_own_calls_once_more_and_ends_the_same() {
    let verdict = r#"{"code": ["a bug"], "tests": []}"#;
    let (head, tables) = REWORK.split_once("[[").unwrap();
    let file = team(&format!("{head}{PIPELINE}\n[[{tables}"));
    let whole = SessionBench::new(&file);
    let handle = whole.begin(u64::MAX, Arc::new(judged(verdict))).unwrap();
    let outcome = whole.supervise(handle, "go on").await.unwrap();
    let total = whole.records().len() as u64;
    for life in 1..total {
        let world = SessionBench::new(&file);
        if let Ok(handle) = world.begin(life, Arc::new(judged(verdict))) {
            world.supervise(handle, "go on").await.unwrap_err();
        }
        let handle = world.resume(Arc::new(judged(verdict))).unwrap();
        assert_eq!(world.supervise(handle, "go on").await.unwrap(), outcome, "after {life}");
        let names = |world: &SessionBench| -> Vec<String> {
            let last = speakers(world).into_iter().map(|(agent, _)| agent);
            last.collect()
        };
        assert_eq!(names(&world), names(&whole), "cut off after {life}");
    }
}
