//! Static analysis of a project by the linters that are installed.
//!
//! Owns which linters there are, how they are started, and the time they share. A linter gets the
//! project's sources to read and nothing else of it: no configuration of the project's counts, and
//! no argument is taken from it but what [`CompileUnit`] lets pass.

mod arduino_lint;
mod clang_tidy;
mod cppcheck;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::compile_units::CompileUnit;
use super::process::{self, ProcessEnd, ProcessSpec};
use crate::model::{ProjectPath, Severity};
use crate::text::sanitize;

/// Output of one linter beyond this is not read, in bytes.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// A message is cut after so many bytes.
const MAX_MESSAGE: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Linter {
    /// LLVM's, which reads sources as the compiler does.
    #[serde(rename = "clang-tidy")]
    ClangTidy,
    /// Reads sources without their headers.
    #[serde(rename = "cppcheck")]
    Cppcheck,
    /// Looks at the shape of a sketch.
    #[serde(rename = "arduino-lint")]
    ArduinoLint,
}

impl Linter {
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::ClangTidy => "clang-tidy",
            Self::Cppcheck => "cppcheck",
            Self::ArduinoLint => "arduino-lint",
        }
    }

    /// How it is installed.
    #[must_use]
    pub const fn install(self) -> &'static str {
        match (self, cfg!(target_os = "macos")) {
            (Self::ClangTidy, true) => "brew install llvm, then put its bin folder on the PATH",
            (Self::ClangTidy, false) => "sudo apt install clang-tidy",
            (Self::Cppcheck, true) => "brew install cppcheck",
            (Self::Cppcheck, false) => "sudo apt install cppcheck",
            (Self::ArduinoLint, true) => "brew install arduino-lint",
            (Self::ArduinoLint, false) => {
                "follow https://arduino.github.io/arduino-lint/latest/installation/"
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Issue {
    /// How bad it is.
    pub severity: Severity,
    /// The file; `None` when it is about the project as a whole.
    pub file: Option<ProjectPath>,
    /// Counted from 1.
    pub line: Option<u32>,
    /// Counted from 1.
    pub column: Option<u32>,
    /// One line of text.
    pub message: String,
    /// Who found it.
    pub tool: Linter,
    /// By which of its rules.
    pub rule: String,
}

/// What to analyse.
#[derive(Debug, Clone)]
pub struct AnalysisOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// Its sources, those that matter most first.
    pub files: Vec<ProjectPath>,
    /// How they are compiled, as far as that is known.
    pub units: Vec<CompileUnit>,
    /// Whether it is an Arduino sketch.
    pub is_sketch: bool,
    /// All linters together are ended after this.
    pub timeout: Duration,
    /// Ends them at once.
    pub cancel: CancellationToken,
}

/// Something that could not be analysed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    /// By which linter.
    pub tool: Linter,
    /// Which file; `None`: the project.
    pub file: Option<ProjectPath>,
    pub why: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// The findings, each once, the gravest first.
    pub issues: Vec<Issue>,
    /// Linters that ran.
    pub ran: Vec<Linter>,
    /// Linters that are not installed.
    pub missing: Vec<Linter>,
    /// What was left out, and why.
    pub gaps: Vec<Gap>,
}

/// What one linter tells.
#[derive(Debug, Default)]
struct LinterReport {
    issues: Vec<Issue>,
    gaps: Vec<Gap>,
}

/// Runs the linters that are installed, side by side.
pub async fn analyze(order: &AnalysisOrder) -> Analysis {
    let path = std::env::var_os("PATH").unwrap_or_default();
    analyze_with(order, &|linter| find(&path, linter.program())).await
}

