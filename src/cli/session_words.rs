//! What is said about a session in lists: what it is about, how it stands, when it was used.

use jiff::tz::TimeZone;

use crate::journal::{SessionState, SessionSummary};
use crate::model::{SessionOutcome, Timestamp};
use crate::text::sanitize;
use crate::view::plural;

/// What a session is about: its name if it has one or else its first request, and the last of several.
pub fn about(session: &SessionSummary) -> String {
    let first = session.start.as_ref().map(|start| start.task.as_str());
    let last = last_task(session);
    let words = match (&session.title, first, session.requests()) {
        (Some(title), _, 0 | 1) => format!("{title}: {last}"),
        (Some(title), _, requests) => format!("{title} · request {requests}: {last}"),
        (None, Some(first), 2..) => format!("{first} · request {}: {last}", session.requests()),
        (None, None, requests @ 2..) => format!("request {requests}: {last}"),
        (None, _, _) => last.to_owned(),
    };
    sanitize::line(&words).into_owned()
}

/// What was asked last, or why that is unknown.
pub fn last_task(session: &SessionSummary) -> &str {
    match (session.last_request(), &session.state) {
        (Some((task, _)), _) => task,
        (None, SessionState::Newer(_)) => "(made by a newer firmhand)",
        (None, _) => "(damaged)",
    }
}

/// How a session stands, and what waits in it.
pub fn state_with_waiting(session: &SessionSummary) -> String {
    let waits = what_waits(session).map_or_else(String::new, |waits| format!(", {waits}"));
    format!("{}{waits}", state_words(&session.state))
}

/// What waits for the person in a session; `None`: nothing.
pub fn what_waits(session: &SessionSummary) -> Option<String> {
    let changes = session.waiting.saturating_sub(session.questions);
    let what = [(changes, "change"), (session.questions, "question")].into_iter();
    let what = what.filter(|(count, _)| *count > 0);
    let what: Vec<String> = what.map(|(count, noun)| plural(count, noun)).collect();
    let verb = if session.waiting == 1 { "waits" } else { "wait" };
    (!what.is_empty()).then(|| format!("{} {verb}", what.join(", ")))
}

/// The same in few columns: what waits comes first, and no process is named.
pub fn state_in_short(session: &SessionSummary) -> String {
    let state = match &session.state {
        SessionState::Running(_) => "running".to_owned(),
        SessionState::Open(_) => "open".to_owned(),
        state => state_words(state),
    };
    match what_waits(session) {
        None => state,
        Some(waits) => format!("{waits} · {state}"),
    }
}

/// Those that wait for the person first, which a small screen would hide behind newer ones.
pub fn waiting_first(sessions: &[SessionSummary]) -> Vec<&SessionSummary> {
    let (waiting, others): (Vec<_>, Vec<_>) =
        sessions.iter().partition(|session| session.waiting > 0);
    [waiting, others].concat()
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
        SessionState::Newer(why) | SessionState::Unreadable(why) => {
            format!("cannot be read: {why}")
        }
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

#[cfg(test)]
mod tests {
    use crate::journal::{JournalFacts, LaterRequest};
    use crate::model::SessionId;

    use super::*;

    fn session(state: SessionState, later: Vec<LaterRequest>) -> SessionSummary {
        SessionSummary {
            id: SessionId::new("a"),
            title: None,
            state,
            facts: JournalFacts { later, ..JournalFacts::default() },
        }
    }

    #[test]
    fn a_session_is_about_what_was_asked_last_as_that_is_what_its_state_tells() {
        let of = |number, task: &str| LaterRequest {
            number,
            task: task.to_owned(),
            team: "single".to_owned(),
        };
        let later = vec![of(4, "Add a test"), of(5, "Why does it fail?")];
        let about = about(&session(SessionState::Ended(SessionOutcome::Stopped), later));
        assert_eq!(about, "request 5: Why does it fail?");
    }

    #[test]
    fn a_short_state_begins_with_what_waits_and_names_no_process() {
        let mut running = session(SessionState::Running(Some(8_483)), Vec::new());
        assert_eq!(state_in_short(&running), "running");
        running.facts.waiting = 4;
        assert_eq!(state_in_short(&running), "4 changes wait · running");
        running.state = SessionState::Unfinished;
        running.facts.questions = 1;
        assert_eq!(state_in_short(&running), "3 changes, 1 question wait · unfinished");
        running.facts.waiting = 1;
        assert_eq!(state_with_waiting(&running), "unfinished, 1 question waits");
    }

    #[test]
    fn sessions_that_wait_come_first_and_the_others_keep_their_order() {
        let of = |id: &str, waiting| {
            let session = session(SessionState::Unfinished, Vec::new());
            let facts = JournalFacts { waiting, ..session.facts };
            SessionSummary { id: SessionId::new(id), facts, ..session }
        };
        let all = [of("d", 0), of("c", 2), of("b", 0), of("a", 1)];
        let ids: Vec<&str> =
            waiting_first(&all).iter().map(|session| session.id.as_str()).collect();
        assert_eq!(ids, ["c", "a", "d", "b"]);
    }

    #[test]
    fn a_journal_of_a_newer_program_is_not_called_damaged() {
        let newer = session(SessionState::Newer("format 99".to_owned()), Vec::new());
        assert_eq!(about(&newer), "(made by a newer firmhand)");
        assert_eq!(state_words(&newer.state), "cannot be read: format 99");
        let damaged = session(SessionState::Unreadable("no".to_owned()), Vec::new());
        assert_eq!(about(&damaged), "(damaged)");
    }
}
