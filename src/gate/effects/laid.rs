//! A new content that lies ready beside the file it is for, and is put in place in one step.
//!
//! Until then nothing of the project has changed; what is not put in place is taken away again.

#![expect(clippy::disallowed_methods, reason = "what was approved is written here")]

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fsync, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::gate::approved::Place;
use crate::gate::folder::{Found, PlaceError, is_still, look_in};
use crate::model::{ContentHash, Outcome, ProposalId};

/// A content beside the file it is for, on the disk.
#[derive(Debug)]
pub struct Laid {
    folder: OwnedFd,
    /// What it is called as long as it is not in place.
    temporary: String,
    /// What it is called afterwards.
    name: String,
    /// What is there now.
    seen: Option<Found>,
    is_in_place: bool,
}

impl Laid {
    /// Writes the content of `place` into its open `folder`, where `seen` is now, and waits until
    /// it is on the disk.
    pub(super) fn beside(
        folder: OwnedFd,
        seen: Option<Found>,
        proposal: ProposalId,
        place: Place<'_>,
    ) -> Result<Self, PlaceError> {
        let temporary = temporary_name(proposal, place.hash);
        let name = place.path.file_name().to_owned();
        let laid = Self { folder, temporary, name, seen, is_in_place: false };
        let mut file = File::from(laid.create()?);
        file.write_all(place.content)?;
        file.sync_all()?;
        Ok(laid)
    }

    fn create(&self) -> Result<OwnedFd, Errno> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let file = match openat(&self.folder, &self.temporary, flags, mode) {
            Err(Errno::EXIST) => {
                discard(&self.folder, &self.temporary);
                openat(&self.folder, &self.temporary, flags, mode)?
            }
            other => other?,
        };
        if let Some(seen) = &self.seen {
            fchmod(&file, seen.mode)?;
        }
        Ok(file)
    }

    /// Whether it is the content of `place`, for that proposal.
    pub(super) fn is_for(&self, proposal: ProposalId, place: Place<'_>) -> bool {
        self.temporary == temporary_name(proposal, place.hash)
            && self.name == place.path.file_name()
    }

    /// Puts it in place, unless something else is there now than when it was laid ready.
    pub(super) fn put(mut self) -> Result<Outcome, PlaceError> {
        // Writing took its time; somebody may have saved the file meanwhile.
        if !is_still(&self.folder, &self.name, self.seen.as_ref())? {
            let found = look_in(&self.folder, &self.name)?.map(|found| found.hash);
            return Ok(Outcome::Stale { found });
        }
        let folder = self.folder.as_fd();
        renameat(folder, &self.temporary, folder, &self.name)?;
        self.is_in_place = true;
        make_lasting(&self.folder);
        Ok(Outcome::Applied)
    }
}

impl Drop for Laid {
    fn drop(&mut self) {
        if !self.is_in_place {
            discard(&self.folder, &self.temporary);
        }
    }
}

/// Removes what was laid ready for a proposal when the program was killed.
pub(super) fn tidy(folder: &OwnedFd, proposal: ProposalId, to: ContentHash) {
    discard(folder, &temporary_name(proposal, to));
}

/// Waits until the names in a folder are on the disk, so that what is recorded as done stays done
/// through a power cut.
pub(super) fn make_lasting(folder: &OwnedFd) {
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
