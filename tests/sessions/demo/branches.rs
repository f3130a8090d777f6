//! The ways the demo can go when the person or a tool answers otherwise.

use std::collections::BTreeSet;

use firmhand::model::{
    BuildEvent, BuildOutcome, Event, PersonEvent, PhaseEvent, PhaseOutcome, Proposal,
    ProposalEvent, SessionOutcome, TurnEvent, Verdict,
};

use super::stage::{Nobody, Person, Stage, approve, reject, subject};
use super::workbench::{Compiler, Workbench};

fn stage() -> Stage {
    Stage::new(Workbench::with(Compiler::Looks))
}

/// All that agents said, in one text.
fn said(stage: &Stage) -> String {
    let texts = stage.events().into_iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::TextAdded { text, .. }) => Some(text),
        _ => None,
    });
    texts.collect()
}

fn builds(stage: &Stage) -> Vec<BuildOutcome> {
    let ended = stage.events().into_iter().filter_map(|event| match event {
        Event::Build(BuildEvent::Ended { outcome, .. }) => Some(outcome),
        _ => None,
    });
    ended.collect()
}

fn attempts(stage: &Stage) -> usize {
    let is_failed = |event: &Event| matches!(event, Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(_), phase, .. }) if phase == "build");
    stage.events().iter().filter(|event| is_failed(event)).count()
}

#[test]
fn a_refused_flash_ends_in_order_without_touching_the_board() {
    let stage = stage();
    let outcome = stage.play(|proposal: &Proposal, _| match subject(proposal).as_str() {
        "flash" => reject("not on my desk"),
        _ => approve(),
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert_eq!(builds(&stage), [BuildOutcome::Failed, BuildOutcome::Passed]);
    let said = said(&stage);
    assert!(said.contains("The board was not written: not on my desk."), "{said}");
    assert!(said.contains("the board stays as it was"), "{said}");
    assert!(
        !stage
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::FlashProgress { .. })))
    );
}

#[test]
fn a_flash_that_fails_is_told_with_its_cause() {
    let stage = stage();
    let outcome = stage.play(|_: &Proposal, _| approve());
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(said(&stage).contains("The board was not written: "), "{}", said(&stage));
    assert!(said(&stage).contains("the board does not answer"), "{}", said(&stage));
}

