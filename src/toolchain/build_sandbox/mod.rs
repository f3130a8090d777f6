//! Builds behind walls: they read the machine without the person's keys, and write what a build makes.
//!
//! Owns who may write what. Where the machine has no such walls, or the person has turned them off,
//! builds run as programs of the person. Must not know toolchains: each names its own folders.

mod changes;
mod environment;
mod places;
mod refusal;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::confined::{self, ConfinedEnd};
use super::hidden;
use super::process::{self, ProcessEnd, ProcessSpec, keep};
use crate::model::{Diagnostic, UserError};
use crate::sandbox::{Limits, MachineView, RunEnd, Runner, WallFailure, Walls, machine};

pub(super) use changes::Changes;
pub(super) use places::{BuildPlaces, compiler_caches, is_guarded, tool_cache};
pub(super) use refusal::Refusals;

/// What to do when the walls of a build cannot be set up.
const FIX: &str = "`builds = \"off\"` below `[sandbox]` of your own config.toml runs builds without the \
                   sandbox.";

/// A build that was not started, because its walls could not be set up.
#[derive(Debug)]
struct NotSetUp(String);

impl std::fmt::Display for NotSetUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the sandbox of builds cannot be set up: {}", self.0)
    }
}

impl std::error::Error for NotSetUp {}

/// What to do about a build that could not be started, when its walls are the reason.
pub(super) fn fix_of(error: &std::io::Error) -> Option<&'static str> {
    error.get_ref().filter(|inner| inner.is::<NotSetUp>()).map(|_| FIX)
}

/// Why that program did not start; `usual` says what to do where the sandbox is not the reason.
pub(super) fn not_started(program: &Path, error: &std::io::Error, usual: &str) -> UserError {
    UserError::from_cause(format!("Cannot run {}", program.display()), error)
        .fix(fix_of(error).unwrap_or(usual))
}

/// Beginnings of the names of variables that name folders of toolchains.
const TOOLS: [&str; 7] =
    ["IDF_", "ESP_", "PLATFORMIO_", "ARDUINO_", "CCACHE_", "PYTHON", "VIRTUAL_ENV"];

/// Whether the person has builds behind walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildWalls {
    On,
    Off,
}

/// Runs builds behind walls.
#[derive(Debug, Clone)]
pub struct BuildSandbox {
    pub runner: Runner,
    pub walls: BuildWalls,
    /// Hidden from builds beside what is hidden for everybody: this program's own folders.
    pub private: Vec<PathBuf>,
    /// What the person lets builds write besides; relative paths are the project's.
    pub writable: Vec<PathBuf>,
}

/// Where a build runs.
#[derive(Debug, Clone)]
pub(super) struct BuildSite<'a> {
    pub(super) sandbox: Option<&'a BuildSandbox>,
    pub(super) places: BuildPlaces,
}

impl BuildSandbox {
    /// Whether builds run behind walls.
    ///
    /// # Errors
    /// What this machine does not allow.
    pub fn check(&self) -> Result<(), &WallFailure> {
        self.runner.builds()
    }

    /// What the person lets builds write besides, and what of it is hidden from builds all the same.
    fn writable(&self, project: &Path, hidden: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let all = self.writable.iter().map(|path| project.join(path));
        let real = all.map(|path| std::fs::canonicalize(&path).unwrap_or(path));
        let hidden: Vec<PathBuf> =
            hidden.iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect();
        let is_shown = |path: &PathBuf| {
            path.starts_with(project) || !hidden.iter().any(|hidden| path.starts_with(hidden))
        };
        real.filter(|path| path.exists()).partition(is_shown)
    }

    /// The walls of a build, the folder that they need as long as it runs, and what of the person's
    /// settings they do not heed.
    ///
    /// # Errors
    /// What is in the way.
    fn prepare(&self, job: &ProcessSpec, places: &BuildPlaces) -> Result<Prepared, String> {
        let env = environment::environment(job)?;
        let program = environment::found(&job.program, &env)
            .ok_or_else(|| format!("{} was not found", job.program.display()))?;
        if std::fs::canonicalize(&program)
            .is_ok_and(|real| real.file_name() == Some("snap".as_ref()))
        {
            return Err(format!("{} is a snap, which does not run in it", program.display()));
        }
        let args: Option<Vec<String>> =
            job.args.iter().map(|arg| Some(arg.to_str()?.to_owned())).collect();
        let args = args.filter(|_| job.folder.to_str().is_some());
        let args = args.ok_or("the path of the project is not UTF-8")?;
        let temporary = tempfile::Builder::new().prefix("firmhand-build-").tempdir();
        let temporary = temporary.map_err(|error| format!("no temporary folder: {error}"))?;
        let home = env.get("HOME").map(PathBuf::from);
        let listed = |error: std::io::Error| format!("{}: {error}", places.project.display());
        let project = std::fs::canonicalize(&places.project).map_err(listed)?;
        let mut hidden = hidden::of_person(home.as_deref());
        hidden.extend(self.private.iter().cloned());
        let (own, refused) = self.writable(&project, &hidden);
        let elsewhere = places.folders.iter().filter(|path| path.exists()).cloned();
        let writes: Vec<PathBuf> =
            std::iter::once(project.clone()).chain(elsewhere).chain(own).collect();
        let mut reads: Vec<PathBuf> = machine().collect();
        reads.push("/etc/resolv.conf".into());
        reads.extend(temporary_folders(&program, &env, &writes));
        let fixed = places::fixed_of_project(&project, places, &self.writable).map_err(listed)?;
        reads.extend(fixed.into_iter().chain(places.fixed.iter().cloned()));
        let walls = Walls {
            program,
            args,
            env: env.into_iter().collect(),
            folder: job.folder.clone(),
            reads,
            writes,
            limits: Limits::default(),
            machine: Some(MachineView { hidden, temporary: temporary.path().to_owned() }),
        };
        Ok(Prepared { walls, temporary, refused })
    }
}

