//! One of every kind of event, for tests.

#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail the test")]

use firmhand::model::event::{Level, ProjectFile, SessionParts, SessionStart};
use firmhand::model::*;

pub mod boards;
mod review;

use boards::board;
use review::{decided, desk_event, proposal, settled};

/// The last of the numbers that [`kind`] gives.
pub const LAST_KIND: usize = 41;

/// A number for each kind of event; a new kind does not compile until it has one here, and then
/// the scenario must hold it.
pub fn kind(event: &Event) -> usize {
    match event {
        Event::SessionStarted(_) => 0,
        Event::SessionResumed { .. } => 1,
        Event::SessionEnded { .. } => 2,
        Event::ProjectListed { .. } => 3,
        Event::PhaseStarted { .. } => 4,
        Event::PhaseEnded { .. } => 5,
        Event::SpeakerChosen { .. } => 6,
        Event::TurnStarted { .. } => 7,
        Event::TextAdded { .. } => 8,
        Event::ToolCalled { .. } => 9,
        Event::ToolAnswered { .. } => 10,
        Event::ModelAnswered { .. } => 11,
        Event::TurnEnded { .. } => 12,
        Event::Proposed(_) => 13,
        Event::Decided { .. } => 14,
        Event::Settled { .. } => 15,
        Event::FlashProgress { .. } => 16,
        Event::BuildStarted { .. } => 17,
        Event::BuildProgress { .. } => 18,
        Event::BuildEnded { .. } => 19,
        Event::LogGrew { .. } => 20,
        Event::BoardConnected(_) => 21,
        Event::BoardLost { .. } => 22,
        Event::SerialOpened { .. } => 23,
        Event::SerialClosed { .. } => 24,
        Event::PersonSaid { .. } => 25,
        Event::Asked { .. } => 26,
        Event::Answered { .. } => 27,
        Event::Paused => 28,
        Event::Unpaused => 29,
        Event::StopRequested => 30,
        Event::Noticed { .. } => 31,
        Event::Port { .. } => 40,
        Event::Model(_) => 32,
        Event::Team(_) => 33,
        Event::Restated { .. } => 34,
        Event::Inquired { .. } => 35,
        Event::InquiryTextAdded { .. } => 36,
        Event::InquiryEnded { .. } => 37,
        Event::RuleAdded { .. } => 38,
        Event::RuleRevoked { .. } => 39,
        Event::Files(_) => 41,
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
    Event::BuildEnded {
        build: BuildId(number),
        outcome,
        diagnostics,
        millis: 3200,
        size: size(variant).map(Box::new),
    }
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
        6 => Event::SpeakerChosen { agent, reason: "the planner named it".into() },
        7 => Event::TurnStarted { turn, agent },
        8 => Event::TextAdded { turn, text: format!("text {variant}\n") },
        9 => {
            let args = serde_json::json!({"file_name": "a.c", "z": [1, null], "b": variant});
            Event::ToolCalled { turn, call, tool: "read_files".into(), args }
        }
        10 => {
            let result = serde_json::json!({"ok": variant.is_multiple_of(2)});
            Event::ToolAnswered { call, result, millis: 7 }
        }
        11 => {
            let is_estimated = variant.is_multiple_of(2);
            let output = u64::from(variant);
            let usage = Usage { input: 10, output, cached: 3, cost: Cost(7), is_estimated };
            Event::ModelAnswered { turn, usage, state: Some("opaque".into()) }
        }
        _ => {
            let stop = match variant % 5 {
                0 => TurnStop::Done,
                1 => TurnStop::Terminated("approve_saved_files".into()),
                2 => TurnStop::Stopped,
                3 => TurnStop::Failed(error("script")),
                _ => TurnStop::Interrupted,
            };
            Event::TurnEnded { turn, stop }
        }
    }
}

