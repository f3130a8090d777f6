//! What is done to the program: kills and failing calls, and whether the power goes with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Chance;
use super::process::Run;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// SIGKILL in the place of it.
    Kill,
    Fails(&'static str),
    /// Half of what was to be written is.
    Short,
}

/// Who brings it about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// The library that is loaded before the C library; counts the calls on files below the folder
    /// of the try.
    Library,
    /// strace; counts the system calls of each thread.
    Tracer,
}

/// One thing that is done.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// SIGKILL after that time.
    Kill(Duration),
    /// The nth call of a kind, and where it `lasts` every later one.
    Call { means: Means, call: &'static str, nth: u64, what: What, lasts: bool },
}

impl Fault {
    pub const fn is_kill(&self) -> bool {
        matches!(self, Self::Kill(_) | Self::Call { what: What::Kill, .. })
    }

    /// Whether strace brings it about.
    pub const fn is_traced(&self) -> bool {
        matches!(self, Self::Call { means: Means::Tracer, .. })
    }

    /// What it is called in the report.
    pub fn kind(&self) -> String {
        match self {
            Self::Kill(_) => "killed after a time".to_owned(),
            Self::Call { means, call, what, .. } => {
                let by = if *means == Means::Tracer { " (strace)" } else { "" };
                match what {
                    What::Kill => format!("killed at {call}{by}"),
                    What::Fails(errno) => format!("{errno} from {call}{by}"),
                    What::Short => format!("short {call}{by}"),
                }
            }
        }
    }
}

/// A fault, and whether the power goes with it.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub fault: Fault,
    pub loses_power: bool,
}

/// Calls that the library sees, with how often each is taken beside the others.
const CALLS: [(&str, usize); 11] = [
    ("any", 2),
    ("write", 3),
    ("fdatasync", 2),
    ("fsync", 2),
    ("sync_folder", 3),
    ("rename", 3),
    ("unlink", 2),
    ("mkdir", 1),
    ("open", 1),
    ("ftruncate", 1),
    ("link", 1),
];

/// System calls that strace lets fail.
const TRACED: [&str; 7] =
    ["renameat2", "linkat", "unlinkat", "mkdirat", "openat", "fsync", "fdatasync"];

/// What can be done on this computer.
pub struct Tools {
    shim: Option<PathBuf>,
    has_strace: bool,
    /// How often a session without a fault makes each call.
    counts: BTreeMap<&'static str, u64>,
}

