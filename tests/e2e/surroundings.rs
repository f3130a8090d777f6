//! What is around the panes: start screen, palette, themes, mouse, the memory of a project.

use std::fs;

use crate::desk::Desk;
use crate::place::Place;
use crate::terminal::{PATIENCE, Size, Terminal};

/// The ground of the screen's first cell.
fn ground(screen: &vt100::Screen) -> vt100::Color {
    screen.cell(0, 0).unwrap().bgcolor()
}

fn waits_for_ground(terminal: &Terminal, red: u8, green: u8, blue: u8) {
    let wanted = vt100::Color::Rgb(red, green, blue);
    terminal.wait_until(&format!("{wanted:?}"), |screen| (ground(screen) == wanted).then_some(()));
}

#[test]
fn the_start_screen_opens_the_demo_and_gives_the_terminal_back() {
    let place = Place::new();
    let mut terminal = place.open(&[], Size::SMALL);
    terminal.wait_for("New task");
    terminal.wait_for("none yet");
    assert!(terminal.look(vt100::Screen::alternate_screen));
    terminal.press("i");
    terminal.type_slowly("paint the moon");
    terminal.press("enter");
    terminal.wait_for("no model can do|Cannot");
    terminal.wait_for("paint the moon");
    // By itself, as an escape right before another key is read as part of that key.
    terminal.press("esc");
    terminal.wait_for("go on with: paint the moon");
    terminal.press("home enter");
    terminal.wait_for("Chat");
    terminal.press("ctrl-c");
    terminal.wait_for("continue later");
    // One by one: of several keys at once none decides where something waits.
    terminal.press("down");
    terminal.wait_for("▸ Leave");
    terminal.press("enter");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    let mut terminal = place.open(&[], Size::SMALL);
    terminal.wait_for("unfinished");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    assert!(!terminal.look(vt100::Screen::alternate_screen));
}

#[test]
fn an_example_is_chosen_on_the_start_screen_and_begins_with_its_team_and_project() {
    let place = Place::new();
    let mut terminal = place.open(&[], Size::LARGE);
    terminal.wait_for("[0-9]+ example tasks; enter lists them");
    terminal.press("down down enter");
    terminal.wait_for("Make an Arduino sketch run");
    terminal.press("down enter");
    terminal.wait_for("arduino · in a new folder › Bring my room monitor to run");
    terminal.press("enter");
    terminal.wait_for("ArduinoAgent");
    terminal.wait_for("room-monitor.ino");
    terminal.press("ctrl-c");
    terminal.wait_for("continue later");
    terminal.press("down enter");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
}

#[test]
fn a_changed_theme_is_shown_at_once_and_a_wrong_one_leaves_what_there_is() {
    let place = Place::new();
    let file = place.config().join("themes/own.toml");
    fs::create_dir(place.config().join("themes")).unwrap();
    let theme = |ground: &str| format!("inherits = 'dark'\n[palette]\nground = '{ground}'\n");
    fs::write(&file, theme("#010203")).unwrap();
    let args = place.demo_args();
    let mut all = vec!["--theme", "own"];
    all.extend(args.iter().map(String::as_str));
    let mut desk = Desk { place: &place, terminal: place.open(&all, Size::SMALL) };
    desk.next_proposal();
    waits_for_ground(&desk.terminal, 1, 2, 3);
    fs::write(&file, theme("#040506")).unwrap();
    waits_for_ground(&desk.terminal, 4, 5, 6);
    fs::write(&file, "inherits = 'dark'\n[palette]\nground = 'mud'\n").unwrap();
    desk.terminal.wait_for("own.toml, line 3");
    waits_for_ground(&desk.terminal, 4, 5, 6);
}

#[test]
fn a_screen_that_cannot_be_had_leaves_no_session_behind() {
    let place = Place::new();
    for wish in ["--keymap", "--theme"] {
        let demo = place.demo_args();
        let args: Vec<_> =
            [wish, "no-such"].into_iter().chain(demo.iter().map(String::as_str)).collect();
        let mut terminal = place.open(&args, Size::SMALL);
        assert_eq!(terminal.wait_exit().exit_code(), 1);
        terminal.wait_for_after_exit("no-such.*there are: .*da?");
    }
    assert!(!place.path("data/sessions").exists() && !place.project().exists());
}

#[test]
fn a_theme_and_sizes_chosen_here_are_there_the_next_time() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    desk.next_proposal();
    desk.terminal.press(":");
    desk.terminal.type_slowly("choose-theme");
    desk.terminal.press("enter");
    desk.terminal.wait_for("╭ Theme");
    for _ in 0..12 {
        desk.terminal.press("down");
    }
    desk.terminal.press("enter");
    waits_for_ground(&desk.terminal, 0x1a, 0x1b, 0x26);
    desk.terminal.press("ctrl-c");
    desk.terminal.wait_for("continue later");
    desk.terminal.press("down enter");
    desk.terminal.wait_exit();
    let desk = Desk::resume(&place, Size::SMALL);
    desk.next_proposal();
    waits_for_ground(&desk.terminal, 0x1a, 0x1b, 0x26);
    assert!(!place.project().join(".firmhand").exists(), "nothing of it is in the project");
}

#[test]
fn the_mouse_turns_to_a_pane_and_copies_what_is_dragged_over() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    // A press in the chat, a drag, and the release, as xterm tells them.
    for report in ["<0;60;8M", "<32;90;10M", "<0;90;10m"] {
        desk.terminal.type_text(&format!("\u{1b}[{report}"));
    }
    desk.terminal.wait_for("copied, if the terminal allows it");
}

#[test]
fn a_person_who_looks_elsewhere_is_called_when_a_decision_waits() {
    for (variable, of) in [
        ("TERM_PROGRAM=WezTerm", "9;firmhand: .* asks to (save|insert) "),
        ("TERM=foot", "777;notify;firmhand;.* asks to (save|insert) "),
        ("TERM=xterm", "bell"),
    ] {
        let place = Place::new();
        let args = place.demo_args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let script = format!("{variable} exec \"$0\" \"$@\"");
        let terminal = place.shell(&script, &args, Size::LARGE);
        let mut desk = Desk { place: &place, terminal };
        let first = desk.next_proposal();
        desk.turn_to(&first);
        assert_eq!(desk.terminal.calls(), Vec::<String>::new(), "called while the person is here");
        desk.approve_batch(&first);
        // The build takes a moment and fails; the fix is what waits then.
        desk.terminal.set_focus(false);
        let fix = desk.next_proposal();
        assert!(fix.id > first.id);
        let wanted = regex::Regex::new(of).unwrap();
        let called = place.within(PATIENCE, || {
            desk.terminal.calls().iter().any(|call| wanted.is_match(call)).then_some(())
        });
        assert!(called.is_some(), "{variable}: {:?}", desk.terminal.calls());
        assert!(desk.terminal.calls().iter().all(|call| !call.chars().any(char::is_control)));
    }
}

#[test]
fn every_shell_gets_its_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = place.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("replay") && script.contains("plain"), "{shell}");
    }
    let output = place.run(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
}
