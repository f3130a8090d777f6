//! What the sandbox around a program costs, and how exactly its walls stand:
//!
//! - the time from the order until the program has ended, less what the same program takes without
//!   it: at most 15 ms in the median on a machine that is idle;
//! - the time and the memory that a program has had when a wall ends it, against its limits: within
//!   5 %;
//! - `run_tests` on a suite of 100 tests against the same tests without it: the ratio.
//!
//! `cargo bench --bench sandbox`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement works on its own files and prints what it found"
)]

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use firmhand::sandbox::{Ends, Limits, RunReport, Runner, Wall, Walls, programs};

/// Starts of each kind.
const STARTS: usize = 200;

/// Runs into one wall.
const WALLS: usize = 5;

/// Runs of the suite, with the sandbox and without.
const SUITES: usize = 9;

/// Programs in the order in which they are looked for.
const SHELL: &str = "/bin/sh";
const NOTHING: &str = "/bin/true";

/// A suite of 100 tests of a module with some work in it.
const MODULE: &str = "def pump(ticks):\n    return sum(i * i % 7 for i in range(ticks))\n";

fn main() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_firmhand"));
    let runner = Runner::new(program.clone());
    println!("walls: {}", runner.protection().level);
    let folder = tempfile::tempdir().unwrap();
    start_up(&runner, folder.path());
    time_walls(&runner, folder.path());
    memory_walls(&runner, folder.path());
    suite(&program);
}

/// The cost of a start, in pairs, so that a change of the machine's load meets both.
fn start_up(runner: &Runner, folder: &Path) {
    let walls = walls(folder, NOTHING, &[]);
    let (mut without, mut within) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        without.push(timed(|| assert!(Command::new(NOTHING).status().unwrap().success())));
        within.push(timed(|| {
            run(runner, &walls);
        }));
    }
    let (without, within) = (median(without), median(within));
    let cost = within.saturating_sub(without);
    println!("start-up: without {without:?}, within {within:?}, cost {cost:?} (goal 15 ms)");
}

/// A loop that never ends, against limits of time.
fn time_walls(runner: &Runner, folder: &Path) {
    for millis in [500, 1_000, 2_000, 5_000] {
        let mut walls = walls(folder, SHELL, &["-c", "while :; do :; done"]);
        let limit = Duration::from_millis(millis);
        walls.limits.time = Some(limit);
        let reports: Vec<RunReport> = (0..WALLS).map(|_| run(runner, &walls)).collect();
        let all = reports.iter().all(|report| report.wall == Some(Wall::Time));
        let took = median(reports.iter().map(|report| report.took).collect());
        let ratio = took.as_secs_f64() / limit.as_secs_f64();
        println!(
            "time {limit:?}: ended after {took:?}, ratio {ratio:.3} (goal 0.95-1.05), all at the wall: {all}"
        );
    }
}

/// A program that takes memory until it is ended, against limits of memory.
fn memory_walls(runner: &Runner, folder: &Path) {
    let Some(python) = python() else {
        println!("memory: Python was not found, not measured");
        return;
    };
    let hungry = "import sys\nkept = []\nwhile True:\n    kept.append(bytearray(b'x') * (1 << 18))";
    for mebibytes in [64_u64, 128, 256, 512] {
        let mut walls = walls(folder, &python, &["-c", hungry]);
        walls
            .reads
            .extend(asked_of(&python, "import sys; print(sys.base_prefix)").map(PathBuf::from));
        walls.limits.memory = mebibytes << 20;
        let reports: Vec<RunReport> = (0..WALLS).map(|_| run(runner, &walls)).collect();
        let all = reports.iter().all(|report| report.wall == Some(Wall::Memory));
        let mut peaks: Vec<u64> = reports.iter().map(|report| report.peak).collect();
        peaks.sort_unstable();
        let peak = peaks[WALLS / 2];
        let ratio = peak as f64 / (mebibytes << 20) as f64;
        println!(
            "memory {mebibytes} MiB: peak {} KiB, ratio {ratio:.3} (goal 0.95-1.05), all at the wall: {all}",
            peak >> 10
        );
    }
}

/// The tool against the runner of tests that it uses.
fn suite(program: &Path) {
    let Some(python) = python() else { return };
    let (project, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut tests =
        String::from("import unittest\nfrom pump import pump\n\nclass Pump(unittest.TestCase):\n");
    for test in 0..100 {
        tests += &format!(
            "    def test_{test:03}(self):\n        self.assertGreaterEqual(pump({test}), 0)\n\n"
        );
    }
    fs::write(project.path().join("pump.py"), MODULE).unwrap();
    fs::write(project.path().join("test_pump.py"), tests).unwrap();
    let has =
        Command::new(&python).args(["-m", "pytest", "--version"]).stderr(Stdio::null()).output();
    let name = if has.is_ok_and(|output| output.status.success()) { "pytest" } else { "unittest" };
    let mut trust = Command::new(program);
    trust.arg("trust").arg(project.path()).env("HOME", home.path());
    assert!(quiet(&mut trust).success());
    let plain = || {
        let mut ran = Command::new(&python);
        assert!(quiet(ran.args(["-m", name]).current_dir(project.path())).success());
    };
    let args = r#"{"language":"python"}"#;
    let tool = || {
        let mut ran = Command::new(program);
        ran.args(["tool", "run_tests", "--args", args]).env("HOME", home.path());
        assert!(quiet(ran.current_dir(project.path())).success());
    };
    let (mut plains, mut tools) = (Vec::new(), Vec::new());
    for _ in 0..SUITES {
        plains.push(timed(plain));
        tools.push(timed(tool));
    }
    let (plain, tool) = (median(plains), median(tools));
    let ratio = tool.as_secs_f64() / plain.as_secs_f64();
    println!(
        "100 tests: {name} alone {plain:?}, `firmhand tool run_tests` {tool:?}, ratio {ratio:.2}"
    );
}

/// What a program may have here; it prints to a pipe that is read.
fn walls(folder: &Path, program: &str, args: &[&str]) -> Walls {
    Walls {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
        folder: folder.to_owned(),
        reads: programs().collect(),
        writes: vec![folder.to_owned()],
        limits: Limits::default(),
        machine: None,
    }
}

fn run(runner: &Runner, walls: &Walls) -> RunReport {
    let (mut read, output) = std::io::pipe().unwrap();
    let (input, _) = std::io::pipe().unwrap();
    let errors = output.try_clone().unwrap();
    let ends = Ends { input: input.into(), output: output.into(), errors: errors.into() };
    let run = runner.start(walls, ends).unwrap();
    let report = run.waiter().wait();
    drop(run);
    let _ = read.read_to_end(&mut Vec::new());
    report
}

/// The real file of the first Python there is: shims only work with the home they belong to.
fn python() -> Option<String> {
    asked_of("python3", "import sys; print(sys.executable)")
}

fn asked_of(python: &str, program: &str) -> Option<String> {
    let output = Command::new(python).args(["-c", program]).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!answer.is_empty()).then_some(answer)
}

fn quiet(command: &mut Command) -> std::process::ExitStatus {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
}

fn timed(mut run: impl FnMut()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
