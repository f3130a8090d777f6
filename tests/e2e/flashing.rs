//! Flashing real hardware at the desk: the full picture first, then a phrase that has to be typed.
//!
//! The installation is a stand-in: its `idf.py` leaves what a build for a chip leaves, its
//! `esptool` prints what the real one prints and keeps its arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use firmhand::model::{Change, Event, Outcome, PersonEvent, Proposal, SessionEvent};

use crate::desk::{Desk, Next};
use crate::place::Place;
use crate::terminal::{PATIENCE, Size};

const EXPORT: &str = "export PATH=\"$IDF_PATH/tools:$PATH\" PYTHONPATH=\"$IDF_PATH/python\"\n";

const IDF_PY: &str = r#"#!/bin/sh
mkdir -p build/bootloader build/partition_table
printf bootloader > build/bootloader/bootloader.bin
printf table > build/partition_table/partition-table.bin
printf application > build/app.bin
cat > build/flasher_args.json <<'END'
{ "write_flash_args": ["--flash_mode", "dio"],
  "flash_files": { "0x1000": "bootloader/bootloader.bin", "0x10000": "app.bin",
                   "0x8000": "partition_table/partition-table.bin" },
  "bootloader": { "offset": "0x1000", "file": "bootloader/bootloader.bin" },
  "partition-table": { "offset": "0x8000", "file": "partition_table/partition-table.bin" },
  "extra_esptool_args": { "after": "hard_reset", "before": "default_reset", "chip": "esp32" } }
END
echo "[3/3] Generating binary image from built executable"
"#;

const ESPTOOL: &str = r#"
import os, sys
with open(os.path.join(os.environ["IDF_PATH"], "asked"), "w") as kept:
    kept.write("\n".join(sys.argv[1:]))
offsets = [word for word in sys.argv if word.startswith("0x")]
for offset in offsets:
    print(f"Writing at {int(offset, 16):#010x}... (100 %)")
    print("Hash of data verified.")
"#;

fn installation(place: &Place) -> PathBuf {
    let root = place.path("esp-idf");
    for folder in ["tools", "python"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let files = [
        ("export.sh", EXPORT),
        ("version.txt", "v5.4.1\n"),
        ("tools/idf.py", IDF_PY),
        ("python/esptool.py", ESPTOOL),
    ];
    for (name, content) in files {
        let path = root.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    root
}

/// The demo with that installation and a board at a port that says nothing.
fn demo<'a>(place: &'a Place, root: &Path) -> Desk<'a> {
    // A file in the port's place: it is there, it may be opened, and nobody has it.
    let port = place.path("ttyUSB77");
    fs::write(&port, "").unwrap();
    let (idf, port) = (root.display(), port.display());
    let by = "FIRMHAND_LOADER=esptool ESPBAUD=230400";
    let start = format!("IDF_PATH='{idf}' ESPPORT='{port}' {by} exec \"$0\" \"$@\"");
    let args = place.demo_args();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["--toolchain", "idf"]);
    Desk { place, terminal: place.shell(&start, &args, Size::LARGE) }
}

#[track_caller]
fn flash_proposal(desk: &mut Desk<'_>) -> Proposal {
    loop {
        match desk.next() {
            Next::Waits(proposal) if matches!(proposal.change, Change::Flash(_)) => {
                return proposal;
            }
            Next::Waits(proposal) => desk.approve(&proposal),
            Next::Ended(outcome) => desk.fail(&format!("the session ended: {outcome:?}")),
        }
    }
}

#[test]
fn what_the_board_boots_from_is_written_after_a_typed_phrase_only() {
    let place = Place::new();
    let root = installation(&place);
    let mut desk = demo(&place, &root);
    let proposal = flash_proposal(&mut desk);
    assert!(proposal.phrase().is_some(), "the bootloader is among the images");
    desk.turn_to(&proposal);
    for fact in ["esp32", "ttyUSB77", "0x1000", "0x8000", "bootloader.bin", "app.bin"] {
        desk.terminal.wait_for(&regex::escape(fact));
    }
    desk.leaf_through();
    desk.nothing_else_confirms(&proposal, "It writes the bootloader", "flash it");
    assert!(!root.join("asked").exists(), "written before it was approved");
    desk.confirm(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied, "{}", desk.terminal.screen());
    let asked = fs::read_to_string(root.join("asked")).unwrap();
    let asked: Vec<&str> = asked.lines().collect();
    let port = place.path("ttyUSB77");
    assert!(asked.windows(2).any(|pair| pair == ["--port", port.to_str().unwrap()]), "{asked:?}");
    assert!(asked.windows(2).any(|pair| pair == ["--baud", "230400"]), "{asked:?}");
    assert!(asked.contains(&"0x1000") && asked.contains(&"0x10000"), "{asked:?}");
}

