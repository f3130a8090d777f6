//! `firmhand examples`: the tasks that ship.

use super::report;
use super::run::EventFormat;
use crate::config::{Assets, Example};
use crate::model::UserError;

/// Prints the example library.
///
/// # Errors
/// When one of its files is wrong.
pub fn print(assets: &Assets, form: EventFormat) -> Result<(), UserError> {
    for example in Example::all(assets)? {
        match form {
            EventFormat::Json => report::json(&serde_json::json!({
                "name": example.name,
                "title": example.title,
                "team": example.team,
                "task": example.task,
                "needs": example.needs,
                "after": example.after,
                "recorded": example.is_recorded,
            }))?,
            EventFormat::Text => {
                let note = example.note();
                let note = if note.is_empty() { note } else { format!("  ({note})") };
                let (name, team, title) = (example.name, example.team, example.title);
                report::line(&format!("{name:<20} {team:<16} {title}{note}"));
            }
        }
    }
    Ok(())
}
