//! Which changed lines of a diff belong together: versions of one another, the same but for
//! blanks, or moved as a block.
//!
//! Owns the pairing and its limits. It only adds marks; no line is ever taken out of a diff here.

use std::collections::HashMap;
use std::time::Instant;

use similar::{Algorithm, DiffOp};

use super::align::align;
pub use super::diff_line::LinePair;
use super::diff_line::{DiffLine, Hunk, LineKind};
use super::words;

/// More pairs of changed lines than this get no emphasis.
const MAX_PAIRS: usize = 5_000;
/// A block of fewer letters and digits than this is not called moved: braces are everywhere.
const MIN_MOVED: usize = 20;
/// Lines that are alike in more places than this are not followed.
const MAX_PLACES: usize = 16;

/// Marks the twins of all changed lines, and the words that differ. After `deadline` the rest
/// stays without.
pub(super) fn find(hunks: &mut [Hunk], deadline: Option<Instant>) {
    let mut pairs = 0;
    for hunk in hunks.iter_mut() {
        for (removed, added) in blocks(&mut hunk.lines) {
            if pairs > MAX_PAIRS || late(deadline) {
                return;
            }
            pair(removed, added, deadline, &mut pairs);
        }
    }
    if !late(deadline) {
        mark_moved(hunks, deadline);
    }
}

fn late(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|at| Instant::now() > at)
}

/// The removed and the added lines of each changed place; either may be empty.
fn blocks(lines: &mut [DiffLine]) -> Vec<(&mut [DiffLine], &mut [DiffLine])> {
    let mut found = Vec::new();
    for run in lines.chunk_by_mut(|one, other| {
        (one.kind == LineKind::Context) == (other.kind == LineKind::Context)
            && !(one.kind == LineKind::Added && other.kind == LineKind::Removed)
    }) {
        if run.first().is_some_and(|line| line.kind != LineKind::Context) {
            let split = run.partition_point(|line| line.kind == LineKind::Removed);
            found.push(run.split_at_mut(split));
        }
    }
    found
}

/// Pairs the lines of one place: first those that differ in blanks only, then, between these, the
/// versions of one another.
fn pair(
    removed: &mut [DiffLine],
    added: &mut [DiffLine],
    deadline: Option<Instant>,
    pairs: &mut usize,
) {
    if removed.is_empty() || added.is_empty() {
        return;
    }
    let bare = |lines: &[DiffLine]| lines.iter().map(|line| bare(&line.text)).collect::<Vec<_>>();
    let (olds, news) = (bare(removed), bare(added));
    let (olds, news): (Vec<&str>, Vec<&str>) =
        (olds.iter().map(String::as_str).collect(), news.iter().map(String::as_str).collect());
    let ops = align(Algorithm::Myers, &olds, &news, deadline);
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        let (Some(removed), Some(added)) = (removed.get_mut(old), added.get_mut(new)) else {
            continue;
        };
        if matches!(op, DiffOp::Equal { .. }) {
            for (one, other) in removed.iter_mut().zip(added) {
                join(one, other, LinePair::Spaces);
            }
            continue;
        }
        let olds: Vec<&str> = removed.iter().map(|line| line.text.as_str()).collect();
        let news: Vec<&str> = added.iter().map(|line| line.text.as_str()).collect();
        let found = words::pair(&olds, &news);
        for (one, other) in found {
            *pairs += 1;
            if *pairs > MAX_PAIRS || late(deadline) {
                return;
            }
            if let (Some(one), Some(other)) = (removed.get_mut(one), added.get_mut(other)) {
                join(one, other, LinePair::Version);
            }
        }
    }
}

fn join(old: &mut DiffLine, new: &mut DiffLine, counterpart: fn(usize) -> LinePair) {
    (old.emphasis, new.emphasis) = words::emphasis(&old.text, &new.text);
    // Lines that only end in another way differ in no word.
    if let (Some(old_no), Some(new_no)) = (old.old_no, new.new_no) {
        old.pair = counterpart(new_no);
        new.pair = counterpart(old_no);
    }
}

