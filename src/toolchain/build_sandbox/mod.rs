//! Builds behind walls: they read the machine without the person's keys, and write what a build makes.
//!
//! Owns who may write what. Where the machine has no such walls, or the person has turned them off,
//! builds run as programs of the person. Must not know toolchains: each names its own folders.

mod changes;
mod hidden;
mod refusal;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::confined;
use super::output_folder;
use super::process::{self, ProcessEnd, ProcessSpec, key_variables};
use crate::model::Diagnostic;
use crate::sandbox::{Limits, MachineView, RunEnd, Runner, WallFailure, Walls, machine};

pub(super) use changes::Changes;
pub(super) use refusal::Refusals;

/// Variables that lead to running programs of the person, such as those that hold keys.
const SOCKETS: [&str; 4] =
    ["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// Variables that name the folder for temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

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

/// What builds of one kind write.
#[derive(Debug, Clone, Default)]
pub(super) struct BuildPlaces {
    /// Absolute path of the project.
    pub(super) project: PathBuf,
    /// Beginnings of the names of what they write at the top of the project. Everything else that is
    /// there stays as it is.
    pub(super) made: Vec<&'static str>,
    /// Folders that they write elsewhere; those that are not there are left out.
    pub(super) folders: Vec<PathBuf>,
    /// What stays as it is in those.
    pub(super) fixed: Vec<PathBuf>,
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

    /// The walls of a build, and the folder that they need as long as it runs.
    ///
    /// # Errors
    /// Why it runs without them.
    fn prepare(
        &self,
        job: &ProcessSpec,
        places: &BuildPlaces,
    ) -> Result<(Walls, tempfile::TempDir), String> {
        self.check().map_err(ToString::to_string)?;
        let env = environment(job)?;
        let program = found(&job.program, &env).ok_or("its program was not found")?;
        if std::fs::canonicalize(&program)
            .is_ok_and(|real| real.file_name() == Some("snap".as_ref()))
        {
            return Err("a snap needs rights that the sandbox does not give".to_owned());
        }
        let args: Option<Vec<String>> =
            job.args.iter().map(|arg| Some(arg.to_str()?.to_owned())).collect();
        let args = args.filter(|_| job.folder.to_str().is_some());
        let args = args.ok_or("the path of the project is not UTF-8")?;
        let temporary = tempfile::Builder::new().prefix("firmhand-build-").tempdir();
        let temporary = temporary.map_err(|error| format!("no temporary folder: {error}"))?;
        let home = env.get("HOME").map(PathBuf::from);
        let project = std::fs::canonicalize(&places.project).map_err(|error| error.to_string())?;
        let own = self.writable.iter().map(|path| project.join(path));
        let elsewhere = places.folders.iter().cloned().chain(own).filter(|path| path.exists());
        let writes: Vec<PathBuf> = std::iter::once(project.clone()).chain(elsewhere).collect();
        let mut hidden = hidden::of_person(home.as_deref());
        hidden.extend(self.private.iter().cloned());
        let mut reads: Vec<PathBuf> = machine().collect();
        reads.push("/etc/resolv.conf".into());
        reads.extend(temporary_folders(&program, &env, &writes));
        reads.extend(fixed_of_project(&project, places, &self.writable));
        reads.extend(places.fixed.iter().cloned());
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
        Ok((walls, temporary))
    }
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
        let prepared =
            tokio::task::spawn_blocking(move || sandbox_.prepare(&spec, &places)).await?;
        let (walls, _temporary) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                output(format!("-- This runs without the sandbox: {why}\n").as_bytes());
                return process::run(job, output).await;
            }
        };
        let run = confined::run(&sandbox.runner, walls, output);
        let ended = tokio::select! {
            biased;
            () = job.cancel.cancelled() => return Ok(ProcessEnd::Cancelled),
            () = tokio::time::sleep(job.timeout) => return Ok(ProcessEnd::TimedOut),
            ended = run => ended,
        };
        let report = ended.map_err(|error| {
            std::io::Error::other(format!(
                "{}; `builds = \"off\"` below `[sandbox]` of your config.toml runs builds without the sandbox",
                error.why
            ))
        })?;
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
        let ended = self.run(job, |bytes| {
            let space = most.saturating_sub(output.len());
            output.extend_from_slice(bytes.get(..space).unwrap_or(bytes));
        });
        let ended = ended.await?;
        Ok((ended, output))
    }
}

