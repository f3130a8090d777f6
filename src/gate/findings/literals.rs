//! Lines that change in their numbers alone.
//!
//! Owns which old line became which new one. Must not judge the numbers.

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
    let line = |all: &[&'_ str], number: u32| {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| all.get(at)).map(|line| (*line).to_owned())
    };
    let mut found = Vec::new();
    for (was, now) in pairs(changed).into_iter().filter(|(_, now)| is_wanted(*now)) {
        let (Some(before), Some(after)) = (line(&old, was), line(&new, now)) else { continue };
        let Some(numbers) = numbers(&before, &after) else { continue };
        let label = label(path, &new, now);
        let all: Vec<String> = numbers.iter().map(|(was, now)| format!("{was} → {now}")).collect();
        found.push((now, format!("{label} {}", all.join(" and "))));
    }
    found
}

/// Lines that stand in each other's place: runs of the same length.
fn pairs(changed: &Changed) -> Vec<(u32, u32)> {
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
    let pattern = NUMBER.as_ref()?;
    if before.len().max(after.len()) > LONGEST || inspect::names_secret(after) {
        return None;
    }
    let words = |line: &str| {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    if words(after).iter().any(|word| inspect::names_secret(word)) {
        return None;
    }
    if pattern.replace_all(before, "#") != pattern.replace_all(after, "#") {
        return None;
    }
    let (old, new) = (pattern.find_iter(before), pattern.find_iter(after));
    let both = old.zip(new).map(|(old, new)| (old.as_str(), new.as_str()));
    let found: Vec<_> = both.filter(|(old, new)| old != new).collect();
    (!found.is_empty() && found.len() <= MOST_NUMBERS).then_some(found)
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
    fn only_numbers_may_differ() {
        assert_eq!(numbers("t < 60;", "t < 600;"), Some(vec![("60", "600")]));
        assert_eq!(numbers("f(1, 0x2, 3)", "f(1, 0x4, 5)"), Some(vec![("0x2", "0x4"), ("3", "5")]));
        assert_eq!(numbers("t < 60;", "t > 60;"), None);
        assert_eq!(numbers("int a1 = x;", "int a2 = x;"), None);
        assert_eq!(numbers("{1, 2, 3}", "{4, 5, 6}"), None);
        assert_eq!(numbers("password = 1234;", "password = 9876;"), None);
    }
}
