//! ESP-IDF: builds with `idf.py`, flashes with its `esptool`.
//!
//! Owns finding an installation and talking to it. Must not write into the project beside what
//! `idf.py` does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;

use super::diagnostics::{self, Progress};
use super::process::{self, Ended, Job};
use super::{BuildJob, BuildReport, FlashOrder, Toolchain, idf_flash};
use crate::model::{BoardInfo, BuildId, BuildOutcome, FlashPlan, Timestamp, UserError};

/// Output beyond this is not searched for diagnostics, save its newest half.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Places of an installation that nobody has named, below the home folder and absolute.
const HOMES: &[&str] = &["esp/esp-idf", "esp-idf", ".espressif/esp-idf"];
const PLACES: &[&str] = &["/opt/esp/idf", "/opt/esp-idf"];

/// An installed ESP-IDF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdfToolchain {
    root: PathBuf,
    version: String,
    /// Whether the variables and paths of its `export.sh` are set already.
    is_exported: bool,
}

impl IdfToolchain {
    /// Finds an installation: the one in `IDF_PATH`, or one in a usual place.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Self, UserError> {
        Self::find_with(&|name| std::env::var_os(name))
    }

    fn find_with(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, UserError> {
        let named = env("IDF_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
        if let Some(root) = &named
            && !is_idf(root)
        {
            return Err(UserError::new(
                "Cannot build with ESP-IDF",
                format!("`IDF_PATH` names {}, which holds no `tools/idf.py`", root.display()),
                "Set `IDF_PATH` to the folder of ESP-IDF, or unset it.",
            ));
        }
        let home = env("HOME").map(PathBuf::from);
        let usual = home.iter().flat_map(|home| HOMES.iter().map(|place| home.join(place)));
        let usual = usual.chain(PLACES.iter().map(PathBuf::from));
        let Some(root) = named.into_iter().chain(usual).find(|root| is_idf(root)) else {
            return Err(UserError::new(
                "Cannot build with ESP-IDF",
                "no installation was found: `IDF_PATH` is not set",
                "Install ESP-IDF and run its `export.sh` in this shell, or build for the virtual \
                 board.",
            ));
        };
        let path = env("PATH").unwrap_or_default();
        let is_exported = env("IDF_PYTHON_ENV_PATH").is_some()
            && std::env::split_paths(&path).any(|folder| folder.join("idf.py").is_file());
        let version = version(&root);
        Ok(Self { root, version, is_exported })
    }

    /// A job that runs `program` of the installation with its tools in `PATH`.
    pub(super) fn job(&self, program: &str, args: Vec<OsString>, job: &JobFrame<'_>) -> Job {
        let mut env = vec![
            (OsString::from("IDF_PATH"), self.root.clone().into_os_string()),
            // Otherwise progress comes in one piece at the end.
            ("PYTHONUNBUFFERED".into(), "1".into()),
        ];
        let (program, args) = if self.is_exported {
            (OsString::from(program), args)
        } else {
            env.push(("IDF_PATH_FORCE".into(), "1".into()));
            let script = r#". "$IDF_PATH/export.sh" >/dev/null || exit; exec "$@""#;
            let mut all: Vec<OsString> =
                vec!["-c".into(), script.into(), "bash".into(), program.into()];
            all.extend(args);
            ("bash".into(), all)
        };
        let folder = job.folder.to_owned();
        Job { program, args, env, folder, timeout: job.timeout, cancel: job.cancel.clone() }
    }

    async fn run_build(&self, job: BuildJob) -> BuildReport {
        let output = Mutex::new(Vec::new());
        let mut progress = Progress::default();
        let BuildJob { project, sink, timeout, cancel } = job;
        let frame = JobFrame { folder: &project, timeout, cancel: &cancel };
        let job = self.job("idf.py", vec!["build".into()], &frame);
        let ended = process::run(job, |bytes| {
            sink.output(bytes);
            if let Some((done, total)) = progress.push(bytes) {
                sink.progress(done, total);
            }
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.extend_from_slice(bytes);
            if output.len() > MAX_OUTPUT {
                output.drain(..MAX_OUTPUT / 2);
            }
        })
        .await;
        let outcome = match ended {
            Ok(Ended::Well) => BuildOutcome::Passed,
            Ok(Ended::Badly(_)) => BuildOutcome::Failed,
            Ok(Ended::TimedOut) => BuildOutcome::TimedOut,
            Ok(Ended::Cancelled) => BuildOutcome::Cancelled,
            Err(error) => BuildOutcome::NotRun(
                UserError::from_cause("Cannot run `idf.py build`", &error)
                    .fix("Run ESP-IDF's `install.sh`, then its `export.sh` in this shell."),
            ),
        };
        let output = output.into_inner().unwrap_or_else(PoisonError::into_inner);
        let read = tokio::task::spawn_blocking(move || diagnostics::parse(&project, &output));
        // It ends without a result only when the program ends.
        let diagnostics = read.await.unwrap_or_default();
        BuildReport { outcome, diagnostics }
    }
}

/// Where and how long a job runs.
pub(super) struct JobFrame<'a> {
    pub(super) folder: &'a Path,
    pub(super) timeout: Duration,
    pub(super) cancel: &'a tokio_util::sync::CancellationToken,
}

