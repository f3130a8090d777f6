//! A proposal in lines of text: everything that is decided on, and nothing that moves a cursor.

use std::sync::Arc;

use crate::model::{
    BlobRef, BlobSource, BoardInfo, Change, CheckKind, ErasePlan, Facts, Finding, FindingLevel,
    FindingPlace, FlashPlan, FlashRegion, NvsKind, NvsPlan, Proposal, ReadPlan, SendPlan, Side,
    UserError,
};
use crate::text::diff::{self, LineKind, Options};
use crate::text::sanitize;
use crate::view::plural;

/// A proposal in lines; all text in them is safe to print.
#[derive(Debug, Default)]
pub struct ProposalText {
    /// What to print.
    pub lines: Vec<String>,
    /// The changed lines, by the numbers from 1 that stand before them: what happens to each, and
    /// its line number in its own version.
    pub changed: Vec<(LineKind, usize)>,
    /// Changed lines that are too many to be printed.
    pub unseen: u32,
}

/// Tells a proposal.
///
/// # Errors
/// When a content cannot be read: then nobody may approve it.
pub fn proposal(proposal: &Proposal, blobs: &dyn BlobSource) -> Result<ProposalText, UserError> {
    let change = &proposal.change;
    let path = change.path().map_or("", |path| path.as_str());
    let mut lines = vec![
        String::new(),
        format!("Proposal {}: {} {}{}", proposal.id, change.kind(), clean(path), asked(proposal)),
        format!("  from {} by {}", clean(proposal.agent.as_str()), clean(proposal.tool.as_str())),
    ];
    if !proposal.reason.is_empty() {
        lines.push(format!("  reason: {}", clean(&proposal.reason)));
    }
    lines.extend(findings(proposal));
    let text = match change {
        Change::Flash(plan) => ProposalText::plain(flash(plan, &proposal.facts)),
        Change::Erase(plan) => ProposalText::plain(erasing(plan)),
        Change::Read(plan) => ProposalText::plain(reading(plan)),
        Change::Nvs(plan) => ProposalText::plain(editing(plan)),
        Change::Send(plan) => ProposalText::plain(sending(plan)),
        Change::Save { .. } | Change::Delete { .. } | Change::Insert { .. } => {
            let (before, after) = versions(change, blobs)?;
            ProposalText::of_texts(&before, &after)
        }
    };
    lines.extend(text.lines);
    if !proposal.facts.consequence.trim().is_empty() {
        lines.push(format!("  if approved: {}", clean(proposal.facts.consequence.trim())));
    }
    Ok(ProposalText { lines, ..text })
}

type Content = Arc<[u8]>;

/// The contents before and after a change; none where there is no file.
///
/// # Errors
/// When one cannot be read.
pub fn versions(change: &Change, blobs: &dyn BlobSource) -> Result<(Content, Content), UserError> {
    let read = |blob: Option<BlobRef>| match blob {
        Some(blob) => blobs.blob(&blob.hash),
        None => Ok(Vec::new().into()),
    };
    Ok((read(change.before())?, read(change.after())?))
}

fn clean(text: &str) -> String {
    sanitize::line(text).into_owned()
}

/// Whether the task asks for the file; empty where nothing is known.
fn asked(proposal: &Proposal) -> &'static str {
    let scope = proposal.checks.iter().find(|check| check.kind == CheckKind::Scope);
    match scope.map(|check| check.findings.first()) {
        None => "",
        Some(None) => " (asked)",
        Some(Some(finding)) if finding.text.starts_with("asked") => " (asked)",
        Some(Some(_)) => " (not requested)",
    }
}

/// What was found, the heaviest first, and in one line what was clean.
pub fn findings(proposal: &Proposal) -> Vec<String> {
    let path = proposal.change.path().map_or("", |path| path.as_str().trim());
    let mut lines = Vec::new();
    let levels = [
        (FindingLevel::Stop, "STOP"),
        (FindingLevel::Warning, "warning"),
        (FindingLevel::Note, "note"),
    ];
    let reported = proposal.checks.iter().filter(|check| {
        // That a file is asked for or not stands beside its name.
        check.kind != CheckKind::Scope || check.level() > Some(FindingLevel::Note)
    });
    let reported: Vec<&Finding> = reported.flat_map(|check| &check.findings).collect();
    for (level, word) in levels {
        for finding in reported.iter().filter(|finding| finding.level == level) {
            let place = match &finding.place {
                None => String::new(),
                Some(FindingPlace { side: Side::New, line, .. }) => {
                    format!(" ({}:{line})", clean(path))
                }
                Some(FindingPlace { side: Side::Old, line, .. }) => {
                    format!(" ({}:{line} as it is)", clean(path))
                }
            };
            lines.push(format!("  {word}: {}{place}", clean(finding.text.trim())));
            if !finding.advice.is_empty() {
                lines.push(format!("    {}", clean(finding.advice.trim())));
            }
        }
    }
    let passed =
        proposal.checks.iter().filter(|check| check.level() <= Some(FindingLevel::Note)).count();
    if passed > 0 {
        lines.push(format!("  {} passed", plural(passed, "check")));
    }
    lines
}

