//! Messages of the person that no agent gets to read, because the run ends before one is asked again.
//!
//! Must not decide what becomes of them: the person sends them again, or does not.

use std::sync::{Mutex, PoisonError};

use crate::engine::progress::RunProgress;
use crate::model::UserError;

/// Longest piece of a message that is repeated, in characters.
const LONGEST: usize = 80;

/// Of which run how many messages stood in a request.
#[derive(Debug, Default)]
pub(super) struct ReadMessages(Mutex<(u32, usize)>);

impl ReadMessages {
    /// Counts those that are there already as read: they stand in what an agent has been asked.
    pub fn of(progress: &RunProgress) -> Self {
        let read = Self::default();
        read.all(progress);
        read
    }

    /// A request is made, with all that was said so far.
    pub fn all(&self, progress: &RunProgress) {
        let read = (progress.runs(), progress.person_messages().len());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = read;
    }

    /// What the person has to know at the end of a run; `None`: everything was read.
    pub fn at_end(&self, progress: &RunProgress) -> Option<UserError> {
        let (run, read) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = if run == progress.runs() { read } else { 0 };
        let unread = progress.person_messages().get(read..)?;
        let (_, first) = unread.first()?;
        let what = match unread.len() {
            1 => "No agent has read your last message".to_owned(),
            count => format!("No agent has read your last {count} messages"),
        };
        let short: String = first.chars().take(LONGEST).collect();
        let rest = if short.len() < first.len() { "…" } else { "" };
        let why = format!("the run was over before one was asked again: “{short}{rest}”");
        let fix = "Send it again as the next request; ↑ in the empty composer brings it back.";
        Some(UserError::new(what, why, fix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Assets;
    use crate::engine::setup::EngineLimits;
    use crate::engine::team::Team;
    use crate::model::event::RunStart;
    use crate::model::{Event, PersonEvent, SessionEvent};

    fn wrote(text: &str) -> Event {
        Event::Person(PersonEvent::Wrote { to: None, text: text.to_owned() })
    }

    #[test]
    fn what_is_said_after_the_last_request_is_told_at_the_end_and_nothing_else() {
        let team = Team::load(&Assets::built_in(), "single", &crate::tools::known).unwrap();
        let mut progress = RunProgress::new(team, &EngineLimits::default());
        let read = ReadMessages::of(&progress);
        assert_eq!(read.at_end(&progress), None);
        progress.apply(&wrote("use pin 21"));
        read.all(&progress);
        assert_eq!(read.at_end(&progress), None, "it stood in a request");
        progress.apply(&wrote("and explain SDA"));
        let unread = read.at_end(&progress).unwrap();
        assert!(unread.why.ends_with("“and explain SDA”"), "{}", unread.why);
        progress.apply(&wrote(&"long ".repeat(40)));
        assert_eq!(read.at_end(&progress).unwrap().what, "No agent has read your last 2 messages");
        let start = RunStart {
            number: 2,
            task: "next".into(),
            team: "single".into(),
            why: String::new(),
            changed: Vec::new(),
        };
        progress.apply(&Event::Session(SessionEvent::RunStarted(Box::new(start))));
        assert_eq!(read.at_end(&progress), None, "the next run begins with nothing said");
        progress.apply(&wrote("early"));
        assert!(read.at_end(&progress).is_some(), "before its first request");
    }
}
