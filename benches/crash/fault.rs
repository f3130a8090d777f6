//! What is done to the program: kills, failing calls, and a power cut that drops unsynced data.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Chance;

/// One thing that is done.
#[derive(Debug, Clone)]
pub enum Fault {
    /// SIGKILL after that time.
    Kill(Duration),
    /// SIGKILL within the nth call of a kind; the loaded library sees calls of the C library.
    KillAt(&'static str, u64),
    /// SIGKILL within the nth system call of a kind; needs strace.
    KillAtSystemCall(&'static str, u64),
    /// The nth call of a kind fails, once or from then on.
    Fails { call: &'static str, nth: u64, what: &'static str, lasts: bool },
}

/// A fault, and whether the power goes with it.
#[derive(Debug, Clone)]
pub struct Plan {
    pub fault: Fault,
    pub loses_power: bool,
}

/// What can be done on this computer.
pub struct Means {
    shim: Option<PathBuf>,
    has_strace: bool,
}

impl Means {
    /// Compiles the library that is loaded before the C library, and looks for strace.
    pub fn find(folder: &Path) -> Self {
        let (source, shim) = (folder.join("shim.c"), folder.join("shim.so"));
        fs::write(&source, include_str!("shim.c")).unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .args([&shim, &source])
            .arg("-ldl")
            .status();
        let traced = Command::new("strace")
            .args(["-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"])
            .status();
        Self {
            shim: compiled.is_ok_and(|status| status.success()).then_some(shim),
            has_strace: traced.is_ok_and(|status| status.success()),
        }
    }

    /// What is missing, in words.
    pub fn missing(&self) -> Vec<&'static str> {
        let shim = self.shim.is_none().then_some("no C compiler: calls do not fail, no power cuts");
        let strace = (!self.has_strace).then_some("no strace: no kill within renames and removals");
        shim.into_iter().chain(strace).collect()
    }

    /// A plan by chance, for a run that takes about `length`.
    pub fn plan(&self, length: Duration, chance: &mut Chance) -> Plan {
        let kind = chance.below(100);
        let nth = 1 + chance.below(90);
        let fault = match kind {
            0..35 if self.shim.is_some() => {
                let calls = ["any", "write", "fdatasync", "fsync", "any", "ftruncate"];
                Fault::KillAt(calls[chance.index(calls.len())], nth)
            }
            35..50 if self.has_strace => {
                let calls = ["renameat2", "renameat", "unlinkat", "mkdirat", "fsync"];
                Fault::KillAtSystemCall(calls[chance.index(calls.len())], 1 + nth % 24)
            }
            50..70 if self.shim.is_some() => {
                let calls = ["any", "write", "fsync", "fdatasync"];
                let what = ["EIO", "ENOSPC", "short"][chance.index(3)];
                let call = calls[chance.index(calls.len())];
                Fault::Fails { call, nth, what, lasts: chance.below(2) == 0 }
            }
            _ => Fault::Kill(length.mul_f64(chance.fraction() * 1.1)),
        };
        let is_kill = !matches!(fault, Fault::Fails { .. });
        let loses_power = self.shim.is_some() && is_kill && chance.below(4) == 0;
        Plan { fault, loses_power }
    }

    /// The words before the program's own, and the environment, that bring a fault about.
    pub fn arrange(&self, plan: &Plan, root: &Path, state: &Path) -> Arranged {
        let mut arranged = Arranged::default();
        let mut set = |name: &str, value: String| arranged.env.push((name.to_owned(), value));
        if let Some(shim) = &self.shim {
            set("LD_PRELOAD", shim.display().to_string());
            set("FAULT_UNDER", state.display().to_string());
            set("FAULT_SYNCS", root.join("syncs").display().to_string());
            set("FAULT_HIT", root.join("hit").display().to_string());
        }
        match &plan.fault {
            Fault::Kill(_) => {}
            Fault::KillAt(call, nth) => {
                set("FAULT_CALL", (*call).to_owned());
                set("FAULT_NTH", nth.to_string());
                set("FAULT_WHAT", "kill".to_owned());
            }
            Fault::Fails { call, nth, what, lasts } => {
                set("FAULT_CALL", (*call).to_owned());
                set("FAULT_NTH", nth.to_string());
                set("FAULT_WHAT", (*what).to_owned());
                set("FAULT_LASTS", u8::from(*lasts).to_string());
            }
            Fault::KillAtSystemCall(call, nth) => {
                let inject = format!("inject={call}:signal=KILL:when={nth}");
                let words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &inject];
                arranged.before = words.map(str::to_owned).to_vec();
            }
        }
        arranged
    }
}

/// How a run is started so that a fault comes about.
#[derive(Debug, Default)]
pub struct Arranged {
    pub before: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// Drops what was written and not synced below `state`: every file is cut back to a length between
/// what its last sync saw and what it has. Returns how many files lost something.
pub fn lose_power(root: &Path, state: &Path, chance: &mut Chance) -> usize {
    let noted = fs::read_to_string(root.join("syncs")).unwrap_or_default();
    let mut synced: HashMap<u64, u64> = HashMap::new();
    for line in noted.lines() {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
        if let (Some(inode), Some(length)) = (numbers.next(), numbers.next()) {
            synced.insert(inode, length);
        }
    }
    cut(state, &synced, chance)
}

fn cut(folder: &Path, synced: &HashMap<u64, u64>, chance: &mut Chance) -> usize {
    let mut lost = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            lost += cut(&path, synced, chance);
            continue;
        }
        let safe = synced.get(&about.ino()).copied().unwrap_or(0);
        // Where a disk forgets, it mostly forgets all.
        let kept = match chance.below(4) {
            0 => safe + chance.below(about.len().saturating_sub(safe) + 1),
            _ => safe,
        };
        if about.is_file() && kept < about.len() {
            fs::File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
            lost += 1;
        }
    }
    lost
}
