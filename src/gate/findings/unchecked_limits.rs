//! Limits that stay in a source and that nothing is compared with any more.
//!
//! Owns how a comparison is told. What a limit is called is known to
//! [`limit_names`](super::limit_names).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;

use super::limit_names::is_limit;
use super::source::is_c;
use super::{Subject, outer_constants, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// How the names of limits are used in a source: where they are compared or handed on, and where
/// else they stand.
#[derive(Default)]
struct LimitUses {
    checked: BTreeMap<String, Vec<usize>>,
    named: BTreeSet<String>,
}

/// What is to be said of limits that are no longer checked.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    if !is_c(path) && path.extension() != Some("py") {
        return Vec::new();
    }
    let (Some(old), Some(new)) = (subject.base_source(), subject.source()) else {
        return Vec::new();
    };
    let changed = subject.changed();
    let is_gone = |line: &(u32, &str)| changed.removed.contains(&line.0);
    let mut gone = (1..).zip(old.text.lines()).filter(is_gone);
    // Most changes take no line with a limit away.
    if !gone.any(|(_, line)| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_limit)) {
        return Vec::new();
    }
    // Only a check that went is told of.
    let is_in_gone = |token: &Token<'_>| {
        let line = u32::try_from(old.line_at(token.start) + 1);
        line.is_ok_and(|line| changed.removed.contains(&line))
    };
    let words = old.tokens().iter().filter_map(|token| Some((token, token.word()?)));
    let gone = words.filter(|(token, name)| is_limit(name) && is_in_gone(token));
    let wanted: HashSet<Cow<'_, str>> = gone.map(|(_, name)| name).collect();
    let was = LimitUses::of(old.tokens(), &wanted);
    if was.checked.is_empty() {
        return Vec::new();
    }
    let is = LimitUses::of(new.tokens(), &wanted);
    let mut found = Vec::new();
    for (name, places) in was.checked {
        let lines = places.iter().filter_map(|at| u32::try_from(old.line_at(*at) + 1).ok());
        let went = lines.clone().find(|line| changed.removed.contains(line));
        let stays = is.named.contains(&name) || is_outside(&name, path, subject);
        let is_gone = !is.checked.contains_key(&name) && (stays || is_removed(&name, subject));
        let Some(went) = went.filter(|_| is_gone && !is_taken_over(&name, path, subject)) else {
            continue;
        };
        let text = format!("no longer checks against `{name}`");
        let mut finding = Finding::new(FindingLevel::Warning, text)
            .advice("Make sure that something else keeps the limit.");
        finding.place = near(went, subject).map(FindingPlace::line);
        found.push(finding);
    }
    found
}

/// Whether a limit is gone from the change, and no other took its place.
fn is_removed(name: &str, subject: &Subject<'_>) -> bool {
    let task = subject.context.person_words();
    let constants = |text: &str| -> HashSet<String> {
        let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        all.filter(|word| is_constant(word)).map(str::to_owned).collect()
    };
    // `MAX(a, b)` is not a limit.
    if name.len() < 5
        || !is_constant(name)
        || task.is_empty()
        || wishes::may_want_another(&task)
        || wishes::may_want_less_checked(&task)
    {
        return false;
    }
    // Another name may be that of the same limit.
    let mut texts = subject.context.proposed.texts();
    texts.all(|(other, text)| {
        let before = subject.text_before(other.as_str()).unwrap_or_default();
        let (was, is) = (constants(&before), constants(text));
        !is.contains(name) && (!was.contains(name) || is.is_subset(&was))
    })
}

/// Whether another file of the change makes a limit the room of something that keeps it by itself, which
/// it was not before: `circular_buffer<Entry, kMax>`.
fn is_taken_over(name: &str, path: &ProjectPath, subject: &Subject<'_>) -> bool {
    let is_space = |text: &str| {
        let dense: String = text.split_whitespace().collect();
        ["<{}>", ",{}>", "[{}]"].iter().any(|form| dense.contains(&form.replace("{}", name)))
    };
    let mut others = subject.context.proposed.texts().filter(|(other, _)| *other != path);
    others.any(|(other, text)| {
        text.contains(name)
            && is_space(text)
            && subject.text_before(other.as_str()).is_some_and(|before| !is_space(&before))
    })
}

