//! `firmhand run`: puts a session together and follows it without a screen.

use std::io;
use std::process::ExitCode;

use tokio::runtime::Builder;

use super::report;
use super::run::{EventFormat, Headless, run_headless};
use crate::app::compose::{self, Machine, Order, Running};
use crate::app::signals::Signals;
use crate::model::UserError;

/// Runs `order` to its end.
///
/// # Errors
/// When the session cannot be begun, or its events cannot be written.
pub fn run(world: &Machine, order: Order, form: EventFormat) -> Result<ExitCode, UserError> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| UserError::from_cause("Cannot start the engine", &error))?;
    runtime.block_on(async {
        let mut signals = Signals::watch()?;
        let Running { dir, recorder, engine, desk, bench: _bench, .. } =
            compose::start(world, order)?;
        let published = recorder.subscribe();
        let run = Headless { engine, desk, journal: dir.journal(), published, form };
        let interrupted = async { signals.ending().await };
        let exit = run_headless(run, interrupted, &mut io::stdout()).await?;
        if form == EventFormat::Text {
            report::line(&format!("Session {}", dir.id()));
        }
        Ok(ExitCode::from(exit as u8))
    })
}
