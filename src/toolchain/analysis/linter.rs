//! A linter: what it is given, how it is started, and what it tells.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::model::{ProjectPath, Severity, UserError};
use crate::sandbox::{Level, RunEnd, Runner, Wall};
use crate::text::sanitize;
use crate::toolchain::compile_units::CompileUnit;
use crate::toolchain::confined;
use crate::toolchain::process::{self, ProcessEnd, ProcessSpec};
use crate::toolchain::scratch::{OutputSink, RunEnv, ScratchFolder};

/// Output of one linter beyond this is not read, in bytes.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// Memory that a linter may take in the sandbox, in bytes.
const MEMORY: u64 = 2 << 30;

/// A message is cut after so many bytes.
const MAX_MESSAGE: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linter {
    /// LLVM's, which reads sources as the compiler does.
    ClangTidy,
    /// Reads sources without their headers.
    Cppcheck,
    /// Looks at the shape of a sketch.
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
    /// Runs them in the sandbox; `None`, or where there is none: as programs of the person.
    pub runner: Option<Runner>,
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

/// Why a source was not read for want of time.
pub(super) const NO_TIME: &str = "no time was left for it; use a longer `timeout`";

/// Why a linter did not read all sources.
pub(super) const CUT_SHORT: &str = "the time limit was reached before all sources were read";

/// What one linter tells.
#[derive(Debug, Default)]
pub(super) struct LinterReport {
    pub(super) issues: Vec<Issue>,
    pub(super) gaps: Vec<Gap>,
}

impl LinterReport {
    /// One of nothing but what is missing.
    pub(super) fn gap(tool: Linter, file: Option<ProjectPath>, why: &str) -> Self {
        Self { issues: Vec::new(), gaps: vec![Gap { tool, file, why: words(why) }] }
    }

    /// Adds what another reports.
    pub(super) fn extend(&mut self, other: Self) {
        self.issues.extend(other.issues);
        self.gaps.extend(other.gaps);
    }
}

/// What the linters of one analysis share.
pub(super) struct AnalysisRun<'a> {
    pub(super) order: &'a AnalysisOrder,
    pub(super) until: Instant,
}

impl AnalysisRun<'_> {
    /// Runs a program in a folder of the system's, where no file of the project is found by chance;
    /// returns what it printed, whole or not. `args` are made for a folder that it may write, which
    /// is removed.
    ///
    /// # Errors
    /// Why it told nothing to rely on.
    pub(super) async fn output(
        &self,
        program: &Path,
        args: impl FnOnce(&Path) -> Vec<OsString>,
    ) -> Result<Output, String> {
        let scratch = ScratchFolder::new().map_err(not_run)?;
        let args = args(&scratch.temporary());
        let rest = self.until.saturating_duration_since(Instant::now());
        if let Some(runner) = self.order.runner.as_ref()
            && runner.protection().level != Level::None
        {
            return self.confined(runner, &scratch, (program, args), rest).await;
        }
        let (env, folder) = (vec![("LC_ALL".into(), "C".into())], PathBuf::from("/"));
        let (program, cancel) = (program.as_os_str().to_owned(), self.order.cancel.clone());
        let job = ProcessSpec { program, args, env, folder, timeout: rest, cancel };
        let output = process::output(job, MAX_OUTPUT).await;
        let (ended, bytes) = output.map_err(|error| format!("it cannot be run: {error}"))?;
        let ended = match ended {
            ProcessEnd::Well => OutputEnd::Exit(0),
            ProcessEnd::Badly(Some(code)) => OutputEnd::Exit(code),
            ProcessEnd::Badly(None) => return Err("it crashed".to_owned()),
            ProcessEnd::TimedOut => OutputEnd::Cut,
            ProcessEnd::Cancelled => return Err("it was stopped".to_owned()),
        };
        Ok(Output { text: sanitize::decode(&bytes).into_owned(), ended })
    }

    /// The same in the sandbox: it reads the project, its own files and the headers that its arguments
    /// name, and writes `scratch`.
    async fn confined(
        &self,
        runner: &Runner,
        scratch: &ScratchFolder,
        (program, args): (&Path, Vec<OsString>),
        time: Duration,
    ) -> Result<Output, String> {
        let args = args.into_iter().map(OsString::into_string).collect::<Result<Vec<_>, _>>();
        let args = args.map_err(|_| "its arguments are not UTF-8".to_owned())?;
        let ends = (Arc::new(|_: &[u8]| {}) as OutputSink, self.order.cancel.clone());
        let env = RunEnv::new(runner, scratch, &self.order.project, ends, time);
        let mut job = env.program(program.to_owned(), args);
        job.limits.memory = MEMORY;
        job.env = vec![("LC_ALL".to_owned(), "C".to_owned())];
        job.reads = confined::reads(&self.order.project, program, &job.args);
        let captured = env.run(job).await.map_err(not_run)?;
        if captured.was_cancelled {
            return Err("it was stopped".to_owned());
        }
        let ended = match (captured.report.wall, captured.report.end) {
            (Some(Wall::Time), _) => OutputEnd::Cut,
            (Some(wall), _) => return Err(format!("it reached a limit of the sandbox ({wall})")),
            (None, RunEnd::Exit(code)) => OutputEnd::Exit(code),
            (None, RunEnd::Signal(_) | RunEnd::Stopped) => return Err("it crashed".to_owned()),
        };
        let bytes = captured.output.bytes();
        let bytes = bytes.get(..MAX_OUTPUT).unwrap_or(&bytes);
        Ok(Output { text: sanitize::decode(bytes).into_owned(), ended })
    }

    /// The path of a file in the project; `None` for one outside, or one that is no source of it.
    pub(super) fn inside(&self, file: &str) -> Option<ProjectPath> {
        let inside = Path::new(file).strip_prefix(&self.order.project).ok()?;
        let path = ProjectPath::new(inside.to_str()?).ok()?;
        let first = path.as_str().split('/').next();
        let is_made = matches!(first, Some("build" | "managed_components" | ".pio"));
        (!is_made).then_some(path)
    }

    pub(super) fn is_late(&self) -> bool {
        self.until <= Instant::now()
    }
}

fn not_run(error: UserError) -> String {
    format!("it cannot be run: {}", error.why)
}

/// How the output of a linter came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputEnd {
    /// The linter ended by itself, with this code.
    Exit(i32),
    /// Its time was over.
    Cut,
}

/// What a linter printed.
pub(super) struct Output {
    pub(super) text: String,
    pub(super) ended: OutputEnd,
}

impl Output {
    /// All that a linter printed that ended well.
    pub(super) const fn whole(text: String) -> Self {
        Self { text, ended: OutputEnd::Exit(0) }
    }

    /// Whether the linter came to its end.
    pub(super) fn is_whole(&self) -> bool {
        self.ended != OutputEnd::Cut
    }
}

/// Why a linter that ended by itself told nothing to rely on. What it printed is not passed on: it can
/// hold words of any file that it may read.
pub(super) fn no_report(ended: OutputEnd) -> String {
    let what = match ended {
        OutputEnd::Exit(code) if code != 0 => format!("it failed with exit code {code}"),
        OutputEnd::Exit(_) | OutputEnd::Cut => "it printed no whole report".to_owned(),
    };
    format!("{what}: start it in a terminal to see why")
}

/// One harmless line of bounded length.
pub(super) fn words(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_MESSAGE);
    sanitize::line(text.get(..end).unwrap_or(text).trim()).into_owned()
}
