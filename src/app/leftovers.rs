//! Clears up in a project what earlier runs of the program left in it when they were killed.
//!
//! Owns which sessions are asked: those of the same folder that no other program runs now.

use std::path::Path;

use crate::gate::{discard_unnamed, leftovers, settle_leftovers};
use crate::journal::{SessionDir, SessionState, list_sessions};
use crate::model::event::Level;
use crate::model::{Event, Ledger, PersonEvent, UserError};
use crate::workspace::ProjectDir;

/// Settles what is left, by the journals of `own` and of the other sessions under `data`. Gives
/// what the person has to know. What cannot be read, and a displaced file that no journal names, stays as
/// it is; a content that was never put in place goes, unless another session runs here.
pub(super) fn clear_up(data: &Path, own: &SessionDir, project: &ProjectDir) -> Vec<UserError> {
    let mut left = leftovers(project);
    if left.is_empty() {
        return Vec::new();
    }
    let mut notices = settle_leftovers(project, &mut left, own).unwrap_or_default();
    let sessions = list_sessions(data);
    // Who cannot be listed may run.
    let mut is_alone = sessions.is_ok();
    for summary in sessions.unwrap_or_default() {
        let root = summary.start.as_ref().map(|start| start.project.as_str());
        let is_here = root.is_some_and(|root| Path::new(root) == project.root());
        if summary.id == *own.id() || !is_here || left.is_empty() {
            continue;
        }
        if matches!(summary.state, SessionState::Running(_) | SessionState::Open(_)) {
            is_alone = false;
            continue;
        }
        let Ok(dir) = SessionDir::find(data, &summary.id.to_string()) else { continue };
        notices.extend(settle_leftovers(project, &mut left, &dir).unwrap_or_default());
    }
    if is_alone {
        discard_unnamed(project, &left);
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
