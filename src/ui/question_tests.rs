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
    assert_eq!(desk.press_after("2", 100), []);
    let answered = |answer: &str| Intent::Answer { question: QuestionId(1), answer: answer.into() };
    assert_eq!(intents(&desk.press("2")), [answered("Address and name")]);
    assert_eq!(desk.press("7"), []);
    desk.press("i");
    desk.type_text("everything");
    assert_eq!(intents(&desk.press("enter")), [answered("everything")]);
}

#[test]
fn a_question_turns_to_the_chat_where_it_is_not_on_screen_and_back_when_answered() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("4");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Chat);
    assert!(desk.last_row().contains("1–9 answer"), "{}", desk.last_row());
    let answered =
        Event::Person(PersonEvent::Answered { question: QuestionId(1), answer: "Nothing".into() });
    desk.record(10, answered.clone());
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Logs);
    // Whoever has turned away since is not turned again, neither by the same question nor back.
    desk.ask();
    desk.sync();
    desk.press("alt-1");
    desk.pass(100);
    desk.record(10, answered);
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Project);

    // Where the chat is on screen, the keys stay; a message that is written is not left.
    let mut desk = UiBench::at_work(120, 40);
    desk.press("4");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Logs);
    let mut desk = UiBench::at_work(80, 24);
    desk.press("4 i");
    desk.type_text("not so");
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Logs);
    desk.now = desk.ui.next_wake(&desk.view, desk.now).unwrap();
    desk.pass(1000);
    assert_eq!(desk.ui.controls.front, PaneId::Chat);
    assert_eq!(desk.ui.panes.composer.text(), "not so");

    // Proposals go first.
    let mut desk = UiBench::at_work(80, 24);
    desk.propose(1);
    desk.ask();
    desk.sync();
    assert_eq!(desk.ui.controls.front, PaneId::Review);
}
