//! The virtual board: compiles an ESP-IDF-shaped project with the system's C compiler and runs it
//! as a process that behaves like an ESP32 with a few parts soldered on.
//!
//! Always there, because Rust already needs a C compiler. Says of itself everywhere that it is
//! virtual. Must not pretend to have what its kit of headers lacks.

mod build;
mod bus_scan;
mod cmake;
mod draft;
mod kit;
mod options;
mod paths;
mod plan;
mod step;
mod syntax;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;

pub use kit::Kit;

#[doc(hidden)]
pub use cmake::{Recurse, project_name, registration};

use super::compile_units::{self, CompileUnit};
use super::diagnostics::Gather;
use super::esptool;
use super::host_board::HostBoard;
use super::host_memory::{APP_OFFSET, HostMemory};
use super::idf::project_chip;
use super::scanner_run::ScannerRun;
use super::size::{self, Home};
use super::sketch::Sketch;
use super::syntax::{self as shared_syntax, Finding, SyntaxJob};
use super::{
    ArduinoToolchain, BuildJob, BuildReport, BuildSink, BuildTarget, EraseOrder, FlashOrder,
    IdfToolchain, ReadOrder, RewriteOrder, Toolchain, chip_of_fqbn,
};
use crate::files;
use crate::model::{
    BoardInfo, BuildId, BuildOutcome, Diagnostic, FlashPlan, Partition, ProgramSize, Timestamp,
    UserError,
};
use crate::sandbox::Runner;
use build::HostBuild;
use bus_scan::ScannerProject;
use plan::CompilePlan;
use step::StepError;

/// What the screen calls it.
pub const LABEL: &str = "virtual board";

/// The chip that it simulates.
const CHIP: &str = "esp32";

const WHAT: &str = "Cannot build for the virtual board";

/// Builds for, flashes and runs one virtual board.
pub struct VirtualToolchain {
    kit: Kit,
    compiler: Result<PathBuf, UserError>,
    cxx: Result<PathBuf, UserError>,
    board: HostBoard,
    scanner: ScannerProject,
}

impl VirtualToolchain {
    /// A board whose flash memory lies in `folder`, which is made when the board is first flashed. Its
    /// firmware is run by `runner`.
    #[must_use]
    pub fn new(kit: Kit, folder: PathBuf, runner: Runner) -> Self {
        Self::with_compiler(kit, folder, runner, find_compiler(&C_COMPILERS))
    }

    /// As [`VirtualToolchain::new`], with a compiler of one's own.
    #[must_use]
    pub fn with_compiler(
        kit: Kit,
        folder: PathBuf,
        runner: Runner,
        compiler: Result<PathBuf, UserError>,
    ) -> Self {
        let board = HostBoard::new(LABEL, folder, runner);
        let cxx = compiler.clone().and_then(|_| find_compiler(&CXX_COMPILERS));
        Self { kit, compiler, cxx, board, scanner: ScannerProject::default() }
    }

    fn info(&self) -> BoardInfo {
        self.board.info(CHIP)
    }

    /// As [`Self::info`], with the chip that a sketch was built for last.
    fn info_of(&self, project: &Path, plan: &CompilePlan) -> BoardInfo {
        match plan.joined {
            Some(_) => self.board.info(&build::chip(project).unwrap_or_else(|| CHIP.to_owned())),
            None => self.info(),
        }
    }

    async fn run(&self, job: &BuildJob, sink: &dyn BuildSink) -> Result<(), Stop> {
        let compiler = self.compiler.as_ref().map_err(|error| Stop::NotRun(error.clone()))?;
        let configuring = "-- Building for the virtual board (a simulated esp32)\n";
        sink.output(configuring.as_bytes());
        let mut plan = match CompilePlan::read(&job.project, &self.kit) {
            Ok(plan) => plan,
            Err(error) => {
                sink.output(error.0.as_bytes());
                sink.output(b"-- Configuring incomplete, errors occurred!\n");
                return Err(StepError::Failed.into());
            }
        };
        if plan.joined.is_some() && job.board.is_some() {
            plan.chip = chip_of(job.board.as_deref()).map_err(Stop::NotRun)?;
        }
        if let Some(chip) = &plan.chip {
            sink.output(format!("-- The sketch is built for the chip {chip}\n").as_bytes());
        }
        let cxx = match &self.cxx {
            Ok(cxx) => cxx,
            Err(error) if plan.has_cxx() => return Err(Stop::NotRun(error.clone())),
            Err(_) => compiler,
        };
        let (runner, kit) = (self.board.runner(), &self.kit);
        let runner = Some(&runner);
        let job = HostBuild { root: &job.project, compiler, cxx, kit, plan: &plan, runner };
        Ok(job.run(sink).await?)
    }
}

/// Why a build stopped.
enum Stop {
    /// At a step of it.
    Step(StepError),
    /// Before it began.
    NotRun(UserError),
}

impl From<StepError> for Stop {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl Toolchain for VirtualToolchain {
    fn label(&self) -> String {
        LABEL.to_owned()
    }

