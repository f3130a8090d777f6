//! What the checks found, in rows above a change and as marks on its lines.
//!
//! Owns which findings take rows and in which order. Must not look at the change itself.

use std::ops::Range;

use ratatui::text::{Line, Span};

use crate::model::{
    Check, CheckKind, Finding, FindingLevel, FindingPlace, Proposal, Side as Version,
};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;

use super::body_line::LineRole;
use super::head::HeadRow;

/// Most findings that take rows of their own.
const MAX_FINDINGS: usize = 6;

/// Most rows of one of them.
const MAX_ROWS: usize = 2;

/// The findings that take rows: stops, then warnings, each in the order of the checks.
pub(super) fn weighty(proposal: &Proposal) -> Vec<&Finding> {
    let of = |level| proposal.findings().filter(move |finding| finding.level == level);
    of(FindingLevel::Stop).chain(of(FindingLevel::Warning)).collect()
}

/// A finding as a sentence with its place.
pub(super) fn sentence(finding: &Finding) -> String {
    let text = sanitize::line(finding.text.trim());
    match &finding.place {
        Some(place) => format!("{text} · {}", place_words(place)),
        None => text.into_owned(),
    }
}

/// E.g. `line 12`.
pub(super) fn place_words(place: &FindingPlace) -> String {
    match place.side {
        Version::New => format!("line {}", place.line),
        Version::Old => format!("old line {}", place.line),
    }
}

/// The rows of the findings that matter.
pub(super) fn rows(proposal: &Proposal, width: usize, cx: &Cx<'_>) -> Vec<HeadRow> {
    let found = weighty(proposal);
    let mut rows = Vec::new();
    for finding in found.iter().take(MAX_FINDINGS) {
        let (mark, role) = look(Some(finding.level));
        let mut words = wrap_words(&sentence(finding), width.saturating_sub(4));
        if words.len() > MAX_ROWS {
            words.truncate(MAX_ROWS);
            if let Some(last) = words.last_mut() {
                *last = format!("{}…", line::cut(last, width.saturating_sub(6)));
            }
        }
        for (nth, row) in words.into_iter().enumerate() {
            let lead = if nth == 0 { format!(" {mark} ") } else { "   ".to_owned() };
            let left = Line::styled(format!("{lead}{row}"), cx.style(role));
            rows.push(HeadRow { left, right: Line::default() });
        }
    }
    if let Some(more) = found.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
        let key = cx.key(KeyContext::Review, Action::Details);
        let left = Line::styled(format!("   {more} more · {key} shows all"), cx.style(Role::Warn));
        rows.push(HeadRow { left, right: Line::default() });
    }
    rows
}

