//! The signals a full-screen program has to answer.

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
pub struct Signals {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    suspend: unix::Signal,
    resume: unix::Signal,
    resize: unix::Signal,
}

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
        Ok(Self {
            terminate: on(SignalKind::terminate())?,
            hangup: on(SignalKind::hangup())?,
            interrupt: on(SignalKind::interrupt())?,
            suspend: on(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            resume: on(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            resize: on(SignalKind::window_change())?,
        })
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
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.suspend.recv() => Signal::Suspend,
            _ = self.resume.recv() => Signal::Continue,
            _ = self.resize.recv() => Signal::Resize,
        }
    }
}
