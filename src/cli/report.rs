//! Words on standard output and standard error. The one place of the program that prints.
//!
//! Owns that nothing printed acts on the terminal, and that no secret of the person is printed.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic;
use std::sync::OnceLock;

use serde::Serialize;

use crate::model::UserError;
use crate::text::secrets::Secrets;
use crate::text::{contain, json, sanitize};

/// What must not be printed.
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Prints none of these from now on, nor those that are learned later.
pub fn keep(secrets: &Secrets) {
    SECRETS.get_or_init(|| secrets.clone()).add_all(secrets);
}

/// Text as it can be printed.
fn clean(text: &str) -> String {
    let text = sanitize::block(text).into_owned();
    match SECRETS.get() {
        Some(secrets) => secrets.clean(&text),
        None => text,
    }
}

/// Lets a crash of the program print as everything else does.
pub fn crashes() {
    panic::set_hook(Box::new(|info| {
        if contain::is_contained() {
            return;
        }
        let mut out = io::stderr().lock();
        let _ = writeln!(out, "firmhand {}", clean(&info.to_string()));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(out, "{}", clean(&trace.to_string()));
        }
    }));
}

/// Prints a line on standard output. A reader that went away (`| head`) is no error.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", clean(text));
}

/// Prints a value as one line of JSON, harmless for a terminal and the same when it is parsed.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<(), UserError> {
    let cannot =
        |error: serde_json::Error| UserError::from_cause("Cannot print an answer as JSON", &error);
    let mut value = serde_json::to_value(value).map_err(cannot)?;
    if let Some(secrets) = SECRETS.get() {
        secrets.redactor().clean_value(&mut value);
    }
    let line = json::line(&value).map_err(cannot)?;
    let _ = writeln!(io::stdout().lock(), "{line}");
    Ok(())
}

/// Prints the program's own bytes on standard output as they are.
pub fn raw(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}

/// Prints a piece of what another program writes, and no line feed.
pub fn foreign(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(clean(text).as_bytes());
    let _ = out.flush();
}

/// Prints what comes before a line that a person types, and no line feed.
pub fn prompt(text: &str) {
    foreign(text);
}

/// Prints a word besides the output proper, on standard error.
pub fn aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "firmhand: {}", clean(text));
}

/// Prints words about how the program was called on standard error.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean(text));
}

/// Prints what went wrong, why, and how to mend it on standard error.
pub fn error(error: &UserError) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "firmhand: {}", clean(&error.what));
    let _ = writeln!(out, "  why: {}", clean(&error.why));
    if !error.fix.is_empty() {
        let _ = writeln!(out, "  fix: {}", clean(&error.fix));
    }
}
