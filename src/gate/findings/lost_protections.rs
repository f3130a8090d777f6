//! Protections that a change loses by what the code does, and not by the names of functions.
//!
//! Owns their order: a place is told once, by what says most. What turns a protection off by its name is
//! listed by [`safeguard_rows`](super::safeguard_rows).

use super::{
    Subject, call_places, copied_lengths, decides_nothing, dropped_results, error_results,
    guard_inputs, guarded_checks, lost_conditions, lost_errors, lost_integrity, lost_reactions,
    narrowed_checks, removed_checks, required_together, set_before_checks, short_comparisons,
    swallowed, unchecked_limits, unread_inputs,
};
use crate::model::{Finding, ProjectPath};

/// Limits and other checks that nothing is compared with, and checks in another place; a place is told
/// once.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = unchecked_limits::find(path, subject);
    let removed = removed_checks::find(path, subject).into_iter();
    let is_new = |finding: &Finding| !found.iter().any(|other| other.place == finding.place);
    let removed: Vec<Finding> = removed.filter(is_new).collect();
    found.extend(removed);
    found.extend(call_places::find(subject));
    found.extend(required_together::find(path, subject));
    found.extend(set_before_checks::find(path, subject));
    found.extend(decides_nothing::find(path, subject));
    found.extend(short_comparisons::find(path, subject));
    found.extend(narrowed_checks::find(subject));
    found.extend(error_results::find(subject));
    found.extend(guarded_checks::find(subject));
    found.extend(dropped_results::find(path, subject));
    found.extend(guard_inputs::find(path, subject));
    found.extend(lost_reactions::find(subject));
    let is_new = |finding: &Finding| !found.iter().any(|other| other.place == finding.place);
    let lost: Vec<Finding> =
        lost_conditions::find(path, subject).into_iter().filter(is_new).collect();
    let is_silent = lost.is_empty();
    found.extend(lost);
    found.extend(lost_integrity::find(path, subject).filter(|_| is_silent));
    let is_new = |finding: &Finding| !found.iter().any(|other| other.place == finding.place);
    let copied = copied_lengths::find(subject).filter(|finding| is_new(finding));
    found.extend(copied);
    let is_new = |finding: &Finding| !found.iter().any(|other| other.place == finding.place);
    let unread = unread_inputs::find(path, subject).filter(is_new);
    found.extend(unread);
    let is_new = |finding: &Finding| !found.iter().any(|other| other.place == finding.place);
    let errors = lost_errors::find(path, subject)
        .or_else(|| swallowed::find(path, subject))
        .or_else(|| swallowed::lost_stop(path, subject));
    found.extend(errors.filter(is_new));
    found
}
