//! Answers to calls of an earlier start of the program, made from the recorded proposals alone.
//!
//! The call itself is not made again: the project may hold what it wished for already. Must not
//! look at the disk.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::error::ToolError;
use super::report::Report;
use crate::model::{BlobSource, ProjectPath, Proposal, Settlement};

/// Makes a tool's answer from what became of its drafts.
pub type Finish =
    Box<dyn FnOnce(Vec<Settlement>) -> BoxFuture<'static, Result<Value, ToolError>> + Send>;

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