#[test]
fn a_project_that_brings_scripts_is_built_by_esp_idf_only_when_it_is_trusted() {
    let place = Place::new();
    let root = installation(&place);
    let project = place.project();
    fs::create_dir_all(project.join("main")).unwrap();
    fs::write(project.join("CMakeLists.txt"), "project(theirs)\n").unwrap();
    fs::write(project.join("main/CMakeLists.txt"), "idf_component_register(SRCS m.c)\n").unwrap();
    let start = format!("IDF_PATH='{}' exec \"$0\" \"$@\"", root.display());
    let begin_with = |team| {
        let args = place.demo_args();
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.extend(["--team", team, "--toolchain", "idf"]);
        place.shell(&start, &args, Size::LARGE)
    };
    let refused = |team| {
        let mut terminal = begin_with(team);
        terminal.wait_for("May this project's scripts run");
        terminal.press("esc");
        assert_eq!(terminal.wait_exit().exit_code(), 1);
        terminal.wait_for_after_exit("it is not trusted");
        terminal.wait_for_after_exit("firmhand trust ");
    };
    let begin = || begin_with("edit-existing");
    refused("edit-existing");
    // A project that hides all of its files is not a new one.
    fs::write(project.join(".gitignore"), "*\n").unwrap();
    refused("generate");
    fs::remove_file(project.join(".gitignore")).unwrap();
    assert!(!place.path("data/sessions").exists(), "a session was begun");
    let folder = project.to_str().unwrap();
    let tool = &mut place.command(&["tool", "build_project", "--project", folder]);
    let answer = tool.env("IDF_PATH", &root).output().unwrap();
    let told = String::from_utf8(answer.stdout).unwrap();
    assert!(told.contains(r#""code":"untrusted""#) && told.contains("firmhand trust"), "{told}");
    assert_eq!(answer.status.code(), Some(1));
    assert_eq!(place.run(&["trust", folder]).status.code(), Some(0));
    let listed = String::from_utf8(place.run(&["trust"]).stdout).unwrap();
    assert!(listed.contains(folder), "{listed}");
    begin().wait_for("Chat");
    assert_eq!(place.run(&["trust", "--forget", folder]).status.code(), Some(0));
    refused("edit-existing");
}

/// An esptool that goes on when a file says so.
const WAITING: &str = r#"
import os, sys, time
root = os.environ["IDF_PATH"]
open(os.path.join(root, "begun"), "w").close()
print("Writing at 0x00001000... (10 %)", flush=True)
while not os.path.exists(os.path.join(root, "go")):
    time.sleep(0.02)
for offset in [word for word in sys.argv if word.startswith("0x")]:
    print(f"Writing at {int(offset, 16):#010x}... (100 %)")
    print("Hash of data verified.")
open(os.path.join(root, "ended"), "w").close()
"#;

#[test]
fn what_is_asked_for_while_a_board_is_written_waits_for_its_end() {
    let place = Place::new();
    let root = installation(&place);
    fs::write(root.join("python/esptool.py"), WAITING).unwrap();
    let mut desk = demo(&place, &root);
    let proposal = flash_proposal(&mut desk);
    desk.turn_to(&proposal);
    desk.leaf_through();
    desk.confirm(&proposal);
    let begun = place.within(PATIENCE, || root.join("begun").exists().then_some(()));
    assert_eq!(begun, Some(()), "{}", desk.terminal.screen());
    desk.terminal.press("i");
    desk.terminal.type_text("Log the pressure as well\r");
    let is_recorded = |events: &[Event]| {
        events.iter().any(|event| {
            matches!(event, Event::Person(PersonEvent::Wrote { text, .. }) if text.contains("pressure"))
        })
    };
    let taken = place.within(PATIENCE, || is_recorded(&place.events()).then_some(()));
    assert_eq!(taken, Some(()), "the request is recorded at once: {}", desk.terminal.screen());
    assert!(!root.join("ended").exists(), "the board is still being written");
    let runs = |events: &[Event]| {
        let is_run = |event: &&Event| matches!(event, Event::Session(SessionEvent::RunStarted(_)));
        events.iter().filter(is_run).count()
    };
    assert_eq!(runs(&place.events()), 0, "nothing begins beside it");
    fs::write(root.join("go"), "").unwrap();
    assert_eq!(desk.settled(&proposal), Outcome::Applied, "{}", desk.terminal.screen());
    assert!(root.join("ended").exists(), "it was written to its end");
}
