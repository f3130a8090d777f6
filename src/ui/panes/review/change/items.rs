//! Which lines of a body show, and beside what: folded context, two columns, blanks set aside.
//!
//! Owns no state. Must never leave out a changed line without an item that says so.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::text::diff::LineKind;
use crate::text::line_pairs::LinePair;

use super::body::{Extent, ReviewBody};
use super::line::{BodyLine, LineRole};

/// One or two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// The old and the new version in one column.
    #[default]
    Unified,
    /// The old version at the left, the new one at the right.
    SideBySide,
}

/// What to do with changes of blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blanks {
    /// They show as changes.
    #[default]
    Shown,
    /// A line that differs from its other version in blanks only shows once.
    Folded,
}

/// How many unchanged lines show around each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnchangedLines {
    Lines(usize),
    /// All of the file.
    Whole,
}

/// What is asked of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemOptions {
    /// One or two columns.
    pub columns: Columns,
    /// What to do with changes of blanks.
    pub blanks: Blanks,
    /// How many unchanged lines show.
    pub context: UnchangedLines,
}

/// One entry of the list; places are those of lines in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffItem {
    /// A line across the whole width.
    One(usize),
    /// A line of the old version beside one of the new one.
    Two(Option<usize>, Option<usize>),
    /// A removed and an added line that differ in blanks only, shown as the added one.
    Blank(usize, usize),
    /// Unchanged lines that are folded away.
    Fold(Range<usize>),
    /// Lines of the file between this line and the one before that were never read.
    Gap(usize),
    /// The person's words on the line above.
    Remark(usize),
}

/// Lists what shows of `body`; `remarks` are places of lines with words of the person.
#[must_use]
pub fn items(
    body: &ReviewBody,
    wish: ItemOptions,
    remarks: &BTreeMap<usize, String>,
) -> Vec<DiffItem> {
    let show = visible(body, wish);
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(line) = body.lines.get(at) {
        if !show.get(at).copied().unwrap_or(true) {
            let len = show.get(at..).unwrap_or_default().iter().take_while(|show| !**show).count();
            items.push(DiffItem::Fold(at..at + len));
            at += len;
            continue;
        }
        if at > 0 && is_gap(body.lines.get(at - 1), line) {
            items.push(DiffItem::Gap(at));
        }
        if line.change().is_none() {
            let item = match (wish.columns, line.role) {
                (Columns::SideBySide, LineRole::Diff(..)) => DiffItem::Two(Some(at), Some(at)),
                _ => DiffItem::One(at),
            };
            push(&mut items, item, remarks);
            at += 1;
            continue;
        }
        let rest = body.lines.get(at..).unwrap_or_default();
        let removed = run(rest, LineKind::Removed);
        let added = run(rest.get(removed..).unwrap_or_default(), LineKind::Added);
        block(body, at..at + removed, at + removed..at + removed + added, wish, &mut |item| {
            push(&mut items, item, remarks);
        });
        at += removed + added;
    }
    if let (Extent::Around, Some(last)) = (body.extent, body.lines.len().checked_sub(1)) {
        // Whether the file goes on after the last line that was read is not known here.
        if body.lines.get(last).is_some_and(|line| line.change().is_none()) {
            items.push(DiffItem::Gap(last + 1));
        }
    }
    items
}

fn push(items: &mut Vec<DiffItem>, item: DiffItem, remarks: &BTreeMap<usize, String>) {
    let lines: Vec<usize> = match &item {
        DiffItem::One(line) => vec![*line],
        DiffItem::Two(old, new) if old == new => old.iter().copied().collect(),
        DiffItem::Two(old, new) => old.iter().chain(new).copied().collect(),
        DiffItem::Blank(old, new) => vec![*old, *new],
        DiffItem::Fold(_) | DiffItem::Gap(_) | DiffItem::Remark(_) => Vec::new(),
    };
    items.push(item);
    items.extend(lines.into_iter().filter(|line| remarks.contains_key(line)).map(DiffItem::Remark));
}

fn run(lines: &[BodyLine], kind: LineKind) -> usize {
    lines.iter().take_while(|line| line.change() == Some(kind)).count()
}

