//! When a key may decide: the one rule for the review and dialogs.
//!
//! Owns what a deciding key is about, since when that is on screen, and what was typed since. Must
//! not know what the keys do.

use std::time::{Duration, Instant};

use crossterm::event::{KeyEvent, KeyEventKind};

use super::key::Key;
use crate::model::{ContentHash, ProposalId};

/// For this long after what is to be decided was drawn, no key decides.
pub const DEAD_TIME: Duration = Duration::from_millis(300);

/// The keyboard has to rest for this long once since that appeared: who types does not look.
pub const SILENCE: Duration = Duration::from_millis(400);

/// Keys closer together than this were not typed by a person. A deciding key takes effect when
/// nothing more came for this long.
pub const LOOK_AHEAD: Duration = Duration::from_millis(25);

/// Keys this close together were sent in one go.
const AT_ONCE: Duration = Duration::from_millis(2);

/// After pasted text, keys count again when there was no key for this long.
const PASTE_END: Duration = Duration::from_millis(100);

/// The same key this soon after its last press is held down: keyboards repeat faster than that.
const REPEAT: Duration = Duration::from_millis(150);

/// The same key this soon after it decided may be its first repeat: longer than the delay after
/// which keyboards begin to repeat.
const REPEAT_DELAY: Duration = Duration::from_millis(1100);

/// What may be a first repeat takes effect when no second one came for this long.
const REPEAT_LOOK_AHEAD: Duration = Duration::from_millis(130);

/// What a deciding key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A proposal on screen, with the hash of what is shown of it.
    Proposal {
        id: ProposalId,
        /// What is shown.
        hash: ContentHash,
        /// Whether it waits for a decision; else it can only be taken back.
        waits: bool,
        /// Whether its content is there.
        is_read: bool,
    },
    /// The dialog that was opened as the so-manieth.
    Dialog(u32),
}

/// How much care a deciding key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// What it decides on was looked at, with the keyboard at rest.
    Looked,
    /// It ends words that were typed for just this; it must only not be part of pasted text.
    Typed,
}

/// Why a key may not decide now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRefusal {
    /// What is to be decided has only just appeared or changed.
    TooSoon,
    /// Keys were typed ever since it appeared.
    Typing,
    /// The key may be held down.
    Held,
    /// The key came as part of pasted text.
    Pasted,
    /// Another key came before it took effect.
    Overtaken,
    /// What it was about changed before it took effect.
    Changed,
}

impl KeyRefusal {
    const ALL: [Self; 6] =
        [Self::TooSoon, Self::Typing, Self::Held, Self::Pasted, Self::Overtaken, Self::Changed];

    /// Whether these are the words of one.
    #[must_use]
    pub fn says(text: &str) -> bool {
        Self::ALL.into_iter().any(|refusal| refusal.words() == text)
    }

    /// Words for the person.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::TooSoon => "not decided: this just appeared · look, then press again",
            Self::Typing => {
                "not decided: you were typing when this appeared · pause, then press again"
            }
            Self::Held => "not decided: the key was held or pressed twice · press it again",
            Self::Pasted => {
                "not decided: several keys came at once, as if pasted · pause, press again"
            }
            Self::Overtaken => "not decided: another key came right after · press it again",
            Self::Changed => "not decided: this just changed · look, then press again",
        }
    }
}

/// Watches keys as they come.
#[derive(Debug, Default)]
pub struct Guard {
    subject: Option<Subject>,
    /// When it appeared or changed.
    since: Option<Instant>,
    /// When it was drawn, or more of it.
    drawn: Option<Instant>,
    /// Whether the keyboard was at rest since.
    quiet: bool,
    last: Option<Key>,
    last_at: Option<Instant>,
    /// The key that decided last, and when.
    decided: Option<(Key, Instant)>,
    held: bool,
    /// Whether other keys came between its appearance and the last one.
    typed: bool,
    /// Whether the last key belongs to pasted text, as far as that can be told.
    burst: bool,
    /// Whether it came in one go with the key before.
    at_once: bool,
    /// Whether that was found out by a deciding key, so that the rest of it does nothing.
    is_known: bool,
}

impl Guard {
    /// What a deciding key is about from now on. Tells whether that is something else now.
    pub fn look_at(&mut self, subject: Option<Subject>, now: Instant) -> bool {
        let is_new = self.subject != subject;
        if is_new {
            self.subject = subject;
            self.begin(now);
        }
        is_new
    }

