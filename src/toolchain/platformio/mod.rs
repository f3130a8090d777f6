//! PlatformIO: builds one environment of a project with `pio`, and brings it to a board.
//!
//! Must not decide what `platformio.ini` means, nor write into the project beside PlatformIO's own
//! folder. What a build lacks, PlatformIO fetches itself; without a network that is told. A project
//! for this machine (`platform = native`) runs as a process, and says so.

mod build_output;
mod folders;
mod install;
mod lines;
mod messages;
mod project;
mod report;
mod upload;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::build_sandbox::{self, BuildPlaces, BuildSandbox, BuildSite};
use super::chip::{self, FlashAccess, Loader};
use super::compile_units::{self, CompileUnit};
use super::diagnostics;
use super::esptool;
use super::flow;
use super::host_board::HostBoard;
use super::process::{ProcessEnd, ProcessSpec};
use super::size;
use super::syntax::{self, Finding, SyntaxJob};
use super::{
    BoardName, BuildJob, BuildReport, BuildSink, BuildTarget, CompareOrder, Compared, EraseOrder,
    FlashOrder, ReadOrder, RewriteOrder, Toolchain,
};
use crate::model::{
    BoardInfo, BuildId, BuildOutcome, FlashPlan, ProgramSize, Timestamp, UserError,
};
use crate::sandbox::Runner;
use build_output::BuildNote;
pub(super) use build_output::monitor_speed;
use folders::BuildFolders;
use messages::PioMessages;
pub use messages::add_messages;
use project::{Config, Environment, FILE, WHAT};
pub use project::{is_at, is_esp_idf};
use report::{failed_at_file, judge};

/// Environments are asked for in passing: an answer that takes longer does without them.
const ASK_TIME: Duration = Duration::from_secs(4);

/// An answer that takes longer than this after a build is done without.
const TELL_TIME: Duration = Duration::from_secs(60);

/// A longer configuration is not read, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// What to do when PlatformIO cannot be started.
const NOT_STARTED: &str = "Check that PlatformIO Core is installed and executable.";

/// What every call is told: no colours, no bars, no questions, and nothing sent home.
const QUIET: [(&str, &str); 5] = [
    ("PLATFORMIO_NO_ANSI", "true"),
    ("PLATFORMIO_DISABLE_PROGRESSBAR", "true"),
    ("PLATFORMIO_DISABLE_UPGRADE_CHECK", "true"),
    ("PLATFORMIO_SETTING_ENABLE_TELEMETRY", "no"),
    ("PLATFORMIO_SETTING_CHECK_PRUNE_SYSTEM_THRESHOLD", "0"),
];

/// The findings in what PlatformIO printed of a build that failed, and the labels of the
/// environments in what it printed of its configuration; nothing is run.
#[doc(hidden)]
#[must_use]
pub fn messages_in(project: &Path, output: &[u8]) -> (Vec<crate::model::Diagnostic>, Vec<String>) {
    let config = Config::parse(output, project, Path::new("/core")).unwrap_or_default();
    let labels = config.environments.iter().map(Environment::label).collect();
    let mut message = PioMessages::default();
    message.push(output);
    let mut found = diagnostics::parse(project, output);
    let _offline = message.judge(project, &mut found);
    (found, labels)
}

/// An installed PlatformIO Core.
#[derive(Debug, Clone)]
pub struct PlatformioToolchain {
    pio: PathBuf,
    /// Where PlatformIO keeps what it installs, unless a project says otherwise.
    core: PathBuf,
    /// Where programs for this machine are kept and run; `None` until a session gives a place.
    host: Option<Arc<HostBoard>>,
    /// The port that the person has named in `ESPPORT`.
    port: Option<String>,
    /// By what boards are flashed; `None`: as the environment says.
    loader: Option<Loader>,
    /// The last configuration that was asked for.
    asked: Arc<Mutex<Option<CachedAnswer>>>,
    /// Runs builds behind walls; `None`: as programs of the person.
    sandbox: Option<BuildSandbox>,
}

/// An answer, and what it was about.
#[derive(Debug, Clone)]
struct CachedAnswer {
    project: PathBuf,
    /// Change and length of `platformio.ini`.
    stamp: Option<(SystemTime, u64)>,
    config: Arc<Config>,
}

