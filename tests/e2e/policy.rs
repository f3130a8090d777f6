//! `firmhand policy`: what is printed, and what is on disk after a kill.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

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
    let begun = Instant::now();
    json(&place, &["policy", "train", "--episodes", "50", "--json"]);
    let whole = begun.elapsed();
    // From before its first write to after its last one.
    for round in 0..30 {
        let seed = round.to_string();
        let args = ["policy", "train", "--episodes", "50", "--seed", &seed, "--json"];
        let mut program = place.command(&args).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(whole * round / 25);
        program.kill().unwrap();
        program.wait().unwrap();
        let shown = json(&place, &["policy", "show", "--json"]);
        assert_eq!(shown["origin"]["episodes"], 50, "{shown}");
    }
}

#[test]
fn two_programs_that_train_at_once_leave_one_whole_policy_and_one_is_told() {
    let place = Place::new();
    let args = ["policy", "train", "--episodes", "20000000", "--json"];
    let mut long = place.command(&args).stdout(Stdio::null()).spawn().unwrap();
    let lock = place.path("data/policy/learned.lock");
    let begun = Instant::now();
    while !lock.exists() && begun.elapsed().as_secs() < 60 {
        thread::yield_now();
    }
    let output = place.run(&["policy", "train", "--episodes", "50"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    long.kill().unwrap();
    long.wait().unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("another program is training it"), "{errors}");
    json(&place, &["policy", "train", "--episodes", "50", "--json"]);
}

/// Writes a team of twelve agents: the four of `learned`, and eight whose work a policy cannot see.
fn crew(place: &Place) {
    let mut names = vec!["planner".to_owned(), "coder".into(), "tester".into(), "debugger".into()];
    std::fs::create_dir_all(place.config().join("prompts/agents")).unwrap();
    std::fs::create_dir_all(place.config().join("prompts/teams")).unwrap();
    for number in 1..=8 {
        let name = format!("helper{number}");
        let text = format!(
            "+++\nname = \"{name}\"\ndescription = \"Helps.\"\ntools = []\n+++\nYou help.\n"
        );
        std::fs::write(place.config().join(format!("prompts/agents/{name}.md")), text).unwrap();
        names.push(name);
    }
    let team = format!(
        "name = \"crew\"\ntitle = \"Crew\"\ndescription = \"Twelve agents.\"\n\n[[phases]]\n\
         name = \"work\"\ntitle = \"work\"\nparticipants = {names:?}\nselection = \"policy\"\n\
         goal = \"tests_passed\"\nterminate = {{ max_messages = 10 }}\n"
    );
    std::fs::write(place.config().join("prompts/teams/crew.toml"), team).unwrap();
}

#[test]
fn a_team_with_twelve_agents_is_trained_compared_and_explained() {
    let place = Place::new();
    crew(&place);
    let team = ["--team", "crew", "--json"];
    json(&place, &[&["policy", "train", "--episodes", "20000"][..], &team].concat());
    let explained = json(&place, &[&["policy", "explain", "code,0"][..], &team].concat());
    assert_eq!(explained["opinions"].as_array().map(Vec::len), Some(12), "{explained}");
    assert_eq!(explained["agent"], "tester", "{explained}");
    let compared =
        json(&place, &[&["policy", "compare", "--episodes", "20000"][..], &team].concat());
    let learned = compared["policies"][0]["value"].as_f64().unwrap();
    assert!(learned > 0.97 * compared["optimum"].as_f64().unwrap(), "{compared}");
}

#[test]
fn a_state_that_was_never_visited_is_explained_by_a_similar_one() {
    let place = Place::new();
    json(&place, &["policy", "train", "--episodes", "5", "--json"]);
    let output = place.run(&["policy", "explain", "plan,code,error,3"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("never visited"), "{text}");
}

#[test]
fn a_team_without_a_learned_order_is_said_to_make_no_use_of_a_policy() {
    let place = Place::new();
    for (team, words) in [("mesh", "does not choose"), ("nobody", "There is no team")] {
        let output = place.run(&["policy", "train", "--episodes", "5", "--team", team]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(errors.contains(words), "{errors}");
    }
}

#[test]
fn without_a_policy_the_table_that_the_team_uses_is_explained() {
    let output = Place::new().run(&["policy", "explain", "start,0"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("until one is trained"), "{errors}");
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("coder speaks next"), "{words}");
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
