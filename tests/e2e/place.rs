//! A home of its own for every test: settings, sessions and project in a temporary folder.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use firmhand::journal::SessionDir;
use firmhand::model::{Event, Outcome, Proposal, ProposalEvent, ProposalId, Record};
use portable_pty::CommandBuilder;
use tempfile::TempDir;

use crate::terminal::{PATIENCE, Size, Terminal};

const PROGRAM: &str = env!("CARGO_BIN_EXE_firmhand");

/// A temporary home.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["home", "config", "data"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        Self { folder }
    }

    /// A path below the folder of everything.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// The folder the agents write to; the program makes it.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Where programs are started.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn config(&self) -> PathBuf {
        self.path("config")
    }

    /// What the program finds in its environment; nothing else.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let own = |below: &str| self.path(below).to_str().unwrap().to_owned();
        vec![
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", own("home")),
            ("FIRMHAND_CONFIG_DIR", own("config")),
            ("FIRMHAND_DATA_DIR", own("data")),
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
    }

    fn in_terminal(&self, mut command: CommandBuilder, size: Size) -> Terminal {
        command.env_clear();
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command.cwd(self.path("home"));
        Terminal::start(command, size)
    }

    /// Starts the program with these arguments in a terminal.
    pub fn open(&self, args: &[&str], size: Size) -> Terminal {
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(args);
        self.in_terminal(command, size)
    }

    /// Starts a shell script in a terminal; `$0` is the program.
    pub fn shell(&self, script: &str, args: &[&str], size: Size) -> Terminal {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script, PROGRAM]);
        command.args(args);
        self.in_terminal(command, size)
    }

    /// Starts the demo at full speed in [`Place::project`].
    pub fn demo(&self, size: Size) -> Terminal {
        self.open(&self.demo_args().each_ref().map(String::as_str), size)
    }

    /// The arguments of [`Place::demo`].
    pub fn demo_args(&self) -> [String; 5] {
        let project = self.project().to_str().unwrap().to_owned();
        ["demo".into(), "--speed".into(), "max".into(), "--project".into(), project]
    }

    /// Runs the program without a terminal.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The program with these arguments in this place, not started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().envs(self.environment()).current_dir(self.path("home"));
        command
    }

    /// The folder of the only session.
    pub fn session(&self) -> PathBuf {
        let sessions = self.path("data/sessions");
        let found: Vec<_> = fs::read_dir(&sessions)
            .unwrap_or_else(|error| panic!("{}: {error}", sessions.display()))
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        let [only] = found.as_slice() else { panic!("not one session: {found:?}") };
        only.clone()
    }

    /// The name of the only session.
    pub fn session_name(&self) -> String {
        self.session().file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The complete lines of the only session's journal; every one must be a record, numbered
    /// without a gap.
    pub fn journal(&self) -> Vec<Record> {
        if !self.has_session() {
            return Vec::new();
        }
        let text = fs::read_to_string(self.session().join("journal.jsonl")).unwrap_or_default();
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let parse = |(at, line): (usize, &str)| {
            let record: Record = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("journal line {}: {error}\n{line}", at + 1));
            assert_eq!(record.seq.0, at as u64 + 1, "a gap before journal line {}", at + 1);
            record
        };
        complete.lines().enumerate().map(parse).collect()
    }

    /// Whether the journal ends with a complete line.
    pub fn journal_is_whole(&self) -> bool {
        fs::read(self.session().join("journal.jsonl")).unwrap().ends_with(b"\n")
    }

    /// The recorded facts.
    pub fn events(&self) -> Vec<Event> {
        self.journal().into_iter().map(|record| record.event).collect()
    }

    /// Waits until `found` finds something in the journal.
    #[track_caller]
    pub fn wait_for_event<T>(
        &self,
        terminal: &Terminal,
        what: &str,
        found: impl Fn(&Event) -> Option<T>,
    ) -> T {
        self.event_within(PATIENCE, &found)
            .unwrap_or_else(|| terminal.fail(format!("{what} was not recorded")))
    }

    /// [`Place::wait_for_event`] that may be disappointed.
    pub fn event_within<T>(
        &self,
        time: Duration,
        found: impl Fn(&Event) -> Option<T>,
    ) -> Option<T> {
        self.within(time, || self.events().iter().find_map(&found))
    }

    /// What became of the first proposal, so far.
    pub fn outcome(&self) -> Option<Outcome> {
        self.events().into_iter().find_map(|event| match event {
            Event::Proposal(ProposalEvent::Settled { outcome, .. }) => Some(outcome),
            _ => None,
        })
    }

    /// Asks again and again, until there is an answer or the time is over.
    pub fn within<T>(&self, time: Duration, found: impl Fn() -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + time;
        loop {
            if let Some(value) = found() {
                return Some(value);
            }
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn has_session(&self) -> bool {
        let sessions = fs::read_dir(self.path("data/sessions"));
        sessions.is_ok_and(|mut entries| entries.next().is_some())
    }

    /// The text that a proposal would write.
    pub fn content(&self, proposal: &Proposal) -> String {
        let hash = proposal.change.after().expect("a file").hash;
        let blobs = SessionDir::at(self.session()).unwrap().blobs();
        String::from_utf8(blobs.load(&hash).unwrap().to_vec()).unwrap()
    }

    /// The proposals that wait for a decision, oldest first.
    pub fn waiting(&self) -> Vec<ProposalId> {
        let events = self.events();
        let proposed = events.iter().filter_map(|event| match event {
            Event::Proposal(ProposalEvent::Made(proposal)) => Some(proposal.id),
            _ => None,
        });
        let decided = |id: &ProposalId| {
            events
                .iter()
                .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { proposal, .. }) if proposal == id))
        };
        proposed.filter(|id| !decided(id)).collect()
    }
}
