//! What is said about a session in lists: what it is about, how it stands, when it was used.

use jiff::tz::TimeZone;

use crate::journal::{SessionState, SessionSummary};
use crate::model::{SessionOutcome, Timestamp};
use crate::text::sanitize;

/// What a session is about: its name, or its task.
pub fn about(session: &SessionSummary) -> String {
    let task = || session.start.as_ref().map_or("(damaged)", |start| start.task.as_str());
    sanitize::line(session.title.as_deref().unwrap_or_else(task)).into_owned()
}

/// How a session stands, and how many proposals wait in it.
pub fn state_with_waiting(session: &SessionSummary) -> String {
    let waiting = match session.waiting {
        0 => String::new(),
        n => format!(", {n} waiting"),
    };
    format!("{}{waiting}", state_words(&session.state))
}

/// How a session stands.
pub fn state_words(state: &SessionState) -> String {
    match state {
        SessionState::Running(Some(pid)) => format!("running (process {pid})"),
        SessionState::Running(None) => "running".to_owned(),
        SessionState::Open(Some(pid)) => format!("open (process {pid})"),
        SessionState::Open(None) => "open".to_owned(),
        SessionState::Ended(SessionOutcome::Completed) => "completed".to_owned(),
        SessionState::Ended(SessionOutcome::Failed(_)) => "failed".to_owned(),
        SessionState::Ended(SessionOutcome::Stopped) => "stopped".to_owned(),
        SessionState::Unfinished => "unfinished".to_owned(),
        SessionState::Unreadable(why) => format!("cannot be read: {why}"),
    }
}

/// A moment in local time, to the minute; empty when it is unknown.
pub fn local(at: Timestamp) -> String {
    if at == Timestamp(0) {
        return String::new();
    }
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| String::new(),
        |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
