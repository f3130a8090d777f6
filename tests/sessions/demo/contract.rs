//! The team `contract`: programs that are checked, tested, and proposed only when the tests pass.

use std::process::Command;

use firmhand::model::{
    Event, PhaseEvent, Proposal, ProposalEvent, SessionOutcome, TurnEvent, Verdict,
};

use super::stage::{Person, Stage, approve, reject, subject};
use super::teams::has_python;
use super::whole::stage;

/// What was said by whom, in order.
fn speakers(stage: &Stage) -> Vec<String> {
    let speaker = |event: Event| match event {
        Event::Turn(TurnEvent::SpeakerChosen { agent, .. }) => {
            Some(agent.as_str().trim_start_matches("Contract").trim_end_matches("Agent").to_owned())
        }
        _ => None,
    };
    stage.events().into_iter().filter_map(speaker).collect()
}

fn python(stage: &Stage, args: &[&str]) -> String {
    let output = Command::new("python3").args(args).current_dir(stage.project("")).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Every file but the contract was proposed after tests had passed with it.
fn check_order(stage: &Stage) {
    let mut passed = false;
    for event in stage.events() {
        match event {
            Event::Turn(TurnEvent::ToolAnswered { result, .. })
                if result.get("counts").is_some() =>
            {
                passed = result["ok"] == true;
            }
            Event::Proposal(ProposalEvent::Made(proposal))
                if subject(&proposal) != "contract.toon" =>
            {
                assert!(passed, "{proposal:?}");
            }
            _ => {}
        }
    }
    assert!(passed);
}

#[test]
fn the_factorial_in_reverty_is_checked_translated_tested_and_prints_120() {
    if !has_python() {
        return;
    }
    let stage = stage().playing("contract");
    assert_eq!(stage.play(|_: &Proposal, _| approve()), SessionOutcome::Completed);
    assert_eq!(speakers(&stage), ["Evaluator", "Architect", "Coder", "TestGenerator", "Tester"]);
    assert_eq!(python(&stage, &["program.py"]), "120\n");
    assert!(stage.file("program.rev").contains(":n > 1 elihw"));
    assert!(stage.file("contract.toon").starts_with("language: reverty\n"));
    let faults = stage.events().into_iter().find_map(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => result.get("errors").cloned(),
        _ => None,
    });
    let fault = &faults.unwrap()[0];
    assert_eq!((&fault["file"], &fault["line"]), (&"program.rev".into(), &3.into()), "{fault}");
    check_order(&stage);
}

#[test]
fn the_verdict_says_who_works_again() {
    if !has_python() {
        return;
    }
    for (name, again) in [
        ("contract-median", vec!["TestGenerator"]),
        ("contract-leap-year", vec!["Coder"]),
        ("contract-calculator", vec!["Coder", "TestGenerator"]),
    ] {
        let stage = stage().playing(name);
        assert_eq!(stage.play(|_: &Proposal, _| approve()), SessionOutcome::Completed, "{name}");
        let first = vec!["Evaluator", "Architect", "Coder", "TestGenerator", "Tester"];
        assert_eq!(speakers(&stage), [first, again, vec!["Tester"]].concat(), "{name}");
        check_order(&stage);
        if name == "contract-calculator" {
            assert_eq!(python(&stage, &["program.py", "7", "/", "2"]), "3.5\n");
        }
    }
}

/// Takes the contract with a line of its own in it.
struct Editor;

impl Person for Editor {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn edits(&mut self, proposal: &Proposal, text: &str) -> Option<String> {
        let is_contract = subject(proposal) == "contract.toon";
        is_contract.then(|| text.replace(": no library", ": no library at all"))
    }
}

#[test]
fn the_contract_as_the_person_changed_it_is_the_one_that_counts() {
    if !has_python() {
        return;
    }
    let stage = stage().playing("contract-leap-year");
    assert_eq!(stage.play(Editor), SessionOutcome::Completed);
    assert!(stage.file("contract.toon").contains(": no library at all"));
    let posted = stage.events().into_iter().filter(
        |event| matches!(event, Event::Phase(PhaseEvent::Started { phase, .. }) if phase == "code"),
    );
    assert_eq!(posted.count(), 1);
}

#[test]
fn a_file_that_is_sent_back_goes_through_code_and_tests_again() {
    if !has_python() {
        return;
    }
    let stage = stage().playing("contract-leap-year");
    let outcome =
        stage.play(|proposal: &Proposal, before: usize| match subject(proposal).as_str() {
            "program.py" if before == 0 => reject("say what it does"),
            _ => approve(),
        });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(stage.file("program.py").starts_with("# Reviewed again: say what it does\n"));
    check_order(&stage);
}

#[test]
fn a_contract_that_is_sent_back_is_written_again() {
    if !has_python() {
        return;
    }
    let stage = stage().playing("contract-median");
    let outcome =
        stage.play(|proposal: &Proposal, before: usize| match subject(proposal).as_str() {
            "contract.toon" if before == 0 => reject("more guidelines"),
            _ => approve(),
        });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(stage.file("contract.toon").contains("written once more for the person"));
}

/// Approves, and lets the team go on whatever it asks.
struct Patient<'a>(&'a std::cell::RefCell<Vec<String>>);

impl Person for Patient<'_> {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn answer(&mut self, text: &str) -> String {
        self.0.borrow_mut().push(text.to_owned());
        "continue".to_owned()
    }
}

#[test]
fn every_limit_of_the_team_is_reached_and_the_person_lets_it_go_on() {
    if !has_python() {
        return;
    }
    let asked = std::cell::RefCell::new(Vec::new());
    let stage = stage().playing("contract-limits");
    assert_eq!(stage.play(Patient(&asked)), SessionOutcome::Completed);
    let asked = asked.into_inner();
    let agents: Vec<&str> = asked
        .iter()
        .map(|text| text.split_whitespace().find(|word| word.ends_with("Agent")).unwrap())
        .collect();
    let wanted = [
        "EvaluatorAgent",
        "ArchitectAgent",
        "ContractCoderAgent",
        "TestGeneratorAgent",
        "ContractTesterAgent",
    ];
    assert_eq!(agents, wanted, "{asked:?}");
    let ages = "from program import price; print([price(n) for n in (5, 6, 17, 18, 64, 65)])";
    assert_eq!(python(&stage, &["-c", ages]), "[0, 400, 400, 900, 900, 400]\n");
    check_order(&stage);
}
