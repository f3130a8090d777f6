//! The one shape of answers, and the bounds they keep.

use serde::Serialize;
use serde_json::{Value, json};

use super::Finish;
use super::error::ToolError;
use crate::model::{DecidedBy, Decision, Outcome, Settlement};

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

/// How the one proposal of a call is told of, once it is settled.
pub(super) struct OutcomeReport {
    /// The code when it did not come to pass, e.g. `not_sent`.
    pub code: &'static str,
    /// The fields when it did.
    pub done: Value,
    /// The fields when the person refused, whose words are added.
    pub refused: Value,
    /// What was found when the ground had changed meanwhile.
    pub stale: String,
    /// What to do then, and after an interruption.
    pub again: &'static str,
}

impl OutcomeReport {
    /// Makes the answer once the proposal is settled.
    pub(super) fn finish(self) -> Finish {
        Box::new(move |settlements| Box::pin(std::future::ready(self.of(&settlements))))
    }

    /// The answer to the call.
    ///
    /// # Errors
    /// When the effect failed, or nothing is known of it.
    pub(super) fn of(self, settlements: &[Settlement]) -> Result<Value, ToolError> {
        let Self { code, done, refused, stale, again } = self;
        let Some(Settlement { decision, outcome, .. }) = settlements.first() else {
            return Err(ToolError::new(code, "the proposal was not carried out", ""));
        };
        match outcome {
            Outcome::Applied => Ok(ok(done)),
            Outcome::Denied => {
                let mut answer = ok(refused);
                answer["rejected"] = words(decision).into();
                Ok(answer)
            }
            Outcome::Failed(error) => Err(ToolError::from_user_error(code, error)),
            Outcome::Stale { .. } => Err(ToolError::new(code, stale, again)),
            Outcome::Interrupted(why) => Err(ToolError::new(code, why.clone(), again)),
        }
    }
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
