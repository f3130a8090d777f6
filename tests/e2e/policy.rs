//! `firmhand policy`: what is printed, and what is on disk after a kill.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

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

/// Whether a program holds a lock on the file; it is there a moment before it is locked.
fn is_locked(file: &Path) -> bool {
    let Ok(found) = std::fs::metadata(file) else { return false };
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| line.contains(&format!(":{} ", found.ino())))
}

#[test]
fn two_programs_that_train_at_once_leave_one_whole_policy_and_one_is_told() {
    let place = Place::new();
    let args = ["policy", "train", "--episodes", "20000000", "--json"];
    let mut long = place.command(&args).stdout(Stdio::null()).spawn().unwrap();
    let lock = place.path("data/policy/learned.lock");
    let begun = Instant::now();
    while !is_locked(&lock) && begun.elapsed().as_secs() < 60 {
        thread::sleep(Duration::from_millis(5));
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

/// Sessions as a file holds them: so many, whose last ones failed.
fn sessions(count: usize, failed: usize) -> String {
    let line = |number: usize| {
        let end = if number < count - failed { "success" } else { "timeout" };
        let reward = if end == "success" { 9.9 } else { -5.1 };
        format!(
            "{{\"team\":\"learned\",\"agents\":[\"planner\",\"coder\",\"tester\",\"debugger\"],\
             \"end\":\"{end}\",\"steps\":[{{\"state\":\"start,0\",\"agent\":\"coder\",\"reward\":0.2,\
             \"chance\":0.9}},{{\"state\":\"code,0\",\"agent\":\"tester\",\"reward\":{reward},\
             \"chance\":0.9}}]}}\n"
        )
    };
    (0..count).map(line).collect()
}

#[test]
fn too_few_sessions_are_counted_and_a_file_is_learned_from_once() {
    let place = Place::new();
    let file = place.path("sessions.jsonl");
    let from = file.to_str().unwrap();
    std::fs::write(&file, sessions(4, 0)).unwrap();
    let output = place.run(&["policy", "learn", "--from", from]);
    let words = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    assert!(words.contains("10 or more in total; there are 2 to judge by"), "{words}");
    assert!(words.contains("The present table stays in use"), "{words}");
    std::fs::write(&file, sessions(40, 0)).unwrap();
    let learned = json(&place, &["policy", "learn", "--from", from, "--json"]);
    assert_eq!(
        (&learned["taken"], &learned["learned_from"]),
        (&Value::Bool(true), &Value::from(20))
    );
    assert_eq!(learned["difference"]["interval"], serde_json::json!([0.0, 0.0]), "{learned}");
    let output = place.run(&["policy", "learn", "--from", from]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("exactly these sessions"), "{errors}");
    let kept = json(&place, &["policy", "show", "--older", "--json"]);
    assert_eq!(kept["older"].as_array().map(Vec::len), Some(1), "{kept}");
}

#[test]
fn rewards_of_the_settings_count_for_a_saved_table() {
    let place = Place::new();
    let task = "Convert whole numbers to Roman numerals, with tests";
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/learned/script.toml");
    let project = place.path("roman");
    let mut args = vec!["run", task, "--team", "learned", "--script", script, "--speed", "max"];
    args.extend(["--project", project.to_str().unwrap(), "--policy", rules.to_str().unwrap()]);
    args.push("--json");
    assert_eq!(place.run(&args).status.code(), Some(0));
    json(&place, &["policy", "train", "--episodes", "200", "--json"]);
    json(&place, &["policy", "learn", "--take", "--json"]);
    let before = json(&place, &["policy", "show", "--json"])["states"].clone();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/policy/process.toml");
    let shipped = std::fs::read_to_string(shipped).unwrap();
    let folder = place.config().join("assets/policy");
    std::fs::create_dir_all(&folder).unwrap();
    let dear = shipped.replace("thousand_tokens = 0.0", "thousand_tokens = -500.0");
    // The table is saved before the setting is made.
    json(&place, &["policy", "reset", "--json"]);
    json(&place, &["policy", "train", "--episodes", "200", "--json"]);
    std::fs::write(folder.join("process.toml"), dear).unwrap();
    json(&place, &["policy", "learn", "--take", "--json"]);
    let shown = json(&place, &["policy", "show", "--json"]);
    assert_eq!(shown["origin"]["process"]["reward"]["thousand_tokens"], -500.0, "{shown}");
    assert_ne!(shown["states"], before);
    let other = shipped.replace("success = 10.0", "success = 20.0");
    std::fs::write(folder.join("process.toml"), other).unwrap();
    let output = place.run(&["policy", "learn", "--take"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("trained with other rewards"), "{errors}");
}

#[test]
fn options_that_do_nothing_are_named_and_numbers_out_of_range_refused() {
    let place = Place::new();
    json(&place, &["policy", "train", "--episodes", "50", "--json"]);
    for (args, code, words) in [
        (&["show", "--older", "--episodes", "9"][..], 0, "Not used: --episodes"),
        (&["learn", "--seed", "99"], 1, "Not used: --seed; sessions are added to the saved table"),
        (&["reset", "--seed", "3", "--parameters", "/none"], 0, "Not used: --seed, --parameters"),
        (&["train", "--seed", "-1"], 2, "'--seed <N>': it is not a whole number from 0 to"),
        (&["reset", "--to", "-1"], 2, "'--to <NUMBER>': it is not a whole number from 1 to"),
        (&["train", "--episodes", "-5"], 2, "--episodes"),
        (&["learn", "--weight", "-5"], 2, "from 1 to 10000"),
        (&["train", "--resume", "--team", "nosuch"], 1, "policy train --team nosuch"),
    ] {
        let output = place.run(&[&["policy"][..], args].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
        assert!(errors.contains(words), "{args:?}: {errors}");
    }
}

#[test]
fn the_saved_table_is_compared_and_seeds_are_text_everywhere() {
    let place = Place::new();
    let trained = json(&place, &["policy", "train", "--episodes", "10", "--json"]);
    assert_eq!(trained["seed"], "1");
    let compared = json(&place, &["policy", "compare", "--json"]);
    let names: Vec<&str> = compared["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["learned", "saved"]);
    let value = |place: usize| compared["policies"][place]["value"].as_f64().unwrap();
    assert!(value(1) < 0.95 * value(0), "{compared}");
    json(
        &place,
        &["policy", "train", "--episodes", "10", "--seed", "18446744073709551615", "--json"],
    );
    let older = json(&place, &["policy", "reset", "--json"]);
    assert_eq!(older["older"][1]["seed"], "18446744073709551615", "{older}");
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_is_lost_is_a_failure_and_tables_fit_the_columns() {
    let place = Place::new();
    for args in [
        &["policy", "show"][..],
        &["policy", "explain", "--json"],
        &["policy", "show", "--json"],
        &["sessions", "list"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(args).stdout(full).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains("Cannot write the output"), "{args:?}: {errors}");
    }
    for columns in ["80", "60", "40"] {
        for args in [&["policy", "show"][..], &["policy", "explain"], &["policy", "compare"]] {
            let output = place.command(args).env("COLUMNS", columns).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns.parse().unwrap(), "{args:?} {columns}\n{text}");
        }
    }
}
