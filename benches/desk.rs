//! What a person at the desk waits for: `cargo bench --bench desk`.
//!
//! Drives the real program in a pseudo-terminal of 200×50 cells: first frame, the start screen with
//! 500 sessions, idle cost, keys under load, a long answer, how soon a follow-up starts, and how soon
//! a proposal is on screen. Prints medians; without `--bench` it makes one small round, to show that it
//! works. Names of parts choose among them: `cargo bench --bench desk -- scroll idle`.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

#[path = "support/pty.rs"]
mod pty;
#[path = "support/stage.rs"]
mod stage;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pty::Terminal;
use stage::Stage;

const COLS: u16 = 200;
const ROWS: u16 = 50;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let amount = |bench, check| if is_bench { bench } else { check };
    let parts: [(&str, &dyn Fn()); 8] = [
        ("first_frame", &|| first_frame(amount(15, 1))),
        ("start_screen", &|| start_screen(amount(15, 1), amount(500, 20))),
        ("follow_up", &|| follow_up(amount(10, 1))),
        ("idle", &|| idle(amount(10, 1) as u64)),
        ("proposal", &|| proposal(amount(15, 1))),
        ("scroll", &|| scroll(amount(300, 3))),
        ("long_answer", &|| long_answer(if is_bench { (5, 5_000) } else { (1, 200) })),
        ("keys_under_load", &|| keys_under_load(amount(400, 5))),
    ];
    for (name, run) in parts {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            run();
        }
    }
}

fn first_frame(rounds: usize) {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let stage = Stage::new();
        let terminal = Terminal::start(COLS, ROWS, stage.root(), &["demo"]);
        let at = terminal.wait("the first frame", |screen| screen.contents().contains("firmhand"));
        times.push(at - terminal.started);
    }
    report("process start to first full frame", &mut times);
}

/// The first frame of the start screen with many sessions, and how much longer it takes than with
/// none.
fn start_screen(rounds: usize, most: usize) {
    let mut medians = Vec::new();
    for sessions in [0, most] {
        let stage = Stage::new();
        stage.sessions(sessions);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let mut terminal = Terminal::start(COLS, ROWS, stage.root(), &[]);
            // All of them, or as many as there is room for and the number of all.
            let headings = [format!("Sessions {sessions} "), format!(" of {sessions} ")];
            let at = terminal.wait("the start screen", |screen| {
                let contents = screen.contents();
                let is_listed = headings.iter().any(|heading| contents.contains(heading));
                contents.contains("New task") && (sessions == 0 || is_listed)
            });
            times.push(at - terminal.started);
            terminal.type_keys("q");
        }
        report(&format!("process start to the start screen, {sessions} sessions"), &mut times);
        medians.push(times[times.len() / 2]);
    }
    goal(&format!("start screen with {most} sessions"), medians[1], 30);
    println!("  {:.1} ms of it for the sessions", millis(medians[1].saturating_sub(medians[0])));
}

/// From Enter after a follow-up until the next run is in the journal.
fn follow_up(rounds: usize) {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let stage = Stage::new();
        stage.script(&stage::save("notes.txt", "answer = 42\n"), "allow");
        let mut terminal = stage.run(COLS, ROWS);
        terminal.wait_text("end the run");
        for key in ["2", "\r"] {
            std::thread::sleep(Duration::from_millis(800));
            terminal.type_keys(key);
        }
        terminal.wait("the end of the run", |_| stage.recorded("session_ended").is_some());
        terminal.type_keys("i");
        std::thread::sleep(Duration::from_millis(500));
        terminal.type_keys("once more");
        std::thread::sleep(Duration::from_millis(200));
        let pressed = wall(Instant::now());
        terminal.type_keys("\r");
        terminal.wait("the next run", |_| stage.recorded("run_started").is_some());
        let began = stage.recorded("run_started").expect("the next run has started");
        times.push(Duration::from_micros((began * 1_000).saturating_sub(pressed)));
    }
    report("enter to the start of the next run (± 1 ms)", &mut times);
    goal("a follow-up starts after enter", times[times.len() / 2], 50);
}

fn idle(seconds: u64) {
    let stage = Stage::new();
    let terminal = Terminal::start(COLS, ROWS, stage.root(), &["demo", "--speed", "max"]);
    terminal.wait_text("waiting");
    std::thread::sleep(Duration::from_secs(1));
    let (cpu, (frames, bytes)) = (terminal.cpu_millis(), terminal.traffic());
    std::thread::sleep(Duration::from_secs(seconds));
    let (frames, bytes) = (terminal.traffic().0 - frames, terminal.traffic().1 - bytes);
    println!(
        "idle with 7 proposals waiting, {seconds} s: {} ms CPU, {frames} frames, {bytes} bytes; memory {:.1} MB",
        terminal.cpu_millis() - cpu,
        terminal.memory_kb("VmRSS") as f64 / 1024.0,
    );
}

