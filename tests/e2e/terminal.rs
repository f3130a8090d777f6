//! A program in a pseudo-terminal, driven by key names and read as a screen.
//!
//! Nothing here knows the program under test. Waits end when what is waited for is there; their
//! limit only keeps a broken program from hanging the tests.

use std::fmt::Display;
use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};

use crate::keys;

/// How long a wait may last before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

impl Size {
    pub const SMALL: Self = Self { columns: 80, rows: 24 };
    pub const LARGE: Self = Self { columns: 200, rows: 60 };
    /// The smallest that is of use.
    pub const LEAST: Self = Self { columns: 60, rows: 16 };

    const fn pty(self) -> PtySize {
        PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 }
    }
}

/// What the reading thread fills.
struct Shown {
    parser: vt100::Parser<Answers>,
    closed: bool,
}

/// What a terminal does besides showing text.
#[derive(Default)]
struct Answers {
    /// What it answers when it is asked about itself, not sent yet.
    bytes: Vec<u8>,
    /// How often it rang, and what it was asked to notify of (OSC 9 and 777).
    calls: Vec<String>,
}

impl vt100::Callbacks for Answers {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.calls.push("bell".to_owned());
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        let parts: Vec<_> = params.iter().map(|part| String::from_utf8_lossy(part)).collect();
        if matches!(parts.first().map(AsRef::as_ref), Some("9" | "777")) {
            self.calls.push(parts.join(";"));
        }
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        match (first, last, params.first().and_then(|param| param.first())) {
            (None, 'c', _) => self.bytes.extend(b"\x1b[?62;22c"),
            (None, 'n', Some(6)) => {
                let (row, column) = screen.cursor_position();
                self.bytes.extend(format!("\x1b[{};{}R", row + 1, column + 1).into_bytes());
            }
            _ => {}
        }
    }
}

/// A running program and its screen. Dropping it kills the program.
pub struct Terminal {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    initial_line_modes: String,
}

impl Terminal {
    /// Starts the program.
    pub fn start(command: CommandBuilder, size: Size) -> Self {
        let pair = native_pty_system().openpty(size.pty()).unwrap();
        let initial_line_modes = line_modes(pair.master.as_ref());
        let child = pair.slave.spawn_command(command).unwrap();
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let parser =
            vt100::Parser::new_with_callbacks(size.rows, size.columns, 1000, Answers::default());
        let shown = Shown { parser, closed: false };
        let shown = Arc::new((Mutex::new(shown), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (filled, answering) = (Arc::clone(&shown), Arc::clone(&writer));
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            loop {
                // At the end Linux gives an error instead of nothing.
                let length = reader.read(&mut buffer).unwrap_or(0);
                let mut shown = filled.0.lock().unwrap();
                shown.closed = length == 0;
                shown.parser.process(&buffer[..length]);
                let answers = std::mem::take(&mut shown.parser.callbacks_mut().bytes);
                drop(shown);
                filled.1.notify_all();
                if length == 0 {
                    return;
                }
                if !answers.is_empty() {
                    let _ = answering.lock().unwrap().write_all(&answers);
                }
            }
        });
        Self { shown, writer, master: pair.master, child, initial_line_modes }
    }

