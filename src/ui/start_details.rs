//! What the start screen tells of the row that is turned to, where there is room beside the list.
//!
//! Words only; how they look is the screen's.

use crate::ui::start_facts::{StartFacts, StartSession};
use crate::ui::start_rows::StartRow;

/// What something is, and the words.
type Words = Vec<(&'static str, String)>;

/// A title and what there is to tell of a row; `None`: its own line says all.
pub(super) fn of(row: StartRow, facts: &StartFacts) -> Option<(&'static str, Words)> {
    let mut words = match row {
        StartRow::Session(place) => {
            let session = facts.sessions.get(place)?;
            return Some(("Session", of_session(session)));
        }
        StartRow::Example(place) => {
            let example = facts.examples.get(place)?;
            vec![
                ("team", example.team.clone()),
                ("needs", example.note.clone()),
                ("task", example.task.clone()),
            ]
        }
        StartRow::Demo => vec![("task", facts.demo.clone())],
        StartRow::Project(place) => {
            let project = facts.projects.get(place)?;
            let sessions = facts.sessions.iter().filter(|session| session.project == *project);
            let tasks = sessions.take(5).map(|session| ("session", session.task.clone()));
            std::iter::once(("folder", project.clone())).chain(tasks).collect()
        }
        StartRow::HealthLine(place) => {
            let line = facts.findings.get(place)?;
            vec![("found", line.detail.clone()), ("fix", line.fix.clone())]
        }
        _ => return None,
    };
    words.retain(|(_, text)| !text.is_empty());
    let title = match row {
        StartRow::Example(_) => "Example",
        StartRow::Demo => "Demo",
        StartRow::Project(_) => "Project",
        _ => "State",
    };
    Some((title, words))
}

/// What was asked last, which that is, and where, by whom and how often; what the row of the list has
/// anyway is left out.
pub(super) fn task_and_rest(session: &StartSession) -> (&'static str, &str, String) {
    let (asked, requests) = match session.requests {
        0 | 1 => ("task", None),
        requests => ("last request", Some(format!("{requests} requests"))),
    };
    let team = Some(format!("team {}", session.team)).filter(|_| !session.team.is_empty());
    let project = Some(format!("project {}", session.project));
    let project = project.filter(|_| !session.project.is_empty());
    let name = Some(format!("name {}", session.name));
    let parts = requests.into_iter().chain(team).chain(project).chain(name);
    let rest: Vec<String> = parts.collect();
    (asked, &session.task, rest.join(" · "))
}

/// What was asked last and how that came out, before what the session began with.
fn of_session(session: &StartSession) -> Words {
    let (asked, requests, first) = match session.requests {
        0 | 1 => ("task", String::new(), ""),
        requests => {
            let first = session.earlier.first().map_or("", String::as_str);
            ("last request", requests.to_string(), first)
        }
    };
    let words = [
        ("project", session.project.clone()),
        ("team", session.team.clone()),
        (asked, session.task.clone()),
        ("state", session.state.clone()),
        ("requests", requests),
        ("first", first.to_owned()),
        ("name", session.name.clone()),
    ];
    words.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}
