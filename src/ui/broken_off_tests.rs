//! Tests of the screen when the run stopped unexpectedly because nothing could be recorded any more.

use crate::model::UserError;

use super::fixture::UiBench;
use super::pane::UiCommand;

fn broken_off(width: u16, height: u16) -> UiBench {
    let mut desk = UiBench::at_work(width, height);
    desk.propose(1);
    desk.pass(1000);
    desk.view.break_off(UserError::new(
        "Cannot record an event",
        "/data/journal.jsonl: No space left on device",
        "free some space on the disk",
    ));
    desk.sync();
    desk
}

#[test]
fn screens_of_a_run_that_broke_off() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let desk = broken_off(width, height);
        insta::assert_snapshot!(format!("broken_off_{width}x{height}"), desk.screen());
    }
}

#[test]
fn nothing_is_decided_any_more_and_leaving_needs_no_word() {
    let mut desk = broken_off(120, 40);
    desk.press("3");
    desk.pass(1000);
    for key in ["a", "A", "r", "ctrl-a", "e", "space"] {
        assert_eq!(desk.press(key), [], "{key}");
        assert!(desk.last_row().contains("firmhand resume"), "{key}: {}", desk.last_row());
    }
    desk.press("2");
    assert!(desk.screen().contains("free some space on the disk"), "{}", desk.screen());
    assert_eq!(desk.press("q"), [UiCommand::Quit]);
}

#[test]
fn a_dialog_in_which_something_was_to_be_decided_closes_and_keeps_the_words() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    desk.pass(1000);
    desk.press("r");
    desk.type_text("not this way");
    desk.view.break_off(UserError::new("Cannot record an event", "the disk is full", ""));
    desk.sync();
    assert!(!desk.ui.bench.dialogs.is_open());
    assert!(desk.last_row().contains("nothing was decided"), "{}", desk.last_row());
}
