//! What became of proposed files, in words for the model that wished for them.

use serde::Serialize;
use serde_json::{Value, json};

use super::answer::words;
use super::{ToolError, answer};
use crate::model::{DecidedBy, Outcome, Settlement};

/// Files by what became of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    /// Paths of those that were done.
    pub(super) done: Vec<Value>,
    /// Those that were rejected, with the words.
    pub(super) rejected: Vec<Value>,
    /// Those that went wrong, with the cause.
    pub(super) failed: Vec<Value>,
    of: usize,
}

impl Report {
    /// Sorts settlements; `names` are those of the drafts in their order.
    pub(super) fn of<N: Serialize>(names: &[N], settlements: &[Settlement]) -> Self {
        let mut report = Self { of: names.len(), ..Self::default() };
        for (name, settlement) in names.iter().zip(settlements) {
            report.add(&json!(name), settlement);
        }
        report
    }

    fn add(&mut self, path: &Value, settlement: &Settlement) {
        match &settlement.outcome {
            Outcome::Applied => self.done.push(path.clone()),
            Outcome::Denied => {
                let reason = words(&settlement.decision);
                let mut rejected = json!({ "file_name": path, "reason": reason });
                if matches!(settlement.decision.by, DecidedBy::Nobody(_)) {
                    rejected[answer::UNDECIDED] = true.into();
                }
                self.rejected.push(rejected);
            }
            Outcome::Stale { .. } => self.failed.push(json!({
                "file_name": path, "why": "the file was changed in the meantime; read it again",
            })),
            Outcome::Failed(error) => {
                self.failed.push(json!({ "file_name": path, "why": error.to_string() }));
            }
            Outcome::Interrupted(why) => {
                self.failed.push(json!({ "file_name": path, "why": why }));
            }
        }
    }

    /// Takes over what was rejected or failed in another report.
    pub(super) fn take(&mut self, other: Self) {
        self.rejected.extend(other.rejected);
        self.failed.extend(other.failed);
        self.of += other.of;
    }

    /// Makes the answer of `fields`, and of `failed` with an error where there is one; `verb` is
    /// what should have been done, e.g. `saved`.
    pub(super) fn answer(self, verb: &'static str, fields: Value) -> Value {
        if self.failed.is_empty() {
            return answer::ok(fields);
        }
        let code = match verb {
            "saved" => "not_saved",
            "deleted" => "not_deleted",
            "inserted" => "not_inserted",
            _ => "not_applied",
        };
        let error = ToolError::new(
            code,
            format!("{} of {} files could not be {verb}", self.failed.len(), self.of),
            "See `failed` for the cause of each.",
        );
        let mut refusal = error.to_answer_with(fields);
        refusal["failed"] = json!(self.failed);
        refusal
    }
}
