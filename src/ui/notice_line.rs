//! The word to the person at the edge of the screen, for as long as it stays.

use std::time::{Duration, Instant};

use super::areas::Areas;
use super::guard::KeyRefusal;
use super::layout::PaneId;
use super::pane::Notice;
use crate::model::event::Level;
use crate::view::{ChatEntry, SessionView};

/// How long a notice stays.
const NOTICE_TIME: Duration = Duration::from_secs(4);

/// The word to the person, and until when it stays.
#[derive(Debug, Default)]
pub(super) struct NoticeLine {
    shown: Option<(Notice, Instant)>,
    /// Entries of the chat that were looked at.
    entries: Option<usize>,
}

impl NoticeLine {
    /// Repeats the newest warning of the session where the person does not see the chat, such as why a
    /// wish was refused.
    pub(super) fn repeat_warning(&mut self, view: &SessionView, areas: &Areas, now: Instant) {
        let entries = &view.chat.entries;
        let known = self.entries.replace(entries.len()).unwrap_or(entries.len());
        let new = entries.get(known..).unwrap_or_default();
        let warning = new.iter().rev().find_map(|entry| match &**entry {
            ChatEntry::Notice { level: Level::Warning, notice } => Some(notice),
            _ => None,
        });
        if let Some(notice) = warning.filter(|_| !areas.shows(PaneId::Chat)) {
            self.tell(Notice::error(format!("{}: {}", notice.what, notice.why)), now);
        }
    }

    pub(super) fn tell(&mut self, notice: Notice, now: Instant) {
        self.shown = Some((notice, now + NOTICE_TIME));
    }

    /// Says why a deciding key has no effect, if there is a reason.
    pub(super) fn tell_refusal(&mut self, why: Option<KeyRefusal>, now: Instant) {
        if let Some(why) = why {
            self.tell(Notice::error(why.words()), now);
        }
    }

    pub(super) fn clear(&mut self) {
        self.shown = None;
    }

    /// Takes away what has been there long enough.
    pub(super) fn expire(&mut self, now: Instant) {
        self.shown.take_if(|(_, until)| now >= *until);
    }

    pub(super) fn get(&self) -> Option<&Notice> {
        self.shown.as_ref().map(|(notice, _)| notice)
    }

    /// Whether it says why a deciding key had no effect.
    pub(super) fn is_refusal(&self) -> bool {
        self.get().is_some_and(|notice| KeyRefusal::says(&notice.text))
    }

    /// When it goes.
    pub(super) fn until(&self) -> Option<Instant> {
        self.shown.as_ref().map(|(_, until)| *until)
    }
}
