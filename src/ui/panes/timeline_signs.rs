//! The signs on the timeline of a replay, and what they mean.

use crate::ui::role::Role;
use crate::view::MarkKind;

/// Turns leave no sign: there are too many of them.
pub(super) const fn look(kind: MarkKind) -> Option<(&'static str, Role)> {
    match kind {
        MarkKind::Turn => None,
        MarkKind::Proposal => Some(("◆", Role::Accent)),
        MarkKind::Rejection => Some(("✗", Role::Error)),
        MarkKind::BuildPassed => Some(("✓", Role::Ok)),
        MarkKind::Error => Some(("!", Role::Error)),
        MarkKind::Flash => Some(("▼", Role::Busy)),
        MarkKind::Panic => Some(("☇", Role::Error)),
        MarkKind::Request => Some(("◇", Role::Person)),
    }
}

/// What the signs mean, in a word and in a sentence; the ones that tell most go first.
pub(super) const SIGNS: [(MarkKind, &str, &str); 7] = [
    (MarkKind::Request, "request", "The person asks for something more"),
    (MarkKind::Panic, "panic", "The program on the board crashes"),
    (MarkKind::Error, "error", "A build or a turn fails"),
    (MarkKind::Rejection, "rejected", "A proposal is rejected"),
    (MarkKind::Flash, "board", "The board is written"),
    (MarkKind::BuildPassed, "built", "A build succeeds"),
    (MarkKind::Proposal, "proposal", "An agent proposes something"),
];

/// Each sign of the track with what it means, for the help.
pub fn timeline_signs() -> impl Iterator<Item = (&'static str, &'static str)> {
    SIGNS.iter().filter_map(|(kind, _, words)| Some((look(*kind)?.0, *words)))
}
