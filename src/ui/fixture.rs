//! A session in memory, for the tests of the screen: always the same.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use serde_json::json;

use crate::config::Assets;
use crate::model::event::{ProjectFile, SessionStart};
use crate::model::*;
use crate::model::{
    BuildEvent, FilesEvent, LogEvent, PersonEvent, PhaseEvent, ProposalEvent, SessionEvent,
    TurnEvent,
};
use crate::view::SessionView;

use super::{
    Arrangement, Depth, Keymap, Mode, ModelOffer, Theme, ThemeState, Ui, UiCommand, UiSetup,
};

/// When the session began, in milliseconds since 1970.
const START: i64 = 1_700_000_000_000;

/// What a session keeps, in memory.
#[derive(Default)]
pub(super) struct SessionStore {
    blobs: Mutex<HashMap<ContentHash, Vec<u8>>>,
    logs: Mutex<HashMap<LogId, Vec<u8>>>,
    records: Mutex<Vec<Record>>,
}

impl BlobSource for SessionStore {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let blobs = self.blobs.lock().unwrap();
        let missing = || UserError::new("cannot show it", "its content is missing", "");
        blobs.get(hash).map(|bytes| bytes.as_slice().into()).ok_or_else(missing)
    }
}

impl LogSource for SessionStore {
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let logs = self.logs.lock().unwrap();
        let bytes = logs.get(&log).map(Vec::as_slice).unwrap_or_default();
        let end = usize::try_from(range.end).unwrap().min(bytes.len());
        Ok(bytes.get(usize::try_from(range.start).unwrap()..end).unwrap_or_default().to_vec())
    }
}

impl EventSource for SessionStore {
    fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
        let records = self.records.lock().unwrap();
        Ok(records.iter().filter(|record| range.contains(&record.seq.0)).cloned().collect())
    }
}

impl FileSource for SessionStore {
    fn file_start(&self, path: &ProjectPath, _: u64) -> Result<FileStart, UserError> {
        let text = format!("/* {path} */\n#include \"i2c_scan.h\"\n");
        Ok(FileStart { total: text.len() as u64, bytes: text.repeat(20).into_bytes() })
    }
}

/// A session and the screen before it.
pub(super) struct UiBench {
    pub store: Arc<SessionStore>,
    pub view: SessionView,
    pub ui: Ui,
    /// The desk's own time: it moves only when told to.
    pub now: Instant,
    at: i64,
    size: Size,
    changed: bool,
}

/// A model that can be chosen.
fn offer(profile: &str) -> ModelOffer {
    ModelOffer { profile: profile.into(), label: format!("{profile}-model (openai)") }
}

impl UiBench {
    pub fn new(width: u16, height: u16, mode: Mode) -> Self {
        let store = Arc::new(SessionStore::default());
        let (theme, keymap) = looks();
        let size = Size { width, height };
        let ui = Ui::new(UiSetup {
            looks: ThemeState {
                theme,
                name: "dark".into(),
                names: vec!["dark".into(), "nord".into()],
            },
            keymap,
            arrangement: Arrangement::default(),
            mode,
            size,
            blobs: Arc::clone(&store) as Arc<dyn BlobSource>,
            logs: Arc::clone(&store) as Arc<dyn LogSource>,
            events: Arc::clone(&store) as Arc<dyn EventSource>,
            models: ["strong", "cheap"].map(offer).into(),
            history: Vec::new(),
            files: Some(Arc::clone(&store) as Arc<dyn FileSource>),
        });
        let now = Instant::now();
        let view = SessionView::default();
        Self { store, view, ui, now, at: START, size, changed: true }
    }

    /// A desk with [`UiBench::begin`] and [`UiBench::work`] behind it.
    pub fn at_work(width: u16, height: u16) -> Self {
        let mut desk = Self::new(width, height, Mode::Live);
        desk.begin();
        desk.work();
        desk.sync();
        desk
    }

    /// Records a fact, some milliseconds after the one before.
    pub fn record(&mut self, after: i64, event: Event) {
        self.at += after;
        let record = Record { v: 1, seq: self.view.seq.next(), at: Timestamp(self.at), event };
        self.view.apply(&record);
        self.store.records.lock().unwrap().push(record);
        self.changed = true;
    }

