//! What a long answer costs while it streams in, and scrolling in it:
//! `cargo bench --bench chat`.
//!
//! Prints times; without `--bench` it makes one small round, to show that it works.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use firmhand::config::Assets;
use firmhand::model::TurnEvent;
use firmhand::model::*;
use firmhand::text::growing_json::GrowingJson;
use firmhand::ui::{Arrangement, Depth, Keymap, Mode, Theme, ThemeState, Ui, UiSetup};
use firmhand::view::SessionView;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let lines = if is_bench { 5_000 } else { 50 };
    for (name, text) in [
        ("paragraphs, lists, code", mixed(lines)),
        ("one block of C", code(lines)),
        ("one file of an answer in JSON", file(lines)),
        ("one list", (0..lines).map(|line| format!("- item **{line}** of `many`\n")).collect()),
        ("one paragraph", (0..lines).map(|line| format!("line {line} goes on and on\n")).collect()),
    ] {
        println!("{name}: {lines} lines, {} kB", text.len() / 1_000);
        stream(&text, 40);
        stream(&text, 1_000);
        scroll(&text);
    }
    println!("one file in the arguments of a call: {lines} lines");
    call(&arguments(lines), 40);
    call(&arguments(lines), 1_000);
    println!("  peak memory of all of this {:.1} MB", peak_memory_kb() as f64 / 1024.0);
}

fn mixed(lines: usize) -> String {
    let paragraph = "The scan uses the **master** driver, but its *header* is missing; see `i2c`.";
    let mut text = String::new();
    while text.lines().count() < lines {
        text.push_str(&format!("## Part {}\n\n{paragraph} {paragraph}\n\n", text.len()));
        text.push_str("1. add `driver/i2c_master.h`\n2. drop one that is unused\n\n```c\n");
        text.push_str(
            "static int probe(int address)\n{\n    return address * 2; // twice\n}\n```\n\n",
        );
    }
    text
}

fn code(lines: usize) -> String {
    let body: String = (0..lines)
        .map(|line| format!("    value_{line} = probe({line}, \"text\"); // {line}\n"))
        .collect();
    format!("```c\nvoid all(void)\n{{\n{body}}}\n```\n")
}

/// A file as agents write it: in a list of files, with its lines escaped.
fn file(lines: usize) -> String {
    let line = |line| format!("int value_{line} = probe({line}, \"text\"); // {line}\n");
    let code: String = (0..lines).map(line).collect();
    let files = serde_json::json!([{ "file_name": "main/main.c", "code": code }]);
    format!("```json\n{files}\n```\n")
}

/// The same file as an argument of a tool.
fn arguments(lines: usize) -> String {
    let line = |line| format!("int value_{line} = probe({line}, \"text\"); // {line}\n");
    let code: String = (0..lines).map(line).collect();
    let files = serde_json::json!([{ "file_name": "main/main.c", "code": code }]);
    serde_json::json!({ "reason": "adds the scan", "files": files }).to_string()
}

struct Nothing;

impl BlobSource for Nothing {
    fn blob(&self, _hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        Ok(Arc::new([]))
    }
}

impl LogSource for Nothing {
    fn read_log(&self, _log: LogId, _range: Range<u64>) -> Result<Vec<u8>, UserError> {
        Ok(Vec::new())
    }
}

impl EventSource for Nothing {
    fn records(&self, _range: Range<u64>) -> Result<Vec<Record>, UserError> {
        Ok(Vec::new())
    }
}

struct Screen {
    ui: Ui,
    view: SessionView,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new() -> Self {
        let assets = Assets::built_in();
        let nothing = Arc::new(Nothing);
        let size = Size { width: 120, height: 40 };
        let ui = Ui::new(UiSetup {
            looks: ThemeState {
                theme: Theme::load(&assets, "dark", Depth::True).unwrap(),
                name: "dark".to_owned(),
                names: Vec::new(),
            },
            keymap: Keymap::load(&assets, "default").unwrap(),
            arrangement: Arrangement::default(),
            mode: Mode::Live,
            size,
            blobs: Arc::clone(&nothing) as Arc<dyn BlobSource>,
            logs: Arc::clone(&nothing) as Arc<dyn LogSource>,
            events: nothing,
            files: None,
            models: Vec::new(),
            history: Vec::new(),
        });
        let terminal = Terminal::new(TestBackend::new(size.width, size.height)).unwrap();
        let mut screen = Self { ui, view: SessionView::default(), terminal };
        screen.record(Event::Turn(TurnEvent::Started {
            turn: TurnId(1),
            agent: "Writer".into(),
            step: None,
        }));
        screen
    }

