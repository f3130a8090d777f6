//! Kills the program, lets its calls fail, cuts its power, and sees that nothing is lost:
//! `cargo bench --bench crash -- [--kills N] [--seconds N] [--seed N] [--keep FOLDER]`.
//!
//! Each try starts a session of a scripted model that saves, changes and deletes files of a project
//! that somebody else may write to as well, decided by rules or by a person at a terminal, who takes
//! a change back now and then; brings one fault about; checks; resumes, at even chances with another
//! fault; lets it end and checks again. A fault is a kill after a time or at a call, a call that
//! fails, or a power cut, which takes names and bytes that were not synced. N counts those that came
//! about. Files lie in memory (`/dev/shm`) where there is such a place.
//!
//! What must hold: the journal parses; every file holds what was approved last; nothing was written
//! unapproved; what others have there stays; no proposal is gone; resume comes to an end; what was
//! told live is what the journal holds and what a replay tells. Ends with exit code 1 and the
//! folders of failed tries if one does not. Without `--bench` it makes three tries.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "a bench prints and may stop"
)]

mod attempt;
mod check;
mod disk;
mod fault;
mod live;
mod other;
mod process;
mod report;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use attempt::Try;
use check::{Moment, Project, Told};
use fault::Tools;
use firmhand::model::SessionOutcome;
use process::{Run, Session};
use report::Counts;
use world::World;

/// Rounds of a script.
const ROUNDS: usize = 3;

/// Longest that a session may take to its end.
const PATIENCE: Duration = Duration::from_secs(90);

/// The same chance for the same seed (xorshift64*).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    /// An index of a list of that length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// From 0 to 1.
    pub fn fraction(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

/// What is asked of a campaign.
struct Asked {
    kills: u64,
    seconds: u64,
    seed: u64,
    keep: PathBuf,
}

impl Asked {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let word = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).cloned()
        };
        let number =
            |name: &str, usual: u64| word(name).map_or(usual, |text| text.parse().unwrap());
        let is_bench = words.iter().any(|word| word == "--bench");
        let keep = word("--keep").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").to_owned());
        Self {
            kills: number("--kills", if is_bench { 500 } else { 3 }),
            seconds: number("--seconds", 3_600),
            seed: number("--seed", 1),
            keep: PathBuf::from(keep).join("crash"),
        }
    }
}

fn main() -> ExitCode {
    let asked = Asked::read();
    let in_memory = tempfile::tempdir_in("/dev/shm");
    let place = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
    let mut tools = Tools::find(place.path());
    for missing in tools.missing() {
        println!("{missing}");
    }
    let root = place.path().join("try");
    let length = usual_length(&root, &mut tools);
    println!("a session without a fault: {:.2} s; {}", length.as_secs_f64(), tools.counted());
    let mut counts = Counts::default();
    let began = Instant::now();
    let is_time = || began.elapsed() < Duration::from_secs(asked.seconds);
    let _ = std::fs::remove_dir_all(&asked.keep);
    while counts.hits() < asked.kills && is_time() {
        counts.tries += 1;
        let mut chance = Chance::new(asked.seed * 1_000_003 + counts.tries);
        let world = World::new(&root, ROUNDS);
        let faults = Try::new(&world, &tools, length, &mut counts).run(&mut chance);
        counts.note(&faults, world.root(), &asked.keep);
    }
    counts.report(began.elapsed())
}

/// How long a session takes to which nothing is done. Its calls are counted.
fn usual_length(root: &Path, tools: &mut Tools) -> Duration {
    let world = World::new(root, ROUNDS);
    let began = Instant::now();
    let arranged = tools.arrange(None, world.root(), &world.state());
    let words = world.start(Some("config/rules.toml"));
    let mut session = Session::start(&world, &words, Some(&arranged));
    let run = session.wait(PATIENCE);
    assert!(matches!(run, Run::Ended(0)), "a session without a fault: {run:?} {}", session.said());
    let took = began.elapsed();
    let mut faults = Vec::new();
    let records = check::records(&world.journal().unwrap(), &mut faults);
    let told = Told::of(&records, &mut faults);
    let project = world.project();
    let held = Project { root: &project, own: &world.own, saves: &[] };
    check::project(&told, &held, Moment::Over, &mut faults);
    assert!(told.ended == Some(SessionOutcome::Completed) && told.all_applied());
    assert!(faults.is_empty(), "a session without a fault: {faults:?}");
    tools.count(world.root());
    took
}
