//! Lists what waits in one batch, and decides it together.

use std::time::Instant;

use super::line_command::Decide;
use super::paper::Paper;
use super::proposal_text::{self, ProposalText};
use crate::cli::report;
use crate::journal::Blobs;
use crate::model::{FindingLevel, Intent, ProposalId, Shown, Verdict};
use crate::text::sanitize;
use crate::view::{SessionView, plural};

/// What was listed to be decided together.
pub(super) struct Listed {
    /// The proposal that named the batch.
    by: ProposalId,
    shown: Vec<Shown>,
    pub at: Instant,
}

impl Listed {
    /// Prints what waits in the batch of the proposal on `paper`.
    pub(super) fn print(paper: &Paper, view: &SessionView, blobs: &Blobs) -> Result<Self, String> {
        let (by, first, batch) = (paper.proposal.id, paper.shown(), paper.proposal.batch.id);
        let waiting = view.review.waiting().map(|view| &view.proposal);
        let mut shown = Vec::new();
        for proposal in waiting.filter(|proposal| proposal.batch.id == batch) {
            let is_found = proposal.findings().any(|finding| finding.level > FindingLevel::Note);
            let (id, kind) = (proposal.id, proposal.change.kind());
            let path = proposal.change.path().map_or("", |path| path.as_str());
            let path = sanitize::line(path);
            if proposal.phrase().is_some() || is_found {
                report::line(&format!("  {id}: {kind} {path}, must be decided separately"));
                continue;
            }
            let text = proposal_text::proposal(proposal, blobs);
            let ProposalText { changed, unseen, .. } = text.map_err(|error| error.to_string())?;
            let lines = u32::try_from(changed.len()).unwrap_or(u32::MAX);
            // Only one of them was printed.
            let unseen = if proposal.id == by { first.unseen } else { lines + unseen };
            let count = plural(lines, "line");
            report::line(&format!("  {id}: {kind} {path}, {count}, {unseen} not printed"));
            shown.push(Shown { proposal: id, hash: proposal.change.hash(), unseen, stops: 0 });
        }
        if shown.is_empty() {
            return Err("each of these must be decided separately".to_owned());
        }
        let unseen: u32 = shown.iter().map(|shown| shown.unseen).sum();
        let how = if unseen > 0 { " unseen" } else { "" };
        report::line(&format!(
            "Type: approve-rest {by}{how}, or reject-rest {by} REASON, for these {}.",
            shown.len()
        ));
        Ok(Self { by, shown, at: Instant::now() })
    }
}

/// Decides all that `listed` holds, and empties it.
pub(super) fn decide(
    listed: &mut Option<Listed>,
    number: u32,
    decide: Decide,
) -> Result<Option<Intent>, String> {
    let all = listed.take_if(|listed| listed.by == ProposalId(number));
    let all = all.ok_or_else(|| format!("list them first: rest {number}"))?;
    let unseen: u32 = all.shown.iter().map(|shown| shown.unseen).sum();
    let verdict = match decide {
        Decide::Reject(reason, then) => Verdict::Reject { reason, comments: Vec::new(), then },
        Decide::Approve if unseen > 0 => {
            *listed = Some(all);
            return Err(format!(
                "{unseen} changed lines were not printed; `approve-rest {number} unseen` approves them anyway"
            ));
        }
        _ => Verdict::Approve,
    };
    Ok(Some(Intent::DecideAll { shown: all.shown, verdict }))
}
