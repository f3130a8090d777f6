//! How long a verdict takes after one file of an ESP-IDF project was touched: the build as the program
//! does it, in its sandbox, with what was found in the output; next to bare `ninja -C build`. At most
//! 1.15 times as long in the median. Rounds of both alternate, so that what else the machine does meets
//! both.
//!
//! In a shell in which `export.sh` of ESP-IDF has run, for a project that was built there once:
//! `FIRMHAND_BENCH_PROJECT=FOLDER cargo bench --bench verdict`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement works on its own files and prints what it found"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use firmhand::model::BuildOutcome;
use firmhand::sandbox::Runner;
use firmhand::toolchain::{BuildJob, BuildSandbox, BuildSink, BuildWalls, IdfToolchain, Toolchain};
use tokio_util::sync::CancellationToken;

/// Builds of each kind.
const ROUNDS: usize = 15;

/// What a build prints goes nowhere.
struct Nowhere;

impl BuildSink for Nowhere {
    fn output(&self, _: &[u8]) {}

    fn progress(&self, _: u32, _: u32) {}
}

fn main() {
    let Some(project) = std::env::var_os("FIRMHAND_BENCH_PROJECT") else {
        println!("nothing measured: FIRMHAND_BENCH_PROJECT names no project");
        return;
    };
    let project = std::fs::canonicalize(project).unwrap();
    let source = std::env::var_os("FIRMHAND_BENCH_FILE");
    let source = source.map_or_else(|| project.join("main/main.c"), PathBuf::from);
    let idf = IdfToolchain::find().unwrap().with_build_sandbox(BuildSandbox {
        runner: Runner::new(env!("CARGO_BIN_EXE_firmhand").into()),
        walls: BuildWalls::On,
        private: Vec::new(),
        writable: Vec::new(),
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let verdict = || assert!(runtime.block_on(build(&idf, &project)));
    verdict();
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(touched(&source, || ninja(&project)));
        ours.push(touched(&source, verdict));
    }
    let (bare, ours) = (median(bare), median(ours));
    println!("ninja    {bare:?}");
    println!("verdict  {ours:?}");
    println!("ratio    {:.3}", ours.as_secs_f64() / bare.as_secs_f64());
}

/// Whether the build passed.
async fn build(idf: &IdfToolchain, project: &Path) -> bool {
    let job = BuildJob {
        project: project.to_owned(),
        board: None,
        sink: Arc::new(Nowhere),
        timeout: Duration::from_secs(600),
        cancel: CancellationToken::new(),
    };
    idf.build(job).await.outcome == BuildOutcome::Passed
}

fn ninja(project: &Path) {
    let mut ninja = Command::new("ninja");
    ninja.arg("-C").arg(project.join("build")).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(ninja.status().unwrap().success());
}

/// How long `work` takes when the file has just changed.
fn touched(file: &Path, work: impl Fn()) -> Duration {
    let file = std::fs::File::options().append(true).open(file).unwrap();
    file.set_modified(SystemTime::now()).unwrap();
    let began = Instant::now();
    work();
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
