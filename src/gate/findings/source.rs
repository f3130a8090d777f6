//! The text of a change with the places in it, and what of it is new.
//!
//! Owns the way from bytes to lines and columns, and the comparison with what was found before.
//! Must not know what is looked for.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::Subject;
use super::limit::limited;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};

/// A text with the places in it.
pub(super) struct SourceText<'a> {
    pub(super) path: &'a ProjectPath,
    pub(super) text: &'a str,
    /// Where lines start, in bytes.
    starts: Vec<usize>,
    /// The lines that the file held before.
    known: HashSet<&'a str>,
}

impl<'a> SourceText<'a> {
    pub(super) fn new(path: &'a ProjectPath, text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { path, text, starts, known: HashSet::new() }
    }

    /// With what the file held before.
    fn after(mut self, base: Option<&'a str>) -> Self {
        self.known = base.into_iter().flat_map(str::lines).map(str::trim).collect();
        self
    }

    /// Of several places the first in a line that the file did not hold before, or the first.
    pub(super) fn newest<'r>(&self, ranges: &'r [Range<usize>]) -> &'r Range<usize> {
        const NOWHERE: &Range<usize> = &(0..0);
        ranges.iter().find(|range| self.is_new(range)).or(ranges.first()).unwrap_or(NOWHERE)
    }

    /// Whether a place begins in a line that the file did not hold before.
    pub(super) fn is_new(&self, range: &Range<usize>) -> bool {
        !self.known.contains(self.line(self.line_at(range.start)).trim())
    }

    /// The line that holds a byte, from 0.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The text of a line, from 0.
    pub(super) fn line(&self, line: usize) -> &'a str {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Bytes of a line, from 0, without its end.
    pub(super) fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        start..start + self.line(line).len()
    }

    /// The place of some bytes, up to the end of their first line.
    pub(super) fn place(&self, range: &Range<usize>) -> FindingPlace {
        let line = self.line_at(range.start);
        let whole = self.line_range(line);
        let count = |range: Range<usize>| {
            let text = self.text.get(range).unwrap_or_default();
            u32::try_from(text.trim_end_matches('\r').chars().count()).unwrap_or(u32::MAX)
        };
        let column = count(whole.start..range.start).saturating_add(1);
        let length = count(range.start..range.end.min(whole.end).max(range.start));
        FindingPlace::columns(number(line + 1), column, length.max(1))
    }
}

/// The check of a file's new text: what `find` finds in it, as a note where the file held the same
/// before. The new comes first, and only the first few are named one by one.
pub(super) fn check<'a>(
    kind: CheckKind,
    path: &'a ProjectPath,
    subject: &'a Subject<'_>,
    find: impl Fn(&SourceText<'a>) -> Vec<Finding>,
) -> Option<Check> {
    let source = SourceText::new(path, subject.text()?).after(subject.base_text());
    let mut found = find(&source);
    if found.is_empty() {
        return Some(Check::clean(kind));
    }
    if let Some(base) = subject.base_text() {
        let base = SourceText::new(path, base);
        let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
        for finding in find(&base) {
            *known.entry(identity(&base, &finding)).or_default() += 1;
        }
        for finding in &mut found {
            if let Some(left) = known.get_mut(&identity(&source, finding)).filter(|left| **left > 0)
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
    let line = finding.place.as_ref().map_or("", |place| {
        source.line(usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1))
    });
    (finding.text.clone(), line.trim().to_owned())
}

fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let path = ProjectPath::new("a.c").unwrap();
        let source = SourceText::new(&path, "é\nié x = 1;\r\n");
        let at = source.text.find("x =").unwrap();
        assert_eq!(source.place(&(at..at + 5)), FindingPlace::columns(2, 4, 5));
        assert_eq!(source.place(&(at..at + 50)).length, 6);
        assert_eq!(source.line(1), "ié x = 1;\r");
    }
}
