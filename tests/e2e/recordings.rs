//! The recordings of the teams that write programs, from the first key to a program that can be used.

use std::fs;
use std::thread;
use std::time::Duration;

use firmhand::model::{Event, PersonEvent, SessionOutcome};

use crate::desk::{Desk, LOOK, Next};
use crate::place::Place;
use crate::terminal::Size;

/// What a program of the project prints.
fn printed(place: &Place, program: &str, args: &[&str]) -> String {
    let output =
        std::process::Command::new(program).args(args).current_dir(place.project()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Plays a demo with every file approved by a key, and replays it.
#[track_caller]
fn by_keys(place: &Place, team: &str, size: Size) {
    let args = place.demo_args();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["--team", team]);
    let mut desk = Desk { place, terminal: place.open(&args, size) };
    if team == "mesh" {
        desk.terminal.wait_for("has planned the work");
        thread::sleep(LOOK);
        desk.terminal.press("e");
        desk.terminal.wait_for("The plan: 3 steps");
        thread::sleep(LOOK);
        desk.terminal.press("enter");
        let is_answered = |event: &Event| match event {
            Event::Person(PersonEvent::Answered { .. }) => Some(()),
            _ => None,
        };
        let answered = place.event_within(Duration::from_secs(20), is_answered);
        assert!(answered.is_some(), "{}", desk.terminal.screen());
    }
    let outcome = loop {
        match desk.next() {
            Next::Waits(proposal) => desk.approve(&proposal),
            Next::Ended(outcome) => break outcome,
        }
    };
    assert_eq!(outcome, SessionOutcome::Completed);
    desk.terminal.press("esc q");
    desk.terminal.wait_exit();
    let mut replay = place.open(&["replay"], size);
    replay.press("$");
    replay.wait_for("completed|Completed");
    replay.press("q");
    replay.wait_exit();
}

#[test]
fn a_program_is_planned_written_and_approved_with_keys_and_replayed() {
    for size in [Size::SMALL, Size::LARGE] {
        let place = Place::new();
        by_keys(&place, "mesh", size);
        printed(&place, "python3", &["todo.py", "add", "buy milk"]);
        assert_eq!(printed(&place, "python3", &["todo.py", "list"]), "1. [ ] buy milk\n");
    }
}

#[test]
fn a_contract_becomes_a_program_with_keys_and_is_replayed() {
    for size in [Size::SMALL, Size::LARGE] {
        let place = Place::new();
        by_keys(&place, "contract", size);
        assert_eq!(printed(&place, "python3", &["program.py"]), "120\n");
    }
}

/// The tasks of all recordings of that team.
fn tasks(team: &str) -> Vec<(String, String)> {
    let assets = firmhand::config::Assets::built_in();
    let recordings = firmhand::app::recordings::Recordings::load(&assets).unwrap();
    let of_team = |task: &str| {
        let recording = recordings.of_task(task).filter(|it| it.team == team)?;
        Some((recording.name.clone(), task.to_owned()))
    };
    recordings.all().filter_map(|recording| of_team(&recording.task)).collect()
}

#[test]
fn the_task_of_every_recorded_program_is_carried_out_without_a_screen() {
    let mut count = 0;
    // One asks the person again and again, and nobody is there.
    let all = [tasks("mesh"), tasks("contract")].concat().into_iter();
    for (name, task) in all.filter(|(name, _)| name != "contract-limits") {
        let place = Place::new();
        let policy = place.config().join("rules.toml");
        fs::write(&policy, "[[policy]]\ndecide = \"allow\"\n").unwrap();
        let (policy, project) = (policy.to_str().unwrap(), place.project());
        let args = ["--speed", "max", "--policy", policy, "--project", project.to_str().unwrap()];
        let output = place.run(&[&["run", &task][..], &args].concat());
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{name}: {words}");
        assert!(fs::read_dir(place.project()).unwrap().count() > 1, "{name}");
        count += 1;
    }
    assert!(count >= 9, "{count} recordings");
}
