//! Looks at the place of an effect without following symbolic links, and never writes.
//!
//! Each part of a path is opened from the folder before it, so that a link put there meanwhile
//! cannot lead an effect astray.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, stat, statat};
use rustix::io::Errno;

use crate::model::{ContentHash, ProjectPath, UserError};
use crate::workspace::{MAX_FILE_BYTES, ProjectDir};

/// Why a place cannot be looked at or changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    /// A part of the path is a symbolic link.
    #[error("`{0}` is a symbolic link, and changes are never made through one")]
    Link(String),
    /// The folder of the project was deleted.
    #[error("the project folder was deleted while the session was open")]
    ProjectGone,
    /// The folder of the project was moved, or another folder has its path now.
    #[error("the project folder is no longer at `{0}`: it was moved or replaced")]
    ProjectMoved(String),
    /// A part of the path that has to be a folder is something else.
    #[error("`{0}` is not a folder")]
    NotAFolder(String),
    /// Something else than a regular file has that name.
    #[error("something that is not a regular file has that name")]
    NotAFile,
    /// The path is one that nobody may change.
    #[error("it is in a folder of the version control or of this program")]
    Protected,
    /// The file is longer than what is handled.
    #[error("the file has {0} bytes, more than the {MAX_FILE_BYTES} that are handled")]
    TooLarge(u64),
    /// The file system cannot put a new file in place without the risk of replacing another one.
    #[error("the file system cannot make a file without the risk of replacing another one")]
    NoSafeWay,
    /// Another program saved the file at the same moment, twice.
    #[error("another program saved the file at the same moment; an earlier state is kept in `{0}`")]
    Kept(String),
    /// Anything else the disk says.
    #[error("{0}")]
    Disk(#[from] std::io::Error),
}

impl From<Errno> for PlaceError {
    fn from(errno: Errno) -> Self {
        Self::Disk(errno.into())
    }
}

impl PlaceError {
    /// Tells a person; `verb` is what was tried, e.g. `save`.
    pub(super) fn tell(&self, verb: &str, path: &ProjectPath) -> UserError {
        let errno = match self {
            Self::Disk(error) => Errno::from_io_error(error),
            Self::Link(_)
            | Self::ProjectGone
            | Self::ProjectMoved(_)
            | Self::NotAFolder(_)
            | Self::NotAFile
            | Self::Protected
            | Self::NoSafeWay
            | Self::Kept(_)
            | Self::TooLarge(_) => None,
        };
        let fix = match (self, errno) {
            (Self::Link(_), _) => "Replace the link by a real file or folder.",
            (Self::ProjectGone, _) => {
                "Put the folder back where it was, leave the session, and open it with `firmhand resume`."
            }
            (Self::ProjectMoved(_), _) => {
                "Put the folder back where it was; then let the agent try again."
            }
            (Self::NotAFolder(_) | Self::NotAFile, _) => "Choose another path.",
            (Self::Protected, _) => "Change such files yourself.",
            (Self::TooLarge(_), _) => "Change such a file yourself.",
            (Self::NoSafeWay, _) => "Make the file yourself, or keep the project on another disk.",
            (Self::Kept(_), _) => {
                "Compare the two files, then remove the one that you do not need."
            }
            (Self::Disk(_), Some(Errno::NOSPC | Errno::DQUOT)) => {
                "Free some space on the disk; then let the agent try again."
            }
            (Self::Disk(_), Some(Errno::ACCESS | Errno::PERM | Errno::ROFS)) => {
                "Make the folder writable; then let the agent try again."
            }
            (Self::Disk(_), _) => "Check the disk and the project folder.",
        };
        UserError::new(format!("Cannot {verb} `{path}`"), self.to_string(), fix)
    }
}

/// What to do about a folder that is not there.
pub(super) type OnMissing<'a> = &'a dyn Fn(&OwnedFd, &str) -> Result<(), Errno>;

