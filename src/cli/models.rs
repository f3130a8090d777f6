//! `firmhand models`: the names of a service's models.

use std::process::ExitCode;

use super::{report, runtime};
use crate::app::profiles::Profiles;
use crate::model::UserError;
use crate::provider::Remote;

/// Prints the names of a service's models.
///
/// # Errors
/// When the profile does not exist, or its service does not answer.
pub fn run(profiles: &Profiles, profile: Option<&str>) -> Result<ExitCode, UserError> {
    let name = profile.map(str::to_owned).or_else(|| profiles.default_name()).unwrap_or_default();
    // A profile without a model is enough to ask for the names of models.
    let profile = profiles
        .find(&name, None)
        .or_else(|error| profiles.find(&name, Some("")).map_err(|_| error))?;
    let found = runtime::engine()?.block_on(Remote::new(profile).models())?;
    for name in &found {
        report::line(name);
    }
    if found.is_empty() {
        report::line("the service offers no model");
    }
    Ok(ExitCode::SUCCESS)
}
