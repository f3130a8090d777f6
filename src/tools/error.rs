//! Why a tool could not do as asked.

use serde_json::{Value, json};

use crate::model::UserError;

/// Why a tool could not do as asked, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// A stable word in snake_case, e.g. `bad_arguments`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do instead; empty when unknown.
    pub hint: String,
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
        if !self.hint.is_empty() {
            error["hint"] = json!(self.hint);
        }
        json!({ "ok": false, "error": error })
    }

    /// [`ToolError::to_answer`] with more that is known.
    #[must_use]
    pub fn to_answer_with(&self, mut fields: Value) -> Value {
        let mut refusal = self.to_answer();
        if let (Some(refusal), Some(fields)) = (refusal.as_object_mut(), fields.as_object_mut()) {
            refusal.append(fields);
        }
        refusal
    }

    /// Tells a model what a person would be told.
    #[must_use]
    pub fn from_user_error(code: &'static str, error: &UserError) -> Self {
        Self::new(code, format!("{}: {}", error.what, error.why), error.fix.clone())
    }
}
