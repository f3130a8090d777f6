//! Writing a build by PlatformIO to a board.
//!
//! `pio run --target upload` would build once more after the person has looked, so that it is not
//! called: a loader is given the approved images and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::PlatformioToolchain;
use super::build_output::BuildNote;
use crate::model::{BoardInfo, BuildId, FlashPlan, Timestamp, UserError};
use crate::toolchain::CANNOT_ERASE;
use crate::toolchain::chip::Esptool;
use crate::toolchain::esptool::{self, TIMEOUT, WHAT};
use crate::toolchain::process::ProcessSpec;
use crate::toolchain::size;

/// What a program that runs on this machine is called instead of a chip.
const HOST: &str = "native";

/// What a flash of the last build would write.
///
/// # Errors
/// When there is no build, or no port to write it to.
pub(super) fn plan(
    pio: &PlatformioToolchain,
    project: &Path,
    build: BuildId,
    built_at: Timestamp,
) -> Result<FlashPlan, UserError> {
    let note = BuildNote::read(project).ok_or_else(|| {
        UserError::new(WHAT, "PlatformIO has built nothing here yet", "Build the project first.")
    })?;
    if let Some(program) = note.program(project).filter(|program| size::is_for_host(program)) {
        let board = pio.host()?.info(HOST);
        let images = vec![BuildNote::host_image(project, &program)?];
        return Ok(FlashPlan::new(board, images, build, built_at));
    }
    let images = note.images(project)?;
    let port = esptool::port(pio.port.as_ref().or(note.port.as_ref()))?;
    let (chip, label) = (images.chip.clone(), format!("{} board", images.chip));
    let board = BoardInfo { label, chip, port, simulated: false };
    Ok(FlashPlan::new(board, images.all, build, built_at))
}

/// The board that the last build was for.
///
/// # Errors
/// When there is no build, or no port at which a board may be.
pub(super) fn board(pio: &PlatformioToolchain, project: &Path) -> Result<BoardInfo, UserError> {
    let plan = plan(pio, project, BuildId(0), Timestamp(0));
    plan.map(|plan| plan.board)
        .map_err(|error| UserError { what: CANNOT_ERASE.to_owned(), ..error })
}

impl Esptool for PlatformioToolchain {
    /// The one that PlatformIO has installed, with PlatformIO's own Python.
    fn job<'a>(
        &'a self,
        args: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ProcessSpec, UserError>> {
        let call = ["pkg", "exec", "--package", "tool-esptoolpy", "--", "esptool.py"];
        let args = call.map(Into::into).into_iter().chain(args).collect();
        let job = self.process(args, folder, TIMEOUT, cancel);
        Box::pin(std::future::ready(Ok(job)))
    }
}

/// The program of the last build and what it runs on; `None` when there is none.
pub(super) fn program(project: &Path) -> Option<(PathBuf, size::Home)> {
    let note = BuildNote::read(project)?;
    let program = note.program(project)?;
    let home = match size::is_for_host(&program) {
        true => size::Home::Host("host process"),
        false => size::Home::Chip(note.table(project)),
    };
    Some((program, home))
}
