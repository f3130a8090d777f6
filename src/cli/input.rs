//! The standard input of commands that are not a session.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::files;

/// Most bytes of a line that a person types.
const MOST_TYPED: u64 = 200;

/// A line that a person types, without blanks around it.
///
/// # Errors
/// When it cannot be read.
pub(super) fn line() -> io::Result<String> {
    let mut typed = String::new();
    BufReader::new(io::stdin().lock().take(MOST_TYPED)).read_line(&mut typed)?;
    Ok(typed.trim().to_owned())
}

/// Up to `most` bytes of a file, or of the standard input for `-`.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    if file.as_os_str() != "-" {
        return files::read(file, most);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
