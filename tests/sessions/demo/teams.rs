//! The recording of every team, with real builds on the virtual board where the team builds.

use firmhand::config::Assets;
use firmhand::engine::{SpeakerSelection, Team};
use firmhand::model::{
    BuildEvent, BuildOutcome, Event, LogId, LogKind, PhaseEvent, PhaseOutcome, Proposal,
    ProposalEvent, SessionOutcome, TeamEvent, TurnEvent, Verdict,
};
use firmhand::provider::parse_script;
use firmhand::tools::known;

use super::stage::{Nobody, Person, Stage, approve, reject, subject};
use super::whole::stage;

pub fn builds(stage: &Stage) -> Vec<BuildOutcome> {
    let ended = stage.events().into_iter().filter_map(|event| match event {
        Event::Build(BuildEvent::Ended { outcome, .. }) => Some(outcome),
        _ => None,
    });
    ended.collect()
}

pub fn played(name: &str) -> Stage {
    let stage = stage().playing(name).allowing_all();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{:#?}", stage.events().last());
    stage
}

fn serial(stage: &Stage) -> String {
    stage.log(LogId { kind: LogKind::Serial, number: 1 })
}

#[test]
fn every_team_has_a_recording_of_its_own() {
    let assets = Assets::built_in();
    let scripts = assets.list("assets/demo").into_iter().filter(|p| p.ends_with("/script.toml"));
    let teams: Vec<String> = scripts
        .map(|path| {
            let folder = path.trim_end_matches("/script.toml").to_owned();
            let text = assets.text(&path).unwrap().text.into_owned();
            let beside = |name: &str| Ok(assets.text(&format!("{folder}/{name}"))?.text.into());
            parse_script(&path, &text, &beside).unwrap().team().to_owned()
        })
        .collect();
    for team in Team::names(&assets) {
        Team::load(&assets, &team, &known).unwrap();
        assert!(teams.contains(&team), "no recording shows `{team}`: {teams:?}");
    }
}

#[test]
fn single_answers_with_its_sources_and_writes_nothing() {
    let stage = played("single");
    let events = stage.events();
    assert!(!events.iter().any(|event| matches!(event, Event::Proposal(ProposalEvent::Made(_)))));
    let found = events.iter().any(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
            result.to_string().contains("i2c_master")
        }
        _ => false,
    });
    assert!(found, "the search is the program's own");
    let mut facts = events.iter().filter_map(|event| match event {
        Event::Turn(fact @ (TurnEvent::TextAdded { .. } | TurnEvent::ToolCalled { .. })) => {
            Some(fact)
        }
        _ => None,
    });
    let Some(TurnEvent::ToolCalled { tool, args, .. }) = facts.next() else { panic!("no look-up") };
    assert_eq!(tool.as_str(), "retrieve_docs", "passages come before the agent's first word");
    assert_eq!(args["query"], "How do I read a register of an I2C device?");
    let numbers = events.iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => result["chunks"].as_array(),
        _ => None,
    });
    let numbers: Vec<u64> =
        numbers.flatten().filter_map(|chunk| chunk["number"].as_u64()).collect();
    assert!(
        numbers.len() > 2 && numbers.iter().copied().eq(1..=numbers.len() as u64),
        "{numbers:?}"
    );
}

#[test]
fn draft_ends_when_its_planner_says_so_and_every_file_is_saved() {
    let stage = played("draft");
    assert!(builds(&stage).is_empty());
    assert!(stage.file("main/src/press_counter.c").contains("STEADY_LOOKS"));
    let plan = stage.events().into_iter().find_map(|event| match event {
        Event::Team(TeamEvent::PlanMade { items, .. }) => Some(items),
        _ => None,
    });
    assert_eq!(plan.unwrap().len(), 4);
}

