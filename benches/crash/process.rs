//! The program under test: started with or without a terminal, answered, killed, waited for.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Chance;
use super::check::{self, Told};
use super::fault::Arranged;
use super::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_firmhand");

/// How long a look at the program takes.
const LOOK: Duration = Duration::from_millis(15);

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// It goes on.
    Alive,
    /// It ended by itself, with that code.
    Ended(u32),
    /// A signal ended it.
    Killed,
}

/// One run of the program in a terminal of its own.
pub struct Session<'a> {
    world: &'a World,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl<'a> Session<'a> {
    /// Starts the program with these words.
    pub fn start(world: &'a World, words: &[String], arranged: Option<&Arranged>) -> Self {
        let before = arranged.map(|arranged| arranged.before.clone()).unwrap_or_default();
        let mut all = before;
        all.push(PROGRAM.to_owned());
        all.extend_from_slice(words);
        let mut command = CommandBuilder::new(&all[0]);
        command.args(&all[1..]);
        command.env("FIRMHAND_DATA_DIR", world.state().join("data"));
        command.env("FIRMHAND_CONFIG_DIR", world.root().join("config"));
        command.env("TERM", "xterm-256color");
        for (name, value) in arranged.iter().flat_map(|arranged| &arranged.env) {
            command.env(name, value);
        }
        let size = PtySize { rows: 40, cols: 4_000, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let said: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&said);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(got @ 1..) = reader.read(&mut buffer) {
                sink.lock().unwrap().extend_from_slice(&buffer[..got]);
            }
        });
        Self { world, child, writer, _master: pair.master, said }
    }

    /// Waits until it ends, or for that long.
    pub fn wait(&mut self, most: Duration) -> Run {
        self.until(most, |_| {})
    }

    /// Decides as a person does, one proposal after the other, for that long.
    pub fn decide(&mut self, most: Duration, chance: &mut Chance) -> Run {
        let mut next = Instant::now();
        self.until(most, |session| {
            if Instant::now() < next {
                return;
            }
            next = Instant::now() + Duration::from_millis(150);
            let Some(journal) = session.world.journal() else { return };
            let mut faults = Vec::new();
            let records = check::records(&journal, &mut faults);
            let told = Told::of(&records, &mut faults);
            let waiting = told.waiting();
            if chance.below(60) == 0
                && let Some(done) = told.applied()
            {
                let _ = session.writer.write_all(format!("undo {done}\r").as_bytes());
                return;
            }
            let Some(first) = waiting.first() else {
                // Where calls fail again and again, the person is asked whether to go on.
                if check::has_open_question(&records) {
                    let _ = session.writer.write_all(b"answer 1\r");
                }
                return;
            };
            let line = match chance.below(12) {
                0 => format!("reject {first} not now\r"),
                1 => String::from("\r"),
                // Where somebody else has changed the file.
                2..6 => format!("approve {first} despite\r"),
                _ => format!("approve {first} unseen\r"),
            };
            let _ = session.writer.write_all(line.as_bytes());
        })
    }

    fn until(&mut self, most: Duration, mut look: impl FnMut(&mut Self)) -> Run {
        let began = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.signal().is_some() => return Run::Killed,
                // strace passes a signal on as its own end, or as this code.
                Ok(Some(status)) if status.exit_code() == 137 => return Run::Killed,
                Ok(Some(status)) => return Run::Ended(status.exit_code()),
                Ok(None) | Err(_) => {}
            }
            if began.elapsed() >= most {
                return Run::Alive;
            }
            look(self);
            thread::sleep(LOOK.min(most.saturating_sub(began.elapsed())));
        }
    }

    /// Ends it with SIGKILL, if it has not ended.
    pub fn kill(&mut self) {
        if let (Ok(None), Some(id)) = (self.child.try_wait(), self.child.process_id()) {
            let id = rustix::process::Pid::from_raw(id.cast_signed());
            if let Some(id) = id {
                let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }

    /// All it has printed.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap()).replace("\r\n", "\n")
    }

    /// The last of it, on one line.
    pub fn last_words(&self) -> String {
        let said = self.said();
        let lines: Vec<&str> = said.lines().rev().take(4).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ").chars().take(400).collect()
    }
}

/// What a replay of the session prints; `None` when it fails.
pub fn replay(world: &World) -> Option<String> {
    let output = Command::new(PROGRAM)
        .args(["replay", "--plain"])
        .env("FIRMHAND_DATA_DIR", world.state().join("data"))
        .env("FIRMHAND_CONFIG_DIR", world.root().join("config"))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    output.status.success().then_some(text)
}