/// The checks that found nothing that matters, in a few words: `✓ 11 checks · 2 notes`.
pub(super) fn summary(checks: &[Check], cx: &Cx<'_>) -> Option<Line<'static>> {
    if checks.is_empty() {
        return None;
    }
    let (dim, key) = (cx.style(Role::Dim), cx.key(KeyContext::Review, Action::Details));
    let clean = checks.iter().filter(|check| check.level() <= Some(FindingLevel::Note)).count();
    let mut spans = Vec::new();
    if clean > 0 {
        let what = if clean == 1 { "check" } else { "checks" };
        spans.push(Span::styled("✓", cx.style(Role::Ok)));
        spans.push(Span::styled(format!(" {clean} {what} · "), dim));
    }
    let is_note = |finding: &&Finding| finding.level == FindingLevel::Note;
    let others = checks.iter().filter(|check| check.kind != CheckKind::Scope);
    match others.flat_map(|check| &check.findings).filter(is_note).count() {
        0 => {}
        1 => spans.push(Span::styled("1 note · ", dim)),
        notes => spans.push(Span::styled(format!("{notes} notes · "), dim)),
    }
    spans.push(Span::styled(format!("{key} details "), dim));
    Some(Line::from(spans))
}

/// Whether the task asks for the file, in words that stand beside its name.
pub(super) fn asked(proposal: &Proposal) -> Option<(&'static str, Role)> {
    let scope = proposal.checks.iter().find(|check| check.kind == CheckKind::Scope)?;
    let first = scope.findings.first();
    let is_asked = first.is_none_or(|finding| {
        finding.level == FindingLevel::Note && finding.text.starts_with("asked")
    });
    Some(if is_asked { ("asked", Role::Dim) } else { ("not asked", Role::Warn) })
}

/// The mark of what was found, and its colour.
pub(super) const fn look(level: Option<FindingLevel>) -> (&'static str, Role) {
    match level {
        None => ("✓", Role::Ok),
        Some(FindingLevel::Note) => ("·", Role::Dim),
        Some(FindingLevel::Warning) => ("!", Role::Warn),
        Some(FindingLevel::Stop) => ("✗", Role::Error),
    }
}

/// Places in a change where something that matters was found.
#[derive(Debug, Default)]
pub(super) struct FindingMarks(Vec<(FindingLevel, FindingPlace)>);

/// What was found on one line.
#[derive(Debug, Default)]
pub(super) struct LineMarks {
    /// The heaviest level.
    pub level: Option<FindingLevel>,
    /// Characters of the line from 0; empty where all of it is meant.
    pub characters: Vec<Range<usize>>,
}

impl FindingMarks {
    /// The places of a proposal's findings.
    pub fn of(proposal: &Proposal) -> Self {
        let found = weighty(proposal).into_iter();
        Self(found.filter_map(|found| Some((found.level, found.place.clone()?))).collect())
    }

    /// What was found on a line of the diff.
    pub fn on(&self, role: LineRole) -> LineMarks {
        let LineRole::Diff(_, old, new) = role else { return LineMarks::default() };
        let mut marks = LineMarks::default();
        for (level, place) in &self.0 {
            let number = match place.side {
                Version::Old => old,
                Version::New => new,
            };
            if number != usize::try_from(place.line).ok() {
                continue;
            }
            marks.level = marks.level.max(Some(*level));
            if let Some(column) = place.column {
                let start = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
                let length = usize::try_from(place.length.max(1)).unwrap_or(1);
                marks.characters.push(start..start.saturating_add(length));
            }
        }
        marks
    }
}

/// What a check looks at, in a few words.
pub(super) const fn explains(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Parses => "the text parses in the language of its file name",
        CheckKind::Name => "the file's name does not clash with the framework",
        CheckKind::InProject => "the file is inside the project",
        CheckKind::BaseUnchanged => "the file on disk is still what the change is based on",
        CheckKind::InCmake => "the source is listed in a CMakeLists.txt",
        CheckKind::Text => "no control, invisible or bidirectional characters",
        CheckKind::BuildFresh => "the images come from the newest build, and it passed",
        CheckKind::BootUntouched => "bootloader and partition table stay as they are",
        CheckKind::Encoding => "the text is UTF-8, as the file was",
        CheckKind::LineEnds => "line ends are unchanged",
        CheckKind::Lookalikes => "no letter of another script looks like a Latin one",
        CheckKind::Size => "the size of the change fits its description",
        CheckKind::Secrets => "no key or password is in the text",
        CheckKind::Unreferenced => "no other file refers to the deleted file",
        CheckKind::Fits => "each image fits into its partition",
        CheckKind::Stored => "the contents of the change are stored in the session",
        CheckKind::Images => "each image is for this chip and at the right place",
        CheckKind::Merged => "changes on disk were merged without a conflict",
        CheckKind::Compiles => "the compiler accepts the text with the settings of the last build",
        CheckKind::Irreversible => "nothing changes the chip permanently",
        CheckKind::PartitionTable => "the partition table is correct, and stored data is kept",
        CheckKind::HostCode => "no new program runs on this machine, nothing new is downloaded",
        CheckKind::Origin => "the content is new and holds no packed data",
        CheckKind::Pins => "the GPIO numbers can be used on this chip",
        CheckKind::Scope => "the file is one that the task is about",
    }
}
