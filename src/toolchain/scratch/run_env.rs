//! What every program of one run has in common: the copy, the limits, and who stops it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::captured::{self, Captured, ConfinedProgram, OutputSink, Streams};
use super::folder::ScratchFolder;
use crate::model::UserError;
use crate::sandbox::{Limits, Runner};

/// Memory that a run may take, in bytes.
const MEMORY: u64 = 512 << 20;

/// Processes of a run at the same time.
const TASKS: u32 = 64;

/// How long a compiler may take.
const COMPILE: Duration = Duration::from_secs(60);

/// Where one run happens.
pub struct RunEnv<'a> {
    pub runner: &'a Runner,
    pub scratch: &'a ScratchFolder,
    /// The project itself, whose own packages may be read.
    pub project: &'a Path,
    /// Takes all that is printed.
    pub sink: OutputSink,
    pub cancel: CancellationToken,
    /// When the programs together have taken long enough.
    deadline: Instant,
    time: Duration,
}

impl<'a> RunEnv<'a> {
    /// Programs may take `time` in total, compilers not counted.
    #[must_use]
    pub fn new(
        runner: &'a Runner,
        scratch: &'a ScratchFolder,
        project: &'a Path,
        (sink, cancel): (OutputSink, CancellationToken),
        time: Duration,
    ) -> Self {
        let deadline = Instant::now() + time;
        Self { runner, scratch, project, sink, cancel, deadline, time }
    }

    /// The time begins now: what came before was looking for what runs the programs.
    pub fn begin(&mut self) {
        self.deadline = Instant::now() + self.time;
    }

    /// A program with the limits of a run; it has the time that is left.
    #[must_use]
    pub fn program(&self, program: PathBuf, args: Vec<String>) -> ConfinedProgram {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let time = Some(left.clamp(Duration::from_millis(1), self.time));
        let limits = Limits { memory: MEMORY, tasks: TASKS, time, ..Limits::default() };
        let (env, reads, input, streams) = (Vec::new(), Vec::new(), Vec::new(), Streams::Together);
        ConfinedProgram { program, args, env, reads, input, limits, streams }
    }

    /// Whether there is no time left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || self.cancel.is_cancelled()
    }

    /// Runs it.
    ///
    /// # Errors
    /// When there is no sandbox, or it cannot be started.
    pub async fn run(&self, program: ConfinedProgram) -> Result<Captured, UserError> {
        let ends = (OutputSink::clone(&self.sink), self.cancel.clone());
        captured::run(self.runner, self.scratch, program, ends).await
    }

    /// Runs a compiler or a build, whose time is not that of the run.
    ///
    /// # Errors
    /// As [`RunEnv::run`].
    pub async fn compile(&mut self, mut program: ConfinedProgram) -> Result<Captured, UserError> {
        program.limits.time = Some(COMPILE);
        program.limits.memory = 2 * MEMORY;
        let begun = Instant::now();
        let captured = self.run(program).await;
        self.deadline += begun.elapsed();
        captured
    }

    /// Says something in the raw output.
    pub fn say(&self, line: &str) {
        (self.sink)(format!("{line}\n").as_bytes());
    }
}
