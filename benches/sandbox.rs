//! What the sandbox around a program costs: the time from the order until the program has ended, less
//! what the same program takes without it. At most 15 ms in the median on a machine that is idle.
//!
//! `cargo bench --bench sandbox`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement works on its own files and prints what it found"
)]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use firmhand::sandbox::{Ends, Limits, Runner, Walls, programs};

/// Starts of each kind.
const STARTS: usize = 200;

/// A program that does nothing.
const PROGRAM: &str = "/bin/true";

fn main() {
    let runner = Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_firmhand")));
    println!("walls: {}", runner.protection().level);
    let folder = tempfile::tempdir().unwrap();
    let walls = Walls {
        program: PROGRAM.into(),
        args: Vec::new(),
        env: Vec::new(),
        folder: folder.path().to_owned(),
        reads: programs().collect(),
        writes: vec![folder.path().to_owned()],
        limits: Limits::default(),
        machine: None,
    };
    let without = median(|| assert!(Command::new(PROGRAM).status().unwrap().success()));
    let with = median(|| {
        let (input, output) = std::io::pipe().unwrap();
        let errors = output.try_clone().unwrap();
        let ends = Ends { input: input.into(), output: output.into(), errors: errors.into() };
        let run = runner.start(&walls, ends).unwrap();
        let _ = run.waiter().wait();
    });
    println!("without: {without:?}, within: {with:?}, cost: {:?}", with.saturating_sub(without));
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[STARTS / 2]
}
