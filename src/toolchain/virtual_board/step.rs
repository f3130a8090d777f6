//! One process of a build: whether what it made is still fresh, and how it is run.
//!
//! Owns the marks beside what is made, and the compiler's process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::files;
use crate::model::ContentHash;
use crate::sandbox::{Level, Limits, RunEnd, Runner, Walls, programs};
use crate::toolchain::confined;
use crate::toolchain::output_folder::{self, Use};
use crate::toolchain::process::ChildGroup;

/// Bytes of one compiler's output that are kept; a header of errors without end is cut.
const MAX_OUTPUT: usize = 1 << 20;

/// Memory of one compiler in the sandbox, and the largest file that it makes, in bytes.
const MAX_MEMORY: u64 = 2 << 30;
const MAX_FILE: u64 = 512 << 20;

/// Bytes that a build may keep.
const MAX_DISK: u64 = 4 << 30;

/// One process of the build and what it makes.
#[derive(Debug, Clone)]
pub(super) struct BuildStep {
    /// Ninja's words for it.
    pub(super) title: String,
    pub(super) compiler: PathBuf,
    /// Arguments of the compiler.
    pub(super) args: Vec<String>,
    /// What it makes, absolute.
    pub(super) output: PathBuf,
    /// What it reads beyond what its dependency file names, absolute.
    pub(super) inputs: Vec<PathBuf>,
}

/// Why a build stopped.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The project has errors; they were printed.
    #[error("a step failed")]
    Failed,
    /// A file below `build/` or the compiler could not be used.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        source: io::Error,
    },
}

/// An error of a file or a process, with what was tried.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> StepError {
    let what = what.into();
    move |source| StepError::Io { what, source }
}

/// What a compiler said, and whether it has made something.
pub(super) struct Printed {
    pub(super) ok: bool,
    pub(super) output: Vec<u8>,
    pub(super) command: String,
}

impl BuildStep {
    /// Whether it has to be performed again.
    pub(super) fn is_stale(&self) -> bool {
        let mark = files::read_text(&with_suffix(&self.output, ".cmd"), files::SETTINGS);
        let made = modified(&self.output);
        let (Ok(mark), Some(made)) = (mark, made) else { return true };
        let dependencies = with_suffix(&self.output, ".d");
        let dependencies = files::read_text(&dependencies, files::SOURCE).unwrap_or_default();
        let named = depended_on(&dependencies);
        mark != self.signature()
            || self.inputs.iter().cloned().chain(named).any(|input| {
                // A dependency that is gone has to be missed by the compiler, not by us. Clocks
                // of files tick slowly: what is as old as the output may be newer than it.
                modified(&input).is_none_or(|changed| changed >= made)
            })
    }

    fn signature(&self) -> String {
        let all = format!("{} {}", self.compiler.display(), self.args.join("\0"));
        ContentHash::of(all.as_bytes()).to_string()
    }

    /// Runs the compiler in the project's `build`, in the sandbox where there is one, and marks what
    /// it has made.
    ///
    /// # Errors
    /// When the compiler cannot be run, or a link is in the way of what it makes; errors of the
    /// project are printed.
    pub(super) async fn perform(
        &self,
        root: &Path,
        runner: Option<&Runner>,
    ) -> Result<Printed, StepError> {
        let mark = with_suffix(&self.output, ".cmd");
        // Without its mark an output that a cut-off compiler left behind is made again. The compiler
        // makes its files anew: what is there may be another name of something else.
        for path in [&mark, &with_suffix(&self.output, ".d"), &self.output] {
            let what = || format!("make {}", path.display());
            let below = below(root, path).map_err(io_error(what()))?;
            if let Some(folder) = below.parent() {
                output_folder::make_folder(root, folder).map_err(io_error(what()))?;
            }
            output_folder::remove(root, below).map_err(io_error(what()))?;
        }
        let runner = runner.filter(|runner| runner.protection().level != Level::None);
        let mut output = CompilerOutput::default();
        let ok = match runner {
            Some(runner) => self.confined(root, runner, &mut output).await?,
            None => self.unconfined(root, &mut output).await?,
        };
        let output = output.finish();
        if ok {
            write(root, &mark, self.signature().as_bytes())?;
        }
        let command = format!("{} {}", self.compiler.display(), self.args.join(" "));
        Ok(Printed { ok, output, command })
    }

