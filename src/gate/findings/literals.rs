//! Lines that change in their numbers alone.
//!
//! Owns which old line became which new one. Must not judge the numbers.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::subject::Changed;
use crate::model::ProjectPath;
use crate::text::inspect;

/// Numbers of one line that are told.
const MOST_NUMBERS: usize = 2;

/// Longest line that is compared, in bytes.
const LONGEST: usize = 400;

/// A number by itself, with its sign and unit.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"-?\b\d[\w.]*").ok());

/// The numbers that change in lines that are wanted and stay as they are otherwise: the line, and
/// what to say.
pub(super) fn changed(
    path: &ProjectPath,
    (old, new): (&str, &str),
    changed: &Changed,
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<(u32, String)> {
    if changed.removed.is_empty() || changed.added.is_empty() {
        return Vec::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let at = |number: u32| usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let mut found = Vec::new();
    for (was, now) in pairs(changed).into_iter().filter(|(_, now)| is_wanted(*now)) {
        let before = at(was).and_then(|at| old.get(at));
        let (Some(before), Some(after)) = (before, at(now).and_then(|at| new.get(at))) else {
            continue;
        };
        let Some(numbers) = numbers(before, after) else { continue };
        let label = label(path, &new, now);
        let all: Vec<String> = numbers.iter().map(|(was, now)| format!("{was} → {now}")).collect();
        found.push((now, format!("{label} {}", all.join(" and "))));
    }
    found
}

/// Lines that stand in each other's place: runs of the same length.
pub(super) fn pairs(changed: &Changed) -> Vec<(u32, u32)> {
    let runs = |lines: &std::collections::BTreeSet<u32>| {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &line in lines {
            match runs.last_mut() {
                Some((start, length)) if *start + *length == line => *length += 1,
                _ => runs.push((line, 1)),
            }
        }
        runs
    };
    let (removed, added) = (runs(&changed.removed), runs(&changed.added));
    let mut pairs = Vec::new();
    let mut shift = 0_i64;
    let (mut old, mut new) = (removed.iter().peekable(), added.iter().peekable());
    loop {
        let at = |run: Option<&&(u32, u32)>, shift: i64| {
            run.map_or(i64::MAX, |(start, _)| i64::from(*start) + shift)
        };
        let (gone, come) = (at(old.peek(), shift), at(new.peek(), 0));
        if gone == i64::MAX && come == i64::MAX {
            return pairs;
        }
        let both = gone == come;
        let was = (gone <= come).then(|| old.next()).flatten();
        let now = (both || come < gone).then(|| new.next()).flatten();
        if let (Some((from, length)), Some((to, count))) = (was, now)
            && length == count
        {
            pairs.extend((0..*length).map(|line| (from + line, to + line)));
        }
        shift += now.map_or(0, |(_, count)| i64::from(*count));
        shift -= was.map_or(0, |(_, length)| i64::from(*length));
    }
}

/// The numbers that differ; `None` when anything else does, or many do.
fn numbers<'a>(before: &'a str, after: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    if before.len().max(after.len()) > LONGEST {
        return None;
    }
    let (old, new) = (places(before)?, places(after)?);
    if without(before, &old) != without(after, &new) {
        return None;
    }
    let both = old.into_iter().zip(new);
    let both = both.filter_map(|(old, new)| Some((before.get(old)?, after.get(new)?)));
    let found: Vec<_> = both.filter(|(old, new)| old != new).collect();
    let is_wanted = !found.is_empty() && found.len() <= MOST_NUMBERS && !speaks_of_secret(after);
    is_wanted.then_some(found)
}

/// Whether a line or a word of it is the name of a secret.
fn speaks_of_secret(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    inspect::may_name_secret(line)
        && (inspect::names_secret(line) || words.any(inspect::names_secret))
}

/// Where the numbers of a line stand.
fn places(line: &str) -> Option<Vec<Range<usize>>> {
    if !line.is_ascii() {
        return Some(NUMBER.as_ref()?.find_iter(line).map(|number| number.range()).collect());
    }
    // The same without the pattern, which takes longer to begin than most lines to read.
    let bytes = line.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let is_signed = bytes.get(at) == Some(&b'-') && is_digit(at + 1);
        let is_in_word = at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(is_word);
        if !is_signed && (!is_digit(at) || is_in_word) {
            at += 1;
            continue;
        }
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_word(byte) || **byte == b'.').count();
        found.push(at..at + 1 + length);
        at += 1 + length;
    }
    Some(found)
}

