//! Tests of the comparison: what `patch` makes of it, and what is marked in it.

use proptest::prelude::*;

use super::*;

fn of(old: &str, new: &str) -> FileDiff {
    diff(old.as_bytes(), new.as_bytes(), Options::default())
}

/// Applies a unified patch the way `patch` does: context and removed lines must match.
fn apply(old: &str, patch: &str) -> String {
    let mut old_lines = old.split_inclusive('\n');
    let (mut out, mut at) = (String::new(), 0);
    let rows: Vec<&str> = patch.split_inclusive('\n').skip(2).collect();
    for (place, row) in rows.iter().enumerate() {
        let has_no_end = rows.get(place + 1).is_some_and(|next| next.starts_with('\\'));
        let body = if has_no_end { row[1..].trim_end_matches('\n') } else { &row[1..] };
        match row.as_bytes()[0] {
            b'@' => {
                let range = row.split(' ').nth(1).unwrap()[1..].to_owned();
                let (start, len) = range.split_once(',').unwrap_or((&range, "1"));
                let start: usize = start.parse().unwrap();
                let start = if len == "0" { start } else { start - 1 };
                while at < start {
                    out.push_str(old_lines.next().unwrap());
                    at += 1;
                }
            }
            b' ' => {
                assert_eq!(old_lines.next().unwrap(), body);
                out.push_str(body);
                at += 1;
            }
            b'-' => {
                assert_eq!(old_lines.next().unwrap(), body);
                at += 1;
            }
            b'+' => out.push_str(body),
            b'\\' => {}
            other => panic!("row starts with {other}"),
        }
    }
    old_lines.for_each(|line| out.push_str(line));
    out
}

#[test]
fn one_changed_line_is_one_hunk_with_its_words() {
    let old = "a\nb\n#include \"driver/gpio.h\"\nc\nd\ne\nf\n";
    let new = "a\nb\n#include \"driver/i2c_master.h\"\nc\nd\ne\nf\n";
    let found = of(old, new);
    assert_eq!((found.added, found.removed, found.hunks.len()), (1, 1, 1));
    assert_eq!(found.hunks[0].header(), "@@ -1,6 +1,6 @@");
    let added = found.lines().find(|line| line.kind == LineKind::Added).unwrap();
    let words: Vec<_> = added.emphasis.iter().map(|range| &added.text[range.clone()]).collect();
    assert_eq!((words, added.new_no, added.old_no), (vec!["i2c_master"], Some(3), None));
}

#[test]
fn line_ends_are_changes_too() {
    let found = of("a\nb\n", "a\r\nb");
    let ends: Vec<_> = found.lines().map(|line| (line.kind, line.end)).collect();
    assert_eq!(
        ends,
        [
            (LineKind::Removed, LineEnd::Lf),
            (LineKind::Removed, LineEnd::Lf),
            (LineKind::Added, LineEnd::CrLf),
            (LineKind::Added, LineEnd::Missing),
        ]
    );
    assert_eq!(apply("a\nb\n", &found.unified("a", "b")), "a\r\nb");
}

#[test]
fn new_and_removed_files_are_one_hunk() {
    let made = of("", "x\ny\n");
    assert_eq!((made.added, made.hunks[0].header().as_str()), (2, "@@ -0,0 +1,2 @@"));
    let gone = of("x\ny\n", "");
    assert_eq!((gone.removed, gone.hunks[0].header().as_str()), (2, "@@ -1,2 +0,0 @@"));
    assert!(of("same\n", "same\n").hunks.is_empty());
}

#[test]
fn bytes_that_read_alike_still_differ() {
    let found = diff(b"\\xff\n", b"\xff\n", Options::default());
    assert_eq!((found.added, found.removed, found.encoding), (1, 1, Encoding::Other));
    assert!(found.lines().all(|line| line.text == "\\xff"));
}

#[test]
fn a_hopeless_pair_of_files_still_ends_and_is_right() {
    let text = |salt: u32| -> String {
        (0..20_000_u32)
            .map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761 ^ salt) % 97))
            .collect()
    };
    let (old, new) = (text(0), text(0x5bd1));
    let options = Options { budget: Duration::from_millis(50), ..Options::default() };
    let found = diff(old.as_bytes(), new.as_bytes(), options);
    assert_eq!(apply(&old, &found.unified("a", "b")), new);
}

