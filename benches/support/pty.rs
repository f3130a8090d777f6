//! Runs the program in a pseudo-terminal and says when something is on its screen.

#![allow(dead_code, reason = "not every bench types, counts and compares")]

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Ends what is written between [`BEGIN`]s: a whole frame has arrived.
const END: &[u8] = b"\x1b[?2026l";

struct Shared {
    parser: vt100::Parser,
    frames: u64,
    bytes: u64,
    at: Instant,
    gone: bool,
}

/// The program in a terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    shared: Arc<(Mutex<Shared>, Condvar)>,
    /// When the process was started.
    pub started: Instant,
}

impl Terminal {
    /// Starts `firmhand ARGS` with its data below `data`.
    pub fn start(cols: u16, rows: u16, data: &Path, args: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_firmhand"));
        command.args(args);
        command.env("FIRMHAND_DATA_DIR", data.join("data"));
        command.env("FIRMHAND_CONFIG_DIR", data.join("config"));
        command.env("COLORTERM", "truecolor");
        Self::spawn(cols, rows, command)
    }

    /// Starts another program.
    pub fn of(cols: u16, rows: u16, words: &[String]) -> Self {
        let mut command = CommandBuilder::new(&words[0]);
        command.args(&words[1..]);
        Self::spawn(cols, rows, command)
    }

    fn spawn(cols: u16, rows: u16, mut command: CommandBuilder) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.env("TERM", "xterm-256color");
        let shared = Shared {
            parser: vt100::Parser::new(rows, cols, 0),
            frames: 0,
            bytes: 0,
            at: Instant::now(),
            gone: false,
        };
        let shared = Arc::new((Mutex::new(shared), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let sink = Arc::clone(&shared);
        // When bytes came must not depend on how long it takes to understand those before.
        let (arrived, arrivals) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                if arrived.send((Instant::now(), buffer[..read].to_vec())).is_err() || read == 0 {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            for (at, bytes) in arrivals {
                let mut shared = sink.0.lock().unwrap();
                shared.gone = bytes.is_empty();
                shared.parser.process(&bytes);
                shared.frames += bytes.windows(END.len()).filter(|w| *w == END).count() as u64;
                shared.bytes += bytes.len() as u64;
                shared.at = at;
                sink.1.notify_all();
            }
        });
        Self { child, writer, _master: pair.master, shared, started }
    }

    pub fn type_keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Waits until the screen is as wanted and tells when the bytes that made it so arrived.
    pub fn wait(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) -> Instant {
        let deadline = Instant::now() + Duration::from_secs(120);
        let mut shared = self.shared.0.lock().unwrap();
        loop {
            if shared.frames > 0 && wanted(shared.parser.screen()) {
                return shared.at;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let screen = shared.parser.screen().contents();
            assert!(!left.is_zero() && !shared.gone, "waiting for {what}; the screen is\n{screen}");
            shared = self.shared.1.wait_timeout(shared, left).unwrap().0;
        }
    }

    /// Waits for that text anywhere on screen.
    pub fn wait_text(&self, text: &str) -> Instant {
        self.wait(text, |screen| screen.contents().contains(text))
    }

    /// The screen as text.
    pub fn contents(&self) -> String {
        self.shared.0.lock().unwrap().parser.screen().contents()
    }

    /// Whether the program has ended.
    pub fn is_gone(&self) -> bool {
        self.shared.0.lock().unwrap().gone
    }

    /// Frames and bytes so far.
    pub fn traffic(&self) -> (u64, u64) {
        let shared = self.shared.0.lock().unwrap();
        (shared.frames, shared.bytes)
    }

    /// CPU time used so far, in milliseconds, of the program without its children.
    pub fn cpu_millis(&self) -> u64 {
        let stat = std::fs::read_to_string(self.proc("stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // Fields 14 and 15 of proc(5), in ticks of 10 ms.
        (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
    }

    /// CPU time used so far by the program and all others of its session.
    pub fn group_cpu(&self) -> Duration {
        let session = self.child.process_id().unwrap().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let ticks: u64 = stats
            .filter_map(|stat| {
                let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
                let is_its = fields.get(3) == Some(&session.as_str());
                is_its.then(|| {
                    Some(
                        fields.get(11)?.parse::<u64>().ok()?
                            + fields.get(12)?.parse::<u64>().ok()?,
                    )
                })?
            })
            .sum();
        Duration::from_millis(ticks * 10)
    }

    /// A line of `/proc/PID/status` in kilobytes, e.g. `VmRSS`.
    pub fn memory_kb(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(self.proc("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// A file of the system about the program, e.g. `status`.
    pub fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.child.process_id().unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