/// Whether lines of the file are missing between two of the body.
fn is_gap(before: Option<&BodyLine>, line: &BodyLine) -> bool {
    let (Some(LineRole::Diff(_, old, new)), LineRole::Diff(_, next_old, next_new)) =
        (before.map(|line| line.role), line.role)
    else {
        return false;
    };
    let jumps = |from: Option<usize>, to: Option<usize>| matches!((from, to), (Some(from), Some(to)) if to > from + 1);
    jumps(old, next_old) || jumps(new, next_new)
}

/// For each line whether it shows.
fn visible(body: &ReviewBody, wish: ItemOptions) -> Vec<bool> {
    let around = match wish.context {
        UnchangedLines::Whole => return vec![true; body.lines.len()],
        UnchangedLines::Lines(lines) => lines,
    };
    let mut show = vec![false; body.lines.len()];
    for (place, line) in body.lines.iter().enumerate() {
        let counts = line.change().is_some() || !matches!(line.role, LineRole::Diff(..));
        if counts {
            let end = (place + 1 + around).min(show.len());
            if let Some(near) = show.get_mut(place.saturating_sub(around)..end) {
                near.fill(true);
            }
        }
    }
    // A fold of one line would take as much room as the line.
    for place in 0..show.len() {
        let is_shown =
            |at: Option<usize>| at.is_none_or(|at| show.get(at).copied().unwrap_or(true));
        if is_shown(place.checked_sub(1))
            && is_shown(place.checked_add(1))
            && let Some(one) = show.get_mut(place)
        {
            *one = true;
        }
    }
    show
}

