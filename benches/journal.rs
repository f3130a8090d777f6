//! How fast sessions are opened and written: `cargo bench --bench journal`.
//!
//! Prints medians; without `--bench` it makes one small round, to show that it works. A number
//! stands for the events of the session: `cargo bench --bench journal -- 5000000`. Ends with exit code 1
//! when replay or resume takes more memory than [`MOST_MEGABYTES`].

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::exit,
    reason = "a bench prints and may stop"
)]

#[path = "support/pty.rs"]
mod pty;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use firmhand::app::Timeline;
use firmhand::engine::Recorder;
use firmhand::journal::{JournalReader, SessionDir, scan};
use firmhand::model::event::{ProjectFile, SessionParts, SessionStart};
use firmhand::model::*;
use firmhand::model::{
    BuildEvent, FilesEvent, LogEvent, PortEvent, ProposalEvent, SessionEvent, TurnEvent,
};
use firmhand::view::SessionView;

/// What replay and resume of a session may take at most, however long it is.
const MOST_MEGABYTES: u64 = 150;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let wanted = std::env::args().find_map(|arg| arg.parse().ok());
    let (events, rounds) = if is_bench { (1_000_000, 5) } else { (3_000, 1) };
    let events = wanted.unwrap_or(events);
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let project = data.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let dir = SessionDir::create(&data.path().join("data"), "bench", Timestamp(0)).unwrap();
    let bytes = generate(&dir, &project, events);
    println!("session: {events} events, {:.1} MB", mega(bytes));
    println!("memory before: {}", memory("VmRSS"));
    let timeline = Timeline::open(&dir).unwrap();
    println!("memory with the replay open: {} (peak {})", memory("VmRSS"), memory("VmHWM"));
    moving(timeline, if is_bench { 200 } else { 3 });
    let replayed = memory("VmHWM");
    println!("memory after moving about: peak {replayed}");
    let resumed = resuming(data.path(), &dir);
    opening(&dir, rounds);
    appending(data.path(), if is_bench { 200_000 } else { 100 });
    syncing(data.path(), if is_bench { 1_000 } else { 5 });
    for (what, peak) in [("replay", replayed), ("resume", resumed)] {
        let kilobytes = peak.split(' ').next().and_then(|number| number.parse::<u64>().ok());
        if kilobytes.is_some_and(|peak| peak > MOST_MEGABYTES * 1_000) {
            println!("{what} takes {peak}, more than {MOST_MEGABYTES} MB");
            std::process::exit(1);
        }
    }
}

/// The peak of the program's memory when it goes on with the session, until its screen rests.
fn resuming(data: &Path, dir: &SessionDir) -> String {
    let terminal = pty::Terminal::start(120, 40, data, &["resume", dir.id().as_str()]);
    terminal.wait("a screen", |screen| !screen.contents().trim().is_empty());
    let (mut used, mut rests) = (0, 0);
    while rests < 10 && !terminal.is_gone() {
        std::thread::sleep(Duration::from_millis(300));
        let now = terminal.cpu_millis();
        rests = if now == used { rests + 1 } else { 0 };
        used = now;
    }
    let status = std::fs::read_to_string(terminal.proc("status")).unwrap_or_default();
    let peak = field(&status, "VmHWM");
    println!("memory of resume: peak {peak}, {used} ms of a processor; its screen ends with");
    let screen = terminal.contents();
    let last = screen.lines().rev().filter(|line| !line.trim().is_empty()).take(2);
    last.for_each(|line| println!("    {}", line.trim()));
    peak
}

fn opening(dir: &SessionDir, rounds: usize) {
    let path = dir.journal();
    report("read, one thread, no fold", rounds, || {
        let mut reader = JournalReader::open(&path).unwrap();
        while reader.next_item().unwrap().is_some() {}
    });
    report("read, all threads, no fold", rounds, || {
        scan(&path, |_, _| {}).unwrap();
    });
    report("read and fold into a view", rounds, || {
        let mut view = SessionView::default();
        scan(&path, |item, _| {
            if let firmhand::journal::ReadItem::Record(record) = item {
                view.apply(&record);
            }
        })
        .unwrap();
        view
    });
    report("open a replay at its end", rounds, || Timeline::open(dir).unwrap());
}

