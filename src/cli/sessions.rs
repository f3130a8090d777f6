//! `firmhand sessions`, and what `firmhand` alone shows: the saved sessions as a table.

use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::report;
use crate::journal::{SessionState, SessionSummary, list_sessions};
use crate::model::{SessionOutcome, Timestamp, UserError};
use crate::text::sanitize;

/// Sessions shown by `firmhand` alone.
const RECENT: usize = 5;

/// Prints all sessions, newest first.
///
/// # Errors
/// When the folder of sessions cannot be read.
pub fn print_table(data: &Path) -> Result<(), UserError> {
    let sessions = list_sessions(data)?;
    if sessions.is_empty() {
        report::line("No sessions yet. Start one with `firmhand demo`.");
    } else {
        table(&sessions).iter().for_each(|row| report::line(row));
    }
    Ok(())
}

/// Prints all sessions, newest first, as one JSON object a line.
///
/// # Errors
/// When the folder of sessions cannot be read.
pub fn print_json(data: &Path) -> Result<(), UserError> {
    for session in list_sessions(data)? {
        let start = session.start.as_ref();
        report::json(&json!({
            "id": session.id,
            "state": state_words(&session.state),
            "task": start.map(|start| &start.task),
            "team": start.map(|start| &start.team),
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
            let task = session.start.as_ref().map_or("(unreadable)", |start| start.task.as_str());
            [
                session.id.to_string(),
                local(session.last_at),
                state_with_waiting(session),
                sanitize::line(task).into_owned(),
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

/// How a session stands, and how many proposals wait in it.
pub(super) fn state_with_waiting(session: &SessionSummary) -> String {
    let waiting = match session.waiting {
        0 => String::new(),
        n => format!(", {n} waiting"),
    };
    format!("{}{waiting}", state_words(&session.state))
}

fn state_words(state: &SessionState) -> String {
    match state {
        SessionState::Running(Some(pid)) => format!("running (process {pid})"),
        SessionState::Running(None) => "running".to_owned(),
        SessionState::Ended(SessionOutcome::Completed) => "completed".to_owned(),
        SessionState::Ended(SessionOutcome::Failed(_)) => "failed".to_owned(),
        SessionState::Ended(SessionOutcome::Stopped) => "stopped".to_owned(),
        SessionState::Unfinished => "unfinished".to_owned(),
        SessionState::Unreadable(why) => format!("unreadable: {why}"),
    }
}

pub(super) fn local(at: Timestamp) -> String {
    if at == Timestamp(0) {
        return String::new();
    }
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| String::new(),
        |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