    /// What is to be decided counts as having appeared only now.
    pub const fn begin(&mut self, now: Instant) {
        self.since = Some(now);
        self.drawn = None;
        self.quiet = false;
    }

    /// What a deciding key is about.
    #[must_use]
    pub const fn subject(&self) -> Option<Subject> {
        self.subject
    }

    /// Whether the keyboard was at rest since it appeared, or there is nothing to decide.
    #[must_use]
    pub const fn is_quiet(&self) -> bool {
        self.quiet || self.subject.is_none()
    }

    /// It was drawn as it was at `at`.
    pub fn drawn(&mut self, at: Instant) {
        if self.drawn.is_none() && self.subject.is_some() {
            self.drawn = Some(at);
        }
    }

    /// The last of it came in sight only now.
    pub fn completed(&mut self, now: Instant) {
        self.drawn = self.drawn.map(|_| now);
    }

    /// Whether it was not drawn yet.
    #[must_use]
    pub const fn waits_to_be_drawn(&self) -> bool {
        self.subject.is_some() && self.drawn.is_none()
    }

    /// From when on a key may decide, if no other comes before; `None`: nothing is drawn that
    /// could be decided.
    #[must_use]
    pub fn ready_at(&self) -> Option<Instant> {
        let alive = self.drawn? + DEAD_TIME;
        Some(if self.quiet { alive } else { alive.max(self.silent_at()?) })
    }

    /// When the keyboard will have been at rest long enough.
    fn silent_at(&self) -> Option<Instant> {
        Some(self.since.max(self.last_at)? + SILENCE)
    }

    /// Takes note of a key; call this for every one.
    pub fn watch(&mut self, event: &KeyEvent, now: Instant) {
        let key = Key::of(event);
        let gap = self.last_at.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        if self.subject.is_some() && self.silent_at().is_some_and(|at| now >= at) {
            self.quiet = true;
        }
        self.held = event.kind == KeyEventKind::Repeat || (self.last == Some(key) && gap < REPEAT);
        self.typed = self.last_at.is_some() && self.last_at > self.since;
        let goes_on = gap < LOOK_AHEAD || (self.burst && gap < PASTE_END);
        (self.burst, self.at_once) = (goes_on, gap < AT_ONCE);
        self.is_known &= goes_on;
        if goes_on {
            self.quiet = false;
        }
        (self.last, self.last_at) = (Some(key), Some(now));
    }

    /// Takes note of pasted text.
    pub const fn pasted(&mut self, now: Instant) {
        (self.last, self.last_at) = (None, Some(now));
        (self.burst, self.quiet) = (true, false);
    }

    /// Whether the key last watched may decide, and when it takes effect unless another key comes
    /// before.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&mut self, care: Care, now: Instant) -> Result<Instant, KeyRefusal> {
        let is_pasted = match care {
            Care::Looked => self.burst,
            Care::Typed => self.at_once,
        };
        if is_pasted {
            self.is_known = true;
            return Err(KeyRefusal::Pasted);
        }
        if self.held {
            self.quiet = false;
            return Err(KeyRefusal::Held);
        }
        if care == Care::Looked {
            let is_alive = self.drawn.is_some_and(|at| now >= at + DEAD_TIME);
            if !self.quiet && self.typed {
                return Err(KeyRefusal::Typing);
            }
            if !self.quiet || !is_alive {
                return Err(KeyRefusal::TooSoon);
            }
        }
        let may_repeat = self.decided.is_some_and(|(key, at)| {
            self.last == Some(key) && now.saturating_duration_since(at) < REPEAT_DELAY
        });
        Ok(now + if may_repeat { REPEAT_LOOK_AHEAD } else { LOOK_AHEAD })
    }

    /// Whether the last key is the rest of pasted text that began with a deciding key.
    #[must_use]
    pub const fn is_rest_of_paste(&self) -> bool {
        self.burst && self.is_known
    }

    /// Why a key that was about to take effect does not, now that another one was watched.
    #[must_use]
    pub const fn overtaken(&mut self) -> KeyRefusal {
        self.is_known = self.burst;
        match (self.burst, self.held) {
            (true, _) => KeyRefusal::Pasted,
            (false, true) => KeyRefusal::Held,
            (false, false) => KeyRefusal::Overtaken,
        }
    }

    /// A key has decided.
    pub fn note_decided(&mut self, key: Option<Key>, at: Instant) {
        self.decided = key.map(|key| (key, at));
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
