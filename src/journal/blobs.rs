//! Content by its hash: `blobs.pack`, a file that only grows.
//!
//! One file for all, because making a file costs more than writing one: a session of a thousand
//! proposals would be a thousand files. Owns what is known of where each content lies.

#![expect(clippy::disallowed_methods, reason = "contents are kept below the session's folder")]

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::JournalError;
use super::pack::{self, PackSlot};
use super::storage::{Storage, append_once};
use crate::model::{BlobRef, BlobSource, ContentHash, UserError};

/// A session's content store. Any number may read it while the one program that holds the
/// session's lock writes; all clones are the same store.
#[derive(Debug, Clone)]
pub struct Blobs {
    path: PathBuf,
    known: Arc<Mutex<BlobIndex>>,
}

/// What was found in the file so far.
#[derive(Debug, Default)]
struct BlobIndex {
    reading: Option<File>,
    writing: Option<Writing>,
    places: HashMap<ContentHash, PackSlot>,
    /// Behind the last whole entry.
    end: u64,
}

/// The end at which the file grows.
#[derive(Debug)]
struct Writing {
    file: Arc<dyn Storage>,
    /// Length in bytes.
    len: u64,
    /// What of it is on the disk for certain.
    lasting: u64,
    /// Whether its name is, too.
    is_named: bool,
    /// Why some of it never came to be on the disk: a disk tells so once and forgets.
    failed: Option<ErrorKind>,
}

impl Blobs {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: Arc::default() }
    }

    /// Stores content. What is there already, whole, is not written again; what is there damaged
    /// is written anew. It is on the disk after the next [`Blobs::sync`].
    ///
    /// # Errors
    /// When it could not be written; then nothing of it stays.
    pub fn store(&self, content: &[u8]) -> Result<BlobRef, JournalError> {
        let hash = ContentHash::of(content);
        let stored = BlobRef { hash, bytes: content.len() as u64 };
        let mut known = self.known();
        let is_there = known.catch_up(&self.path).and_then(|()| known.read(&hash));
        match is_there {
            Ok(Some(there)) if there == content => return Ok(stored),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.failed("keep a file's content")(error)),
        }
        known.append(&self.path, hash, content).map_err(self.failed("keep a file's content"))?;
        Ok(stored)
    }

    /// Waits until every content that was stored is on the disk. Costs nothing when nothing was
    /// stored since the last time.
    ///
    /// # Errors
    /// When the disk did not take all of it, now or before.
    pub fn sync(&self) -> Result<(), JournalError> {
        let doing = "keep a file's content";
        // Not held while the disk works: others read, and store.
        let (file, len, is_named) = match &self.known().writing {
            Some(Writing { failed: Some(kind), .. }) => {
                return Err(self.failed(doing)((*kind).into()));
            }
            Some(writing) if writing.lasting < writing.len => {
                (Arc::clone(&writing.file), writing.len, writing.is_named)
            }
            Some(_) | None => return Ok(()),
        };
        let synced = file.sync().and_then(|()| if is_named { Ok(()) } else { self.sync_name() });
        if let Some(writing) = &mut self.known().writing {
            match &synced {
                Ok(()) => {
                    writing.lasting = writing.lasting.max(len);
                    writing.is_named = true;
                }
                Err(error) => writing.failed = Some(error.kind()),
            }
        }
        synced.map_err(self.failed(doing))
    }

    /// Waits until what an earlier program stored is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub(super) fn sync_found(&self) -> Result<(), JournalError> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        match synced.and_then(|()| self.sync_name()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            synced => synced.map_err(self.failed("keep a file's content")),
        }
    }

    /// Writes to `file` from now on, which is that of the store.
    #[cfg(test)]
    pub(super) fn write_to(&self, file: Arc<dyn Storage>) {
        let len = fs::metadata(&self.path).map_or(0, |found| found.len());
        let (lasting, is_named, failed) = (len, true, None);
        self.known().writing = Some(Writing { file, len, lasting, is_named, failed });
    }

    fn sync_name(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Reads content and checks that it still has that hash.
    ///
    /// # Errors
    /// When it is missing, unreadable or damaged.
    pub fn load(&self, hash: &ContentHash) -> Result<Arc<[u8]>, JournalError> {
        let missing = || JournalError::Blob { hash: *hash, why: "is missing".into() };
        let found = match self.find(hash) {
            Ok(None) => self.by_itself(hash),
            Err(error) if error.kind() == ErrorKind::NotFound => self.by_itself(hash),
            found => found,
        };
        let content = found.map_err(self.failed("read a file's content"))?.ok_or_else(missing)?;
        if ContentHash::of(&content) != *hash {
            return Err(JournalError::Blob { hash: *hash, why: "is damaged".into() });
        }
        Ok(content.into())
    }

    fn find(&self, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        let mut known = self.known();
        if known.reading.is_none() || !known.places.contains_key(hash) {
            known.catch_up(&self.path)?;
        }
        known.read(hash)
    }

    /// Content in a file of its own, as older sessions have it.
    fn by_itself(&self, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        let name = hash.to_string();
        let (folder, _) = name.split_at(2);
        match fs::read(self.path.with_file_name("blobs").join(folder).join(&name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            content => content.map(Some),
        }
    }

    fn known(&self) -> MutexGuard<'_, BlobIndex> {
        // Every change is made after its write or read, so a panic elsewhere leaves it whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(io::Error) -> JournalError {
        JournalError::io(doing, &self.path)
    }
}

impl BlobIndex {
    /// Takes note of what was written since the last time.
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let file = match &self.reading {
            Some(file) => file,
            None => self.reading.insert(File::open(path)?),
        };
        let places = &mut self.places;
        self.end = pack::entries(file, self.end, |hash, place| {
            places.insert(hash, place);
        })?;
        Ok(())
    }

    fn read(&self, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        match (&self.reading, self.places.get(hash)) {
            (Some(file), Some(place)) => pack::read(file, *place).map(Some),
            _ => Ok(None),
        }
    }

    fn append(&mut self, path: &Path, hash: ContentHash, content: &[u8]) -> io::Result<()> {
        let writing = match &mut self.writing {
            Some(writing) => writing,
            none => {
                let file = OpenOptions::new().append(true).create(true).open(path)?;
                let len = file.metadata()?.len();
                none.insert(Writing {
                    file: Arc::new(file),
                    len,
                    lasting: len,
                    is_named: false,
                    failed: None,
                })
            }
        };
        let len = writing.len;
        let header = pack::header(&hash, content.len());
        let entry = [header.as_bytes(), content, b"\n"].concat();
        append_once(&*writing.file, &entry).inspect_err(|_| {
            // The first error is the one to tell; what is left would be stepped over.
            let _ = writing.file.cut(len);
        })?;
        writing.len += entry.len() as u64;
        let place = PackSlot { offset: len + header.len() as u64, bytes: content.len() as u64 };
        self.places.insert(hash, place);
        self.end = len + entry.len() as u64;
        Ok(())
    }
}

impl BlobSource for Blobs {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        Ok(self.load(hash)?)
    }
}

#[cfg(test)]
#[path = "blobs_tests.rs"]
mod tests;