/// What the walls kept a build from that printed this.
pub(super) fn refusal_in(output: &[u8]) -> Option<Diagnostic> {
    let mut refusals = Refusals::default();
    refusals.push(output);
    refusals.finish()
}

/// The folder that a variable names, else the one below the home folder.
pub(super) fn named_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below_home)))
}

/// Caches that builds write: the tool's own, which is made when it is not there yet, and those of
/// compilers.
pub(super) fn caches(variable: &str, name: &str) -> Vec<PathBuf> {
    let around = named_folder("XDG_CACHE_HOME", ".cache");
    let own = around.as_ref().map(|around| around.join(name));
    let own = std::env::var_os(variable).map(PathBuf::from).or(own);
    if let Some(own) = own.as_ref().filter(|own| own.is_absolute()) {
        let below = own.strip_prefix("/").unwrap_or(own);
        // Without it the tool says itself what it misses.
        let _ = output_folder::make_folder(Path::new("/"), below);
    }
    let ccache = around.map(|around| around.join("ccache"));
    let ccache = ccache.into_iter().chain(named_folder("CCACHE_DIR", ".ccache"));
    own.into_iter().chain(ccache).collect()
}

/// The variables of a build: the person's own, but for keys and ways to running programs.
fn environment(job: &ProcessSpec) -> Result<BTreeMap<String, String>, String> {
    let keys: Vec<OsString> = key_variables().collect();
    let own = std::env::vars_os()
        .filter(|(name, _)| !keys.contains(name) && SOCKETS.iter().all(|socket| name != socket));
    let mut env = BTreeMap::new();
    for (name, value) in own.chain(job.env.iter().cloned()) {
        let text = |text: OsString| text.into_string().map_err(|_| "a variable is not UTF-8");
        env.insert(text(name)?, text(value)?);
    }
    env.retain(|name, _| !TEMPORARY.contains(&name.as_str()));
    env.insert("TMPDIR".to_owned(), "/tmp".to_owned());
    Ok(env)
}

/// The program that a name means in this environment.
fn found(program: &OsStr, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let program = Path::new(program);
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let path = env.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
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

/// What lies at the top of the project and is not made by builds. A link is left out: what it leads to
/// is elsewhere.
fn fixed_of_project(project: &Path, places: &BuildPlaces, writable: &[PathBuf]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project).into_iter().flatten().flatten();
    let fixed = entries.filter(|entry| {
        let name = entry.file_name();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let is_allowed = writable.iter().any(|path| project.join(path) == entry.path());
        !is_link && !is_allowed && !is_made(&name, places)
    });
    fixed.map(|entry| entry.path()).collect()
}

/// Whether something at the top of the project is made by builds: by its name, or by its name and an
/// ending.
fn is_made(name: &OsStr, places: &BuildPlaces) -> bool {
    let name = name.to_string_lossy();
    places.made.iter().any(|made| {
        name.strip_prefix(made).is_some_and(|rest| {
            // The defaults of a configuration are sources.
            rest.is_empty() || (rest.starts_with('.') && !rest.starts_with(".defaults"))
        })
    })
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
    fn what_a_build_makes_is_told_from_sources_by_its_name() {
        let places = BuildPlaces {
            made: vec!["build", "sdkconfig", "dependencies.lock"],
            ..BuildPlaces::default()
        };
        for (name, made) in [
            ("build", true),
            ("sdkconfig", true),
            ("sdkconfig.old", true),
            ("dependencies.lock.esp32", true),
            ("sdkconfig.defaults", false),
            ("sdkconfig.defaults.esp32", false),
            ("build_tools", false),
            ("main", false),
            (".git", false),
        ] {
            assert_eq!(is_made(name.as_ref(), &places), made, "{name}");
        }
    }

    #[test]
    fn folders_below_temporary_ones_are_shown_as_a_whole() {
        let first = |path: &str| first_below_temporary(Path::new(path));
        assert_eq!(first("/tmp/work/idf/tools"), Some("/tmp/work".into()));
        assert_eq!(first("/var/tmp/x"), Some("/var/tmp/x".into()));
        assert_eq!((first("/tmp"), first("/home/me/tmp/x")), (None, None));
    }
}