fn is_idf(root: &Path) -> bool {
    root.join("tools/idf.py").is_file()
}

/// `v5.4.1`, as the installation calls itself; empty when it does not say.
fn version(root: &Path) -> String {
    if let Ok(text) = std::fs::read_to_string(root.join("version.txt")) {
        return text.trim().to_owned();
    }
    let text = std::fs::read_to_string(root.join("tools/cmake/version.cmake")).unwrap_or_default();
    let number = |name: &str| {
        let (_, rest) = text.split_once(&format!("set(IDF_VERSION_{name} "))?;
        rest.split_once(')').map(|(number, _)| number.trim().to_owned())
    };
    match (number("MAJOR"), number("MINOR"), number("PATCH")) {
        (Some(major), Some(minor), Some(patch)) if patch == "0" => format!("v{major}.{minor}"),
        (Some(major), Some(minor), Some(patch)) => format!("v{major}.{minor}.{patch}"),
        _ => String::new(),
    }
}

impl Toolchain for IdfToolchain {
    fn label(&self) -> String {
        format!("ESP-IDF {}", self.version).trim_end().to_owned()
    }

    fn command(&self) -> String {
        "idf.py build".to_owned()
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        Box::pin(self.run_build(job))
    }

    fn plan_flash(
        &self,
        project: &Path,
        build: BuildId,
        built_at: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        let (chip, images, touches_boot) = idf_flash::images(project)?;
        let port = idf_flash::first_port(Path::new("/dev"))?;
        let board = BoardInfo { label: format!("{chip} board"), chip, port, simulated: false };
        Ok(FlashPlan { board, images, touches_boot, build, built_at })
    }

    fn flash(&self, order: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        Box::pin(idf_flash::flash(self, order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_is_found_by_its_variable_or_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("esp/esp-idf");
        let nothing = |_: &str| None;
        // The usual absolute places may exist on this machine.
        if PLACES.iter().all(|place| !is_idf(Path::new(place))) {
            let error = IdfToolchain::find_with(&nothing).unwrap_err();
            assert!(error.fix.contains("export.sh"), "{error:?}");
        }
        let home = |name: &str| (name == "HOME").then(|| folder.path().as_os_str().to_owned());
        std::fs::create_dir_all(root.join("tools/cmake")).unwrap();
        std::fs::write(root.join("tools/idf.py"), "").unwrap();
        let text = "set(IDF_VERSION_MAJOR 5)\nset(IDF_VERSION_MINOR 4)\nset(IDF_VERSION_PATCH 0)\n";
        std::fs::write(root.join("tools/cmake/version.cmake"), text).unwrap();
        let found = IdfToolchain::find_with(&home).unwrap();
        assert_eq!((found.label().as_str(), found.is_exported), ("ESP-IDF v5.4", false));
        std::fs::write(root.join("version.txt"), "v6.0.2\n").unwrap();
        let tools = root.join("tools").into_os_string();
        let exported = |name: &str| match name {
            "IDF_PATH" => Some(root.clone().into_os_string()),
            "IDF_PYTHON_ENV_PATH" => Some("/env".into()),
            "PATH" => Some(tools.clone()),
            _ => None,
        };
        let found = IdfToolchain::find_with(&exported).unwrap();
        assert_eq!((found.label().as_str(), found.is_exported), ("ESP-IDF v6.0.2", true));
        let wrong = |name: &str| (name == "IDF_PATH").then(|| "/nowhere".into());
        let error = IdfToolchain::find_with(&wrong).unwrap_err();
        assert!(error.why.contains("/nowhere"), "{error:?}");
    }
}