/// Lists one changed place.
fn block(
    body: &ReviewBody,
    removed: Range<usize>,
    added: Range<usize>,
    wish: ItemOptions,
    push: &mut dyn FnMut(DiffItem),
) {
    let pairs = pairs(body, &removed, &added, wish);
    let (mut old, mut new) = (removed.start, added.start);
    let ends = pairs.into_iter().map(Some).chain([None]);
    for pair in ends {
        let (old_end, new_end) = pair.map_or((removed.end, added.end), |(old, new, _)| (old, new));
        match wish.columns {
            Columns::Unified => {
                (old..old_end).chain(new..new_end).for_each(|line| push(DiffItem::One(line)));
            }
            Columns::SideBySide => {
                let rows = (old_end - old).max(new_end - new);
                for row in 0..rows {
                    let side = |start: usize, end| Some(start + row).filter(|line| *line < end);
                    push(DiffItem::Two(side(old, old_end), side(new, new_end)));
                }
            }
        }
        if let Some((pair_old, pair_new, is_blank)) = pair {
            push(match is_blank {
                Likeness::Blank => DiffItem::Blank(pair_old, pair_new),
                Likeness::Version => DiffItem::Two(Some(pair_old), Some(pair_new)),
            });
            (old, new) = (pair_old + 1, pair_new + 1);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Version,
    Blank,
}

/// Lines of a changed place that show together, in order.
fn pairs(
    body: &ReviewBody,
    removed: &Range<usize>,
    added: &Range<usize>,
    wish: ItemOptions,
) -> Vec<(usize, usize, Likeness)> {
    let first = body.lines.get(added.start).and_then(|line| match line.role {
        LineRole::Diff(_, _, new) => new,
        LineRole::Fact | LineRole::Note => None,
    });
    let Some(first) = first else { return Vec::new() };
    let mut next = added.start;
    let mut pairs = Vec::new();
    for old in removed.clone() {
        let likeness = match (body.lines.get(old).map(|line| line.pair), wish) {
            (Some(LinePair::Spaces(no)), ItemOptions { blanks: Blanks::Folded, .. }) => {
                (no, Likeness::Blank)
            }
            (
                Some(LinePair::Spaces(no) | LinePair::Version(no)),
                ItemOptions { columns: Columns::SideBySide, .. },
            ) => (no, Likeness::Version),
            _ => continue,
        };
        let Some(new) = likeness.0.checked_sub(first).map(|step| added.start + step) else {
            continue;
        };
        if new >= next && new < added.end {
            pairs.push((old, new, likeness.1));
            next = new + 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::body::tests_support::body;
    use super::*;

    const UNIFIED: ItemOptions = ItemOptions {
        columns: Columns::Unified,
        blanks: Blanks::Shown,
        context: UnchangedLines::Lines(3),
    };

    fn list(old: &str, new: &str, wish: ItemOptions) -> Vec<DiffItem> {
        items(&body(Some(old), Some(new)), wish, &BTreeMap::new())
    }

    fn numbered(changed: &[usize]) -> (String, String) {
        let line = |n: usize| format!("line {n}\n");
        let old = (1..=40).map(line).collect();
        let new =
            (1..=40).map(|n| if changed.contains(&n) { format!("new {n}\n") } else { line(n) });
        (old, new.collect())
    }

    #[test]
    fn context_folds_and_unfolds() {
        let (old, new) = numbered(&[10, 30]);
        let folded = list(&old, &new, UNIFIED);
        let folds: Vec<_> =
            folded.iter().filter(|item| matches!(item, DiffItem::Fold(_))).collect();
        assert_eq!(
            folds,
            [&DiffItem::Fold(0..6), &DiffItem::Fold(14..27), &DiffItem::Fold(35..42)]
        );
        let whole = list(&old, &new, ItemOptions { context: UnchangedLines::Whole, ..UNIFIED });
        assert_eq!(whole.len(), 42);
        let (old, new) = numbered(&[10, 18]);
        let close = list(&old, &new, UNIFIED);
        assert!(!close.contains(&DiffItem::Fold(14..15)), "a fold of one line");
    }

    #[test]
    fn versions_stand_side_by_side() {
        let old = "a\nint x = 1;\nz\n";
        let new = "a\n/* new */\nint x = 2;\nz\n";
        let side_by_side = list(old, new, ItemOptions { columns: Columns::SideBySide, ..UNIFIED });
        assert_eq!(
            side_by_side,
            [
                DiffItem::Two(Some(0), Some(0)),
                DiffItem::Two(None, Some(2)),
                DiffItem::Two(Some(1), Some(3)),
                DiffItem::Two(Some(4), Some(4)),
            ]
        );
    }

    #[test]
    fn blanks_can_be_set_aside_but_are_never_gone() {
        let (old, new) = ("a();\nb();\n", "if (x) {\n  a();\n  b();\n}\n");
        let folded = list(old, new, ItemOptions { blanks: Blanks::Folded, ..UNIFIED });
        assert_eq!(
            folded,
            [DiffItem::One(2), DiffItem::Blank(0, 3), DiffItem::Blank(1, 4), DiffItem::One(5)]
        );
    }

    proptest! {
        #[test]
        fn every_changed_line_is_listed_once(
            old in "([abc ]{0,3}\n){0,30}",
            new in "([abc ]{0,3}\n){0,30}",
            around in 0_usize..4,
            side_by_side in prop::bool::ANY,
            folded in prop::bool::ANY,
        ) {
            let wish = ItemOptions {
                columns: if side_by_side { Columns::SideBySide } else { Columns::Unified },
                blanks: if folded { Blanks::Folded } else { Blanks::Shown },
                context: UnchangedLines::Lines(around),
            };
            let body = body(Some(&old), Some(&new));
            let mut seen = HashSet::new();
            for item in items(&body, wish, &BTreeMap::new()) {
                let lines: Vec<usize> = match item {
                    DiffItem::One(line) => vec![line],
                    DiffItem::Two(old, new) if old == new => old.into_iter().collect(),
                    DiffItem::Two(old, new) => old.into_iter().chain(new).collect(),
                    DiffItem::Blank(old, new) => vec![old, new],
                    DiffItem::Fold(lines) => {
                        prop_assert!(lines.clone().all(|at| body.lines[at].change().is_none()));
                        lines.collect()
                    }
                    DiffItem::Gap(_) | DiffItem::Remark(_) => Vec::new(),
                };
                for line in lines {
                    prop_assert!(seen.insert(line), "line {} twice", line);
                }
            }
            prop_assert_eq!(seen.len(), body.lines.len());
        }
    }
}
