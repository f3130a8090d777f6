//! Puts files in place and takes them away so that nothing of another program is lost.
//!
//! A name is only ever filled when nothing has it, or exchanged with what has it; what comes out
//! is compared before it is removed, and goes back when it is not what was expected. Until then it
//! lies beside the file under a name that a later start of the program finds again.

#![expect(clippy::disallowed_methods, reason = "what was approved is written here")]

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::done::make_lasting;
use crate::gate::folder::{PlaceError, look_in};
use crate::model::{ContentHash, Outcome, ProposalId};

/// Names under which a displaced file is kept, at most.
const MOST_KEPT: u32 = 1_000;

/// How often a file that is in the way is removed before that counts as failed.
const REMOVALS: u32 = 3;

/// What the system says where it cannot rename in that way.
fn is_unsupported(errno: Errno) -> bool {
    // Some of these are the same number on some systems.
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno)
}

/// Where a file lies that was in the place of a change, until it is known what it is. The same for
/// the same proposal, so that a later start of the program finds it.
fn displaced_name(proposal: ProposalId, hash: ContentHash) -> String {
    format!(".firmhand-{proposal}-{}.old", hash.short())
}

/// Gives a file another name that nothing has.
///
/// # Errors
/// [`Errno::EXIST`] when something has it; [`Errno::NOTSUP`] when the file system has no way to
/// find that out in the same step.
pub(super) fn rename_new(folder: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    let fd = folder.as_fd();
    match renameat_with(fd, from, fd, to, RenameFlags::NOREPLACE) {
        Err(errno) if is_unsupported(errno) => {}
        other => return other,
    }
    match linkat(fd, from, fd, to, AtFlags::empty()) {
        Ok(()) => {
            discard(folder, from);
            Ok(())
        }
        Err(Errno::PERM | Errno::MLINK) => Err(Errno::NOTSUP),
        Err(errno) if is_unsupported(errno) => Err(Errno::NOTSUP),
        Err(errno) => Err(errno),
    }
}

/// A change of one file of an open folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swap<'a> {
    pub(super) folder: &'a OwnedFd,
    pub(super) name: &'a str,
    pub(super) proposal: ProposalId,
    /// What it has to hold before.
    pub(super) base: ContentHash,
    /// What it shall hold; `None`: it is removed.
    pub(super) to: Option<ContentHash>,
}

