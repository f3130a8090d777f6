//! Files of the program itself, in its data folder.
//!
//! Never inside a project. A file is there whole or not at all, through a power cut too, and what
//! two programs change at once keeps both changes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::Errno;
use serde::de::DeserializeOwned;

use crate::files;
use crate::model::UserError;

/// What a file of TOML holds; one that is not there holds nothing.
///
/// # Errors
/// When it cannot be read; `fix` says what to do then.
pub(super) fn read<T: DeserializeOwned + Default>(file: &Path, fix: &str) -> Result<T, UserError> {
    let failed = |why: String| UserError::new(format!("Cannot read {}", file.display()), why, fix);
    match files::read_text(file, files::SETTINGS) {
        Ok(text) => {
            toml::from_str(&text).map_err(|error| failed(error.message().replace('\n', ", ")))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Writes a file whole or not at all, also when two programs do it at once; makes its folder. It
/// is on the disk when this returns.
///
/// # Errors
/// When the data folder cannot be written.
#[expect(clippy::disallowed_methods, reason = "the program's own data folder")]
pub(super) fn put(file: &Path, text: &str) -> io::Result<()> {
    let folder = folder_of(file)?;
    let unfinished = unfinished(file);
    let written = File::create_new(&unfinished)
        .and_then(|mut new| new.write_all(text.as_bytes()).and_then(|()| new.sync_all()))
        .and_then(|()| fs::rename(&unfinished, file));
    if let Err(error) = written {
        // It may not be there at all; the first error is the one to tell.
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    sync_folder(folder)
}

/// Reads, changes and writes a file while no other program does the same: `change` reads what is
/// there, and writes by [`put`].
///
/// # Errors
/// As `change`, or when the file's lock cannot be had.
#[expect(clippy::disallowed_methods, reason = "the program's own data folder")]
pub(super) fn change<T, E>(
    file: &Path,
    failed: impl FnOnce(io::Error) -> E,
    change: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    // A file of its own: the one that is changed is another one afterwards.
    let locked = folder_of(file).and_then(|_| {
        let path = file.with_extension("lock");
        let lock = File::options().write(true).create(true).truncate(false).open(path)?;
        lock.lock().map(|()| lock)
    });
    match locked {
        // The system gives the lock back when the file is closed, however that comes.
        Ok(_lock) => change(),
        Err(error) => Err(failed(error)),
    }
}

/// The folder of a file; makes it where it is missing.
#[expect(clippy::disallowed_methods, reason = "the program's own data folder")]
fn folder_of(file: &Path) -> io::Result<&Path> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    Ok(folder)
}

/// A name that nobody else uses.
fn unfinished(file: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (process, name) = (std::process::id(), file.file_name().unwrap_or_default());
    file.with_file_name(format!("{}.{process}-{number}.tmp", name.to_string_lossy()))
}

/// Waits until the names in a folder are on the disk. Some file systems cannot tell.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match open(folder, flags, Mode::empty()).and_then(fsync) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        synced => synced.map_err(io::Error::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_add_at_once_is_all_there_and_nothing_is_left_over() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("own/list");
        let add = |number: u32| {
            change(
                &file,
                |error| error,
                || {
                    let mut text = fs::read_to_string(&file).unwrap_or_default();
                    text.push_str(&format!("{number}\n"));
                    put(&file, &text)
                },
            )
        };
        std::thread::scope(|scope| {
            (0..40).for_each(|number| drop(scope.spawn(move || add(number).unwrap())));
        });
        let mut numbers: Vec<u32> =
            fs::read_to_string(&file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..40).collect::<Vec<u32>>());
        let names: Vec<_> = fs::read_dir(data.path().join("own")).unwrap().collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("list");
        fs::create_dir_all(file.join("in the way")).unwrap();
        assert!(put(&file, "text").is_err());
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1);
    }
}
