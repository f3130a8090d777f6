//! `firmhand run`: puts a session together and follows it without a screen.

use std::io;
use std::process::ExitCode;

use super::run::{EventFormat, Headless, run_headless};
use super::{report, runtime};
use crate::app::assemble::{self, Running};
use crate::app::machine::Machine;
use crate::app::plan::LaunchPlan;
use crate::app::signals::Signals;
use crate::model::UserError;

/// Runs a plan to its end.
///
/// # Errors
/// When the session cannot be begun, or its events cannot be written.
pub fn run(machine: &Machine, plan: LaunchPlan, form: EventFormat) -> Result<ExitCode, UserError> {
    runtime::engine()?.block_on(async {
        let mut signals = Signals::watch()?;
        let Running { dir, recorder, engine, queue, services: _services, .. } =
            assemble::start(machine, plan)?;
        let published = recorder.subscribe();
        let run = Headless { engine, queue, journal: dir.journal(), published, form };
        let interrupted = async { signals.ending().await };
        let exit = run_headless(run, interrupted, &mut io::stdout()).await?;
        if form == EventFormat::Text {
            report::line(&format!("Session {}", dir.id()));
        }
        Ok(ExitCode::from(exit as u8))
    })
}