impl Swap<'_> {
    fn displaced(&self) -> String {
        displaced_name(self.proposal, self.to.unwrap_or(self.base))
    }

    /// Exchanges the file with the one that lies ready under the name `ready`. That name is free
    /// afterwards, whatever came of it.
    pub(super) fn replace(&self, ready: &str) -> Result<Outcome, PlaceError> {
        let aside = self.displaced();
        let moved = self
            .tidy()
            .and_then(|()| rename_new(self.folder, ready, &aside).map_err(PlaceError::from));
        if let Err(error) = moved {
            discard(self.folder, ready);
            return Err(error);
        }
        let fd = self.folder.as_fd();
        match renameat_with(fd, &aside, fd, self.name, RenameFlags::EXCHANGE) {
            Ok(()) => self.settle(&aside),
            Err(errno) if is_unsupported(errno) => self.replace_unseen(&aside),
            Err(Errno::NOENT) => {
                discard(self.folder, &aside);
                self.stale()
            }
            Err(errno) => {
                discard(self.folder, &aside);
                Err(errno.into())
            }
        }
    }

    /// Where nothing can be exchanged: compares, and then replaces.
    fn replace_unseen(&self, aside: &str) -> Result<Outcome, PlaceError> {
        let found = look_in(self.folder, self.name).map(|found| found.map(|found| found.hash));
        let is_base = matches!(&found, Ok(found) if *found == Some(self.base));
        let fd = self.folder.as_fd();
        let renamed = if is_base { renameat(fd, aside, fd, self.name) } else { Ok(()) };
        if !is_base || renamed.is_err() {
            discard(self.folder, aside);
        }
        renamed?;
        found.map(|found| if is_base { Outcome::Applied } else { Outcome::Stale { found } })
    }

    /// Takes the file away, looks at it, and removes it if it is the one that is meant.
    pub(super) fn remove(&self) -> Result<Outcome, PlaceError> {
        let aside = self.displaced();
        self.tidy()?;
        match rename_new(self.folder, self.name, &aside) {
            Ok(()) => self.settle(&aside),
            Err(Errno::NOENT) => self.stale(),
            // There it was compared a moment ago.
            Err(Errno::NOTSUP) => {
                unlinkat(self.folder, self.name, AtFlags::empty())?;
                Ok(Outcome::Applied)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Finds out what an ended program left aside: what is not needed goes, what another program
    /// wrote goes back.
    pub(super) fn tidy(&self) -> Result<(), PlaceError> {
        self.settle(&self.displaced()).map(drop)
    }

    /// Looks at what came out of the place: removes it if it is the base, or what was to come into
    /// the place, and puts everything else back.
    fn settle(&self, aside: &str) -> Result<Outcome, PlaceError> {
        match look_in(self.folder, aside) {
            Ok(None) => return Ok(Outcome::Applied),
            Ok(Some(found)) if found.hash == self.base || Some(found.hash) == self.to => {
                return match unlinked(self.folder, aside) {
                    Ok(()) => Ok(Outcome::Applied),
                    Err(errno) => self.settle_unremoved(aside, errno),
                };
            }
            // Somebody else's content, or no file that is handled here.
            Ok(Some(_)) | Err(_) => {}
        }
        self.put_back(aside)?;
        self.stale()
    }

    /// As [`Swap::settle`] where the disk does not remove what came out of the place: a rename takes
    /// it away, or it goes back.
    fn settle_unremoved(&self, aside: &str, errno: Errno) -> Result<Outcome, PlaceError> {
        let fd = self.folder.as_fd();
        let Some(to) = self.to else {
            rename_new(self.folder, aside, self.name)?;
            return Err(errno.into());
        };
        let now = look_in(self.folder, self.name)?.map(|found| found.hash);
        if now != Some(to) {
            return Err(errno.into());
        }
        renameat_with(fd, aside, fd, self.name, RenameFlags::EXCHANGE)?;
        renameat(fd, aside, fd, self.name)?;
        Ok(Outcome::Applied)
    }

    /// Puts back what came out of the place, unless something new is there by now; then it is kept
    /// under a name that the person sees. The folder is synced, so that a power cut does not undo it.
    fn put_back(&self, aside: &str) -> Result<(), PlaceError> {
        let is_back = self.exchange_back(aside);
        // What fails here is what the disk does to any change; the file is back.
        let _ = make_lasting(self.folder);
        is_back
    }

    fn exchange_back(&self, aside: &str) -> Result<(), PlaceError> {
        let now = look_in(self.folder, self.name).map(|found| found.map(|found| found.hash));
        let fd = self.folder.as_fd();
        match now {
            Ok(None) if rename_new(self.folder, aside, self.name).is_ok() => return Ok(()),
            Ok(now) if now.is_some() && now == self.to => {
                let exchange =
                    || renameat_with(fd, aside, fd, self.name, RenameFlags::EXCHANGE).is_ok();
                if exchange() {
                    let out = look_in(self.folder, aside).ok().flatten().map(|found| found.hash);
                    if out == self.to {
                        discard(self.folder, aside);
                        return Ok(());
                    }
                    // Saved once more in this very moment: the newest stays in the place.
                    exchange();
                }
            }
            Ok(_) | Err(_) => {}
        }
        Err(PlaceError::Kept(self.keep(aside)))
    }

    /// Gives what lies aside a name that the person sees; the name.
    fn keep(&self, aside: &str) -> String {
        let free = (1..MOST_KEPT)
            .map(|n| format!("{}.kept-{n}", self.name))
            .find(|kept| rename_new(self.folder, aside, kept) != Err(Errno::EXIST));
        let is_there =
            |name: &String| look_in(self.folder, name).is_ok_and(|found| found.is_some());
        free.filter(is_there).unwrap_or_else(|| aside.to_owned())
    }

    fn stale(&self) -> Result<Outcome, PlaceError> {
        let found = look_in(self.folder, self.name)?.map(|found| found.hash);
        Ok(Outcome::Stale { found })
    }
}

/// Removes a file that nothing needs; what fails once may work the next time.
fn unlinked(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    let mut done = Ok(());
    for _ in 0..REMOVALS {
        done = match unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(errno) => Err(errno),
        };
    }
    done
}

pub(super) fn discard(folder: &OwnedFd, temporary: &str) {
    // It is not there, or the disk is in trouble; the trouble itself was told already.
    let _ = unlinked(folder, temporary);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    fn open(folder: &Path) -> OwnedFd {
        fs::File::open(folder).unwrap().into()
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn swap<'a>(folder: &'a OwnedFd, to: Option<&str>) -> Swap<'a> {
        let base = ContentHash::of(b"base");
        let to = to.map(|to| ContentHash::of(to.as_bytes()));
        Swap { folder, name: "a.c", proposal: ProposalId(4), base, to }
    }

    fn stale(content: Option<&str>) -> Outcome {
        Outcome::Stale { found: content.map(|content| ContentHash::of(content.as_bytes())) }
    }

    #[test]
    fn what_another_program_saved_in_the_last_moment_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let (fd, file) = (open(folder.path()), folder.path().join("a.c"));
        let long = "x".repeat(9 << 20);
        for other in ["theirs", "", long.as_str()] {
            fs::write(&file, other).unwrap();
            fs::write(folder.path().join("ready"), "new").unwrap();
            let outcome = swap(&fd, Some("new")).replace("ready");
            assert!(!matches!(outcome, Ok(Outcome::Applied)), "{outcome:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), other);
            assert!(!matches!(swap(&fd, None).remove(), Ok(Outcome::Applied)));
            assert_eq!(fs::read_to_string(&file).unwrap(), other);
            assert_eq!(names(folder.path()), ["a.c"]);
        }
    }

    #[test]
    fn a_link_or_a_folder_in_the_place_stays_there() {
        let folder = tempfile::tempdir().unwrap();
        let (fd, place) = (open(folder.path()), folder.path().join("a.c"));
        symlink("elsewhere", &place).unwrap();
        fs::write(folder.path().join("ready"), "new").unwrap();
        let error = swap(&fd, Some("new")).replace("ready").unwrap_err();
        assert!(error.to_string().contains("`a.c` is a symbolic link"), "{error}");
        assert_eq!(fs::read_link(&place).unwrap(), Path::new("elsewhere"));
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        fs::write(place.join("b"), "b").unwrap();
        fs::write(folder.path().join("ready"), "new").unwrap();
        assert!(swap(&fd, Some("new")).replace("ready").is_err());
        assert!(swap(&fd, None).remove().is_err());
        assert_eq!(fs::read_to_string(place.join("b")).unwrap(), "b");
        assert_eq!(names(folder.path()), ["a.c"]);
    }

    #[test]
    fn the_base_is_replaced_and_nothing_lies_about() {
        let folder = tempfile::tempdir().unwrap();
        let (fd, file) = (open(folder.path()), folder.path().join("a.c"));
        fs::write(&file, "base").unwrap();
        fs::write(folder.path().join("ready"), "new").unwrap();
        assert_eq!(swap(&fd, Some("new")).replace("ready").unwrap(), Outcome::Applied);
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.c"]);
        fs::write(&file, "base").unwrap();
        assert_eq!(swap(&fd, None).remove().unwrap(), Outcome::Applied);
        assert_eq!(names(folder.path()), [""; 0]);
        assert_eq!(swap(&fd, None).remove().unwrap(), stale(None));
        fs::write(folder.path().join("ready"), "new").unwrap();
        assert_eq!(swap(&fd, Some("new")).replace("ready").unwrap(), stale(None));
        assert_eq!(names(folder.path()), [""; 0]);
    }

    /// For each: what lies aside and in the place after a kill; what is there after tidying.
    #[test]
    fn a_kill_between_the_exchange_and_the_end_loses_nothing() {
        for (aside, place, left) in [
            ("new", Some("base"), vec![("a.c", "base")]),
            ("base", Some("new"), vec![("a.c", "new")]),
            ("theirs", Some("new"), vec![("a.c", "theirs")]),
            ("theirs", None, vec![("a.c", "theirs")]),
            ("theirs", Some("later"), vec![("a.c", "later"), ("a.c.kept-1", "theirs")]),
            ("new", Some("theirs"), vec![("a.c", "theirs")]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let fd = open(folder.path());
            let change = swap(&fd, Some("new"));
            fs::write(folder.path().join(change.displaced()), aside).unwrap();
            if let Some(place) = place {
                fs::write(folder.path().join("a.c"), place).unwrap();
            }
            let result = change.tidy();
            assert_eq!(result.is_err(), left.len() > 1, "{aside} {place:?}: {result:?}");
            if let Err(error) = result {
                assert!(
                    matches!(&error, PlaceError::Kept(name) if name == "a.c.kept-1"),
                    "{error}"
                );
            }
            let now: Vec<(String, String)> = names(folder.path())
                .into_iter()
                .map(|name| (name.clone(), fs::read_to_string(folder.path().join(name)).unwrap()))
                .collect();
            let now: Vec<(&str, &str)> =
                now.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(now, left, "{aside} {place:?}");
        }
    }

    #[test]
    fn where_nothing_can_be_removed_a_change_is_made_all_the_same_and_a_removal_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let fd = open(folder.path());
        let change = swap(&fd, Some("new"));
        fs::write(folder.path().join(change.displaced()), "base").unwrap();
        fs::write(folder.path().join("a.c"), "new").unwrap();
        let settled = change.settle_unremoved(&change.displaced(), Errno::IO);
        assert_eq!(settled.unwrap(), Outcome::Applied);
        assert_eq!(names(folder.path()), ["a.c"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.c")).unwrap(), "new");
        let removal = swap(&fd, None);
        fs::rename(folder.path().join("a.c"), folder.path().join(removal.displaced())).unwrap();
        assert!(removal.settle_unremoved(&removal.displaced(), Errno::IO).is_err());
        assert_eq!(names(folder.path()), ["a.c"]);
    }

    #[test]
    fn what_was_kept_before_stays_and_the_new_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let fd = open(folder.path());
        let change = swap(&fd, Some("new"));
        for (name, content) in
            [("a.c", "later"), ("a.c.kept-1", "kept"), (change.displaced().as_str(), "theirs")]
        {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let error = change.tidy().unwrap_err();
        assert!(matches!(&error, PlaceError::Kept(name) if name == "a.c.kept-2"), "{error}");
        assert_eq!(names(folder.path()), ["a.c", "a.c.kept-1", "a.c.kept-2"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.c.kept-1")).unwrap(), "kept");
    }

    #[test]
    fn where_nothing_can_be_exchanged_the_base_alone_is_replaced() {
        for errno in [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP] {
            assert!(is_unsupported(errno), "{errno}");
        }
        assert!(!is_unsupported(Errno::EXIST) && !is_unsupported(Errno::NOENT));
        let folder = tempfile::tempdir().unwrap();
        let (fd, file) = (open(folder.path()), folder.path().join("a.c"));
        for (held, left, outcome) in
            [("base", "new", Outcome::Applied), ("theirs", "theirs", stale(Some("theirs")))]
        {
            fs::write(&file, held).unwrap();
            fs::write(folder.path().join("aside"), "new").unwrap();
            assert_eq!(swap(&fd, Some("new")).replace_unseen("aside").unwrap(), outcome);
            assert_eq!(fs::read_to_string(&file).unwrap(), left);
            assert_eq!(names(folder.path()), ["a.c"]);
        }
    }

    #[test]
    fn a_name_is_filled_only_when_nothing_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let fd = open(folder.path());
        fs::write(folder.path().join("ready"), "new").unwrap();
        fs::write(folder.path().join("a.c"), "theirs").unwrap();
        assert_eq!(rename_new(&fd, "ready", "a.c"), Err(Errno::EXIST));
        assert_eq!(fs::read_to_string(folder.path().join("a.c")).unwrap(), "theirs");
        assert_eq!(rename_new(&fd, "ready", "b.c"), Ok(()));
        assert_eq!(names(folder.path()), ["a.c", "b.c"]);
    }
}
