//! Tests of the way from draft to outcome, on a real folder.

mod amended;
mod boards;
mod compiled;
mod interrupted;
mod looked_at;
mod moved;
mod outside;
mod rules;
mod undo;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::{Origin as RuleOrigin, Policy, Rule, Ruling};
use crate::device::SerialHub;
use crate::model::{
    BatchId, BlobRef, BlobSource, BoardInfo, BuildId, BuildOutcome, CallId, CheckKind, CheckStatus,
    ContentHash, DecidedBy, Decision, Draft, DraftChange, ErasePlan, Event, FlashPlan, Ledger,
    LogId, Outcome, ProjectPath, Proposal, ProposalId, Seq, Settlement, Timestamp, TurnId,
    UserError, Verdict,
};
use crate::toolchain::syntax::{Finding, SyntaxJob, no_answer};
use crate::toolchain::{
    BuildJob, BuildReport, EraseOrder, FlashOrder, ReadOrder, RewriteOrder, Toolchain,
};
use crate::workspace::Sandbox;

/// Keeps records and contents in memory, and fails when told to.
#[derive(Default)]
struct Memory {
    events: Mutex<Vec<Event>>,
    blobs: Mutex<BTreeMap<ContentHash, Vec<u8>>>,
    broken_at: Mutex<Option<usize>>,
}

impl Memory {
    /// Puts another content under a hash.
    fn damage(&self, hash: ContentHash, content: &[u8]) {
        self.blobs.lock().unwrap().insert(hash, content.to_vec());
    }
}

impl Ledger for Memory {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        let mut events = self.events.lock().unwrap();
        if *self.broken_at.lock().unwrap() == Some(events.len()) {
            return Err(UserError::new("Cannot record", "the test says so", ""));
        }
        events.push(event);
        Ok(Seq(events.len() as u64))
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

impl BlobSource for Memory {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let found = self.blobs.lock().unwrap().get(hash).cloned();
        found.map(Arc::from).ok_or_else(|| UserError::new("No blob", hash.to_string(), ""))
    }
}

/// Flashes nothing and counts how often it was asked to; its compiler says what the test says.
#[derive(Default)]
struct Bench {
    flashes: Mutex<u32>,
    compiler: Mutex<compiled::Compiler>,
    erased: Mutex<Vec<ErasePlan>>,
    /// The partition with the settings.
    memory: Mutex<Vec<u8>>,
}

impl Toolchain for Bench {
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
        (order.progress)(1, 2);
        (order.progress)(2, 2);
        async move { Ok(order.plan.board) }.boxed()
    }

    fn read_flash(&self, order: ReadOrder) -> BoxFuture<'_, Result<Vec<u8>, UserError>> {
        async move { Ok(vec![0xa5; order.plan.region.bytes as usize]) }.boxed()
    }

    fn rewrite(&self, order: RewriteOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        let mut memory = self.memory.lock().unwrap();
        if let Some(content) = (order.remake)(&memory) {
            *memory = content;
        }
        async move { Ok(order.board) }.boxed()
    }

    fn erase(&self, order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        self.erased.lock().unwrap().push(order.plan.clone());
        async move { Ok(order.plan.board) }.boxed()
    }
}

struct World {
    folder: tempfile::TempDir,
    ledger: Arc<Memory>,
    bench: Arc<Bench>,
    desk: Desk,
    gate: Arc<Gate>,
}

impl World {
    fn new(policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, bench) = (Arc::new(Memory::default()), Arc::new(Bench::default()));
        let desk = Desk::default();
        let gate = gate(folder.path(), &ledger, &bench, policy, &desk);
        Self { folder, ledger, bench, desk, gate }
    }

    fn asking() -> Self {
        Self::new(Policy::default())
    }

    fn ruled(decide: Ruling) -> Self {
        let origin = RuleOrigin::User { file: "config.toml".into(), line: 1 };
        let rule = Rule { decide, kind: None, tool: None, agent: None, path: None, origin };
        Self::new(Policy::new(vec![rule]))
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Every entry below the project, with the content of the files.
    fn everything(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut all: Vec<_> = ignore::WalkBuilder::new(self.folder.path())
            .standard_filters(false)
            .build()
            .map(|entry| entry.unwrap().into_path())
            .map(|path| (path.clone(), fs::read(path).ok()))
            .collect();
        all.sort();
        all
    }

    fn events(&self) -> Vec<Event> {
        self.ledger.events.lock().unwrap().clone()
    }

    fn proposals(&self) -> Vec<Proposal> {
        let proposal = |event| match event {
            Event::Proposed(proposal) => Some(*proposal),
            _ => None,
        };
        self.events().into_iter().filter_map(proposal).collect()
    }

    fn submit(&self, drafts: Vec<Draft>) -> tokio::task::JoinHandle<Submitted> {
        let gate = Arc::clone(&self.gate);
        tokio::spawn(async move { gate.submit(&origin(), drafts).await })
    }

    /// Waits until that many proposals are on the desk.
    async fn on_desk(&self, count: usize) {
        let waiting = async {
            while self.desk.waiting().len() < count {
                tokio::task::yield_now().await;
            }
        };
        // Only so that a proposal that never comes fails the test instead of hanging it.
        let patience = Duration::from_secs(30);
        tokio::time::timeout(patience, waiting).await.expect("the proposals never came");
    }

    fn decide(&self, id: u32, verdict: Verdict) {
        let proposals = self.proposals();
        let proposal = proposals.iter().find(|proposal| proposal.id == ProposalId(id)).unwrap();
        self.desk.decide(ProposalId(id), proposal.change.hash(), verdict, 0).unwrap();
    }

    async fn approved(&self, drafts: Vec<Draft>) -> Vec<Outcome> {
        let count = drafts.len();
        let task = self.submit(drafts);
        self.on_desk(count).await;
        for proposal in self.proposals() {
            self.decide(proposal.id.0, Verdict::Approve);
        }
        outcomes(task.await.unwrap())
    }
}

