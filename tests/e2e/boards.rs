//! What is sent to a board, read from it and erased on it: at the desk, line by line, and by rules.
//!
//! The words are recorded, everything else is real: the virtual board, a pseudo-terminal in the
//! place of a port, and a simulated boot ROM.

use std::fs;
use std::thread;
use std::time::Duration;

use firmhand::model::{
    BoardInfo, Change, Decision, Event, Outcome, Proposal, ProposalEvent, TurnEvent, Verdict,
};
use serde_json::{Value, json};

use crate::desk::{Desk, LOOK, NEVER};
use crate::place::Place;
use crate::ports::Board;
use crate::rom::chip::{Chip, Fault, Kind};
use crate::terminal::{PATIENCE, Size};

/// How long keys that decide are dead after a proposal has come.
const DEAD_MILLIS: i64 = 300;

const TASK: &str = "See to the board";

const TEAM: &str = r#"
name = "board"
title = "See to a board"
description = "One agent does something to a board."

[[phases]]
name = "board"
title = "board"
participants = ["FlashAgent"]
selection = "round_robin"
goal = "answered"
terminate = { any = [{ text = "THE END", agent = "FlashAgent" }, { max_messages = 9 }] }
"#;

/// A recording in which the agent makes these calls, one after the other.
fn recording(place: &Place, calls: &[(&str, Value)]) -> String {
    let teams = place.config().join("prompts/teams");
    fs::create_dir_all(&teams).unwrap();
    fs::write(teams.join("board.toml"), TEAM).unwrap();
    let mut script = format!(
        "format = 1\ntitle = \"{TASK}\"\ntask = \"{TASK}\"\nteam = \"board\"\nstart = \"step-0\"\n"
    );
    for (number, (tool, args)) in calls.iter().enumerate() {
        let args: toml::Table = serde_json::from_value(args.clone()).unwrap();
        let call = toml::Value::Table(toml::Table::from_iter([
            ("tool".to_owned(), (*tool).into()),
            ("args".to_owned(), args.into()),
        ]));
        let next = number + 1;
        script.push_str(&format!(
            "[[steps]]\nid = \"step-{number}\"\nagent = \"FlashAgent\"\nsay = \"I see to it.\"\n\
             calls = [{call}]\nnext = [{{ goto = \"step-{next}\" }}]\n"
        ));
    }
    let last = calls.len();
    script.push_str(&format!(
        "[[steps]]\nid = \"step-{last}\"\nagent = \"FlashAgent\"\nsay = \"THE END\"\nend = true\n"
    ));
    let file = place.config().join("script.toml");
    fs::write(&file, script).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The arguments of a session in which the agent makes these calls.
pub fn calls(place: &Place, command: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let script = recording(place, calls);
    let project = place.project().to_str().unwrap().to_owned();
    fs::create_dir_all(&project).unwrap();
    let fixed = [command, TASK, "--team", "board", "--speed", "max", "--project", &project];
    let mut all: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    all.extend(["--script".to_owned(), script]);
    all
}

fn session(place: &Place, command: &str, tool: &str, args: &Value) -> Vec<String> {
    calls(place, command, &[(tool, args.clone())])
}

/// Opens a session in which that call waits for a decision.
fn desk<'a>(place: &'a Place, tool: &str, args: &Value) -> (Desk<'a>, Proposal) {
    open(place, &session(place, "new", tool, args))
}

/// Opens a session in which something waits for a decision.
pub fn open<'a>(place: &'a Place, args: &[String]) -> (Desk<'a>, Proposal) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let desk = Desk { place, terminal: place.open(&args, Size::LARGE) };
    let proposal = desk.next_proposal();
    (desk, proposal)
}

/// What the agent was told first.
#[track_caller]
pub fn told(place: &Place) -> Value {
    told_of(place, 0)
}

/// What the agent was told of that call.
#[track_caller]
pub fn told_of(place: &Place, call: usize) -> Value {
    let answer = place.within(PATIENCE, || {
        let events = place.events().into_iter();
        let mut answers = events.filter_map(|event| match event {
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => Some(result),
            _ => None,
        });
        answers.nth(call)
    });
    answer.expect("the agent was told nothing")
}

