//! Files of the program itself, in its data folder.
//!
//! Never inside a project.

use std::fs;
use std::io;
use std::path::Path;

/// Writes a file whole or not at all, also when two programs do it at once; makes its folder.
///
/// # Errors
/// When the data folder cannot be written.
#[expect(clippy::disallowed_methods, reason = "the program's own data folder")]
pub(super) fn put(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = file.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, file)
}
