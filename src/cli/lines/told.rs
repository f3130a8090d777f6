//! A proposal in lines of text: everything that is decided on, and nothing that moves a cursor.

use crate::model::{BlobRef, BlobSource, Change, CheckStatus, FlashPlan, Proposal, UserError};
use crate::text::diff::{self, LineKind, Options};
use crate::text::sanitize;

/// The lines of a proposal; all text in them is safe to print.
///
/// # Errors
/// When a content cannot be read: then nobody may approve it.
pub fn proposal(proposal: &Proposal, blobs: &dyn BlobSource) -> Result<Vec<String>, UserError> {
    let change = &proposal.change;
    let path = change.path().map_or("", |path| path.as_str());
    let clean = |text: &str| sanitize::line(text).into_owned();
    let mut lines = vec![
        String::new(),
        format!("Proposal {}: {} {}", proposal.id, change.kind(), clean(path)),
        format!("  from {} by {}", clean(proposal.agent.as_str()), clean(proposal.tool.as_str())),
    ];
    if !proposal.reason.is_empty() {
        lines.push(format!("  reason: {}", clean(&proposal.reason)));
    }
    for check in &proposal.checks {
        let status = match check.status {
            CheckStatus::Passed => "passed",
            CheckStatus::Warned => "warning",
            CheckStatus::Failed => "FAILED",
        };
        let note =
            if check.note.is_empty() { String::new() } else { format!(": {}", clean(&check.note)) };
        lines.push(format!("  check {}: {status}{note}", check.kind.label()));
    }
    match change {
        Change::Flash(plan) => lines.extend(flash(plan)),
        Change::Save { .. } | Change::Delete { .. } | Change::Insert { .. } => {
            let read = |blob: Option<BlobRef>| match blob {
                Some(blob) => blobs.blob(&blob.hash),
                None => Ok(Vec::new().into()),
            };
            lines.extend(text_change(&read(change.before())?, &read(change.after())?));
        }
    }
    Ok(lines)
}

fn text_change(before: &[u8], after: &[u8]) -> Vec<String> {
    let diff = diff::diff(before, after, Options::default());
    let mut lines =
        vec![format!("  {} lines are added, {} are removed:", diff.added, diff.removed)];
    for hunk in &diff.hunks {
        lines.push(format!("  {}", hunk.header()));
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Removed => '-',
                LineKind::Added => '+',
            };
            lines.push(format!("  {sign} {}", sanitize::line(&line.text)));
        }
    }
    lines
}

fn flash(plan: &FlashPlan) -> Vec<String> {
    let clean = |text: &str| sanitize::line(text).into_owned();
    let board = &plan.board;
    let kind = if board.simulated { " (simulated)" } else { "" };
    let (label, chip, port) = (clean(&board.label), clean(&board.chip), clean(&board.port));
    let mut lines =
        vec![format!("  to {label}{kind}, {chip} on {port}, from build {}", plan.build)];
    for image in &plan.images {
        let file = clean(&image.file);
        lines.push(format!("  writes {file}: {} bytes at 0x{:x}", image.bytes, image.offset));
    }
    lines.push(format!("  {} bytes in all", plan.total_bytes()));
    if plan.touches_boot {
        lines.push("  bootloader or partition table are among them".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_line_is_told_and_nothing_moves_the_cursor() {
        let lines = text_change(b"a\nb\n", b"a\nc\x1b[2J\x1b]0;x\x07\n");
        let text = lines.join("\n");
        assert!(text.contains("- b") && text.contains("+ c"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}
