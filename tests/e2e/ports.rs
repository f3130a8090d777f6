//! Listening to a board on a pseudo-terminal, by keys.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

use firmhand::device::Pty;
use firmhand::model::ContentHash;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;
use crate::terminal::{Size, Terminal};

/// The other end of a port: what is written here, the port receives.
pub struct Board {
    end: fs::File,
    pub path: PathBuf,
    /// While this is open, what nobody listens to yet is held.
    held: Option<fs::File>,
}

impl Board {
    /// A port of its own. It takes what is written as it is.
    pub fn new() -> Self {
        let Pty { board, port, held } = Pty::open().unwrap();
        Self { end: board, path: port.into(), held: Some(held) }
    }

    /// Plugs it in as `port`, which is a name for wherever it is.
    pub fn plug(&self, port: &std::path::Path) {
        symlink(&self.path, port).unwrap();
    }

    /// Waits until it has received exactly that.
    pub fn hears(&mut self, text: &str) {
        let mut heard = vec![0; text.len()];
        self.end.read_exact(&mut heard).unwrap();
        assert_eq!(String::from_utf8_lossy(&heard), text);
    }

    /// What it has received after that time.
    pub fn heard(&mut self, time: std::time::Duration) -> String {
        std::thread::sleep(time);
        fcntl_setfl(&self.end, OFlags::NONBLOCK).unwrap();
        let mut heard = vec![0; 4096];
        let count = self.end.read(&mut heard).unwrap_or(0);
        fcntl_setfl(&self.end, OFlags::empty()).unwrap();
        String::from_utf8_lossy(&heard[..count]).into_owned()
    }

    pub fn print(&mut self, text: &str) {
        self.end.write_all(text.as_bytes()).unwrap();
    }
}

/// Listens to `board` in a terminal.
fn listen(place: &Place, board: &Board, size: Size) -> Terminal {
    let mut terminal = place.open(&["monitor", board.path.to_str().unwrap()], size);
    terminal.wait_for("● open");
    terminal
}

