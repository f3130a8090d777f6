//! Writing a build by PlatformIO to a board.
//!
//! `pio run --target upload` would build once more after the person has looked, so that `esptool`
//! of PlatformIO's packages is given copies of the approved images and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::PlatformioToolchain;
use super::left::Note;
use crate::model::{BoardInfo, BuildId, FlashPlan, Timestamp, UserError};
use crate::toolchain::esptool::{self, SAFE_BAUD, TIMEOUT, WHAT, copy_aside};
use crate::toolchain::process::Job;
use crate::toolchain::size;
use crate::toolchain::{CANNOT_ERASE, CANNOT_READ, EraseOrder, FlashOrder, ReadOrder};

/// Bits per second while writing.
const FLASH_BAUD: &str = "460800";

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
        let mut args = common_args(&plan.board, baud);
        args.push("write_flash".into());
        for (image, file) in plan.images.iter().zip(&files) {
            args.extend([format!("0x{:x}", image.offset).into(), file.into()]);
        }
        let job = esptool_job(pio, args, copies.path(), &cancel);
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

/// Erases the board's flash, or a part of it, and starts the board.
///
/// # Errors
/// When the port cannot be had, or `esptool` fails.
pub(super) async fn erase(
    pio: &PlatformioToolchain,
    order: EraseOrder,
) -> Result<BoardInfo, UserError> {
    let EraseOrder { project, plan, cancel } = order;
    esptool::is_free(CANNOT_ERASE, &plan.board.port)?;
    let mut args = common_args(&plan.board, SAFE_BAUD);
    match &plan.region {
        None => args.push("erase_flash".into()),
        Some(region) => args.extend([
            "erase_region".into(),
            format!("0x{:x}", region.offset).into(),
            format!("0x{:x}", region.bytes).into(),
        ]),
    }
    esptool::run(CANNOT_ERASE, esptool_job(pio, args, &project, &cancel), &plan.board).await?;
    Ok(plan.board)
}

/// Reads a part of the board's flash, which `esptool` compares with the chip's own digest of it,
/// and starts the board.
///
/// # Errors
/// When the board is a simulated one, the port cannot be had, or `esptool` fails.
pub(super) async fn read(
    pio: &PlatformioToolchain,
    order: ReadOrder,
) -> Result<Vec<u8>, UserError> {
    let ReadOrder { project: _, plan, cancel } = order;
    let failed = |error: &dyn std::fmt::Display| UserError::from_cause(CANNOT_READ, error);
    if plan.board.simulated {
        let why = format!("the {} has no flash", plan.board.label);
        return Err(UserError::new(CANNOT_READ, why, "Read that of a chip."));
    }
    esptool::is_free(CANNOT_READ, &plan.board.port)?;
    let aside = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = aside.path().join("flash.bin");
    let mut args = common_args(&plan.board, FLASH_BAUD);
    args.push("read_flash".into());
    args.extend([plan.region.offset, plan.region.bytes].map(|word| format!("0x{word:x}").into()));
    args.push(file.clone().into());
    let job = esptool_job(pio, args, aside.path(), &cancel);
    esptool::run(CANNOT_READ, job, &plan.board).await?;
    let content = std::fs::read(&file).map_err(|error| failed(&error))?;
    if content.len() as u64 != u64::from(plan.region.bytes) {
        return Err(failed(&format!("{} bytes came", content.len())));
    }
    Ok(content)
}

/// `esptool` as PlatformIO has installed it, with PlatformIO's own Python.
fn esptool_job(
    pio: &PlatformioToolchain,
    args: Vec<OsString>,
    folder: &Path,
    cancel: &CancellationToken,
) -> Job {
    let mut all: Vec<OsString> =
        ["pkg", "exec", "--package", "tool-esptoolpy", "--", "esptool.py"].map(Into::into).to_vec();
    all.extend(args);
    pio.job(all, folder, TIMEOUT, cancel)
}

/// What every call for that board begins with.
fn common_args(board: &BoardInfo, baud: &str) -> Vec<OsString> {
    let before = if esptool::has_lines(&board.port) { "default_reset" } else { "no_reset" };
    let after = if esptool::has_lines(&board.port) { "hard_reset" } else { "no_reset" };
    let words = ["--chip", &board.chip, "--port", &board.port, "--baud", baud];
    let words = words.into_iter().chain(["--before", before, "--after", after]);
    words.map(OsString::from).collect()
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
