//! What waits before the team goes on: a plan, files for the context; taken, changed, sent back.

use std::thread;

use firmhand::model::{ChosenBy, Event, PersonEvent, READ_FILES, START_PLAN, TeamEvent, TurnEvent};

use crate::desk::LOOK;
use crate::place::Place;
use crate::terminal::{PATIENCE, Size, Terminal};

/// A demo of that team, which waits at its first question.
fn waiting(place: &Place, team: &str, size: Size, question: &str) -> Terminal {
    let args = place.demo_args();
    let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
    all.extend(["--team", team]);
    let mut terminal = place.open(&all, size);
    terminal.wait_for(question);
    // A decision counts only once what it is about could be seen.
    thread::sleep(LOOK);
    terminal
}

fn answers(place: &Place) -> Vec<String> {
    let events = place.events().into_iter();
    let answers = events.filter_map(|event| match event {
        Event::Person(PersonEvent::Answered { answer, .. }) => Some(answer),
        _ => None,
    });
    answers.collect()
}

#[track_caller]
fn until(place: &Place, terminal: &Terminal, what: &str, holds: impl Fn(&Event) -> bool) {
    let found = place.within(PATIENCE, || place.events().iter().any(&holds).then_some(()));
    if found.is_none() {
        terminal.fail(what);
    }
}

#[test]
fn files_for_the_context_are_taken_out_put_in_and_read() {
    for size in [Size::SMALL, Size::LARGE] {
        let place = Place::new();
        let question = "chose files for the";
        let mut terminal = waiting(&place, "edit-existing", size, question);
        terminal.press("e");
        terminal.wait_for("Files for the context: 3 · about [1-9][0-9]* tokens");
        thread::sleep(LOOK);
        terminal.press("space");
        terminal.wait_for("Files for the context: 2");
        terminal.wait_for("left out");
        terminal.press("a");
        terminal.wait_for("Which file of the project");
        terminal.type_slowly("bme280.h");
        terminal.wait_for("components/bme280/include/bme280.h");
        // The list had that name before the choice.
        thread::sleep(LOOK);
        terminal.press("enter");
        terminal.wait_for("Files for the context: 3");
        terminal.wait_for("your choice");
        thread::sleep(LOOK);
        terminal.press("enter");
        until(&place, &terminal, "the question was answered", |event| {
            matches!(event, Event::Person(PersonEvent::Answered { .. }))
        });
        until(&place, &terminal, "the files were read", |event| match event {
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
                result.to_string().contains("bme280_read")
            }
            _ => false,
        });
        assert_eq!(answers(&place).first().map(String::as_str), Some(READ_FILES));
        let last = place.events().into_iter().rev().find_map(|event| match event {
            Event::Team(TeamEvent::ContextListed { files, .. }) => Some(files),
            _ => None,
        });
        let last = last.unwrap();
        assert_eq!(last.iter().filter(|file| file.by == ChosenBy::Person).count(), 1, "{last:?}");
        assert!(last.iter().any(|file| !file.reason.is_empty()), "{last:?}");
    }
}

#[test]
fn files_can_be_sent_back_with_words_and_left_waiting() {
    let place = Place::new();
    let mut terminal = waiting(&place, "edit-existing", Size::LARGE, "chose files for the");
    terminal.press("e");
    terminal.wait_for("Files for the context");
    terminal.press("esc");
    terminal.wait_gone("Files for the context: 3");
    assert!(answers(&place).is_empty(), "leaving the list answers nothing");
    terminal.press("e");
    terminal.wait_for("Files for the context");
    thread::sleep(LOOK);
    terminal.press("s");
    terminal.wait_for("Which other files");
    terminal.press("enter");
    terminal.wait_for("name other files, or press esc");
    terminal.type_slowly("only the report");
    terminal.press("enter");
    until(&place, &terminal, "the words reach the agent", |event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
            result.to_string().contains("only the report")
        }
        _ => false,
    });
    assert_eq!(answers(&place), ["only the report"]);
}

#[test]
fn a_plan_is_changed_before_it_is_carried_out() {
    for size in [Size::SMALL, Size::LARGE] {
        let place = Place::new();
        let mut terminal = waiting(&place, "generate", size, "has planned the work");
        terminal.press("e");
        terminal.wait_for("The plan: [0-9]+ steps");
        terminal.wait_for("1  Lay out the project");
        thread::sleep(LOOK);
        terminal.press("e");
        terminal.wait_for("This step");
        terminal.type_slowly(", and keep names short");
        terminal.press("enter");
        terminal.wait_for("changed");
        thread::sleep(LOOK);
        terminal.press("enter");
        until(&place, &terminal, "the plan is the person's", |event| {
            matches!(event, Event::Team(TeamEvent::PlanMade { by: None, items })
                if items.len() == 5 && items[0].task.ends_with(", and keep names short"))
        });
        until(&place, &terminal, "it is carried out", |event| {
            matches!(event, Event::Turn(TurnEvent::SpeakerChosen { agent, .. })
                if agent.as_str() == "FileOrganizerAgent")
        });
        assert_eq!(answers(&place), [START_PLAN]);
    }
}