/// Whether a word is written as constants are: `MAX_REGS`, `kMaxRegs`.
fn is_constant(word: &str) -> bool {
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    let is_capital = capitals > 2 && !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let of_k = word.strip_prefix('k').is_some_and(|rest| rest.starts_with(char::is_uppercase));
    is_capital || of_k
}

/// Whether a header that the file includes still gives a limit, and no other file of the change got
/// its check.
fn is_outside(name: &str, path: &ProjectPath, subject: &Subject<'_>) -> bool {
    let has =
        |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name);
    let text = subject.text().unwrap_or_default();
    let others = subject.context.proposed.texts();
    let mut others = others.filter(|(other, text)| *other != path && has(text));
    let is_moved = others
        .any(|(other, _)| !subject.text_before(other.as_str()).is_some_and(|before| has(&before)));
    !is_moved
        && outer_constants::headers(path, text, |file| subject.text_after(file))
            .iter()
            .any(|(_, header)| has(header))
}

/// The line of the new version at the place of an old one that went: one that came there, else the
/// next that stayed.
pub(super) fn near(went: u32, subject: &Subject<'_>) -> Option<u32> {
    let changed = subject.changed();
    let lines = u32::try_from(subject.text()?.lines().count()).ok()?;
    let stays = |line: &u32| changed.line_before(*line).is_some_and(|before| before > went);
    // Lines keep their order.
    let (mut low, mut high) = (1, lines + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let next = (middle..=lines).find(|line| !changed.added.contains(line));
        match next.is_none_or(|line| stays(&line)) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low.min(lines))
}

