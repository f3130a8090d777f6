//! The one shape of answers, and the bounds they keep.

use serde_json::{Value, json};

use super::ToolError;
use crate::model::UserError;

/// Makes `{"ok": true, …}` of an object's fields.
#[must_use]
pub fn ok(fields: Value) -> Value {
    let mut answer = json!({ "ok": true });
    if let (Some(answer), Value::Object(fields)) = (answer.as_object_mut(), fields) {
        answer.extend(fields);
    }
    answer
}

impl ToolError {
    /// Makes an error.
    pub fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }

    /// The answer a model is given: `{"ok": false, "error": {code, message, hint?}}`.
    #[must_use]
    pub fn to_answer(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(error), false) = (error.as_object_mut(), self.hint.is_empty()) {
            error.insert("hint".to_owned(), Value::String(self.hint.clone()));
        }
        json!({ "ok": false, "error": error })
    }

    /// Tells a model what a person would be told.
    #[must_use]
    pub fn from_user_error(code: &'static str, error: &UserError) -> Self {
        Self::new(code, format!("{}: {}", error.what, error.why), error.fix.clone())
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
