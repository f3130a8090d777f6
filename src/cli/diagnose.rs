//! `firmhand diagnose` and `firmhand tool read_build_log`: what is wrong according to a saved log.
//!
//! Owns the form of the question and of the answer. What is found is what a build reports. Builds
//! nothing and changes nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};

use super::args::DiagnoseArgs;
use super::{input, report};
use crate::files;
use crate::model::{Diagnostic, Severity, UserError};
use crate::toolchain::{diagnostics, platformio};

/// Name of the tool.
pub(super) const NAME: &str = "read_build_log";

/// What it does, for the list of tools.
pub(super) const ABOUT: &str =
    "Reads a saved log of a build, or one from the standard input, and lists its errors.";

/// How a question is asked.
const EXAMPLE: &str = "Write e.g. `--args '{\"path\": \"build.log\"}'`, with `-` for the input.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadBuildLogArgs {
    /// The log; `-` for the standard input.
    path: PathBuf,
    /// Folder of the project as the log names it.
    #[serde(default)]
    project: Option<PathBuf>,
}

/// Lists what is wrong for people, or as JSON. Exit codes: 0 without errors, 1 with.
///
/// # Errors
/// When the log cannot be read.
pub(super) fn run(args: &DiagnoseArgs) -> Result<ExitCode, UserError> {
    let found = findings(&args.log, args.project.as_deref(), Path::new("."))?;
    let is_clean = !found.iter().any(|one| one.severity == Severity::Error);
    if args.json {
        report::json(&answer(&found))?;
    } else {
        found.iter().for_each(|one| report::line(&text(one)));
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Answers the same as a tool does; `project` is where relative paths begin.
///
/// # Errors
/// When the arguments are wrong or the log cannot be read.
pub(super) fn tool(args: &str, project: &Path) -> Result<ExitCode, UserError> {
    let args: ReadBuildLogArgs = serde_json::from_str(args).map_err(|error| {
        UserError::new("Cannot read the arguments as JSON", error.to_string(), EXAMPLE)
    })?;
    let path = match args.path.as_os_str() == "-" {
        true => args.path,
        false => project.join(args.path),
    };
    report::json(&answer(&findings(&path, args.project.as_deref(), project)?))?;
    Ok(ExitCode::SUCCESS)
}

fn findings(log: &Path, project: Option<&Path>, here: &Path) -> Result<Vec<Diagnostic>, UserError> {
    let bytes = input::read(log, files::BUILD_FACTS).map_err(|error| {
        let what = format!("Cannot read the log {}", log.display());
        UserError::from_cause(what, &error).fix("Name a file, or `-` for the standard input.")
    })?;
    let bytes = diagnostics::utf8(&bytes);
    let named = || diagnostics::project_in(&String::from_utf8_lossy(&bytes));
    let project = match project {
        Some(project) => project.to_owned(),
        None => named().unwrap_or_else(|| here.to_owned()),
    };
    // A folder that exists is meant as it lies here, whatever it is called.
    let project = match diagnostics::is_absolute(&project.to_string_lossy()) {
        true => project,
        false => std::path::absolute(&project).unwrap_or(project),
    };
    let mut found = diagnostics::parse(&project, &bytes);
    platformio::add_messages(&project, &bytes, &mut found);
    diagnostics::locate(&project, &mut found);
    Ok(found)
}

fn answer(found: &[Diagnostic]) -> Value {
    let of = |severity| -> Vec<&Diagnostic> {
        found.iter().filter(|one| one.severity == severity).collect()
    };
    json!({
        "ok": true,
        "errors": of(Severity::Error),
        "warnings": of(Severity::Warning),
        "notes": of(Severity::Note),
    })
}

/// A finding in the form that editors and compilers use.
fn text(one: &Diagnostic) -> String {
    let mut text = String::new();
    if let Some(file) = &one.file {
        text.push_str(file);
        for number in [one.line, one.column].into_iter().flatten() {
            text.push_str(&format!(":{number}"));
        }
        text.push_str(": ");
    }
    let severity = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    text.push_str(&format!("{severity}: {}", one.message));
    if !one.hint.is_empty() {
        text.push_str(&format!("\n  hint: {}", one.hint));
    }
    text
}
