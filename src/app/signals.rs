//! The signals a full-screen program has to answer.

use std::future::poll_fn;
use std::task::Poll;

use tokio::signal::unix::{self, SignalKind};

use crate::model::UserError;

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The signal SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGINT from outside; Ctrl-C at the keyboard is an ordinary key.
    Interrupt,
    /// SIGTSTP from outside; Ctrl-Z at the keyboard is an ordinary key.
    Suspend,
    /// SIGCONT: someone stopped and continued the process.
    Continue,
    /// SIGWINCH: the terminal has another size. The terminal's own events tell it too, but lose
    /// it when a key comes at the same moment.
    Resize,
}

impl Signal {
    /// The exit status a shell expects after it.
    #[must_use]
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Terminate => 143,
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Suspend | Self::Continue | Self::Resize => 0,
        }
    }
}

/// Watches for [`Signal`]s.
pub struct Signals([(Signal, unix::Signal); 6]);

impl Signals {
    /// Begins to watch; from then on these signals no longer end the process.
    ///
    /// # Errors
    /// When the system refuses, or outside a runtime.
    pub fn watch() -> Result<Self, UserError> {
        let on = |kind| {
            unix::signal(kind)
                .map_err(|error| UserError::from_cause("Cannot watch signals", &error))
        };
        let raw = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        Ok(Self([
            (Signal::Terminate, on(SignalKind::terminate())?),
            (Signal::Hangup, on(SignalKind::hangup())?),
            (Signal::Interrupt, on(SignalKind::interrupt())?),
            (Signal::Suspend, on(raw(rustix::process::Signal::TSTP))?),
            (Signal::Continue, on(raw(rustix::process::Signal::CONT))?),
            (Signal::Resize, on(SignalKind::window_change())?),
        ]))
    }

    /// Waits for one that ends the program.
    pub async fn ending(&mut self) {
        loop {
            match self.next().await {
                Signal::Terminate | Signal::Hangup | Signal::Interrupt => return,
                Signal::Suspend | Signal::Continue | Signal::Resize => {}
            }
        }
    }

    /// Waits for the next one. Safe to drop and call again.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let came = self.0.iter_mut().find_map(|(signal, watched)| {
                watched.poll_recv(context).is_ready().then_some(*signal)
            });
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
