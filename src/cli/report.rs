//! Words on standard output and standard error. The one place of the program that prints.

use std::io::{self, Write};

use crate::model::UserError;
use crate::text::sanitize;

/// Prints a line on standard output. A reader that went away (`| head`) is no error.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", sanitize::block(text));
}

/// Prints the program's own bytes on standard output as they are.
pub fn raw(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}

/// Prints a word besides the output proper, on standard error.
pub fn aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "firmhand: {}", sanitize::block(text));
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
