//! The tools with a toolchain that ends every build as told, and a pseudo-terminal in the board's
//! place.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

use crate::config::assets::Assets;
use crate::device::{Pty, SerialHub};
use crate::knowledge::{Knowledge, NameList};
use crate::model::{
    BlobRef, BoardEvent, BoardInfo, BuildId, BuildOutcome, ContentHash, DecidedBy, Decision,
    Diagnostic, Event, FlashImage, FlashPlan, Ledger, LogId, Memory, MemoryUse, Outcome,
    ProgramSize, ProposalId, Record, Seq, Settlement, Severity, Timestamp, ToolName, UserError,
    Verdict,
};
use crate::toolchain::{BuildJob, BuildReport, FlashOrder, StopSwitch, Toolchain};
use crate::tools::{AnswerLimits, Registry, Reply, SharedState, ToolContext, ToolError};
use crate::workspace::ProjectDir;

/// Keeps what is recorded and folds it as the recorder does.
#[derive(Default)]
pub(super) struct RecordingLedger {
    pub(super) events: Mutex<Vec<Event>>,
    pub(super) logs: Mutex<BTreeMap<LogId, Vec<u8>>>,
    state: SharedState,
}

impl Ledger for RecordingLedger {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        let record = Record { v: 1, seq: Seq(1), at: Timestamp(7), event: event.clone() };
        self.state.fold(&record);
        self.events.lock().unwrap().push(event);
        Ok(Seq(1))
    }

    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        Err(UserError::new("Cannot store", format!("{} bytes", content.len()), ""))
    }

    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        self.logs.lock().unwrap().entry(log).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

/// Ends every build as told.
pub(super) struct FixedBuild {
    report: BuildReport,
    board: BoardInfo,
    looks: AtomicU64,
    /// Whose flash can be had.
    pub(super) flash: Mutex<Result<BoardInfo, UserError>>,
}

impl Toolchain for FixedBuild {
    fn label(&self) -> String {
        "recorded".to_owned()
    }

    fn command(&self, _project: &std::path::Path) -> String {
        "make".to_owned()
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        async move {
            for step in 1..=1000 {
                job.sink.output(format!("[{step}/1000] \x1b[32mstep\x1b[0m\n").as_bytes());
                job.sink.progress(step, 1000);
            }
            self.report.clone()
        }
        .boxed()
    }

    /// A program that grows by ten bytes with every look.
    fn size(&self, _: &std::path::Path) -> Option<ProgramSize> {
        let bytes = 1000 + 10 * self.looks.fetch_add(1, Ordering::SeqCst);
        let uses = vec![MemoryUse { memory: Memory::Flash, bytes, of: Some(4096) }];
        Some(ProgramSize { program: "a.elf".into(), host: String::new(), uses })
    }

    fn plan_flash(
        &self,
        _: &std::path::Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        let hash = ContentHash::of(b"image");
        let image =
            FlashImage { file: "build/a.bin".into(), offset: 0x10000, bytes: 5, hash, same: false };
        let board = self.board.clone();
        Ok(FlashPlan::new(board, vec![image], build, built_at))
    }

    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        async { Ok(self.board.clone()) }.boxed()
    }

    fn erasable(&self, _: &std::path::Path) -> Result<BoardInfo, UserError> {
        self.flash.lock().unwrap().clone()
    }
}

pub(super) struct BoardBench {
    pub(super) folder: tempfile::TempDir,
    pub(super) kept: Arc<RecordingLedger>,
    pub(super) cancel: StopSwitch,
    pub(super) builds: Arc<FixedBuild>,
    pub(super) registry: Registry,
    /// The board's end of its port.
    pub(super) master: std::fs::File,
    pub(super) board: BoardInfo,
}

impl BoardBench {
    pub(super) fn new(outcome: BuildOutcome, diagnostics: Vec<Diagnostic>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = Arc::new(RecordingLedger::default());
        let Pty { board: master, port, .. } = Pty::open().unwrap();
        let (label, chip) = ("virtual board".to_owned(), "esp32".to_owned());
        let board = BoardInfo { label, chip, port, simulated: true };
        let cancel = StopSwitch::default();
        let ledger: Arc<dyn Ledger> = kept.clone();
        let report = BuildReport { outcome, diagnostics };
        let (looks, flash) = (AtomicU64::new(0), Mutex::new(Ok(board.clone())));
        let builds = Arc::new(FixedBuild { report, board: board.clone(), looks, flash });
        let context = ToolContext {
            project_dir: Arc::new(ProjectDir::open(folder.path()).unwrap()),
            ledger: Arc::clone(&ledger),
            state: kept.state.clone(),
            knowledge: Arc::new(
                Knowledge::new([("a.md", "---\ntitle: A\nsource: b\n---\n## C\nd\n")]).unwrap(),
            ),
            names: Arc::new(
                NameList::parse("names.txt", "source: x\nheader a.h a\ncomponent a\n").unwrap(),
            ),
            assets: Assets::built_in(),
            toolchain: builds.clone(),
            runner: crate::sandbox::Runner::of_this_program(),
            contents: None,
            serial: Arc::new(SerialHub::new(ledger)),
            limits: AnswerLimits { diagnostics: 3, ..AnswerLimits::default() },
            cancel: cancel.clone(),
        };
        let registry = Registry::new(&context);
        Self { folder, kept, cancel, builds, registry, master, board }
    }

    pub(super) async fn call(&self, tool: &str, args: Value) -> Result<Reply, ToolError> {
        self.registry.get(&ToolName::from(tool)).unwrap().call(args).await
    }

    pub(super) async fn answer(&self, tool: &str, args: Value) -> Value {
        match self.call(tool, args).await {
            Ok(Reply::Answer(answer)) => answer,
            Ok(Reply::Propose { .. }) => panic!("{tool} proposed something"),
            Err(error) => error.to_answer(),
        }
    }

    /// Builds and flashes, as if the person had approved.
    pub(super) async fn flashed(&self) -> Value {
        self.answer("build_project", json!({})).await;
        let reply = self.call("flash_project", json!({})).await;
        let Ok(Reply::Propose { finish, .. }) = reply else { panic!("no proposal") };
        self.kept.record(Event::Board(BoardEvent::Connected(self.board.clone()))).unwrap();
        let settlement = settlement(Verdict::Approve, Outcome::Applied);
        finish(vec![settlement]).await.unwrap()
    }

    pub(super) fn prints(&self, text: &str) {
        (&self.master).write_all(text.as_bytes()).unwrap();
    }
}

pub(super) fn settlement(verdict: Verdict, outcome: Outcome) -> Settlement {
    let by = DecidedBy::Person;
    let decision = Decision { verdict, by, shown: ContentHash::of(b""), unseen: 0, stops: 0 };
    Settlement { proposal: ProposalId(1), decision, outcome }
}

pub(super) fn finding(severity: Severity, line: u32) -> Diagnostic {
    let (file, message) = (Some("main/main.c".to_owned()), "no".to_owned());
    Diagnostic { file, line: Some(line), column: None, severity, message, hint: String::new() }
}