#[test]
fn levels_tags_and_pause_change_the_look_and_never_what_is_saved() {
    let place = Place::new();
    let mut board = Board::new();
    let mut terminal = listen(&place, &board, Size::SMALL);
    let mut printed = String::new();
    let mut print = |board: &mut Board, text: String| {
        board.print(&text);
        printed.push_str(&text);
    };
    for number in 0..60 {
        let (level, tag) = [('W', "wifi"), ('I', "wifi"), ('D', "app")][number % 3];
        print(
            &mut board,
            format!("\x1b[0;32m{level} ({}) {tag}: n={number}\x1b[0m\r\n", number * 10),
        );
    }
    print(&mut board, "E (700) i2c: lost\r\nno level here\r\n".to_owned());
    terminal.wait_for("no level here");
    // There is nobody to write to but the board.
    assert!(!terminal.screen().contains("message the team"));
    terminal.press("2");
    terminal.wait_for("the port has the whole screen");
    // Levels.
    terminal.press("- - -");
    terminal.wait_for(r"open · \*:W");
    terminal.wait_gone("app: n=");
    terminal.wait_for("W \\(570\\) wifi: n=57");
    terminal.wait_for("no level here");
    terminal.press("+ + +");
    terminal.wait_for("app: n=59");
    // Tags: wifi, which has the most lines, is hidden.
    terminal.press("#");
    terminal.wait_for("wifi +E W I D V +40");
    terminal.wait_for("1 line without a tag is always shown");
    terminal.press("down space enter");
    terminal.wait_for("wifi:N");
    terminal.wait_gone(" wifi: n=");
    terminal.press("esc");
    terminal.wait_for(" wifi: n=");
    // Paused, everything is kept all the same.
    terminal.press("p");
    terminal.wait_for("‖ paused");
    print(&mut board, "I (800) app: while paused\r\n".to_owned());
    terminal.wait_for("paused · 1 new line ");
    assert!(!terminal.screen().contains("while paused"));
    terminal.press("p");
    terminal.wait_for("while paused");
    // What is saved is all of it, as it came.
    terminal.press("- - - - S");
    terminal.wait_for("save to serial-1.log");
    terminal.press("enter");
    terminal.wait_for("saved \\d+ bytes");
    let saved = fs::read(place.home().join("serial-1.log")).unwrap();
    assert_eq!(String::from_utf8(saved).unwrap(), printed);
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

/// Prints more than is kept, in lines of which the last is `line 0119999`.
fn flood(board: &mut Board) {
    for block in 0..60 {
        let lines = (block * 2_000..block * 2_000 + 2_000).map(|n| {
            format!("I ({n}) app: some words to fill the line up, temp=2{} line {n:07}\r\n", n % 10)
        });
        board.print(&lines.collect::<String>());
    }
}

#[test]
fn a_log_longer_than_what_is_kept_goes_on_and_says_what_is_gone() {
    let place = Place::new();
    fs::write(place.config().join("config.toml"), "[logs]\nkeep_mib = 2\nsegment_mib = 1\n")
        .unwrap();
    let mut board = Board::new();
    let mut terminal = listen(&place, &board, Size::LARGE);
    flood(&mut board);
    terminal.wait_for("line 0119999");
    terminal.wait_for(r"[5-8]\.\d MB before \d\d:\d\d:\d\d not kept");
    terminal.press("2 g g");
    terminal.wait_for("the start of the kept output: ");
    // Killed while it writes; what is there is found again, with the same numbers.
    flood(&mut board);
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    let mut replay = place.open(&["replay", &place.session_name()], Size::LARGE);
    replay.press("4");
    replay.wait_for(r"MB before \d\d:\d\d:\d\d not kept");
    replay.press("q");
    assert!(replay.wait_exit().success());
    let logs = fs::read_dir(place.session().join("logs")).unwrap().flatten();
    let kept: u64 = logs
        .filter(|file| file.path().extension().is_some_and(|end| end == "log"))
        .map(|file| file.metadata().unwrap().len())
        .sum();
    assert!((1 << 20..(2 << 20) + (64 << 10)).contains(&kept), "{kept}");
}

#[test]
fn the_plain_monitor_says_what_is_no_longer_kept() {
    let place = Place::new();
    fs::write(place.config().join("config.toml"), "[logs]\nkeep_mib = 2\nsegment_mib = 1\n")
        .unwrap();
    let mut board = Board::new();
    let port = board.path.to_str().unwrap().to_owned();
    let mut monitor = place.command(&["monitor", &port, "--plain"]);
    let mut monitor =
        monitor.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut told = monitor.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut text, mut block) = (Vec::new(), vec![0; 1 << 16]);
        while let Ok(count @ 1..) = told.read(&mut block) {
            text.extend_from_slice(&block[..count]);
            if text.windows(12).rev().take(1 << 16).any(|end| end == b"line 0119999") {
                break;
            }
        }
        String::from_utf8(text).unwrap()
    });
    flood(&mut board);
    let text = reader.join().unwrap();
    assert_eq!(text.matches("bytes are no longer kept with the session").count(), 1);
    assert!(text.contains("line 0000000") && text.contains("line 0119999"));
    kill_process(Pid::from_child(&monitor), Signal::TERM).unwrap();
    let ended = monitor.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("kept as session") && said.contains("without the first"), "{said}");
}

