//! Tests of what a replay always shows, and of what a session is called on the screen.

use crossterm::event::{
    Event as TerminalEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::fixture::UiBench;
use super::*;
use crate::model::event::RunStart;
use crate::model::{Event, SessionEvent};

fn rows(desk: &UiBench) -> Vec<String> {
    desk.screen().lines().map(str::to_owned).collect()
}

#[test]
fn a_replay_says_what_was_asked_whatever_pane_shows() {
    let mut desk = UiBench::new(80, 24, Mode::Replay);
    desk.begin();
    desk.work();
    desk.propose(1);
    for pane in ["1", "2", "3", "4"] {
        desk.press(pane);
        desk.sync_replay();
        let rows = rows(&desk);
        let above = &rows[19];
        assert_eq!(above.trim(), "Task Scan the I2C bus and log what answers", "{rows:#?}");
    }
    // A later request takes its place, and a long one is cut.
    let task = "Blink the lamp while the bus is scanned, ".repeat(4);
    let (team, why, changed) = ("generate".into(), String::new(), Vec::new());
    let start = RunStart { number: 2, task, team, why, changed };
    desk.record(10, Event::Session(SessionEvent::RunStarted(Box::new(start))));
    desk.sync_replay();
    let rows = rows(&desk);
    assert!(rows[19].starts_with(" Request 2 Blink the lamp"), "{rows:#?}");
    assert!(rows[19].ends_with('…'), "{rows:#?}");
    let click = MouseEventKind::Down(MouseButton::Left);
    let click = MouseEvent { kind: click, column: 40, row: 19, modifiers: KeyModifiers::NONE };
    assert!(desk.event(&TerminalEvent::Mouse(click)).is_empty());
    assert!(desk.screen().contains("esc back"), "all of it is shown: {}", desk.screen());
}

#[test]
fn go_to_opens_whatever_pane_shows() {
    for pane in ["1", "2", "3", "4"] {
        let mut desk = UiBench::new(80, 24, Mode::Replay);
        desk.begin();
        desk.work();
        desk.propose(1);
        desk.sync_replay();
        desk.press(pane);
        desk.press("t");
        assert!(desk.screen().contains("╭ Go to"), "{pane}: {}", desk.screen());
    }
}

#[test]
fn the_name_that_the_person_gave_a_session_is_shown_where_it_is_open() {
    let mut desk = UiBench::at_work(120, 40);
    desk.ui.set_title("Kitchen lamp".to_owned());
    desk.sync();
    assert!(rows(&desk)[0].contains("Kitchen lamp"), "{}", desk.screen());
    let resize = TerminalEvent::Resize(80, 24);
    desk.event(&resize);
    desk.press("3");
    let task = "Kitchen lamp · Scan the I2C bus and log";
    assert!(desk.screen().contains(task), "{}", desk.screen());
    assert!(desk.ui.terminal_title(&desk.view).contains("Kitchen lamp"));
    desk.press("I");
    assert!(desk.screen().contains("name  Kitchen lamp"), "{}", desk.screen());
}