impl PlatformioToolchain {
    /// Finds `pio` on the PATH, or where PlatformIO's installer puts it.
    ///
    /// # Errors
    /// When it is in neither place.
    pub fn find() -> Result<Self, UserError> {
        let (found, core) = install::find(&|name| std::env::var_os(name))?;
        Ok(Self { port: esptool::named_port(), ..Self::at(found, core) })
    }

    /// The one at that path, which keeps what it installs in `core`, whatever the environment says.
    #[must_use]
    pub fn at(pio: PathBuf, core: PathBuf) -> Self {
        let asked = Arc::default();
        Self { pio, core, host: None, port: None, loader: None, asked, sandbox: None }
    }

    /// The same, with a folder in which programs for this machine are kept and run. It is made when
    /// the first of them is.
    #[must_use]
    pub fn with_host_folder(self, folder: PathBuf, runner: Runner) -> Self {
        Self { host: Some(Arc::new(HostBoard::new("host process", folder, runner))), ..self }
    }

    /// The same, for the board at that port.
    #[must_use]
    pub fn with_port(self, port: String) -> Self {
        Self { port: Some(port), ..self }
    }

    /// The same, with boards flashed by `loader`.
    #[must_use]
    pub fn with_loader(self, loader: Loader) -> Self {
        Self { loader: Some(loader), ..self }
    }