/// A line without its blanks.
fn bare(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Marks blocks that went elsewhere unchanged.
fn mark_moved(hunks: &mut [Hunk], deadline: Option<Instant>) {
    let of = |kind| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(move |line| line.kind == kind);
        lines.filter(|line| line.cut == 0)
    };
    let removed: Vec<(usize, &str)> =
        of(LineKind::Removed).map(|line| (line.old_no.unwrap_or(0), line.text.as_str())).collect();
    let added: Vec<(usize, &str)> =
        of(LineKind::Added).map(|line| (line.new_no.unwrap_or(0), line.text.as_str())).collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, (_, text)) in added.iter().enumerate() {
        if weight(text) > 0 {
            places.entry(text).or_default().push(place);
        }
    }
    let (mut gone, mut come) = (HashMap::new(), HashMap::new());
    let mut at = 0;
    while let Some((_, text)) = removed.get(at) {
        if late(deadline) {
            return;
        }
        let candidates = places.get(text).filter(|places| places.len() <= MAX_PLACES);
        let best = candidates
            .into_iter()
            .flatten()
            .map(|&place| (same(&removed, &added, at, place), place))
            .filter(|(_, place)| added.get(*place).is_some_and(|(no, _)| !come.contains_key(no)))
            .max_by_key(|((_, weight), _)| *weight);
        match best {
            Some(((len, weight), place)) if weight >= MIN_MOVED => {
                for step in 0..len {
                    if let (Some((old, _)), Some((new, _))) =
                        (removed.get(at + step), added.get(place + step))
                    {
                        gone.insert(*old, *new);
                        come.insert(*new, *old);
                    }
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    settle(hunks, &gone, &come);
}

/// Writes down what moved, from the number in one version to that in the other.
fn settle(hunks: &mut [Hunk], gone: &HashMap<usize, usize>, come: &HashMap<usize, usize>) {
    for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        let (here, there, no) = match line.kind {
            LineKind::Removed => (gone, come, line.old_no),
            LineKind::Added => (come, gone, line.new_no),
            LineKind::Context => continue,
        };
        let to = no.and_then(|no| here.get(&no));
        let was = match line.pair {
            LinePair::Version(no) | LinePair::Spaces(no) => Some(no),
            LinePair::None | LinePair::Moved(_) => None,
        };
        if let Some(to) = to {
            line.pair = LinePair::Moved(*to);
            line.emphasis.clear();
        } else if was.is_some_and(|no| there.contains_key(&no)) {
            // What stands here instead of a moved line is no version of it.
            line.pair = LinePair::None;
            line.emphasis.clear();
        }
    }
}

/// How many lines from these places on are alike and in a row in both versions, and what they
/// weigh.
fn same(
    removed: &[(usize, &str)],
    added: &[(usize, &str)],
    from: usize,
    to: usize,
) -> (usize, usize) {
    let (mut len, mut sum) = (0, 0);
    while let (Some((old, one)), Some((new, other))) =
        (removed.get(from + len), added.get(to + len))
    {
        let follows = |lines: &[(usize, &str)], start: usize, no: usize| {
            lines.get(start).is_some_and(|(first, _)| first + len == no)
        };
        if one != other || !follows(removed, from, *old) || !follows(added, to, *new) {
            break;
        }
        sum += weight(one);
        len += 1;
    }
    (len, sum)
}

/// Letters and digits of a line.
fn weight(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::super::diff::{Options, diff};
    use super::*;

    fn pairs_of(old: &str, new: &str) -> Vec<(LineKind, String, LinePair)> {
        let found = diff(old.as_bytes(), new.as_bytes(), Options::default());
        let changed = found.lines().filter(|line| line.kind != LineKind::Context);
        changed.map(|line| (line.kind, line.text.clone(), line.pair)).collect()
    }

    #[test]
    fn a_block_that_goes_elsewhere_is_marked_on_both_sides() {
        let block = "static int first(void)\n{\n    return answer_to_all();\n}\n";
        let rest: String = (0..12).map(|n| format!("int keep_{n};\n")).collect();
        let found = pairs_of(&format!("{block}{rest}"), &format!("{rest}{block}"));
        assert_eq!(found.len(), 8);
        assert_eq!(found[0].2, LinePair::Moved(13));
        assert_eq!(
            found[4],
            (LineKind::Added, "static int first(void)".into(), LinePair::Moved(1))
        );
        let braces = pairs_of("}\nint keep_a;\nint keep_b;\n", "int keep_a;\nint keep_b;\n}\n");
        assert!(
            braces.iter().all(|(_, _, counterpart)| *counterpart == LinePair::None),
            "{braces:?}"
        );
    }

    #[test]
    fn lines_that_differ_in_blanks_only_are_told_apart() {
        let old = "a();\nint x = 1;\nb();\n";
        let new = "if (ok) {\n    a();\n    int y = 1;\n    b();\n}\n";
        let found = pairs_of(old, new);
        let of = |text: &str| found.iter().find(|(_, line, _)| line == text).unwrap().2;
        assert_eq!(of("a();"), LinePair::Spaces(2));
        assert_eq!(of("    b();"), LinePair::Spaces(3));
        assert_eq!(of("    int y = 1;"), LinePair::Version(2));
        assert_eq!((of("if (ok) {"), of("}")), (LinePair::None, LinePair::None));
    }

    #[test]
    fn counterparts_name_each_other() {
        let old: String = (0..60).map(|n| format!("call_number_{}();\n", n * 7 % 31)).collect();
        let new: String = (0..60).map(|n| format!("  call_number_{}();\n", n * 5 % 31)).collect();
        let found = diff(old.as_bytes(), new.as_bytes(), Options::default());
        for line in found.lines() {
            let (LinePair::Version(no) | LinePair::Spaces(no) | LinePair::Moved(no)) = line.pair
            else {
                continue;
            };
            let other = found.lines().find(|other| match line.kind {
                LineKind::Removed => other.kind == LineKind::Added && other.new_no == Some(no),
                _ => other.kind == LineKind::Removed && other.old_no == Some(no),
            });
            let back = match other.unwrap().pair {
                LinePair::Version(no) | LinePair::Spaces(no) | LinePair::Moved(no) => Some(no),
                LinePair::None => None,
            };
            assert_eq!(back, line.old_no.or(line.new_no));
        }
    }
}