#[test]
fn a_draft_with_a_file_missing_goes_on() {
    let stage = stage().playing("draft");
    let outcome = stage.play(|proposal: &Proposal, before| {
        match subject(proposal) == "main/main.c" && before == 0 {
            true => reject("not yet"),
            false => approve(),
        }
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(stage.file("main/main.c").contains("not yet"));
}

#[test]
fn edit_generated_adds_deletes_mends_and_runs() {
    let stage = played("edit-generated");
    assert_eq!(builds(&stage), [BuildOutcome::Failed, BuildOutcome::Passed]);
    assert!(!stage.project("main/misc/pins.txt").exists());
    assert!(serial(&stage).contains("led=1"), "{}", serial(&stage));
}

#[test]
fn a_refused_deletion_keeps_the_file() {
    let stage = stage().playing("edit-generated");
    let outcome = stage.play(|proposal: &Proposal, _| match subject(proposal).as_str() {
        "main/misc/pins.txt" => reject("I print it"),
        _ => approve(),
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(stage.project("main/misc/pins.txt").exists());
}

#[test]
fn edit_existing_reads_only_chosen_files_and_leaves_the_others() {
    let whole = stage().playing("edit-existing");
    let bus = whole.file("components/bus/bus.c");
    let stage = played("edit-existing");
    assert_eq!(builds(&stage), [BuildOutcome::Failed, BuildOutcome::Passed]);
    assert_eq!(stage.file("components/bus/bus.c"), bus);
    let listed = stage.events().into_iter().find_map(|event| match event {
        Event::Team(TeamEvent::ContextListed { files, .. }) => Some(files),
        _ => None,
    });
    let listed = listed.unwrap();
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|file| file.tokens > 0), "{listed:?}");
    assert!(serial(&stage).contains(" F"), "{}", serial(&stage));
}

#[test]
fn extend_existing_changes_an_existing_file_by_its_insertion_alone() {
    let before = stage().playing("extend-existing").file("main/main.c");
    let stage = played("extend-existing");
    assert_eq!(builds(&stage), [BuildOutcome::Failed, BuildOutcome::Passed]);
    let after = stage.file("main/main.c");
    let added = ["#include \"extremes.h\"", "        extremes_take(centidegrees);"];
    let kept: Vec<&str> = after.lines().filter(|line| !added.contains(line)).collect();
    assert_eq!(kept, before.lines().collect::<Vec<_>>(), "{after}");
    assert!(stage.file("main/CMakeLists.txt").contains("extremes.c"));
    assert!(serial(&stage).contains("min="), "{}", serial(&stage));
}

#[test]
fn arduino_mends_a_sketch_that_neither_builds_nor_runs() {
    let stage = played("arduino");
    assert_eq!(
        builds(&stage),
        [BuildOutcome::Failed, BuildOutcome::Passed, BuildOutcome::Passed],
        "{}",
        stage.log(LogId { kind: LogKind::Build, number: 1 })
    );
    let errors = stage.events().into_iter().find_map(|event| match event {
        Event::Build(BuildEvent::Ended { diagnostics, .. }) => Some(diagnostics),
        _ => None,
    });
    let errors = errors.unwrap();
    let first = &errors[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("room-monitor.ino"), Some(14)));
    assert!(first.message.contains("'Wire' was not declared"), "{first:?}");
    let panic = stage.events().into_iter().find_map(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => result.pointer("/panics/0").cloned(),
        _ => None,
    });
    let panic = panic.unwrap().to_string();
    for known in ["LoadProhibited", "History::add", "History.cpp", "loop", "room-monitor.ino"] {
        assert!(panic.contains(known), "no {known} in {panic}");
    }
    let order: Vec<String> = speakers(&stage).into_iter().map(|(agent, _)| agent).collect();
    let expected = [
        "SketchFilesAgent",
        "SketchMapAgent",
        "SketchReadAgent",
        "SketchBuildAgent",
        "SketchAnalysisAgent",
        "ArduinoAgent",
        "SketchBuildAgent",
        "SketchFlashAgent",
        "SketchWatchAgent",
        "ArduinoAgent",
        "SketchBuildAgent",
        "SketchFlashAgent",
        "SketchWatchAgent",
    ];
    assert_eq!(order, expected);
    let source = stage.file("room-monitor.ino");
    assert!(source.contains("#include <Wire.h>\n") && source.contains("history.add"), "{source}");
    assert!(serial(&stage).contains("temp=2"), "{}", serial(&stage));
    let reached = stage.events().into_iter().find_map(|event| match event {
        Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Succeeded(why), .. }) => Some(why),
        _ => None,
    });
    assert_eq!(reached.unwrap(), "the serial output was stable for 5 seconds");
}

/// Who spoke, and why, in order.
fn speakers(stage: &Stage) -> Vec<(String, String)> {
    let chosen = stage.events().into_iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
            Some((agent.to_string(), reason))
        }
        _ => None,
    });
    chosen.collect()
}

#[test]
fn mend_goes_where_the_selector_sends_it_and_says_why() {
    let stage = played("mend");
    let twice = [BuildOutcome::Failed, BuildOutcome::Failed, BuildOutcome::Passed];
    assert_eq!(builds(&stage), twice);
    let speakers = speakers(&stage);
    for (number, (agent, reason)) in speakers.iter().enumerate() {
        let expected = match number % 2 {
            0 => "SelectorAgent chooses who speaks next".to_owned(),
            _ => format!("SelectorAgent chose {agent}: "),
        };
        assert!(reason.starts_with(&expected), "{number}: {agent}: {reason}");
        assert_eq!(agent == "SelectorAgent", number % 2 == 0);
    }
    let others: Vec<&str> = speakers.iter().skip(1).step_by(2).map(|(a, _)| a.as_str()).collect();
    assert_eq!(
        others,
        [
            "BuildAgent",
            "UploadProjectFilesAgent",
            "CodeFixerAgent",
            "CodeReviewerAgent",
            "BuildAgent",
            "CodeFixerAgent",
            "CodeReviewerAgent",
            "BuildAgent",
            "FlashAgent",
            "ApproveAgent"
        ]
    );
    let list = stage.file("main/CMakeLists.txt");
    assert!(
        list.starts_with("# The level was") && list.contains("\"main.c\" \"level.c\""),
        "{list}"
    );
    assert!(serial(&stage).contains("level=0 %"), "{}", serial(&stage));
}