impl ProposalText {
    /// Lines without changed ones.
    fn plain(lines: Vec<String>) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Tells what differs between two versions of a text.
    pub fn of_texts(before: &[u8], after: &[u8]) -> Self {
        let diff = diff::diff(before, after, Options::default());
        let (added, removed) = (diff.added, diff.removed);
        let noun = if added == 1 { "line is" } else { "lines are" };
        let counts = format!("  {added} {noun} added, {removed} are removed:");
        let (mut lines, mut changed) = (vec![counts], Vec::new());
        for hunk in &diff.hunks {
            lines.push(format!("  {}", hunk.header()));
            for line in &hunk.lines {
                let (sign, number) = match line.kind {
                    LineKind::Context => (' ', None),
                    LineKind::Removed => ('-', line.old_no),
                    LineKind::Added => ('+', line.new_no),
                };
                changed.extend(number.map(|number| (line.kind, number)));
                let place = number.map_or_else(String::new, |_| changed.len().to_string());
                lines.push(format!("  {place:>4} {sign} {}", sanitize::line(&line.text)));
            }
        }
        if diff.left_out > 0 {
            lines.push(format!("  {} more changed lines are not printed", diff.left_out));
        }
        let unseen = u32::try_from(diff.left_out).unwrap_or(u32::MAX);
        Self { lines, changed, unseen }
    }
}

fn target(board: &BoardInfo) -> String {
    let kind = if board.simulated { " (simulated)" } else { "" };
    let (label, chip, port) = (clean(&board.label), clean(&board.chip), clean(&board.port));
    if chip.is_empty() {
        format!("{label}{kind} on {port}")
    } else {
        format!("{label}{kind}, {chip} on {port}")
    }
}

fn place(region: &FlashRegion) -> String {
    format!("{}: {} bytes at 0x{:x}", clean(&region.name()), region.bytes, region.offset)
}

fn erasing(plan: &ErasePlan) -> Vec<String> {
    let what = match &plan.region {
        None if plan.board.simulated => "all of its memory: program and settings".to_owned(),
        None => "the whole flash: bootloader, partition table, program and settings".to_owned(),
        Some(region) => place(region),
    };
    vec![format!("  on {}", target(&plan.board)), format!("  erases {what}; this cannot be undone")]
}

fn reading(plan: &ReadPlan) -> Vec<String> {
    let meanwhile = match plan.board.simulated {
        true => "the firmware keeps running",
        false => "the board is restarted",
    };
    vec![
        format!("  from {}", target(&plan.board)),
        format!("  reads {}; {meanwhile}", place(&plan.region)),
    ]
}

fn editing(plan: &NvsPlan) -> Vec<String> {
    let NvsPlan { region, space: space_left, .. } = plan;
    let mut lines = vec![
        format!("  on {}", target(&plan.board)),
        format!(
            "  erases and writes {}; {} of {} entries are used afterwards",
            place(region),
            space_left.used,
            space_left.of
        ),
    ];
    if space_left.damaged > 0 {
        lines.push(format!("  {} damaged entries are removed", space_left.damaged));
    }
    for edit in &plan.edits {
        let value = |kind: NvsKind, text: &str| format!("{} {}", kind.as_str(), clean(text));
        let name = clean(&edit.name());
        lines.push(format!("  {name}"));
        lines.extend(edit.before.iter().map(|b| format!("    - {}", value(b.kind, &b.shown))));
        lines.extend(edit.after.iter().map(|a| format!("    + {}", value(a.kind, &edit.shown))));
    }
    lines
}

fn sending(plan: &SendPlan) -> Vec<String> {
    let mut lines = vec![format!("  to {}, {} bytes:", target(&plan.board), plan.text.len())];
    lines.extend(plan.visible().iter().map(|text| format!("  > {}", sanitize::line(text))));
    lines
}