impl Tools {
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
            .args(["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"])
            .args(["-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1", "true"])
            .status();
        Self {
            shim: compiled.is_ok_and(|status| status.success()).then_some(shim),
            has_strace: traced.is_ok_and(|status| status.success()),
            counts: BTreeMap::new(),
        }
    }

    /// What is missing, in words.
    pub fn missing(&self) -> Vec<&'static str> {
        let shim = self.shim.is_none().then_some("no C compiler: no power cuts, few failing calls");
        let strace = (!self.has_strace).then_some("no strace: every fault is of the own library");
        shim.into_iter().chain(strace).collect()
    }

    /// Learns from a session without a fault how often each call is made.
    pub fn count(&mut self, root: &Path) {
        let made = fs::read_to_string(root.join("counts")).unwrap_or_default();
        for (call, _) in CALLS {
            let times = made.lines().filter(|line| call == "any" || *line == call).count();
            self.counts.insert(call, times as u64);
        }
    }

    /// Whether the library sees the system calls that the program makes itself, by which it changes
    /// a project; only then is known what a power cut leaves.
    fn sees_effects(&self) -> bool {
        self.counts.get("rename") > Some(&0) && self.counts.get("sync_folder") > Some(&0)
    }

    /// How often each call was made, in words.
    pub fn counted(&self) -> String {
        let made = self.counts.iter().map(|(call, times)| format!("{times} {call}"));
        let blind =
            (!self.sees_effects()).then(|| "changes are not seen: no power cuts".to_owned());
        made.chain(blind).collect::<Vec<_>>().join(", ")
    }

    /// A plan by chance, for a run that takes about `length`.
    pub fn plan(&self, length: Duration, chance: &mut Chance) -> Plan {
        let fault = match chance.below(100) {
            0..35 if self.shim.is_some() => self.library_call(What::Kill, chance),
            35..42 if self.has_strace => Self::traced(What::Kill, chance),
            42..66 if self.shim.is_some() => {
                let what = [What::Fails("EIO"), What::Fails("ENOSPC"), What::Short];
                self.library_call(what[chance.index(3)], chance)
            }
            66..76 if self.has_strace => {
                let errno = ["EIO", "ENOSPC"][chance.index(2)];
                Self::traced(What::Fails(errno), chance)
            }
            _ => Fault::Kill(length.mul_f64(chance.fraction() * 1.1)),
        };
        let loses_power = self.sees_effects() && fault.is_kill() && chance.below(2) == 0;
        Plan { fault, loses_power }
    }

    /// A kill between a change and the sync of its folder that leaves the power on: what the next run
    /// finds done may still be lost. Now and then.
    pub fn plan_unsynced(&self, chance: &mut Chance) -> Option<Plan> {
        let most = self.counts.get("sync_folder").copied().unwrap_or(0);
        if !self.sees_effects() || chance.below(8) > 0 {
            return None;
        }
        let (means, call, what) = (Means::Library, "sync_folder", What::Kill);
        let fault = Fault::Call { means, call, nth: 1 + chance.below(most), what, lasts: false };
        Some(Plan { fault, loses_power: false })
    }

    fn library_call(&self, what: What, chance: &mut Chance) -> Fault {
        let is_made = |call: &&(&'static str, usize)| self.counts.get(call.0) > Some(&0);
        let often = CALLS.iter().filter(is_made);
        let made: Vec<&'static str> =
            often.flat_map(|(call, times)| std::iter::repeat_n(*call, *times)).collect();
        let call = match what {
            What::Short => "write",
            What::Kill | What::Fails(_) => made[chance.index(made.len())],
        };
        // A session that goes on makes fewer calls than a whole one.
        let most = self.counts.get(call).copied().unwrap_or(1).max(1);
        let most = most.div_ceil(1 + chance.below(3));
        let nth = 1 + chance.below(most);
        let lasts = what != What::Kill && chance.below(2) == 0;
        Fault::Call { means: Means::Library, call, nth, what, lasts }
    }

    fn traced(what: What, chance: &mut Chance) -> Fault {
        let call = TRACED[chance.index(TRACED.len())];
        // Each thread has a count of its own.
        let most = if call == "openat" { 40 } else { 5 };
        let nth = 1 + chance.below(most);
        let lasts = what != What::Kill && chance.below(2) == 0;
        Fault::Call { means: Means::Tracer, call, nth, what, lasts }
    }

    /// The words before the program's own, and the environment, that bring a fault about.
    pub fn arrange(&self, fault: Option<&Fault>, root: &Path, state: &Path) -> Arranged {
        let mut arranged = Arranged { trace: None, hit: root.join("hit"), ..Arranged::default() };
        let _ = fs::remove_file(&arranged.hit);
        let mut env: Vec<(&str, String)> = Vec::new();
        if let Some(shim) = &self.shim {
            env.push(("LD_PRELOAD", shim.display().to_string()));
            env.push(("FAULT_UNDER", state.display().to_string()));
            let files = [("FAULT_HIT", "hit"), ("FAULT_NOTES", "notes"), ("FAULT_KEPT", "kept")];
            env.extend(files.map(|(name, file)| (name, root.join(file).display().to_string())));
        }
        match fault {
            None => env.push(("FAULT_COUNTS", root.join("counts").display().to_string())),
            Some(Fault::Kill(_)) => {}
            Some(Fault::Call { means: Means::Library, call, nth, what, lasts }) => {
                let what = match what {
                    What::Kill => "kill",
                    What::Fails(errno) => errno,
                    What::Short => "short",
                };
                env.push(("FAULT_CALL", (*call).to_owned()));
                env.push(("FAULT_NTH", nth.to_string()));
                env.push(("FAULT_WHAT", what.to_owned()));
                env.push(("FAULT_LASTS", u8::from(*lasts).to_string()));
            }
            Some(Fault::Call { means: Means::Tracer, call, nth, what, lasts }) => {
                let what = match what {
                    What::Kill | What::Short => "signal=KILL".to_owned(),
                    What::Fails(errno) => format!("error={errno}"),
                };
                let later = if *lasts { "+" } else { "" };
                let inject = format!("inject={call}:{what}:when={nth}{later}");
                let trace = root.join("trace");
                let file = trace.display().to_string();
                let only = format!("trace={call}");
                let words = ["strace", "-f", "-y", "-qq", "--seccomp-bpf", "-o", &file];
                arranged.before = words
                    .into_iter()
                    .chain(["-e", &only, "-e", &inject])
                    .map(str::to_owned)
                    .collect();
                // The library is for the program alone.
                for (name, value) in std::mem::take(&mut env) {
                    arranged.before.extend(["-E".to_owned(), format!("{name}={value}")]);
                }
                arranged.trace = Some((trace, state.display().to_string()));
            }
        }
        arranged.env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        arranged
    }
}

/// How a run is started so that a fault comes about.
#[derive(Debug, Default)]
pub struct Arranged {
    pub before: Vec<String>,
    pub env: Vec<(String, String)>,
    /// The library's file of faults that came about.
    hit: PathBuf,
    /// The file that strace writes, and the folder whose calls count.
    trace: Option<(PathBuf, String)>,
}

impl Arranged {
    /// Whether the fault came about in a run that went like that.
    pub fn has_hit(&self, fault: &Fault, run: Run) -> bool {
        match (fault, &self.trace) {
            (Fault::Kill(_), _) => run == Run::Alive,
            (Fault::Call { what: What::Kill, .. }, _) => run == Run::Killed,
            (Fault::Call { .. }, None) => fs::metadata(&self.hit).is_ok(),
            // Children and libraries make such calls too, and so does the own library.
            (Fault::Call { .. }, Some((trace, state))) => {
                let traced = fs::read(trace).unwrap_or_default();
                let traced = String::from_utf8_lossy(&traced);
                let is_ours = |line: &str| line.contains(state) && !line.contains("/kept/");
                traced.lines().any(|line| line.contains("(INJECTED)") && is_ours(line))
            }
        }
    }
}