    fn build_target(&self, project: &Path) -> BuildTarget {
        let (name, found) = match Sketch::is_at(project) {
            true => ("Arduino core", ArduinoToolchain::find().map(|it| it.build_target(project))),
            false => ("ESP-IDF", IdfToolchain::find().map(|it| it.build_target(project))),
        };
        let installed = match found {
            Ok(found) => format!("{} is installed, but this session uses", found.framework),
            Err(_) => format!("{name} was not found; this session uses"),
        };
        let mut target = BuildTarget::of_framework(format!(
            "{installed} the virtual board, which has a part of ESP-IDF v5.4 and of Arduino's core \
             (FreeRTOS, logging, GPIO, I2C, NVS, timers)"
        ));
        let sketch = CompilePlan::read(project, &self.kit).ok().and_then(|plan| plan.chip);
        target.chip = match sketch.or_else(|| project_chip(project)).filter(|chip| chip != CHIP) {
            Some(chip) => format!("{CHIP}, simulated; the project itself names {chip}"),
            None => format!("{CHIP}, simulated"),
        };
        LABEL.clone_into(&mut target.board);
        target
    }

    fn command(&self, _project: &Path) -> String {
        match &self.compiler {
            Ok(compiler) => format!("virtual board · {}", compiler.display()),
            Err(_) => "virtual board · no C compiler".to_owned(),
        }
    }

    fn check_syntax(&self, job: SyntaxJob) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async move {
            match syntax::draft_lines(&self.kit, (&self.compiler, &self.cxx), &job) {
                Some(lines) => shared_syntax::check(job, lines).await,
                None => shared_syntax::no_answer(&job),
            }
        })
    }

    fn compile_units(&self, project: &Path) -> Vec<CompileUnit> {
        let (project, files) = (project.to_owned(), [].into());
        let job = SyntaxJob { project, files, limit: Duration::ZERO, runner: None };
        match syntax::lines(&self.kit, (&self.compiler, &self.cxx), &job) {
            Some(lines) => {
                lines.all.into_iter().map(|line| CompileUnit::of(line, &job.project)).collect()
            }
            // Another toolchain may have built it.
            None => compile_units::of_build(&job.project),
        }
    }

    fn targets(&self) -> Vec<String> {
        vec![CHIP.to_owned()]
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        Box::pin(async move {
            let tee = Tee { sink: job.sink.as_ref(), seen: Mutex::new(Gather::new(&job.project)) };
            let outcome = tokio::select! {
                biased;
                () = job.cancel.cancelled() => BuildOutcome::Cancelled,
                () = tokio::time::sleep(job.timeout) => BuildOutcome::TimedOut,
                ended = self.run(&job, &tee) => match ended {
                    Ok(()) => BuildOutcome::Passed,
                    Err(Stop::Step(StepError::Failed)) => BuildOutcome::Failed,
                    Err(Stop::Step(error @ StepError::Io { .. })) => {
                        BuildOutcome::NotRun(cannot_build(&error))
                    }
                    Err(Stop::NotRun(error)) => BuildOutcome::NotRun(error),
                },
            };
            let seen = tee.seen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            let mut diagnostics = seen.finish();
            diagnostics.iter_mut().for_each(|found| explain(found, &self.kit));
            BuildReport { outcome, diagnostics }
        })
    }

    fn size(&self, project: &Path) -> Option<ProgramSize> {
        let name = CompilePlan::read(project, &self.kit).ok()?.name;
        size::of(&build::firmware(project, &name), &Home::Host(LABEL))
    }

    fn plan_flash(
        &self,
        project: &Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        let none = |why: String| UserError::new("Cannot flash", why, "Build the project first.");
        let plan = CompilePlan::read(project, &self.kit).map_err(|error| none(error.0))?;
        let path = build::firmware(project, &plan.name);
        let image = files::read(&path, files::PROGRAM)
            .map_err(|error| none(format!("{}: {error}", path.display())))?;
        let image = esptool::image(format!("build/{}.elf", plan.name), APP_OFFSET, &image);
        let board = self.info_of(project, &plan);
        Ok(FlashPlan::new(board, vec![image], build, built_at))
    }

    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move { self.board.load(&order) })
    }

    fn switch_on(&self, _project: &Path) -> Option<Result<BoardInfo, UserError>> {
        self.board.switch_on().map(|started| started.map(|()| self.info()))
    }

    fn scan_simulated_bus<'a>(
        &'a self,
        scanner: &'a str,
    ) -> BoxFuture<'a, Option<Result<ScannerRun, UserError>>> {
        Box::pin(async move {
            let folder = match self.scanner.folder(scanner) {
                Ok(folder) => folder,
                Err(error) => return Some(Err(error)),
            };
            let board = Self {
                kit: self.kit.clone(),
                compiler: self.compiler.clone(),
                cxx: self.cxx.clone(),
                board: HostBoard::new(LABEL, folder.root().join("board"), self.board.runner()),
                scanner: ScannerProject::default(),
            };
            Some(bus_scan::start(board, folder, |board, order| board.board.load(order)).await)
        })
    }

    fn partitions(&self) -> Vec<Partition> {
        HostMemory::partitions()
    }

    fn read_flash(&self, order: ReadOrder) -> BoxFuture<'_, Result<Vec<u8>, UserError>> {
        Box::pin(async move { self.board.read(&order.plan.region) })
    }

    fn rewrite(&self, order: RewriteOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move { self.board.rewrite(&order) })
    }

    fn erasable(&self, _project: &Path) -> Result<BoardInfo, UserError> {
        Ok(self.info())
    }

    fn erase(&self, order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(async move { self.board.erase(&order.plan) })
    }
}

