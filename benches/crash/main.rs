//! Kills the program, lets its calls fail, cuts its power, and sees that nothing is lost:
//! `cargo bench --bench crash -- [--kills N] [--seconds N] [--seed N] [--keep FOLDER]`.
//!
//! Each try starts a session of a scripted model that saves, changes and deletes files, decided by
//! rules or by a person at a terminal; brings one fault about; checks; resumes, at even chances with
//! another fault; lets it end, checks again and replays it. Files lie in memory (`/dev/shm`) where
//! there is such a place. What must hold: the journal parses; every file holds what was approved
//! last; nothing was written unapproved; no proposal is gone; resume comes to an end; what was
//! printed live is what the journal holds, and a replay is the same each time. Ends with exit code 1
//! and the folders of failed tries if one does not. Without `--bench` it makes three tries.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "a bench prints and may stop"
)]

mod check;
mod fault;
mod process;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use check::Told;
use fault::{Fault, Means, Plan, lose_power};
use firmhand::model::{Record, SessionOutcome};
use process::{Run, Session, replay};
use world::{ALLOW, ASK, World};

/// Rounds of a script.
const ROUNDS: usize = 3;

/// Longest that a session may take to its end.
const PATIENCE: Duration = Duration::from_secs(90);

/// The same chance for the same seed (xorshift64*).
pub struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
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

/// What came of a campaign.
#[derive(Default)]
struct Counts {
    tries: u64,
    kills: u64,
    alive: u64,
    failing: u64,
    power_cuts: u64,
    /// Sentences without their numbers, with how often and an example.
    faults: BTreeMap<String, (u64, PathBuf)>,
    lost: u64,
}

fn main() -> ExitCode {
    let asked = Asked::read();
    let in_memory = tempfile::tempdir_in("/dev/shm");
    let place = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
    let means = Means::find(place.path());
    for missing in means.missing() {
        println!("{missing}");
    }
    let root = place.path().join("try");
    let length = usual_length(&root);
    println!("a session without a fault: {:.2} s", length.as_secs_f64());
    let mut counts = Counts::default();
    let began = Instant::now();
    let is_time = || began.elapsed() < Duration::from_secs(asked.seconds);
    let _ = std::fs::remove_dir_all(&asked.keep);
    while counts.kills + counts.failing < asked.kills && is_time() {
        counts.tries += 1;
        let mut chance = Chance::new(asked.seed * 1_000_003 + counts.tries);
        let world = World::new(&root, ROUNDS);
        let mut attempt = Try { world: &world, means: &means, length, counts: &mut counts };
        let faults = attempt.run(&mut chance);
        counts.note(&faults, &world, &asked.keep);
    }
    counts.report(began.elapsed())
}

impl Counts {
    fn note(&mut self, faults: &[String], world: &World, keep: &Path) {
        if faults.is_empty() {
            return;
        }
        self.lost += 1;
        let kept = keep.join(format!("try-{}", self.tries));
        copy(world.root(), &kept);
        for fault in faults {
            let kind: String =
                fault.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
            self.faults.entry(kind).or_insert_with(|| (0, kept.clone())).0 += 1;
        }
    }

    fn report(&self, took: Duration) -> ExitCode {
        for (kind, (times, kept)) in &self.faults {
            println!("  {times} x {kind}\n      e.g. {}", kept.display());
        }
        println!(
            "crash campaign: {} tries in {} s: {} kills ({} of a running program), {} failing calls, \
             {} power cuts; {} tries with losses",
            self.tries,
            took.as_secs(),
            self.kills,
            self.alive,
            self.failing,
            self.power_cuts,
            self.lost
        );
        ExitCode::from(u8::from(self.lost > 0))
    }
}

/// How long a session takes to which nothing is done.
fn usual_length(root: &Path) -> Duration {
    let world = World::new(root, ROUNDS);
    let began = Instant::now();
    let mut session = Session::start(&world, &world.start(Some("config/rules.toml")), None);
    let run = session.wait(PATIENCE);
    assert!(matches!(run, Run::Ended(0)), "a session without a fault: {run:?} {}", session.said());
    let took = began.elapsed();
    let mut faults = Vec::new();
    let records = check::records(&world.journal().unwrap(), &mut faults);
    let told = Told::of(&records, &mut faults);
    check::project(&told, &world.project(), true, &mut faults);
    assert!(told.ended == Some(SessionOutcome::Completed) && told.all_applied());
    assert!(faults.is_empty(), "a session without a fault: {faults:?}");
    took
}

struct Try<'a> {
    world: &'a World,
    means: &'a Means,
    length: Duration,
    counts: &'a mut Counts,
}

