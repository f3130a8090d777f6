//! From how PlatformIO ended to the report of a build.
//!
//! Pure. Owns which failures are the project's and which are not.

use std::path::Path;

use super::messages::PioMessages;
use super::project::{Config, Environment, FILE};
use crate::model::{BuildOutcome, Diagnostic, Severity, UserError};
use crate::text::sanitize;
use crate::toolchain::BuildReport;
use crate::toolchain::process::ProcessEnd;

/// Says what is built, and what is not.
pub(super) fn opening(config: &Config, environment: &Environment) -> String {
    let name = &environment.name;
    let others = config.environments.iter().filter(|one| one.name != *name);
    let others: Vec<&str> = others.map(|one| one.name.as_str()).collect();
    let first = format!("-- pio run --environment={name}\n");
    match others.is_empty() {
        true => first,
        false => format!("{first}-- not built: {}\n", others.join(", ")),
    }
}

/// Says that builds do not write a folder that the project names.
pub(super) fn refused(folder: &Path) -> String {
    let folder = sanitize::line(&folder.to_string_lossy()).into_owned();
    format!(
        "-- Not writable, because {FILE} names it and it is not a place for builds: {folder}; if it has \
         to be, put it into `writable` below `[sandbox]` of your own config.toml\n"
    )
}

/// Makes a report of how PlatformIO ended and of what was found in its output.
pub(super) fn judge(
    ended: ProcessEnd,
    mut diagnostics: Vec<Diagnostic>,
    messages: PioMessages,
    project: &Path,
) -> BuildReport {
    let outcome = BuildOutcome::from(ended);
    if outcome == BuildOutcome::Failed
        && let Some(error) = messages.judge(project, &mut diagnostics)
    {
        return BuildReport { outcome: BuildOutcome::NotRun(error), diagnostics };
    }
    BuildReport { outcome, diagnostics }
}

/// What is wrong in the project's own file is for whoever writes its files to mend.
pub(super) fn failed_at_file(error: UserError) -> BuildReport {
    let (file, stated) = (Some(FILE.to_owned()), Diagnostic::new(Severity::Error, error.why));
    let found = Diagnostic { file, hint: error.fix, ..stated };
    BuildReport { outcome: BuildOutcome::Failed, diagnostics: vec![found] }
}
