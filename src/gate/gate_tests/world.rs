//! A gate over a real folder, with records in memory and a bench in the board's place.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use tokio_util::sync::CancellationToken;

use super::compiled::TestCompiler;
use crate::config::{Origin as RuleOrigin, Policy, PolicyRule, Ruling};
use crate::device::SerialHub;
use crate::gate::{ApprovalQueue, Gate, GateError, GateParts, NextNumbers, ProposalOrigin};
use crate::model::{
    Batch, BatchId, BlobRef, BlobSource, BoardInfo, BuildId, BuildOutcome, CallId, Change,
    ContentHash, Draft, DraftChange, ErasePlan, Event, Facts, FlashImage, FlashPlan, Ledger, LogId,
    Outcome, ProjectPath, Proposal, ProposalEvent, ProposalId, Seq, Settlement, Shown, Timestamp,
    TurnId, UserError, Verdict,
};
use crate::toolchain::syntax::{Finding, SyntaxJob};
use crate::toolchain::{
    BuildJob, BuildReport, CompareOrder, Compared, EraseOrder, FlashOrder, ReadOrder, RewriteOrder,
    Toolchain,
};
use crate::workspace::ProjectDir;

/// Keeps records and contents in memory, and fails when told to.
#[derive(Default)]
pub(super) struct MemoryLedger {
    pub(super) events: Mutex<Vec<Event>>,
    pub(super) blobs: Mutex<BTreeMap<ContentHash, Vec<u8>>>,
    pub(super) broken_at: Mutex<Option<usize>>,
    /// Called when all that may go on beside a decision's way to the disk is done.
    pub(super) on_way: Mutex<Option<OnWay>>,
}

/// Looks at the world while a decision is not yet on the disk.
pub(super) type OnWay = Box<dyn FnMut() + Send>;

impl MemoryLedger {
    /// Puts another content under a hash.
    pub(super) fn damage(&self, hash: ContentHash, content: &[u8]) {
        self.blobs.lock().unwrap().insert(hash, content.to_vec());
    }

    /// Loses a content.
    pub(super) fn forget(&self, content: &[u8]) {
        assert!(self.blobs.lock().unwrap().remove(&ContentHash::of(content)).is_some());
    }
}

impl Ledger for MemoryLedger {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        let mut events = self.events.lock().unwrap();
        if *self.broken_at.lock().unwrap() == Some(events.len()) {
            return Err(UserError::new("Cannot record", "the test says so", ""));
        }
        events.push(event);
        Ok(Seq(events.len() as u64))
    }

    /// As a disk that takes its time, and fails at the end of it.
    fn record_meanwhile(
        &self,
        event: Event,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Seq, UserError> {
        meanwhile();
        if let Some(look) = &mut *self.on_way.lock().unwrap() {
            look();
        }
        self.record(event)
    }

    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        let hash = ContentHash::of(content);
        self.blobs.lock().unwrap().insert(hash, content.to_vec());
        Ok(BlobRef { hash, bytes: content.len() as u64 })
    }

    fn append_log(&self, _: LogId, _: &[u8]) -> Result<(), UserError> {
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

impl BlobSource for MemoryLedger {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let found = self.blobs.lock().unwrap().get(hash).cloned();
        found.map(Arc::from).ok_or_else(|| UserError::new("No blob", hash.to_string(), ""))
    }
}

/// Flashes nothing and counts how often it was asked to; its compiler says what the test says.
#[derive(Default)]
pub(super) struct FakeToolchain {
    pub(super) flashes: Mutex<u32>,
    /// The plan of the last flash.
    pub(super) flashed: Mutex<Option<FlashPlan>>,
    /// What the board answers when it is asked; it is silent without.
    pub(super) compared: Mutex<Option<Compared>>,
    /// The last order to change the settings.
    pub(super) rewritten: Mutex<Option<RewriteOrder>>,
    pub(super) compiler: Mutex<TestCompiler>,
    pub(super) erased: Mutex<Vec<ErasePlan>>,
    /// Whether flashing and erasing go on until they are cancelled.
    pub(super) is_slow: Mutex<bool>,
    /// The partition with the settings.
    pub(super) memory: Mutex<Vec<u8>>,
}

impl Toolchain for FakeToolchain {
    fn label(&self) -> String {
        "test".to_owned()
    }

    fn command(&self, _project: &Path) -> String {
        "none".to_owned()
    }