impl Try<'_> {
    /// One session with its faults; what was found to be wrong.
    fn run(&mut self, chance: &mut Chance) -> Vec<String> {
        let mut faults = Vec::new();
        let asks = chance.below(3) == 0;
        self.world.rule(if asks { ASK } else { ALLOW });
        let rules = (!asks).then_some("config/rules.toml");
        let words = self.world.start(rules);
        for round in 0..4 {
            let words = if round == 0 { words.clone() } else { resume_words() };
            let plan = self.means.plan(self.length, chance);
            let printed = self.broken(&words, &plan, asks || round > 0, chance, &mut faults);
            let Some(journal) = self.world.journal() else { return faults };
            let records = check::records(&journal, &mut faults);
            if !plan.loses_power && round == 0 && !asks {
                compare(&printed, &records, &mut faults);
            }
            let told = Told::of(&records, &mut faults);
            check::project(&told, &self.world.project(), false, &mut faults);
            if records.is_empty() || told.ended.is_some() {
                break;
            }
            if chance.below(2) == 0 {
                break;
            }
        }
        self.finish(&mut faults);
        faults
    }

    /// Starts the program, brings a fault about, and waits until it is gone. Returns what it printed.
    fn broken(
        &mut self,
        words: &[String],
        plan: &Plan,
        has_person: bool,
        chance: &mut Chance,
        faults: &mut Vec<String>,
    ) -> String {
        let arranged = self.means.arrange(plan, self.world.root(), &self.world.state());
        let mut session = Session::start(self.world, words, Some(&arranged));
        let (patience, is_timed) = match plan.fault {
            Fault::Kill(after) if has_person => (after.mul_f64(12.0), true),
            Fault::Kill(after) => (after, true),
            // A person who decides only some of it would let it wait for ever.
            _ if has_person => (Duration::from_secs(6), true),
            _ => (PATIENCE, false),
        };
        let run =
            if has_person { session.decide(patience, chance) } else { session.wait(patience) };
        match (&run, &plan.fault) {
            (Run::Alive, _) if !is_timed => faults.push(format!("hangs after {:?}", plan.fault)),
            (Run::Ended(0), Fault::Fails { .. }) => self.counts.failing += 1,
            (_, Fault::Fails { .. }) => self.counts.failing += 1,
            (Run::Ended(_), _) => self.counts.kills += 1,
            (Run::Alive | Run::Killed, _) => {
                self.counts.kills += 1;
                self.counts.alive += 1;
            }
        }
        session.kill();
        if session.said().contains("panicked") {
            faults.push(format!("panics: {}", session.last_words()));
        }
        if plan.loses_power && !matches!(run, Run::Ended(_)) {
            self.counts.power_cuts += 1;
            lose_power(self.world.root(), &self.world.state(), chance);
        }
        session.said()
    }

    /// Lets the session come to its end by rules, checks it, and replays it.
    fn finish(&mut self, faults: &mut Vec<String>) {
        let Some(journal) = self.world.journal() else { return };
        let mut unread = Vec::new();
        let before = Told::of(&check::records(&journal, &mut unread), &mut unread);
        if before.ended.is_none() && std::fs::metadata(&journal).is_ok_and(|found| found.len() > 0)
        {
            self.world.rule(ALLOW);
            let mut session = Session::start(self.world, &resume_words(), None);
            match session.wait(PATIENCE) {
                Run::Ended(0) => {}
                Run::Alive => faults.push(format!("resume hangs: {}", session.last_words())),
                Run::Ended(code) => {
                    faults.push(format!("resume ends with {code}: {}", session.last_words()));
                }
                Run::Killed => faults.push("resume is killed by nobody".to_owned()),
            }
            session.kill();
            if session.said().contains("panicked") {
                faults.push(format!("resume panics: {}", session.last_words()));
            }
        }
        let records = check::records(&journal, faults);
        let mut known = Vec::new();
        let told = Told::of(&records, &mut known);
        for id in before.waiting() {
            if !told.waiting().contains(&id) && !told.is_known(id) {
                faults.push(format!("proposal {id} waited and is nowhere now"));
            }
        }
        let is_over = told.ended.is_some();
        check::project(&told, &self.world.project(), is_over, faults);
        if !records.is_empty() {
            if !is_over {
                faults.push("the session has no end after resume".to_owned());
            } else if told.all_applied() && told.ended != Some(SessionOutcome::Completed) {
                faults.push(format!("all was applied, and it ended as {:?}", told.ended));
            }
            let (first, second) = (replay(self.world), replay(self.world));
            if first.is_none() || first != second {
                faults.push("a replay fails or differs from another".to_owned());
            }
        }
    }
}

fn resume_words() -> Vec<String> {
    ["resume", "--plain", "--speed", "max"].map(str::to_owned).to_vec()
}

/// Every whole line that was printed live is the record that the journal holds.
fn compare(printed: &str, records: &[Record], faults: &mut Vec<String>) {
    let whole = printed.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.lines().filter(|line| line.starts_with("{\"v\":")) {
        let Ok(live) = serde_json::from_str::<Record>(line) else {
            faults.push("a line that was printed live is no record".to_owned());
            return;
        };
        let kept = records.binary_search_by_key(&live.seq, |record| record.seq);
        if kept.ok().and_then(|at| records.get(at)) != Some(&live) {
            faults.push("a record was printed live that the journal does not hold".to_owned());
            return;
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            let _ = std::fs::copy(&path, &target);
        }
    }
}