/// Walls that are ready for a build.
struct Prepared {
    walls: Walls,
    temporary: tempfile::TempDir,
    /// What the person lets builds write, and they do not all the same.
    refused: Vec<PathBuf>,
}

impl BuildSite<'_> {
    /// As [`process::run`], behind walls where there are some; what keeps them away is printed.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(super) async fn run(
        &self,
        job: ProcessSpec,
        mut output: impl FnMut(&[u8]),
    ) -> std::io::Result<ProcessEnd> {
        let Some(sandbox) = self.sandbox.filter(|sandbox| sandbox.walls == BuildWalls::On) else {
            return process::run(job, output).await;
        };
        let (sandbox_, spec, places) = (sandbox.clone(), job.clone(), self.places.clone());
        let prepared = tokio::task::spawn_blocking(move || {
            sandbox_.check().map_err(Clone::clone)?;
            Ok::<_, WallFailure>(sandbox_.prepare(&spec, &places))
        });
        let prepared = match prepared.await? {
            Ok(prepared) => prepared.map_err(|why| std::io::Error::other(NotSetUp(why)))?,
            Err(why) => {
                output(format!("-- This runs without the sandbox: {why}\n").as_bytes());
                return process::run(job, output).await;
            }
        };
        let Prepared { walls, temporary: _temporary, refused } = prepared;
        for path in refused {
            let path = path.display();
            output(format!("-- Not writable, because it holds keys: {path}\n").as_bytes());
        }
        let stop = async {
            tokio::select! {
                () = job.cancel.cancelled() => ProcessEnd::Cancelled,
                () = tokio::time::sleep(job.timeout) => ProcessEnd::TimedOut,
            }
        };
        let ended = confined::run_until(&sandbox.runner, walls, output, stop).await;
        let report = match ended.map_err(|error| std::io::Error::other(NotSetUp(error.why)))? {
            ConfinedEnd::Report(report) => report,
            ConfinedEnd::Stopped(end) => return Ok(end),
        };
        Ok(match report.end {
            RunEnd::Exit(0) => ProcessEnd::Well,
            RunEnd::Exit(code) => ProcessEnd::Badly(Some(code)),
            RunEnd::Signal(_) | RunEnd::Stopped => ProcessEnd::Badly(None),
        })
    }

    /// As [`BuildSite::run`]; the first `most` bytes of what it prints are kept.
    ///
    /// # Errors
    /// As [`BuildSite::run`].
    pub(super) async fn output(
        &self,
        job: ProcessSpec,
        most: usize,
    ) -> std::io::Result<(ProcessEnd, Vec<u8>)> {
        let mut output = Vec::new();
        let ended = self.run(job, |bytes| keep(&mut output, bytes, most)).await?;
        Ok((ended, output))
    }
}

/// What the walls kept a build from that printed this.
pub(super) fn refusal_in(output: &[u8]) -> Option<Diagnostic> {
    let mut refusals = Refusals::default();
    refusals.push(output);
    refusals.finish()
}

/// Folders below those for temporary files that a build is run from or works with: it has other ones
/// in their place, and these are shown in them.
fn temporary_folders(
    program: &Path,
    env: &BTreeMap<String, String>,
    writes: &[PathBuf],
) -> Vec<PathBuf> {
    let is_tools = |name: &str| name == "PATH" || TOOLS.iter().any(|tool| name.starts_with(tool));
    let named = env.iter().filter(|(name, _)| is_tools(name));
    let named = named.flat_map(|(_, value)| std::env::split_paths(value));
    let all = named.chain(writes.iter().cloned()).chain([program.to_owned()]);
    let real = all.filter_map(|path| std::fs::canonicalize(path).ok());
    let mut folders: Vec<PathBuf> = real.filter_map(|path| first_below_temporary(&path)).collect();
    folders.sort();
    folders.dedup();
    folders
}

fn first_below_temporary(path: &Path) -> Option<PathBuf> {
    let around = ["/tmp", "/var/tmp"].into_iter().find(|around| path.starts_with(around))?;
    match path.strip_prefix(around).ok()?.components().next()? {
        Component::Normal(name) => Some(Path::new(around).join(name)),
        _ => None,
    }
}

/// What stands around builds on this machine, in a few words; `None`: the walls stand.
#[must_use]
pub fn without_walls(sandbox: &BuildSandbox) -> Option<String> {
    match sandbox.walls {
        BuildWalls::Off => Some("walls around builds (turned off in the settings)".to_owned()),
        BuildWalls::On => {
            sandbox.check().err().map(|failure| format!("walls around builds ({failure})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_below_temporary_ones_are_shown_as_a_whole() {
        let first = |path: &str| first_below_temporary(Path::new(path));
        assert_eq!(first("/tmp/work/idf/tools"), Some("/tmp/work".into()));
        assert_eq!(first("/var/tmp/x"), Some("/var/tmp/x".into()));
        assert_eq!((first("/tmp"), first("/home/me/tmp/x")), (None, None));
    }
}
