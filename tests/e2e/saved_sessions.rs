//! Saved sessions on the command line: listed, searched, shown, named, deleted.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::place::Place;

const SCRIPT: &str = r#"
format = 1
title = "A question"
task = "What is I2C?"
team = "single"
start = "one"
verbatim = true

[[steps]]
id = "one"
agent = "AnswerAgent"
say = "I2C has two wires."
end = true
"#;

/// A place with two sessions that are over.
fn place() -> Place {
    let place = Place::new();
    let script = place.path("one.toml");
    fs::write(&script, SCRIPT).unwrap();
    for task in ["What is I2C?", "What is SPI?"] {
        let script = script.to_str().unwrap();
        let output =
            place.run(&["run", task, "--team", "single", "--script", script, "--speed", "max"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    place
}

fn text(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn listed(place: &Place, more: &[&str]) -> Vec<Value> {
    let output = text(place.run(&[&["sessions", "list", "--json"], more].concat()));
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn saved_sessions_are_searched_named_shown_and_deleted() {
    let place = place();
    assert_eq!(listed(&place, &[]).len(), 2);
    assert!(text(place.run(&["sessions", "--search", "nothing of that"])).contains("No session"));
    let found = listed(&place, &["--search", "SPI completed"]);
    assert_eq!(found.len(), 1, "{found:?}");
    let id = found[0]["id"].as_str().unwrap();

    let shown: Value =
        serde_json::from_str(&text(place.run(&["sessions", "show", id, "--json"]))).unwrap();
    assert_eq!(shown["runs"][0]["task"], "What is SPI?");
    assert_eq!(shown["runs"][0]["outcome"], "completed");
    assert_eq!(shown["total"]["agents"][0]["name"], "AnswerAgent");
    assert_eq!(shown["total"]["agents"][0]["turns"], 1);
    assert_eq!(shown["total"]["files"], serde_json::json!([]));
    let words = text(place.run(&["sessions", "show", id]));
    assert!(words.contains("What is SPI?") && words.contains("AnswerAgent"), "{words}");

    let renamed = text(place.run(&["sessions", "rename", id, "Bus  questions\u{1b}[2J"]));
    assert!(renamed.contains("Bus questions") && !renamed.contains('\u{1b}'), "{renamed}");
    place.run(&["sessions", "rename", id, "Bus questions"]);
    let shown: Value =
        serde_json::from_str(&text(place.run(&["sessions", "show", "bus Questions", "--json"])))
            .unwrap();
    assert_eq!((shown["id"].as_str(), shown["title"].as_str()), (Some(id), Some("Bus questions")));
    assert!(text(place.run(&["sessions"])).contains("Bus questions"));

    let refused = place.run(&["sessions", "delete", id]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("--yes"));
    assert_eq!(listed(&place, &[]).len(), 2, "nobody has confirmed it");
    assert!(text(place.run(&["sessions", "delete", id, "--yes"])).contains("deleted"));
    let left = listed(&place, &[]);
    assert_eq!((left.len(), left[0]["task"].as_str()), (1, Some("What is I2C?")));
    assert_eq!(place.run(&["sessions", "show", id]).status.code(), Some(1));
}