    fn check_syntax(&self, job: SyntaxJob) -> BoxFuture<'_, Vec<Finding>> {
        let compiler = self.compiler.lock().unwrap().clone();
        async move { compiler.say(&job).await }.boxed()
    }

    fn build(&self, _: BuildJob) -> BoxFuture<'_, BuildReport> {
        let diagnostics = Vec::new();
        async move { BuildReport { outcome: BuildOutcome::Failed, diagnostics } }.boxed()
    }

    fn plan_flash(&self, _: &Path, _: BuildId, _: Timestamp) -> Result<FlashPlan, UserError> {
        Err(UserError::new("No plan", "nothing was built", ""))
    }

    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        *self.flashes.lock().unwrap() += 1;
        *self.flashed.lock().unwrap() = Some(order.plan.clone());
        (order.progress)(1, 2);
        (order.progress)(2, 2);
        let is_slow = *self.is_slow.lock().unwrap();
        async move {
            match is_slow {
                true => Err(stopped(order.cancel).await),
                false => Ok(order.plan.board),
            }
        }
        .boxed()
    }

    fn compare(&self, _: CompareOrder) -> BoxFuture<'_, Result<Compared, UserError>> {
        let silent = || UserError::new("Cannot compare", "the board is silent", "");
        let answer = self.compared.lock().unwrap().clone().ok_or_else(silent);
        async move { answer }.boxed()
    }

    fn read_flash(&self, order: ReadOrder) -> BoxFuture<'_, Result<Vec<u8>, UserError>> {
        let is_slow = *self.is_slow.lock().unwrap();
        async move {
            match is_slow {
                true => Err(stopped(order.cancel).await),
                false => Ok(vec![0xa5; order.plan.region.bytes as usize]),
            }
        }
        .boxed()
    }

    fn rewrite(&self, order: RewriteOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        *self.rewritten.lock().unwrap() = Some(order.clone());
        let mut memory = self.memory.lock().unwrap();
        if let Some(content) = (order.remake)(&memory) {
            *memory = content;
        }
        async move { Ok(order.board) }.boxed()
    }

    fn erase(&self, order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        self.erased.lock().unwrap().push(order.plan.clone());
        let is_slow = *self.is_slow.lock().unwrap();
        async move {
            match is_slow {
                true => Err(stopped(order.cancel).await),
                false => Ok(order.plan.board),
            }
        }
        .boxed()
    }
}

/// Works until it is cancelled, and a little longer.
async fn stopped(cancel: CancellationToken) -> UserError {
    cancel.cancelled().await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    UserError::new("Cannot flash", "it was stopped", "")
}

pub(super) struct GateBench {
    pub(super) folder: tempfile::TempDir,
    pub(super) ledger: Arc<MemoryLedger>,
    pub(super) bench: Arc<FakeToolchain>,
    pub(super) desk: ApprovalQueue,
    pub(super) gate: Arc<Gate>,
}

impl GateBench {
    pub(super) fn new(policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, bench) =
            (Arc::new(MemoryLedger::default()), Arc::new(FakeToolchain::default()));
        let desk = ApprovalQueue::default();
        let gate = gate(folder.path(), &ledger, &bench, policy, &desk);
        Self { folder, ledger, bench, desk, gate }
    }

    pub(super) fn asking() -> Self {
        Self::new(Policy::default())
    }

    pub(super) fn ruled(decide: Ruling) -> Self {
        let origin = RuleOrigin::User { file: "config.toml".into(), line: 1 };
        let rule = PolicyRule { decide, kind: None, tool: None, agent: None, path: None, origin };
        Self::new(Policy::new(vec![rule]))
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Every entry below the project, with the content of the files.
    pub(super) fn everything(&self) -> Entries {
        everything(self.folder.path())
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.ledger.events.lock().unwrap().clone()
    }

    pub(super) fn proposals(&self) -> Vec<Proposal> {
        let proposal = |event| match event {
            Event::Proposal(ProposalEvent::Made(proposal)) => Some(*proposal),
            _ => None,
        };
        self.events().into_iter().filter_map(proposal).collect()
    }

    pub(super) fn submit(&self, drafts: Vec<Draft>) -> tokio::task::JoinHandle<Submitted> {
        let gate = Arc::clone(&self.gate);
        tokio::spawn(async move { gate.submit(&origin(), drafts).await })
    }

    /// Waits until that many proposals are on the desk.
    pub(super) async fn on_desk(&self, count: usize) {
        let waiting = async {
            while self.desk.waiting().len() < count {
                tokio::task::yield_now().await;
            }
        };
        // Only so that a proposal that never comes fails the test instead of hanging it.
        let patience = Duration::from_secs(30);
        tokio::time::timeout(patience, waiting).await.expect("the proposals never came");
    }

    pub(super) fn decide(&self, id: u32, verdict: Verdict) {
        let proposals = self.proposals();
        let proposal = proposals.iter().find(|proposal| proposal.id == ProposalId(id)).unwrap();
        self.desk
            .decide(
                Shown { stops: u32::MAX, ..Shown::whole(ProposalId(id), proposal.change.hash()) },
                verdict,
            )
            .unwrap();
    }

    pub(super) async fn approved(&self, drafts: Vec<Draft>) -> Vec<Outcome> {
        let count = drafts.len();
        let task = self.submit(drafts);
        self.on_desk(count).await;
        for proposal in self.proposals() {
            self.decide(proposal.id.0, Verdict::Approve);
        }
        outcomes(task.await.unwrap())
    }

    pub(super) async fn approved_one(&self, draft: Draft) -> Outcome {
        let task = self.submit(vec![draft]);
        self.on_desk(1).await;
        let id = self.desk.waiting()[0];
        self.decide(id.0, Verdict::Approve);
        outcomes(task.await.unwrap()).remove(0)
    }
}

