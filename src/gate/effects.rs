//! The effects themselves: the only code that changes a project or writes to a board.
//!
//! Each function takes the proof of approval, looks once more at what it is about to change, and
//! leaves either the old state or the new one, nothing in between. [`stage`] alone takes less than
//! the proof, and changes nothing that is there. Must not decide anything.

#![expect(clippy::disallowed_methods, reason = "what was approved is performed here")]

mod done;
mod staged;
mod swap;

use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Mode, mkdirat};

use super::approved::{
    Approved, ContentUse, Delete, EditNvs, Erase, Flash, Insert, ReadBack, Save, SendText,
    SyncPending,
};
use super::folder::{PlaceError, folder_if_there, look, look_in, open_folder};
use crate::device::SerialHub;
use crate::model::{BoardInfo, ContentHash, Outcome, ProjectPath, ProposalId, UserError};
use crate::toolchain::nvs::{self, Rewritten};
use crate::toolchain::{EraseOrder, FlashOrder, ReadOrder, RewriteOrder, Toolchain};
use crate::workspace::ProjectDir;
pub use done::EffectResult;
use done::make_lasting;
pub use staged::StagedFile;
use swap::Swap;

/// Names the temporary file of a content that nobody knows before it is there.
pub(super) const UNKNOWN: ContentHash = ContentHash::NONE;

/// Stages a content next to the file it is for, while its approval is on its way to the disk.
/// `None` when the folder is missing or something is in the way: then all is done, and told, once
/// the approval is there.
#[must_use]
pub fn stage(pending: &SyncPending<'_>, project_dir: &ProjectDir) -> Option<StagedFile> {
    let place = pending.place();
    let folder = folder_if_there(project_dir, place.path).ok()??;
    let seen = look_in(&folder, place.path.file_name()).ok()?;
    let is_base = seen.as_ref().map(|seen| seen.hash) == place.base;
    is_base.then(|| StagedFile::stage(folder, seen, pending.proposal(), place).ok())?
}

/// Writes a whole file; its folders are made where they are missing.
#[must_use]
pub fn save(
    approved: &Approved<Save>,
    staged: Option<StagedFile>,
    project_dir: &ProjectDir,
) -> EffectResult {
    let place = approved.effect().place();
    let result = write(project_dir, approved.proposal(), place, staged);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("save", place.path)).into())
}

/// Writes an existing file with something inserted.
#[must_use]
pub fn insert(
    approved: &Approved<Insert>,
    staged: Option<StagedFile>,
    project_dir: &ProjectDir,
) -> EffectResult {
    let place = approved.effect().place();
    let result = write(project_dir, approved.proposal(), place, staged);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("change", place.path)).into())
}

/// Removes a file. Its folder stays, even when it is empty now.
#[must_use]
pub fn delete(approved: &Approved<Delete>, project_dir: &ProjectDir) -> EffectResult {
    let Delete { path, base } = approved.effect();
    let result = remove(project_dir, approved.proposal(), path, *base);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("delete", path)).into())
}

/// Writes images to a board; on success the board, with the port to listen on.
///
/// # Errors
/// As [`Toolchain::flash`].
pub async fn flash(
    approved: &Approved<Flash>,
    toolchain: &dyn Toolchain,
    order: impl FnOnce(&Flash) -> FlashOrder,
) -> Result<BoardInfo, UserError> {
    let mut order = order(approved.effect());
    // Whoever fills the order in has no say in what is written.
    order.plan = approved.effect().plan.clone();
    toolchain.flash(order).await
}

/// Erases a board's flash; on success the board, with the port to listen on.
///
/// # Errors
/// As [`Toolchain::erase`].
pub async fn erase(
    approved: &Approved<Erase>,
    toolchain: &dyn Toolchain,
    order: impl FnOnce(&Erase) -> EraseOrder,
) -> Result<BoardInfo, UserError> {
    let mut order = order(approved.effect());
    order.plan = approved.effect().plan.clone();
    toolchain.erase(order).await
}

/// Reads a part of a board's flash into a file that is not there yet.
pub async fn read_back(
    approved: &Approved<ReadBack>,
    project_dir: &ProjectDir,
    toolchain: &dyn Toolchain,
    order: impl FnOnce(&ReadBack) -> ReadOrder,
) -> EffectResult {
    let ReadBack { plan } = approved.effect();
    let mut order = order(approved.effect());
    order.plan = plan.clone();
    // Looked at first: reading takes minutes.
    match look(project_dir, &plan.path) {
        Ok(None) => {}
        Ok(Some(found)) => return Outcome::Stale { found: Some(found.hash) }.into(),
        Err(error) => return Outcome::Failed(error.tell("save", &plan.path)).into(),
    }
    let content = match toolchain.read_flash(order).await {
        Ok(content) => content,
        Err(error) => return Outcome::Failed(error).into(),
    };
    let place = ContentUse { path: &plan.path, base: None, content: &content, hash: UNKNOWN };
    let written = write(project_dir, approved.proposal(), place, None);
    written.unwrap_or_else(|error| Outcome::Failed(error.tell("save", &plan.path)).into())
}

