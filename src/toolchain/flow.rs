//! What all builds by other programs share: one runs, its output goes into the log and is searched
//! for findings.

use std::path::Path;

use super::BuildSink;
use super::diagnostics::Gather;
use super::process::{self, ProcessEnd, ProcessSpec};
use crate::model::Diagnostic;

/// Most of the output of a program that answers a question, in bytes.
pub(super) const MOST_ANSWER: usize = 64 << 20;

/// Runs `job` and says how it ended and what was found in its output. `watch` takes the output too,
/// for progress and for what only this program says.
///
/// # Errors
/// When it cannot be started or waited for.
pub(super) async fn build(
    job: ProcessSpec,
    project: &Path,
    sink: &dyn BuildSink,
    mut watch: impl FnMut(&[u8]),
) -> std::io::Result<(ProcessEnd, Vec<Diagnostic>)> {
    let mut gather = Gather::new(project);
    let ended = process::run(job, |bytes| {
        sink.output(bytes);
        watch(bytes);
        gather.push(bytes);
    })
    .await?;
    // Searching long output takes a moment. It ends without a result only when the program ends.
    let found = tokio::task::spawn_blocking(move || match ended {
        ProcessEnd::Badly(_) => gather.finish_failed(),
        ProcessEnd::Well | ProcessEnd::TimedOut | ProcessEnd::Cancelled => gather.finish(),
    });
    let found = found.await.unwrap_or_default();
    Ok((ended, found))
}
