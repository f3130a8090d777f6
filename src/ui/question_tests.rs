//! Tests of the screen while the team asks something.

use super::fixture::UiBench;
use super::layout::PaneId;
use super::tests::intents;
use crate::model::{Event, Intent, PersonEvent, QuestionId};

#[test]
fn a_question_is_answered_by_number_or_words() {
    let mut desk = UiBench::at_work(120, 40);
    desk.ask();
    desk.sync();
    let answered = |answer: &str| Intent::Answer { question: QuestionId(1), answer: answer.into() };
    assert!(desk.screen().contains("CodeFixerAgent asks"), "{}", desk.screen());
    assert_eq!(desk.press("7"), [], "there is no such answer");
    assert_eq!(desk.press("2"), [], "a digit only selects");
    assert_eq!(intents(&desk.press("enter")), [answered("Address and name")]);
    assert_eq!(desk.press("4"), [], "the question is not opened twice");
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Logs, "a digit turns to a pane");
    desk.press("2 a 4 down down down enter");
    desk.type_text("everything");
    assert_eq!(intents(&desk.press("enter")), [answered("everything")]);
}

#[test]
fn answers_that_appear_are_not_given_by_keys_that_were_meant_for_something_else() {
    let mut desk = UiBench::at_work(120, 40);
    desk.ask();
    desk.sync();
    assert_eq!(desk.press_after("enter", 50), [], "this has just appeared");
    assert_eq!(desk.press("3 2 1"), []);
    assert_eq!(desk.press("esc"), []);
    assert!(!desk.screen().contains("enter answers"));
    // It still waits, and is opened again only by its key.
    desk.press("2");
    desk.sync();
    assert!(desk.view.head.question.is_some() && !desk.screen().contains("enter answers"));
    assert!(desk.last_row().contains("Q answer"), "{}", desk.last_row());
    desk.press("a");
    assert!(desk.screen().contains("enter answers"));
}

#[test]
fn a_budget_that_is_used_up_can_be_answered_with_another_model() {
    use crate::model::{MODEL_HINT, ModelEvent};
    let mut desk = UiBench::at_work(120, 40);
    let text = format!("The budget is used up. Allow as much again?{MODEL_HINT}");
    let options = vec!["go on".to_owned(), "stop".to_owned()];
    let asked =
        PersonEvent::Asked { question: QuestionId(1), agent: None, text, options, step: None };
    desk.record(10, Event::Person(asked.clone()));
    desk.sync();
    assert!(!desk.screen().contains("choose another model"), "a recording has no other one");
    let mut desk = UiBench::at_work(120, 40);
    let (provider, label) = ("profile:strong".to_owned(), "strong-model".to_owned());
    desk.record(5, Event::Model(ModelEvent::Chosen { provider, label }));
    desk.record(10, Event::Person(asked));
    desk.sync();
    let screen = desk.screen();
    assert!(screen.contains(" 1  go on") && screen.contains(" 2  stop"), "{screen}");
    assert!(screen.contains(" ·  choose another model"), "only answers have numbers: {screen}");
    assert_eq!(desk.press("2 down enter"), [], "{}", desk.screen());
    let answer = Intent::Answer { question: QuestionId(1), answer: "model cheap".into() };
    assert_eq!(intents(&desk.press("down enter")), [answer]);
}

#[test]
fn whoever_writes_a_message_is_not_interrupted_by_answers() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press("i");
    desk.type_text("only ");
    desk.ask();
    desk.sync();
    desk.type_text("2 of them");
    assert!(!desk.screen().contains("enter answers"));
    let answer = Intent::Answer { question: QuestionId(1), answer: "only 2 of them".into() };
    assert_eq!(intents(&desk.press("enter")), [answer]);
}

#[test]
fn a_question_turns_to_the_chat_where_it_is_not_on_screen_and_back_when_answered() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("4");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Chat);
    assert!(desk.screen().contains("enter answers"), "{}", desk.screen());
    let answered =
        Event::Person(PersonEvent::Answered { question: QuestionId(1), answer: "Nothing".into() });
    desk.record(10, answered.clone());
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Logs);
    // Whoever has turned away since is not turned again, neither by the same question nor back.
    desk.ask();
    desk.sync();
    desk.press("esc alt-1");
    desk.pass(100);
    desk.record(10, answered);
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Project);

    // Where the chat is on screen, the keys stay; a message that is written is not left.
    let mut desk = UiBench::at_work(120, 40);
    desk.press("4");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Logs);
    let mut desk = UiBench::at_work(80, 24);
    desk.press("4 i");
    desk.type_text("not so");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Logs);
    desk.now = desk.ui.next_wake(&desk.view, desk.now).unwrap();
    desk.pass(1000);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Chat);
    assert_eq!(desk.ui.bench.panes.composer.text(), "not so");

    // Proposals go first.
    let mut desk = UiBench::at_work(80, 24);
    desk.propose(1);
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Review);
}

#[test]
fn a_question_is_seen_and_answered_from_every_pane_at_every_size() {
    for (width, height) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let mut desk = UiBench::at_work(width, height);
        desk.ask();
        desk.sync();
        desk.press("esc");
        for pane in ["alt-1", "alt-2", "alt-3", "alt-4"] {
            desk.press(pane);
            let screen = desk.screen();
            let first = screen.lines().next().unwrap_or_default();
            assert!(first.contains(" question"), "{width} {pane}: {screen}");
            assert!(screen.contains("What should be logged"), "{width} {pane}: {screen}");
            assert!(desk.last_row().starts_with("Q answer"), "{width} {pane}: {screen}");
            desk.press("Q");
            assert!(desk.screen().contains("enter answers"), "{width} {pane}: {}", desk.screen());
            desk.press("esc");
        }
    }
}

#[test]
fn a_question_without_answers_to_choose_from_is_answered_in_words_by_the_same_key() {
    let mut desk = UiBench::at_work(80, 24);
    let (question, agent) = (QuestionId(1), Some("CodeFixerAgent".into()));
    let text = "Which pin is the LED on?".to_owned();
    let asked = PersonEvent::Asked { question, agent, text, options: Vec::new(), step: None };
    desk.record(10, Event::Person(asked));
    desk.sync();
    desk.press("alt-4");
    assert!(desk.screen().contains("Which pin is the LED on?"), "{}", desk.screen());
    desk.press("Q");
    desk.type_text("4");
    let answer = Intent::Answer { question, answer: "4".into() };
    assert_eq!(intents(&desk.press("enter")), [answer]);
}

#[test]
fn a_key_that_decides_says_that_only_a_question_waits() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    let (proposal, outcome) = (crate::model::ProposalId(1), crate::model::Outcome::Applied);
    let settled = crate::model::ProposalEvent::Settled { proposal, outcome };
    desk.record(10, Event::Proposal(settled));
    desk.ask();
    desk.sync();
    desk.press("esc alt-3");
    desk.press_after("a", 100);
    assert!(desk.last_row().contains("no proposal waits: `Q` answers"), "{}", desk.last_row());
}
