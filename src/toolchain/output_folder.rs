//! Writes below a project's folder what a build leaves there, and follows no link on the way.
//!
//! Owns the way down: each folder is opened from the one before it. A project that came from
//! elsewhere may hold links at any place, also where output goes.

#![expect(clippy::disallowed_methods, reason = "a build writes below its output folder")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;

/// Entries of an output folder that are looked at; no build makes more.
const MOST_ENTRIES: usize = 1_000_000;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a written file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// To be read.
    Data,
    /// To be run.
    Program,
}

/// The first symbolic link at `path` or anywhere below it; `None` when there is none. `path` is
/// relative to `root`.
#[must_use]
pub fn link_in(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut down = PathBuf::new();
    for part in path.components() {
        down.push(part);
        if std::fs::symlink_metadata(root.join(&down)).is_ok_and(|found| found.is_symlink()) {
            return Some(down);
        }
    }
    let walk =
        WalkBuilder::new(root.join(path)).standard_filters(false).follow_links(false).build();
    let mut entries = walk.flatten().take(MOST_ENTRIES);
    let link = entries.find(|entry| entry.path_is_symlink())?;
    Some(link.path().strip_prefix(root).unwrap_or(link.path()).to_owned())
}

/// Says which link is in the way.
#[must_use]
pub fn is_a_link(path: &Path) -> io::Error {
    let path = path.display();
    io::Error::other(format!(
        "`{path}` is a symbolic link, and output is never written through one; remove it"
    ))
}

/// Makes the folder `path` below `root`, and those above it.
///
/// # Errors
/// When a part of it is a link or no folder, or the disk refuses.
pub fn make_folder(root: &Path, path: &Path) -> io::Result<()> {
    open_folder(root, path, Missing::Make).map(drop)
}

/// Writes a file at `path` below `root`, with the folders above it, in the place of what is there.
///
/// # Errors
/// As [`make_folder`].
pub fn write(root: &Path, path: &Path, content: &[u8], purpose: Use) -> io::Result<()> {
    let (folder, name) = parent(root, path, Missing::Make)?;
    // What is there may have another name elsewhere, or be a pipe: nothing is written into it.
    remove_in(&folder, name)?;
    create(&folder, name, content, purpose)
}

/// As [`write()`], where nothing may be there yet.
///
/// # Errors
/// As [`make_folder`]; [`io::ErrorKind::AlreadyExists`].
pub fn write_new(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let (folder, name) = parent(root, path, Missing::Make)?;
    create(&folder, name, content, Use::Data)
}

/// Reads a regular file at `path` below `root`, no link followed, of at most `limit` bytes.
///
/// # Errors
/// When it is not there, is too long or is something else.
pub fn read(root: &Path, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (folder, name) = parent(root, path, Missing::Leave)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    File::from(file).take(limit.saturating_add(1)).read_to_end(&mut content)?;
    match content.len() as u64 > limit {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(content),
    }
}

/// Removes a file at `path` below `root`; nothing there is no error.
///
/// # Errors
/// As [`make_folder`].
pub fn remove(root: &Path, path: &Path) -> io::Result<()> {
    match parent(root, path, Missing::Leave) {
        Ok((folder, name)) => remove_in(&folder, name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What to do about folders that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    Leave,
}

fn parent<'a>(root: &Path, path: &'a Path, missing: Missing) -> io::Result<(OwnedFd, &'a str)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or(io::ErrorKind::InvalidInput)?;
    let folder = open_folder(root, path.parent().unwrap_or(Path::new("")), missing)?;
    Ok((folder, name))
}

fn open_folder(root: &Path, path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    // The root is what the person named, links and all.
    let whole = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(root, whole, Mode::empty())?;
    let mut down = PathBuf::new();
    for part in path.components() {
        let Component::Normal(name) = part else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        down.push(name);
        let next = match openat(&folder, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if missing == Missing::Make => {
                match mkdirat(&folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                openat(&folder, name, FOLDER, Mode::empty())
            }
            other => other,
        };
        folder = next.map_err(|errno| {
            let is_link = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            if is_link { is_a_link(&down) } else { errno.into() }
        })?;
    }
    Ok(folder)
}

fn remove_in(folder: &OwnedFd, name: &str) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn create(folder: &OwnedFd, name: &str, content: &[u8], purpose: Use) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let data = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let mode = match purpose {
        Use::Data => data,
        Use::Program => data | Mode::XUSR | Mode::XGRP | Mode::XOTH,
    };
    File::from(openat(folder, name, flags, mode)?).write_all(content)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_is_followed_at_any_place() {
        let (project, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = project.path();
        fs::write(victim.path().join("precious"), "precious").unwrap();
        fs::create_dir_all(root.join("build/deep")).unwrap();
        for link in ["build/out", "build/deep/out"] {
            symlink(victim.path(), root.join(link)).unwrap();
            for path in [format!("{link}/new"), format!("{link}/a/b"), format!("{link}/precious")] {
                let path = Path::new(&path);
                let error = write(root, path, b"x", Use::Data).unwrap_err().to_string();
                assert!(error.contains(&format!("`{link}` is a symbolic link")), "{error}");
                assert!(write_new(root, path, b"x").is_err());
                assert!(make_folder(root, path).is_err());
                assert!(read(root, path, 100).is_err());
                assert!(remove(root, path).is_err());
            }
            assert_eq!(link_in(root, Path::new("build")).unwrap(), Path::new(link));
            fs::remove_file(root.join(link)).unwrap();
        }
        assert_eq!(link_in(root, Path::new("build")), None);
        // A file that is a link, or another name of a file outside, is replaced and not written to.
        let file = Path::new("build/file");
        for makes in [true, false] {
            match makes {
                true => symlink(victim.path().join("precious"), root.join(file)).unwrap(),
                false => fs::hard_link(victim.path().join("precious"), root.join(file)).unwrap(),
            }
            assert_eq!(read(root, file, 100).is_err(), makes);
            assert!(write_new(root, file, b"x").is_err());
            write(root, file, b"x", Use::Program).unwrap();
            assert_eq!(read(root, file, 100).unwrap(), b"x");
            fs::remove_file(root.join(file)).unwrap();
        }
        assert_eq!(fs::read(victim.path().join("precious")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 1);
        assert!(write(root, Path::new("../x"), b"x", Use::Data).is_err());
        fs::remove_dir_all(root.join("build")).unwrap();
        symlink(victim.path(), root.join("build")).unwrap();
        assert_eq!(link_in(root, Path::new("build")).unwrap(), Path::new("build"));
    }

    #[test]
    fn what_blocks_is_replaced_and_what_is_long_is_not_read() {
        let project = tempfile::tempdir().unwrap();
        let (root, file) = (project.path(), Path::new("build/a/b"));
        write(root, file, b"12345", Use::Data).unwrap();
        assert_eq!(read(root, file, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        remove(root, file).unwrap();
        remove(root, file).unwrap();
        remove(root, Path::new("none/at/all")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join(file)).status().unwrap();
        assert!(made.success() && read(root, file, 4).is_err());
        write(root, file, b"1", Use::Data).unwrap();
        assert_eq!(read(root, file, 4).unwrap(), b"1");
    }
}
