//! When a key may decide: not in the first moment, not when held down, not when pasted.

use std::time::{Duration, Instant};

use crossterm::event::{KeyEvent, KeyEventKind};

use super::key::Key;

/// For this long after what is to be decided appears or changes, no key decides.
pub const DEAD_TIME: Duration = Duration::from_millis(300);

/// Keys closer together than this were not typed by a person.
const BURST: Duration = Duration::from_millis(2);

/// After a burst, keys count again when there was no key for this long.
const BURST_END: Duration = Duration::from_millis(100);

/// The same key this soon after its last press is held down: keyboards repeat faster than that.
const REPEAT: Duration = Duration::from_millis(150);

/// The same key this soon after it decided may be its first repeat: longer than the delay after
/// which keyboards begin to repeat.
const REPEAT_DELAY: Duration = Duration::from_millis(800);

/// Why a key may not decide now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// What is to be decided has only just appeared or changed.
    TooSoon,
    /// The key may be held down.
    Held,
    /// The key came as part of pasted text.
    Pasted,
}

impl Refusal {
    /// Words for the person.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::TooSoon => "not decided: this has only just appeared · look, then press again",
            Self::Held => "not decided: the key was held or pressed twice · press it again",
            Self::Pasted => "not decided: keys this fast look like pasted text",
        }
    }
}

/// Watches keys as they come.
#[derive(Debug, Default)]
pub struct Guard {
    dead_until: Option<Instant>,
    last: Option<(Key, Instant)>,
    /// The key that decided last, and when.
    decided: Option<(Key, Instant)>,
    held: bool,
    burst: bool,
}

impl Guard {
    /// What is to be decided appeared or changed.
    pub fn arm(&mut self, now: Instant) {
        self.dead_until = Some(now + DEAD_TIME);
    }

    /// When the moment in which no key decides is over, if it was not at `now`.
    #[must_use]
    pub fn alive_at(&self, now: Instant) -> Option<Instant> {
        self.dead_until.filter(|until| now < *until)
    }

    /// Takes note of a key; call this for every one.
    pub fn watch(&mut self, event: &KeyEvent, now: Instant) {
        let key = Key::of(event);
        let (same, gap) = match self.last {
            Some((last, at)) => (last == key, now.saturating_duration_since(at)),
            None => (false, Duration::MAX),
        };
        let first_repeat = self.decided.is_some_and(|(last, at)| {
            last == key && now.saturating_duration_since(at) < REPEAT_DELAY
        });
        self.held = event.kind == KeyEventKind::Repeat || (same && gap < REPEAT) || first_repeat;
        self.burst = gap < BURST || (self.burst && gap < BURST_END);
        self.last = Some((key, now));
    }

    /// Whether the key last watched may decide; if so, it counts as having decided.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&mut self, now: Instant) -> Result<(), Refusal> {
        if self.burst {
            Err(Refusal::Pasted)
        } else if self.held {
            Err(Refusal::Held)
        } else if self.dead_until.is_some_and(|until| now < until) {
            Err(Refusal::TooSoon)
        } else {
            self.decided = self.last.map(|(key, _)| (key, now));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn press(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
    }

    /// Presses keys at these milliseconds and tells what became of the last.
    fn last_of(guard: &mut Guard, start: Instant, keys: &[(char, u64)]) -> Result<(), Refusal> {
        let mut result = Ok(());
        for (key, at) in keys {
            let now = start + Duration::from_millis(*at);
            guard.watch(&press(*key), now);
            result = guard.check(now);
        }
        result
    }

    #[test]
    fn keys_are_dead_for_a_moment_after_a_proposal_appears() {
        let start = Instant::now();
        let mut guard = Guard::default();
        guard.arm(start);
        assert_eq!(last_of(&mut guard, start, &[('a', 299)]), Err(Refusal::TooSoon));
        let mut guard = Guard::default();
        guard.arm(start);
        assert_eq!(last_of(&mut guard, start, &[('a', 300)]), Ok(()));
    }

    #[test]
    fn a_key_held_down_decides_once() {
        let start = Instant::now();
        for (delay, every) in [(250, 33), (660, 33), (500, 100)] {
            let repeats = (delay..3000).step_by(every);
            let held: Vec<(char, u64)> =
                [0].into_iter().chain(repeats).map(|at| ('a', at)).collect();
            for until in 1..held.len() {
                let result = last_of(&mut Guard::default(), start, &held[..=until]);
                assert_eq!(result, Err(Refusal::Held), "{delay} {every} {until}");
            }
        }
        let rhythm = [('a', 0), ('a', 500), ('a', 1000)];
        assert_eq!(last_of(&mut Guard::default(), start, &rhythm), Ok(()), "pressed, not held");
        assert_eq!(last_of(&mut Guard::default(), start, &[('a', 0), ('a', 900)]), Ok(()));
        let mut guard = Guard::default();
        guard.watch(&KeyEvent { kind: KeyEventKind::Repeat, ..press('a') }, start);
        assert_eq!(guard.check(start), Err(Refusal::Held));
    }

    #[test]
    fn pasted_keys_never_decide() {
        let start = Instant::now();
        let burst = [('b', 0), ('c', 1), ('a', 2)];
        assert_eq!(last_of(&mut Guard::default(), start, &burst), Err(Refusal::Pasted));
        let slow_end = [('b', 0), ('c', 1), ('a', 60)];
        assert_eq!(last_of(&mut Guard::default(), start, &slow_end), Err(Refusal::Pasted));
        let typed = [('b', 0), ('c', 1), ('a', 400)];
        assert_eq!(last_of(&mut Guard::default(), start, &typed), Ok(()));
    }
}
