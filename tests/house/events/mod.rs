//! One of every kind of event, for tests.

#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail the test")]

use firmhand::model::event::{
    FileSignatures, Level, ProjectFile, RunStart, SessionParts, SessionStart,
};
use firmhand::model::*;
use firmhand::model::{
    BoardEvent, BuildEvent, FilesEvent, LogEvent, PhaseEvent, PortEvent, ProposalEvent,
    SessionEvent, TurnEvent,
};

pub mod boards;
mod learned;
mod review;

use boards::board;
use review::{decided, desk_event, proposal, settled};

/// The last of the numbers that [`kind`] gives.
pub const LAST_KIND: usize = 55;

/// A number for each kind of event; a new kind does not compile until it has one here, and then
/// the scenario must hold it.
pub fn kind(event: &Event) -> usize {
    match event {
        Event::Session(SessionEvent::Started(_)) => 0,
        Event::Session(SessionEvent::Resumed { .. }) => 1,
        Event::Session(SessionEvent::Ended { .. }) => 2,
        Event::Session(SessionEvent::Sandboxed { .. }) => 42,
        Event::Session(SessionEvent::RunStarted(_)) => 45,
        Event::Files(FilesEvent::Listed { .. }) => 3,
        Event::Phase(PhaseEvent::Started { .. }) => 4,
        Event::Phase(PhaseEvent::Ended { step: None, .. }) => 5,
        Event::Phase(PhaseEvent::Ended { step: Some(_), .. }) => 53,
        Event::Turn(TurnEvent::SpeakerChosen { choice: None, step: None, .. }) => 6,
        Event::Turn(TurnEvent::SpeakerChosen { choice: None, step: Some(_), .. }) => 51,
        Event::Turn(TurnEvent::SpeakerChosen { choice: Some(_), .. }) => 48,
        Event::Turn(TurnEvent::PolicyTaken(_)) => 46,
        Event::Person(PersonEvent::SpeakerNamed { .. }) => 47,
        Event::Turn(TurnEvent::Started { step: None, .. }) => 7,
        Event::Turn(TurnEvent::Started { step: Some(_), .. }) => 52,
        Event::Turn(TurnEvent::TextAdded { .. }) => 8,
        Event::Turn(TurnEvent::ToolCalled { .. }) => 9,
        Event::Turn(TurnEvent::ToolAnswered { .. }) => 10,
        Event::Turn(TurnEvent::ModelAnswered { .. }) => 11,
        Event::Turn(TurnEvent::Ended { .. }) => 12,
        Event::Proposal(ProposalEvent::Made(_)) => 13,
        Event::Proposal(ProposalEvent::Decided { .. }) => 14,
        Event::Proposal(ProposalEvent::Settled { .. }) => 15,
        Event::Proposal(ProposalEvent::FlashProgress { .. }) => 16,
        Event::Build(BuildEvent::Started { .. }) => 17,
        Event::Build(BuildEvent::Progress { .. }) => 18,
        Event::Build(BuildEvent::Ended { .. }) => 19,
        Event::Test(TestEvent::Started { .. }) => 43,
        Event::Test(TestEvent::Ended { .. }) => 44,
        Event::Log(LogEvent::Grew { .. }) => 20,
        Event::Board(BoardEvent::Connected(_)) => 21,
        Event::Board(BoardEvent::Lost { .. }) => 22,
        Event::Port(PortEvent::Opened { .. }) => 23,
        Event::Port(PortEvent::Closed { .. }) => 24,
        Event::Person(PersonEvent::Wrote { .. }) => 25,
        Event::Person(PersonEvent::Asked { step: None, .. }) => 26,
        Event::Person(PersonEvent::Asked { step: Some(_), .. }) => 54,
        Event::Person(PersonEvent::Answered { .. }) => 27,
        Event::Person(PersonEvent::Paused) => 28,
        Event::Person(PersonEvent::Unpaused) => 29,
        Event::Person(PersonEvent::StopRequested) => 30,
        Event::Person(PersonEvent::Noticed { .. }) => 31,
        Event::Port(PortEvent::Changed { .. }) => 40,
        Event::Model(ModelEvent::Summarised(_)) => 50,
        Event::Model(_) => 32,
        Event::Team(TeamEvent::PassageMarked(_)) => 49,
        Event::Team(_) => 33,
        Event::Proposal(ProposalEvent::Restated { .. }) => 34,
        Event::Proposal(ProposalEvent::Inquired { turn: None, .. }) => 35,
        Event::Proposal(ProposalEvent::Inquired { turn: Some(_), .. }) => 55,
        Event::Proposal(ProposalEvent::InquiryTextAdded { .. }) => 36,
        Event::Proposal(ProposalEvent::InquiryEnded { .. }) => 37,
        Event::Proposal(ProposalEvent::RuleAdded { .. }) => 38,
        Event::Proposal(ProposalEvent::RuleRevoked { .. }) => 39,
        Event::Files(FilesEvent::Disk(_)) => 41,
    }
}