#[test]
fn what_is_erased_takes_a_phrase_that_a_person_has_typed() {
    let place = Place::new();
    let (mut desk, proposal) = desk(&place, "erase_flash", &json!({ "partition": "nvs" }));
    assert_eq!(proposal.change.phrase().as_deref(), Some("erase esp32 nvs"));
    desk.turn_to(&proposal);
    desk.terminal.wait_for("nvs · 0x9000 – 0xf000 · 24,576 bytes");
    desk.nothing_else_confirms(&proposal, "Erased data cannot be restored", "erase esp32 all");
    desk.confirm(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    assert_eq!(told(&place), json!({ "ok": true, "erased": "nvs" }));
}

#[test]
fn a_refused_erasing_reaches_the_agent_in_the_persons_words() {
    let place = Place::new();
    let (mut desk, proposal) = desk(&place, "erase_flash", &json!({}));
    let words = "I still need the calibration";
    desk.reject(&proposal, words);
    assert_eq!(desk.settled(&proposal), Outcome::Denied);
    let told = told(&place);
    assert_eq!((&told["erased"], &told["rejected"]), (&Value::Null, &json!(words)));
}

#[test]
fn settings_are_read_into_a_new_file_once_a_key_says_so() {
    let place = Place::new();
    let args = json!({ "partition": "nvs", "path": "build/nvs.bin" });
    let (mut desk, proposal) = desk(&place, "read_flash", &args);
    let file = place.project().join("build/nvs.bin");
    desk.turn_to(&proposal);
    desk.terminal.wait_for("The firmware keeps running");
    assert!(!file.exists(), "read before it was approved");
    desk.approve(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    // Nothing was stored yet: it reads as erased flash does.
    assert_eq!(fs::read(&file).unwrap(), vec![0xff; 0x6000]);
    let told = told(&place);
    assert_eq!((&told["saved"], &told["bytes"]), (&json!("build/nvs.bin"), &json!(0x6000)));
}

#[test]
fn what_the_virtual_board_does_not_have_is_not_read() {
    let place = Place::new();
    let args = json!({ "offset": 0x8000, "bytes": 0xc00, "path": "build/table.bin" });
    let (mut desk, proposal) = desk(&place, "read_flash", &args);
    desk.approve(&proposal);
    let Outcome::Failed(error) = desk.settled(&proposal) else { desk.fail("it was read") };
    assert!(error.why.contains("no bootloader and no partition table"), "{error:?}");
    assert!(error.why.contains("`nvs` (0x9000 – 0xf000)"), "{error:?}");
    assert!(!place.project().join("build/table.bin").exists());
    assert_eq!(told(&place)["error"]["code"], "not_read");
}

#[test]
fn a_line_reaches_the_port_only_as_it_was_shown_and_approved() {
    let place = Place::new();
    let mut board = Board::new();
    let port = board.path.to_str().unwrap().to_owned();
    let args = json!({ "port": port, "text": "wifi join \"a b\"", "line_end": "crlf" });
    let (mut desk, proposal) = desk(&place, "serial_send", &args);
    assert!(proposal.needs_person(), "a port is hardware");
    // In the first moment no key decides.
    desk.terminal.press("a");
    desk.decided(proposal.id, NEVER);
    desk.turn_to(&proposal);
    desk.terminal.wait_for(r#"wifi join "a b"\\r\\n"#);
    desk.approve(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    board.hears("wifi join \"a b\"\r\n");
    assert_eq!(told(&place), json!({ "ok": true, "sent": true, "bytes": 17, "port": port }));
    let at = |wanted: &dyn Fn(&Event) -> bool| {
        place.journal().iter().find(|record| wanted(&record.event)).expect("recorded").at.0
    };
    let proposed = at(&|event| matches!(event, Event::Proposal(ProposalEvent::Made(_))));
    let decided = at(&|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })));
    assert!(decided - proposed >= DEAD_MILLIS, "decided {} ms after it came", decided - proposed);
}

#[test]
fn a_refused_line_is_not_sent() {
    let place = Place::new();
    let mut board = Board::new();
    let args = json!({ "port": board.path, "text": "factory-reset" });
    let (mut desk, proposal) = desk(&place, "serial_send", &args);
    desk.turn_to(&proposal);
    desk.reject(&proposal, "not that one");
    assert_eq!(desk.settled(&proposal), Outcome::Denied);
    let told = told(&place);
    assert_eq!((&told["sent"], &told["rejected"]), (&json!(false), &json!("not that one")));
    assert_eq!(board.heard(NEVER), "");
}

#[test]
fn a_phrase_is_typed_in_a_line_too() {
    let place = Place::new();
    let mut args = session(&place, "new", "erase_flash", &json!({}));
    args.insert(0, "--plain".to_owned());
    let (mut desk, proposal) = open(&place, &args);
    let id = proposal.id;
    desk.terminal.wait_for("all of its memory: program and settings; this cannot be undone");
    desk.terminal.wait_for(&format!("Type: approve {id} erase esp32 all,"));
    thread::sleep(LOOK);
    for wrong in [format!("approve {id}"), format!("approve {id} erase esp32 nvs")] {
        desk.terminal.type_text(&format!("{wrong}\r"));
        desk.terminal.wait_for("type `approve \\d+ erase esp32 all`");
        assert_eq!(desk.decided(id, NEVER), None, "{wrong}");
    }
    let decision =
        type_until_decided(&mut desk, &proposal, &format!("approve {id} erase esp32 all"));
    assert_eq!(decision.verdict, Verdict::ApproveConfirmed { phrase: "erase esp32 all".into() });
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    assert_eq!(desk.terminal.wait_exit().exit_code(), 0);
}

/// Types a line, again when it came too early.
#[track_caller]
pub fn type_until_decided(desk: &mut Desk<'_>, proposal: &Proposal, line: &str) -> Decision {
    for _ in 0..5 {
        thread::sleep(LOOK);
        desk.terminal.type_text(&format!("{line}\r"));
        if let Some(decision) = desk.decided(proposal.id, Duration::from_secs(8)) {
            return decision;
        }
    }
    desk.fail(&format!("`{line}` decides nothing"))
}

#[test]
fn reading_and_sending_are_decided_in_lines_too() {
    let place = Place::new();
    let mut args =
        session(&place, "new", "read_flash", &json!({ "partition": "factory", "path": "app.bin" }));
    args.insert(0, "--plain".to_owned());
    let (mut desk, proposal) = open(&place, &args);
    desk.terminal.wait_for("reads factory: 1048576 bytes at 0x10000; the firmware keeps");
    let line = format!("reject {} there is nothing on it", proposal.id);
    let decision = type_until_decided(&mut desk, &proposal, &line);
    assert_eq!(decision.verdict, Verdict::reject("there is nothing on it"));
    assert_eq!(told(&place)["rejected"], "there is nothing on it");
    assert!(!place.project().join("app.bin").exists());

    let place = Place::new();
    let mut board = Board::new();
    let mut args =
        session(&place, "new", "serial_send", &json!({ "port": board.path, "text": "help" }));
    args.insert(0, "--plain".to_owned());
    let (mut desk, proposal) = open(&place, &args);
    desk.terminal.wait_for(r"> help\\n");
    type_until_decided(&mut desk, &proposal, &format!("approve {}", proposal.id));
    board.hears("help\n");
}

/// Runs a call without a screen, everything allowed by a rule.
fn run_allowed(place: &Place, tool: &str, args: &Value) -> (Option<i32>, Option<Outcome>, Value) {
    let rules = place.config().join("rules.toml");
    fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let mut all = session(place, "run", tool, args);
    all.extend(["--policy".to_owned(), rules.to_str().unwrap().to_owned()]);
    let output = place.run(&all.iter().map(String::as_str).collect::<Vec<_>>());
    (output.status.code(), place.outcome(), told(place))
}

#[test]
fn rules_may_read_a_virtual_board_and_nothing_more() {
    let place = Place::new();
    let args = json!({ "partition": "nvs", "path": "nvs.bin" });
    let (code, outcome, _) = run_allowed(&place, "read_flash", &args);
    assert_eq!((code, outcome), (Some(0), Some(Outcome::Applied)));
    assert_eq!(fs::read(place.project().join("nvs.bin")).unwrap().len(), 0x6000);

    // What is erased is gone, on whatever board.
    let place = Place::new();
    let (code, outcome, told) = run_allowed(&place, "erase_flash", &json!({ "partition": "nvs" }));
    assert_eq!((code, outcome), (Some(0), Some(Outcome::Denied)));
    assert_eq!(told["erased"], Value::Null);

    // A port is hardware, whoever is behind it.
    let place = Place::new();
    let mut board = Board::new();
    let args = json!({ "port": board.path, "text": "reboot" });
    let (code, outcome, told) = run_allowed(&place, "serial_send", &args);
    assert_eq!((code, outcome), (Some(0), Some(Outcome::Denied)));
    assert_eq!((&told["sent"], board.heard(NEVER).as_str()), (&json!(false), ""));
}

/// An ESP-IDF that has nothing at all, for the loader within needs none of it, and a project for the
/// ESP32-C3.
fn installation(place: &Place) -> String {
    let root = place.path("esp-idf");
    fs::create_dir_all(root.join("tools")).unwrap();
    fs::write(root.join("tools/idf.py"), "").unwrap();
    fs::write(root.join("version.txt"), "v5.4.1\n").unwrap();
    fs::write(root.join("export.sh"), "").unwrap();
    let build = place.project().join("build");
    fs::create_dir_all(&build).unwrap();
    let args = r#"{"write_flash_args": [], "flash_files": {},
        "extra_esptool_args": {"after": "hard_reset", "before": "default_reset",
                               "chip": "esp32c3"}}"#;
    fs::write(build.join("flasher_args.json"), args).unwrap();
    fs::write(place.project().join("sdkconfig"), "CONFIG_IDF_TARGET=\"esp32c3\"\n").unwrap();
    fs::write(place.project().join("partitions.csv"), "nvs, data, nvs, 0x9000, 24K\n").unwrap();
    root.to_str().unwrap().to_owned()
}