    /// In the sandbox it reads the project and what compilers read, and writes below `build`: a source
    /// can name any file of the machine, to be put into what is made.
    async fn confined(
        &self,
        root: &Path,
        runner: &Runner,
        output: &mut CompilerOutput,
    ) -> Result<bool, StepError> {
        let temporary = tempfile::tempdir().map_err(io_error("make a temporary folder"))?;
        let folder = root.join("build");
        let path = std::env::var("PATH").unwrap_or_default();
        let shown = temporary.path().display().to_string();
        let variables = [("PATH", path), ("LC_ALL", "C".to_owned()), ("TMPDIR", shown)];
        let mut reads = confined::reads(root, &self.compiler, &self.args);
        reads.extend(programs());
        let (memory, file, disk) = (MAX_MEMORY, MAX_FILE, MAX_DISK);
        let walls = Walls {
            program: self.compiler.clone(),
            args: self.args.clone(),
            env: variables.map(|(name, value)| (name.to_owned(), value)).into(),
            reads,
            writes: vec![folder.clone(), temporary.path().to_owned()],
            folder,
            limits: Limits { memory, file, disk, ..Limits::default() },
            machine: None,
        };
        let report = confined::run(runner, walls, |bytes| output.push(bytes)).await;
        let report = report.map_err(|error| {
            io_error(format!("run {}", self.compiler.display()))(io::Error::other(error.why))
        })?;
        if let Some(wall) = report.wall {
            let stopped = format!("cc: error: stopped at the sandbox's limit of {wall}\n");
            output.push(stopped.as_bytes());
        }
        Ok(report.end == RunEnd::Exit(0))
    }

    async fn unconfined(
        &self,
        root: &Path,
        output: &mut CompilerOutput,
    ) -> Result<bool, StepError> {
        let folder = root.join("build");
        let mut group = ChildGroup::compiler(&self.compiler, &self.args, &folder, None)
            .map_err(io_error(format!("run {}", self.compiler.display())))?;
        let read = group.errors(|bytes| output.push(bytes)).await;
        read.map_err(io_error("read the compiler"))?;
        let status = group.child.wait().await.map_err(io_error("wait for the compiler"))?;
        Ok(status.success())
    }
}

/// What a compiler prints, up to a limit.
#[derive(Default)]
struct CompilerOutput {
    kept: Vec<u8>,
    is_cut: bool,
}

impl CompilerOutput {
    fn push(&mut self, bytes: &[u8]) {
        let space = MAX_OUTPUT.saturating_sub(self.kept.len());
        self.is_cut |= bytes.len() > space;
        self.kept.extend_from_slice(bytes.get(..space).unwrap_or(bytes));
    }

    fn finish(mut self) -> Vec<u8> {
        if self.is_cut {
            self.kept.extend_from_slice(b"\n[the compiler's output is cut here at 1 MiB]\n");
        }
        self.kept
    }
}

/// The files that a make-style dependency file names after its target.
fn depended_on(text: &str) -> Vec<PathBuf> {
    let Some((_, names)) = text.split_once(": ") else { return Vec::new() };
    let joined = names.replace("\\\n", " ").replace("\\ ", "\0");
    joined.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

/// A path with `suffix` behind its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Writes a file only when it would change, so that what depends on it stays fresh.
pub(super) fn refresh(root: &Path, path: &Path, content: &[u8]) -> Result<(), StepError> {
    let held = below(root, path).and_then(|it| output_folder::read(root, it, files::PROGRAM));
    match held.is_ok_and(|held| held == content) {
        true => Ok(()),
        false => write(root, path, content),
    }
}

/// Writes a file of the project, and the folders it is in.
pub(super) fn write(root: &Path, path: &Path, content: &[u8]) -> Result<(), StepError> {
    let what = || format!("write {}", path.display());
    let below = below(root, path).map_err(io_error(what()))?;
    output_folder::write(root, below, content, Use::Data).map_err(io_error(what()))
}

/// The way from the project's folder to what lies in it.
pub(super) fn below<'a>(root: &Path, path: &'a Path) -> io::Result<&'a Path> {
    path.strip_prefix(root).map_err(|_| io::ErrorKind::InvalidInput.into())
}
