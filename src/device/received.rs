//! How far an open port has come.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::{Event, LogId, PortChange, PortEvent};

/// How far a port has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// Bytes since the port was opened.
    pub bytes: u64,
    /// Why it is away at the moment; it is looked for.
    pub away: Option<String>,
    /// How often it went away.
    pub losses: u32,
    /// Why the newest bytes could not be written to the log; `None` when they were.
    pub lost: Option<String>,
    /// Why no more will come; `None` while the port is open.
    pub closed: Option<String>,
}

/// The event that something happened to the port of that log.
pub(super) fn changed(log: LogId, event: PortChange) -> Event {
    Event::Port(PortEvent::Changed { log, event })
}

/// A panic elsewhere leaves the state whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
