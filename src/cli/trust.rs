//! `firmhand trust`: the projects whose own scripts may run.

use std::path::Path;
use std::process::ExitCode;

use super::report;
use crate::app::trust::Trust;
use crate::model::UserError;
use crate::text::sanitize;

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

fn shown(path: &Path) -> String {
    sanitize::line(&path.display().to_string()).into_owned()
}
