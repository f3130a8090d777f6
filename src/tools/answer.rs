//! The one shape of answers, and the bounds they keep.

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::{DecidedBy, Decision};

/// The field of a rejected file that nobody decided on: the run ended first.
pub(super) const UNDECIDED: &str = "undecided";

/// Makes `{"ok": true, …}` of an object's fields.
#[must_use]
pub fn ok(fields: Value) -> Value {
    let mut answer = json!({ "ok": true });
    if let (Some(answer), Value::Object(fields)) = (answer.as_object_mut(), fields) {
        answer.extend(fields);
    }
    answer
}

/// Adds a field where there is something to say in it.
pub(super) fn set(fields: &mut Value, name: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        fields[name] = json!(value);
    }
}

/// A list that says something.
pub(super) fn filled<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

/// Why something was rejected, in the words of whoever did.
pub(super) fn words(decision: &Decision) -> String {
    let given = decision.verdict.words();
    match &decision.by {
        DecidedBy::Person if given.is_empty() => "rejected without a reason".to_owned(),
        DecidedBy::Person => given.to_owned(),
        DecidedBy::Policy(rule) => format!("a rule forbids it: {rule}"),
        DecidedBy::Nobody(why) => why.clone(),
    }
}

/// Cuts `text` to at most `limit` bytes at the end of a line where there is one; returns what is
/// left and how many bytes are gone.
#[must_use]
pub fn cut(text: &str, limit: usize) -> (&str, usize) {
    if text.len() <= limit {
        return (text, 0);
    }
    let end = (0..=limit).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let kept = text.get(..end).unwrap_or_default();
    let kept = match kept.rfind('\n') {
        Some(line_end) => kept.get(..=line_end).unwrap_or(kept),
        None => kept,
    };
    (kept, text.len() - kept.len())
}
