//! The folder of a stored index, written without waiting for the disk.
//!
//! An index can be made again from its documents, so nothing of it has to outlive a power cut: what
//! one leaves is either whole, or found to be damaged when it is opened, or older than the list of
//! files beside it, and then read again. To wait for the disk after each of a dozen files would be
//! most of the time that one changed document takes.

#![expect(clippy::disallowed_methods, reason = "the folder of the index is the program's own")]

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// A folder that is mapped for reading and written in passing.
#[derive(Debug, Clone)]
pub struct IndexFolder {
    mapped: MmapDirectory,
    root: PathBuf,
    faults: WriteFaults,
}

/// The first error of the system at writing. Whoever writes on a thread of its own tells of it only
/// that the thread has died.
#[derive(Debug, Clone, Default)]
pub struct WriteFaults(Arc<OnceLock<String>>);

impl WriteFaults {
    /// What it was, in words.
    #[must_use]
    pub fn first(&self) -> Option<String> {
        self.0.get().cloned()
    }

    fn watch<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && !matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::AlreadyExists)
        {
            let _ = self.0.set(disk_words(error));
        }
        done
    }
}

/// Why nothing can be written, in plain words.
#[must_use]
pub fn disk_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "your share of the disk is used up".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk can only be read".to_owned(),
        _ => error.to_string(),
    }
}

impl IndexFolder {
    /// Opens a folder that exists.
    ///
    /// # Errors
    /// When it is not there, or no folder.
    pub fn open(root: &Path) -> tantivy::Result<Self> {
        let faults = WriteFaults::default();
        Ok(Self { mapped: MmapDirectory::open(root)?, root: root.to_owned(), faults })
    }

    /// What goes wrong at writing from now on.
    #[must_use]
    pub fn faults(&self) -> WriteFaults {
        self.faults.clone()
    }
}

/// A file that is complete once it was handed to the system.
struct Handed(std::fs::File, WriteFaults);

impl Write for Handed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.watch(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.watch(self.0.flush())
    }
}

impl TerminatingWrite for Handed {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.1.watch(self.0.flush())
    }
}

impl Directory for IndexFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = OpenOptions::new().write(true).create_new(true).open(self.root.join(path));
        let file = self.faults.watch(file).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Handed(file, self.faults.clone()))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let write = || {
            let mut draft = tempfile::NamedTempFile::new_in(&self.root)?;
            draft.write_all(content)?;
            draft.persist(self.root.join(path)).map(drop).map_err(|error| error.error)
        };
        self.faults.watch(write())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let index = IndexFolder::open(folder.path()).unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = Handed(full, index.faults());
        assert_eq!(index.faults().first(), None);
        file.write_all(b"x").unwrap_err();
        assert_eq!(index.faults().first().unwrap(), "the disk is full");
    }
}