#[test]
fn every_file_can_be_refused_and_comes_back_changed() {
    let stage = stage();
    let mut refused = BTreeSet::new();
    let outcome = stage.play(|proposal: &Proposal, before| {
        let file = subject(proposal);
        if before > 0 || file == "flash" {
            return approve();
        }
        let verdict = reject(&format!("{file}: say */ why\n#error"));
        refused.insert(file);
        verdict
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert_eq!(refused.len(), 7);
    let scan = stage.file("main/include/i2c_scan.h");
    let first = scan.lines().next().unwrap();
    assert_eq!(first, "/* Reviewed again: main/include/i2c_scan.h: say * / why #error */");
    let list = stage.file("CMakeLists.txt");
    let words = "# Reviewed again: CMakeLists.txt: say */ why #error\n";
    assert!(list.starts_with(&format!("# firmhand: generated project\n{words}")), "{list}");
    assert!(said(&stage).contains("came back: “CMakeLists.txt: say */ why #error; "));
}

#[test]
fn a_file_can_be_refused_several_times_with_other_words() {
    let stage = stage();
    let outcome = stage.play(|proposal: &Proposal, before| match subject(proposal).as_str() {
        "main/main.c" if before < 3 => reject(&format!("no {before}")),
        _ => approve(),
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(stage.file("main/main.c").starts_with("/* Reviewed again: no 2 */\n"));
}

/// Refuses one file a number of times, with the same words, and answers questions.
struct Stubborn {
    file: &'static str,
    times: usize,
    reason: &'static str,
    answer: &'static str,
    asked: Vec<String>,
}

impl Person for &mut Stubborn {
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
        match subject(proposal) == self.file && before < self.times {
            true => reject(self.reason),
            false => approve(),
        }
    }

    fn answer(&mut self, text: &str) -> String {
        self.asked.push(text.to_owned());
        self.answer.to_owned()
    }
}

#[test]
fn the_same_refusal_over_and_over_brings_the_question_whether_to_go_on() {
    let stage = stage();
    let (file, asked) = ("main/main.c", Vec::new());
    let mut person = Stubborn { file, times: 4, reason: "no", answer: "go on", asked };
    assert_eq!(stage.play(&mut person), SessionOutcome::Completed);
    assert!(!person.asked.is_empty());
    assert!(person.asked[0].contains("same files"), "{:?}", person.asked);
}

#[test]
fn a_refused_fix_goes_into_the_next_attempt() {
    let stage = stage();
    let file = "main/src/i2c_scan.c";
    // Once in the first phase, where it is approved, then the fix twice.
    let mut refused = 0;
    let mut asked = Vec::new();
    struct Fussy<'a>(&'a mut u32, &'a mut Vec<String>);
    impl Person for Fussy<'_> {
        fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
            let is_fix = subject(proposal) == "main/src/i2c_scan.c" && before > 0;
            if is_fix && *self.0 < 2 {
                *self.0 += 1;
                return reject(&format!("not like this {}", self.0));
            }
            approve()
        }
        fn answer(&mut self, text: &str) -> String {
            self.1.push(text.to_owned());
            "go on".to_owned()
        }
    }
    let outcome = stage.play(Fussy(&mut refused, &mut asked));
    assert_eq!(outcome, SessionOutcome::Completed);
    assert_eq!(refused, 2);
    let failed = BuildOutcome::Failed;
    assert_eq!(builds(&stage), [failed.clone(), failed, BuildOutcome::Passed]);
    assert_eq!(attempts(&stage), 2);
    assert!(asked.iter().any(|text| text.contains("fails in the same way")), "{asked:?}");
    assert!(said(&stage).contains("The change was not saved: not like this 2."));
    assert!(stage.file(file).contains("#include \"esp_log.h\""));
}

#[test]
fn a_build_that_cannot_run_ends_in_order_with_its_cause() {
    let stage = Stage::new(Workbench::with(Compiler::Missing));
    let (file, asked) = ("", Vec::new());
    let mut person = Stubborn { file, times: 0, reason: "", answer: "stop", asked };
    assert_eq!(stage.play(&mut person), SessionOutcome::Stopped);
    assert_eq!(person.asked.len(), 1, "{:?}", person.asked);
    let said = said(&stage);
    assert!(said.contains("The build did not pass: "), "{said}");
    assert!(said.contains("there is no `cc`"), "{said}");
    assert!(said.contains("a recording cannot fix what it has never seen"), "{said}");
    assert_eq!(attempts(&stage), 1);
}

/// Approves all and speaks once, after the first tool call.
struct Talker(bool);

impl Person for Talker {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn says(&mut self, event: &Event) -> Option<String> {
        let speaks = !self.0 && matches!(event, Event::Proposal(ProposalEvent::Made(_)));
        self.0 |= speaks;
        speaks.then(|| "please use GPIO 4".to_owned())
    }
}

#[test]
fn a_message_of_the_person_is_noted_once() {
    let stage = stage();
    assert_eq!(stage.play(Talker(false)), SessionOutcome::Completed);
    let noted = said(&stage).matches("scripted model: your message is noted").count();
    assert_eq!(noted, 1);
}

#[test]
fn under_a_rule_that_allows_all_nobody_is_asked() {
    let stage = stage().allowing_all();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed);
    let events = stage.events();
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, Event::Proposal(ProposalEvent::Made(_))))
            .count(),
        9
    );
    assert!(!events.iter().any(|event| matches!(event, Event::Person(PersonEvent::Asked { .. }))));
    // The planner alternates with the others from beginning to end.
    let mut is_planners_turn = true;
    for event in &events {
        match event {
            Event::Phase(PhaseEvent::Started { .. }) => is_planners_turn = true,
            Event::Turn(TurnEvent::Started { agent, turn, .. }) => {
                assert_eq!(agent.as_str() == "PlanningAgent", is_planners_turn, "turn {turn}");
                is_planners_turn = !is_planners_turn;
            }
            _ => {}
        }
    }
}

#[test]
fn a_run_that_was_left_anywhere_goes_on_in_the_recording_where_it_was() {
    let whole = stage().allowing_all();
    assert_eq!(whole.play(Nobody), SessionOutcome::Completed);
    let length = whole.records().len();
    let mut resumed = 0;
    for cut in (2..length).step_by(length / 12) {
        let stage = stage().allowing_all();
        let left = stage.leave_after(cut);
        if left >= length {
            continue;
        }
        resumed += 1;
        assert_eq!(stage.go_on(Nobody), SessionOutcome::Completed, "left after {left} records");
        assert_eq!(builds(&stage).last(), Some(&BuildOutcome::Passed), "left after {left} records");
        assert!(stage.file("main/src/i2c_scan.c").contains("#include \"esp_log.h\""));
    }
    assert!(resumed > 0, "every run had ended before it was left");
}