fn moving(mut timeline: Timeline, steps: u64) {
    let last = timeline.state().last.0;
    let mut go = |name: &str, commands: &mut dyn Iterator<Item = TimelineCommand>| {
        let times = commands.map(|command| {
            let start = Instant::now();
            timeline.command(command, start).unwrap();
            start.elapsed()
        });
        let mut times: Vec<Duration> = times.collect();
        times.sort();
        let worst = times.last().copied().unwrap_or_default();
        println!("{name}: median {:?}, worst {worst:?}", times[times.len() / 2]);
    };
    let back = TimelineCommand::StepEvent(Direction::Back);
    go("step back by event", &mut (0..steps).map(|_| back));
    let back = TimelineCommand::StepProposal(Direction::Back);
    go("step back by proposal", &mut (0..steps).map(|_| back));
    let leap = |n: u64| TimelineCommand::Seek(Seq(n * 7_368_787 % last));
    go("leap anywhere", &mut (0..steps / 2).map(leap));
}

fn appending(data: &Path, events: u64) {
    let dir = SessionDir::create(data, "append", Timestamp(0)).unwrap();
    let recorder = Recorder::create(dir).unwrap();
    let start = Instant::now();
    for turn in 0..events {
        let turn = TurnId(u32::try_from(turn).unwrap());
        recorder.record(Event::Turn(TurnEvent::TextAdded { turn, text: WORDS.into() })).unwrap();
    }
    println!("record an event: {:.0} per second", per_second(events, start.elapsed()));
}

fn syncing(data: &Path, events: u32) {
    let dir = SessionDir::create(data, "sync", Timestamp(0)).unwrap();
    let recorder = Recorder::create(dir.clone()).unwrap();
    let line = serde_json::to_vec(&decided(1)).unwrap();
    let path = dir.root().join("raw");
    let mut raw = OpenOptions::new().create(true).append(true).open(path).unwrap();
    // In turns, so that both see the same disk.
    let (mut ours, mut disk) = (Duration::ZERO, Duration::ZERO);
    for number in 0..events {
        let start = Instant::now();
        recorder.record(decided(number)).unwrap();
        ours += start.elapsed();
        let start = Instant::now();
        raw.write_all(&line).unwrap();
        raw.sync_data().unwrap();
        disk += start.elapsed();
    }
    let (ours, disk) = (per_second(events.into(), ours), per_second(events.into(), disk));
    println!("record a decision, synced: {ours:.0} per second");
    println!(
        "the disk's own write and fdatasync: {disk:.0} per second ({:.0} %)",
        100.0 * ours / disk
    );
}

/// The median time of `run`; dropping what it returns is not counted.
fn report<T>(name: &str, rounds: usize, mut run: impl FnMut() -> T) {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let made = run();
            let time = start.elapsed();
            drop(made);
            time
        })
        .collect();
    times.sort();
    println!("{name}: {:.3} s", times[times.len() / 2].as_secs_f64());
}

fn per_second(count: u64, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let count = count as f64;
    count / time.as_secs_f64()
}

fn mega(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    let bytes = bytes as f64;
    bytes / 1e6
}

/// That field of the process's status, where there is one.
fn memory(field: &str) -> String {
    self::field(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), field)
}

fn field(status: &str, field: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or(" unknown");
    line.trim_start_matches(':').trim().to_owned()
}

const WORDS: &str = "The scan uses the master driver, but its header is missing: `driver/i2c`. ";

/// Writes a session as a long day leaves it: turns with streamed text and tool calls, a proposal
/// in every second turn, a build in every tenth, serial output in between.
fn generate(dir: &SessionDir, project: &Path, events: u64) -> u64 {
    let mut day = Day {
        out: BufWriter::new(File::create(dir.journal()).unwrap()),
        seq: 0,
        bytes: 0,
        last: events,
    };
    day.add(Event::Session(SessionEvent::Started(Box::new(SessionStart {
        id: dir.id().clone(),
        task: "a long day".into(),
        team: "generate".into(),
        project: project.display().to_string(),
        model: "scripted model".into(),
        toolchain: "virtual board".into(),
        program: "0".into(),
        parts: SessionParts {
            provider: "script:i2c-scan".into(),
            toolchain: "virtual".into(),
            ..SessionParts::default()
        },
    }))));
    let file = |n| ProjectFile { path: path(n), bytes: 4_000 };
    let signatures = Vec::new();
    let files = (0..40).map(file).collect();
    day.add(Event::Files(FilesEvent::Listed { files, omitted: 0, signatures }));
    let mut number = 0;
    while day.seq < events {
        number += 1;
        day.turn(number);
        if number % 10 == 0 {
            day.build(number / 10);
        }
    }
    day.out.flush().unwrap();
    day.bytes
}

struct Day {
    out: BufWriter<File>,
    seq: u64,
    bytes: u64,
    last: u64,
}