type Submitted = Result<Vec<Settlement>, GateError>;

fn outcomes(submitted: Submitted) -> Vec<Outcome> {
    submitted.unwrap().into_iter().map(|settlement| settlement.outcome).collect()
}

fn gate(
    folder: &Path,
    ledger: &Arc<Memory>,
    bench: &Arc<Bench>,
    policy: Policy,
    desk: &Desk,
) -> Arc<Gate> {
    let parts = GateParts {
        ledger: Arc::<Memory>::clone(ledger),
        blobs: Arc::<Memory>::clone(ledger),
        sandbox: Arc::new(Sandbox::open(folder).unwrap()),
        toolchain: Arc::<Bench>::clone(bench),
        serial: Arc::new(SerialHub::new(Arc::<Memory>::clone(ledger))),
        policy: Arc::new(policy),
        cancel: CancellationToken::new(),
    };
    Arc::new(Gate::new(parts, desk, Numbers::after([])))
}

fn origin() -> Origin {
    let (agent, tool) = ("CodeReviewerAgent".into(), "generate_code".into());
    Origin { turn: TurnId(1), call: CallId(1), agent, tool }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

fn save(file: &str, base: Option<&str>, content: &str) -> Draft {
    let (base, content) = (base.map(|base| base.as_bytes().to_vec()), content.as_bytes().to_vec());
    let change = DraftChange::Save { path: path(file), base, content };
    Draft { change, reason: "because".to_owned(), checks: Vec::new() }
}

fn delete(file: &str, base: &str) -> Draft {
    let change = DraftChange::Delete { path: path(file), base: base.as_bytes().to_vec() };
    Draft { change, reason: String::new(), checks: Vec::new() }
}

fn flash(simulated: bool, touches_boot: bool) -> Draft {
    let (label, chip) = ("board".to_owned(), "esp32".to_owned());
    let board = BoardInfo { label, chip, port: "/dev/x".to_owned(), simulated };
    let (images, build, built_at) = (Vec::new(), BuildId(1), Timestamp(0));
    let plan = FlashPlan { board, images, touches_boot, build, built_at };
    Draft { change: DraftChange::Flash(plan), reason: String::new(), checks: Vec::new() }
}

fn reject(reason: &str) -> Verdict {
    Verdict::reject(reason)
}

#[tokio::test]
async fn an_approved_file_is_written_after_its_decision_is_recorded() {
    let world = World::asking();
    let applied = world.approved(vec![save("main/src/a.c", None, "int a;\n")]).await;
    assert_eq!(applied, [Outcome::Applied]);
    assert_eq!(world.read("main/src/a.c").as_deref(), Some("int a;\n"));
    let events = world.events();
    assert!(matches!(
        events.as_slice(),
        [Event::Proposed(_), Event::Decided { .. }, Event::Settled { .. }]
    ));
}

#[tokio::test]
async fn nothing_is_written_when_the_decision_cannot_be_recorded() {
    let world = World::ruled(Ruling::Allow);
    *world.ledger.broken_at.lock().unwrap() = Some(1);
    let before = world.everything();
    let result = world.gate.submit(&origin(), vec![save("a.c", None, "x")]).await;
    assert!(matches!(result, Err(GateError::Record(_))));
    assert_eq!(world.everything(), before);
}

#[tokio::test]
async fn the_whole_batch_is_proposed_first_and_decided_in_any_order() {
    let world = World::asking();
    let task =
        world.submit(vec![save("a.c", None, "a"), save("b.c", None, "b"), save("c.c", None, "c")]);
    world.on_desk(3).await;
    assert_eq!(world.events().len(), 3);
    world.decide(3, Verdict::Approve);
    while world.read("c.c").is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.desk.waiting(), [ProposalId(1), ProposalId(2)]);
    world.decide(1, reject("not this one"));
    world.decide(2, Verdict::Approve);
    let settled = task.await.unwrap().unwrap();
    let ids: Vec<u32> = settled.iter().map(|settlement| settlement.proposal.0).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(settled[0].decision.verdict, reject("not this one"));
    assert_eq!((world.read("a.c"), world.read("b.c").as_deref()), (None, Some("b")));
}

