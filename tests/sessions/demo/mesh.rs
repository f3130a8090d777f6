//! The recordings of the team `mesh`: programs of several kinds that run for real.

use firmhand::model::{
    BuildOutcome, Event, PhaseEvent, Proposal, ProposalEvent, SessionOutcome, TurnEvent,
};

use super::stage::{Stage, approve, reject, subject};
use super::teams::{builds, has_loopback, has_python, played};
use super::whole::stage;

#[test]
fn mesh_sees_a_test_fail_and_corrects_the_code_before_it_proposes_a_file() {
    if !has_python() {
        return;
    }
    let stage = played("mesh");
    let mut failed = None;
    for (place, event) in stage.events().iter().enumerate() {
        match event {
            Event::Turn(TurnEvent::ToolAnswered { result, .. })
                if result.pointer("/error/code").is_some_and(|code| code == "tests_failed") =>
            {
                failed = failed.or(Some(place));
            }
            Event::Proposal(ProposalEvent::Made(proposal))
                if subject(proposal) == "todo_list.py" =>
            {
                assert!(
                    failed.is_some_and(|failed| failed < place),
                    "proposed before it was tried"
                );
            }
            _ => {}
        }
    }
    assert!(failed.is_some());
    assert!(stage.file("todo_list.py").contains("tasks.pop(index(tasks, number))"));
    // The program is one that a person can use.
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new("python3");
        let output = command.arg("todo.py").args(args).current_dir(stage.project("")).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    run(&["add", "buy", "milk"]);
    run(&["add", "call home"]);
    run(&["done", "2"]);
    run(&["remove", "1"]);
    assert_eq!(run(&["list"]), "1. [x] call home\n");
}

#[test]
fn a_step_of_mesh_whose_file_is_refused_twice_needs_attention() {
    if !has_python() {
        return;
    }
    let stage = stage().playing("mesh");
    let outcome = stage.play(|proposal: &Proposal, _| match subject(proposal).as_str() {
        "todo_store.py" => reject("use SQLite"),
        _ => approve(),
    });
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    // What builds on the file that is missing cannot work either.
    assert_eq!(error.why, "steps 1, 2, 3 of 3 need attention");
    assert!(!stage.project("todo_store.py").exists());
}

/// What a program of the stage prints.
fn output(stage: &Stage, program: &str, args: &[&str], input: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(program);
    let command = command.args(args).current_dir(stage.project(""));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Titles of the phases, in order, and how the tests in them ended.
fn titles(stage: &Stage) -> Vec<String> {
    let title = stage.events().into_iter().filter_map(|event| match event {
        Event::Phase(PhaseEvent::Started { title, .. }) => {
            Some(title.split(':').next().unwrap_or_default().to_owned())
        }
        _ => None,
    });
    title.collect()
}

/// How often tests failed in a run.
fn failures(stage: &Stage) -> usize {
    let failed = |event: &Event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
            result.pointer("/error/code").is_some_and(|code| code == "tests_failed")
        }
        _ => false,
    };
    stage.events().iter().filter(|event| failed(event)).count()
}

#[test]
fn a_review_of_mesh_sends_one_step_of_the_game_back() {
    if !has_python() {
        return;
    }
    let stage = played("mesh-2048");
    assert_eq!(
        titles(&stage),
        [
            "plan",
            "step 1 of 3",
            "step 2 of 3",
            "step 3 of 3",
            "review",
            "step 3 of 3 again",
            "review"
        ]
    );
    assert_eq!(failures(&stage), 1, "merged numbers merged again");
    assert!(stage.file("play.py").contains("except EOFError"));
    let game = output(&stage, "python3", &["play.py", "--seed", "4"], "a\nd\nx\nw\n");
    assert!(game.contains("score: 4") && game.contains("w, a, s or d moves"), "{game}");
}

#[test]
fn the_requests_of_the_rest_server_are_sent_inside_the_sandbox() {
    if !has_python() || !has_loopback() {
        return;
    }
    let stage = played("mesh-rest-api");
    assert_eq!(titles(&stage), ["plan", "step 1 of 3", "step 2 of 3", "step 3 of 3", "review"]);
    assert_eq!(failures(&stage), 1);
    let answers = stage.events().into_iter().find_map(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
            let text = result.get("stdout")?.as_str()?.to_owned();
            text.contains("DELETE").then_some(text)
        }
        _ => None,
    });
    let answers = answers.unwrap();
    assert!(answers.contains("POST /tasks 201") && answers.ends_with("GET /tasks 200 []\n"));
    let tests =
        output(&stage, "python3", &["-c", "import server; print(server.make_server(0))"], "");
    assert!(tests.contains("ThreadingHTTPServer"), "{tests}");
}

#[test]
fn the_to_do_list_in_c_is_tested_and_can_be_used() {
    let stage = played("mesh-todo-c");
    assert_eq!(failures(&stage), 1, "a removed task left the others where they were");
    let sources = ["-o", "todo", "todo.c", "task_list.c", "task_file.c"];
    output(&stage, "cc", &sources, "");
    let todo = stage.project("todo").display().to_string();
    for args in [&["add", "buy milk"][..], &["add", "call home"], &["done", "2"], &["remove", "1"]]
    {
        output(&stage, &todo, args, "");
    }
    assert_eq!(output(&stage, &todo, &["list"], ""), "1. [x] call home\n");
}

#[test]
fn a_component_of_mesh_has_tests_on_the_host_and_is_built_for_the_board() {
    let stage = played("mesh-component");
    assert_eq!(failures(&stage), 1, "rounding below zero");
    assert_eq!(builds(&stage), [BuildOutcome::Passed]);
    assert!(stage.file("components/smooth/smooth.c").contains("-count / 2"));
}

#[test]
fn files_of_each_recording_of_mesh_can_come_back_once() {
    if !has_python() {
        return;
    }
    for name in ["mesh", "mesh-2048", "mesh-rest-api", "mesh-todo-c", "mesh-component"] {
        if name == "mesh-rest-api" && !has_loopback() {
            continue;
        }
        let stage = stage().playing(name);
        let outcome = stage.play(|_: &Proposal, before| match before {
            0 => reject("say more"),
            _ => approve(),
        });
        assert_eq!(outcome, SessionOutcome::Completed, "{name}");
    }
}
