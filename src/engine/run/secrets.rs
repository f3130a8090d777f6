//! Keeps the person's secrets out of what tools answer and out of what a session keeps.
//!
//! A tool may come upon a key in a file of the project. No model is told it; and a file that holds
//! one is not changed through the session, which would keep its content for the diff and for undo.

use serde_json::Value;

use crate::model::{Draft, DraftChange};
use crate::provider::Provider;
use crate::tools::ToolError;

/// Takes secrets out of every text of an answer.
pub(super) fn redact(provider: &dyn Provider, value: &mut Value) {
    match value {
        Value::String(text) => *text = provider.redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(provider, item)),
        Value::Object(fields) => fields.values_mut().for_each(|item| redact(provider, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Why these drafts cannot be proposed, should a file of theirs hold a secret.
pub(super) fn secret_in(provider: &dyn Provider, drafts: &[Draft]) -> Option<ToolError> {
    let is_secret = |content: &[u8]| {
        let text = String::from_utf8_lossy(content);
        provider.redact(&text) != text
    };
    let found = drafts.iter().find_map(|draft| match &draft.change {
        DraftChange::Save { path, base, content } => {
            let base = base.as_deref().unwrap_or_default();
            (is_secret(base) || is_secret(content)).then_some(path)
        }
        DraftChange::Insert { path, base, content } => {
            (is_secret(base) || is_secret(content)).then_some(path)
        }
        DraftChange::Delete { path, base } => is_secret(base).then_some(path),
        DraftChange::Flash(_)
        | DraftChange::Erase(_)
        | DraftChange::Send(_)
        | DraftChange::Read(_)
        | DraftChange::Nvs(_) => None,
    });
    let message = format!("`{}` holds a key or a password of the person", found?);
    let hint = "Leave that file alone and ask the person to change it, or to move the secret.";
    Some(ToolError::new("holds_secret", message, hint))
}
