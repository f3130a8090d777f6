//! Arduino sketches with `arduino-cli`: its builds, its libraries, its uploads.
//!
//! Must not install boards or libraries: what is missing is named with the command that brings it.

mod compiled;
mod core;
mod upload;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::build_sandbox::{self, BuildPlaces, BuildSandbox, BuildSite, Changes};
pub use core::{board_manager_urls, known_boards};

use super::esptool;
use super::output_folder;
use super::process::{self, ProcessEnd, ProcessSpec};
use super::size::{self, Home};
use super::sketch::Sketch;
use super::{
    BoardName, BuildJob, BuildReport, BuildTarget, CompareOrder, Compared, FlashOrder, Toolchain,
    chip_of_fqbn, diagnostics,
};
use crate::files;
use crate::model::{
    BoardInfo, BuildId, BuildOutcome, Diagnostic, FlashPlan, ProgramSize, Severity, Timestamp,
    UserError,
};
use compiled::{BUILD, CompiledSketch, MADE, WHAT};

/// Where arduino-cli runs outside of the sandbox: versions before 1.0 read settings in the folder they
/// run in and in those around it.
const NEUTRAL: &str = "/";

/// Output beyond this is cut; what is told is one JSON value, so that nothing of it can be used.
const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// What to do when arduino-cli cannot be started.
const NOT_STARTED: &str = "Check that arduino-cli is installed and executable.";

/// Boards are asked for in passing: an answer that takes longer does without them.
const ASK_TIME: Duration = Duration::from_secs(4);

/// Builds and flashes sketches with an installed `arduino-cli`.
#[derive(Debug, Clone)]
pub struct ArduinoToolchain {
    cli: PathBuf,
    /// The port that the person has named in `ESPPORT`.
    port: Option<String>,
    /// Runs builds behind walls; `None`: as programs of the person.
    sandbox: Option<BuildSandbox>,
}

