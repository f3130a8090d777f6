//! What was asked for in a session, from its whole journal.
//!
//! Owns when the end of a journal does not tell all of it. Must not tell how a session stands.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::dir::SessionDir;
use super::error::JournalError;
use super::facts::LaterRequest;
use super::list::{SessionSummary, TAIL, later};
use super::parse::parse_line;
use super::tail::Wanted;
use crate::model::SessionId;

/// The event that a request begins with, by its name in journals.
const REQUEST: &[&str] = &["run_started"];

/// Whether it has each request of the session: of a long journal only the end was read.
fn has_all(session: &SessionSummary) -> bool {
    match session.later.first() {
        Some(first) => first.number <= 2,
        None => session.bytes <= TAIL,
    }
}

/// Reads the requests that the end of a journal does not tell, for a search through all of them.
///
/// # Errors
/// When the journal cannot be read; then it has those that it had.
pub fn complete_requests(data: &Path, session: &mut SessionSummary) -> Result<(), JournalError> {
    if !has_all(session) {
        session.facts.later = all_later(&SessionDir::find(data, session.id.as_str())?)?;
    }
    Ok(())
}

/// The requests of long sessions, each read once while a program runs.
#[derive(Debug, Default)]
pub struct KnownRequests(HashMap<SessionId, BTreeMap<u32, LaterRequest>>);

impl KnownRequests {
    /// As [`complete_requests`], of each of these; a session whose journal cannot be read keeps the
    /// requests that it has.
    pub fn complete(&mut self, data: &Path, sessions: &mut [SessionSummary]) {
        for session in sessions.iter_mut().filter(|session| !has_all(session)) {
            let newest = session.later.last().map(|request| request.number);
            let known = self.0.get(&session.id);
            if !known.is_some_and(|known| newest.is_none_or(|newest| known.contains_key(&newest))) {
                if complete_requests(data, session).is_err() {
                    continue;
                }
                let known = self.0.entry(session.id.clone()).or_default();
                known.extend(session.later.iter().map(|it| (it.number, it.clone())));
            } else if let Some(known) = known {
                session.facts.later = known.values().cloned().collect();
            }
        }
    }
}

/// The requests after the first one, oldest first.
fn all_later(dir: &SessionDir) -> Result<Vec<LaterRequest>, JournalError> {
    let path = dir.journal();
    let failed = || JournalError::io("read the session", &path);
    let mut reader = BufReader::new(File::open(&path).map_err(failed())?);
    let (wanted, mut found, mut line) = (Wanted::Events(REQUEST), Vec::new(), Vec::new());
    while reader.read_until(b'\n', &mut line).map_err(failed())? > 0 {
        if wanted.has(&line) {
            found.extend(parse_line(&line).ok());
        }
        line.clear();
    }
    Ok(later(&found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{JournalWriter, list_sessions};
    use crate::model::event::{LogEvent, RunStart};
    use crate::model::{Event, LogId, LogKind, SessionEvent, Timestamp};

    #[test]
    fn requests_in_the_middle_of_a_long_session_are_read_for_a_search() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "blink", Timestamp(0)).unwrap();
        let mut writer = JournalWriter::create(&dir).unwrap();
        for number in 2..=4 {
            let start = RunStart {
                number,
                task: format!("request {number}"),
                team: "single".into(),
                why: String::new(),
                changed: Vec::new(),
            };
            let started = Event::Session(SessionEvent::RunStarted(Box::new(start)));
            writer.append(Timestamp(1), started).unwrap();
            let log = LogId { kind: LogKind::Serial, number: 1 };
            for bytes in 0..if number == 4 { 1 } else { TAIL / 60 } {
                let grew = LogEvent::Grew { log, bytes, lines: bytes };
                writer.append(Timestamp(1), Event::Log(grew)).unwrap();
            }
        }
        drop(writer);
        let mut session = list_sessions(data.path()).unwrap().remove(0);
        let numbers =
            |session: &SessionSummary| session.later.iter().map(|it| it.number).collect::<Vec<_>>();
        assert_eq!(numbers(&session), [4]);
        complete_requests(data.path(), &mut session).unwrap();
        assert_eq!(numbers(&session), [2, 3, 4]);
        let (mut known, mut listed) =
            (KnownRequests::default(), list_sessions(data.path()).unwrap());
        known.complete(data.path(), &mut listed);
        assert_eq!(numbers(&listed[0]), [2, 3, 4]);
        let mut again = list_sessions(data.path()).unwrap();
        std::fs::remove_file(dir.journal()).unwrap();
        known.complete(data.path(), &mut again);
        assert_eq!(numbers(&again[0]), [2, 3, 4], "it was read once");
        complete_requests(data.path(), &mut session).unwrap();
        assert_eq!(numbers(&session), [2, 3, 4], "it has all of them already");
    }
}
