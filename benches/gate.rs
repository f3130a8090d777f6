//! What a supervised save costs beside the disk itself: `cargo bench --bench gate`.
//!
//! A save under an allow rule (proposed, decided and synced, written and synced, put in place and
//! its folder synced, settled) is set against the bare calls: append and `fdatasync`, write beside,
//! `fsync`, rename, `fsync` of the folder. Both run on the disk that holds `target`, in alternating
//! rounds, so that a busy disk slows both. Prints medians; without `--bench` it makes one small
//! round, to show that it works. With `-- findings` it measures what the findings about a change of
//! 1,000 lines cost instead.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

#[path = "support/findings.rs"]
mod findings;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use firmhand::config::{Origin as RuleOrigin, Policy, PolicyRule, Ruling};
use firmhand::device::SerialHub;
use firmhand::engine::Recorder;
use firmhand::gate::{ApprovalQueue, Gate, GateParts, NextNumbers, ProposalOrigin};
use firmhand::journal::SessionDir;
use firmhand::model::{
    BoardInfo, BuildId, BuildOutcome, CallId, Draft, DraftChange, FlashPlan, Outcome, ProjectPath,
    Timestamp, TurnId, UserError,
};
use firmhand::toolchain::{BuildJob, BuildReport, FlashOrder, Toolchain};
use firmhand::workspace::ProjectDir;
use futures::future::{BoxFuture, FutureExt};

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (rounds, saves) = if is_bench { (101, 20) } else { (1, 5) };
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let only_findings = std::env::args().any(|arg| arg == "findings");
    if only_findings || !is_bench {
        findings::run(data.path(), if is_bench { 201 } else { 1 });
    }
    if only_findings {
        return;
    }
    let mut supervised = Supervised::new(data.path());
    let mut bare = Bare::new(data.path());
    let mut shares = Vec::new();
    let (mut gate_rates, mut bare_rates) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let ours = supervised.round(saves);
        let disk = bare.round(saves);
        gate_rates.push(rate(saves, ours));
        bare_rates.push(rate(saves, disk));
        shares.push(disk.as_secs_f64() / ours.as_secs_f64() * 100.0);
    }
    println!("saves through the gate: {:.0}/s", median(gate_rates));
    println!("the same bytes by bare calls: {:.0}/s", median(bare_rates));
    println!("share of what the disk permits: {:.0} %", median(shares));
}

fn rate(count: usize, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / time.as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// About what a source file holds; different every time, so that no content is stored already.
fn content(number: usize) -> Vec<u8> {
    let line = format!("static int value_{number} = {number}; /* a line of ordinary length */\n");
    line.repeat(40).into_bytes()
}

/// Every save makes a new file: replacing one deletes its inode, and ext4 without a journal looks
/// through all inodes deleted in the last five seconds before it makes a file, which would measure
/// the bench's own haste.
fn name(number: usize) -> String {
    format!("main/part_{number}.c")
}

struct Supervised {
    runtime: tokio::runtime::Runtime,
    recorder: Arc<Recorder>,
    gate: Gate,
    _desk: ApprovalQueue,
    number: usize,
}

impl Supervised {
    fn new(data: &Path) -> Self {
        let dir = SessionDir::create(data, "bench", Timestamp(0)).unwrap();
        let blobs = dir.blobs();
        let recorder = Arc::new(Recorder::create(dir).unwrap());
        let project = data.join("project");
        fs::create_dir(&project).unwrap();
        let origin = RuleOrigin::User { file: "config.toml".into(), line: 1 };
        let decide = Ruling::Allow;
        let rule = PolicyRule { decide, kind: None, tool: None, agent: None, path: None, origin };
        let desk = ApprovalQueue::default();
        let parts = GateParts {
            ledger: Arc::<Recorder>::clone(&recorder),
            blobs: Arc::new(blobs),
            project_dir: Arc::new(ProjectDir::open(&project).unwrap()),
            toolchain: Arc::new(NoToolchain),
            serial: Arc::new(SerialHub::new(Arc::<Recorder>::clone(&recorder))),
            policy: Arc::new(Policy::new(vec![rule])),
            names: None,
            knowledge: None,
            cancel: firmhand::toolchain::StopSwitch::default(),
        };
        let gate = Gate::new(parts, &desk, NextNumbers::after([]));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { runtime, recorder, gate, _desk: desk, number: 0 }
    }

    fn round(&mut self, saves: usize) -> Duration {
        let began = Instant::now();
        for _ in 0..saves {
            self.number += 1;
            let new = content(self.number);
            let path = ProjectPath::new(&name(self.number)).unwrap();
            let change = DraftChange::Save { path, base: None, content: new };
            let draft = Draft { change, reason: "bench".to_owned(), checks: Vec::new() };
            let origin = ProposalOrigin {
                turn: TurnId(1),
                call: CallId(1),
                agent: "CodeReviewerAgent".into(),
                tool: "generate_code".into(),
            };
            let settled = self.runtime.block_on(self.gate.submit(&origin, vec![draft])).unwrap();
            assert_eq!(settled[0].outcome, Outcome::Applied);
        }
        let time = began.elapsed();
        self.recorder.tick().unwrap();
        time
    }
}

struct Bare {
    journal: File,
    folder: PathBuf,
    number: usize,
}

impl Bare {
    fn new(data: &Path) -> Self {
        let folder = data.join("bare");
        fs::create_dir_all(folder.join("main")).unwrap();
        let journal =
            OpenOptions::new().create(true).append(true).open(data.join("bare.jsonl")).unwrap();
        Self { journal, folder, number: 0 }
    }

    fn round(&mut self, saves: usize) -> Duration {
        // As long as the record of a decision.
        let line = format!("{}\n", "x".repeat(220));
        let began = Instant::now();
        for _ in 0..saves {
            self.number += 1;
            self.journal.write_all(line.as_bytes()).unwrap();
            self.journal.sync_data().unwrap();
            let side_by_side = self.folder.join(".main.c.tmp");
            let mut file = File::create(&side_by_side).unwrap();
            file.write_all(&content(self.number)).unwrap();
            file.sync_all().unwrap();
            fs::rename(&side_by_side, self.folder.join(name(self.number))).unwrap();
            File::open(self.folder.join("main")).unwrap().sync_all().unwrap();
        }
        began.elapsed()
    }
}

/// Saving never asks for one.
struct NoToolchain;

impl Toolchain for NoToolchain {
    fn label(&self) -> String {
        "none".to_owned()
    }

    fn command(&self, _project: &Path) -> String {
        "none".to_owned()
    }

    fn build(&self, _: BuildJob) -> BoxFuture<'_, BuildReport> {
        async { BuildReport { outcome: BuildOutcome::Cancelled, diagnostics: Vec::new() } }.boxed()
    }

    fn plan_flash(&self, _: &Path, _: BuildId, _: Timestamp) -> Result<FlashPlan, UserError> {
        Err(UserError::new("Cannot flash", "there is no toolchain", ""))
    }

    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        async { Err(UserError::new("Cannot flash", "there is no toolchain", "")) }.boxed()
    }
}