impl LimitUses {
    /// Of the names that are `wanted`.
    fn of(all: &[Token<'_>], wanted: &HashSet<Cow<'_, str>>) -> Self {
        let mut found = Self::default();
        for (at, token) in all.iter().enumerate() {
            let Some(name) = token.word().filter(|name| wanted.contains(name)) else { continue };
            if is_checked(all, at) {
                found.checked.entry(name.into_owned()).or_default().push(token.start);
            } else {
                found.named.insert(name.into_owned());
            }
        }
        found
    }
}

/// Whether the name at `at` is compared, or is an argument or a part of an expression.
fn is_checked(all: &[Token<'_>], at: usize) -> bool {
    let is = |at: Option<usize>, mark: &str| {
        at.and_then(|at| all.get(at)).is_some_and(|token| token.is(mark))
    };
    let before = at.checked_sub(1);
    let is_discarded = is(before, ")")
        && is(Some(at + 1), ";")
        && at.checked_sub(2).and_then(|at| all.get(at)).is_some_and(|token| token.is_word("void"));
    let is_defined = before.and_then(|at| all.get(at)).is_some_and(|token| {
        token.kind == TokenKind::Word && !token.is_word("return") && !token.is_word("in")
    });
    let is_given = is(Some(at + 1), "=") && !is(Some(at + 2), "=");
    !is_discarded && !is_defined && !is_given
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{TestProject, check};
    use crate::model::CheckKind;

    fn reported(path: &str, old: &str, new: &str) -> Vec<(u32, String)> {
        let found = check(CheckKind::Safeguards, (path, Some(old), new), "");
        let found = found.map(|check| check.findings).unwrap_or_default().into_iter();
        found.map(|f| (f.place.as_ref().map_or(0, |place| place.line), f.text)).collect()
    }

    #[test]
    fn a_limit_that_nothing_is_compared_with_any_more_is_found_where_the_check_was() {
        let old = "static const int max_s = 30;\n\nvoid run(int s)\n{\n    if (s > max_s) {\n        \
                   s = max_s;\n    }\n    start(s);\n}\n";
        let check = "    if (s > max_s) {\n        s = max_s;\n    }\n";
        let gone = vec![(5, "no longer checks against `max_s`".to_owned())];
        assert_eq!(reported("a.c", old, &old.replace(check, "")), gone);
        assert_eq!(reported("a.c", old, &old.replace(check, "    (void)max_s;\n")), gone);
        let python = "MAX_S = 30\n\n\ndef run(s):\n    if s > MAX_S:\n        s = 1\n    go(s)\n";
        let short = python.replace("    if s > MAX_S:\n        s = 1\n", "");
        assert_eq!(
            reported("a.py", python, &short),
            [(5, "no longer checks against `MAX_S`".to_owned())]
        );
    }

    #[test]
    fn limits_that_are_checked_otherwise_or_go_are_not() {
        let old =
            "#define MAX_S 30\nvoid run(int s)\n{\n    if (s > MAX_S) return;\n    go(s);\n}\n";
        for new in [
            old.replace("if (s > MAX_S) return;", "s = MIN(s, MAX_S);"),
            old.replace("if (s > MAX_S) return;", "if (!is_in(s, MAX_S)) return;"),
            old.replace("MAX_S", "LONGEST"),
            old.replace("go(s)", "went(s)"),
            "#define MIN_S 1\nvoid run(int s);\n".to_owned(),
        ] {
            assert_eq!(reported("a.c", old, &new), [], "{new}");
        }
    }

    #[test]
    fn a_limit_that_becomes_the_room_of_a_buffer_is_still_kept() {
        let header = "#pragma once\nconstexpr int kMaxLog = 64;\nstd::deque<Entry> entries;\n";
        let old = "#include \"log.hpp\"\nvoid add(Entry e) {\n    if (entries.size() == kMaxLog) {\n        \
                   entries.pop_front();\n    }\n    entries.push_back(e);\n}\n";
        let new = "#include \"log.hpp\"\nvoid add(Entry e) {\n    entries.push(e);\n}\n";
        let files = [("main/log.hpp", header), ("main/log.cpp", old)];
        let found = |header: &str| {
            let changes = [("main/log.hpp", Some(header)), ("main/log.cpp", Some(new))];
            TestProject { files: &files, task: "Keep the log in a ring", chip: None }
                .reported(CheckKind::Safeguards, &changes)
                .into_iter()
                .filter(|found| found.contains("checks against"))
                .count()
        };
        let ring = header.replace("std::deque<Entry>", "etl::circular_buffer<Entry, kMaxLog>");
        assert_eq!(found(&ring), 0);
        assert_eq!(found(&header.replace("deque", "list")), 1);
    }

    #[test]
    fn a_limit_of_a_header_that_nothing_checks_any_longer_is_told() {
        let header = "#define MAX_REGS 12\n";
        let old = "#include \"a.h\"\nint f(int n)\n{\n    if (n > MAX_REGS || n < 2) {\n        return 1;\n    }\n    return 0;\n}\n";
        let new = old.replace("n > MAX_REGS || ", "");
        let files = [("main/a.h", header), ("main/a.c", old)];
        let found = |more: &[(&str, Option<&str>)]| {
            let mut changes = vec![("main/a.c", Some(new.as_str()))];
            changes.extend(more);
            let task = "Publish the charge";
            let all = TestProject { files: &files, task, chip: None }
                .reported(CheckKind::Safeguards, &changes);
            all.into_iter().filter(|found| found.contains("against")).collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), ["main/a.c Warning: no longer checks against `MAX_REGS`"]);
        let renamed = header.replace("MAX_REGS", "MOST_REGS");
        assert_eq!(
            found(&[("main/a.h", Some(&renamed))]),
            [] as [String; 0],
            "it has another name"
        );
        let moved = "#include \"a.h\"\nint g(int n) { return n > MAX_REGS; }\n";
        assert_eq!(found(&[("main/b.c", Some(moved))]), [] as [String; 0], "it stands elsewhere");
    }
}
