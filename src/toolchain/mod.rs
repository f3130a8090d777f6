//! Building and flashing.
//!
//! Owns the processes that compile a project and write it to a board. Must not decide anything:
//! [`Toolchain::flash`] is called by the gate alone, for an approved plan.

mod analysis;
mod arduino;
pub mod build_sandbox;
mod build_target;
mod chip;
mod compile_units;
mod confined;
mod console;
pub mod diagnostics;
pub mod esp_image;
mod esptool;
mod fitting;
pub mod flash_map;
mod flow;
#[doc(hidden)]
pub mod foreign;
mod hidden;
mod history;
mod host_board;
mod host_memory;
mod idf;
pub mod nvs;
pub mod other_builds;
pub mod output_folder;
pub mod partition_csv;
pub mod partitions;
mod paths;
pub mod platformio;
pub mod process;
pub mod python_program;
mod scanner_run;
pub mod scratch;
mod size;
pub mod sketch;
#[cfg(test)]
mod stand_in;
mod stop_switch;
pub mod syntax;
mod virtual_board;

pub use analysis::{Analysis, AnalysisOrder, Gap, Issue, Linter, analyze};
pub use arduino::{ArduinoToolchain, board_manager_urls, known_boards};
pub use build_sandbox::{BuildSandbox, BuildWalls};
pub use build_target::{BuildTarget, chip_of_fqbn};
pub use compile_units::CompileUnit;
pub use console::console_baud;
pub use fitting::{ToolchainKind, fitting};
pub use history::git_log;
pub use platformio::PlatformioToolchain;
pub use scanner_run::ScannerRun;
pub use stop_switch::StopSwitch;
pub use virtual_board::{Kit, VirtualToolchain};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::model::{
    BoardFacts, BoardInfo, BuildId, BuildOutcome, Diagnostic, ErasePlan, FlashPlan, FlashRegion,
    Partition, ProgramSize, ReadPlan, Timestamp, UserError,
};

pub use crate::device::loader::Remake;
pub use chip::Loader;
pub use idf::IdfToolchain;
use process::ProcessEnd;
use syntax::{Finding, SyntaxJob};

/// One build to run.
#[derive(Clone)]
pub struct BuildJob {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// The board as Arduino calls it, or an environment of PlatformIO; `None`: the one the project
    /// names. Others choose boards in the project alone.
    pub board: Option<String>,
    /// Where output and progress go.
    pub sink: Arc<dyn BuildSink>,
    /// After this the whole process group is ended.
    pub timeout: Duration,
    /// Ends the whole process group at once.
    pub cancel: CancellationToken,
}

/// Takes what a build tells while it runs.
pub trait BuildSink: Send + Sync {
    /// Raw bytes of stdout and stderr, in the order they came.
    fn output(&self, bytes: &[u8]);
    /// `done` of `total` steps are complete.
    fn progress(&self, done: u32, total: u32);
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildReport {
    /// Passed, failed, timed out or cancelled.
    pub outcome: BuildOutcome,
    /// What was found, errors first.
    pub diagnostics: Vec<Diagnostic>,
}

impl BuildReport {
    /// One that nothing was found for.
    #[must_use]
    pub const fn of(outcome: BuildOutcome) -> Self {
        Self { outcome, diagnostics: Vec::new() }
    }

    /// One of a build that could not be made, which is no fault of the project's.
    #[must_use]
    pub const fn not_run(error: UserError) -> Self {
        Self::of(BuildOutcome::NotRun(error))
    }
}

impl From<ProcessEnd> for BuildOutcome {
    fn from(ended: ProcessEnd) -> Self {
        match ended {
            ProcessEnd::Well => Self::Passed,
            ProcessEnd::Badly(_) => Self::Failed,
            ProcessEnd::TimedOut => Self::TimedOut,
            ProcessEnd::Cancelled => Self::Cancelled,
        }
    }
}

/// One approved flash to run.
#[derive(Clone)]
pub struct FlashOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// What to write; images whose hash has changed are refused.
    pub plan: FlashPlan,
    /// Takes (written, total) bytes.
    pub progress: Arc<dyn Fn(u64, u64) + Send + Sync>,
    /// Takes what the person should know meanwhile, such as another try.
    pub notice: Arc<dyn Fn(UserError) + Send + Sync>,
    /// Ends it at once.
    pub cancel: CancellationToken,
}