/// A model thinks before it answers; the program is started and idle by then.
fn proposal(rounds: usize) {
    let (mut times, mut recorded) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let stage = Stage::new();
        let save = stage::save("main/main.c", "int answer = 42;\n");
        stage.script(&stage::thinking(&save), "ask");
        let terminal = stage.run(COLS, ROWS);
        let at = terminal.wait_text("int answer = 42;");
        let shown = wall(at);
        let proposed = stage.recorded("proposed").expect("it was proposed");
        recorded.push(Duration::from_micros(shown.saturating_sub(proposed * 1_000)));
        let answered = stage.recorded("model_answered").expect("the model has answered");
        times.push(Duration::from_micros(shown.saturating_sub(answered * 1_000)));
    }
    report("last byte of a proposal to its diff on screen (± 1 ms)", &mut times);
    report("proposal recorded to its diff on screen (± 1 ms)", &mut recorded);
}

/// Scrolls through a new file of 10,000 lines, line by line and page by page.
fn scroll(keys: usize) {
    let stage = Stage::new();
    let line =
        |n: usize| format!("static uint8_t register_{n:05} = 0x{:02x}; /* {n} */\n", n % 256);
    let text: String = (0..10_000).map(line).collect();
    stage.script(&stage::save("main/main.c", &text), "ask");
    let mut terminal = stage.run(COLS, ROWS);
    terminal.wait_text("register_00003");
    std::thread::sleep(Duration::from_millis(1_500));
    let mut times = Vec::new();
    for number in 0..keys {
        let before = terminal.contents();
        let pressed = Instant::now();
        terminal.type_keys(if number % 3 == 2 { "\x1b[6~" } else { "j" });
        let at = terminal.wait("the scrolled text", |screen| screen.contents() != before);
        times.push(at.saturating_duration_since(pressed));
        std::thread::sleep(Duration::from_millis(7 + (number as u64 * 5) % 23));
    }
    report("scrolling 10,000 changed lines, key to frame", &mut times);
}

fn long_answer((rounds, lines): (usize, usize)) {
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let stage = Stage::new();
        stage.script(&stage::say(lines), "ask");
        let terminal = stage.run(COLS, ROWS);
        let at = terminal.wait_text("the very last line");
        let began = stage.recorded("turn_started").expect("the turn has started");
        times.push(Duration::from_micros(wall(at).saturating_sub(began * 1_000)));
        peaks.push(terminal.memory_kb("VmHWM"));
    }
    report(&format!("{lines}-line answer at full speed until its end is on screen"), &mut times);
    peaks.sort_unstable();
    println!("  peak memory {:.1} MB", peaks[peaks.len() / 2] as f64 / 1024.0);
}

fn keys_under_load(keys: usize) {
    let stage = Stage::new();
    stage.flood();
    let mut terminal = stage.run(COLS, ROWS);
    terminal.wait_text("listening now");
    terminal.type_keys("i");
    std::thread::sleep(Duration::from_millis(500));
    let lines = stage.serial_lines();
    let began = Instant::now();
    let (cpu, frames) = (terminal.cpu_millis(), terminal.traffic().0);
    let (mut times, mut typed) = (Vec::new(), String::new());
    for number in 0..keys {
        let letter = char::from(b'a' + u8::try_from(number % 26).unwrap());
        if typed.len() == 60 {
            terminal.type_keys(&"\x7f".repeat(60));
            typed.clear();
            std::thread::sleep(Duration::from_millis(100));
        }
        typed.push(letter);
        let pressed = Instant::now();
        terminal.type_keys(&letter.to_string());
        let at = terminal.wait("the typed text", |screen| screen.contents().contains(&typed));
        times.push(at.saturating_duration_since(pressed));
        // Not in step with the frames.
        std::thread::sleep(Duration::from_millis(7 + (number as u64 * 5) % 23));
    }
    let elapsed = began.elapsed().as_secs_f64();
    report("key to frame under load", &mut times);
    println!(
        "  load: {:.0} log lines/s into the session, {:.0} frames/s drawn, {:.0} % of a core, memory {:.1} MB",
        (stage.serial_lines() - lines) as f64 / elapsed,
        (terminal.traffic().0 - frames) as f64 / elapsed,
        (terminal.cpu_millis() - cpu) as f64 / elapsed / 10.0,
        terminal.memory_kb("VmRSS") as f64 / 1024.0,
    );
}

/// Prints a figure beside its goal in milliseconds.
fn goal(what: &str, found: Duration, most: u64) {
    let is_met = found <= Duration::from_millis(most);
    let word = if is_met { "met" } else { "MISSED" };
    println!("  {what}: {:.1} ms; goal ≤ {most} ms: {word}", millis(found));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// That moment on the wall clock, in microseconds since 1970.
fn wall(at: Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from((now - at.elapsed()).as_micros()).unwrap()
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| {
        let place = ((times.len() as f64 - 1.0) * share).round() as usize;
        times[place].as_secs_f64() * 1000.0
    };
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms, min {:.1} ms ({} times)",
        at(0.5),
        at(0.99),
        at(0.0),
        times.len()
    );
}