    /// Presses keys one after the other; the names are divided by spaces.
    pub fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.send(&keys::bytes(key));
            // A terminal sends keys apart: after a lone escape the rest must not look like one key.
            thread::sleep(Duration::from_millis(if key == "esc" { 80 } else { 20 }));
        }
    }

    /// Types text as keys.
    pub fn type_text(&mut self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Types text as a person does, key by key.
    pub fn type_slowly(&mut self, text: &str) {
        for letter in text.chars() {
            self.send(letter.to_string().as_bytes());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Pastes text the way terminals do, in brackets.
    pub fn paste(&mut self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes());
    }

    fn send(&self, bytes: &[u8]) {
        let mut writer = self.writer.lock().unwrap();
        if let Err(error) = writer.write_all(bytes).and_then(|()| writer.flush()) {
            drop(writer);
            self.fail(format!("cannot send {bytes:?}: {error}"));
        }
    }

    /// Makes the window another size.
    pub fn resize(&mut self, size: Size) {
        self.shown().parser.screen_mut().set_size(size.rows, size.columns);
        self.master.resize(size.pty()).unwrap();
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        self.shown().parser.screen().contents()
    }

    /// What the program called the person with: `bell`, or the parts of an OSC 9 or 777.
    pub fn calls(&self) -> Vec<String> {
        self.shown().parser.callbacks().calls.clone()
    }

    /// Tells the program whether its window has the keyboard.
    pub fn set_focus(&mut self, focus: bool) {
        self.send(if focus { b"\x1b[I" } else { b"\x1b[O" });
    }

    /// Whether the program closed the terminal.
    pub fn is_closed(&self) -> bool {
        self.shown().closed
    }

    /// Looks at the screen with its modes and cells.
    pub fn look<T>(&self, at: impl FnOnce(&vt100::Screen) -> T) -> T {
        at(self.shown().parser.screen())
    }

    /// Echo, line editing and the like, as text to compare.
    pub fn line_modes(&self) -> String {
        line_modes(self.master.as_ref())
    }

    /// [`Terminal::line_modes`] before the program started.
    pub fn initial_line_modes(&self) -> &str {
        &self.initial_line_modes
    }

    /// Looks for the pattern in what stays on the screen after the program's end.
    #[track_caller]
    pub fn wait_for_after_exit(&mut self, pattern: &str) {
        let screen = self.screen().replace('\n', " ");
        if !Regex::new(pattern).unwrap().is_match(&screen) {
            self.fail(format!("/{pattern}/ is not on the screen after the end"));
        }
    }

    /// Waits until the pattern is on the screen and returns what matched.
    #[track_caller]
    pub fn wait_for(&mut self, pattern: &str) -> String {
        let regex = Regex::new(pattern).unwrap();
        self.wait_until(&format!("/{pattern}/ on the screen"), |screen| {
            regex.find(&screen.contents()).map(|found| found.as_str().to_owned())
        })
    }

    /// Presses a key until the pattern is on the screen: a guard may refuse it at first.
    #[track_caller]
    pub fn press_until(&mut self, key: &str, pattern: &str) {
        let regex = Regex::new(pattern).unwrap();
        for _ in 0..5 {
            self.press(key);
            let until = Instant::now() + Duration::from_secs(3);
            let is_shown =
                |screen: &vt100::Screen| regex.is_match(&screen.contents()).then_some(());
            if self.found_until(until, is_shown).is_ok() {
                return;
            }
        }
        self.fail(format!("/{pattern}/ is not on the screen after {key}"));
    }

    /// Waits until the pattern is no longer on the screen.
    #[track_caller]
    pub fn wait_gone(&mut self, pattern: &str) {
        let regex = Regex::new(pattern).unwrap();
        self.wait_until(&format!("/{pattern}/ gone from the screen"), |screen| {
            (!regex.is_match(&screen.contents())).then_some(())
        });
    }

    /// Waits until `found` finds something on the screen.
    #[track_caller]
    pub fn wait_until<T>(&self, what: &str, found: impl Fn(&vt100::Screen) -> Option<T>) -> T {
        match self.found_until(Instant::now() + PATIENCE, found) {
            Ok(value) => value,
            Err(why) => self.fail(format!("waiting for {what}: {why}")),
        }
    }

    /// What `found` finds on the screen until then, or why nothing.
    fn found_until<T>(
        &self,
        deadline: Instant,
        found: impl Fn(&vt100::Screen) -> Option<T>,
    ) -> Result<T, &'static str> {
        let mut shown = self.shown();
        loop {
            if let Some(value) = found(shown.parser.screen()) {
                return Ok(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if shown.closed || left.is_zero() {
                return Err(if shown.closed { "the program ended" } else { "the time is over" });
            }
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Waits for the program's end.
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.wait_closed(deadline);
                return status;
            }
            if Instant::now() > deadline {
                self.fail("waiting for the program's end: the time is over");
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the last output was read; a grandchild may keep the terminal open.
    fn wait_closed(&self, deadline: Instant) {
        let soon = deadline.min(Instant::now() + Duration::from_secs(2));
        let mut shown = self.shown();
        while !shown.closed && Instant::now() < soon {
            shown = self.shown.1.wait_timeout(shown, Duration::from_millis(50)).unwrap().0;
        }
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let id = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed())).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Fails the test, showing the screen.
    #[track_caller]
    pub fn fail(&self, why: impl Display) -> ! {
        let shown = self.shown();
        let screen = shown.parser.screen();
        let (_, columns) = screen.size();
        let rule = "-".repeat(usize::from(columns));
        let lines: String = screen.rows(0, columns).map(|row| format!("|{row}\n")).collect();
        drop(shown);
        panic!("{why}\n+{rule}\n{lines}+{rule}");
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.0.lock().unwrap()
    }
}

fn line_modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal"))
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