fn path(number: u32) -> ProjectPath {
    ProjectPath::new(&format!("main/src/f{number}.c")).unwrap()
}

fn blob(number: u32) -> BlobRef {
    BlobRef { hash: ContentHash::of(&number.to_le_bytes()), bytes: u64::from(number) }
}

fn error(text: &str) -> UserError {
    UserError::new(text, "because", "do this")
}

fn build_ended(variant: u32, number: u32) -> Event {
    let outcome = match variant % 5 {
        0 => BuildOutcome::Passed,
        1 => BuildOutcome::Failed,
        2 => BuildOutcome::TimedOut,
        3 => BuildOutcome::Cancelled,
        _ => BuildOutcome::NotRun(error("cc")),
    };
    let severities = [Severity::Error, Severity::Warning, Severity::Note];
    let diagnostics = severities.map(|severity| Diagnostic {
        file: Some(path(number).to_string()),
        line: Some(14),
        column: None,
        severity,
        message: "implicit declaration".into(),
        hint: String::new(),
    });
    let diagnostics = diagnostics.into();
    Event::Build(BuildEvent::Ended {
        build: BuildId(number),
        outcome,
        diagnostics,
        millis: 3200,
        size: size(variant).map(Box::new),
    })
}

fn size(variant: u32) -> Option<ProgramSize> {
    let used = |memory, bytes| MemoryUse { memory, bytes, of: None };
    let on_chip = vec![
        MemoryUse { memory: Memory::Flash, bytes: 182_304, of: Some(1 << 20) },
        used(Memory::Iram, 54_012),
        used(Memory::Dram, 12_288),
        used(Memory::Rtc, 16),
        used(Memory::Psram, 64),
    ];
    let on_host =
        vec![used(Memory::Text, 41_200), used(Memory::Data, 900), used(Memory::Bss, 3_400)];
    let (host, uses) = match variant % 3 {
        0 => (String::new(), on_chip),
        1 => ("virtual board".to_owned(), on_host),
        _ => return None,
    };
    Some(ProgramSize { program: "app.elf".into(), host, uses })
}

fn of_model(variant: u32, number: u32) -> ModelEvent {
    let turn = TurnId(number);
    match variant % 6 {
        0 => ModelEvent::Reasoned { turn, text: "let me think".into() },
        1 => {
            let (attempt, most, wait_millis) = (2, 6, 1_500);
            ModelEvent::Faulted { turn, attempt, most, wait_millis, fault: error("cut") }
        }
        2 => {
            let left_out = vec![LeftOut { what: "an old message".into(), tokens: 9 }];
            ModelEvent::Trimmed { turn, left_out, tokens: 90, window: 100 }
        }
        3 => ModelEvent::Named { model: "m-2026".into() },
        4 => ModelEvent::Chosen { provider: "profile:work".into(), label: "m".into() },
        _ => ModelEvent::Budgeted(Budget {
            tokens: Some(1_000),
            cost: Some(Cost(2_000_000_000)),
            seconds: None,
            turns: None,
        }),
    }
}

fn of_files(variant: u32, number: u32) -> FileEvent {
    let bytes = variant.is_multiple_of(2).then_some(u64::from(variant));
    FileEvent::ChangedOutside { files: vec![OutsideChange { path: path(number), bytes }] }
}

pub fn log(variant: u32, number: u32) -> LogId {
    let kind = if variant.is_multiple_of(2) { LogKind::Build } else { LogKind::Serial };
    LogId { kind, number }
}

