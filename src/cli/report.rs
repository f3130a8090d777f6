//! Words on standard output and standard error. The one place of the program that prints.

use std::io::{self, Write};

use serde::Serialize;

use crate::model::UserError;
use crate::text::{json, sanitize};

/// Prints a line on standard output. A reader that went away (`| head`) is no error.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", sanitize::block(text));
}

/// Prints a value as one line of JSON, harmless for a terminal and the same when it is parsed.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<(), UserError> {
    let line = json::line(value)
        .map_err(|error| UserError::from_cause("cannot print an answer as JSON", &error))?;
    let _ = writeln!(io::stdout().lock(), "{line}");
    Ok(())
}

/// Prints the program's own bytes on standard output as they are.
pub fn raw(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}

/// Prints a word besides the output proper, on standard error.
pub fn aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "firmhand: {}", sanitize::block(text));
}

/// Prints words about how the program was called on standard error.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", sanitize::block(text));
}

/// Prints what went wrong, why, and how to mend it on standard error.
pub fn error(error: &UserError) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "firmhand: {}", sanitize::block(&error.what));
    let _ = writeln!(out, "  why: {}", sanitize::block(&error.why));
    if !error.fix.is_empty() {
        let _ = writeln!(out, "  fix: {}", sanitize::block(&error.fix));
    }
}
