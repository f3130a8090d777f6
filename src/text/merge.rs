//! Brings a change to a file that has been changed meanwhile: a three-way merge of lines.
//!
//! Takes what only one side changed, and what both changed alike. Where both changed the same or
//! neighbouring lines otherwise, it gives up rather than guess. Works on bytes.

use std::ops::Range;

use similar::{Algorithm, DiffOp};

use super::align::{align, byte_lines};

/// What became of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// Both changes fit together; the whole file.
    Clean(Vec<u8>),
    /// They do not; the first lines of `theirs`, from 1, where they meet.
    Conflict(Vec<usize>),
}

/// Merges the way from `base` to `ours` with that from `base` to `theirs`.
#[must_use]
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
    let [base, ours, theirs] = [base, ours, theirs].map(byte_lines);
    let our_edits = edits(&base, &ours);
    let their_edits = edits(&base, &theirs);
    let mut out = Vec::new();
    let mut conflicts = Vec::new();
    let mut at = 0;
    for group in groups(&our_edits, &their_edits) {
        push(&mut out, base.get(at..group.base.start));
        at = group.base.end;
        let mine = group.text(&base, &ours, &our_edits);
        let other = group.text(&base, &theirs, &their_edits);
        let has = |edits: &[Edit]| edits.iter().any(|edit| group.holds(edit));
        if has(&our_edits) && has(&their_edits) && mine != other {
            let first = their_edits.iter().find(|edit| group.holds(edit));
            conflicts.extend(first.map(|edit| edit.side.start + 1));
        } else {
            push(&mut out, Some(if has(&our_edits) { &mine } else { &other }));
        }
    }
    push(&mut out, base.get(at..));
    if conflicts.is_empty() { Merge::Clean(out) } else { Merge::Conflict(conflicts) }
}

/// Lines of the base that became other lines.
#[derive(Debug, Clone)]
struct Edit {
    base: Range<usize>,
    side: Range<usize>,
}

/// Lines of the base whose edits touch each other.
struct EditGroup {
    base: Range<usize>,
}

impl EditGroup {
    fn holds(&self, edit: &Edit) -> bool {
        self.base.start <= edit.base.start && edit.base.end <= self.base.end
    }

    /// What one side makes of these lines.
    fn text<'a>(&self, base: &[&'a [u8]], side: &[&'a [u8]], edits: &[Edit]) -> Vec<&'a [u8]> {
        let mut text = Vec::new();
        let mut at = self.base.start;
        for edit in edits.iter().filter(|edit| self.holds(edit)) {
            text.extend(base.get(at..edit.base.start).unwrap_or_default());
            text.extend(side.get(edit.side.clone()).unwrap_or_default());
            at = edit.base.end;
        }
        text.extend(base.get(at..self.base.end).unwrap_or_default());
        text
    }
}

fn push(out: &mut Vec<u8>, lines: Option<&[&[u8]]>) {
    lines.unwrap_or_default().iter().for_each(|line| out.extend_from_slice(line));
}

fn edits(base: &[&[u8]], side: &[&[u8]]) -> Vec<Edit> {
    align(Algorithm::Patience, base, side, None)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Edit { base: op.old_range(), side: op.new_range() })
        .collect()
}

/// Edits of both sides that overlap or touch, taken together.
fn groups(ours: &[Edit], theirs: &[Edit]) -> Vec<EditGroup> {
    let mut all: Vec<Range<usize>> = ours.iter().chain(theirs).map(|e| e.base.clone()).collect();
    all.sort_by_key(|range| (range.start, range.end));
    let mut groups: Vec<EditGroup> = Vec::new();
    for range in all {
        match groups.last_mut() {
            Some(last) if range.start <= last.base.end => {
                last.base.end = last.base.end.max(range.end);
            }
            _ => groups.push(EditGroup { base: range }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<usize>> {
        match merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
            Merge::Clean(bytes) => Ok(String::from_utf8(bytes).unwrap()),
            Merge::Conflict(places) => Err(places),
        }
    }

    #[test]
    fn changes_in_different_places_fit_together() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(
            merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n").unwrap(),
            "A\nb\nc\nd\nE\nf\n"
        );
        assert_eq!(merged(base, "a\nc\nd\ne\n", "a\nb\nc\nd\n").unwrap(), "a\nc\nd\n");
    }

    #[test]
    fn the_same_or_neighbouring_lines_are_a_conflict_unless_changed_alike() {
        let base = "a\nb\nc\nd\n";
        assert_eq!(merged(base, "a\nX\nc\nd\n", "a\nY\nc\nd\n"), Err(vec![2]));
        assert_eq!(merged(base, "a\nX\nc\nd\n", "a\nb\nY\nd\n"), Err(vec![3]));
        assert_eq!(merged(base, "a\nX\nc\nd\n", "a\nX\nc\nD\n").unwrap(), "a\nX\nc\nD\n");
        assert_eq!(merged("", "a\n", "b\n"), Err(vec![1]));
    }

    fn text() -> impl Strategy<Value = String> {
        "([abcd](\n|\r\n)){0,12}[ab]{0,1}"
    }

    proptest! {
        #[test]
        fn one_sided_changes_are_taken_whole(base in text(), other in text()) {
            prop_assert_eq!(merged(&base, &other, &base), Ok(other.clone()));
            prop_assert_eq!(merged(&base, &base, &other), Ok(other.clone()));
            prop_assert_eq!(merged(&base, &other, &other), Ok(other));
        }

        #[test]
        fn a_clean_merge_does_not_depend_on_who_is_who(base in text(), a in text(), b in text()) {
            match (merged(&base, &a, &b), merged(&base, &b, &a)) {
                (Ok(one), Ok(two)) => prop_assert_eq!(one, two),
                (Err(_), Err(_)) => {}
                (one, two) => prop_assert!(false, "{:?} {:?}", one, two),
            }
        }
    }
}