async fn analyze_with(
    order: &AnalysisOrder,
    find: &(dyn Fn(Linter) -> Option<PathBuf> + Sync),
) -> Analysis {
    let until = Instant::now() + order.timeout;
    let mut analysis = Analysis::default();
    let (tidy, check) = (find(Linter::ClangTidy), find(Linter::Cppcheck));
    let lint = find(Linter::ArduinoLint);
    let run = Run { order, until };
    // Each is a process of its own, so that waiting for one holds none of the others up.
    let (tidy, check, lint) = futures::join!(
        async { Some(clang_tidy::run(&run, tidy.as_deref()?).await) },
        async { Some(cppcheck::run(&run, check.as_deref()?).await) },
        async {
            let program = lint.as_deref().filter(|_| order.is_sketch)?;
            Some(arduino_lint::run(&run, program).await)
        },
    );
    let mut issues = BTreeSet::new();
    for (linter, reported) in
        [(Linter::ClangTidy, tidy), (Linter::Cppcheck, check), (Linter::ArduinoLint, lint)]
    {
        match reported {
            Some(reported) => {
                analysis.ran.push(linter);
                issues.extend(reported.issues);
                analysis.gaps.extend(reported.gaps);
            }
            None if linter != Linter::ArduinoLint || order.is_sketch => {
                analysis.missing.push(linter);
            }
            None => {}
        }
    }
    analysis.issues = issues.into_iter().collect();
    analysis
}

/// What the linters of one analysis share.
struct Run<'a> {
    order: &'a AnalysisOrder,
    until: Instant,
}

impl Run<'_> {
    /// Runs a program in a folder of the system's, where no file of the project is found by chance;
    /// returns what it printed, whole or not.
    ///
    /// # Errors
    /// Why it told nothing to rely on.
    async fn output(&self, program: &Path, args: Vec<OsString>) -> Result<Output, String> {
        let rest = self.until.saturating_duration_since(Instant::now());
        let job = ProcessSpec {
            program: program.as_os_str().to_owned(),
            args,
            env: vec![("LC_ALL".into(), "C".into())],
            folder: PathBuf::from("/"),
            timeout: rest,
            cancel: self.order.cancel.clone(),
        };
        let output = process::output(job, MAX_OUTPUT).await;
        let (ended, bytes) = output.map_err(|error| format!("it cannot be run: {error}"))?;
        let is_whole = match ended {
            ProcessEnd::Well | ProcessEnd::Badly(Some(_)) => true,
            ProcessEnd::Badly(None) => return Err("it crashed".to_owned()),
            ProcessEnd::TimedOut => false,
            ProcessEnd::Cancelled => return Err("it was stopped".to_owned()),
        };
        Ok(Output { text: sanitize::decode(&bytes).into_owned(), is_whole })
    }

    /// The path of a file in the project; `None` for one outside, or one that is no source of it.
    fn inside(&self, file: &str) -> Option<ProjectPath> {
        let inside = Path::new(file).strip_prefix(&self.order.project).ok()?;
        let path = ProjectPath::new(inside.to_str()?).ok()?;
        let is_made = ["build", "managed_components", ".pio"]
            .iter()
            .any(|folder| path.as_str().split('/').next() == Some(folder));
        (!is_made).then_some(path)
    }

    fn is_late(&self) -> bool {
        self.until <= Instant::now()
    }
}

/// What a linter printed.
struct Output {
    text: String,
    /// Whether it came to its end.
    is_whole: bool,
}

/// The issues in what a linter printed, as [`analyze`] tells them; nothing is run.
#[doc(hidden)]
#[must_use]
pub fn issues_in(linter: Linter, order: &AnalysisOrder, text: &str) -> Vec<Issue> {
    let run = Run { order, until: Instant::now() };
    let reported = match linter {
        Linter::ClangTidy => {
            let output = Output { text: text.to_owned(), is_whole: true };
            clang_tidy::read_source(&run, &output)
        }
        Linter::Cppcheck => cppcheck::read(&run, text),
        Linter::ArduinoLint => arduino_lint::read(&run, text).unwrap_or_default(),
    };
    reported.issues
}

/// One harmless line of bounded length.
fn words(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_MESSAGE);
    sanitize::line(text.get(..end).unwrap_or(text).trim()).into_owned()
}

/// Looks a program up in the absolute folders of a `PATH`: others depend on where one stands.
fn find(path: &std::ffi::OsStr, program: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
#[path = "analysis_tests.rs"]
mod tests;
