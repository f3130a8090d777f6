//! Erasing, reading and changing parts of a board's flash.
//!
//! Owns the order of the calls of `esptool`. Must not know what the parts hold, nor who has
//! installed the tool.

use std::ffi::OsString;
use std::path::Path;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::esptool::{self, FLASH_BAUD, SAFE_BAUD};
use super::process::Job;
use super::{CANNOT_ERASE, CANNOT_READ, CANNOT_REWRITE, EraseOrder, ReadOrder, RewriteOrder};
use crate::model::{
    BoardInfo, BuildId, ContentHash, FlashImage, FlashPlan, FlashRegion, Timestamp, UserError,
};

/// What becomes of the board after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It starts.
    Start,
    /// It waits in its boot loader.
    Wait,
}

/// An installed `esptool`, as one toolchain calls it.
pub(super) trait Esptool: Sync {
    /// What every call for that board begins with.
    fn words(&self, board: &BoardInfo, baud: &str, after: After) -> Vec<OsString>;

    /// A call with these words.
    ///
    /// # Errors
    /// When the toolchain is not what it was found to be.
    fn job<'a>(
        &'a self,
        words: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Job, UserError>>;
}

/// Erases the board's flash, or a part of it, and starts the board.
///
/// # Errors
/// When the port cannot be had, or `esptool` fails.
pub(super) async fn erase(tool: &dyn Esptool, order: EraseOrder) -> Result<BoardInfo, UserError> {
    let EraseOrder { project, plan, cancel } = order;
    esptool::is_free(CANNOT_ERASE, &plan.board.port)?;
    let mut all = tool.words(&plan.board, SAFE_BAUD, After::Start);
    match &plan.region {
        None => all.push("erase_flash".into()),
        Some(region) => all.extend([
            "erase_region".into(),
            format!("0x{:x}", region.offset).into(),
            format!("0x{:x}", region.bytes).into(),
        ]),
    }
    let job = tool.job(all, &project, &cancel).await?;
    esptool::run(CANNOT_ERASE, job, &plan.board).await?;
    Ok(plan.board)
}

/// Reads a part of the board's flash, which `esptool` compares with the chip's own digest of it,
/// and starts the board.
///
/// # Errors
/// When the board is a simulated one, the port cannot be had, or `esptool` fails.
pub(super) async fn read(tool: &dyn Esptool, order: ReadOrder) -> Result<Vec<u8>, UserError> {
    let ReadOrder { project: _, plan, cancel } = order;
    is_chip(CANNOT_READ, &plan.board)?;
    esptool::is_free(CANNOT_READ, &plan.board.port)?;
    let (board, region) = (&plan.board, &plan.region);
    let from = Source { board, region, baud: FLASH_BAUD, after: After::Start };
    fetch(tool, CANNOT_READ, from, &cancel).await
}

/// A process of this machine has nothing at addresses.
fn is_chip(what: &str, board: &BoardInfo) -> Result<(), UserError> {
    match board.simulated {
        true => {
            let why = format!("the {} has no flash", board.label);
            Err(UserError::new(what, why, "Build for a chip and connect it."))
        }
        false => Ok(()),
    }
}

/// What is read, how fast, and what becomes of the board.
#[derive(Clone, Copy)]
struct Source<'a> {
    board: &'a BoardInfo,
    region: &'a FlashRegion,
    baud: &'static str,
    after: After,
}

async fn fetch(
    tool: &dyn Esptool,
    what: &str,
    from: Source<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, UserError> {
    let Source { board, region, baud, after } = from;
    let failed = |error: &dyn std::fmt::Display| UserError::from_cause(what, error);
    let aside = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = aside.path().join("flash.bin");
    let mut all = tool.words(board, baud, after);
    all.push("read_flash".into());
    all.extend([region.offset, region.bytes].map(|word| format!("0x{word:x}").into()));
    all.push(file.clone().into());
    let job = tool.job(all, aside.path(), cancel).await?;
    esptool::run(what, job, board).await?;
    let content = std::fs::read(&file).map_err(|error| failed(&error))?;
    if content.len() as u64 != u64::from(region.bytes) {
        return Err(failed(&format!("{} bytes came", content.len())));
    }
    Ok(content)
}

/// Reads a part of the board's flash, writes what is made of it, which `esptool` compares with the
/// chip's own digest of it, and starts the board. Between the two the chip waits in its boot loader:
/// a program that counts its starts would change what was just read.
///
/// # Errors
/// As [`read`], and when writing or comparing fails.
pub(super) async fn rewrite(
    tool: &dyn Esptool,
    order: RewriteOrder,
) -> Result<BoardInfo, UserError> {
    let RewriteOrder { project, board, region, remake, progress, cancel } = order;
    is_chip(CANNOT_REWRITE, &board)?;
    esptool::is_free(CANNOT_REWRITE, &board.port)?;
    // It is little, and nothing of it may get lost on the way: at the rate that every cable carries.
    let from = Source { board: &board, region: &region, baud: SAFE_BAUD, after: After::Wait };
    let held = fetch(tool, CANNOT_REWRITE, from, &cancel).await?;
    let Some(content) = remake(&held) else {
        // Nothing to write; the board still has to be let go on.
        let mut all = tool.words(&board, SAFE_BAUD, After::Start);
        all.push("chip_id".into());
        let job = tool.job(all, &project, &cancel).await?;
        esptool::run(CANNOT_REWRITE, job, &board).await?;
        return Ok(board);
    };
    let failed = |error: &dyn std::fmt::Display| UserError::from_cause(CANNOT_REWRITE, error);
    let aside = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = aside.path().join("flash.bin");
    esptool::put_aside(&file, &content).map_err(|error| failed(&error))?;
    let image = FlashImage {
        file: region.name(),
        offset: region.offset,
        bytes: content.len() as u64,
        hash: ContentHash::of(&content),
    };
    let (images, build, built_at) = (vec![image], BuildId(0), Timestamp(0));
    let plan = FlashPlan { board, images, touches_boot: false, build, built_at };
    let mut all = tool.words(&plan.board, SAFE_BAUD, After::Start);
    all.extend(["write_flash".into(), format!("0x{:x}", region.offset).into(), file.into()]);
    let job = tool.job(all, aside.path(), &cancel).await?;
    let written = esptool::write(job, &plan, progress.as_ref()).await;
    written.map_err(|trouble| UserError { what: CANNOT_REWRITE.to_owned(), ..trouble.error })
}