impl ArduinoToolchain {
    /// Finds `arduino-cli` on the PATH.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find() -> Result<Self, UserError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = std::env::split_paths(&path).map(|folder| folder.join("arduino-cli"));
        let port = esptool::named_port();
        let found = files.find(|file| file.is_file()).map(|cli| Self { cli, port, sandbox: None });
        found.ok_or_else(|| {
            UserError::new(
                WHAT,
                "`arduino-cli` is not on the PATH",
                "Install it from https://arduino.github.io/arduino-cli and then the boards with \
                 `arduino-cli core install esp32:esp32`, or build for the virtual board.",
            )
        })
    }

    /// The one at that path.
    #[must_use]
    pub const fn at(cli: PathBuf) -> Self {
        Self { cli, port: None, sandbox: None }
    }

    /// The same, with builds in a sandbox.
    #[must_use]
    pub fn with_build_sandbox(self, sandbox: BuildSandbox) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// What builds of a sketch write. What arduino-cli runs outside of the sandbox, and its settings,
    /// are not among it.
    fn site(&self, project: &Path, wish: &SketchTarget) -> BuildSite<'_> {
        let data = core::data_folder(&|name| std::env::var_os(name));
        // Boards and libraries of a profile are fetched by the build, and used by nothing else.
        let of_profile = ["staging", "internal"].iter().filter(|_| wish.fqbn.is_none());
        let made = data.iter().flat_map(|data| {
            of_profile.clone().map(|name| {
                // Without it arduino-cli says itself what it misses.
                let _ = output_folder::make_folder(data, Path::new(name));
                data.join(name)
            })
        });
        let noted = data.iter().map(|data| data.join("inventory.yaml"));
        let folders = made.chain(noted);
        let mut places = BuildPlaces {
            project: project.to_owned(),
            made: vec![MADE],
            folders: folders.collect(),
            fixed: Vec::new(),
        };
        places.add(build_sandbox::tool_cache("ARDUINO_BUILD_CACHE_PATH", "arduino"));
        places.add(build_sandbox::compiler_caches());
        BuildSite { sandbox: self.sandbox.as_ref(), places }
    }

    async fn run_build(&self, job: BuildJob) -> BuildReport {
        let wish = match wish(&job.project, job.board.clone()) {
            Ok(wish) => wish,
            Err(error) => return BuildReport::not_run(error),
        };
        let args = compile_args(&job.project, wish.fqbn.as_deref());
        let stated: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        job.sink.output(format!("-- arduino-cli {}\n", stated.join(" ")).as_bytes());
        job.sink.progress(0, 1);
        let site = self.site(&job.project, &wish);
        let before = Changes::before(&site.places);
        let asked = site.output(self.job(args, &job.project, job.timeout, &job.cancel), MAX_OUTPUT);
        let (ended, output) = match asked.await {
            Ok(ended) => ended,
            Err(error) => return BuildReport::not_run(self.not_started(&error)),
        };
        job.sink.output(before.lines(&site.places).as_bytes());
        match ended {
            ProcessEnd::TimedOut | ProcessEnd::Cancelled => BuildReport::of(ended.into()),
            ProcessEnd::Well | ProcessEnd::Badly(_) => {
                let mut report = self.judge(&job, &wish, &output);
                report.diagnostics.extend(before.warning(&site.places));
                if report.outcome == BuildOutcome::Failed && site.sandbox.is_some() {
                    report.diagnostics.splice(0..0, build_sandbox::refusal_in(&output));
                }
                report
            }
        }
    }

    /// Makes a report of what `arduino-cli` told.
    fn judge(&self, job: &BuildJob, wish: &SketchTarget, output: &[u8]) -> BuildReport {
        let Some(compiled) = CompiledSketch::find(output) else {
            job.sink.output(output);
            let why = "its answer is not that of arduino-cli with `--format json`";
            let fix = "Look at the log of this build; versions from 0.35 on are understood.";
            return BuildReport::not_run(UserError::new(WHAT, why, fix));
        };
        job.sink.output(compiled.log().as_bytes());
        job.sink.progress(1, 1);
        if let Some(error) = compiled.refusal(wish.fqbn.as_deref()) {
            return BuildReport::not_run(error);
        }
        let mut found = diagnostics::parse(&job.project, compiled.summary().as_bytes());
        found.iter_mut().for_each(compiled::advise);
        if compiled.success {
            let built = upload::remember(&job.project, &wish.sketch, wish.fqbn.clone(), &compiled);
            let outcome = built.map_or_else(BuildOutcome::NotRun, |()| BuildOutcome::Passed);
            return BuildReport { outcome, diagnostics: found };
        }
        if !found.iter().any(|one| one.severity == Severity::Error) {
            found.insert(0, Diagnostic::new(Severity::Error, compiled.error_line()));
        }
        BuildReport { outcome: BuildOutcome::Failed, diagnostics: found }
    }

    fn not_started(&self, error: &std::io::Error) -> UserError {
        build_sandbox::not_started(&self.cli, error, NOT_STARTED)
    }

    fn job(
        &self,
        args: Vec<OsString>,
        folder: &Path,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> ProcessSpec {
        let env = vec![("NO_COLOR".into(), "1".into())];
        let (program, folder) = (self.cli.clone().into_os_string(), folder.to_owned());
        ProcessSpec { program, args, env, folder, timeout, cancel: cancel.clone() }
    }

    async fn list_boards(&self) -> Vec<BoardName> {
        let args = ["board", "listall", "--format", "json"].map(OsString::from).to_vec();
        let job = self.job(args, Path::new(NEUTRAL), ASK_TIME, &CancellationToken::new());
        match process::output(job, MAX_OUTPUT).await {
            Ok((ProcessEnd::Well, output)) => boards_in(&output),
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}

/// All that is read from what `arduino-cli` printed, as words; nothing is run.
#[doc(hidden)]
#[must_use]
pub fn messages_in(output: &[u8]) -> Vec<String> {
    let mut stated: Vec<String> = boards_in(output).into_iter().map(|board| board.fqbn).collect();
    if let Some(compiled) = CompiledSketch::find(output) {
        stated.extend([compiled.log(), compiled.error_line()]);
        stated.extend(compiled.refusal(None).map(|error| error.why));
        stated.extend(compiled.platform().map(str::to_owned));
        stated.extend(compiled.property("build.path").map(str::to_owned));
    }
    stated
}

/// The boards of Espressif's chips among all that were told.
fn boards_in(output: &[u8]) -> Vec<BoardName> {
    #[derive(Deserialize)]
    struct All {
        #[serde(default)]
        boards: Vec<BoardName>,
    }
    let text = String::from_utf8_lossy(output);
    let start = text.find('{').unwrap_or(text.len());
    let all = serde_json::from_str::<All>(text.get(start..).unwrap_or_default());
    let mut boards = all.map(|all| all.boards).unwrap_or_default();
    boards.retain(|board| board.fqbn.contains(":esp32:"));
    boards
}

/// What is to be built.
struct SketchTarget {
    sketch: String,
    /// `None`: a profile of `sketch.yaml` says it.
    fqbn: Option<String>,
}

/// Looks at a sketch as `arduino-cli` does.
///
/// # Errors
/// When it is none, is not named like its folder, or no board is set.
fn wish(project: &Path, board: Option<String>) -> Result<SketchTarget, UserError> {
    let Some(sketch) = Sketch::read(project) else {
        let why = "the folder holds no `.ino` file, or is a project of ESP-IDF";
        return Err(UserError::new(WHAT, why, "Name the folder of a sketch."));
    };
    let folder = project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if folder != sketch.name {
        let name = &sketch.name;
        return Err(UserError::new(
            WHAT,
            format!("the folder is called `{folder}`, and its main tab `{name}.ino`"),
            format!("Name the folder `{name}`, or the tab `{folder}.ino`, as Arduino requires."),
        ));
    }
    let text = settings(project);
    let fqbn = board.or_else(|| top_value(&text, "default_fqbn"));
    if fqbn.is_none() && top_value(&text, "default_profile").is_none() {
        return Err(UserError::new(
            WHAT,
            "no board is set",
            "Write `default_fqbn: esp32:esp32:esp32` (or your board's name; `arduino-cli board \
             listall` lists them) into sketch.yaml next to the sketch.",
        ));
    }
    Ok(SketchTarget { sketch: sketch.name, fqbn })
}

/// The text of the sketch's own settings.
fn settings(project: &Path) -> String {
    let mut texts = ["sketch.yaml", "sketch.yml"].iter();
    let text = texts.find_map(|name| files::read_text(&project.join(name), files::SETTINGS).ok());
    text.unwrap_or_default()
}

/// The board that a sketch names in its settings.
pub(super) fn default_fqbn(project: &Path) -> Option<String> {
    top_value(&settings(project), "default_fqbn")
}

/// A value at the top of a simple YAML file.
fn top_value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix(key)?.trim_start().strip_prefix(':')?;
        let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

fn compile_args(project: &Path, fqbn: Option<&str>) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["compile".into()];
    if let Some(fqbn) = fqbn {
        args.extend(["--fqbn".into(), fqbn.into()]);
    }
    args.extend(["--build-path".into(), project.join(BUILD).into_os_string()]);
    args.extend(["--warnings", "default", "--format", "json"].map(OsString::from));
    args.push(project.as_os_str().to_owned());
    args
}

impl Toolchain for ArduinoToolchain {
    fn label(&self) -> String {
        "arduino-cli".to_owned()
    }

    fn build_target(&self, project: &Path) -> BuildTarget {
        let data = core::data_folder(&|name| std::env::var_os(name));
        let version = data.as_deref().and_then(core::installed_version);
        let mut found = BuildTarget::of_framework(match version {
            Some(version) => format!("Arduino core for ESP32 {version}"),
            None => "Arduino core for ESP32, whose version was not found".to_owned(),
        });
        if let Some(fqbn) = wish(project, None).ok().and_then(|wish| wish.fqbn) {
            let chip = chip_of_fqbn(&fqbn).map(str::to_owned);
            found.chip = chip.unwrap_or_else(|| format!("that of the board {fqbn}"));
            found.board = fqbn;
        }
        found
    }

    fn boards<'a>(&'a self, _project: &'a Path) -> BoxFuture<'a, Vec<BoardName>> {
        Box::pin(self.list_boards())
    }

    fn command(&self, project: &Path) -> String {
        let fqbn = wish(project, None).ok().and_then(|wish| wish.fqbn);
        match fqbn {
            Some(fqbn) => format!("arduino-cli compile · {fqbn}"),
            None => "arduino-cli compile".to_owned(),
        }
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        Box::pin(self.run_build(job))
    }

    fn size(&self, project: &Path) -> Option<ProgramSize> {
        let name = Sketch::read(project)?.name;
        let built = |ending: &str| project.join(BUILD).join(format!("{name}.ino.{ending}"));
        size::of(&built("elf"), &Home::Chip(built("partitions.bin")))
    }

    fn plan_flash(
        &self,
        project: &Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        upload::plan(project, build, built_at, &|| esptool::port(self.port.as_ref()))
    }

    fn compare(&self, order: CompareOrder) -> BoxFuture<'_, Result<Compared, UserError>> {
        Box::pin(async move { upload::reach().compare(order).await })
    }

    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        let job = |args: Vec<OsString>, cancel: &CancellationToken| {
            self.job(args, Path::new(NEUTRAL), esptool::TIMEOUT, cancel)
        };
        Box::pin(upload::flash(job, order))
    }
}