    fn record(&mut self, event: Event) {
        let seq = self.view.seq.next();
        self.view.apply(&Record { v: 1, seq, at: Timestamp(0), event });
    }

    fn frame(&mut self) {
        self.ui.sync(&self.view, None, Instant::now());
        self.terminal.draw(|frame| self.ui.draw(frame, &self.view)).unwrap();
    }

    fn press(&mut self, code: KeyCode) {
        let event = TerminalEvent::Key(KeyEvent::new(code, KeyModifiers::NONE));
        self.ui.on_event(&event, &self.view, Instant::now());
        self.terminal.draw(|frame| self.ui.draw(frame, &self.view)).unwrap();
    }
}

/// Streams `text` in tokens of 8 bytes, with a frame after so many of them.
fn stream(text: &str, tokens_a_frame: usize) {
    let mut screen = Screen::new();
    let mut frames: Vec<Duration> = Vec::new();
    let mut folding = Duration::ZERO;
    for (place, token) in text.as_bytes().chunks(8).enumerate() {
        let start = Instant::now();
        let text = String::from_utf8(token.to_vec()).unwrap();
        screen.record(Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text }));
        folding += start.elapsed();
        if place % tokens_a_frame == 0 {
            let start = Instant::now();
            screen.frame();
            frames.push(start.elapsed());
        }
    }
    let start = Instant::now();
    screen.frame();
    frames.push(start.elapsed());
    tell_frames(frames, folding);
}

/// Streams the arguments of a call in tokens of 8 bytes, with a frame after so many of them.
fn call(args: &str, tokens_a_frame: usize) {
    let mut screen = Screen::new();
    let mut growing = GrowingJson::default();
    let mut frames: Vec<Duration> = Vec::new();
    let mut reading = Duration::ZERO;
    for (place, token) in args.as_bytes().chunks(8).enumerate() {
        let start = Instant::now();
        growing.push(std::str::from_utf8(token).unwrap());
        reading += start.elapsed();
        if place % tokens_a_frame == 0 {
            let start = Instant::now();
            let (bytes, args) = (growing.bytes(), growing.values());
            let tool = "generate_code".into();
            let call = OpenCall { turn: TurnId(1), call: CallId(1), tool, bytes, args };
            screen.view.open_calls = [call].into();
            screen.frame();
            frames.push(start.elapsed());
        }
    }
    tell_frames(frames, reading);
}

/// The most memory that this process has had, in kB.
fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}

fn tell_frames(mut frames: Vec<Duration>, folding: Duration) {
    let total: Duration = frames.iter().sum();
    frames.sort();
    let p99 = millis(frames[(frames.len() - 1) * 99 / 100]);
    println!(
        "  {:>5} frames: {:>7.1} ms in all, {:>6.2} ms the slowest, {:>6.2} ms p99, {:>6.2} ms the median; folding {:.1} ms",
        frames.len(),
        millis(total),
        millis(frames.last().copied().unwrap_or_default()),
        p99,
        millis(frames[frames.len() / 2]),
        millis(folding),
    );
    let word = if p99 <= 16.0 { "met" } else { "MISSED" };
    println!("  frames while it streams: p99 {p99:.2} ms; goal ≤ 16 ms: {word}");
}

/// Goes through the whole text page by page, up and down again.
fn scroll(text: &str) {
    let mut screen = Screen::new();
    screen.record(Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: text.to_owned() }));
    screen.frame();
    // A long block of code is folded at first.
    screen.press(KeyCode::Enter);
    for (name, first, then) in [
        ("page up", KeyCode::End, KeyCode::PageUp),
        ("page down", KeyCode::Home, KeyCode::PageDown),
        ("line up", KeyCode::End, KeyCode::Up),
    ] {
        screen.press(first);
        let mut times: Vec<Duration> = (0..200)
            .map(|_| {
                let start = Instant::now();
                screen.press(then);
                start.elapsed()
            })
            .collect();
        times.sort();
        println!(
            "  {name:<10} {:>6.2} ms the median, {:>6.2} ms the slowest",
            millis(times[times.len() / 2]),
            millis(times[times.len() - 1]),
        );
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