fn flash(plan: &FlashPlan, facts: &Facts) -> Vec<String> {
    let mut lines = vec![format!("  to {}, from build {}", target(&plan.board), plan.build)];
    for image in &plan.images {
        let file = clean(&image.file);
        let place = format!("{} bytes at 0x{:x}", image.bytes, image.offset);
        lines.push(match image.same {
            true => format!("  skips {file}: {place}, the same as on the board"),
            false => format!("  writes {file}: {place}"),
        });
    }
    lines.push(format!("  {} bytes total", plan.total_bytes()));
    if plan.touches_boot == Some(true) {
        lines.push("  this includes the bootloader or the partition table".to_owned());
    }
    if let Some(why) = facts.board.as_ref().map(|board| clean(&board.not_asked))
        && !why.is_empty()
    {
        lines.push(format!("  not compared with the board: {why}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Batch, BatchId, CallId, Check, ContentHash, ProjectPath, ProposalId, TurnId,
    };

    #[test]
    fn every_changed_line_is_told_and_nothing_moves_the_cursor() {
        let reported = ProposalText::of_texts(b"a\nb\n", b"a\nc\x1b[2J\x1b]0;x\x07\n");
        let text = reported.lines.join("\n");
        assert!(text.contains("1 - b") && text.contains("2 + c"), "{text}");
        assert_eq!(reported.changed, [(LineKind::Removed, 2), (LineKind::Added, 2)]);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn findings_are_sentences_with_places_and_what_is_clean_is_one_line() {
        let found = Finding::new(FindingLevel::Stop, "contains a password")
            .at(FindingPlace::line(12))
            .advice("Read it from NVS.");
        let asked = Finding::new(FindingLevel::Note, "asked for by name");
        let reported = proposal_with(vec![
            Check::clean(CheckKind::Parses),
            Check::with(CheckKind::Scope, vec![asked]),
            Check::with(CheckKind::Secrets, vec![found]),
            Check::of(CheckKind::Size, FindingLevel::Warning, "rewrites the file"),
        ]);
        assert_eq!(
            reported,
            [
                "",
                "Proposal 7: delete main/pump.c (asked)",
                "  from A by delete_files",
                "  STOP: contains a password (main/pump.c:12)",
                "    Read it from NVS.",
                "  warning: rewrites the file",
                "  2 checks passed",
                "  0 lines are added, 1 are removed:",
                "  @@ -1 +0,0 @@",
                "     1 - a",
                "  if approved: deletes 1 file",
            ]
        );
    }

    /// What is told of a proposal with these checks.
    fn proposal_with(checks: Vec<Check>) -> Vec<String> {
        struct One;
        impl BlobSource for One {
            fn blob(&self, _: &ContentHash) -> Result<Arc<[u8]>, UserError> {
                Ok(b"a\n".as_slice().into())
            }
        }
        let base = BlobRef { hash: ContentHash::of(b"a\n"), bytes: 2 };
        let path = ProjectPath::new("main/pump.c").unwrap();
        let facts = Facts { consequence: "deletes 1 file".into(), ..Facts::default() };
        let batch = Batch { id: BatchId(1), index: 1, of: 1 };
        let (agent, tool, reason) = ("A".into(), "delete_files".into(), String::new());
        let (id, turn, call) = (ProposalId(7), TurnId(1), CallId(1));
        let change = Change::Delete { path, base };
        let made = Proposal { id, turn, call, agent, tool, reason, batch, change, checks, facts };
        proposal(&made, &One).unwrap().lines
    }

    #[test]
    fn every_character_that_is_sent_is_told() {
        let board = BoardInfo {
            label: "esp32 board".into(),
            chip: "esp32".into(),
            port: "/dev/ttyUSB0".into(),
            simulated: false,
        };
        let text = "a\\b\r\n\x1b[2J \u{202e}x".into();
        let reported = sending(&SendPlan { board: board.clone(), text });
        assert_eq!(reported[0], "  to esp32 board, esp32 on /dev/ttyUSB0, 14 bytes:");
        assert_eq!(reported[1], r"  > a\\b\r\n");
        assert!(
            reported[2].starts_with(r"  > \u{1b}[2J ") && !reported[2].contains('\u{202e}'),
            "{reported:?}"
        );
        let erased = erasing(&ErasePlan { board, region: None });
        assert!(
            erased[1].contains("whole flash") && erased[1].contains("cannot be undone"),
            "{erased:?}"
        );
    }
}
