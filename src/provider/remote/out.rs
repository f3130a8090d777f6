//! The way of an answer to whoever waits for it.

use tokio::sync::mpsc::Sender;

use super::super::Delta;
use super::super::fault::Fault;
use crate::model::UserError;

/// Why an attempt ended without an answer.
pub(super) enum Broken {
    Fault(Fault),
    /// Nobody waits for the answer now.
    Unheard,
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Where deltas go; closed when nobody waits for the answer now.
pub(super) struct Out(Sender<Result<Delta, UserError>>);

impl Out {
    pub(super) fn new(out: Sender<Result<Delta, UserError>>) -> Self {
        Self(out)
    }

    /// Gives a delta on.
    ///
    /// # Errors
    /// When nobody waits for it.
    pub(super) async fn send(&self, delta: Delta) -> Result<(), Broken> {
        self.0.send(Ok(delta)).await.map_err(|_| Broken::Unheard)
    }

    /// Ends the answer with an error, for whoever may still wait.
    pub(super) async fn fail(&self, error: UserError) {
        // Nobody may be there to read it.
        let _ = self.0.send(Err(error)).await;
    }
}
