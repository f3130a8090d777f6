//! What time it is for the screen, where a replay has a time of its own.

use std::time::{Duration, Instant};

use crate::model::Timestamp;

/// Whether a session runs or is played back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Live,
    /// It is played back; nothing can be decided.
    Replay,
}

/// What time it is for the screen.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// When the screen was last brought up to date.
    pub now: Instant,
    /// When the newest record came, here and in the session.
    pub anchor: (Instant, Timestamp),
    /// In a replay time stands still between records.
    pub mode: Mode,
}

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

impl Clock {
    /// How often the spinner turns.
    pub const TICK: Duration = Duration::from_millis(125);

    /// How long ago that moment of the session was.
    #[must_use]
    pub fn since(&self, at: Timestamp) -> Duration {
        let recorded = Duration::from_millis(self.anchor.1.millis_since(at));
        match self.mode {
            Mode::Live => recorded + self.now.saturating_duration_since(self.anchor.0),
            Mode::Replay => recorded,
        }
    }

    /// As [`Clock::since`], in milliseconds.
    #[must_use]
    pub fn millis_since(&self, at: Timestamp) -> u64 {
        u64::try_from(self.since(at).as_millis()).unwrap_or(u64::MAX)
    }

    /// How long it takes from now until that moment of the session; nothing when it is past.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> Duration {
        let recorded = Duration::from_millis(at.millis_since(self.anchor.1));
        match self.mode {
            Mode::Live => {
                recorded.saturating_sub(self.now.saturating_duration_since(self.anchor.0))
            }
            Mode::Replay => recorded,
        }
    }

    /// The spinner of something that began at that moment.
    #[must_use]
    pub fn spinner(&self, since: Timestamp) -> &'static str {
        let ticks = self.since(since).as_millis() / Self::TICK.as_millis();
        SPINNER[ticks as usize % SPINNER.len()]
    }
}