    pub fn store_blob(&self, content: &str) -> BlobRef {
        let hash = ContentHash::of(content.as_bytes());
        self.store.blobs.lock().unwrap().insert(hash, content.as_bytes().to_vec());
        BlobRef { hash, bytes: content.len() as u64 }
    }

    /// Appends to a log and records its length.
    pub fn log(&mut self, log: LogId, text: &str) {
        let (bytes, lines) = {
            let mut logs = self.store.logs.lock().unwrap();
            let kept = logs.entry(log).or_default();
            kept.extend_from_slice(text.as_bytes());
            (kept.len() as u64, kept.iter().filter(|byte| **byte == b'\n').count() as u64)
        };
        self.record(10, Event::Log(LogEvent::Grew { log, bytes, lines }));
    }

    /// Lets time pass and brings the screen up to date.
    pub fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.sync();
    }

    pub fn sync(&mut self) {
        self.ui.sync(&self.view, None, self.now);
        self.changed = false;
        self.screen();
    }

    /// The same for a replay that stands at its end.
    pub fn sync_replay(&mut self) {
        let last = self.view.seq;
        let place = TimelineView { last, position: last, ..TimelineView::default() };
        self.ui.sync(&self.view, Some(&place), self.now);
        self.screen();
    }

    /// Presses keys, written as in a keymap, each after a pause and a frame.
    pub fn press(&mut self, keys: &str) -> Vec<UiCommand> {
        let press = |key| {
            let mut commands = self.press_after(key, 1000);
            commands.extend(self.rest());
            commands
        };
        keys.split_whitespace().flat_map(press).collect()
    }

    /// Presses one key after some milliseconds; what it decides comes with what is next.
    pub fn press_after(&mut self, key: &str, millis: u64) -> Vec<UiCommand> {
        self.event_after(&TerminalEvent::Key(key_event(key)), millis)
    }

    /// An event some milliseconds after the one before.
    fn event_after(&mut self, event: &TerminalEvent, millis: u64) -> Vec<UiCommand> {
        let at = self.now + Duration::from_millis(millis);
        let mut commands = self.pass_to(at);
        commands.extend(self.event(event));
        commands
    }

    /// Lets time pass as the loop of the program does, which deals with what is due first.
    fn pass_to(&mut self, at: Instant) -> Vec<UiCommand> {
        let mut commands = Vec::new();
        while let Some(due) = self.ui.bench.deciding.settles_at().filter(|due| *due <= at) {
            self.now = due;
            commands.extend(self.ui.settle(&self.view, due));
            self.sync();
        }
        self.now = at;
        commands
    }

    /// Nothing more is pressed for a while: a deciding key takes effect.
    pub fn rest(&mut self) -> Vec<UiCommand> {
        self.ui.bench.deciding.settles_at().map_or_else(Vec::new, |due| self.pass_to(due))
    }

    /// Types text, one character each 50 ms.
    pub fn type_text(&mut self, text: &str) -> Vec<UiCommand> {
        let mut commands = Vec::new();
        for c in text.chars() {
            let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            commands.extend(self.event_after(&TerminalEvent::Key(key), 50));
        }
        commands
    }

    pub fn event(&mut self, event: &TerminalEvent) -> Vec<UiCommand> {
        if let TerminalEvent::Resize(width, height) = event {
            self.size = Size { width: *width, height: *height };
        }
        let commands = self.ui.on_event(event, &self.view, self.now);
        self.screen();
        commands
    }

    /// The screen with its looks.
    pub fn buffer(&self) -> Buffer {
        let backend = TestBackend::new(self.size.width, self.size.height);
        let mut terminal = Terminal::new(backend).unwrap();
        terminal.draw(|frame| self.ui.draw(frame, &self.view)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        let buffer = self.buffer();
        let row = |y| {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..self.size.width {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                skip = super::line::width(symbol).saturating_sub(1);
                row.push_str(symbol);
            }
            row.trim_end().to_owned()
        };
        (0..self.size.height).map(row).collect::<Vec<_>>().join("\n")
    }

    pub fn last_row(&self) -> String {
        self.screen().lines().last().unwrap_or_default().trim().to_owned()
    }
}

