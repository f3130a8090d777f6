//! Writing a build by PlatformIO to a board.
//!
//! `pio run --target upload` would build once more after the person has looked, so that `esptool`
//! of PlatformIO's packages is given copies of the approved images and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::PlatformioToolchain;
use super::left::Note;
use crate::model::{BoardInfo, BuildId, FlashPlan, Timestamp, UserError};
use crate::toolchain::chip_memory::{After, Esptool};
use crate::toolchain::esptool::{self, FLASH_BAUD, SAFE_BAUD, TIMEOUT, WHAT, copy_aside};
use crate::toolchain::process::Job;
use crate::toolchain::size;
use crate::toolchain::{CANNOT_ERASE, FlashOrder};

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
    let note = Note::read(project).ok_or_else(|| {
        UserError::new(WHAT, "PlatformIO has built nothing here yet", "Build the project first.")
    })?;
    if let Some(program) = note.program(project).filter(|program| size::is_for_host(program)) {
        let board = pio.host()?.info(HOST);
        let images = vec![Note::host_image(project, &program)?];
        return Ok(FlashPlan { board, images, touches_boot: false, build, built_at });
    }
    let images = note.images(project)?;
    let port = esptool::port(pio.port.as_ref().or(note.port.as_ref()))?;
    let (chip, label) = (images.chip.clone(), format!("{} board", images.chip));
    let board = BoardInfo { label, chip, port, simulated: false };
    let (images, touches_boot) = (images.all, images.touches_boot);
    Ok(FlashPlan { board, images, touches_boot, build, built_at })
}

/// Writes exactly the images of the plan and starts the board. Where the chip stops answering at
/// the usual rate, it is tried once more at one that every cable carries.
///
/// # Errors
/// When the port cannot be had, an image is not the planned one any more, or `esptool` fails.
pub(super) async fn flash(
    pio: &PlatformioToolchain,
    order: FlashOrder,
) -> Result<BoardInfo, UserError> {
    let FlashOrder { project, plan, progress, notice, cancel } = order;
    esptool::is_free(WHAT, &plan.board.port)?;
    let copies = tempfile::tempdir().map_err(|error| UserError::from_cause(WHAT, &error))?;
    let files = copy_aside(&project, &plan, copies.path(), |index, _| format!("{index}.bin"))?;
    let mut baud = FLASH_BAUD;
    loop {
        let mut args = pio.words(&plan.board, baud, After::Start);
        args.push("write_flash".into());
        for (image, file) in plan.images.iter().zip(&files) {
            args.extend([format!("0x{:x}", image.offset).into(), file.into()]);
        }
        let job = pio.job(args, copies.path(), &cancel).await?;
        match esptool::write(job, &plan, progress.as_ref()).await {
            Err(trouble) if trouble.may_be_the_rate && baud != SAFE_BAUD => {
                baud = SAFE_BAUD;
                let what = format!("Trying again with {SAFE_BAUD} baud");
                notice(UserError::new(what, trouble.error.why, ""));
            }
            done => return done.map_err(|trouble| trouble.error),
        }
    }
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

/// `esptool` as PlatformIO has installed it, with PlatformIO's own Python.
impl Esptool for PlatformioToolchain {
    fn words(&self, board: &BoardInfo, baud: &str, after: After) -> Vec<OsString> {
        let has_lines = esptool::has_lines(&board.port);
        let before = if has_lines { "default_reset" } else { "no_reset" };
        let after = if has_lines && after == After::Start { "hard_reset" } else { "no_reset" };
        let words = ["--chip", &board.chip, "--port", &board.port, "--baud", baud];
        let words = words.into_iter().chain(["--before", before, "--after", after]);
        words.map(OsString::from).collect()
    }

    fn job<'a>(
        &'a self,
        words: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Job, UserError>> {
        let call = ["pkg", "exec", "--package", "tool-esptoolpy", "--", "esptool.py"];
        let all = call.into_iter().map(OsString::from).chain(words).collect();
        Box::pin(std::future::ready(Ok(self.process(all, folder, TIMEOUT, cancel))))
    }
}

/// The program of the last build and what it runs on; `None` when there is none.
pub(super) fn program(project: &Path) -> Option<(PathBuf, size::Home)> {
    let note = Note::read(project)?;
    let program = note.program(project)?;
    let home = match size::is_for_host(&program) {
        true => size::Home::Host("host process"),
        false => size::Home::Chip(note.table(project)),
    };
    Some((program, home))
}