fn turn_event(kind: usize, variant: u32, number: u32) -> Event {
    let (turn, call) = (TurnId(number), CallId(number));
    let agent = AgentName::new(format!("Agent{}", variant % 3));
    match kind {
        6 => Event::Turn(TurnEvent::SpeakerChosen {
            agent,
            reason: "the planner named it".into(),
            choice: None,
            step: None,
        }),
        7 => Event::Turn(TurnEvent::Started { turn, agent, step: None }),
        8 => Event::Turn(TurnEvent::TextAdded { turn, text: format!("text {variant}\n") }),
        9 => {
            let args = serde_json::json!({"file_name": "a.c", "z": [1, null], "b": variant});
            Event::Turn(TurnEvent::ToolCalled { turn, call, tool: "read_files".into(), args })
        }
        10 => {
            let result = serde_json::json!({"ok": variant.is_multiple_of(2)});
            Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 7 })
        }
        11 => {
            let is_estimated = variant.is_multiple_of(2);
            let output = u64::from(variant);
            let usage = Usage { input: 10, output, cached: 3, cost: Cost(7), is_estimated };
            Event::Turn(TurnEvent::ModelAnswered { turn, usage, state: Some("opaque".into()) })
        }
        _ => {
            let stop = match variant % 5 {
                0 => TurnStop::Done,
                1 => TurnStop::Terminated("approve_saved_files".into()),
                2 => TurnStop::Stopped,
                3 => TurnStop::Failed(error("script")),
                _ => TurnStop::Interrupted,
            };
            Event::Turn(TurnEvent::Ended { turn, stop })
        }
    }
}

fn sandboxed(variant: u32) -> Event {
    let (level, missing) = match variant % 3 {
        0 => (SandboxLevel::Namespaces, Vec::new()),
        1 => (SandboxLevel::Landlock, vec!["namespaces".to_owned()]),
        _ => (SandboxLevel::None, vec!["namespaces".to_owned(), "Landlock".to_owned()]),
    };
    Event::Session(SessionEvent::Sandboxed { level, missing })
}

fn tests_ended(variant: u32, number: u32) -> Event {
    let outcomes =
        [TestOutcome::Failed, TestOutcome::Error, TestOutcome::Passed, TestOutcome::Skipped];
    let mut report =
        TestReport { framework: "pytest 8.3".into(), millis: 900, ..Default::default() };
    for (index, outcome) in outcomes.into_iter().enumerate().skip(variant as usize % 3) {
        report.counts.add(outcome);
        let test = TestCase::new(format!("test_{index}"), outcome);
        report.tests.push(match outcome {
            TestOutcome::Passed => TestCase { millis: 3, ..test },
            _ => TestCase {
                message: "assert 3 == 4".into(),
                file: Some(path(number).to_string()),
                line: Some(12),
                output: "E   assert 3 == 4\n".into(),
                ..test
            },
        });
    }
    if variant.is_multiple_of(2) {
        let hash = ContentHash::of(&number.to_le_bytes());
        report.proposed.push(TestedFile { path: path(number), hash });
        report.notes.push("pytest is not installed".into());
        report.stopped = "the sandbox ended it (time)".into();
        (report.omitted, report.coverage) = (7, Some(81));
    }
    Event::Test(TestEvent::Ended { run: TestRunId(number), report: Box::new(report) })
}

fn phase_event(kind: usize, variant: u32, number: u32) -> Event {
    match kind {
        0 => Event::Session(SessionEvent::Started(Box::new(SessionStart {
            id: "s".into(),
            task: "scan the bus".into(),
            team: "generate".into(),
            project: "/p".into(),
            model: "scripted model".into(),
            toolchain: "virtual board".into(),
            program: "0.1.0".into(),
            parts: SessionParts::default(),
        }))),
        1 => Event::Session(SessionEvent::Resumed { program: "0.1.0".into(), choices: None }),
        2 => Event::Session(SessionEvent::Ended {
            outcome: match variant % 3 {
                0 => SessionOutcome::Completed,
                1 => SessionOutcome::Failed(error("limit")),
                _ => SessionOutcome::Stopped,
            },
        }),
        3 => {
            let file = |n| ProjectFile { path: path(n), bytes: u64::from(n) };
            let lines = |n| FileSignatures { path: path(n), lines: vec!["int a(void)".into()] };
            let signatures = (0..variant.saturating_sub(63).min(2)).map(lines).collect();
            let files = (0..number).map(file).collect();
            Event::Files(FilesEvent::Listed { files, omitted: 2, signatures })
        }
        4 => Event::Phase(PhaseEvent::Started {
            phase: "build".into(),
            title: "build & fix".into(),
            attempt: number,
            max_attempts: 10,
            step: None,
        }),
        _ => {
            let outcome = match variant % 3 {
                0 => PhaseOutcome::Succeeded("approved".into()),
                1 => PhaseOutcome::Failed("build".into()),
                _ => PhaseOutcome::Stopped,
            };
            Event::Phase(PhaseEvent::Ended {
                phase: "build".into(),
                attempt: number,
                outcome,
                step: None,
            })
        }
    }
}

