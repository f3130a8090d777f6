//! The files of a session that only grow, as their writers see them.
//!
//! A trait, so that tests can count what reaches the disk, and in which order.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

/// A file that is written at its end only.
pub(super) trait Storage: fmt::Debug + Send + Sync {
    /// Appends by one call of the system; how many bytes were taken.
    ///
    /// # Errors
    /// When the system refuses.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until all that was appended is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file to a length.
    ///
    /// # Errors
    /// When the system refuses.
    fn cut(&self, len: u64) -> io::Result<()>;
}

impl Storage for File {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self;
        file.write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}

/// One `write` call: readers see all of the bytes or a part of them, never two halves with
/// something between.
pub(super) fn append_once(file: &dyn Storage, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.append(bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            // A short write to a file means that the disk is full.
            Ok(_) => return Err(ErrorKind::StorageFull.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What was done to files, in order: `NAME append`, `NAME sync`, `NAME cut`.
#[cfg(test)]
pub(super) type StorageCall = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

/// A file that notes what is done to it.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Noted {
    pub file: File,
    pub name: &'static str,
    pub done: StorageCall,
    /// Whether the disk takes nothing.
    pub is_broken: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

#[cfg(test)]
impl Noted {
    fn note(&self, what: &str) {
        self.done.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

#[cfg(test)]
impl Storage for Noted {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.note("append");
        self.file.append(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.note("sync");
        match self.is_broken.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err(io::Error::other("the disk is broken")),
            false => self.file.sync(),
        }
    }

    fn cut(&self, len: u64) -> io::Result<()> {
        self.note("cut");
        self.file.cut(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes in turn what `takes` says of each append.
    #[derive(Debug)]
    struct Grudging {
        takes: std::sync::Mutex<Vec<io::Result<usize>>>,
    }

    impl Storage for Grudging {
        fn append(&self, _: &[u8]) -> io::Result<usize> {
            self.takes.lock().unwrap().remove(0)
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        fn cut(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn half_a_line_is_a_full_disk_and_an_interrupted_one_is_tried_again() {
        let append = |takes| {
            let file = Grudging { takes: std::sync::Mutex::new(takes) };
            append_once(&file, b"line\n").map_err(|error| error.kind())
        };
        assert_eq!(append(vec![Ok(5)]), Ok(()));
        assert_eq!(append(vec![Ok(4)]), Err(ErrorKind::StorageFull));
        assert_eq!(append(vec![Err(ErrorKind::Interrupted.into()), Ok(5)]), Ok(()));
        let denied = Err(ErrorKind::PermissionDenied.into());
        assert_eq!(append(vec![denied, Ok(5)]), Err(ErrorKind::PermissionDenied));
    }
}
