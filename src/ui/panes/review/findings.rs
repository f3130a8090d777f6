//! What the checks found, in words and as marks on the lines of a change.
//!
//! Owns the order of findings. Must not look at the change itself.

use std::ops::Range;

use crate::model::{CheckKind, Finding, FindingLevel, FindingPlace, Proposal, Side as Version};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::role::Role;

use super::change::line::LineRole;

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

/// The first finding that stands against an approval, in words.
pub(super) fn first_stop(proposal: &Proposal) -> Option<String> {
    let stop = proposal.findings().find(|finding| finding.level == FindingLevel::Stop)?;
    Some(line::clean(&stop.text))
}

/// The first of the findings that weigh most, stops before warnings, in its own words.
pub(super) fn heaviest(proposal: &Proposal) -> Option<String> {
    let found = proposal.findings().filter(|finding| finding.level > FindingLevel::Note);
    let found = found.min_by_key(|finding| std::cmp::Reverse(finding.level))?;
    Some(line::clean(&found.text))
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
        CheckKind::Tests => "tests passed that ran with this content before it was proposed",
        CheckKind::Complexity => "no function became hard to follow",
        CheckKind::Safeguards => "no watchdog, encryption or certificate check is turned off",
        CheckKind::Limits => "no limit or timeout changed by ten times or more",
        CheckKind::Declared => "the framework's names in it exist in the installed version",
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
        CheckKind::BeyondTask => "the change does no more than the task asks for",
    }
}
