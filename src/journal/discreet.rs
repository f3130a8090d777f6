//! Records without the secrets that the program was given: none is ever written into a journal.
//!
//! What names a place on this machine stays as it is, because a session is taken up again by it.

use serde_json::Value;

use super::error::JournalError;
use crate::model::{Event, ProposalEvent, Record, SessionEvent};
use crate::text::redact::Redactor;

/// The record without secrets; `line` is its JSON. `None`: there is none in it.
///
/// # Errors
/// When the record cannot be read again without them.
pub(super) fn without_secrets(
    redactor: &Redactor,
    line: &[u8],
    record: &Record,
) -> Result<Option<Record>, JournalError> {
    if !redactor.finds(line) {
        return Ok(None);
    }
    let clean = |text: &mut String| *text = redactor.clean(text).into_owned();
    let mut record = record.clone();
    match &mut record.event {
        Event::Session(SessionEvent::Started(start)) => {
            [&mut start.task, &mut start.model, &mut start.toolchain].into_iter().for_each(clean);
        }
        Event::Proposal(ProposalEvent::Made(proposal)) => {
            clean(&mut proposal.reason);
            let mut checks = serde_json::to_value(&proposal.checks)?;
            redactor.clean_value(&mut checks);
            proposal.checks = serde_json::from_value(checks)?;
        }
        event => {
            let mut value = serde_json::to_value(&*event)?;
            clean_event(redactor, &mut value);
            *event = serde_json::from_value(value)?;
        }
    }
    Ok(Some(record))
}

/// Cleans what an event holds; its own name and those of its fields are no foreign text.
fn clean_event(redactor: &Redactor, event: &mut Value) {
    let Value::Object(named) = event else { return };
    for body in named.values_mut() {
        let Value::Object(fields) = body else { continue };
        for (name, field) in fields {
            match name.as_str() {
                // Where something is, and how it is had again.
                "path" | "files" | "change" | "port" | "provider" => {}
                // JSON of others, in which names are foreign text too.
                "args" | "result" => drop(redactor.clean_value(field)),
                _ => clean_texts(redactor, field),
            }
        }
    }
}

fn clean_texts(redactor: &Redactor, value: &mut Value) {
    match value {
        Value::String(text) => *text = redactor.clean(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_texts(redactor, item)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|item| clean_texts(redactor, item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{PersonEvent, TurnEvent};
    use serde_json::json;

    use super::*;
    use crate::model::event::SessionStart;
    use crate::model::{CallId, Seq, SessionId, Timestamp, TurnId, UserError};

    const KEY: &str = "sk-test-journal-0123456789";

    fn cleaned(event: Event) -> Option<Event> {
        let record = Record { v: Record::VERSION, seq: Seq(1), at: Timestamp(0), event };
        let line = serde_json::to_vec(&record).unwrap();
        let clean = without_secrets(&Redactor::new([KEY]), &line, &record).unwrap();
        clean.map(|record| record.event)
    }

    #[test]
    fn what_others_say_loses_secrets_and_places_stay() {
        let turn = TurnId(1);
        assert_eq!(
            cleaned(Event::Turn(TurnEvent::TextAdded { turn, text: "nothing".into() })),
            None
        );
        let text = |text: &str| Event::Turn(TurnEvent::TextAdded { turn, text: text.into() });
        assert_eq!(cleaned(text(&format!("a {KEY} b"))), Some(text("a ••• b")));
        let args = |key: &str| json!({ "path": key, key: [key, 1] });
        let called = |key: &str| {
            Event::Turn(TurnEvent::ToolCalled {
                turn,
                call: CallId(1),
                tool: "read_file".into(),
                args: args(key),
            })
        };
        assert_eq!(cleaned(called(KEY)), Some(called("•••")));
        let notice = |why: &str| {
            Event::Person(PersonEvent::Noticed {
                level: crate::model::event::Level::Error,
                notice: UserError::new("w", why, "f"),
            })
        };
        assert_eq!(cleaned(notice(KEY)), Some(notice("•••")));
        let start = |task: &str| {
            let text = |text: &str| text.to_owned();
            Event::Session(SessionEvent::Started(Box::new(SessionStart {
                id: SessionId::new("s"),
                task: text(task),
                team: text("t"),
                project: format!("/home/{KEY}"),
                model: text("m"),
                toolchain: text("v"),
                program: text("0"),
                parts: crate::model::event::SessionParts::default(),
            })))
        };
        assert_eq!(cleaned(start(KEY)), Some(start("•••")), "the folder is found again");
    }
}
