//! What came of an effect, and what is uncertain about it.

use std::os::fd::OwnedFd;

use rustix::fs::fsync;
use rustix::io::Errno;

use crate::gate::folder::folder_if_there;
use crate::model::{Outcome, ProjectPath, UserError};
use crate::workspace::ProjectDir;

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectResult {
    /// What the disk, or the board, holds now.
    pub outcome: Outcome,
    /// Why a power cut may still undo it.
    pub doubt: Option<UserError>,
}

impl From<Outcome> for EffectResult {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, doubt: None }
    }
}

impl EffectResult {
    /// Brings the names in a folder to the disk after the file `name` in it was changed; what is
    /// recorded as done shall stay done through a power cut.
    pub(super) fn lasting(outcome: Outcome, folder: &OwnedFd, name: &str) -> Self {
        let doubt = match (&outcome, make_lasting(folder)) {
            (Outcome::Applied, Err(errno)) => Some(UserError::new(
                format!("`{name}` was changed, but a power cut may undo it"),
                format!("the disk did not store the new state of its folder: {errno}"),
                "Check the disk and look at the file.",
            )),
            _ => None,
        };
        Self { outcome, doubt }
    }
}

/// As [`EffectResult::lasting`], for what a program did to `path` that was killed before it saw to that;
/// the folders above the file may be as new as the file.
pub(super) fn lasting_at_last(
    outcome: Outcome,
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> EffectResult {
    let mut doubt = None;
    let mut next = Some(path.clone());
    while let Some(place) = next {
        if let Ok(Some(folder)) = folder_if_there(project_dir, &place) {
            let done = EffectResult::lasting(Outcome::Applied, &folder, path.as_str());
            doubt = doubt.or(done.doubt);
        }
        next = place.parent().and_then(|parent| ProjectPath::new(parent).ok());
    }
    EffectResult { doubt: doubt.filter(|_| outcome == Outcome::Applied), outcome }
}

/// Waits until the names in a folder are on the disk. Some file systems cannot do that, and need
/// not.
pub(super) fn make_lasting(folder: &OwnedFd) -> Result<(), Errno> {
    match fsync(folder) {
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags, open};

    use super::*;

    #[test]
    fn a_folder_that_does_not_come_to_the_disk_is_told_with_what_is_done() {
        let folder = tempfile::tempdir().unwrap();
        // A folder that was opened by its place alone can be written to and not be synced.
        let blunt = open(folder.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let done = EffectResult::lasting(Outcome::Applied, &blunt, "a.c");
        assert_eq!(done.outcome, Outcome::Applied);
        assert!(done.doubt.unwrap().what.contains("`a.c` was changed"));
        let stale = Outcome::Stale { found: None };
        assert_eq!(EffectResult::lasting(stale.clone(), &blunt, "a.c"), EffectResult::from(stale));
        let whole = open(folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        assert_eq!(EffectResult::lasting(Outcome::Applied, &whole, "a.c").doubt, None);
    }
}
