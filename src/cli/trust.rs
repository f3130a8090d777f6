//! `firmhand trust`: the projects whose own scripts may run.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use super::{input, report};
use crate::app::trust::Trust;
use crate::model::UserError;
use crate::text::sanitize;

/// What a person types who lets programs of agents run without a sandbox.
const PHRASE: &str = "run without a sandbox";

/// Lets the scripts of a project run; without a folder, prints the projects whose scripts may.
///
/// # Errors
/// When there is no such folder, or the list cannot be read or written.
pub fn add_or_list(data: &Path, project: Option<&Path>) -> Result<ExitCode, UserError> {
    let trust = Trust::of(data);
    let Some(project) = project else {
        let all = trust.projects()?;
        all.iter().for_each(|known| report::line(&shown(known)));
        if all.is_empty() {
            report::line("no project is trusted; name one: firmhand trust DIR");
        }
        return Ok(ExitCode::SUCCESS);
    };
    let words = match trust.add(project)? {
        true => "is now trusted, with all folders in it",
        false => "is already trusted",
    };
    report::line(&format!("{} {words}", shown(project)));
    Ok(ExitCode::SUCCESS)
}

/// Lets the scripts of a project run no longer.
///
/// # Errors
/// When the list cannot be read or written.
pub fn forget(data: &Path, project: &Path) -> Result<ExitCode, UserError> {
    let words = match Trust::of(data).forget(project)? {
        true => "is no longer trusted",
        false => "was not trusted",
    };
    report::line(&format!("{} {words}", shown(project)));
    Ok(ExitCode::SUCCESS)
}

/// Lets what agents write for a project run where there is no sandbox, after the person has typed
/// what that means.
///
/// # Errors
/// When nobody is there to type, the phrase is another, or the list cannot be read or written.
pub fn without_sandbox(data: &Path, project: &Path) -> Result<ExitCode, UserError> {
    let what = format!("Cannot let programs of {} run without a sandbox", shown(project));
    if !std::io::stdin().is_terminal() {
        let fix = "Run the command in a terminal.";
        return Err(UserError::new(what, "a person has to type a phrase", fix));
    }
    report::line(&format!(
        "Where there is no sandbox, programs that agents write for {} run with your rights: they can \
         read and change all your files, and reach the network.",
        shown(project)
    ));
    report::line(&format!("To agree, type: {PHRASE}"));
    let typed = input::line().map_err(|error| UserError::from_cause(what.clone(), &error))?;
    if typed != PHRASE {
        let why = "the phrase that was typed is another";
        return Err(UserError::new(what, why, format!("Type exactly: {PHRASE}")));
    }
    let words = match Trust::of(data).run_without_sandbox(project)? {
        true => "may now run programs without a sandbox",
        false => "may already run programs without a sandbox",
    };
    report::line(&format!("{} {words}", shown(project)));
    Ok(ExitCode::SUCCESS)
}

fn shown(path: &Path) -> String {
    sanitize::line(&path.display().to_string()).into_owned()
}