fn other_event(kind: usize, variant: u32, number: u32) -> Event {
    let port = || "/dev/pts/7".to_owned();
    let levels = [Level::Info, Level::Warning, Level::Error];
    match kind {
        16 => Event::Proposal(ProposalEvent::FlashProgress {
            proposal: ProposalId(number),
            done: 1,
            total: 9,
        }),
        17 => {
            let log = log(0, number);
            Event::Build(BuildEvent::Started { build: BuildId(number), log, command: "cc".into() })
        }
        18 => {
            Event::Build(BuildEvent::Progress { build: BuildId(number), done: variant, total: 9 })
        }
        20 => Event::Log(LogEvent::Grew {
            log: log(variant, number),
            bytes: 80,
            lines: u64::from(variant),
        }),
        21 => Event::Board(BoardEvent::Connected(board())),
        22 => Event::Board(BoardEvent::Lost { port: port(), why: "unplugged".into() }),
        23 => Event::Port(PortEvent::Opened { port: port(), log: log(1, number), baud: 115_200 }),
        24 => Event::Port(PortEvent::Closed { log: log(1, number), why: "flash".into() }),
        25 => {
            Event::Person(PersonEvent::Wrote { to: Some("A".into()), text: "use GPIO 21".into() })
        }
        26 => Event::Person(PersonEvent::Asked {
            question: QuestionId(number),
            agent: None,
            text: "go on?".into(),
            options: vec!["yes".into(), "no".into()],
            step: None,
        }),
        27 => Event::Person(PersonEvent::Answered {
            question: QuestionId(number),
            answer: "yes".into(),
        }),
        28 => Event::Person(PersonEvent::Paused),
        29 => Event::Person(PersonEvent::Unpaused),
        30 => Event::Person(PersonEvent::StopRequested),
        _ => {
            let level = levels[variant as usize % levels.len()];
            Event::Person(PersonEvent::Noticed { level, notice: error("note") })
        }
    }
}

fn team_fact(variant: u32, number: u32) -> TeamEvent {
    match variant % 5 {
        0 => TeamEvent::Attached(Document {
            name: "spec.md".into(),
            bytes: 40,
            text: "It blinks.".into(),
            omitted: u64::from(number),
            pages: number.is_multiple_of(2).then_some(number),
        }),
        1 => {
            let item = |agent: Option<&str>| PlanItem {
                task: "list the files".into(),
                agent: agent.map(AgentName::from),
            };
            let by = number.is_multiple_of(2).then(|| AgentName::from("A"));
            TeamEvent::PlanMade { by, items: vec![item(Some("A")), item(None)] }
        }
        2 => {
            let file = |number, by| ContextFile {
                path: path(number),
                bytes: number.is_multiple_of(2).then_some(80),
                tokens: 20,
                by,
                reason: if number.is_multiple_of(2) { "names `x`".into() } else { String::new() },
            };
            let by_agent = ChosenBy::Agent("A".into());
            let files = vec![file(number, by_agent), file(number + 1, ChosenBy::Person)];
            TeamEvent::ContextListed { call: CallId(number), files }
        }
        3 => TeamEvent::ContextEdited { add: vec![path(number)], remove: vec![path(number + 1)] },
        _ => TeamEvent::ArtifactPosted(Artifact {
            number,
            kind: ArtifactKind::ALL[number as usize % ArtifactKind::ALL.len()],
            title: "a build".into(),
            by: Some("A".into()),
            tokens: 12,
        }),
    }
}

fn of_port(variant: u32, number: u32) -> PortChange {
    match variant % 6 {
        0 => PortChange::Lost { why: "unplugged".into() },
        1 => PortChange::Back { millis: 40 },
        2 => PortChange::Sent { text: "help\n".into(), by: Some("TestAgent".into()) },
        3 => PortChange::Controlled(match number % 3 {
            0 => SerialControl::Baud(921_600),
            1 => SerialControl::Reset,
            _ => SerialControl::BootLoader,
        }),
        4 => {
            let frame = |function: Option<&str>, inlined| PanicFrame {
                pc: 0x400d_0029,
                function: function.map(str::to_owned),
                file: function.map(|_| "main/main.c".to_owned()),
                line: function.map(|_| 7),
                inlined,
            };
            let frames = vec![
                frame(Some("store"), true),
                frame(Some("app_main"), false),
                frame(None, false),
            ];
            PortChange::Panicked {
                line: 4,
                end: 20,
                report: Box::new(PanicReport {
                    kind: PanicKind::Exception,
                    message: "Guru Meditation Error: Core  0 panic'ed (LoadProhibited).".into(),
                    task: Some("main".into()),
                    core: Some(0),
                    details: vec!["more".into()],
                    registers: vec![PanicRegister { name: "PC".into(), value: 0x400d_0029 }],
                    traces: vec![PanicTrace { core: Some(0), frames, is_corrupted: true }],
                    elf: Some(PanicElf { file: "build/app.elf".into(), matches: ElfMatch::Same }),
                    notes: vec!["note".into()],
                }),
            }
        }
        _ => {
            let name = format!("core-{number}-1.bin");
            PortChange::CoreDumped(CoreDump { name, content: blob(number) })
        }
    }
}

