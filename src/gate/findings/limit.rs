//! How many places of one kind are told one by one.

use crate::model::{Check, CheckKind, Finding, FindingLevel};

/// Places of one kind that are named one by one.
pub(super) const NAMED_PLACES: usize = 5;

/// The heaviest few findings one by one, and one more that counts the others and names the next.
pub(super) fn limited(kind: CheckKind, mut findings: Vec<Finding>) -> Check {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    if findings.len() > NAMED_PLACES + 1 {
        let rest = findings.split_off(NAMED_PLACES);
        let level = rest.iter().map(|finding| finding.level).max().unwrap_or(FindingLevel::Note);
        let mut more = Finding::new(level, format!("{} more findings of this kind", rest.len()));
        more.advice = rest.into_iter().next().map_or_else(String::new, |next| next.text);
        findings.push(more);
    }
    Check::with(kind, findings)
}
