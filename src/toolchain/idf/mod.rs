//! ESP-IDF: builds with `idf.py` or its ninja, flashes with its `esptool`.
//!
//! Must not write into the project beside what `idf.py` does. A project for the target `linux` has
//! no chip: what it builds runs as a process on this machine, and says so.

mod flash;
mod hints;
mod install;
mod names;
mod route;
mod settings;
mod targets;

pub(super) use route::{monitor_baud, target as project_chip};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::build_sandbox::{self, BuildPlaces, BuildSandbox, BuildSite};
use super::chip::{self, Esptool, FlashAccess, Loader};
use super::diagnostics::{self, NinjaProgress};
use super::esptool;
use super::flow;
use super::host_board::HostBoard;
use super::process::ProcessSpec;
use super::size::{self, Home};
use super::syntax::{self, Finding, SyntaxJob};
use super::{
    BuildJob, BuildReport, BuildTarget, CompareOrder, Compared, EraseOrder, FlashOrder, ReadOrder,
    RewriteOrder, Toolchain,
};
use crate::model::{
    BoardInfo, BuildId, BuildOutcome, FlashPlan, ProgramSize, Timestamp, UserError,
};
use crate::sandbox::Runner;
use install::Installation;
use route::Route;

/// The image of the partition table, below the build folder.
const TABLE: &str = "partition_table/partition-table.bin";

/// The target that runs on this machine instead of a chip.
const LINUX: &str = "linux";

/// An installed ESP-IDF.
#[derive(Debug, Clone)]
pub struct IdfToolchain {
    install: Arc<Installation>,
    /// Where programs for [`LINUX`] are kept and run; `None` until a session gives a place.
    host: Option<Arc<HostBoard>>,
    /// The port that the person has named in `ESPPORT`.
    port: Option<String>,
    /// Bits per second of writing that the person has named in `ESPBAUD`.
    baud: Option<u32>,
    /// How the project was compiled last.
    commands: syntax::Commands,
    /// By what boards are flashed; `None`: as the environment says.
    loader: Option<Loader>,
    /// Runs builds behind walls; `None`: as programs of the person.
    sandbox: Option<BuildSandbox>,
}

