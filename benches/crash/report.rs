//! What a campaign tried, what came about, and what was lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::disk::Lost;
use super::fault::Plan;

/// Times that something was planned, and that it came about.
#[derive(Debug, Default, Clone, Copy)]
struct Times {
    planned: u64,
    hit: u64,
}

/// What came of a campaign.
#[derive(Default)]
pub struct Counts {
    pub tries: u64,
    /// By the name of the fault.
    kinds: BTreeMap<String, Times>,
    kills: Times,
    failing: Times,
    cuts: Times,
    lost_names: u64,
    cut_files: u64,
    zeros: u64,
    /// Files that somebody else saved meanwhile.
    pub saves: u64,
    /// Changes that the person took back.
    pub undone: u64,
    /// Sessions that were decided by a person.
    pub persons: u64,
    /// Replays that were compared.
    pub replays: u64,
    /// Sentences without their numbers, with how often and an example.
    faults: BTreeMap<String, (u64, PathBuf)>,
    lost: u64,
}

impl Counts {
    /// Faults that came about.
    pub const fn hits(&self) -> u64 {
        self.kills.hit + self.failing.hit
    }

    /// Notes a planned fault, and whether it came about.
    pub fn planned(&mut self, plan: &Plan, has_hit: bool) {
        let all = if plan.fault.is_kill() { &mut self.kills } else { &mut self.failing };
        let kind = self.kinds.entry(plan.fault.kind()).or_default();
        for times in [all, kind] {
            times.planned += 1;
            times.hit += u64::from(has_hit);
        }
        self.cuts.planned += u64::from(plan.loses_power);
    }

    /// Notes a program that its fault did not reach, and that was killed while it ran.
    pub fn ended_from_outside(&mut self) {
        let kind = self.kinds.entry("killed, the fault not reached".to_owned()).or_default();
        for times in [&mut self.kills, kind] {
            times.planned += 1;
            times.hit += 1;
        }
    }

    /// Notes a power cut.
    pub fn cut(&mut self, lost: Lost) {
        self.cuts.hit += 1;
        self.lost_names += lost.folders;
        self.cut_files += lost.files;
        self.zeros += lost.zeros;
    }

    /// Notes what was found to be wrong, and keeps the folder of the try.
    pub fn note(&mut self, faults: &[String], root: &Path, keep: &Path) {
        if faults.is_empty() {
            return;
        }
        self.lost += 1;
        let kept = keep.join(format!("try-{}", self.tries));
        copy(root, &kept);
        let _ = std::fs::write(kept.join("faults"), faults.join("\n"));
        for fault in faults {
            println!("try {}: {fault}", self.tries);
            let kind: String =
                fault.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
            self.faults.entry(kind).or_insert_with(|| (0, kept.clone())).0 += 1;
        }
    }

    /// Prints it; exit code 1 where something was lost.
    pub fn report(&self, took: Duration) -> ExitCode {
        for (kind, Times { planned, hit }) in &self.kinds {
            println!("  {kind}: {planned} planned, {hit} hit");
        }
        for (kind, (times, kept)) in &self.faults {
            println!("  {times} x {kind}\n      e.g. {}", kept.display());
        }
        println!(
            "crash campaign: {} tries in {} s; kills: {} planned, {} of a running program; failing \
             calls: {} planned, {} hit; power cuts: {} planned, {} made, with the names of {} folders, \
             the ends of {} files, and zeros in {} files; {} sessions of a person, {} changes undone, \
             {} saves of somebody else, {} replays compared; {} tries with losses",
            self.tries,
            took.as_secs(),
            self.kills.planned,
            self.kills.hit,
            self.failing.planned,
            self.failing.hit,
            self.cuts.planned,
            self.cuts.hit,
            self.lost_names,
            self.cut_files,
            self.zeros,
            self.persons,
            self.undone,
            self.saves,
            self.replays,
            self.lost
        );
        ExitCode::from(u8::from(self.lost > 0))
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