/// The built-in theme and keymap, read once for all tests.
fn looks() -> (Theme, Keymap) {
    static LOOKS: OnceLock<(Theme, Keymap)> = OnceLock::new();
    let load = || {
        let assets = Assets::built_in();
        let theme = Theme::load(&assets, "dark", Depth::True).unwrap();
        (theme, Keymap::load(&assets, "default").unwrap())
    };
    LOOKS.get_or_init(load).clone()
}

fn key_event(key: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut name = key;
    for (prefix, modifier) in [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ] {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest;
            modifiers |= modifier;
        }
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "space" => KeyCode::Char(' '),
        _ => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

const BEFORE: &str = "\
#include \"i2c_scan.h\"
#include \"driver/gpio.h\"
#include \"esp_log.h\"

static const char *TAG = \"scan\";

void i2c_scan(void)
{
    for (int address = 1; address < 127; address++) {
        if (i2c_master_probe(bus, address, 50) == ESP_OK) {
            ESP_LOGI(TAG, \"found 0x%02x\", address);
        }
    }
}
";

impl UiBench {
    /// The session begins: files, a phase, a first turn with a call that is done.
    pub fn begin(&mut self) {
        self.record(
            0,
            Event::Session(SessionEvent::Started(Box::new(SessionStart {
                id: SessionId::new("2026-01-02-i2c-scan"),
                task: "Scan the I2C bus and log what answers".into(),
                team: "generate".into(),
                project: "/projects/i2c-scan".into(),
                model: "scripted model".into(),
                toolchain: "virtual board".into(),
                program: "0.1.0".into(),
                ..empty_start()
            }))),
        );
        let file = |name: &str, bytes| ProjectFile { path: path(name), bytes };
        let files = vec![
            file("CMakeLists.txt", 182),
            file("main/CMakeLists.txt", 94),
            file("main/include/i2c_scan.h", 121),
            file("main/src/i2c_scan.c", 366),
            file("main/src/main.c", 1_204),
            file("sdkconfig.defaults", 40),
        ];
        self.record(
            5,
            Event::Files(FilesEvent::Listed { files, omitted: 0, signatures: Vec::new() }),
        );
        self.phase("build", "build & fix", 2, 10);
        let reason = "the files are saved and nothing was built yet".into();
        let (agent, choice, step) = ("BuildAgent".into(), None, None);
        let chosen = TurnEvent::SpeakerChosen { agent, reason, choice, step };
        self.record(20, Event::Turn(chosen));
        let (turn, agent) = (TurnId(1), "BuildAgent".into());
        self.record(9, Event::Turn(TurnEvent::Started { turn, agent, step }));
        self.call(1, 1, "build_project", json!({"target": "esp32"}));
        self.build();
        let error = json!({
            "file": "main/src/i2c_scan.c", "line": 10, "column": 13, "severity": "error",
            "message": "implicit declaration of function 'i2c_master_probe'",
            "hint": "include driver/i2c_master.h",
        });
        let result = json!({"ok": false, "errors": [error], "warnings": [],
            "error": {"code": "build_failed", "message": "the build failed"}});
        self.record(
            0,
            Event::Turn(TurnEvent::ToolAnswered { call: CallId(1), result, millis: 3_249 }),
        );
        let usage = Usage { input: 38_100, output: 3_136, ..Usage::default() };
        self.record(
            5,
            Event::Turn(TurnEvent::ModelAnswered { turn: TurnId(1), usage, state: None }),
        );
        self.record(5, Event::Turn(TurnEvent::Ended { turn: TurnId(1), stop: TurnStop::Done }));
    }

    fn phase(&mut self, phase: &str, title: &str, attempt: u32, max_attempts: u32) {
        let (phase, title, step) = (phase.into(), title.into(), None);
        let started = PhaseEvent::Started { phase, title, attempt, max_attempts, step };
        self.record(10, Event::Phase(started));
    }

    pub fn call(&mut self, turn: u32, call: u32, tool: &str, args: serde_json::Value) {
        let (turn, call) = (TurnId(turn), CallId(call));
        self.record(
            100,
            Event::Turn(TurnEvent::ToolCalled { turn, call, tool: tool.into(), args }),
        );
    }

    fn build(&mut self) {
        let (build, log) = (BuildId(1), LogId { kind: LogKind::Build, number: 1 });
        self.record(
            10,
            Event::Build(BuildEvent::Started { build, log, command: "idf.py build".into() }),
        );
        self.log(
            log,
            "[1/3] Building C object main.c.obj\n[2/3] Building C object i2c_scan.c.obj\n",
        );
        self.log(log, "main/src/i2c_scan.c:10:13: error: implicit declaration of function 'i2c_master_probe'\nninja: build stopped\n");
        let diagnostics = vec![Diagnostic {
            file: Some("main/src/i2c_scan.c".into()),
            line: Some(10),
            column: Some(13),
            severity: Severity::Error,
            message: "implicit declaration of function 'i2c_master_probe'".into(),
            hint: "include driver/i2c_master.h".into(),
        }];
        let outcome = BuildOutcome::Failed;
        self.record(
            3_200,
            Event::Build(BuildEvent::Ended {
                build,
                outcome,
                diagnostics,
                millis: 3_220,
                size: None,
            }),
        );
    }

    /// The next agent speaks, and proposes a change.
    pub fn work(&mut self) {
        let agent: AgentName = "CodeFixerAgent".into();
        let reason = "the build failed and nobody has looked at it".into();
        self.record(
            8,
            Event::Turn(TurnEvent::SpeakerChosen {
                agent: agent.clone(),
                reason,
                choice: None,
                step: None,
            }),
        );
        self.record(4, Event::Turn(TurnEvent::Started { turn: TurnId(2), agent, step: None }));
        let text = "The scan uses the **master** driver, but its header is missing. I add \
            `driver/i2c_master.h` and drop one that is unused:\n\n```c\n#include \"driver/i2c_master.h\"\n```\n";
        self.record(900, Event::Turn(TurnEvent::TextAdded { turn: TurnId(2), text: text.into() }));
    }

    /// A change of one file, waiting for the person.
    pub fn propose(&mut self, number: u32) -> Proposal {
        let after = BEFORE.replace("driver/gpio.h", "driver/i2c_master.h");
        let code = json!({"files": [{"file_name": "main/src/i2c_scan.c", "code": after}]});
        self.call(2, 1 + number, "generate_code", code);
        let change = Change::Save {
            path: path("main/src/i2c_scan.c"),
            base: Some(self.store_blob(BEFORE)),
            content: self.store_blob(&after),
        };
        let passed = Check::clean;
        let proposal = Proposal {
            id: ProposalId(number),
            turn: TurnId(2),
            call: CallId(1 + number),
            agent: "CodeFixerAgent".into(),
            tool: "generate_code".into(),
            reason: "adds the header that the build asked for".into(),
            batch: Batch { id: BatchId(number), index: 1, of: 1 },
            change,
            checks: vec![passed(CheckKind::Parses), passed(CheckKind::InProject)],
            facts: Facts::default(),
        };
        self.record(40, Event::Proposal(ProposalEvent::Made(Box::new(proposal.clone()))));
        proposal
    }

    /// A question with three options.
    pub fn ask(&mut self) {
        let options = vec!["Only the address".into(), "Address and name".into(), "Nothing".into()];
        self.record(
            10,
            Event::Person(PersonEvent::Asked {
                question: QuestionId(1),
                agent: Some("CodeFixerAgent".into()),
                text: "What should be logged for each device?".into(),
                options,
                step: None,
            }),
        );
    }

    pub fn end(&mut self, outcome: SessionOutcome) {
        self.record(10, Event::Turn(TurnEvent::Ended { turn: TurnId(2), stop: TurnStop::Done }));
        self.record(10, Event::Session(SessionEvent::Ended { outcome }));
    }
}

/// A start of which the interesting fields are set by whoever uses it.
fn empty_start() -> SessionStart {
    serde_json::from_value(json!({
        "id": "", "task": "", "team": "", "project": "", "model": "", "toolchain": "", "program": ""
    }))
    .unwrap()
}