proptest! {
    #[test]
    fn the_unified_form_makes_new_from_old(
        old in "([abc ]{0,3}(\n|\r\n)){0,20}[ab]{0,2}",
        new in "([abc ]{0,3}(\n|\r\n)){0,20}[ab]{0,2}",
        context in 0_usize..5,
    ) {
        let options = Options { context, ..Options::default() };
        let found = diff(old.as_bytes(), new.as_bytes(), options);
        prop_assert_eq!(found.hunks.is_empty(), old == new);
        if old != new {
            prop_assert_eq!(apply(&old, &found.unified("a/x", "b/x")), new);
        }
    }

    #[test]
    fn emphasis_lies_on_character_boundaries(old in "\\PC{0,30}", new in "\\PC{0,30}") {
        for line in of(&old, &new).lines() {
            prop_assert!(line.emphasis.iter().all(|range| line.text.get(range.clone()).is_some()));
            prop_assert!(line.emphasis.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}

/// A long line is left out, and the short ones behind it too: a gap must not look like none.
#[test]
fn once_a_line_was_left_out_all_that_follow_are() {
    let limits = DiffLimits { lines: 100, line: 64, bytes: 40 };
    let new = format!("first\n{}\nshort\nlast\n", "x".repeat(60));
    let found = diff(b"", new.as_bytes(), Options { limits, ..Options::default() });
    let kept: Vec<&str> = found.lines().map(|line| line.text.as_str()).collect();
    assert_eq!((kept, found.left_out), (vec!["first"], 3));
}

fn kept(new: &str, limits: DiffLimits) -> (Vec<(String, usize)>, usize) {
    let found = diff(b"", new.as_bytes(), Options { limits, ..Options::default() });
    let lines = found.lines().map(|line| (line.text.clone(), line.cut)).collect();
    (lines, found.left_out)
}

#[test]
fn a_long_line_is_cut_between_letters() {
    let limits = |line| DiffLimits { lines: 100, line, bytes: 1000 };
    assert_eq!(kept("aé€b\n", limits(9)), (vec![("aé€b".to_owned(), 0)], 0));
    assert_eq!(kept("aé€b\n", limits(6)), (vec![("aé€".to_owned(), 1)], 0));
    assert_eq!(kept("aé€b\n", limits(5)), (vec![("aé".to_owned(), 4)], 0));
    assert_eq!(kept("aé€b\n", limits(2)), (vec![("a".to_owned(), 6)], 0));
    assert_eq!(kept("€\n", limits(2)), (vec![(String::new(), 3)], 0));
}

#[test]
fn no_more_lines_and_bytes_are_kept_than_there_is_room_for() {
    let line = |text: &str| (text.to_owned(), 0);
    let two = vec![line("ab"), line("cd")];
    let lines = DiffLimits { lines: 2, line: 64, bytes: 100 };
    assert_eq!(kept("ab\ncd\nef\n", lines), (two.clone(), 1));
    let bytes = DiffLimits { lines: 100, line: 64, bytes: 4 };
    assert_eq!(kept("ab\ncd\nef\n", bytes), (two, 1));
}

#[test]
fn a_range_of_one_line_has_no_length_in_the_header() {
    assert_eq!(of("a\n", "b\n").hunks[0].header(), "@@ -1 +1 @@");
    assert_eq!(of("", "b\n").hunks[0].header(), "@@ -0,0 +1 @@");
}

#[test]
fn changed_lines_are_those_of_the_comparison() {
    let numbers = |ranges: Vec<Range<usize>>| ranges.into_iter().flatten().collect::<Vec<_>>();
    for (old, new) in [
        ("", "a\nb\n"),
        ("a\nb\n", ""),
        ("a\nb\nc\nd", "a\nB\nc\nd\n"),
        ("1\n2\n3\n4\n5\n", "3\n4\n1\n2\n5\n6"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("same\n", "same\n"),
    ] {
        let options = Options { context: 0, ..Options::default() };
        let whole = diff(old.as_bytes(), new.as_bytes(), options);
        let of = |kind: LineKind, number: fn(&DiffLine) -> Option<usize>| -> Vec<usize> {
            let lines = whole.lines().filter(|line| line.kind == kind);
            lines.filter_map(|line| Some(number(line)? - 1)).collect()
        };
        let lines = changed_lines(old.as_bytes(), new.as_bytes(), options.budget);
        assert_eq!(numbers(lines.removed), of(LineKind::Removed, |line| line.old_no), "{old:?}");
        assert_eq!(numbers(lines.added), of(LineKind::Added, |line| line.new_no), "{new:?}");
    }
}
