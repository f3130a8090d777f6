//! `firmhand reverty repl`: statements of Reverty one by one.
//!
//! Owns when a statement is complete, and which earlier ones still count.

use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

use super::program_ends::Printer;
use super::report;
use crate::model::UserError;
use crate::text::reverty::{Fault, functions_of, to_python_from};
use crate::toolchain::python_program::{Python, PythonSession};

/// Longest statement in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Reads statements from standard input until it ends. Prints their values and faults.
///
/// # Errors
/// When Python cannot be started or has ended.
pub(super) fn run(python: &Python) -> Result<ExitCode, UserError> {
    let mut session = python.session()?;
    let mut program = SavedProgram::default();
    let is_person = io::stdin().is_terminal();
    let mut piece = String::new();
    let prompt = |piece: &str| {
        if is_person {
            report::prompt(if piece.is_empty() { ">>> " } else { "... " });
        }
    };
    prompt(&piece);
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| UserError::from_cause("Cannot read a line", &error))?;
        piece.push_str(&line);
        piece.push('\n');
        if piece.len() > MOST_BYTES || is_complete(&piece) {
            run_piece(&mut session, &mut program, &std::mem::take(&mut piece))?;
        }
        prompt(&piece);
    }
    run_piece(&mut session, &mut program, &piece)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether no further line can belong to the statement: a line with a block ends with an empty one.
fn is_complete(piece: &str) -> bool {
    let head = piece.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let types = ["tni", "taolf", "rts", "loob", "tsil", "tcid", "elput"];
    let has_block = head.starts_with(':')
        || types.iter().any(|word| head.starts_with(word))
        || head.contains("->");
    let last = piece.lines().next_back().unwrap_or_default();
    (!has_block || last.trim().is_empty()) && !last.ends_with('\\')
}

/// The statements that ran so far.
#[derive(Debug, Default)]
struct SavedProgram {
    /// Each with the functions that it defines.
    pieces: Vec<(String, Vec<String>)>,
}

impl SavedProgram {
    /// Those that still count when `defined` are defined again.
    fn text(&self, defined: &[String]) -> String {
        let is_current = |own: &[String]| !own.iter().any(|name| defined.contains(name));
        let pieces = self.pieces.iter().filter(|(_, own)| is_current(own));
        pieces.map(|(text, _)| text.as_str()).collect()
    }
}

fn run_piece(
    session: &mut PythonSession,
    program: &mut SavedProgram,
    piece: &str,
) -> Result<(), UserError> {
    if piece.trim().is_empty() {
        return Ok(());
    }
    // What it defines is known from itself alone, when its form is right.
    let own = functions_of(piece);
    let before = program.text(&own);
    let lines = u32::try_from(before.lines().count()).unwrap_or(u32::MAX);
    let whole = format!("{before}{piece}");
    let python = match to_python_from(&whole, lines + 1) {
        Ok(python) => python,
        Err(faults) => {
            print_faults(&faults, &before);
            return Ok(());
        }
    };
    let ended = |error: io::Error| {
        let fix = "Start `firmhand reverty repl` again.";
        UserError::new("Cannot run the statement", error.to_string(), fix)
    };
    let mut printer = Printer::default();
    let is_terminal = io::stdout().is_terminal();
    let print = |bytes: &[u8]| if is_terminal { printer.print(bytes) } else { report::raw(bytes) };
    let fault = session.run(&python.text, print).map_err(ended)?;
    printer.finish();
    if let Some(fault) = fault {
        report::message(fault.trim_end());
    }
    program.pieces.retain(|(_, names)| !names.iter().any(|name| own.contains(name)));
    program.pieces.push((piece.to_owned(), own));
    Ok(())
}

fn print_faults(faults: &[Fault], before: &str) {
    for fault in faults {
        report::message(&fault_words(fault, before));
        if !fault.hint.is_empty() {
            report::message(&format!("  fix: {}", fault.hint));
        }
    }
}

/// A fault, with its line in what was typed. Earlier statements had none by themselves: what is found
/// there now is a fault of what was typed.
fn fault_words(fault: &Fault, before: &str) -> String {
    let Fault { line, column, message, .. } = fault;
    let line = *line as usize;
    match line.checked_sub(before.lines().count()).filter(|line| *line > 0) {
        Some(line) => format!("{line}:{column}: {message}"),
        None => {
            let earlier = before.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
            format!("1:1: it does not fit the earlier line `{earlier}`: {message}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::reverty::check;

    #[test]
    fn a_fault_in_an_earlier_statement_is_one_of_what_was_typed() {
        let fault = check("b = 1\nb: rts = \"q\"\n").remove(0);
        let words = fault_words(&fault, "b = 1\n");
        assert!(words.starts_with("1:1: it does not fit the earlier line `b = 1`: "), "{words}");
        let own = check("b = 1\nc = d\n").remove(0);
        assert!(fault_words(&own, "b = 1\n").starts_with("1:5: `d` "));
    }
}
