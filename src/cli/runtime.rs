//! The runtimes of the program: where the engine runs, and where the screen does.

use tokio::runtime::{Builder, Runtime};

use crate::model::UserError;

/// Where the engine runs: apart from the screen, so that neither waits for the other.
///
/// # Errors
/// When the system gives no threads.
pub(super) fn engine() -> Result<Runtime, UserError> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| UserError::from_cause("Cannot start the engine", &error))
}

/// Where the screen and the keys are.
///
/// # Errors
/// When the system has no means to wait for keys.
pub(super) fn screen() -> Result<Runtime, UserError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| UserError::from_cause("Cannot start the screen", &error))
}
