//! Answers to calls of an earlier start of the program, made from the recorded proposals alone.
//!
//! The call itself is not made again: the project may hold what it wished for already. Must not
//! look at the disk.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::answer::{self, words};
use super::error::ToolError;
use super::report::Report;
use crate::model::{BlobSource, Outcome, ProjectPath, Proposal, Settlement};

/// Makes a tool's answer from what became of its drafts.
pub type Finish =
    Box<dyn FnOnce(Vec<Settlement>) -> BoxFuture<'static, Result<Value, ToolError>> + Send>;

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
            Outcome::Applied => Ok(answer::ok(done)),
            Outcome::Denied => {
                let mut answer = answer::ok(refused);
                answer["rejected"] = words(decision).into();
                Ok(answer)
            }
            Outcome::Failed(error) => Err(ToolError::from_user_error(code, error)),
            Outcome::Stale { .. } => Err(ToolError::new(code, stale, again)),
            Outcome::Interrupted(why) => Err(ToolError::new(code, why.clone(), again)),
        }
    }
}

/// The files of proposals, in their order.
pub(super) fn paths(recorded: &[Proposal]) -> Vec<ProjectPath> {
    recorded.iter().filter_map(|proposal| proposal.change.path().cloned()).collect()
}

/// What the file of a proposal held before; empty for a new file, `None` when it is lost.
pub(super) fn base(proposal: &Proposal, contents: &dyn BlobSource) -> Option<Vec<u8>> {
    match proposal.change.before() {
        Some(before) => contents.blob(&before.hash).ok().map(|held| held.to_vec()),
        None => Some(Vec::new()),
    }
}

/// A `Finish` that is there at once.
pub(super) fn ready(finish: Finish) -> BoxFuture<'static, Finish> {
    Box::pin(std::future::ready(finish))
}

/// The answer that fits any proposals: what was done, what was rejected, and what went wrong.
#[must_use]
pub fn plain_finish(recorded: &[Proposal]) -> Finish {
    let names: Vec<String> = recorded.iter().map(name).collect();
    Box::new(move |settlements| Box::pin(async move { Ok(report(&names, &settlements)) }))
}

fn name(proposal: &Proposal) -> String {
    let change = &proposal.change;
    match (change.path(), change.board()) {
        (Some(path), _) => path.to_string(),
        (None, Some(board)) => format!("{} {}", change.kind(), board.label),
        (None, None) => change.kind().to_owned(),
    }
}

fn report(names: &[String], settlements: &[Settlement]) -> Value {
    let report = Report::of(names, settlements);
    let fields = json!({ "done": report.done, "rejected": report.rejected });
    report.answer("done", fields)
}
