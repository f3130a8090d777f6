//! What all builds by other programs share: one runs, its output goes into the log and is searched
//! for findings.

use super::BuildSink;
use super::build_sandbox::{BuildSite, Changes, Refusals};
use super::diagnostics::Gather;
use super::process::{ProcessEnd, ProcessSpec};
use crate::model::Diagnostic;

/// Most of the output of a program that answers a question, in bytes.
pub(super) const MOST_ANSWER: usize = 64 << 20;

/// Where output goes that nobody reads.
pub(super) struct Unread;

impl BuildSink for Unread {
    fn output(&self, _: &[u8]) {}
    fn progress(&self, _: u32, _: u32) {}
}

/// Runs `job` and says how it ended and what was found in its output, what its walls kept it from first.
/// `watch` takes the output too, for progress and for what only this program says.
///
/// # Errors
/// When it cannot be started or waited for.
pub(super) async fn build(
    job: ProcessSpec,
    site: &BuildSite<'_>,
    sink: &dyn BuildSink,
    mut watch: impl FnMut(&[u8]),
) -> std::io::Result<(ProcessEnd, Vec<Diagnostic>)> {
    let mut gather = Gather::new(&site.places.project);
    let mut refusals = site.sandbox.map(|_| Refusals::default());
    let before = Changes::before(&site.places);
    let run = site.run(job, |bytes| {
        sink.output(bytes);
        watch(bytes);
        gather.push(bytes);
        refusals.iter_mut().for_each(|refusals| refusals.push(bytes));
    });
    let ended = run.await?;
    sink.output(before.lines(&site.places).as_bytes());
    let warning = before.warning(&site.places);
    // Searching long output takes a moment. It ends without a result only when the program ends.
    let found = tokio::task::spawn_blocking(move || match ended {
        ProcessEnd::Badly(_) => gather.finish_failed(),
        ProcessEnd::Well | ProcessEnd::TimedOut | ProcessEnd::Cancelled => gather.finish(),
    });
    let mut found = found.await.unwrap_or_default();
    found.extend(warning);
    if let (ProcessEnd::Badly(_), Some(refusals)) = (ended, refusals) {
        found.splice(0..0, refusals.finish());
    }
    Ok((ended, found))
}
