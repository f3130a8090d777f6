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
    let told = json(&place, &args);
    let learned = &told["policies"][0];
    assert_eq!(learned["name"], "learned");
    let (value, optimum) = (learned["value"].as_f64().unwrap(), told["optimum"].as_f64().unwrap());
    assert!(value <= optimum && value >= 0.99 * optimum, "{told}");
    assert!(learned["interval"][0].as_f64().unwrap() < value, "{told}");
    assert_eq!(told["five_tasks"], serde_json::json!({ "learned": 10, "fixed": 23 }));
    assert!(told["episodes_per_second"].as_f64().unwrap() > 0.0);
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
