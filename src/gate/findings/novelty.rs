//! Whether what is found in a change was there before.
//!
//! Must not know what is looked for.

use std::collections::BTreeMap;

use super::Subject;
use super::limit::limited;
use super::source::SourceText;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace};

/// The check of a file's new text: what `find` finds in it, as a note where the file held the same
/// before. The new comes first, and only the first few are named one by one.
pub(super) fn check(
    kind: CheckKind,
    subject: &Subject<'_>,
    find: impl Fn(&SourceText<'_>) -> Vec<Finding>,
) -> Option<Check> {
    let source = subject.source()?;
    let mut found = find(source);
    if found.is_empty() {
        return Some(Check::clean(kind));
    }
    // What stands on a line that the file did not hold was not found before.
    let may_be_known =
        |finding: &Finding| finding.place.as_ref().is_none_or(|at| !source.is_new_line(row(at)));
    if let Some(base) = subject.base_source().filter(|_| found.iter().any(may_be_known)) {
        let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
        for finding in find(base) {
            *known.entry(identity(base, &finding)).or_default() += 1;
        }
        for finding in &mut found {
            if let Some(left) = known.get_mut(&identity(source, finding)).filter(|left| **left > 0)
            {
                *left -= 1;
                finding.level = FindingLevel::Note;
                finding.phrase = None;
            }
        }
    }
    Some(limited(kind, found))
}

/// By what a finding is known again in another version: what it says and the line it is about.
fn identity(source: &SourceText<'_>, finding: &Finding) -> (String, String) {
    let line = finding.place.as_ref().map_or("", |place| source.line(row(place)));
    (finding.text.clone(), line.trim().to_owned())
}

/// The line of a place, from 0.
fn row(place: &FindingPlace) -> usize {
    usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1)
}