#[test]
fn a_pair_hands_the_work_to_and_fro_until_it_is_the_persons() {
    let stage = played("pair");
    assert_eq!(builds(&stage), [BuildOutcome::Failed, BuildOutcome::Passed]);
    let speakers = speakers(&stage);
    let names: Vec<&str> = speakers.iter().map(|(agent, _)| agent.as_str()).collect();
    assert_eq!(names, ["ChangeAgent", "TryAgent", "ChangeAgent", "TryAgent"]);
    assert_eq!(speakers[0].1, "ChangeAgent opens the chat");
    assert!(speakers[1].1.starts_with("ChangeAgent handed over to TryAgent: “build it;"));
    assert!(speakers[2].1.contains("TryAgent handed over to ChangeAgent: “components/report"));
    assert!(serial(&stage).contains("warm: above 20.0 C"), "{}", serial(&stage));
    let reached = stage.events().into_iter().find_map(|event| match event {
        Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Succeeded(why), .. }) => Some(why),
        _ => None,
    });
    assert_eq!(reached.unwrap(), "it was handed over to person");
}

/// Refuses the first change and answers with this.
struct Particular(&'static str);

impl Person for Particular {
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
        match subject(proposal).as_str() {
            "components/report/report.c" if before == 0 => reject("no warning, please"),
            _ => approve(),
        }
    }

    fn answer(&mut self, _: &str) -> String {
        self.0.to_owned()
    }
}

#[test]
fn a_refused_change_of_a_pair_is_asked_about() {
    let stage = stage().playing("pair");
    assert_eq!(stage.play(Particular("as information")), SessionOutcome::Completed);
    assert!(stage.file("components/report/report.c").contains("ESP_LOGI(TAG, \"warm:"));
    let stage = super::whole::stage().playing("pair");
    let before = stage.file("components/report/report.c");
    let SessionOutcome::Failed(error) = stage.play(Particular("leave it")) else { panic!() };
    assert!(error.why.contains("build"), "{error:?}");
    assert_eq!(stage.file("components/report/report.c"), before);
}

#[test]
fn every_way_to_choose_the_next_speaker_is_shown_by_a_team_that_ships() {
    let assets = Assets::built_in();
    let teams = Team::names(&assets).into_iter().map(|name| Team::load(&assets, &name, &known));
    let mut shown = std::collections::BTreeSet::new();
    for phase in teams.flat_map(|team| team.unwrap().phases.clone()) {
        shown.insert(match phase.selection {
            SpeakerSelection::RoundRobin => "round robin",
            SpeakerSelection::Pipeline { .. } => "pipeline",
            SpeakerSelection::Selector(_) => "selector",
            SpeakerSelection::Planner(_) => "planner",
            SpeakerSelection::HandOff(_) => "hand-off",
            SpeakerSelection::Policy(_) => "policy",
        });
    }
    assert_eq!(shown.len(), 6, "{shown:?}");
}

/// Sends both changes back and answers the questions that follow.
struct Choosy;

impl Person for Choosy {
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
        match (subject(proposal).as_str(), &proposal.reason) {
            ("room-monitor.ino", why) if before == 0 || why.contains("itself") => reject("not so"),
            _ => approve(),
        }
    }

    fn answer(&mut self, text: &str) -> String {
        let is_first = text.contains("Wire.h");
        if is_first { "below the own header" } else { "set the pointer" }.to_owned()
    }
}

#[test]
fn changes_to_a_sketch_that_are_sent_back_are_asked_about_and_made_otherwise() {
    let stage = stage().playing("arduino");
    assert_eq!(stage.play(Choosy), SessionOutcome::Completed);
    let source = stage.file("room-monitor.ino");
    assert!(source.contains("#include \"History.h\"\n#include <Wire.h>\n"), "{source}");
    assert!(source.contains("history = new History();"), "{source}");
}

#[test]
fn a_sketch_whose_flash_is_refused_has_not_reached_its_goal() {
    let stage = stage().playing("arduino");
    let outcome = stage.play(|proposal: &Proposal, _| match subject(proposal).as_str() {
        "flash" => reject("not on my desk"),
        _ => approve(),
    });
    let SessionOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.why.contains("the board did not run stably"), "{error:?}");
}

/// Whether a program in the sandbox reaches itself over the network: only one of its own has loopback.
pub fn has_loopback() -> bool {
    crate::sandbox_runner().protection().level == firmhand::sandbox::Level::Namespaces
}

/// Whether programs can be run here; without Python the team says so.
pub fn has_python() -> bool {
    let python = std::process::Command::new("python3").arg("--version").output();
    python.is_ok_and(|done| done.status.success())
}