    /// The same, with builds in a sandbox.
    #[must_use]
    pub fn with_build_sandbox(self, sandbox: BuildSandbox) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// What an environment of a project writes; without one, what PlatformIO writes to answer.
    fn site(&self, project: &Path, chosen: Option<(&Config, &Environment)>) -> BuildSite<'_> {
        let mut made = vec![".pio", "managed_components", "sdkconfig", "dependencies.lock"];
        made.push("compile_commands.json");
        let BuildFolders { written: folders, fixed, .. } = self.folders(project, chosen);
        let mut places = BuildPlaces { project: project.to_owned(), made, folders, fixed };
        if chosen.is_some() {
            places.add(build_sandbox::compiler_caches());
        }
        BuildSite { sandbox: self.sandbox.as_ref(), places }
    }

    fn folders(&self, project: &Path, chosen: Option<(&Config, &Environment)>) -> BuildFolders {
        folders::folders_of(project, &self.core, &self.pio, chosen)
    }

    /// The way to the flash of the project's chip.
    fn reach(&self, project: &Path) -> FlashAccess<'_> {
        let baud = BuildNote::read(project).and_then(|note| note.upload_speed);
        let asked = chip::EsptoolOptions { baud, ..chip::EsptoolOptions::default() };
        FlashAccess { esptool: self, asked, loader: self.loader }
    }

    /// The board that runs programs for this machine.
    fn host(&self) -> Result<&HostBoard, UserError> {
        self.host.as_deref().ok_or_else(|| {
            UserError::new(
                "Cannot run a program for this machine",
                "no folder was given to run it in",
                "Choose an environment with a board.",
            )
        })
    }

    async fn run_build(&self, job: BuildJob) -> BuildReport {
        let BuildJob { project, board, sink, timeout, cancel } = job;
        if !is_at(&project) {
            let why = format!("the folder holds no {FILE}");
            let fix = format!("Name a folder with a {FILE}, or choose another toolchain.");
            return BuildReport::not_run(UserError::new(WHAT, why, fix));
        }
        sink.progress(0, 1);
        let config = match self.config(&project, timeout, &cancel, sink.as_ref()).await {
            Ok(config) => config,
            Err(report) => return *report,
        };
        let environment = match config.choose(board.as_deref()) {
            Ok(environment) => environment,
            Err(error) if board.is_some() => return BuildReport::not_run(error),
            Err(error) => return failed_at_file(error),
        };
        let args = vec!["run".into(), option("--environment=", &environment.name)];
        sink.output(report::opening(&config, environment).as_bytes());
        let mut message = PioMessages::default();
        let chosen = Some((config.as_ref(), environment));
        for folder in self.folders(&project, chosen).refused {
            sink.output(report::refused(&folder).as_bytes());
        }
        let site = self.site(&project, chosen);
        let job = self.process(args, &project, timeout, &cancel);
        let built = flow::build(job, &site, &*sink, |bytes| message.push(bytes)).await;
        let report = match built {
            Ok((ended, found)) => judge(ended, found, message, &project),
            Err(error) => return BuildReport::not_run(self.not_started(&error)),
        };
        if matches!(report.outcome, BuildOutcome::Passed | BuildOutcome::Failed) {
            self.remember(&project, &config, environment, &cancel, sink.as_ref()).await;
        }
        sink.progress(1, 1);
        report
    }

    /// Has PlatformIO tell how it compiles, and notes what the build was for. Without it a build
    /// has passed no less; what needs it says so.
    async fn remember(
        &self,
        project: &Path,
        config: &Config,
        environment: &Environment,
        cancel: &CancellationToken,
        sink: &dyn BuildSink,
    ) {
        let note = BuildNote::of(project, config, environment);
        if build_output::is_stale(project, &note, &config.packages) {
            let mut args: Vec<OsString> = vec!["run".into()];
            args.push(option("--environment=", &environment.name));
            args.extend(["--target", "idedata"].map(OsString::from));
            let job = self.process(args, project, TELL_TIME, cancel);
            let ended = self.site(project, Some((config, environment))).run(job, |_| {}).await;
            if !matches!(ended, Ok(ProcessEnd::Well)) {
                sink.output(b"-- PlatformIO gives no compile commands for this environment\n");
            }
        }
        if let Err(error) = note.keep(project, &config.packages) {
            let words = format!("-- The record of the build could not be written: {error}\n");
            sink.output(words.as_bytes());
        }
    }

    /// What PlatformIO understands of the project: of the same file it is asked once.
    async fn config(
        &self,
        project: &Path,
        timeout: Duration,
        cancel: &CancellationToken,
        sink: &dyn BuildSink,
    ) -> Result<Arc<Config>, Box<BuildReport>> {
        let stamp = stamp(project);
        if let Some(config) = self.known(project).filter(|asked| asked.stamp == stamp) {
            return Ok(config.config);
        }
        let args = ["project", "config", "--json-output"].map(OsString::from).to_vec();
        let job = self.process(args, project, timeout, cancel);
        let report = match self.site(project, None).output(job, MAX_ANSWER).await {
            Ok((ProcessEnd::Well, output)) => {
                let Some(config) = Config::parse(&output, project, &self.core) else {
                    sink.output(&output);
                    let why = "its answer is not that of `pio project config --json-output`";
                    let fix =
                        "Look at the log of this build; PlatformIO Core 5 and 6 are supported.";
                    return Err(Box::new(BuildReport::not_run(UserError::new(WHAT, why, fix))));
                };
                let (project, config) = (project.to_owned(), Arc::new(config));
                let asked = CachedAnswer { project, stamp, config: Arc::clone(&config) };
                *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
                return Ok(config);
            }
            Ok((ended @ ProcessEnd::Badly(_), output)) => {
                sink.output(&output);
                let mut message = PioMessages::default();
                message.push(&output);
                judge(ended, diagnostics::parse(project, &output), message, project)
            }
            Ok((ended @ (ProcessEnd::TimedOut | ProcessEnd::Cancelled), _)) => {
                BuildReport::of(ended.into())
            }
            Err(error) => BuildReport::not_run(self.not_started(&error)),
        };
        Err(Box::new(report))
    }

    /// The last answer, if it was about that project and nothing but its one file is in it.
    fn known(&self, project: &Path) -> Option<CachedAnswer> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        asked.filter(|asked| asked.project == project && !asked.config.has_more_files)
    }

    fn process(
        &self,
        args: Vec<OsString>,
        folder: &Path,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> ProcessSpec {
        let env = QUIET.map(|(name, value)| (name.into(), value.into())).to_vec();
        let (program, folder) = (self.pio.clone().into_os_string(), folder.to_owned());
        ProcessSpec { program, args, env, folder, timeout, cancel: cancel.clone() }
    }

    fn not_started(&self, error: &std::io::Error) -> UserError {
        build_sandbox::not_started(&self.pio, error, NOT_STARTED)
    }

    async fn environments(&self, project: &Path) -> Vec<BoardName> {
        if !is_at(project) {
            return Vec::new();
        }
        let cancel = CancellationToken::new();
        let config = self.config(project, ASK_TIME, &cancel, &flow::Unread).await;
        let all = config.map(|config| config.environments.clone()).unwrap_or_default();
        let named = |one: Environment| BoardName { name: one.label(), fqbn: one.name };
        all.into_iter().map(named).collect()
    }

    /// How the sources of `project` were compiled last.
    fn lines(&self, project: &Path) -> Option<syntax::CompileLines> {
        let known = self.known(project);
        let packages =
            known.map_or_else(|| self.core.join("packages"), |k| k.config.packages.clone());
        lines::lines(project, &packages)
    }
}