/// A line with a mark in the place of its numbers.
fn without(line: &str, numbers: &[Range<usize>]) -> String {
    let (mut text, mut from) = (String::with_capacity(line.len()), 0);
    for number in numbers {
        text.push_str(line.get(from..number.start).unwrap_or_default());
        text.push('#');
        from = number.end;
    }
    text.push_str(line.get(from..).unwrap_or_default());
    text
}

/// What the numbers of a line belong to.
fn label(path: &ProjectPath, lines: &[&str], number: u32) -> String {
    let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let line = lines.get(at).copied().unwrap_or_default();
    if path.extension() == Some("csv") {
        let first = line.split(',').next().unwrap_or_default().trim();
        let is_name = first.chars().any(char::is_alphabetic) && first.len() <= 24;
        if is_name {
            return first.to_owned();
        }
    }
    if path.file_name().starts_with("Kconfig") {
        let option = lines.get(..at).unwrap_or_default().iter().rev().find_map(|line| {
            let rest = line.trim_start();
            rest.strip_prefix("config ").or_else(|| rest.strip_prefix("menuconfig "))
        });
        let keyword = line.split_whitespace().next().unwrap_or_default();
        if let Some(option) = option {
            return format!("{} {keyword}", option.trim());
        }
    }
    format!("line {number}:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(all: &[u32]) -> std::collections::BTreeSet<u32> {
        all.iter().copied().collect()
    }

    #[test]
    fn lines_that_stand_in_each_others_place_are_paired() {
        let of = |removed: &[u32], added: &[u32]| {
            pairs(&Changed { added: lines(added), removed: lines(removed) })
        };
        assert_eq!(of(&[3], &[3]), [(3, 3)]);
        assert_eq!(of(&[3, 4, 9], &[3, 4, 9]), [(3, 3), (4, 4), (9, 9)]);
        assert_eq!(of(&[5], &[1, 2, 7]), [(5, 7)], "two lines came above");
        assert_eq!(of(&[1, 2, 8], &[6]), [(8, 6)], "two lines went above");
        assert_eq!(of(&[3], &[3, 4]), []);
        assert_eq!(of(&[3], &[]), []);
    }

    #[test]
    fn numbers_are_where_the_pattern_finds_them() {
        let pattern = NUMBER.as_ref().unwrap();
        for line in [
            "",
            "5",
            "-5",
            "a5 5a -x 0x1f.5,7",
            "1-2--3 -",
            "5.5-3.._9",
            "a_-1 b.2 c-",
            "-1.2.3-4",
            "#5 # 5#",
            "x[12]=-7;",
            "é5 5é -5",
            "9é",
        ] {
            let found: Vec<_> = pattern.find_iter(line).map(|number| number.range()).collect();
            assert_eq!(places(line).unwrap(), found, "{line}");
            assert_eq!(without(line, &found), pattern.replace_all(line, "#"), "{line}");
        }
    }

    #[test]
    fn only_numbers_may_differ() {
        assert_eq!(numbers("t < 60;", "t < 600;"), Some(vec![("60", "600")]));
        assert_eq!(numbers("f(1, 0x2, 3)", "f(1, 0x4, 5)"), Some(vec![("0x2", "0x4"), ("3", "5")]));
        assert_eq!(numbers("t < 60;", "t > 60;"), None);
        assert_eq!(numbers("int a1 = x;", "int a2 = x;"), None);
        assert_eq!(numbers("{1, 2, 3}", "{4, 5, 6}"), None);
        assert_eq!(numbers("password = 1234;", "password = 9876;"), None);
    }
}