/// The shell's command and the arguments of a session with that chip, in which the agent makes
/// these calls.
pub fn on_chip(
    place: &Place,
    chip: &Chip,
    command: &str,
    made: &[(&str, Value)],
) -> (String, Vec<String>) {
    let mut all = calls(place, command, made);
    all.extend(["--toolchain".to_owned(), "idf".to_owned()]);
    let idf = installation(place);
    let project = place.project().to_str().unwrap().to_owned();
    assert_eq!(place.run(&["trust", &project]).status.code(), Some(0));
    (format!("IDF_PATH='{idf}' ESPPORT='{}' exec \"$0\" \"$@\"", chip.port), all)
}

pub const MEGABYTE: usize = 1024 * 1024;

#[test]
fn a_chip_is_read_and_erased_as_it_was_approved() {
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let held: Vec<u8> = (0..0x6000_usize).map(|at| (at * 7 + at / 251) as u8).collect();
    chip.seen.lock().unwrap().flash[0x9000..0xf000].copy_from_slice(&held);
    let begin = |place: &Place, command: &str, tool: &str, args: &Value| {
        on_chip(place, &chip, command, &[(tool, args.clone())])
    };
    let read = json!({ "partition": "nvs", "path": "build/nvs.bin" });
    let erase = json!({ "partition": "nvs" });

    // No rule lets it happen.
    for (tool, args) in [("read_flash", &read), ("erase_flash", &erase)] {
        let place = Place::new();
        let (start, mut all) = begin(&place, "run", tool, args);
        let rules = place.config().join("rules.toml");
        fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
        all.extend(["--policy".to_owned(), rules.to_str().unwrap().to_owned()]);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        place.shell(&start, &all, Size::LARGE).wait_exit();
        assert_eq!(place.outcome(), Some(Outcome::Denied), "{tool}");
    }
    assert!(chip.seen.lock().unwrap().commands.is_empty(), "the chip was spoken to");

    let place = Place::new();
    let (start, all) = begin(&place, "new", "read_flash", &read);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut desk = Desk { place: &place, terminal: place.shell(&start, &all, Size::LARGE) };
    let proposal = desk.next_proposal();
    assert!(matches!(&proposal.change, Change::Read(plan)
        if plan.board == BoardInfo { port: chip.port.clone(), ..plan.board.clone() }));
    desk.turn_to(&proposal);
    desk.terminal.wait_for("The board is restarted before");
    desk.approve(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied, "{}", desk.terminal.screen());
    assert!(fs::read(place.project().join("build/nvs.bin")).unwrap() == held, "it differs");

    let place = Place::new();
    let (start, all) = begin(&place, "new", "erase_flash", &erase);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut desk = Desk { place: &place, terminal: place.shell(&start, &all, Size::LARGE) };
    let proposal = desk.next_proposal();
    assert_eq!(proposal.change.phrase().as_deref(), Some("erase esp32c3 nvs"));
    desk.turn_to(&proposal);
    assert!(chip.flash(0x9000, 0x6000) == held, "erased before it was approved");
    desk.confirm(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied, "{}", desk.terminal.screen());
    assert!(chip.flash(0x9000, 0x6000).iter().all(|byte| *byte == 0xff));
}
