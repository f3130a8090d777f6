//! Words on standard output and standard error. The one place of the program that prints.
//!
//! Owns that nothing printed acts on the terminal, and that no secret of the person is printed.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::panic;
use std::process::ExitCode;
use std::sync::OnceLock;

use serde::Serialize;

use crate::model::UserError;
use crate::text::secrets::Secrets;
use crate::text::{contain, json, sanitize};

/// What must not be printed.
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Why something printed on standard output was lost.
static LOST: OnceLock<String> = OnceLock::new();

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

/// Prints a line on standard output. A reader that went away (`| head`) is no error; any other failure
/// is one of the whole command, see [`ended`].
pub fn line(text: &str) {
    note(writeln!(io::stdout().lock(), "{}", clean(text)));
}

/// Keeps the first failure of standard output.
fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
}

/// How the program ends after `code`: with a failure where what it printed was lost.
#[must_use]
pub fn ended(code: ExitCode) -> ExitCode {
    note(io::stdout().lock().flush());
    let Some(why) = LOST.get() else { return code };
    error(&UserError::new(
        "Cannot write the output",
        why.as_str(),
        "Free some disk space, or write it somewhere else.",
    ));
    if code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
}

/// The columns that printed text has: those of `COLUMNS` or of the terminal, and 80 where there is none.
#[must_use]
pub fn columns() -> usize {
    const LEAST: usize = 20;
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let of_terminal = || {
        let size = io::stdout().is_terminal().then(crossterm::terminal::size);
        size.and_then(Result::ok).map(|(columns, _)| usize::from(columns))
    };
    set.or_else(of_terminal).unwrap_or(80).max(LEAST)
}

/// Text in lines of these [`columns`], broken between words; lines that begin with spaces continue below
/// their first word.
#[must_use]
pub fn wrapped(text: &str) -> String {
    wrapped_to(text, columns())
}

fn wrapped_to(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
        let mut row = String::new();
        for word in line.split(' ').skip(indent.len()) {
            let columns = row.chars().count() + 1 + word.chars().count();
            if row.is_empty() {
                row = format!("{indent}{word}");
            } else if columns <= width {
                row = format!("{row} {word}");
            } else {
                lines.push(std::mem::take(&mut row));
                row = format!("{indent}{}", word.trim_start());
            }
        }
        lines.push(row);
    }
    lines.join("\n")
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
    note(writeln!(io::stdout().lock(), "{line}"));
    Ok(())
}

/// Prints the program's own bytes on standard output as they are.
pub fn raw(bytes: &[u8]) {
    note(io::stdout().lock().write_all(bytes));
}

/// Prints a piece of what another program writes, and no line feed.
pub fn foreign(text: &str) {
    let mut out = io::stdout().lock();
    note(out.write_all(clean(text).as_bytes()));
    note(out.flush());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_indented_lines_continue_so() {
        let text = "one two three four\n  coder  8.9 and more words\n\nend";
        let wrapped = wrapped_to(text, 14);
        assert_eq!(wrapped, "one two three\nfour\n  coder  8.9\n  and more\n  words\n\nend");
    }
}