/// Passes output on and finds in it what went wrong.
struct Tee<'a> {
    sink: &'a dyn BuildSink,
    seen: Mutex<Gather>,
}

impl BuildSink for Tee<'_> {
    fn output(&self, bytes: &[u8]) {
        self.sink.output(bytes);
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(bytes);
    }

    fn progress(&self, done: u32, total: u32) {
        self.sink.progress(done, total);
    }
}

/// The chip of a board as Arduino calls it: that in its name, else the one that is simulated.
///
/// # Errors
/// When it is not a board with such a chip.
fn chip_of(fqbn: Option<&str>) -> Result<Option<String>, UserError> {
    let Some(fqbn) = fqbn else { return Ok(None) };
    if fqbn.split(':').nth(1) == Some("esp32") {
        return Ok(Some(chip_of_fqbn(fqbn).unwrap_or(CHIP).to_owned()));
    }
    let why = format!("`{fqbn}` is not a board with an ESP32, and it simulates nothing else");
    Err(UserError::new(WHAT, why, "Name a board such as `esp32:esp32:esp32s3`."))
}

fn cannot_build(error: &StepError) -> UserError {
    let fix = "Check that the project's build/ folder can be written and the disk is not full.";
    UserError::new(WHAT, error.to_string(), fix)
}

/// Adds what the compiler cannot know: where a header that it did not find comes from, and where
/// the virtual board differs from the chip.
fn explain(diagnostic: &mut Diagnostic, kit: &Kit) {
    if !diagnostic.hint.is_empty() {
        return;
    }
    if let Some(header) = diagnostic.message.strip_suffix(": No such file or directory") {
        let component = diagnostic.file.as_deref().and_then(component_of);
        let is_sketch = diagnostic.file.as_deref().is_some_and(|file| file.ends_with(".ino"));
        diagnostic.hint = match (kit.provider(header), component) {
            _ if is_sketch => {
                let known: Vec<&str> = kit
                    .arduino_folders()
                    .into_iter()
                    .filter_map(|folder| folder.strip_prefix("arduino/libraries/"))
                    .collect();
                format!(
                    "no file of the sketch and no library of the virtual board has this header; it \
                     has {}; `--toolchain arduino` builds with the libraries that arduino-cli has \
                     installed",
                    known.join(" and ")
                )
            }
            (Some(provider), Some((name, folder))) => format!(
                "{header} is provided by the component {provider}, which is not in the \
                 requirements list of \"{name}\"; add {provider} to REQUIRES or PRIV_REQUIRES of \
                 idf_component_register in {folder}/CMakeLists.txt"
            ),
            _ => "neither the include folders of the component nor the virtual board have this \
                  header; the virtual board covers FreeRTOS, esp_log, esp_err, GPIO, I2C, NVS, \
                  esp_timer and esp_system"
                .to_owned(),
        };
    } else if diagnostic.message.contains("[-Wformat=]") && diagnostic.message.contains("long") {
        diagnostic.hint = "uint32_t is `unsigned long` on the ESP32 and `unsigned int` on the \
                           virtual board; PRIu32 of inttypes.h is right on both"
            .to_owned();
    }
}

/// Name and folder of the project's component that a file belongs to.
fn component_of(file: &str) -> Option<(&str, &str)> {
    let inside = file.strip_prefix("components/");
    let start = file.len() - inside.unwrap_or(file).len();
    let name = inside.unwrap_or(file).split_once('/')?.0;
    Some((name, file.get(..start + name.len())?))
}

const C_COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
const CXX_COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// The first of these compilers that is on the PATH.
fn find_compiler(names: &[&str; 3]) -> Result<PathBuf, UserError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_folders = |name| std::env::split_paths(&path).map(move |folder| folder.join(name));
    if let Some(found) = names.iter().flat_map(in_folders).find(|file| file.is_file()) {
        return Ok(found);
    }
    let (language, package) = match names.contains(&"c++") {
        true => ("C++", "g++"),
        false => ("C", "gcc"),
    };
    let fix = if cfg!(target_os = "macos") {
        "Install the command line tools: `xcode-select --install`.".to_owned()
    } else {
        format!("install one, e.g. `apt install {package}`, `dnf install {package}`")
    };
    let [first, second, third] = names;
    let names = format!("`{first}`, `{second}` or `{third}`");
    Err(UserError::new(WHAT, format!("there is no {language} compiler ({names}) on the PATH"), fix))
}
