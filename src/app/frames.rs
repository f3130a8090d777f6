//! When the next frame is due.

use std::time::{Duration, Instant};

/// Shortest time between two frames that only show news (60 Hz).
pub(super) const FRAME: Duration = Duration::from_millis(16);

/// Shortest time between two frames when the person has just pressed a key.
pub(super) const FRAME_AFTER_INPUT: Duration = Duration::from_millis(4);

/// When the next frame is due.
#[derive(Debug, Default)]
pub(super) struct Frames {
    last: Option<Instant>,
    wanted: Option<Duration>,
    started: bool,
}

impl Frames {
    /// Wants a frame no sooner than `after` the last one.
    pub fn ask(&mut self, after: Duration) {
        self.wanted = Some(self.wanted.map_or(after, |wanted| wanted.min(after)));
    }

    pub fn next(&self) -> Option<Instant> {
        let after = self.wanted?;
        self.last.map(|last| last + after)
    }

    pub fn due(&self, now: Instant) -> bool {
        !self.started || (self.wanted.is_some() && self.next().is_none_or(|next| next <= now))
    }

    pub fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
        self.wanted = None;
        self.started = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_drawn_once_at_first_and_then_only_when_asked() {
        let start = Instant::now();
        let mut frames = Frames::default();
        assert!(frames.due(start));
        frames.drawn(start);
        assert!(!frames.due(start + Duration::from_secs(9)), "nothing changed, nothing is drawn");
        assert_eq!(frames.next(), None);
    }

    #[test]
    fn a_key_hastens_a_frame_that_news_had_asked_for() {
        let start = Instant::now();
        let mut frames = Frames::default();
        frames.drawn(start);
        frames.ask(FRAME);
        assert_eq!(frames.next(), Some(start + FRAME));
        frames.ask(FRAME_AFTER_INPUT);
        frames.ask(FRAME);
        assert!(!frames.due(start + Duration::from_millis(3)));
        assert!(frames.due(start + FRAME_AFTER_INPUT));
    }
}