/// A board to be compared with what would be written to it.
#[derive(Debug, Clone)]
pub struct CompareOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// What would be written.
    pub plan: FlashPlan,
    /// Where the partition table lies.
    pub table: u32,
}

/// What the comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// For each image of the plan whether the board holds exactly that.
    pub same: Vec<bool>,
    /// What the board said of itself.
    pub board: BoardFacts,
}

/// One approved erasing to run.
#[derive(Clone)]
pub struct EraseOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// What to erase.
    pub plan: ErasePlan,
    /// Ends it at once.
    pub cancel: CancellationToken,
}

/// One approved reading to run.
#[derive(Clone)]
pub struct ReadOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// What to read.
    pub plan: ReadPlan,
    /// Ends it at once.
    pub cancel: CancellationToken,
}

/// One approved change of a part of the flash to run.
#[derive(Clone)]
pub struct RewriteOrder {
    /// Absolute path of the project.
    pub project: PathBuf,
    pub board: BoardInfo,
    /// The part: whole sectors.
    pub region: FlashRegion,
    /// What becomes of it. Nothing runs on the board between the look at what it holds and the
    /// writing.
    pub remake: Remake,
    /// Takes (written, total) bytes.
    pub progress: Arc<dyn Fn(u64, u64) + Send + Sync>,
    /// Ends it at once.
    pub cancel: CancellationToken,
}

/// A board that a toolchain builds for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BoardName {
    /// For people, e.g. `ESP32 Dev Module`.
    pub name: String,
    /// For the toolchain, e.g. `esp32:esp32:esp32`, or the environment of PlatformIO.
    pub fqbn: String,
}

/// A way to build a project and bring it to a board.
pub trait Toolchain: Send + Sync {
    /// What the screen calls it, e.g. `ESP-IDF v5.4 · esp32` or `virtual board`.
    fn label(&self) -> String;

    /// What firmware of `project` is built with and for, as far as files tell. Reads few files.
    fn build_target(&self, _project: &std::path::Path) -> BuildTarget {
        BuildTarget::of_framework(self.label())
    }

    /// The names its framework has taken, as the lines of a list of names; `None` when only the
    /// shipped list tells. Reads the whole installation, which takes a moment.
    fn taken_names(&self) -> Option<String> {
        None
    }

    /// The boards that it can build `project` for, with the names it knows them by; none where the
    /// project alone chooses. Asks a program, which takes a moment.
    fn boards<'a>(&'a self, _project: &'a std::path::Path) -> BoxFuture<'a, Vec<BoardName>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// What the next build of that project runs, for people.
    fn command(&self, project: &std::path::Path) -> String;

