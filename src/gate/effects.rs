//! The effects themselves: the only code that changes a project or writes to a board.
//!
//! Each function takes the proof of approval, looks once more at what it is about to change, and
//! leaves either the old state or the new one, nothing in between. Must not decide anything.

#![expect(clippy::disallowed_methods, reason = "what was approved is performed here")]

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::approved::{Approved, Delete, EditNvs, Erase, Flash, Insert, ReadBack, Save, SendText};
use super::folder::{Found, PlaceError, folder_if_there, is_still, look, look_in, open_folder};
use crate::device::SerialHub;
use crate::model::{BoardInfo, ContentHash, Outcome, ProjectPath, ProposalId, UserError};
use crate::toolchain::nvs::{self, Rewritten};
use crate::toolchain::{EraseOrder, FlashOrder, ReadOrder, RewriteOrder, Toolchain};
use crate::workspace::Sandbox;

/// Names the temporary file of a content that nobody knows before it is there.
pub(super) const UNKNOWN: ContentHash = ContentHash::NONE;

/// Writes a whole file; its folders are made where they are missing.
#[must_use]
pub fn save(approved: &Approved<Save>, sandbox: &Sandbox) -> Outcome {
    let Save { path, base, content, hash } = approved.effect();
    let temporary = temporary_name(approved.proposal(), *hash);
    let result = write(sandbox, path, *base, content, &temporary);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("save", path)))
}

/// Writes an existing file with something inserted.
#[must_use]
pub fn insert(approved: &Approved<Insert>, sandbox: &Sandbox) -> Outcome {
    let Insert { path, base, content, hash } = approved.effect();
    let temporary = temporary_name(approved.proposal(), *hash);
    let result = write(sandbox, path, Some(*base), content, &temporary);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("change", path)))
}

/// Removes a file. Its folder stays, even when it is empty now.
#[must_use]
pub fn delete(approved: &Approved<Delete>, sandbox: &Sandbox) -> Outcome {
    let Delete { path, base } = approved.effect();
    let result = remove(sandbox, path, *base);
    result.unwrap_or_else(|error| Outcome::Failed(error.tell("delete", path)))
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
    sandbox: &Sandbox,
    toolchain: &dyn Toolchain,
    order: impl FnOnce(&ReadBack) -> ReadOrder,
) -> Outcome {
    let ReadBack { plan } = approved.effect();
    let mut order = order(approved.effect());
    order.plan = plan.clone();
    // Looked at first: reading takes minutes.
    match look(sandbox, &plan.path) {
        Ok(None) => {}
        Ok(Some(found)) => return Outcome::Stale { found: Some(found.hash) },
        Err(error) => return Outcome::Failed(error.tell("save", &plan.path)),
    }
    let content = match toolchain.read_flash(order).await {
        Ok(content) => content,
        Err(error) => return Outcome::Failed(error),
    };
    let temporary = temporary_name(approved.proposal(), UNKNOWN);
    let written = write(sandbox, &plan.path, None, &content, &temporary);
    written.unwrap_or_else(|error| Outcome::Failed(error.tell("save", &plan.path)))
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

/// Removes what an effect may have left behind when the program was killed in the middle of it.
/// What was written there never became part of the project.
pub(super) fn tidy(sandbox: &Sandbox, proposal: ProposalId, path: &ProjectPath, to: ContentHash) {
    if let Ok(Some(folder)) = folder_if_there(sandbox, path) {
        discard(&folder, &temporary_name(proposal, to));
    }
}

fn write(
    sandbox: &Sandbox,
    path: &ProjectPath,
    base: Option<ContentHash>,
    content: &[u8],
    temporary: &str,
) -> Result<Outcome, PlaceError> {
    // Looked at before folders are made, so that a stale base leaves nothing behind.
    let folder = folder_if_there(sandbox, path)?;
    let seen = match &folder {
        Some(folder) => look_in(folder, path.file_name())?,
        None => None,
    };
    let found = seen.as_ref().map(|seen| seen.hash);
    if found != base {
        return Ok(Outcome::Stale { found });
    }
    let folder = match folder {
        Some(folder) => folder,
        None => open_folder(sandbox, path, &|folder, part| {
            mkdirat(folder, part, Mode::RWXU | Mode::RWXG | Mode::RWXO)?;
            make_lasting(folder);
            Ok(())
        })?,
    };
    let outcome = fill(&folder, temporary, seen.as_ref().map(|seen| seen.mode), content)
        .and_then(|()| put_in_place(&folder, temporary, path.file_name(), seen.as_ref()));
    if !matches!(outcome, Ok(Outcome::Applied)) {
        discard(&folder, temporary);
    }
    outcome
}

/// Writes the new content beside the old one and waits until it is on the disk.
fn fill(
    folder: &OwnedFd,
    temporary: &str,
    mode: Option<Mode>,
    content: &[u8],
) -> Result<(), PlaceError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let read_write = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let file = match openat(folder, temporary, flags, read_write) {
        Err(Errno::EXIST) => {
            discard(folder, temporary);
            openat(folder, temporary, flags, read_write)?
        }
        other => other?,
    };
    if let Some(mode) = mode {
        fchmod(&file, mode)?;
    }
    let mut file = File::from(file);
    file.write_all(content)?;
    file.sync_all()?;
    Ok(())
}

fn put_in_place(
    folder: &OwnedFd,
    temporary: &str,
    name: &str,
    seen: Option<&Found>,
) -> Result<Outcome, PlaceError> {
    // Writing took its time; somebody may have saved the file meanwhile.
    if !is_still(folder, name, seen)? {
        let found = look_in(folder, name)?.map(|found| found.hash);
        return Ok(Outcome::Stale { found });
    }
    renameat(folder.as_fd(), temporary, folder.as_fd(), name)?;
    make_lasting(folder);
    Ok(Outcome::Applied)
}

fn remove(sandbox: &Sandbox, path: &ProjectPath, base: ContentHash) -> Result<Outcome, PlaceError> {
    let Some(folder) = folder_if_there(sandbox, path)? else {
        return Ok(Outcome::Stale { found: None });
    };
    let found = look_in(&folder, path.file_name())?.map(|seen| seen.hash);
    if found != Some(base) {
        return Ok(Outcome::Stale { found });
    }
    unlinkat(&folder, path.file_name(), AtFlags::empty())?;
    make_lasting(&folder);
    Ok(Outcome::Applied)
}

/// Waits until the names in a folder are on the disk, so that what is recorded as done stays done
/// through a power cut.
fn make_lasting(folder: &OwnedFd) {
    // Done it is all the same. Some file systems cannot sync a folder.
    let _ = fsync(folder);
}

/// The same for the same proposal, so that a later start of the program finds it.
fn temporary_name(proposal: ProposalId, to: ContentHash) -> String {
    format!(".firmhand-{proposal}-{}.tmp", to.short())
}

fn discard(folder: &OwnedFd, temporary: &str) {
    // It is not there, or the disk is in trouble; the trouble itself was told already.
    let _ = unlinkat(folder, temporary, AtFlags::empty());
}
