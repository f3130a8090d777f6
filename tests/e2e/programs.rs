//! Programs that are run for the person in a terminal: they reach it through the program alone.

use std::fs;
use std::process::Command;

use crate::place::Place;
use crate::terminal::Size;

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_program_neither_holds_the_terminal_nor_controls_it() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let file = place.path("ask.rev");
    let program = "print(\"\\x1b]0;taken\\x07\\x1b[2Jone\")\nname = input(\"name? \")\n\
        print(\"\\u00fcber\", name)\n";
    fs::write(&file, program).unwrap();
    let file = file.to_string_lossy();
    let mut terminal = place.open(&["reverty", "run", &file], Size::SMALL);
    terminal.wait_for(r"(?s)␛\]0;taken.*␛\[2Jone\s.*name\?");
    terminal.type_text("Ada\r");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.wait_for_after_exit("über Ada");
    assert_eq!(terminal.line_modes(), terminal.initial_line_modes());
}

#[test]
fn what_statements_print_comes_before_the_next_prompt_and_is_harmless() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let mut terminal = place.open(&["reverty", "repl"], Size::SMALL);
    terminal.wait_for(">>> ");
    terminal.type_text("print(\"\\x1b[2J\" + \"one\" * 2)\r");
    terminal.wait_for(r"(?s)␛\[2Joneone\s+>>> ");
    terminal.type_text("1 / 0\r");
    terminal.wait_for("(?s)ZeroDivisionError.*>>> ");
    terminal.type_text("7 * 6\r");
    terminal.wait_for(r"(?s)42\s+>>> ");
}