    /// Asks the compiler about files as they shall become, as the last build was configured: an
    /// answer for each file of the job. Builds nothing and writes nothing to the project.
    fn check_syntax(&self, job: SyntaxJob) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(std::future::ready(syntax::no_answer(&job)))
    }

    /// How the project's own sources are compiled, for whoever reads them as the compiler does;
    /// none before the first build. Reads files.
    fn compile_units(&self, project: &std::path::Path) -> Vec<CompileUnit> {
        compile_units::of_build(project)
    }

    /// The chips or other targets it can build for; none where boards are chosen by name.
    fn targets(&self) -> Vec<String> {
        Vec::new()
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport>;

    /// How much memory the program of the last build takes, read from its file; `None` when there
    /// is none.
    fn size(&self, _project: &std::path::Path) -> Option<ProgramSize> {
        None
    }

    /// Works out what a flash would write, reading files only.
    ///
    /// # Errors
    /// When there is no build to flash or no board to flash it to.
    fn plan_flash(
        &self,
        project: &std::path::Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError>;

    /// Writes the images and starts the board; returns the board with the port to listen on.
    ///
    /// # Errors
    /// No port, wrong chip, images that changed since the plan, write or verify failures.
    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>>;

    /// Finds out which images of a plan the board holds already, and what the board is. Writes
    /// nothing; the board is started anew.
    ///
    /// # Errors
    /// When the board cannot be asked.
    fn compare(&self, _order: CompareOrder) -> BoxFuture<'_, Result<Compared, UserError>> {
        no_way(self.label(), CANNOT_COMPARE, "")
    }

    /// Starts what a simulated board was flashed with, in this session or an earlier one; `None` when
    /// the board is real, or holds no program.
    fn switch_on(&self, _project: &std::path::Path) -> Option<Result<BoardInfo, UserError>> {
        None
    }

    /// Runs `scanner`, a firmware that scans the I2C bus, on a simulated board with the devices of this
    /// one, whose own firmware runs on; `None` when the board is real.
    fn scan_simulated_bus<'a>(
        &'a self,
        _scanner: &'a str,
    ) -> BoxFuture<'a, Option<Result<ScannerRun, UserError>>> {
        Box::pin(std::future::ready(None))
    }

    /// How the flash of its board is divided, whatever the project says; none where the table of
    /// the project counts.
    fn partitions(&self) -> Vec<Partition> {
        Vec::new()
    }

    /// Reads a part of the board's flash and starts the board.
    ///
    /// # Errors
    /// No port, wrong chip, or a chip that does not answer.
    fn read_flash(&self, _order: ReadOrder) -> BoxFuture<'_, Result<Vec<u8>, UserError>> {
        no_way(self.label(), CANNOT_READ, "Read it by hand: `esptool read_flash`.")
    }

    /// Reads a part of the board's flash, writes what is made of it and compares, and starts the
    /// board; also where nothing is made of it.
    ///
    /// # Errors
    /// No port, wrong chip, or a chip that does not answer or holds something else afterwards.
    fn rewrite(&self, _order: RewriteOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        no_way(self.label(), CANNOT_REWRITE, "Write it by hand: `esptool write_flash`.")
    }

    /// The board whose flash can be erased, read and changed, for the chip that the project is built
    /// for. Reads files only.
    ///
    /// # Errors
    /// When there is none, or this toolchain has no way to it.
    fn erasable(&self, _project: &std::path::Path) -> Result<BoardInfo, UserError> {
        let why = format!("{} has no way to", self.label());
        let fix = "Use `esptool` by hand: `read_flash`, `write_flash` or `erase_flash`.";
        Err(UserError::new("Cannot reach the board's flash", why, fix))
    }

    /// Erases the board's flash, or a part of it, and starts the board.
    ///
    /// # Errors
    /// No port, wrong chip, or a chip that refuses.
    fn erase(&self, _order: EraseOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        let fix = "Erase it by hand: `esptool erase_flash` erases everything.";
        no_way(self.label(), CANNOT_ERASE, fix)
    }
}

/// What a toolchain answers that cannot do it.
fn no_way<T: Send + 'static>(
    label: String,
    what: &str,
    fix: &str,
) -> BoxFuture<'static, Result<T, UserError>> {
    let error = UserError::new(what, format!("{label} has no way to"), fix);
    Box::pin(std::future::ready(Err(error)))
}

/// What cannot be done when a board cannot be asked what it holds.
const CANNOT_COMPARE: &str = "Cannot compare the board's flash";

/// What cannot be done when reading goes wrong.
const CANNOT_READ: &str = "Cannot read the board's flash";

/// What cannot be done when changing goes wrong.
const CANNOT_REWRITE: &str = "Cannot change the board's flash";

/// What cannot be done when erasing goes wrong.
const CANNOT_ERASE: &str = "Cannot erase the board's flash";
