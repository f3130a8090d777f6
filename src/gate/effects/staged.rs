//! A new content that lies ready beside the file it is for, and is put in place in one step.
//!
//! Until then nothing of the project has changed; what is not put in place is taken away again.

#![expect(clippy::disallowed_methods, reason = "what was approved is written here")]

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, fchmod, openat};
use rustix::io::Errno;

use super::done::EffectResult;
use super::swap::{Swap, discard, rename_new};
use crate::gate::approved::ContentUse;
use crate::gate::folder::{OpenFolder, PlaceError, is_still, look_in};
use crate::model::{ContentHash, Outcome, ProposalId};

/// A content beside the file it is for, on the disk.
#[derive(Debug)]
pub struct StagedFile {
    folder: OwnedFd,
    /// What it is called as long as it is not in place.
    temporary: String,
    /// What it is called afterwards.
    name: String,
    /// What is there now.
    seen: Option<OpenFolder>,
    proposal: ProposalId,
    hash: ContentHash,
    is_in_place: bool,
}

impl StagedFile {
    /// Writes the content of `place` into its open `folder`, where `seen` is now, and waits until
    /// it is on the disk.
    pub(super) fn stage(
        folder: OwnedFd,
        seen: Option<OpenFolder>,
        proposal: ProposalId,
        place: ContentUse<'_>,
    ) -> Result<Self, PlaceError> {
        let temporary = temporary_name(proposal, place.hash);
        let name = place.path.file_name().to_owned();
        let hash = place.hash;
        let staged = Self { folder, temporary, name, seen, proposal, hash, is_in_place: false };
        let mut file = File::from(staged.create()?);
        file.write_all(place.content)?;
        file.sync_all()?;
        Ok(staged)
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
    pub(super) fn is_for(&self, proposal: ProposalId, place: ContentUse<'_>) -> bool {
        self.temporary == temporary_name(proposal, place.hash)
            && self.name == place.path.file_name()
    }

    /// Puts it in place, unless something else is there now than when it was laid ready.
    pub(super) fn put(self) -> Result<EffectResult, PlaceError> {
        // Writing took its time; somebody may have saved the file meanwhile.
        if !is_still(&self.folder, &self.name, self.seen.as_ref())? {
            let found = look_in(&self.folder, &self.name)?.map(|found| found.hash);
            return Ok(EffectResult::from(Outcome::Stale { found }));
        }
        self.put_at_last()
    }

    /// As [`StagedFile::put`], when there is no time left to look: what another program saves in this
    /// moment stays.
    fn put_at_last(mut self) -> Result<EffectResult, PlaceError> {
        let outcome = match &self.seen {
            Some(seen) => {
                let (folder, proposal, base) = (&self.folder, self.proposal, seen.hash);
                let swap = Swap { folder, name: &self.name, proposal, base, to: Some(self.hash) };
                // From here on the name is no more that of a content laid ready.
                self.is_in_place = true;
                swap.replace(&self.temporary)?
            }
            None => self.put_new()?,
        };
        Ok(EffectResult::lasting(outcome, &self.folder, &self.name))
    }

    fn put_new(&mut self) -> Result<Outcome, PlaceError> {
        match rename_new(&self.folder, &self.temporary, &self.name) {
            Ok(()) => {
                self.is_in_place = true;
                Ok(Outcome::Applied)
            }
            Err(Errno::EXIST) => {
                let found = look_in(&self.folder, &self.name)?.map(|found| found.hash);
                Ok(Outcome::Stale { found })
            }
            Err(Errno::NOTSUP) => Err(PlaceError::NoSafeWay),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_in_place {
            discard(&self.folder, &self.temporary);
        }
    }
}

/// Removes what was laid ready for a proposal when the program was killed, and puts back what it
/// had displaced if that is of another program.
pub(super) fn tidy(
    folder: &OwnedFd,
    name: &str,
    proposal: ProposalId,
    base: Option<ContentHash>,
    to: Option<ContentHash>,
) -> Result<(), PlaceError> {
    if let Some(to) = to {
        discard(folder, &temporary_name(proposal, to));
    }
    match base {
        Some(base) => Swap { folder, name, proposal, base, to }.tidy(),
        None => Ok(()),
    }
}

/// The same for the same proposal, so that a later start of the program finds it.
fn temporary_name(proposal: ProposalId, to: ContentHash) -> String {
    format!(".firmhand-{proposal}-{}.tmp", to.short())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::ProjectPath;

    #[test]
    fn a_file_made_after_the_last_look_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = ProjectPath::new("a.c").unwrap();
        let content = b"new".as_slice();
        let place = ContentUse { path: &path, base: None, content, hash: ContentHash::of(content) };
        let fd = || OwnedFd::from(File::open(folder.path()).unwrap());
        let staged = StagedFile::stage(fd(), None, ProposalId(1), place).unwrap();
        fs::write(folder.path().join("a.c"), "theirs").unwrap();
        let found = Some(ContentHash::of(b"theirs"));
        assert_eq!(staged.put_at_last().unwrap(), EffectResult::from(Outcome::Stale { found }));
        assert_eq!(fs::read_to_string(folder.path().join("a.c")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let seen = look_in(&fd(), "a.c").unwrap();
        let staged =
            StagedFile::stage(fd(), seen, ProposalId(2), ContentUse { base: found, ..place })
                .unwrap();
        fs::write(folder.path().join("a.c"), "theirs again").unwrap();
        let found = Some(ContentHash::of(b"theirs again"));
        assert_eq!(staged.put_at_last().unwrap(), EffectResult::from(Outcome::Stale { found }));
        assert_eq!(fs::read_to_string(folder.path().join("a.c")).unwrap(), "theirs again");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_is_a_plain_one_with_the_usual_rights_whatever_lies_at_its_first_name() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let away = tempfile::tempdir().unwrap();
        let (theirs, usual) = (away.path().join("theirs"), away.path().join("usual"));
        fs::write(&theirs, "theirs").unwrap();
        fs::write(&usual, "").unwrap();
        let path = ProjectPath::new("a.c").unwrap();
        let content = b"new".as_slice();
        let place = ContentUse { path: &path, base: None, content, hash: ContentHash::of(content) };
        symlink(&theirs, folder.path().join(temporary_name(ProposalId(1), place.hash))).unwrap();
        let fd = OwnedFd::from(File::open(folder.path()).unwrap());
        let staged = StagedFile::stage(fd, None, ProposalId(1), place).unwrap();
        assert_eq!(staged.put_at_last().unwrap(), EffectResult::from(Outcome::Applied));
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        let made = fs::symlink_metadata(folder.path().join("a.c")).unwrap();
        assert!(made.is_file());
        let rights = |of: fs::Metadata| of.permissions().mode();
        assert_eq!(rights(made), rights(fs::metadata(&usual).unwrap()));
    }

    #[test]
    fn a_content_that_lies_ready_is_for_one_proposal_one_file_and_one_content() {
        fn place<'a>(path: &'a ProjectPath, content: &'a [u8]) -> ContentUse<'a> {
            ContentUse { path, base: None, content, hash: ContentHash::of(content) }
        }
        let folder = tempfile::tempdir().unwrap();
        let fd: OwnedFd = File::open(folder.path()).unwrap().into();
        let (path, other) = (ProjectPath::new("a.c").unwrap(), ProjectPath::new("b.c").unwrap());
        let staged = StagedFile::stage(fd, None, ProposalId(1), place(&path, b"a")).unwrap();
        assert!(staged.is_for(ProposalId(1), place(&path, b"a")));
        assert!(!staged.is_for(ProposalId(2), place(&path, b"a")), "another proposal");
        assert!(!staged.is_for(ProposalId(1), place(&path, b"b")), "another content");
        assert!(!staged.is_for(ProposalId(1), place(&other, b"a")), "another file");
    }
}
