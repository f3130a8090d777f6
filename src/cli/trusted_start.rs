//! Begins what a project that is not trusted hinders, once the person has said that it may.

use std::path::Path;
use std::time::Instant;

use super::runtime;
use crate::app::machine::Machine;
use crate::app::terminal::{Screen, Uses};
use crate::app::trust::Trust;
use crate::app::trust_question;
use crate::model::UserError;
use crate::ui::trust_dialog::{TrustAnswer, TrustDialog};
use crate::ui::{Depth, Theme};

/// Begins by `begin`; when it fails because `project`, if one is named, is not trusted, the person
/// is asked on the full screen, and it is begun again.
///
/// # Errors
/// Those of `begin`, and when the project stays untrusted.
pub(super) fn begin<T>(
    machine: &Machine,
    project: Option<&Path>,
    begin: impl Fn() -> Result<T, UserError>,
) -> Result<T, UserError> {
    let error = match begin() {
        Ok(begun) => return Ok(begun),
        Err(error) => error,
    };
    let trust = Trust::of(&machine.dirs.data);
    let refused = project.filter(|project| trust.check(project).as_ref() == Err(&error));
    let Some(project) = refused else { return Err(error) };
    match ask(machine, project, &error)? {
        TrustAnswer::Leave => Err(error),
        TrustAnswer::Trust => {
            trust.add(project)?;
            begin()
        }
    }
}

fn ask(machine: &Machine, project: &Path, error: &UserError) -> Result<TrustAnswer, UserError> {
    let env = |name: &str| std::env::var(name).ok();
    let theme = Theme::load(&machine.assets, &machine.settings.theme.value, Depth::detect(env))?;
    let dialog =
        TrustDialog::new(theme, project.display().to_string(), error.why.clone(), Instant::now());
    let mut screen = Screen::take(Uses::of(&machine.settings.terminal, env))?;
    let answer = runtime::screen()?.block_on(trust_question::ask(&mut screen, dialog))?;
    Ok(answer.unwrap_or(TrustAnswer::Leave))
}