#[cfg(test)]
mod stand_in_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_says_its_board_or_it_is_told_how() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("blink");
        std::fs::create_dir(&project).unwrap();
        let failed = |board: Option<&str>| wish(&project, board.map(str::to_owned)).err();
        assert!(failed(None).unwrap().why.contains("no `.ino`"));
        std::fs::write(project.join("other.ino"), "").unwrap();
        assert!(failed(None).unwrap().fix.contains("`blink.ino`"));
        std::fs::rename(project.join("other.ino"), project.join("blink.ino")).unwrap();
        assert!(failed(None).unwrap().fix.contains("default_fqbn"));
        assert_eq!(wish(&project, Some("a:b:c".into())).unwrap().fqbn.unwrap(), "a:b:c");
        let yaml = "default_fqbn: \"esp32:esp32:esp32s3\" # mine\n";
        std::fs::write(project.join("sketch.yaml"), yaml).unwrap();
        assert_eq!(wish(&project, None).unwrap().fqbn.unwrap(), "esp32:esp32:esp32s3");
        std::fs::write(project.join("sketch.yaml"), "default_profile: x\n").unwrap();
        assert_eq!(wish(&project, None).unwrap().fqbn, None);
    }

    #[test]
    fn boards_of_other_makers_are_left_out() {
        let reported = br#"{"boards": [{"name": "Uno", "fqbn": "arduino:avr:uno"},
            {"name": "ESP32S3 Dev Module", "fqbn": "esp32:esp32:esp32s3", "platform": {}}]}"#;
        let boards = boards_in(reported);
        assert_eq!(boards.len(), 1);
        assert_eq!(boards[0].fqbn, "esp32:esp32:esp32s3");
        assert!(boards_in(b"panic!").is_empty());
    }
}
