//! What a build that failed leaves: its files go, its reason stays for a minute.
//!
//! Owns the file with that reason. Must not know what an index is made of.

#![expect(clippy::disallowed_methods, reason = "the folder of the index is the program's own")]

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::files;

/// Name of the file with the reason.
pub const FAILED_FILE: &str = "build.failed";

/// For so long nobody tries again unasked: what is wrong, such as a full disk, lasts.
const PAUSE: Duration = Duration::from_secs(60);

/// Removes every file of a folder but those that are to stay.
///
/// # Errors
/// When one cannot be removed; those after it stay too.
pub fn remove_but(folder: &Path, stays: &dyn Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if !entry.file_name().to_str().is_some_and(stays) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Keeps the reason, as far as there is room for it.
pub fn note(folder: &Path, why: &str) {
    let _ = fs::write(folder.join(FAILED_FILE), why);
}

/// A build went well.
pub fn forget(folder: &Path) {
    let _ = fs::remove_file(folder.join(FAILED_FILE));
}

/// Why the last build failed, if that was less than a minute ago.
#[must_use]
pub fn failed_lately(folder: &Path) -> Option<String> {
    let file = folder.join(FAILED_FILE);
    let at = fs::metadata(&file).and_then(|found| found.modified()).ok()?;
    let age = SystemTime::now().duration_since(at).ok()?;
    if age >= PAUSE {
        return None;
    }
    files::read_text(&file, files::SETTINGS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_counts_for_a_minute_or_until_a_build_goes_well() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(failed_lately(folder.path()), None);
        note(folder.path(), "the disk is full");
        assert_eq!(failed_lately(folder.path()).unwrap(), "the disk is full");
        let file = fs::File::options().write(true).open(folder.path().join(FAILED_FILE)).unwrap();
        file.set_modified(SystemTime::now() - PAUSE).unwrap();
        assert_eq!(failed_lately(folder.path()), None);
        note(folder.path(), "the disk is full");
        forget(folder.path());
        assert_eq!(failed_lately(folder.path()), None);
    }
}
