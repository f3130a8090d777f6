//! `firmhand policy`: what is printed, and what is on disk after a kill.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::place::Place;

fn json(place: &Place, args: &[&str]) -> Value {
    let output = place.run(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_comparison_is_printed_as_one_object() {
    let place = Place::new();
    let args = ["policy", "compare", "--seed", "3", "--episodes", "5000", "--json"];
    let printed = json(&place, &args);
    let learned = &printed["policies"][0];
    assert_eq!(learned["name"], "learned");
    let (value, optimum) =
        (learned["value"].as_f64().unwrap(), printed["optimum"].as_f64().unwrap());
    assert!(value <= optimum && value >= 0.99 * optimum, "{printed}");
    assert!(learned["interval"][0].as_f64().unwrap() < value, "{printed}");
    assert_eq!(printed["five_tasks"], serde_json::json!({ "learned": 10, "fixed": 23 }));
    assert!(printed["episodes_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_program_killed_while_it_saves_leaves_a_whole_policy() {
    let place = Place::new();
    json(&place, &["policy", "train", "--episodes", "50", "--json"]);
    for round in 0..20 {
        let seed = round.to_string();
        let args = ["policy", "train", "--episodes", "50", "--seed", &seed, "--json"];
        let mut program = place.command(&args).spawn().unwrap();
        thread::sleep(Duration::from_millis(round));
        program.kill().unwrap();
        program.wait().unwrap();
        let shown = json(&place, &["policy", "show", "--json"]);
        assert_eq!(shown["origin"]["episodes"], 50, "{shown}");
    }
}

#[test]
fn without_a_policy_the_command_to_train_one_is_named() {
    let output = Place::new().run(&["policy", "explain", "start,0"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("firmhand policy train"), "{errors}");
}

#[test]
fn a_recorded_run_says_why_each_agent_speaks_and_is_learned_from_once() {
    let place = Place::new();
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let task = "Convert whole numbers to Roman numerals, with tests";
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/learned/script.toml");
    let project = place.path("roman");
    let mut args = vec!["run", task, "--team", "learned", "--script", script, "--speed", "max"];
    args.extend(["--project", project.to_str().unwrap(), "--policy", rules.to_str().unwrap()]);
    args.push("--json");
    let output = place.run(&args);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let events: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let chosen = events.iter().filter_map(|event| event["event"].get("speaker_chosen"));
    let choices: Vec<&Value> = chosen.map(|chosen| &chosen["choice"]).collect();
    assert_eq!(choices.len(), 4, "{printed}");
    let table = events.iter().find_map(|event| event["event"].get("policy_taken")).unwrap();
    for choice in choices {
        assert_eq!(choice["table"], table["hash"]);
        assert_eq!(choice["values"].as_array().unwrap().len(), 4);
    }
    let learned = json(&place, &["policy", "learn", "--take", "--json"]);
    assert_eq!((&learned["taken"], &learned["sessions"]), (&Value::Bool(true), &Value::from(1)));
    let shown = json(&place, &["policy", "show", "--json"]);
    assert_eq!(shown["origin"]["sessions"], 1);
    let output = place.run(&["policy", "learn", "--json"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("not learned from yet"), "{errors}");
}

#[test]
fn all_recorded_tasks_are_run() {
    let place = Place::new();
    let args = ["policy", "compare", "--tasks", "mixed", "--seed", "1", "--all-tasks", "--json"];
    let comparison = json(&place, &args);
    let (learned, fixed) = (&comparison["tasks"]["learned"], &comparison["tasks"]["fixed"]);
    assert_eq!((&learned["tasks"], &fixed["tasks"]), (&Value::from(25), &Value::from(25)));
    assert!(learned["calls"].as_u64() < fixed["calls"].as_u64(), "{comparison}");
    assert!(learned["solved"].as_u64() >= Some(24), "{comparison}");
}