/// An event of that kind; `variant` chooses among its forms, `number` is its turn, build, …
pub fn event(kind: usize, variant: u32, number: u32) -> Event {
    match kind {
        0..=5 => phase_event(kind, variant, number),
        6..=12 => turn_event(kind, variant, number),
        13 => proposal(variant, number),
        14 => decided(variant, number),
        15 => settled(variant, number),
        19 => build_ended(variant, number),
        32 => Event::Model(of_model(variant, number)),
        33 => Event::Team(team_fact(variant, number)),
        34..=39 | 55 => desk_event(kind, variant, number),
        40 => {
            Event::Port(PortEvent::Changed { log: log(1, number), event: of_port(variant, number) })
        }
        41 => Event::Files(FilesEvent::Disk(of_files(variant, number))),
        42 => sandboxed(variant),
        43 => Event::Test(TestEvent::Started {
            run: TestRunId(number),
            log: LogId { kind: LogKind::Test, number },
            command: "tests in Python".into(),
        }),
        44 => tests_ended(variant, number),
        45 => Event::Session(SessionEvent::RunStarted(Box::new(RunStart {
            number: number + 2,
            task: "blink faster".into(),
            team: "edit-generated".into(),
            why: "firmhand generated this project".into(),
            changed: (0..variant).map(path).collect(),
        }))),
        46..=48 => learned::event(kind, variant),
        49 => passage_marked(variant),
        50 => summarised(variant, number + 1),
        51..=54 => in_step(kind, variant, number),
        _ => other_event(kind, variant, number),
    }
}

/// What happens in the chat of one step while others are open.
fn in_step(kind: usize, variant: u32, number: u32) -> Event {
    let step = Some(number + 1);
    match kind {
        51 => Event::Turn(TurnEvent::SpeakerChosen {
            agent: "Coder".into(),
            reason: "step 1 of 2".into(),
            choice: None,
            step,
        }),
        52 => Event::Turn(TurnEvent::Started { turn: TurnId(number), agent: "Coder".into(), step }),
        53 => Event::Phase(PhaseEvent::Ended {
            phase: "step".into(),
            attempt: variant + 1,
            outcome: PhaseOutcome::Succeeded("done".into()),
            step,
        }),
        _ => Event::Person(PersonEvent::Asked {
            question: QuestionId(number),
            agent: (variant == 1).then(|| "Coder".into()),
            text: "which pin?\u{202e}".into(),
            options: Vec::new(),
            step,
        }),
    }
}

fn summarised(variant: u32, number: u32) -> Event {
    let replaces =
        (1..=number).map(|turn| SummarisedTurn { turn: TurnId(turn), messages: turn }).collect();
    Event::Model(ModelEvent::Summarised(Box::new(ChatSummary {
        turn: TurnId(number),
        replaces,
        tokens: 9_000,
        text: "GPIO 5 is taken.\u{1b}[2J".into(),
        usage: Usage { input: 8_000, output: 300, ..Usage::default() },
        failed: (variant % 3 == 1).then(|| error("no summary")),
    })))
}

fn passage_marked(variant: u32) -> Event {
    let marks = [PassageMark::Pinned, PassageMark::Muted, PassageMark::None];
    Event::Team(TeamEvent::PassageMarked(Box::new(MarkedPassage {
        source: "docs/en/i2c.rst#probing".into(),
        title: "I2C: probing\u{202e}".into(),
        text: if variant == 0 { "Call `i2c_master_probe`.".into() } else { String::new() },
        mark: marks[variant as usize % marks.len()],
    })))
}

/// Kinds that came after those of `ORDER`, in the groups in which they were appended to the golden
/// journal. A new kind is a group at the end; no line before it changes.
pub const ADDED: [&[usize]; 7] =
    [&[42], &[43, 44], &[45], &[46, 47, 48], &[49], &[50], &[51, 52, 53, 54, 55]];

/// All other kinds, in an order that makes sense.
pub const ORDER: [usize; 43] = [
    0, 3, 21, 4, 6, 7, 8, 9, 13, 35, 36, 34, 37, 38, 14, 15, 10, 39, 17, 18, 19, 20, 11, 32, 41,
    25, 8, 12, 16, 23, 40, 24, 26, 27, 28, 29, 33, 31, 5, 22, 30, 2, 1,
];
