//! The terminal itself: sizes, suspending, and its state after the program.

use rustix::process::Signal;

use crate::desk::Desk;
use crate::place::Place;
use crate::terminal::{Size, Terminal};

/// The modes that a program must leave as it found them.
fn is_restored(terminal: &Terminal) -> bool {
    terminal.look(|screen| {
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    })
}

#[test]
fn the_terminal_is_restored_after_leaving_and_after_signals() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP), Some(Signal::INT)] {
        let place = Place::new();
        let mut desk = Desk::demo(&place, Size::SMALL);
        let line_modes = desk.terminal.initial_line_modes().to_owned();
        let waiting = desk.next_proposal();
        desk.turn_to(&waiting);
        assert!(desk.terminal.look(vt100::Screen::alternate_screen));
        assert_ne!(desk.terminal.line_modes(), line_modes);
        match signal {
            Some(signal) => desk.terminal.signal(signal),
            None => {
                desk.terminal.press("q");
                desk.terminal.wait_for("continue later");
                desk.terminal.press("down enter");
            }
        }
        desk.terminal.wait_exit();
        assert!(is_restored(&desk.terminal), "{signal:?}");
        assert_eq!(desk.terminal.line_modes(), line_modes, "{signal:?}");
    }
}

#[test]
fn suspended_the_shell_has_the_terminal_and_comes_back() {
    let place = Place::new();
    let args = place.demo_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let script =
        r#"set -m; "$0" "$@"; echo "stopped $?"; read line; fg >/dev/null; echo "done $?""#;
    let terminal = place.shell(script, &args, Size::SMALL);
    let mut desk = Desk { place: &place, terminal };
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.press("ctrl-z");
    desk.terminal.wait_for("stopped 1[0-9][0-9]");
    assert!(is_restored(&desk.terminal));
    desk.terminal.press("enter");
    desk.turn_to(&waiting);
    assert!(desk.terminal.look(vt100::Screen::alternate_screen));
    desk.approve(&waiting);
    desk.terminal.press("esc q");
    desk.terminal.wait_for("continue later");
    desk.terminal.press("down enter");
    desk.terminal.wait_for("done 0");
    assert!(is_restored(&desk.terminal));
}

#[test]
fn too_small_a_terminal_says_what_size_is_needed_and_decides_nothing() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size { columns: 40, rows: 10 });
    let waiting = desk.next_proposal();
    desk.terminal.wait_for(r"60\D+16");
    std::thread::sleep(std::time::Duration::from_millis(400));
    desk.terminal.press("3 a");
    assert_eq!(desk.decided(waiting.id, std::time::Duration::from_millis(600)), None);
    desk.terminal.resize(Size::SMALL);
    desk.terminal.wait_gone(r"60\D+16");
    desk.approve(&waiting);
}

#[test]
fn every_size_shows_the_waiting_proposal() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let waiting = desk.next_proposal();
    for size in [Size::LARGE, Size { columns: 100, rows: 32 }, Size::SMALL, Size::LEAST] {
        desk.terminal.resize(size);
        desk.turn_to(&waiting);
    }
}

#[test]
fn help_names_the_keys() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.press("f1");
    desk.terminal.wait_for("Approve the change as shown");
    desk.terminal.press("esc");
    desk.terminal.wait_gone("Approve the change as shown");
}
