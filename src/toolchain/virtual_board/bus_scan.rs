//! A scan of the I2C bus of the virtual board: a firmware that scans, on a second board with the same
//! devices, so that what runs on the first one runs on.
//!
//! Owns the temporary folder of that firmware. Must not read what it prints.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::model::{BoardInfo, BuildId, BuildOutcome, FlashPlan, Timestamp, UserError};
use crate::toolchain::flow::Unread;
use crate::toolchain::scanner_run::ScannerRun;
use crate::toolchain::syntax::Overlay;
use crate::toolchain::{BuildJob, FlashOrder, Toolchain};

/// What cannot be done when something here goes wrong.
const WHAT: &str = "Cannot scan the I2C bus of the virtual board";

/// How long the build of the scanner may take.
const BUILD_TIME: Duration = Duration::from_secs(60);

/// The lists of the scanner's project.
const TOP: &str = "cmake_minimum_required(VERSION 3.16)\n\
                   include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(i2c_scanner)\n";
const MAIN: &str = "idf_component_register(SRCS main.c)\n";

/// The project of the scanner, which is built once.
#[derive(Default)]
pub(super) struct ScannerProject(Mutex<Option<Arc<Overlay>>>);

impl ScannerProject {
    /// Its folder with `scanner`.
    ///
    /// # Errors
    /// When it cannot be filled.
    pub(super) fn folder(&self, scanner: &str) -> Result<Arc<Overlay>, UserError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*known {
            return Ok(Arc::clone(folder));
        }
        let files =
            [("CMakeLists.txt", TOP), ("main/CMakeLists.txt", MAIN), ("main/main.c", scanner)];
        let files = files.iter().map(|(path, text)| (Path::new(*path), text.as_bytes()));
        // It stands before no project.
        let made = Overlay::make(Path::new("/dev/null"), files, std::iter::empty())
            .map_err(|error| UserError::from_cause(WHAT, &error))?;
        let made = Arc::new(made);
        *known = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// Builds the scanner in `folder` with `board` and runs it there by `load`.
pub(super) async fn start<B: Toolchain + 'static>(
    board: B,
    folder: Arc<Overlay>,
    load: impl FnOnce(&B, &FlashOrder) -> Result<BoardInfo, UserError>,
) -> Result<ScannerRun, UserError> {
    let project = folder.root().to_owned();
    let cancel = CancellationToken::new();
    // When the caller goes away, the build must not go on.
    let _ended = cancel.clone().drop_guard();
    let job = BuildJob {
        project: project.clone(),
        board: None,
        sink: Arc::new(Unread),
        timeout: BUILD_TIME,
        cancel: cancel.clone(),
    };
    let report = board.build(job).await;
    if report.outcome != BuildOutcome::Passed {
        let first = report.diagnostics.first().map(|found| found.message.clone());
        let why = match report.outcome {
            BuildOutcome::NotRun(error) => error.to_string(),
            _ => first.unwrap_or_else(|| "the scanner did not build".to_owned()),
        };
        return Err(UserError::new(WHAT, why, "Check the scanner in `assets/scanner`."));
    }
    let plan: FlashPlan = board.plan_flash(&project, BuildId(0), Timestamp(0))?;
    let order = FlashOrder {
        project,
        plan,
        progress: Arc::new(|_, _| {}),
        notice: Arc::new(|_| {}),
        cancel,
    };
    let port = load(&board, &order)?.port;
    Ok(ScannerRun::new(port, (board, folder)))
}
