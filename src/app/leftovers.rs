//! Clears up in a project what earlier runs of the program left in it when they were killed.
//!
//! Owns which sessions are asked: those of the same folder that no other program runs now.

use std::path::Path;

use crate::gate::{leftovers, settle_leftovers};
use crate::journal::{SessionDir, SessionState, list_sessions};
use crate::model::event::Level;
use crate::model::{Event, Ledger, PersonEvent, UserError};
use crate::workspace::ProjectDir;

/// Settles what is left, by the journals of `own` and of the other sessions under `data`. Gives
/// what the person has to know; what cannot be read, and what no journal names, stays as it is.
pub(super) fn clear_up(data: &Path, own: &SessionDir, project: &ProjectDir) -> Vec<UserError> {
    let mut left = leftovers(project);
    if left.is_empty() {
        return Vec::new();
    }
    let mut notices = settle_leftovers(project, &mut left, own).unwrap_or_default();
    for summary in list_sessions(data).unwrap_or_default() {
        let is_free = !matches!(summary.state, SessionState::Running(_) | SessionState::Open(_))
            && summary.id != *own.id();
        let root = summary.start.as_ref().map(|start| start.project.as_str());
        let is_here = root.is_some_and(|root| Path::new(root) == project.root());
        if left.is_empty() || !is_free || !is_here {
            continue;
        }
        let Ok(dir) = SessionDir::find(data, &summary.id.to_string()) else { continue };
        notices.extend(settle_leftovers(project, &mut left, &dir).unwrap_or_default());
    }
    notices
}

/// Records what the person has to know.
pub(super) fn tell_all(ledger: &dyn Ledger, notices: Vec<UserError>) -> Result<(), UserError> {
    for notice in notices {
        ledger.record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))?;
    }
    Ok(())
}
