//! `firmhand sessions`: lists, renames and deletes saved sessions; and what `firmhand` alone prints
//! where nobody can choose.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::format_args::FormatArgs;
use super::run::EventFormat;
use super::session_args::{ListArgs, SessionsArgs, SessionsCommand};
use super::session_words::{about, local, state_with_waiting, state_words};
use super::{input, report, session_report};
use crate::app::documentation;
use crate::journal::{
    self, JournalError, SessionDir, SessionState, SessionSummary, list_sessions, summary,
};
use crate::model::UserError;
use crate::text::cut::cut_at_word;
use crate::text::sanitize;

/// Sessions shown by `firmhand` alone.
const RECENT: usize = 5;

/// Characters of what a session is about, where it is named.
const MOST_ABOUT: usize = 80;

/// Does what was asked with the saved sessions.
///
/// # Errors
/// When the folder of sessions cannot be read, there is no such session, or it cannot be changed.
pub fn run(data: &Path, args: SessionsArgs) -> Result<ExitCode, UserError> {
    match args.command {
        None => list(data, &args.list)?,
        Some(SessionsCommand::List(list_args)) => list(data, &list_args)?,
        Some(SessionsCommand::Show { session, format }) => {
            let dir = find(data, session.as_deref())?;
            session_report::print(&dir, format.format())?;
        }
        Some(SessionsCommand::Rename { session, name, format }) => {
            let dir = SessionDir::find(data, &session)?;
            let name = journal::rename(&dir, &name)?;
            let words = match name.as_str() {
                "" => format!("{} no longer has a name of its own", dir.id()),
                name => format!("{} is now called {name}", dir.id()),
            };
            answer(&format, &words, &json!({"ok": true, "id": dir.id(), "title": name}))?;
        }
        Some(SessionsCommand::Delete { session, yes, format }) => {
            let dir = SessionDir::find(data, &session)?;
            if !yes && !is_deletion_confirmed(&dir)? {
                report::line(&format!("Nothing was deleted; session {} is kept.", dir.id()));
                return Ok(ExitCode::FAILURE);
            }
            let words = deleted(&dir);
            journal::delete(&dir).map_err(JournalError::of_deletion)?;
            documentation::forget_sessions(data)?;
            answer(&format, &words, &json!({"ok": true, "id": dir.id()}))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(format: &FormatArgs, words: &str, value: &Value) -> Result<(), UserError> {
    match format.format() {
        EventFormat::Json => report::json(value),
        EventFormat::Text => {
            report::line(words);
            Ok(())
        }
    }
}

/// Asks the person whether the session may go.
fn is_deletion_confirmed(dir: &SessionDir) -> Result<bool, UserError> {
    let what = format!("Cannot delete session {}", dir.id());
    if !std::io::stdin().is_terminal() {
        let why = "the deletion needs a confirmation, and the input is not a terminal";
        return Err(UserError::new(what, why, "Add `--yes` to delete it without a question."));
    }
    report::aside(&deletion(dir));
    report::prompt("Type yes to delete it; anything else keeps it: ");
    let typed = input::line().map_err(|error| UserError::from_cause(what, &error))?;
    Ok(typed.eq_ignore_ascii_case("yes"))
}

/// The session with what it is about, so that nobody deletes another one.
fn named(dir: &SessionDir) -> String {
    let words = about(&summary(dir));
    format!("Session {} (“{}”)", dir.id(), cut_at_word(&words, MOST_ABOUT))
}

/// The project of a session that stays when the session is deleted.
fn kept_project(dir: &SessionDir) -> Option<String> {
    let project = summary(dir).facts.start.map(|start| start.project)?;
    (!dir.project().is_dir()).then(|| sanitize::line(&project).into_owned())
}

/// What is lost with a session, in sentences.
pub(super) fn deletion(dir: &SessionDir) -> String {
    let named = named(dir);
    let lost = match (dir.project().is_dir(), kept_project(dir)) {
        (true, _) => "its record, its logs and the project in its folder".to_owned(),
        (false, Some(project)) => {
            format!("its record and its logs; the project in {project} stays")
        }
        (false, None) => "its record and its logs".to_owned(),
    };
    format!("{named} goes for ever: {lost}.")
}

/// What was deleted, once it is.
fn deleted(dir: &SessionDir) -> String {
    let named = named(dir);
    match (dir.project().is_dir(), kept_project(dir)) {
        (true, _) => format!("{named} is deleted, and the project in its folder with it."),
        (false, Some(project)) => format!("{named} is deleted. Its project stays in {project}."),
        (false, None) => format!("{named} is deleted."),
    }
}

fn list(data: &Path, args: &ListArgs) -> Result<(), UserError> {
    let mut sessions = list_sessions(data)?;
    let is_any = !sessions.is_empty();
    if let Some(words) = &args.search {
        sessions.retain_mut(|session| {
            // One that cannot be read is found by what its end tells.
            matches(session, words)
                || journal::complete_requests(data, session).is_ok() && matches(session, words)
        });
    }
    match (args.format.format(), sessions.is_empty()) {
        (EventFormat::Json, _) => return print_json(&sessions),
        (EventFormat::Text, false) => table(&sessions).iter().for_each(|row| report::line(row)),
        (EventFormat::Text, true) if is_any => report::line("No session has these words."),
        (EventFormat::Text, true) => {
            report::line("No sessions yet. Start one with `firmhand demo`.");
        }
    }
    Ok(())
}

/// Whether a session has all of the words, in any case.
fn matches(session: &SessionSummary, words: &str) -> bool {
    let start = session.start.as_ref();
    let about = start.map_or_else(String::new, |start| {
        format!("{} {} {}", start.task, start.team, start.project)
    });
    let title = session.title.as_deref().unwrap_or_default();
    let later: Vec<&str> = session.later.iter().map(|request| request.task.as_str()).collect();
    let (later, state) = (later.join(" "), state_with_waiting(session));
    let all = format!("{} {title} {about} {later} {state}", session.id);
    let all = all.to_lowercase();
    words.split_whitespace().all(|word| all.contains(&word.to_lowercase()))
}

/// One JSON object a line.
fn print_json(sessions: &[SessionSummary]) -> Result<(), UserError> {
    for session in sessions {
        let start = session.start.as_ref();
        report::json(&json!({
            "id": session.id,
            "title": session.title,
            "state": state_words(&session.state),
            "task": start.map(|start| &start.task),
            "team": start.map(|start| &start.team),
            "requests": session.requests(),
            "last_task": session.last_request().map(|(task, _)| task),
            "last_team": session.last_request().map(|(_, team)| team),
            "project": start.map(|start| &start.project),
            "started_at": session.started_at,
            "last_at": session.last_at,
            "records": session.last,
            "bytes": session.bytes,
            "waiting": session.waiting,
        }))?;
    }
    Ok(())
}

/// Prints the newest sessions and the commands to begin with.
///
/// # Errors
/// When the folder of sessions cannot be read.
pub fn print_overview(data: &Path) -> Result<(), UserError> {
    report::line("firmhand: supervise teams of agents that write ESP32 firmware\n");
    report::line("  firmhand demo           try a recorded run, without account or hardware");
    report::line("  firmhand new \"TASK\"     start a team on a task");
    report::line("  firmhand --help         everything else\n");
    let mut sessions = list_sessions(data)?;
    if sessions.is_empty() {
        return Ok(());
    }
    let more = sessions.len().saturating_sub(RECENT);
    sessions.truncate(RECENT);
    report::line("Recent sessions (`firmhand replay NAME`, `firmhand resume NAME`):");
    table(&sessions).iter().for_each(|row| report::line(row));
    if more > 0 {
        report::line(&format!("  and {more} more: `firmhand sessions`"));
    }
    Ok(())
}

fn table(sessions: &[SessionSummary]) -> Vec<String> {
    let rows: Vec<[String; 4]> = sessions
        .iter()
        .map(|session| {
            [
                session.id.to_string(),
                local(session.last_at),
                state_with_waiting(session),
                about(session),
            ]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    rows.iter()
        .map(|row| {
            let mut line = String::from(" ");
            for (cell, width) in row.iter().zip(widths) {
                line.push(' ');
                line.push_str(cell);
                line.push_str(&" ".repeat(width.saturating_sub(cell.width()) + 1));
            }
            line.push(' ');
            line.push_str(&row[3]);
            line
        })
        .collect()
}

/// The session of that name, or the newest.
///
/// # Errors
/// When there is none of that name, or none at all.
pub(super) fn find(data: &Path, id: Option<&str>) -> Result<SessionDir, UserError> {
    if let Some(id) = id {
        return Ok(SessionDir::find(data, id)?);
    }
    match list_sessions(data)?.first() {
        Some(newest) => Ok(SessionDir::find(data, newest.id.as_str())?),
        None => Err(UserError::new(
            "Cannot open a session",
            "no session was saved here yet",
            "Start one with `firmhand demo`.",
        )),
    }
}

/// The session of that name, or the one that can go on: of those that no program has open the newest
/// that is not over, or else the newest.
///
/// # Errors
/// As [`find`].
pub(super) fn find_to_resume(data: &Path, id: Option<&str>) -> Result<SessionDir, UserError> {
    if id.is_none() {
        let all = list_sessions(data)?;
        let is = |wanted: fn(&SessionState) -> bool| all.iter().find(|one| wanted(&one.state));
        let unfinished = is(|state| matches!(state, SessionState::Unfinished));
        let over = || is(|state| matches!(state, SessionState::Ended(_)));
        if let Some(session) = unfinished.or_else(over) {
            return Ok(SessionDir::find(data, session.id.as_str())?);
        }
    }
    find(data, id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalWriter;
    use crate::model::event::RunStart;
    use crate::model::{Event, SessionEvent, SessionOutcome, Timestamp};

    #[test]
    fn what_waits_goes_on_before_what_is_over_and_what_is_open_elsewhere_stays_there() {
        let data = tempfile::tempdir().unwrap();
        let session = |name: &str, at: i64| {
            let dir = SessionDir::create(data.path(), name, Timestamp(at)).unwrap();
            let mut writer = JournalWriter::create(&dir).unwrap();
            let start = RunStart {
                number: 1,
                task: name.to_owned(),
                team: "single".into(),
                why: String::new(),
                changed: Vec::new(),
            };
            let started = Event::Session(SessionEvent::RunStarted(Box::new(start)));
            writer.append(Timestamp(at), started).unwrap();
            (dir, writer)
        };
        let (waits, writer) = session("waits", 1_000);
        drop(writer);
        let (over, mut writer) = session("over", 2_000);
        let ended = SessionEvent::Ended { outcome: SessionOutcome::Completed };
        writer.append(Timestamp(3_000), Event::Session(ended)).unwrap();
        drop(writer);
        let (open, _writer) = session("open", 4_000);
        let id = |dir: &SessionDir| dir.id().clone();
        let of = |name: Option<&str>| id(&find_to_resume(data.path(), name).unwrap());
        assert_eq!(of(None), id(&waits));
        assert_eq!(of(Some(over.id().as_str())), id(&over));
        assert_eq!(id(&find(data.path(), None).unwrap()), id(&open), "a replay takes the newest");
        journal::delete(&waits).unwrap();
        assert_eq!(of(None), id(&over));
        journal::delete(&over).unwrap();
        assert_eq!(of(None), id(&open), "whoever opens it says why that cannot be");
    }

    #[test]
    fn whoever_deletes_a_session_reads_which_one_and_what_is_lost() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "wifi scan", Timestamp(0)).unwrap();
        std::fs::write(dir.journal(), "").unwrap();
        journal::rename(&dir, "Kitchen lamp").unwrap();
        let lost = deletion(&dir);
        assert!(lost.contains("(“Kitchen lamp: "), "{lost}");
        assert!(lost.contains("”) goes for ever: its record"), "{lost}");
        std::fs::create_dir(dir.project()).unwrap();
        assert!(deletion(&dir).contains("and the project in its folder"), "{}", deletion(&dir));
        assert!(deleted(&dir).contains("and the project in its folder with it"));
        let held = JournalError::Locked { session: dir.id().clone(), holder: Some(7) };
        let why = held.of_deletion().to_string();
        assert!(why.contains("Cannot delete") && why.contains("process 7"), "{why}");
    }
}
