//! Feeds every reader of foreign bytes with the inputs that are kept, and with changes of them.
//!
//! `seeds/TARGET/` holds what a reader meets in life and what once made it fail. The changes are
//! the same on every run. `README.md` says how to search for more, led by coverage.

#[path = "../fuzz/mutate.rs"]
mod mutate;
#[path = "../fuzz/targets/mod.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutate::{Chance, changed};
use targets::{TARGETS, Target};

/// No input of this size takes as long, even on a busy machine that compiled without optimising.
const MOST_TIME: Duration = Duration::from_secs(30);

fn seeds_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds")
}

/// The kept inputs of a target, with their names, in order.
fn seeds(target: &Target) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(seeds_folder().join(target.name)).into_iter().flatten();
    let mut seeds: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    seeds.sort();
    seeds
}

/// Runs one input; one that fails is put where it can be found and kept.
fn try_one(target: &Target, name: &str, bytes: &[u8]) -> Result<(), String> {
    let began = Instant::now();
    let ended = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
    let why = match ended {
        Ok(()) if began.elapsed() <= MOST_TIME => return Ok(()),
        Ok(()) => format!("took {} s", began.elapsed().as_secs()),
        Err(_) => "failed".to_owned(),
    };
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}-{name}", target.name));
    fs::write(&kept, bytes).unwrap();
    Err(format!("{} {why} at {name}: the input is in {}", target.name, kept.display()))
}

/// All kept inputs of some targets, then changes of them.
fn run(share: usize, of: usize) {
    let mut failed = Vec::new();
    for target in TARGETS.iter().skip(share).step_by(of) {
        let mut kept = Vec::new();
        for (name, bytes) in seeds(target) {
            failed.extend(try_one(target, &name, &bytes).err());
            kept.push(bytes);
        }
        kept.push(Vec::new());
        let mut chance = Chance::named(target.name);
        for number in 0..target.tries {
            let bytes = changed(&kept, &mut chance);
            failed.extend(try_one(target, &format!("change-{number}"), &bytes).err());
        }
    }
    assert!(failed.is_empty(), "{} inputs:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn no_reader_fails_on_any_bytes_1() {
    run(0, 4);
}

#[test]
fn no_reader_fails_on_any_bytes_2() {
    run(1, 4);
}

#[test]
fn no_reader_fails_on_any_bytes_3() {
    run(2, 4);
}

#[test]
fn no_reader_fails_on_any_bytes_4() {
    run(3, 4);
}

#[test]
fn every_target_has_seeds_and_all_seeds_have_a_target() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "names are different");
    let entries = fs::read_dir(seeds_folder()).unwrap();
    let folders: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(targets, folders);
    for target in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{} has no seed", target.name);
        for (name, bytes) in seeds {
            assert!(bytes.len() <= 16 * 1024, "{}/{name}: seeds are small", target.name);
        }
    }
}

/// A target that lets everything pass would look as if all were well.
#[test]
fn a_failing_input_is_told() {
    let target = Target { name: "self", run: |bytes| assert!(bytes.len() < 3), tries: 0 };
    assert!(try_one(&target, "short", b"ab").is_ok());
    let told = try_one(&target, "long", b"abc").unwrap_err();
    assert!(told.contains("self failed at long"), "{told}");
    let mut chance = Chance::named("self");
    let kept = [b"ab".to_vec()];
    let found = (0..200).any(|_| changed(&kept, &mut chance).len() >= 3);
    assert!(found, "changes make longer inputs too");
}