/// Change and length of the project's file.
fn stamp(project: &Path) -> Option<(SystemTime, u64)> {
    let found = project.join(FILE).metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// An option with its value in one word, whatever the value begins with.
fn option(name: &str, value: &str) -> OsString {
    format!("{name}{value}").into()
}

impl Toolchain for PlatformioToolchain {
    fn label(&self) -> String {
        "PlatformIO".to_owned()
    }

    fn build_target(&self, project: &Path) -> BuildTarget {
        let known = self.known(project);
        let chosen = known.as_ref().and_then(|known| known.config.choose(None).ok());
        let (frame, board) = match chosen {
            Some(environment) => (environment.label(), environment.board.clone()),
            None => project::as_written(project),
        };
        let mut found = BuildTarget::of_framework(match frame.is_empty() {
            false => format!("PlatformIO: {frame}"),
            true => "PlatformIO, as `platformio.ini` says".to_owned(),
        });
        found.chip = "that of the board".to_owned();
        if !board.is_empty() {
            found.board = board;
        }
        found
    }

    fn boards<'a>(&'a self, project: &'a Path) -> BoxFuture<'a, Vec<BoardName>> {
        Box::pin(self.environments(project))
    }

    fn command(&self, project: &Path) -> String {
        let known = self.known(project);
        match known.as_ref().and_then(|known| known.config.choose(None).ok()) {
            Some(environment) => format!("pio run · {}", environment.name),
            None => "pio run".to_owned(),
        }
    }

    fn check_syntax(&self, job: SyntaxJob) -> BoxFuture<'_, Vec<Finding>> {
        let pio = self.clone();
        Box::pin(syntax::check_with(job, move |project| pio.lines(project)))
    }

    fn compile_units(&self, project: &Path) -> Vec<CompileUnit> {
        match self.lines(project) {
            Some(lines) => {
                lines.all.into_iter().map(|line| CompileUnit::of(line, project)).collect()
            }
            None => compile_units::of_build(project),
        }
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        Box::pin(self.run_build(job))
    }

    fn size(&self, project: &Path) -> Option<ProgramSize> {
        let (program, home) = upload::program(project)?;
        size::of(&program, &home)
    }

    fn plan_flash(
        &self,
        project: &Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        upload::plan(self, project, build, built_at)
    }

    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move {
            if order.plan.board.simulated {
                return self.host()?.load(&order);
            }
            self.reach(&order.project).write(order).await
        })
    }

    fn compare(&self, order: CompareOrder) -> BoxFuture<'_, Result<Compared, UserError>> {
        Box::pin(async move { self.reach(&order.project).compare(order).await })
    }

    fn read_flash(&self, order: ReadOrder) -> BoxFuture<'_, Result<Vec<u8>, UserError>> {
        Box::pin(async move { self.reach(&order.project).read(order).await })
    }

    fn rewrite(&self, order: RewriteOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move { self.reach(&order.project).rewrite(order).await })
    }

    fn erasable(&self, project: &Path) -> Result<BoardInfo, UserError> {
        upload::board(self, project)
    }

    fn erase(&self, order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move {
            if order.plan.board.simulated {
                return self.host()?.erase(&order.plan);
            }
            self.reach(&order.project).erase(order).await
        })
    }
}

#[cfg(test)]
mod stand_in_tests;