pub(super) type Entries = Vec<(PathBuf, Option<Vec<u8>>)>;

/// A proposal without checks.
pub(in crate::gate) fn proposal(id: u32, change: Change) -> Proposal {
    Proposal {
        id: ProposalId(id),
        turn: TurnId(1),
        call: CallId(1),
        agent: "CodeReviewerAgent".into(),
        tool: "generate_code".into(),
        reason: String::new(),
        batch: Batch { id: BatchId(1), index: 1, of: 1 },
        change,
        checks: Vec::new(),
        facts: Facts::default(),
    }
}

pub(super) fn everything(folder: &Path) -> Entries {
    let mut all: Vec<_> = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .build()
        .map(|entry| entry.unwrap().into_path())
        .map(|path| (path.clone(), fs::read(path).ok()))
        .collect();
    all.sort();
    all
}

pub(super) type Submitted = Result<Vec<Settlement>, GateError>;

pub(super) fn outcomes(submitted: Submitted) -> Vec<Outcome> {
    submitted.unwrap().into_iter().map(|settlement| settlement.outcome).collect()
}

pub(super) fn gate(
    folder: &Path,
    ledger: &Arc<MemoryLedger>,
    bench: &Arc<FakeToolchain>,
    policy: Policy,
    desk: &ApprovalQueue,
) -> Arc<Gate> {
    let parts = GateParts {
        ledger: Arc::<MemoryLedger>::clone(ledger),
        blobs: Arc::<MemoryLedger>::clone(ledger),
        project_dir: Arc::new(ProjectDir::open(folder).unwrap()),
        toolchain: Arc::<FakeToolchain>::clone(bench),
        serial: Arc::new(SerialHub::new(Arc::<MemoryLedger>::clone(ledger))),
        policy: Arc::new(policy),
        names: None,
        knowledge: None,
        cancel: crate::toolchain::StopSwitch::default(),
    };
    Arc::new(Gate::new(parts, desk, NextNumbers::after([])))
}

pub(super) fn origin() -> ProposalOrigin {
    let (agent, tool) = ("CodeReviewerAgent".into(), "generate_code".into());
    ProposalOrigin { turn: TurnId(1), call: CallId(1), agent, tool }
}

pub(super) fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

pub(super) fn save(file: &str, base: Option<&str>, content: &str) -> Draft {
    let (base, content) = (base.map(|base| base.as_bytes().to_vec()), content.as_bytes().to_vec());
    let change = DraftChange::Save { path: path(file), base, content };
    Draft { change, reason: "because".to_owned(), checks: Vec::new() }
}

pub(super) fn delete(file: &str, base: &str) -> Draft {
    let change = DraftChange::Delete { path: path(file), base: base.as_bytes().to_vec() };
    Draft { change, reason: String::new(), checks: Vec::new() }
}

pub(super) fn flash(simulated: bool, touches_boot: bool) -> Draft {
    let (label, chip) = ("board".to_owned(), "esp32".to_owned());
    let board = BoardInfo { label, chip, port: "/dev/x".to_owned(), simulated };
    let image = FlashImage {
        file: "build/app.bin".to_owned(),
        offset: 0x1000,
        bytes: 100,
        hash: ContentHash::of(b"app"),
        same: false,
    };
    let images = if touches_boot { vec![image] } else { Vec::new() };
    let plan = FlashPlan::new(board, images, BuildId(1), Timestamp(0));
    Draft { change: DraftChange::Flash(plan), reason: String::new(), checks: Vec::new() }
}

pub(super) fn reject(reason: &str) -> Verdict {
    Verdict::reject(reason)
}
