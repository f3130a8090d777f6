//! Requests that wait for another machine, asked by callers that do not run in a runtime.

use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::model::UserError;

/// A thread that waits for requests, so that callers may be anywhere.
pub struct Waiter {
    /// Given up without waiting when the waiter goes.
    runtime: Option<Runtime>,
}

impl Waiter {
    /// A thread of its own.
    ///
    /// # Errors
    /// When the system has none.
    pub fn new() -> Result<Self, UserError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("endpoint")
            .enable_all()
            .build()
            .map_err(|error| UserError::from_cause("Cannot ask an endpoint", &error))?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// The result of a request; `None`: it did not come in that time.
    pub fn wait<T: Send + 'static>(
        &self,
        most: Duration,
        request: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = mpsc::channel();
        let runtime = self.runtime.as_ref()?;
        let task = runtime.spawn(async move {
            // After the time limit nobody receives it.
            let _ = sender.send(request.await);
        });
        let answer = answer.recv_timeout(most).ok();
        if answer.is_none() {
            task.abort();
        }
        answer
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