#[test]
fn times_stand_before_lines_and_bytes_and_errors_are_looked_at() {
    let place = Place::new();
    let mut board = Board::new();
    let mut terminal = listen(&place, &board, Size::SMALL);
    board.print("E (700) i2c: lost\r\n\x1b[0;32mI (800) app: then this\x1b[0m\r\n");
    terminal.wait_for("then this");
    // Times.
    terminal.press("T");
    terminal.wait_for(r"\d\d:\d\d:\d\d\.\d\d\d I \(800\) app: then this");
    terminal.press("T");
    terminal.wait_for(r"\+\d+\.\d\d\d I \(800\) app: then this");
    terminal.press("T");
    terminal.wait_for(r"0:00\.800 I \(800\) app: then this");
    terminal.press("T");
    terminal.wait_gone("board time");
    // Bytes.
    terminal.press("x");
    terminal.wait_for("74 0d 0a 1b 5b 30 3b 33  32 6d");
    terminal.press("x");
    terminal.wait_for("then this");
    // Errors.
    terminal.press("e");
    terminal.wait_for("errors  1/1");
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

#[test]
fn lines_are_sent_with_the_end_that_was_chosen_and_come_back() {
    let place = Place::new();
    let mut board = Board::new();
    let mut terminal = listen(&place, &board, Size::SMALL);
    terminal.press("s");
    terminal.wait_for("LF .ctrl-e.");
    terminal.type_text("help");
    terminal.press("enter");
    board.hears("help\n");
    terminal.press("ctrl-e ctrl-e");
    terminal.wait_for("CR LF");
    terminal.press("up");
    terminal.type_text(" version");
    terminal.press("enter");
    board.hears("help version\r\n");
    // Of what is pasted only the first line is there, and nothing is sent by itself.
    terminal.paste("reboot\nrm -rf /\n");
    terminal.wait_for("▸ reboot");
    terminal.press("backspace enter");
    board.hears("reboo\r\n");
    terminal.press("esc i");
    terminal.wait_for("enter sends");
    terminal.press("esc");
    terminal.paste("not a line");
    terminal.wait_for("nothing was sent; `s` writes a line");
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

#[test]
fn a_board_that_was_unplugged_is_waited_for_and_goes_on_in_the_same_log() {
    let place = Place::new();
    let port = place.home().join("port");
    let mut board = Board::new();
    board.plug(&port);
    let mut terminal = place.open(&["monitor", "port"], Size::SMALL);
    terminal.wait_for("● open");
    for round in 0..3 {
        board.print(&format!("I (1) app: last words {round}\r\n"));
        terminal.wait_for(&format!("last words {round}"));
        fs::remove_file(&port).unwrap();
        drop(board);
        terminal.wait_for("○ waiting for it: ");
        board = Board::new();
        // What it says before anybody listens is held by the system.
        board.print(&format!("I (2) app: first words {round}\r\n"));
        board.plug(&port);
        terminal.wait_for(&format!("first words {round}"));
        terminal.wait_for("● open");
    }
    terminal.wait_for(" 6 lines");
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

#[test]
fn values_in_lines_become_a_curve() {
    let place = Place::new();
    let mut board = Board::new();
    let mut terminal = listen(&place, &board, Size::SMALL);
    terminal.press("v");
    terminal.wait_for("no value yet; one looks like");
    for number in 0..50 {
        board.print(&format!(
            "I ({number}) app: temp={}.5 C, free heap: {}\r\n",
            number % 10,
            9000 - number
        ));
    }
    terminal.wait_for("temp +9.50 +0.50 … 9.50 · 50 values");
    terminal.wait_for("[⠁-⣿]{3}");
    terminal.press("V");
    terminal.wait_for("heap +8951 +8951 … 9000 · 50 values");
    terminal.press("v");
    terminal.wait_gone("50 values");
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

/// A program that crashed on a RISC-V machine, what it printed then, and its source, as if they
/// had been made in `project`, whose path must be as long as the one they were made in.
fn crash(project: &std::path::Path) -> (PathBuf, String) {
    const MADE_IN: &str = "/project";
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/panic");
    let here = project.to_str().unwrap();
    assert_eq!(here.len(), MADE_IN.len());
    let mut program = fs::read(kept.join("crash-rv32.elf")).unwrap();
    let places: Vec<usize> = (0..program.len() - MADE_IN.len())
        .filter(|place| program[*place..].starts_with(MADE_IN.as_bytes()))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        program[place..place + here.len()].copy_from_slice(here.as_bytes());
    }
    fs::create_dir(project.join("main")).unwrap();
    fs::copy(kept.join("crash-rv32.c"), project.join("main/crash-rv32.c")).unwrap();
    let elf = project.join("crash.elf");
    fs::write(&elf, &program).unwrap();
    let hash = ContentHash::of(&program).to_string();
    let text = fs::read_to_string(kept.join("crash-rv32.txt")).unwrap();
    let (before, after) = text.split_once("SHA256: ").unwrap();
    let rest = after.split_once('\n').unwrap().1;
    (elf, format!("{before}SHA256: {}\n{rest}", &hash[..9]).replace('\n', "\r\n"))
}

#[test]
fn a_failure_is_explained_and_its_calls_are_opened() {
    let place = Place::new();
    let project = tempfile::Builder::new().prefix("").rand_bytes(3).tempdir_in("/tmp").unwrap();
    let (elf, text) = crash(project.path());
    let mut board = Board::new();
    let (elf, folder) = (elf.to_str().unwrap(), project.path().to_str().unwrap());
    let port = board.path.to_str().unwrap().to_owned();
    let args = ["monitor", &port, "--elf", elf, "--project", folder];
    let mut terminal = place.open(&args, Size::LARGE);
    terminal.wait_for("● open");
    board.print("I (30) app: started\r\n");
    board.print(&text);
    board.print("I (31) app: started again\r\n");
    terminal.wait_for("☇ .*Store access fault");
    terminal.wait_for("in crash.elf");
    terminal.wait_for("inlined +store +main/crash-rv32.c:66");
    terminal.wait_for("0x42000254 +read_sensor +main/crash-rv32.c:70");
    terminal.wait_for("app_main +main/crash-rv32.c:80");
    // The first call, then its caller.
    terminal.press("enter");
    terminal.wait_for(r"66 +\*to = value;");
    terminal.press("esc");
    terminal.wait_gone(r"\*to = value;");
    terminal.press("u u enter");
    terminal.wait_for("76 +for .int i = 0");
    terminal.press("esc d d d");
    terminal.wait_for("no other call");
    // Nothing that the firmware printed was a command.
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

#[test]
fn ports_are_chosen_from_a_list_that_changes_as_they_come_and_go() {
    let place = Place::new();
    let (mut a, b) = (Board::new(), Board::new());
    b.plug(&place.home().join("b"));
    let mut terminal = place.open(&["monitor", "a", "b", "--filter", "*:W"], Size::SMALL);
    terminal.wait_for("Choose a port");
    terminal.wait_for("○ a +not there yet");
    terminal.press("enter");
    terminal.wait_for("it is not there yet");
    a.plug(&place.home().join("a"));
    terminal.wait_for("● a");
    fs::remove_file(place.home().join("b")).unwrap();
    terminal.wait_for("○ b");
    terminal.press("enter");
    terminal.wait_for("a · 115200 Bd · ● open");
    a.print("I (1) app: hidden\r\nW (2) app: shown\r\n");
    terminal.wait_for("W .2. app: shown");
    assert!(!terminal.screen().contains("hidden"));
    terminal.press("q");
    assert!(terminal.wait_exit().success());
}

#[test]
fn a_port_that_is_not_there_yet_is_waited_for() {
    let place = Place::new();
    let mut board = Board::new();
    let mut terminal = place.open(&["monitor", "port"], Size::SMALL);
    terminal.wait_for("waiting for port …");
    board.plug(&place.home().join("port"));
    terminal.wait_for("● open");
    board.print("I (1) app: here\r\n");
    terminal.wait_for("app: here");
    terminal.press("q");
    assert!(terminal.wait_exit().success());
    let mut terminal = place.open(&["monitor", "elsewhere"], Size::SMALL);
    terminal.wait_for("waiting for elsewhere …");
    terminal.press("esc");
    assert!(terminal.wait_exit().success());
}

#[test]
fn a_port_that_another_program_has_names_it() {
    let place = Place::new();
    let mut board = Board::new();
    board.held = None;
    let port = board.path.to_str().unwrap().to_owned();
    let mut first = listen(&place, &board, Size::SMALL);
    let other = Place::new();
    let told = other.run(&["monitor", &port, "--plain"]);
    let words = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.status.success() && words.contains("firmhand (pid "), "{words}");
    first.press("q");
    assert!(first.wait_exit().success());
}