/// The folder that holds a file, and the file as it was when looked at.
#[derive(Debug)]
pub(super) struct OpenFolder {
    /// Hash of its content.
    pub(super) hash: ContentHash,
    pub(super) mode: Mode,
    identity: Identity,
}

/// Tells cheaply whether a file is still the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    inode: u64,
    bytes: i64,
    changed: (i64, i64),
}

impl Identity {
    #[expect(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino as u64,
            bytes: stat.st_size as i64,
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether that path leads to the open folder.
fn is_at(path: &Path, folder: &OwnedFd) -> Result<bool, Errno> {
    let open = fstat(folder)?;
    match stat(path) {
        Ok(found) => Ok((found.st_dev, found.st_ino) == (open.st_dev, open.st_ino)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Opens the folder that holds `path`. A missing one is handed to `on_missing` and tried again.
pub(super) fn open_folder(
    project_dir: &ProjectDir,
    path: &ProjectPath,
    on_missing: OnMissing<'_>,
) -> Result<OwnedFd, PlaceError> {
    if ProjectDir::is_protected(path) {
        return Err(PlaceError::Protected);
    }
    let root = project_dir.dir_for_effects();
    let mut folder = match openat(root.as_fd(), ".", FOLDER, Mode::empty()) {
        // What was deleted keeps no name, and is open all the same.
        Ok(folder) if fstat(&folder)?.st_nlink == 0 => return Err(PlaceError::ProjectGone),
        Err(Errno::NOENT) => return Err(PlaceError::ProjectGone),
        opened => opened?,
    };
    if !is_at(project_dir.root(), &folder)? {
        return Err(PlaceError::ProjectMoved(project_dir.root().display().to_string()));
    }
    for part in path.parent().into_iter().flat_map(|parent| parent.split('/')) {
        let next = match openat(&folder, part, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => {
                on_missing(&folder, part)?;
                openat(&folder, part, FOLDER, Mode::empty())
            }
            other => other,
        };
        folder = next.map_err(|errno| explain(&folder, part, errno))?;
    }
    Ok(folder)
}

/// Opens the folder that holds `path`, if it is there.
pub(super) fn folder_if_there(
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> Result<Option<OwnedFd>, PlaceError> {
    match open_folder(project_dir, path, &|_, _| Err(Errno::NOENT)) {
        Ok(folder) => Ok(Some(folder)),
        Err(PlaceError::Disk(error)) if Errno::from_io_error(&error) == Some(Errno::NOENT) => {
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Looks at the file `path`; `None` when neither it nor its folder is there.
pub(super) fn look(
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> Result<Option<OpenFolder>, PlaceError> {
    match folder_if_there(project_dir, path)? {
        Some(folder) => look_in(&folder, path.file_name()),
        None => Ok(None),
    }
}

/// The entry of the file `path` without its content; `None` when it is not there.
pub(super) fn identity(
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> Result<Option<Identity>, PlaceError> {
    let Some(folder) = folder_if_there(project_dir, path)? else { return Ok(None) };
    match statat(&folder, path.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Identity::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Looks at one file of an open folder.
pub(super) fn look_in(folder: &OwnedFd, name: &str) -> Result<Option<OpenFolder>, PlaceError> {
    // Non-blocking: opening a pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(explain(folder, name, errno)),
    };
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(PlaceError::NotAFile);
    }
    let identity = Identity::of(&stat);
    let bytes = u64::try_from(identity.bytes).unwrap_or(0);
    if bytes > MAX_FILE_BYTES {
        return Err(PlaceError::TooLarge(bytes));
    }
    // One byte more than there is, so that one more read finds the end.
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1);
    File::from(file).take(MAX_FILE_BYTES).read_to_end(&mut content)?;
    let hash = ContentHash::of(&content);
    Ok(Some(OpenFolder { hash, mode: Mode::from_raw_mode(stat.st_mode), identity }))
}

/// Whether the file is still the one that was looked at, or still is not there.
pub(super) fn is_still(
    folder: &OwnedFd,
    name: &str,
    seen: Option<&OpenFolder>,
) -> Result<bool, PlaceError> {
    match (statat(folder, name, AtFlags::SYMLINK_NOFOLLOW), seen) {
        (Ok(stat), Some(seen)) => Ok(Identity::of(&stat) == seen.identity),
        (Ok(_), None) | (Err(Errno::NOENT), Some(_)) => Ok(false),
        (Err(Errno::NOENT), None) => Ok(true),
        (Err(errno), _) => Err(errno.into()),
    }
}

/// The systems disagree on the number for a link where none may be; looking tells.
fn explain(folder: &OwnedFd, name: &str, errno: Errno) -> PlaceError {
    if !matches!(errno, Errno::LOOP | Errno::NOTDIR | Errno::MLINK) {
        return errno.into();
    }
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
            PlaceError::Link(name.to_owned())
        }
        Ok(_) => PlaceError::NotAFolder(name.to_owned()),
        Err(errno) => errno.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_still_the_one_that_was_seen_until_its_entry_changes() {
        let folder = tempfile::tempdir().unwrap();
        let fd: OwnedFd = File::open(folder.path()).unwrap().into();
        let file = folder.path().join("a.c");
        assert!(is_still(&fd, "a.c", None).unwrap());
        fs::write(&file, "int a;").unwrap();
        assert!(!is_still(&fd, "a.c", None).unwrap(), "it has appeared");
        let seen = look_in(&fd, "a.c").unwrap().unwrap();
        assert!(is_still(&fd, "a.c", Some(&seen)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(!is_still(&fd, "a.c", Some(&seen)).unwrap(), "its mode is another");
        fs::remove_file(&file).unwrap();
        assert!(!is_still(&fd, "a.c", Some(&seen)).unwrap(), "it is gone");
    }

    #[test]
    fn an_entry_is_known_by_its_file_and_is_none_where_none_is() {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("main/a.c").unwrap();
        assert_eq!(identity(&project_dir, &path).unwrap(), None);
        fs::create_dir(folder.path().join("main")).unwrap();
        assert_eq!(identity(&project_dir, &path).unwrap(), None);
        fs::write(folder.path().join("main/a.c"), "int a;").unwrap();
        let first = identity(&project_dir, &path).unwrap();
        assert!(first.is_some());
        assert_eq!(identity(&project_dir, &path).unwrap(), first);
        fs::write(folder.path().join("main/a.c"), "int ab;").unwrap();
        assert_ne!(identity(&project_dir, &path).unwrap(), first);
        fs::create_dir(folder.path().join("plain")).unwrap();
        fs::write(folder.path().join("plain/file"), "").unwrap();
        let through = ProjectPath::new("plain/file/a.c").unwrap();
        assert!(identity(&project_dir, &through).is_err(), "a file is no folder");
    }

    #[test]
    fn a_project_folder_that_was_deleted_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("main/main.c").unwrap();
        assert!(folder_if_there(&project_dir, &path).unwrap().is_none());
        folder.close().unwrap();
        let error = folder_if_there(&project_dir, &path).unwrap_err();
        assert!(matches!(error, PlaceError::ProjectGone), "{error}");
        assert!(error.tell("save", &path).fix.contains("firmhand resume"));
    }

    #[test]
    fn a_project_folder_that_was_moved_or_replaced_is_named() {
        let around = tempfile::tempdir().unwrap();
        let (here, there) = (around.path().join("here"), around.path().join("there"));
        fs::create_dir(&here).unwrap();
        let project_dir = ProjectDir::open(&here).unwrap();
        let path = ProjectPath::new("main/main.c").unwrap();
        fs::rename(&here, &there).unwrap();
        let is_moved = || {
            let error = folder_if_there(&project_dir, &path).unwrap_err();
            assert!(matches!(error, PlaceError::ProjectMoved(_)), "{error}");
        };
        is_moved();
        fs::create_dir(&here).unwrap();
        is_moved();
        fs::remove_dir(&here).unwrap();
        fs::rename(&there, &here).unwrap();
        assert!(folder_if_there(&project_dir, &path).unwrap().is_none());
    }
}
