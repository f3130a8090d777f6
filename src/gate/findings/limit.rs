//! How many places of one kind are told one by one.

use crate::model::{Check, CheckKind, Finding, FindingLevel};

/// Places of one kind that are named one by one.
pub(super) const NAMED_PLACES: usize = 5;

/// The first few findings one by one, and one more that counts the others.
pub(super) fn limited(kind: CheckKind, mut findings: Vec<Finding>) -> Check {
    let level = findings.iter().map(|finding| finding.level).max().unwrap_or(FindingLevel::Note);
    let more = findings.len().saturating_sub(NAMED_PLACES);
    if more > 1 {
        findings.truncate(NAMED_PLACES);
        findings.push(Finding::new(level, format!("the same in {more} more places")));
    }
    Check::with(kind, findings)
}