#[tokio::test]
async fn a_decision_on_something_else_is_refused() {
    let world = World::asking();
    let task = world.submit(vec![save("a.c", None, "a")]);
    world.on_desk(1).await;
    let wrong = world.desk.decide(ProposalId(1), ContentHash::of(b"other"), Verdict::Approve, 0);
    assert_eq!(wrong, Err(DeskError::HashMismatch(ProposalId(1))));
    world.decide(1, reject(""));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(world.read("a.c"), None);
}

#[tokio::test]
async fn every_kind_of_denial_leaves_the_disk_as_it_was() {
    for end in ["reject", "close", "lost", "policy"] {
        let mut world = if end == "policy" { World::ruled(Ruling::Deny) } else { World::asking() };
        world.write("old.c", "old");
        let before = world.everything();
        let drafts = vec![
            save("new/deep/a.c", None, "a"),
            save("old.c", Some("old"), "new"),
            delete("old.c", "old"),
        ];
        let task = world.submit(drafts);
        if end != "policy" {
            world.on_desk(3).await;
        }
        match end {
            "reject" => (1..=3).for_each(|id| world.decide(id, reject("no"))),
            "close" => world.desk.close("the run was stopped"),
            "lost" => world.desk = Desk::default(),
            _ => {}
        }
        let settled = task.await.unwrap().unwrap();
        assert!(settled.iter().all(|settled| settled.outcome == Outcome::Denied), "{end}");
        let nobody = settled.iter().all(|s| matches!(s.decision.by, DecidedBy::Nobody(_)));
        assert_eq!(nobody, end == "close" || end == "lost", "{end}");
        assert_eq!(world.everything(), before, "{end}");
    }
}

#[tokio::test]
async fn leaving_records_nothing_and_writes_nothing() {
    let world = World::asking();
    let task = world.submit(vec![save("a.c", None, "a")]);
    world.on_desk(1).await;
    world.desk.detach();
    assert_eq!(task.await.unwrap(), Err(GateError::Detached));
    assert_eq!(world.events().len(), 1);
    assert_eq!(world.read("a.c"), None);
}

impl World {
    async fn approved_one(&self, draft: Draft) -> Outcome {
        let task = self.submit(vec![draft]);
        self.on_desk(1).await;
        let id = self.desk.waiting()[0];
        self.decide(id.0, Verdict::Approve);
        outcomes(task.await.unwrap()).remove(0)
    }
}

#[tokio::test]
async fn a_failed_write_keeps_the_old_file_and_leaves_nothing_behind() {
    let world = World::asking();
    world.write("main/a.c", "old");
    world.write("plain", "file");
    fs::create_dir(world.path("main/folder.c")).unwrap();
    let before = world.everything();
    for draft in [save("plain/x.c", None, "x"), save("main/folder.c", None, "x")] {
        let outcome = world.approved_one(draft).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
        assert_eq!(world.everything(), before);
    }
}

#[tokio::test]
async fn a_read_only_folder_is_told_plainly() {
    let world = World::asking();
    world.write("main/a.c", "old");
    let folder = world.path("main");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere; then the file is expected to be written instead.
    let is_superuser = fs::write(folder.join("probe"), "").is_ok();
    let outcome = world.approved_one(save("main/a.c", Some("old"), "new")).await;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if is_superuser {
        assert_eq!(outcome, Outcome::Applied);
        return;
    }
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.fix.contains("writable"), "{error:?}");
    assert_eq!(world.read("main/a.c").as_deref(), Some("old"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn permissions_survive_an_edit_and_a_leftover_is_no_obstacle() {
    let world = World::asking();
    world.write("tool.sh", "old");
    fs::set_permissions(world.path("tool.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let leftover = format!(".firmhand-1-{}.tmp", ContentHash::of(b"new").short());
    world.write(&leftover, "half");
    let outcome = world.approved_one(save("tool.sh", Some("old"), "new")).await;
    assert_eq!(outcome, Outcome::Applied);
    let mode = fs::metadata(world.path("tool.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(world.read(&leftover), None);
}

#[tokio::test]
async fn no_rule_approves_a_flash_of_a_real_board() {
    let world = World::ruled(Ruling::Allow);
    for draft in [flash(false, false), flash(true, true), flash(false, true)] {
        let task = world.submit(vec![draft]);
        world.on_desk(1).await;
        let id = world.desk.waiting()[0];
        world.decide(id.0, reject("no"));
        assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    }
    assert_eq!(*world.bench.flashes.lock().unwrap(), 0);
    let settled = world.gate.submit(&origin(), vec![flash(true, false)]).await;
    assert_eq!(outcomes(settled), [Outcome::Applied]);
    assert_eq!(*world.bench.flashes.lock().unwrap(), 1);
    let events = world.events();
    assert!(events.iter().any(|event| matches!(event, Event::BoardConnected(_))));
    assert!(events.iter().any(|e| matches!(e, Event::FlashProgress { done: 2, total: 2, .. })));
}
