//! Content by its hash: `blobs/ab/abcd…`, written once, never changed.

#![expect(clippy::disallowed_methods, reason = "contents are kept below the session's folder")]

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::{BlobRef, BlobSource, ContentHash, UserError};

use super::error::JournalError;

/// A session's content store. Any number of readers and writers may use it at once.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
}

/// Makes names of unfinished files differ within this process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

impl Blobs {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Stores content. What is there already, whole, is not written again. It is not synced: content
    /// that a power failure took is noticed by its hash, and what was approved is synced where it
    /// takes effect. Nobody reads content by a hash that was not given out yet, so that new content
    /// is written in its place; damaged content is replaced at once.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn store(&self, content: &[u8]) -> Result<BlobRef, JournalError> {
        let hash = ContentHash::of(content);
        let stored = BlobRef { hash, bytes: content.len() as u64 };
        let path = self.path(&hash);
        let failed = || JournalError::io("keep a file's content", &path);
        let folder = path.parent().unwrap_or(&self.root);
        let new = match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder).map_err(failed())?;
                File::create_new(&path)
            }
            other => other,
        };
        match new {
            Ok(mut file) => file.write_all(content).inspect_err(|_| {
                // The first error is the one to tell; what is left would be noticed by its hash.
                let _ = fs::remove_file(&path);
            }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                match fs::read(&path).is_ok_and(|there| there == content) {
                    true => Ok(()),
                    false => replace(folder, &path, content),
                }
            }
            Err(error) => Err(error),
        }
        .map_err(failed())?;
        Ok(stored)
    }

    /// Reads content and checks that it still has that hash.
    ///
    /// # Errors
    /// When it is missing, unreadable or damaged.
    pub fn load(&self, hash: &ContentHash) -> Result<Arc<[u8]>, JournalError> {
        let path = self.path(hash);
        let content = fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => JournalError::Blob { hash: *hash, why: "is missing".into() },
            _ => JournalError::io("read a file's content", &path)(error),
        })?;
        if ContentHash::of(&content) != *hash {
            return Err(JournalError::Blob { hash: *hash, why: "is damaged".into() });
        }
        Ok(content.into())
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        let (folder, _) = name.split_at(2);
        self.root.join(folder).join(&name)
    }
}

/// Puts whole content in the place of damaged content.
fn replace(folder: &Path, path: &Path, content: &[u8]) -> std::io::Result<()> {
    let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!(".{}-{number}", std::process::id()));
    File::create_new(&unfinished)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&unfinished, path))
        .inspect_err(|_| {
            // The first error is the one to tell; a leftover file does no harm.
            let _ = fs::remove_file(&unfinished);
        })
}

impl BlobSource for Blobs {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        Ok(self.load(hash)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_reads_back_and_damage_is_noticed_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(folder.path().into());
        let stored = blobs.store(b"int main;").unwrap();
        assert_eq!(blobs.store(b"int main;").unwrap(), stored);
        assert_eq!(stored.bytes, 9);
        assert_eq!(&*blobs.load(&stored.hash).unwrap(), b"int main;");
        let path = blobs.path(&stored.hash);
        fs::write(&path, b"int mian;").unwrap();
        let error = UserError::from(blobs.load(&stored.hash).unwrap_err());
        assert!(error.why.contains("damaged"), "{error:?}");
        blobs.store(b"int main;").unwrap();
        assert!(blobs.load(&stored.hash).is_ok());
        let inside = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(inside, 1, "an unfinished file was left behind");
        let missing = blobs.load(&ContentHash::of(b"other")).unwrap_err();
        assert!(missing.to_string().contains("missing"), "{missing}");
    }
}
