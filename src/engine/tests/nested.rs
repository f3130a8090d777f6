//! Teams whose phases run within another one.

use std::sync::Arc;

use super::fixture::*;
use crate::config::Assets;
use crate::engine::Team;
use crate::model::*;
use crate::provider::Request;

const INNER: &str = r#"
name = "inner"
title = "Inner"
description = "x"
[limits]
max_tries = 2
[[phases]]
name = "write"
title = "write"
participants = ["Writer"]
selection = "round_robin"
goal = "answered"
terminate = { spoke = "Writer" }
[[phases]]
name = "save"
title = "save"
participants = ["Builder"]
selection = "round_robin"
attempts = "max_tries"
goal = "files_saved"
terminate = { max_messages = 1 }
"#;

const OUTER: &str = r#"
name = "small"
title = "Outer"
description = "x"
[[phases]]
name = "part"
title = "the part"
team = "inner"
[[phases]]
name = "close"
title = "close"
participants = ["Closer"]
selection = "round_robin"
goal = "answered"
terminate = { spoke = "Closer" }
"#;

fn load(outer: &str, inner: &str) -> Result<Arc<Team>, UserError> {
    let folder = tempfile::tempdir().unwrap();
    write_team(folder.path(), outer);
    std::fs::write(folder.path().join("prompts/teams/inner.toml"), inner).unwrap();
    Team::load(&Assets::with_user_folder(folder.path()), "small", &|_| Ok(()))
}

/// Name, title, attempt and limit of every phase that began.
fn phases(events: Vec<Event>) -> Vec<String> {
    let mut phases = Vec::new();
    for event in events {
        if let Event::Phase(PhaseEvent::Started { phase, title, attempt, max_attempts, .. }) = event
        {
            phases.push(format!("{phase} · {title} · {attempt}/{max_attempts}"));
        }
    }
    phases
}

#[tokio::test]
async fn the_result_of_a_nested_team_is_what_the_next_chat_begins_with() {
    let inner = INNER.replace("files_saved", "answered");
    let mut world = SessionBench::new(TEAM);
    world.team = load(OUTER, &inner).unwrap();
    let model = |request: &Request| {
        let has = |words: &str| request.messages.iter().any(|it| it.text.contains(words));
        match request.agent.as_str() {
            "Closer" => {
                assert!(has("The team of the phase `part` has ended: "));
                assert!(has("the words of the builder") && !has("the words of the writer"));
                say("closed")
            }
            "Builder" => {
                assert!(!has("the words of the writer") && !has("has ended"));
                say("the words of the builder")
            }
            _ => say("the words of the writer"),
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let expected = [
        "part/write · the part: write · 1/1",
        "part/save · the part: save · 1/2",
        "close · close · 1/1",
    ];
    assert_eq!(phases(world.events()), expected);
    let results = world.events().into_iter().filter(|event| {
        matches!(event, Event::Team(TeamEvent::ArtifactPosted(artifact))
            if artifact.title == "the result of `part`")
    });
    assert_eq!(results.count(), 1);
}

#[tokio::test]
async fn the_limits_of_a_nested_team_count() {
    let mut world = SessionBench::new(TEAM);
    world.team = load(OUTER, INNER).unwrap();
    let handle = world.begin(u64::MAX, Arc::new(|_: &Request| say("words"))).unwrap();
    let outcome = world.supervise(handle, "go on").await.unwrap();
    assert!(matches!(outcome, SessionOutcome::Failed(_)), "{outcome:?}");
    let expected = [
        "part/write · the part: write · 1/1",
        "part/save · the part: save · 1/2",
        "part/save · the part: save · 2/2",
    ];
    assert_eq!(phases(world.events()), expected);
}

/// The person changes them by the name of their phase.
#[test]
fn the_limits_of_a_nested_team_are_changed_by_name() {
    let limited = |limits: &[(&str, u32)]| {
        let limits = limits.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        let folder = tempfile::tempdir().unwrap();
        write_team(folder.path(), OUTER);
        std::fs::write(folder.path().join("prompts/teams/inner.toml"), INNER).unwrap();
        let assets = Assets::with_user_folder(folder.path());
        Team::load_limited(&assets, "small", &|_| Ok(()), &limits)
    };
    let team = limited(&[("part/max_tries", 7)]).unwrap();
    let save = team.phases.iter().find(|phase| phase.name == "part/save").unwrap();
    assert_eq!((save.limits.attempts, team.limits["part/max_tries"]), (7, 7));
    for wrong in ["max_tries", "part/max_trie", "close/max_tries", "part"] {
        let error = limited(&[(wrong, 7)]).unwrap_err();
        assert!(error.what.contains(wrong) && error.fix.contains("part/max_tries"), "{error:?}");
    }
}

#[test]
fn a_team_is_nested_more_than_once_and_within_nested_ones() {
    let twice = OUTER.replace(
        "name = \"close\"",
        "name = \"again\"\nteam = \"inner\"\n[[phases]]\nname = \"close\"",
    );
    let team = load(&twice, INNER).unwrap();
    let names: Vec<&str> = team.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["part/write", "part/save", "again/write", "again/save", "close"]);
    let nested: Vec<_> =
        team.nested.iter().map(|it| (it.name.as_str(), it.phases.clone())).collect();
    assert_eq!(nested, [("part", 0..2), ("again", 2..4)]);
    assert!(team.agents.contains_key(&AgentName::from("Writer")));
}

#[test]
fn a_team_that_would_contain_itself_is_refused() {
    let phase = "name = \"round\"\nteam = \"small\"\n[[phases]]\nname = \"write\"";
    let error = load(OUTER, &INNER.replace("name = \"write\"", phase)).unwrap_err();
    assert!(error.what.contains("inner.toml, line 9"), "{error:?}");
    assert_eq!(error.why, "the team `small` would contain itself");
}
