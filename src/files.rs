//! Reads files that belong to a project or to the person: regular ones only, and within a bound.
//!
//! Owns what may be read whole. A pipe, a device, a folder or a file beyond the bound is an error
//! at once, so that nothing in a folder can hold the program up or fill its memory. Never writes,
//! and must not know what the files mean.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Settings, themes, keymaps, teams, notes, keys: what a person writes by hand, in bytes.
pub const SETTINGS: u64 = 1 << 20;

/// One source, list or configuration of a project, in bytes.
pub const SOURCE: u64 = 8 << 20;

/// One image for a board, in bytes: as much as the largest flash chips hold.
pub const IMAGE: u64 = 128 << 20;

/// What a build tells about itself, such as the list of its compilations, in bytes.
pub const BUILD_FACTS: u64 = 256 << 20;

/// A program with its debug information, in bytes.
pub const PROGRAM: u64 = 512 << 20;

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadRefusal {
    /// It is a named pipe, a socket or a device.
    #[error("it is {0}, not a regular file")]
    Kind(&'static str),
    /// It is longer than what is read.
    #[error("it has {bytes} bytes; at most {limit} are read")]
    TooLong {
        /// Its length, or what was read of it until then.
        bytes: u64,
        /// The bound in bytes.
        limit: u64,
    },
}

impl From<ReadRefusal> for io::Error {
    fn from(refusal: ReadRefusal) -> Self {
        let kind = match refusal {
            ReadRefusal::Kind(_) => ErrorKind::InvalidInput,
            ReadRefusal::TooLong { .. } => ErrorKind::FileTooLarge,
        };
        Self::new(kind, refusal)
    }
}

/// Reads a whole file of at most `limit` bytes, links followed.
///
/// # Errors
/// When it is not there or may not be read; when it is a folder ([`ErrorKind::IsADirectory`]) or
/// otherwise no regular file, or too long: see [`ReadRefusal`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(&open(path)?, limit)
}

/// As [`read`], for text.
///
/// # Errors
/// As [`read`]; [`ErrorKind::InvalidData`] when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read(path, limit)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads at most `limit` bytes from the start of a file.
///
/// # Errors
/// As [`read`], but for its length.
pub fn read_start(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

/// Opens a regular file for reading, links followed.
///
/// # Errors
/// As [`read`], but for its length.
pub fn open(path: &Path) -> io::Result<File> {
    // Asked before opening: to open a device can already set something off.
    check(&std::fs::metadata(path)?)?;
    // And once more on what was opened, which waits for nobody.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    check(&file.metadata()?)?;
    Ok(file)
}

/// Opens a folder, to lock it.
///
/// # Errors
/// When it is not a folder or may not be read.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Whether a regular file of at most `limit` bytes is there, links followed.
#[must_use]
pub fn is_readable(path: &Path, limit: u64) -> bool {
    std::fs::metadata(path).is_ok_and(|found| check(&found).is_ok() && found.len() <= limit)
}

/// Reads an open file to its end, if that comes within `limit` bytes.
fn read_open(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let bytes = file.metadata()?.len();
    if bytes > limit {
        return Err(ReadRefusal::TooLong { bytes, limit }.into());
    }
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1);
    // It may grow while it is read, and some files do not tell their length.
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    let bytes = content.len() as u64;
    if bytes > limit { Err(ReadRefusal::TooLong { bytes, limit }.into()) } else { Ok(content) }
}

fn check(found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let name = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(ReadRefusal::Kind(name).into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn refused(path: &Path) -> String {
        let errors = [
            read(path, 1000).unwrap_err(),
            read_text(path, 1000).unwrap_err(),
            read_start(path, 1000).unwrap_err(),
            open(path).unwrap_err(),
        ];
        assert!(!is_readable(path, u64::MAX));
        let reasons: std::collections::BTreeSet<String> =
            errors.iter().map(ToString::to_string).collect();
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        reasons.into_iter().next().unwrap()
    }

    #[test]
    fn what_never_ends_or_never_begins_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("/dev/zero", at("zero")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert_eq!(refused(&at("zero")), "it is a device, not a regular file");
        assert_eq!(refused(&at("pipe")), "it is a named pipe, not a regular file");
        assert_eq!(refused(&at("socket")), "it is a socket, not a regular file");
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read(&at("none"), 9).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        let error = read(&file, 4).unwrap_err();
        assert_eq!(error.to_string(), "it has 5 bytes; at most 4 are read");
        assert_eq!(read_start(&file, 2).unwrap(), b"12");
        assert!(is_readable(&file, 5) && !is_readable(&file, 4));
        // As long as a film, and nothing of it is on the disk.
        File::options().write(true).open(&file).unwrap().set_len(3 << 30).unwrap();
        assert_eq!(read(&file, 5).unwrap_err().kind(), ErrorKind::FileTooLarge);
        std::fs::write(&file, [0xff]).unwrap();
        assert_eq!(read_text(&file, 5).unwrap_err().kind(), ErrorKind::InvalidData);
        // Files of the kernel do not tell their length.
        assert!(read(Path::new("/proc/self/status"), SETTINGS).is_ok_and(|text| !text.is_empty()));
        assert!(read(Path::new("/proc/self/status"), 10).is_err());
    }
}
