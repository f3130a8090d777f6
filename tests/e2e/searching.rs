//! `firmhand search` and `firmhand index`: what is printed, and what is said when something is
//! missing.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::place::Place;

/// Runs the program with that `IDF_PATH`.
fn run(place: &Place, idf: &str, args: &[&str]) -> (Output, String) {
    let output = place.command(args).env("IDF_PATH", idf).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_idf_path_that_names_nothing_is_said() {
    let place = Place::new();
    let nowhere = place.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let (output, errors) = run(&place, nowhere, &["search", "--json", "wifi", "scan"]);
    let answer = answer(&output);
    assert!(!answer["results"].as_array().unwrap().is_empty(), "the notes answer");
    let left_out = answer["not_searched"][0].as_str().unwrap();
    let says = |text: &str| text.contains(nowhere) && text.contains("does not exist");
    assert!(says(left_out), "{left_out}");
    assert!(says(&errors), "{errors}");
    for command in ["list", "build"] {
        let (output, errors) = run(&place, nowhere, &["index", command]);
        assert!(output.status.success() && says(&errors), "{command}: {errors}");
    }
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    let (_, errors) = run(&place, folder.to_str().unwrap(), &["search", "wifi scan"]);
    assert!(errors.contains("is not an ESP-IDF"), "{errors}");
}
