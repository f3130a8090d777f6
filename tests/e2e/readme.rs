//! The screens in `README.md` are what the program draws.
//!
//! Times, ports, the name of the project and the words of the compiler differ from machine to machine
//! and are not compared.

use std::path::Path;
use std::thread;

use firmhand::model::Proposal;
use regex::Regex;

use crate::desk::{Desk, LOOK};
use crate::place::Place;
use crate::terminal::Size;

/// The blocks of text in `README.md`, in order.
fn screens() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```text\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// A row without what differs from run to run: digits, and how wide they make the blanks.
fn plain(row: &str) -> String {
    // Who worked longest differs from run to run.
    let row = row.split_once(" files · ").map_or(row, |(files, _)| files);
    let digits = Regex::new(r"[0-9][0-9.:]*( m?s\b)?").unwrap().replace_all(row.trim_end(), "#");
    Regex::new(r" {2,}|─+").unwrap().replace_all(&digits, "  ").trim_end().to_owned()
}

fn plain_rows(screen: &str) -> Vec<String> {
    screen.lines().map(plain).collect()
}

/// Whether it is the fix that is proposed after the first build.
fn is_fix(proposal: &Proposal) -> bool {
    proposal.agent.as_str() == "CodeReviewerAgent"
        && proposal.change.path().is_some_and(|path| path.as_str() == "main/src/i2c_scan.c")
        && proposal.change.before().is_some()
}

#[test]
fn the_screens_of_the_readme_are_those_of_the_demo() {
    let screens = screens();
    let [fix, serial, ..] = screens.as_slice() else { panic!("no screens in README.md") };
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size { columns: 120, rows: 40 });
    let proposal = loop {
        let proposal = desk.next_proposal();
        if is_fix(&proposal) {
            break proposal;
        }
        desk.approve(&proposal);
    };
    desk.turn_to(&proposal);
    desk.terminal.wait_for("2 errors");
    thread::sleep(LOOK);
    let shown = desk.terminal.screen();
    // Below its first row the build pane holds what the compiler says.
    let compared = |screen: &str| -> Vec<String> {
        let mut rows = plain_rows(screen);
        // How much comes before the phase depends on how long the project's name is.
        let phase = rows[0].find("build & fix").expect("the phase in the header");
        rows[0] = rows[0].split_off(phase);
        let build = rows.iter().position(|row| row.contains("Build ✗")).expect("a build pane");
        let foot = rows.len().saturating_sub(2);
        let (above, below) = (rows[..build + 2].iter(), rows[foot..].iter());
        above.chain(below).cloned().collect()
    };
    assert_eq!(compared(fix).join("\n"), compared(&shown).join("\n"), "the screen is:\n{shown}");
    let rest = desk.approve_everything();
    assert!(rest > 0, "nothing was left to decide");
    desk.terminal.press("esc 4");
    desk.terminal.wait_for("Serial");
    // The board goes on printing, so the rows of the log may have left the screen.
    let mut rows = plain_rows(&desk.terminal.screen());
    let log = std::fs::read_to_string(place.session().join("logs/serial-1.log")).unwrap();
    rows.extend(log.lines().map(|line| plain(&format!(" {line}"))));
    for row in plain_rows(serial) {
        assert!(rows.contains(&row), "`{row}` is not on the screen:\n{}", rows.join("\n"));
    }
}
