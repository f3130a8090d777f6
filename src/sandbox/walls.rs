//! What one run of a program may have, and how it ended.
//!
//! Owns the words between who starts a program and who builds the walls. Must not do either.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::model::SandboxLevel as Level;

/// The command that builds the walls. It reads its order from a socket in the place of its input.
pub const COMMAND: &str = "confine";

/// Its argument in the process behind the walls.
pub(super) const BEHIND: &str = "behind";

/// A program that an agent wrote, and everything it may have. What is not named here it has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Absolute path; it is below one of the paths to read or to write.
    pub program: PathBuf,
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Where it starts; below one of the paths to write.
    pub folder: PathBuf,
    /// Files and folders to read, and to run programs from; what is not there is left out.
    pub reads: Vec<PathBuf>,
    /// Folders to write in.
    pub writes: Vec<PathBuf>,
    pub limits: Limits,
    /// `None`: it sees nothing of the machine beside its paths, has no network but its own, and its
    /// limits hold.
    pub machine: Option<MachineView>,
}

/// What a build has instead: the machine as the person sees it, with its network and without limits.
/// Paths to read are what is there; only walls of namespaces can be built so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineView {
    /// Files and folders that are empty for it, whatever is to be read there.
    pub hidden: Vec<PathBuf>,
    /// The folder that it has in the place of the temporary ones.
    pub temporary: PathBuf,
}

/// How much a run may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all its processes together, in bytes.
    pub memory: u64,
    /// Processes and threads at the same time.
    pub tasks: u32,
    /// The largest file it may write, in bytes.
    pub file: u64,
    /// What it may keep in the folders to write in, all files together, in bytes.
    pub disk: u64,
    /// After this it is ended; `None`: it may run on.
    pub time: Option<Duration>,
    /// Processors it may use at the same time; `None`: all of them.
    pub processors: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            tasks: 64,
            file: 64 << 20,
            disk: 1 << 30,
            time: None,
            processors: None,
        }
    }
}

/// A wall that a run ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// It took longer than it may.
    Time,
    /// It wanted more memory than it may have.
    Memory,
    /// It wanted more processes than it may have.
    Processes,
    /// It wrote a file larger than it may.
    File,
    /// It wrote more than it may, all files together.
    Disk,
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::File => "file size",
            Self::Disk => "disk space",
        })
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended from outside: by a wall, or because nobody wanted it any more.
    Stopped,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    pub end: RunEnd,
    /// What ended it, or what it ran into most.
    pub wall: Option<Wall>,
    /// The most memory it had, in bytes; of its largest process where its processes cannot be counted
    /// together.
    pub peak: u64,
    /// How long it took.
    pub took: Duration,
}

/// A step of building the walls that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallFailure {
    /// What was tried, e.g. `make namespaces`.
    pub step: String,
    /// What the system said.
    pub why: String,
}

impl WallFailure {
    pub(super) fn new(step: impl Into<String>, why: impl fmt::Display) -> Self {
        Self { step: step.into(), why: why.to_string() }
    }

    /// For `map_err`.
    pub(super) fn at<E: fmt::Display>(step: &str) -> impl FnOnce(E) -> Self + '_ {
        move |error| Self::new(step, error)
    }
}

impl fmt::Display for WallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.step, self.why)
    }
}
