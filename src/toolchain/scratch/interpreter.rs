//! The Python of this machine, for programs and tests that agents wrote.
//!
//! Owns where it is and what it can import. It is the person's own; that of a project is not run.

#![expect(clippy::disallowed_methods, reason = "the interpreter is asked where it is")]

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::captured::ConfinedProgram;
use super::run_env::RunEnv;
use crate::model::UserError;
use crate::toolchain::process::key_variables;

/// Asks for everything at once: starting an interpreter takes long.
const QUESTION: &str = include_str!("../../../assets/testing/firmhand_interpreter.py");

/// Folders within a project that usually hold its own packages.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Interpreter {
    pub program: PathBuf,
    prefixes: Vec<PathBuf>,
    /// E.g. `3.12`.
    pub version: String,
    /// Folders of packages that it finds only where the person calls it.
    packages: Vec<PathBuf>,
    /// Its version; `None` where it is not installed.
    pub pytest: Option<String>,
    /// As `pytest`.
    pub coverage: Option<String>,
}

/// An interpreter that was found for a run, and how programs are started with it.
#[derive(Debug)]
pub struct PythonStart {
    pub interpreter: Interpreter,
    /// Packages of the project's own environment.
    pub packages: Option<PathBuf>,
}

impl PythonStart {
    /// Finds it; the time of the run begins then.
    ///
    /// # Errors
    /// As [`Interpreter::find`].
    pub async fn find(env: &mut RunEnv<'_>) -> Result<Self, UserError> {
        let found = tokio::task::spawn_blocking(Interpreter::find).await;
        let interpreter =
            found.map_err(|error| UserError::new("Cannot run Python", error.to_string(), ""))??;
        env.begin();
        let packages = interpreter.packages_of(env.project);
        Ok(Self { interpreter, packages })
    }

    /// A program that finds modules in these folders, too.
    pub fn program(
        &self,
        env: &RunEnv<'_>,
        args: Vec<String>,
        folders: &[PathBuf],
    ) -> ConfinedProgram {
        let mut program = env.program(self.interpreter.program.clone(), args);
        let folders: Vec<PathBuf> = folders.iter().chain(&self.packages).cloned().collect();
        program.env = self.interpreter.env(&folders);
        program.reads = self.interpreter.reads().into_iter().chain(self.packages.clone()).collect();
        program
    }

    /// The same, which writes what it finds out into a file of the run's results.
    pub fn reporting(
        &self,
        env: &RunEnv<'_>,
        args: Vec<String>,
        folders: &[PathBuf],
        results: &str,
    ) -> ConfinedProgram {
        let mut program = self.program(env, args, folders);
        let results = env.scratch.results().join(results).display().to_string();
        program.env.push(("FIRMHAND_RESULTS".to_owned(), results));
        program
    }
}

impl Interpreter {
    /// Finds it.
    ///
    /// # Errors
    /// When there is none, with how to get one.
    pub fn find() -> Result<Self, UserError> {
        let mut command = Command::new("python3");
        // Not where the project's own files would be imported.
        command.args(["-c", QUESTION]).current_dir("/");
        for name in key_variables() {
            command.env_remove(name);
        }
        let missing = |why: String| {
            let fix = "Install Python 3, e.g. `sudo apt install python3`; it must be in PATH as `python3`.";
            UserError::new("Cannot run Python", why, fix)
        };
        let output = command.output().map_err(|error| {
            missing(match error.kind() {
                io::ErrorKind::NotFound => "there is no `python3`".to_owned(),
                _ => error.to_string(),
            })
        })?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let message = String::from_utf8_lossy(&output.stderr);
            let last = message.lines().last().unwrap_or_default();
            missing(format!("`python3` does not run: {}", crate::text::sanitize::line(last)))
        })
    }

    /// What it reads.
    #[must_use]
    pub fn reads(&self) -> Vec<PathBuf> {
        let own = self.prefixes.iter().chain(&self.packages).chain([&self.program]);
        own.cloned().collect()
    }

    /// Packages that a project has in a folder of its own, for this version of Python.
    #[must_use]
    pub fn packages_of(&self, project: &Path) -> Option<PathBuf> {
        let folders = ENVIRONMENTS.iter().map(|name| project.join(name));
        let mut packages = folders
            .filter(|folder| folder.join("pyvenv.cfg").is_file())
            .map(|folder| folder.join(format!("lib/python{}/site-packages", self.version)));
        let found = packages.find(|packages| packages.is_dir())?;
        // A link out of the project would have anything read.
        let real = std::fs::canonicalize(&found).ok()?;
        real.starts_with(std::fs::canonicalize(project).ok()?).then_some(real)
    }

    /// Variables that it runs with.
    #[must_use]
    pub fn env(&self, folders: &[PathBuf]) -> Vec<(String, String)> {
        let all = folders.iter().chain(&self.packages).map(|folder| folder.display().to_string());
        let path: Vec<String> = all.collect();
        [
            ("PYTHONPATH", path.join(":")),
            ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
            ("PYTHONIOENCODING", "utf-8:backslashreplace".to_owned()),
            ("PYTHONNOUSERSITE", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}