impl IdfToolchain {
    /// Finds an installation: the one in `IDF_PATH`, or one in a usual place.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Self, UserError> {
        let install = Installation::find(&|name| std::env::var_os(name))?;
        Ok(Self {
            port: esptool::named_port(),
            baud: esptool::named_baud(),
            ..Self::with(install, None)
        })
    }

    /// The installation in `root`, for the board at `port`, whatever the environment says.
    #[must_use]
    pub fn at(root: PathBuf, port: Option<String>) -> Self {
        Self::with(Installation::at(root), port)
    }

    fn with(install: Installation, port: Option<String>) -> Self {
        let (install, commands) = (Arc::new(install), syntax::Commands::default());
        Self { install, host: None, port, baud: None, commands, loader: None, sandbox: None }
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

    /// What builds of a project write.
    fn site(&self, project: &Path) -> BuildSite<'_> {
        let mut places = BuildPlaces {
            project: project.to_owned(),
            made: vec![route::BUILD, "managed_components", "sdkconfig", "dependencies.lock"],
            ..BuildPlaces::default()
        };
        places.add(build_sandbox::tool_cache("IDF_COMPONENT_CACHE_PATH", "Espressif"));
        places.add(build_sandbox::compiler_caches());
        BuildSite { sandbox: self.sandbox.as_ref(), places }
    }

    /// The way to the flash of the project's chip.
    fn reach(&self, project: &Path) -> FlashAccess<'_> {
        let asked = chip::EsptoolOptions { baud: self.baud, ..flash::asked(project) };
        FlashAccess { esptool: self, asked, loader: self.loader }
    }

    /// The same, with a folder in which programs for the target `linux` are kept and run. It is
    /// made when the first of them is.
    #[must_use]
    pub fn with_host_folder(self, folder: PathBuf, runner: Runner) -> Self {
        let host = HostBoard::new("host process", folder, runner);
        Self { host: Some(Arc::new(host)), ..self }
    }

    /// Asks the installation for its environment, as a build does.
    ///
    /// # Errors
    /// When its `export.sh` fails or sets nothing up; the error quotes it.
    pub async fn check(&self) -> Result<(), UserError> {
        self.install.check().await
    }

    async fn run_build(&self, job: BuildJob) -> BuildReport {
        let BuildJob { project, board: _, sink, timeout, cancel } = job;
        let env = match self.install.env(&cancel, &|bytes| sink.output(bytes)).await {
            Ok(env) => env,
            Err(error) => return BuildReport::not_run(error),
        };
        let way = route::route(&project, &self.install.root);
        if way != Route::Ninja
            && let Err(error) = self.install.find_program(&env)
        {
            return BuildReport::not_run(error);
        }
        let (program, args) = program(way);
        let (program, folder) = (program.into(), project.clone());
        let (variables, token) = (env.clone(), cancel.clone());
        let job = ProcessSpec { program, args, env: variables, folder, timeout, cancel: token };
        let mut progress = NinjaProgress::default();
        let watch = |bytes: &[u8]| {
            if let Some((done, total)) = progress.push(bytes) {
                sink.progress(done, total);
            }
        };
        let (outcome, mut diagnostics) =
            match flow::build(job, &self.site(&project), &*sink, watch).await {
                Ok((ended, found)) => (BuildOutcome::from(ended), found),
                Err(error) => {
                    let what = format!("Cannot run `{way}`");
                    let fix = "Run ESP-IDF's `install.sh`, then its `export.sh` in this shell.";
                    let fix = build_sandbox::fix_of(&error).unwrap_or(fix);
                    return BuildReport::not_run(UserError::from_cause(what, &error).fix(fix));
                }
            };
        diagnostics::locate(&project, &mut diagnostics);
        let folder = project.clone();
        let checked = tokio::task::spawn_blocking(move || {
            settings::check(&folder, &mut diagnostics);
            diagnostics
        });
        // It ends without a result only when the program ends.
        let mut diagnostics = checked.await.unwrap_or_default();
        // `idf.py` gives its advice itself; ninja has none to give.
        if outcome == BuildOutcome::Failed && way == Route::Ninja {
            hints::advise(&project, &mut diagnostics, env, &cancel).await;
            tell_hints(&diagnostics, sink.as_ref());
        }
        BuildReport { outcome, diagnostics }
    }

    /// How the sources of `project` were compiled last; `None` before the first build, and when it
    /// was for another target.
    fn lines(&self, project: &Path) -> Option<syntax::CompileLines> {
        if !route::is_configured(project) {
            return None;
        }
        let (tools, path) = (syntax::tools_folder(), syntax::path_of(self.install.exported()));
        let known = syntax::CompilePaths {
            framework: &self.install.root,
            tools: tools.as_deref(),
            path: &path,
        };
        self.commands.lines(project, &project.join(route::BUILD), &known)
    }

    /// The board that runs programs for the target `linux`.
    fn host(&self) -> Result<&HostBoard, UserError> {
        self.host.as_deref().ok_or_else(|| {
            UserError::new(
                "Cannot run a program for the target `linux`",
                "no folder was given to run it in",
                "Choose a chip with `idf.py set-target`.",
            )
        })
    }
}

/// Details of a chip at a port.
fn chip_board(chip: String, port: String) -> BoardInfo {
    BoardInfo { label: format!("{chip} board"), chip, port, simulated: false }
}

fn program(way: Route) -> (&'static str, Vec<OsString>) {
    match way {
        Route::Configure => ("idf.py", vec!["build".into()]),
        Route::Reconfigure => ("idf.py", vec!["reconfigure".into(), "build".into()]),
        Route::Ninja => ("ninja", vec!["-C".into(), route::BUILD.into()]),
    }
}

/// Puts advice that was asked for afterwards into the raw log, as `idf.py` would have.
fn tell_hints(diagnostics: &[crate::model::Diagnostic], sink: &dyn super::BuildSink) {
    let hints: std::collections::BTreeSet<&str> = diagnostics
        .iter()
        .map(|found| found.hint.as_str())
        .filter(|hint| !hint.is_empty())
        .collect();
    for hint in hints {
        sink.output(format!("HINT: {hint}\n").as_bytes());
    }
}

