//! `firmhand reverty`: programs in Reverty from the command line.
//!
//! Owns reading the file and printing what was found. Must not know the language.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::RevertyCommand;
use super::program_ends::ProgramEnds;
use super::{input, report, reverty_repl};
use crate::app::trust::Trust;
use crate::model::UserError;
use crate::sandbox::Runner;
use crate::text::reverty::{self, Fault};
use crate::toolchain::python_program::Python;

/// Longest program in bytes; a longer one is refused with its own words.
const MOST_BYTES: u64 = reverty::MOST_BYTES as u64 + 1;

/// Does what the command says. Exit codes: 0 done; 1 the program has faults or could not be read;
/// for `run` that of the program. `data` is the folder where the person's consents are.
///
/// # Errors
/// When a file cannot be read, or Python cannot be started.
pub(super) fn run(command: &RevertyCommand, data: &Path) -> Result<ExitCode, UserError> {
    match command {
        RevertyCommand::Check { file, json } => {
            let bytes = match read(file) {
                Err(error) if *json => {
                    let message = format!("{}: {}", error.what, error.why);
                    let fault =
                        json!({ "line": 1, "column": 1, "message": message, "hint": error.fix });
                    report::json(&json!({ "ok": false, "errors": [fault] }))?;
                    return Err(error);
                }
                bytes => bytes?,
            };
            let faults = match reverty::decode(&bytes) {
                Ok(text) => reverty::check(text),
                Err(faults) => faults,
            };
            if *json {
                report::json(&json!({ "ok": faults.is_empty(), "errors": faults }))?;
                return Ok(code_of(&faults));
            }
            Ok(print_faults(file, &faults))
        }
        RevertyCommand::Ast { file, json } => show(file, |text| {
            let tree = reverty::tree(text)?;
            let as_json = || crate::text::json::line(&tree).unwrap_or_default() + "\n";
            Ok(if *json { as_json() } else { reverty::outline(&tree) })
        }),
        RevertyCommand::Py { file } => show(file, |text| Ok(reverty::to_python(text)?.text)),
        RevertyCommand::Fmt { file } => show(file, reverty::format),
        RevertyCommand::FromPython { file } => show(file, reverty::from_python),
        RevertyCommand::Run { file } => run_program(file, data),
        RevertyCommand::Repl => reverty_repl::run(&python(Path::new("."), data)?),
    }
}

/// Prints what is made of a program, or its faults.
fn show(
    file: &Path,
    make: impl Fn(&str) -> Result<String, Vec<Fault>>,
) -> Result<ExitCode, UserError> {
    let bytes = read(file)?;
    Ok(match reverty::decode(&bytes).and_then(make) {
        Ok(made) => {
            print(&made);
            ExitCode::SUCCESS
        }
        Err(faults) => print_faults(file, &faults),
    })
}

/// As it is for a file or another program, and harmless for a terminal.
fn print(text: &str) {
    if io::stdout().is_terminal() {
        report::line(text.trim_end_matches('\n'));
    } else {
        report::raw(text.as_bytes());
    }
}

fn code_of(faults: &[Fault]) -> ExitCode {
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_faults(file: &Path, faults: &[Fault]) -> ExitCode {
    for Fault { line, column, message, hint } in faults {
        report::message(&format!("{}:{line}:{column}: {message}", file.display()));
        if !hint.is_empty() {
            report::message(&format!("  fix: {hint}"));
        }
    }
    code_of(faults)
}

fn read(file: &Path) -> Result<Vec<u8>, UserError> {
    input::read(file, MOST_BYTES).map_err(|error| {
        UserError::from_cause(format!("Cannot read {}", file.display()), &error)
            .fix("Give the path of a program, or `-` for the standard input.")
    })
}

fn run_program(file: &Path, data: &Path) -> Result<ExitCode, UserError> {
    let bytes = read(file)?;
    let made = reverty::decode(&bytes).and_then(|text| Ok((text, reverty::to_python(text)?)));
    let (text, program) = match made {
        Ok(made) => made,
        Err(faults) => return Ok(print_faults(file, &faults)),
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let python = python(folder.unwrap_or(Path::new(".")), data)?;
    let (input, output, finish) = ProgramEnds::open()?.split();
    let end = python.run(&program.text, input, output)?;
    finish();
    let trace = reverty::mapped(&end.trace, &end.file, &program, text, &file.display().to_string());
    if !trace.is_empty() {
        report::message(trace.trim_end_matches('\n'));
    }
    let code = end.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Python in the sandbox, or without one where the person allowed that for the folder.
fn python(folder: &Path, data: &Path) -> Result<Python, UserError> {
    let consent = Trust::of(data).consent(folder)?;
    Python::find(Runner::of_this_program().with_consent(consent))
}