/// Changes entries of a board's non-volatile storage, if they still are what was shown; on success
/// the board, with the port to listen on.
///
/// # Errors
/// As [`Toolchain::rewrite`]; or what was shown is so no more, or cannot be changed.
pub async fn edit_nvs(
    approved: &Approved<EditNvs>,
    toolchain: &dyn Toolchain,
    order: impl FnOnce(&EditNvs) -> RewriteOrder,
) -> Result<BoardInfo, Unwritten> {
    let EditNvs { plan } = approved.effect();
    let mut order = order(approved.effect());
    order.board = plan.board.clone();
    order.region = plan.region.clone();
    let hindrance = Arc::new(Mutex::new(None));
    let (found, planned) = (Arc::clone(&hindrance), plan.clone());
    order.remake = Arc::new(move |now| {
        let why = match nvs::rewrite(&planned, now) {
            Rewritten::Image(image) => return Some(image),
            Rewritten::Stale => Unwritten::Stale(ContentHash::of(now)),
            Rewritten::Cannot(why) => {
                let fix = "Read it back and propose the change again.";
                Unwritten::Failed(UserError::new("Cannot change the stored settings", why, fix))
            }
        };
        *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        None
    });
    let board = toolchain.rewrite(order).await.map_err(Unwritten::Failed)?;
    let hindrance = hindrance.lock().unwrap_or_else(PoisonError::into_inner).take();
    hindrance.map_or(Ok(board), Err)
}

/// Why stored settings were left as they are.
#[derive(Debug)]
pub enum Unwritten {
    /// They are not what was shown; the hash of what the partition holds.
    Stale(ContentHash),
    /// It did not work.
    Failed(UserError),
}

/// Sends text to a board's open port.
///
/// # Errors
/// As [`SerialHub::transmit`].
pub async fn send(approved: &Approved<SendText>, serial: &SerialHub) -> Result<(), UserError> {
    let SendText { plan, by } = approved.effect();
    serial.transmit(&plan.board.port, &plan.text, Some(by.clone())).await
}

/// Clears up what an effect from `base` to `to` may have left behind when the program was killed in
/// the middle of it: what never became part of the project goes, and what another program had saved
/// in that moment goes back to its place.
///
/// # Errors
/// When the disk does not allow it, or something of another program is kept elsewhere.
pub(super) fn tidy(
    project_dir: &ProjectDir,
    proposal: ProposalId,
    path: &ProjectPath,
    base: Option<ContentHash>,
    to: Option<ContentHash>,
) -> Result<(), PlaceError> {
    match folder_if_there(project_dir, path)? {
        Some(folder) => staged::tidy(&folder, path.file_name(), proposal, base, to),
        None => Ok(()),
    }
}

/// Removes a content that was never put in place, by its own path.
pub(super) fn discard_staged(project_dir: &ProjectDir, path: &ProjectPath) {
    // Where the folder is out of reach, the next start of the program finds it.
    if let Ok(Some(folder)) = folder_if_there(project_dir, path) {
        swap::discard(&folder, path.file_name());
    }
}

/// What came of the change of `path` that an ended program made, brought to the disk before it is told.
pub(super) fn lasting(
    outcome: Outcome,
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> EffectResult {
    done::lasting_at_last(outcome, project_dir, path)
}

fn write(
    project_dir: &ProjectDir,
    proposal: ProposalId,
    place: ContentUse<'_>,
    staged: Option<StagedFile>,
) -> Result<EffectResult, PlaceError> {
    if let Some(staged) = staged.filter(|staged| staged.is_for(proposal, place)) {
        return staged.put();
    }
    // Looked at before folders are made, so that a stale base leaves nothing behind.
    let folder = folder_if_there(project_dir, place.path)?;
    let seen = match &folder {
        Some(folder) => look_in(folder, place.path.file_name())?,
        None => None,
    };
    let found = seen.as_ref().map(|seen| seen.hash);
    if found != place.base {
        return Ok(EffectResult::from(Outcome::Stale { found }));
    }
    let folder = match folder {
        Some(folder) => folder,
        None => open_folder(project_dir, place.path, &|folder, part| {
            mkdirat(folder, part, Mode::RWXU | Mode::RWXG | Mode::RWXO)?;
            make_lasting(folder)
        })?,
    };
    StagedFile::stage(folder, seen, proposal, place)?.put()
}

fn remove(
    project_dir: &ProjectDir,
    proposal: ProposalId,
    path: &ProjectPath,
    base: ContentHash,
) -> Result<EffectResult, PlaceError> {
    let Some(folder) = folder_if_there(project_dir, path)? else {
        return Ok(EffectResult::from(Outcome::Stale { found: None }));
    };
    let name = path.file_name();
    let found = look_in(&folder, name)?.map(|seen| seen.hash);
    if found != Some(base) {
        return Ok(EffectResult::from(Outcome::Stale { found }));
    }
    let outcome = Swap { folder: &folder, name, proposal, base, to: None }.remove()?;
    Ok(EffectResult::lasting(outcome, &folder, name))
}