impl Esptool for IdfToolchain {
    /// The one of the installation's Python.
    fn job<'a>(
        &'a self,
        args: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ProcessSpec, UserError>> {
        Box::pin(async move {
            let mut env = self.install.env(cancel, &|_| {}).await?;
            // No file of the folder that it runs in takes the place of a module.
            env.push(("PYTHONSAFEPATH".into(), "1".into()));
            let args = ["-m", "esptool"].map(Into::into).into_iter().chain(args).collect();
            let (folder, cancel, timeout) = (folder.to_owned(), cancel.clone(), esptool::TIMEOUT);
            Ok(ProcessSpec { program: "python3".into(), args, env, folder, timeout, cancel })
        })
    }
}

impl Toolchain for IdfToolchain {
    fn label(&self) -> String {
        format!("ESP-IDF {}", self.install.version).trim_end().to_owned()
    }

    fn build_target(&self, project: &Path) -> BuildTarget {
        let framework = match self.install.version.as_str() {
            "" => "ESP-IDF, whose version is not known".to_owned(),
            version => format!("ESP-IDF {version}"),
        };
        let mut found = BuildTarget::of_framework(framework);
        if let Some(target) = route::target(project) {
            found.chip = target;
        }
        if found.chip == LINUX {
            found.board = "this machine runs the program".to_owned();
        } else if let Ok(port) = esptool::port(self.port.as_ref()) {
            found.board = format!("at {port}");
        }
        found
    }

    fn taken_names(&self) -> Option<String> {
        names::names_of(&self.install.root, &self.install.version)
    }

    fn command(&self, project: &Path) -> String {
        let way = route::route(project, &self.install.root);
        match route::target(project) {
            Some(target) => format!("{} · {target} · {way}", self.label()),
            None => format!("{} · {way}", self.label()),
        }
    }

    fn targets(&self) -> Vec<String> {
        targets::of(&self.install.root)
    }

    fn check_syntax(&self, job: SyntaxJob) -> BoxFuture<'_, Vec<Finding>> {
        let idf = self.clone();
        Box::pin(syntax::check_with(job, move |project| idf.lines(project)))
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        Box::pin(self.run_build(job))
    }

    fn size(&self, project: &Path) -> Option<ProgramSize> {
        let home = match route::target(project)?.as_str() {
            LINUX => Home::Host("host process"),
            _ => Home::Chip(project.join(route::BUILD).join(TABLE)),
        };
        size::of(&project.join(flash::program(project)?), &home)
    }

    fn plan_flash(
        &self,
        project: &Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        if route::target(project).as_deref() == Some(LINUX) {
            let image = flash::host_image(project)?;
            let board = self.host()?.info(LINUX);
            return Ok(FlashPlan::new(board, vec![image], build, built_at));
        }
        let flash::Written { chip, images, options } = flash::images(project)?;
        let port = esptool::port(self.port.as_ref())?;
        let plan = FlashPlan::new(chip_board(chip, port), images, build, built_at);
        Ok(FlashPlan { options, ..plan })
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

    fn switch_on(&self, project: &Path) -> Option<Result<BoardInfo, UserError>> {
        route::target(project).filter(|target| target == LINUX)?;
        let host = self.host.as_deref()?;
        host.switch_on().map(|started| started.map(|()| host.info(LINUX)))
    }

    fn erasable(&self, project: &Path) -> Result<BoardInfo, UserError> {
        match route::target(project) {
            Some(target) if target == LINUX => Ok(self.host()?.info(LINUX)),
            Some(chip) => Ok(chip_board(chip, esptool::port(self.port.as_ref())?)),
            None => Err(UserError::new(
                super::CANNOT_ERASE,
                "the project does not name its chip",
                "Choose one with `idf.py set-target`.",
            )),
        }
    }

    fn erase(&self, order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move {
            if order.plan.board.simulated && order.plan.region.is_some() {
                let why = format!("the {} has no partitions", order.plan.board.label);
                let fix = "Leave the partition out: everything is erased then.";
                return Err(UserError::new(super::CANNOT_ERASE, why, fix));
            }
            if order.plan.board.simulated {
                return self.host()?.erase(&order.plan);
            }
            self.reach(&order.project).erase(order).await
        })
    }
}