impl Day {
    fn add(&mut self, event: Event) {
        if self.seq == self.last {
            return;
        }
        self.seq += 1;
        let at = Timestamp(1_795_000_000_000 + i64::try_from(self.seq).unwrap() * 40);
        let record = Record { v: Record::VERSION, seq: Seq(self.seq), at, event };
        let mut line = serde_json::to_vec(&record).unwrap();
        line.push(b'\n');
        self.bytes += line.len() as u64;
        self.out.write_all(&line).unwrap();
    }

    fn turn(&mut self, number: u32) {
        let (turn, call) = (TurnId(number), CallId(number));
        let agent = AgentName::from("CodeReviewerAgent");
        let reason = "the planner named it for this task".into();
        self.add(Event::Turn(TurnEvent::SpeakerChosen {
            agent: agent.clone(),
            reason,
            choice: None,
            step: None,
        }));
        self.add(Event::Turn(TurnEvent::Started { turn, agent, step: None }));
        for piece in 0..22 {
            self.add(Event::Turn(TurnEvent::TextAdded { turn, text: format!("{piece} {WORDS}") }));
        }
        let args = serde_json::json!([{"file_name": path(number), "code": WORDS.repeat(8)}]);
        self.add(Event::Turn(TurnEvent::ToolCalled {
            turn,
            call,
            tool: "generate_code".into(),
            args,
        }));
        if number.is_multiple_of(2) {
            self.add(proposed(number / 2));
            self.add(decided(number / 2));
            let proposal = ProposalId(number / 2);
            self.add(Event::Proposal(ProposalEvent::Settled {
                proposal,
                outcome: Outcome::Applied,
            }));
        }
        let result = serde_json::json!({"ok": true, "saved": [path(number)]});
        self.add(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 812 }));
        let usage = Usage { input: 4_000, output: 400, ..Usage::default() };
        self.add(Event::Turn(TurnEvent::ModelAnswered { turn, usage, state: None }));
        self.add(Event::Team(TeamEvent::ArtifactPosted(Artifact {
            number,
            kind: ArtifactKind::Code,
            title: format!("{}, {WORDS}", path(number)),
            by: None,
            tokens: 400,
        })));
        self.add(Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Done }));
    }

    fn build(&mut self, number: u32) {
        let (build, log) = (BuildId(number), LogId { kind: LogKind::Build, number });
        self.add(Event::Build(BuildEvent::Started { build, log, command: "idf.py build".into() }));
        for done in 1..=30 {
            self.add(Event::Build(BuildEvent::Progress { build, done, total: 30 }));
            let grown = u64::from(done) * 900;
            self.add(Event::Log(LogEvent::Grew { log, bytes: grown, lines: grown / 60 }));
        }
        let diagnostic = Diagnostic {
            file: Some(path(number).to_string()),
            line: Some(14),
            column: Some(5),
            severity: Severity::Error,
            message: "implicit declaration of function 'i2c_master_probe'".into(),
            hint: "include driver/i2c_master.h".into(),
        };
        let diagnostics = vec![diagnostic; 3];
        let outcome = BuildOutcome::Failed;
        self.add(Event::Build(BuildEvent::Ended {
            build,
            outcome,
            diagnostics,
            millis: 30_000,
            size: None,
        }));
        let log = LogId { kind: LogKind::Serial, number };
        let port = "/dev/ttyUSB0".to_owned();
        self.add(Event::Port(PortEvent::Opened { port, log, baud: 115_200 }));
        for piece in 1..=60 {
            self.add(Event::Log(LogEvent::Grew { log, bytes: piece * 400, lines: piece * 8 }));
        }
        self.add(Event::Port(PortEvent::Closed { log, why: "the port is needed to flash".into() }));
    }
}

fn path(number: u32) -> ProjectPath {
    ProjectPath::new(&format!("main/src/part_{}.c", number % 40)).unwrap()
}

fn proposed(number: u32) -> Event {
    let content = BlobRef { hash: ContentHash::of(&number.to_le_bytes()), bytes: 4_000 };
    Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(number),
        turn: TurnId(number * 2),
        call: CallId(number * 2),
        agent: "CodeReviewerAgent".into(),
        tool: "generate_code".into(),
        reason: "adds the header that the build asked for".into(),
        batch: Batch { id: BatchId(number), index: 1, of: 1 },
        change: Change::Save { path: path(number), base: Some(content), content },
        checks: vec![Check::clean(CheckKind::Parses)],
        facts: Facts::default(),
    })))
}

fn decided(number: u32) -> Event {
    let decision = Decision {
        verdict: Verdict::Approve,
        by: DecidedBy::Person,
        shown: ContentHash::of(&number.to_le_bytes()),
        unseen: 0,
        stops: 0,
    };
    Event::Proposal(ProposalEvent::Decided {
        proposal: ProposalId(number),
        decision: Box::new(decision),
    })
}
