//! What a run came to, in words: one text for the chat and for the command line.

use std::fmt::Display;

use super::work::{FileFate, NotDone, PassCounts, RunWork};
use crate::text::amounts::count;

/// Files that are named where there is little room.
const NAMED: usize = 4;

/// How many files are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNames {
    All,
    /// The first few, with the number of the others.
    Few,
}

/// The summary of a run: what each line is about, and what it says. Nothing is said about what did
/// not take place.
#[must_use]
pub fn summary(work: &RunWork, names: FileNames) -> Vec<(&'static str, String)> {
    let mut lines = vec![("files", files(work, names))];
    if work.decisions.total() > 0 {
        lines.push(("decisions", decisions(work)));
        lines.extend(read(work).map(|text| ("read", text)));
    }
    let builds = counts(work.builds);
    if !builds.is_empty() {
        lines.push(("builds", format!("{builds}, {}", duration(work.build_millis))));
    }
    let tests = counts(work.tests);
    let ends = [(work.flashes.passed, "done"), (work.flashes.failed, "failed")];
    let ends = ends.into_iter().filter(|(count, _)| *count > 0);
    let writes: Vec<String> =
        ends.map(|(count, end)| format!("{} {end}", plural(count, "write"))).collect();
    lines.extend((!tests.is_empty()).then_some(("test runs", tests)));
    lines.extend((!writes.is_empty()).then(|| ("boards", writes.join(", "))));
    let tokens = work.usage.total();
    let cost = match work.usage.cost.is_zero() {
        true => String::new(),
        false => format!(", {}", work.usage.cost_in_words()),
    };
    let turns: u32 = work.agents.iter().map(|(_, agent)| agent.turns).sum();
    let turns = plural(turns, "turn");
    let tokens = match tokens {
        1 => "1 token".to_owned(),
        _ => format!("{} tokens", count(tokens)),
    };
    lines.push(("cost", format!("{tokens} in {turns}{cost}")));
    let waited = match work.waited_millis / 1_000 {
        0 => String::new(),
        _ => format!(", of which {} waiting for you", duration(work.waited_millis)),
    };
    lines.push(("time", format!("{}{waited}", duration(work.millis))));
    lines
}

/// A length of time: `7 s`, `3:04`, `1:02:03`.
#[must_use]
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, minutes) => format!("{minutes}:{rest:02}"),
        (hours, minutes) => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// So many of something, which takes an `s` for several: `1 line`, `2 lines`.
#[must_use]
pub fn plural(count: impl Display + PartialEq + From<u8>, noun: &str) -> String {
    let end = if count == 1.into() { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// What became of files, each kind with its own names: `2 created: a.c, b.c · 1 changed: c.h`.
fn files(work: &RunWork, names: FileNames) -> String {
    let fates = [FileFate::Created, FileFate::Changed, FileFate::Deleted];
    let kinds = fates.into_iter().filter_map(|fate| {
        let own = work.files().filter(|(_, own)| *own == fate);
        let own: Vec<&str> = own.map(|(path, _)| path.as_str()).collect();
        let counted = format!("{} {}", own.len(), fate.word());
        (!own.is_empty()).then(|| format!("{counted}: {}", named(&own, names)))
    });
    let kinds: Vec<String> = kinds.collect();
    if kinds.is_empty() { "none changed".to_owned() } else { kinds.join(" · ") }
}

/// Names, and how many there are beyond those.
fn named(all: &[&str], names: FileNames) -> String {
    let most = match names {
        FileNames::All => all.len(),
        FileNames::Few => NAMED,
    };
    let shown = all.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn decisions(work: &RunWork) -> String {
    let counts = work.decisions;
    let parts = [
        (counts.approved, "approved"),
        (counts.amended, "approved with changes"),
        (counts.rejected, "rejected"),
        (counts.by_rule, "by a rule"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, word)| format!("{count} {word}"));
    let not_done = counts.not_done;
    let what: Vec<String> = work.not_done.iter().map(NotDone::what).collect();
    let what: Vec<&str> = what.iter().map(String::as_str).collect();
    let what = named(&what, FileNames::Few);
    let not_done = (not_done > 0).then(|| format!("{not_done} of these could not be done: {what}"));
    parts.chain(not_done).collect::<Vec<_>>().join(", ")
}

/// Whether what was approved had been on screen; `None`: the person approved nothing.
fn read(work: &RunWork) -> Option<String> {
    let counts = work.decisions;
    let approved = counts.approved + counts.amended;
    let by_rule = match counts.approved_by_rule {
        0 => None,
        1 => Some("1 change was approved by a rule, without being shown".to_owned()),
        more => Some(format!("{more} changes were approved by rules, without being shown")),
    };
    if approved == 0 {
        return by_rule;
    }
    let own = match counts.lines_unseen {
        0 => "every line that you approved was on screen".to_owned(),
        lines => format!(
            "{} approved without being on screen; {} of {approved} approvals were seen whole",
            plural(lines, "line"),
            counts.seen_whole
        ),
    };
    Some(by_rule.map_or_else(|| own.clone(), |by_rule| format!("{own}; {by_rule}")))
}

fn counts(counts: PassCounts) -> String {
    let parts = [(counts.passed, "passed"), (counts.failed, "failed")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ChangeKind, ProjectPath};

    #[test]
    fn lengths_of_time_are_told_in_the_unit_that_fits() {
        let words = [0, 7_999, 60_000, 184_000, 3_723_000].map(duration);
        assert_eq!(words, ["0 s", "7 s", "1:00", "3:04", "1:02:03"]);
    }

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!([0_usize, 1, 2].map(|n| plural(n, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn what_rules_approved_counts_as_not_shown() {
        let mut work = RunWork::default();
        assert_eq!(read(&work), None);
        (work.decisions.by_rule, work.decisions.approved_by_rule) = (9, 8);
        let words = read(&work).unwrap();
        assert_eq!(words, "8 changes were approved by rules, without being shown");
        (work.decisions.approved, work.decisions.seen_whole) = (1, 1);
        let words = read(&work).unwrap();
        assert!(words.starts_with("every line that you approved was on screen; 8 "), "{words}");
        work.decisions.lines_unseen = 3;
        assert!(read(&work).unwrap().starts_with("3 lines approved without being on screen"));
    }

    #[test]
    fn what_was_approved_and_could_not_be_done_is_counted() {
        let mut work = RunWork::default();
        (work.decisions.approved, work.decisions.not_done) = (3, 1);
        let (kind, path) = (ChangeKind::Delete, ProjectPath::new("a.c").ok());
        work.not_done.push(NotDone { kind, path, is_made_up_for: false });
        assert_eq!(decisions(&work), "3 approved, 1 of these could not be done: delete a.c");
    }

    #[test]
    fn nothing_is_told_of_what_did_not_take_place() {
        let lines = summary(&RunWork::default(), FileNames::Few);
        let about: Vec<&str> = lines.iter().map(|(about, _)| *about).collect();
        assert_eq!(about, ["files", "cost", "time"]);
        assert_eq!(lines[0].1, "none changed");
    }
}
