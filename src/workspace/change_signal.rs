//! Word that something in the project's folders may have changed.
//!
//! Owns who is told, and how long to wait where the system tells nothing. Never says what changed:
//! whoever is told looks for themselves.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Whoever is told waits this long: a file is written in several steps.
pub const SETTLE: Duration = Duration::from_millis(100);

/// How often to look where the system tells nothing.
const WITHOUT_EVENTS: Duration = Duration::from_millis(400);

/// How often to look all the same: not every file lies in a folder that is listened at, and a file
/// system over the network tells only what this machine does.
const WITH_EVENTS: Duration = Duration::from_secs(10);

/// The project's folders, and all who want to know of their changes.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeSignal(Arc<watch::Sender<SignalState>>);

#[derive(Debug, Clone, Copy, Default)]
struct SignalState {
    /// How often something changed.
    count: u64,
    /// Whether the system tells.
    has_events: bool,
}

impl ChangeSignal {
    /// Something may have changed.
    pub fn notify(&self) {
        self.0.send_modify(|state| state.count += 1);
    }

    /// Whether the system tells from now on. What happened before may have gone unnoticed.
    pub fn set_events_available(&self, has_events: bool) {
        self.0.send_if_modified(|state| {
            let is_new = state.has_events != has_events;
            (state.has_events, state.count) = (has_events, state.count + u64::from(is_new));
            is_new
        });
    }

    pub fn looks(&self) -> ChangePoll {
        ChangePoll { signal: self.0.subscribe(), due: Some(Instant::now()) }
    }
}

/// Tells when to look at the project's files: at once, and again when they may have changed.
#[derive(Debug)]
pub struct ChangePoll {
    signal: watch::Receiver<SignalState>,
    /// When to look, if that is known.
    due: Option<Instant>,
}

impl ChangePoll {
    /// Resolves when it is time to look. Safe to drop and call again.
    pub async fn next(&mut self) {
        if self.due.is_none() {
            let rest = if self.signal.borrow().has_events { WITH_EVENTS } else { WITHOUT_EVENTS };
            tokio::select! {
                // The other end lives as long as the project that gave this out.
                Ok(()) = self.signal.changed() => {}
                () = tokio::time::sleep(rest) => return,
            }
        }
        // Whoever drops this wait finds the change again with the next one.
        let due = *self.due.get_or_insert_with(|| Instant::now() + SETTLE);
        tokio::time::sleep_until(due).await;
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn it_is_time_to_look_at_once_and_after_each_change() {
        let changes = ChangeSignal::default();
        let mut looks = changes.looks();
        timeout(WITHOUT_EVENTS / 2, looks.next()).await.unwrap();
        // As long as nobody listens, it is now and then.
        timeout(LONG, looks.next()).await.unwrap();
        changes.set_events_available(true);
        timeout(LONG, looks.next()).await.unwrap();
        assert!(timeout(WITHOUT_EVENTS * 2, looks.next()).await.is_err());
        changes.notify();
        // A wait that is given up for something else loses nothing.
        assert!(looks.next().now_or_never().is_none());
        timeout(LONG, looks.next()).await.unwrap();
        changes.set_events_available(false);
        timeout(LONG, looks.next()).await.unwrap();
        timeout(LONG, looks.next()).await.unwrap();
    }
}