fn phase_event(kind: usize, variant: u32, number: u32) -> Event {
    match kind {
        0 => Event::SessionStarted(Box::new(SessionStart {
            id: "s".into(),
            task: "scan the bus".into(),
            team: "generate".into(),
            project: "/p".into(),
            model: "scripted model".into(),
            toolchain: "virtual board".into(),
            program: "0.1.0".into(),
            parts: SessionParts::default(),
        })),
        1 => Event::SessionResumed { program: "0.1.0".into() },
        2 => Event::SessionEnded {
            outcome: match variant % 3 {
                0 => SessionOutcome::Completed,
                1 => SessionOutcome::Failed(error("limit")),
                _ => SessionOutcome::Stopped,
            },
        },
        3 => {
            let file = |n| ProjectFile { path: path(n), bytes: u64::from(n) };
            Event::ProjectListed { files: (0..number).map(file).collect(), omitted: 2 }
        }
        4 => Event::PhaseStarted {
            phase: "build".into(),
            title: "build & fix".into(),
            attempt: number,
            max_attempts: 10,
        },
        _ => {
            let outcome = match variant % 3 {
                0 => PhaseOutcome::Succeeded("approved".into()),
                1 => PhaseOutcome::Failed("build".into()),
                _ => PhaseOutcome::Stopped,
            };
            Event::PhaseEnded { phase: "build".into(), attempt: number, outcome }
        }
    }
}

fn other_event(kind: usize, variant: u32, number: u32) -> Event {
    let port = || "/dev/pts/7".to_owned();
    let levels = [Level::Info, Level::Warning, Level::Error];
    match kind {
        16 => Event::FlashProgress { proposal: ProposalId(number), done: 1, total: 9 },
        17 => {
            let log = log(0, number);
            Event::BuildStarted { build: BuildId(number), log, command: "cc".into() }
        }
        18 => Event::BuildProgress { build: BuildId(number), done: variant, total: 9 },
        20 => Event::LogGrew { log: log(variant, number), bytes: 80, lines: u64::from(variant) },
        21 => Event::BoardConnected(board()),
        22 => Event::BoardLost { port: port(), why: "unplugged".into() },
        23 => Event::SerialOpened { port: port(), log: log(1, number), baud: 115_200 },
        24 => Event::SerialClosed { log: log(1, number), why: "flash".into() },
        25 => Event::PersonSaid { to: Some("A".into()), text: "use GPIO 21".into() },
        26 => Event::Asked {
            question: QuestionId(number),
            agent: None,
            text: "go on?".into(),
            options: vec!["yes".into(), "no".into()],
        },
        27 => Event::Answered { question: QuestionId(number), answer: "yes".into() },
        28 => Event::Paused,
        29 => Event::Unpaused,
        30 => Event::StopRequested,
        _ => {
            let level = levels[variant as usize % levels.len()];
            Event::Noticed { level, notice: error("note") }
        }
    }
}

fn team_fact(variant: u32, number: u32) -> TeamFact {
    match variant % 5 {
        0 => TeamFact::Attached(Document {
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
            TeamFact::PlanMade { by, items: vec![item(Some("A")), item(None)] }
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
            TeamFact::ContextListed { call: CallId(number), files }
        }
        3 => TeamFact::ContextEdited { add: vec![path(number)], remove: vec![path(number + 1)] },
        _ => TeamFact::ArtifactPosted(Artifact {
            number,
            kind: ArtifactKind::ALL[number as usize % ArtifactKind::ALL.len()],
            title: "a build".into(),
            by: Some("A".into()),
            tokens: 12,
        }),
    }
}

fn of_port(variant: u32, number: u32) -> PortEvent {
    match variant % 6 {
        0 => PortEvent::Lost { why: "unplugged".into() },
        1 => PortEvent::Back { millis: 40 },
        2 => PortEvent::Sent { text: "help\n".into(), by: Some("TestAgent".into()) },
        3 => PortEvent::Controlled(match number % 3 {
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
            PortEvent::Panicked {
                line: 4,
                end: 20,
                report: Box::new(PanicReport {
                    kind: PanicKind::Exception,
                    said: "Guru Meditation Error: Core  0 panic'ed (LoadProhibited).".into(),
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
            PortEvent::CoreDumped(CoreDump { name, content: blob(number) })
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
        34..=39 => desk_event(kind, variant, number),
        40 => Event::Port { log: log(1, number), event: of_port(variant, number) },
        41 => Event::Files(of_files(variant, number)),
        _ => other_event(kind, variant, number),
    }
}

/// All kinds, in an order that makes sense.
pub const ORDER: [usize; LAST_KIND + 2] = [
    0, 3, 21, 4, 6, 7, 8, 9, 13, 35, 36, 34, 37, 38, 14, 15, 10, 39, 17, 18, 19, 20, 11, 32, 41,
    25, 8, 12, 16, 23, 40, 24, 26, 27, 28, 29, 33, 31, 5, 22, 30, 2, 1,
];
