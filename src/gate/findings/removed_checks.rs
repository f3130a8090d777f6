//! Checks of a value or a state that a change takes out of code, or that decide otherwise, without
//! being asked to.
//!
//! Owns how a check is told: a macro that returns, or an `if` that does. Limits by name are known to
//! [`unchecked_limits`](super::unchecked_limits).

use std::cell::LazyCell;
use std::ops::Range;

use super::source::{SourceText, is_like_c, number, raw};
use super::{Subject, unchecked_limits, unguarded, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::Token;

/// Macros that end a function when their first argument does not hold. Sources: `esp_check.h`,
/// `FreeRTOSConfig.h`.
const MACROS: [&str; 6] = [
    "ESP_RETURN_ON_FALSE",
    "ESP_RETURN_ON_FALSE_ISR",
    "ESP_GOTO_ON_FALSE",
    "ESP_GOTO_ON_FALSE_ISR",
    "configASSERT",
    "assert",
];

/// Beginnings of words of a condition that lets somebody in, or not.
const TRUST: [&str; 7] = ["auth", "verif", "signature", "login", "passw", "permi", "trusted"];

/// Longest condition that is read, in tokens, and longest block of Python, in lines.
const LONGEST: usize = 40;

/// Longest condition that is shown, in characters.
const SHOWN: usize = 48;

/// A check, and its lines, from 1: the first and the last.
#[derive(Clone)]
struct CodeCheck {
    condition: String,
    /// Whether it leaves with a value, or jumps.
    has_value: bool,
    lines: (u32, u32),
}

/// What is to be said of checks that went, or that decide otherwise.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let both = || Some((subject.base_source()?, subject.source()?));
    let is_read = is_like_c(path) || path.extension() == Some("py");
    let Some((old, new)) = both().filter(|_| is_read) else { return Vec::new() };
    let task = subject.context.person_words();
    if subject.changed().removed.is_empty() || task.is_empty() {
        return Vec::new();
    }
    if wishes::may_want_less_checked(&task) {
        return Vec::new();
    }
    let (was, is) = (checks(old), checks(new));
    let other = |all: &[CodeCheck], than: &[CodeCheck]| -> Vec<CodeCheck> {
        let is_in = |check: &&CodeCheck| than.iter().any(|it| it.condition == check.condition);
        all.iter().filter(|check| !is_in(check)).cloned().collect()
    };
    let came = other(&is, &was);
    let checks = other(&was, &is).into_iter();
    // Most changes take no check away.
    let stays = LazyCell::new(|| raw(new.tokens()));
    let others = LazyCell::new(|| proposed_elsewhere(path, subject));
    let is_nowhere = |check: &CodeCheck| {
        !stays.contains(&check.condition) && !others.iter().any(|it| it.contains(&check.condition))
    };
    let is_rust = path.extension() == Some("rs");
    // A new function may ask the opposite.
    let is_there = |check: &CodeCheck, now: &str| {
        let around = function_around(old, check.lines.0);
        let asks = |it: &&CodeCheck| it.condition == now;
        let mut asking = came.iter().filter(asks).map(|it| function_around(new, it.lines.0));
        around.is_none() || asking.any(|name| name == around)
    };
    let found = checks.filter_map(|check| {
        let own = || shown(&check.condition);
        let counts = check.has_value || unguarded::is_check(&check.condition);
        let text = if counts && is_deleted(&check, old, subject) && is_nowhere(&check) {
            format!("no longer checks `{}`", own())
        } else if check.has_value && is_rust && still_asks(&check, new) {
            format!("no longer returns when `{}`", own())
        } else if let Some(now) = inverted(&check, &came, &task).filter(|now| is_there(&check, now))
        {
            format!("now checks `{}` where it checked `{}`", shown(now), own())
        } else if is_trust(&check.condition) && !names_trust(&task) && stays_otherwise(&check, &is)
        {
            format!("changes when `{}` lets pass", own())
        } else {
            return None;
        };
        let line = changed_line(&check, subject)?;
        let mut finding = Finding::new(FindingLevel::Warning, text)
            .advice("The task does not ask for it. Make sure that nothing needs this check.");
        finding.place = unchecked_limits::near(line, subject).map(FindingPlace::line);
        Some(finding)
    });
    let stay = was.iter().filter(|check| stays.contains(&check.condition));
    let in_others = stay.filter_map(|check| only_in_others(check, old, new));
    found.chain(in_others.take(1)).take(4).collect()
}

/// What is to be said of a check that only a new function has now.
fn only_in_others(
    check: &CodeCheck,
    old: &SourceText<'_>,
    new: &SourceText<'_>,
) -> Option<Finding> {
    if !check.has_value && !unguarded::is_check(&check.condition) {
        return None;
    }
    let line = stands_in_others(check, old, new)?;
    let text = format!("no longer checks `{}`", shown(&check.condition));
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    let advice = "Only a new function has this check now. Make sure that it is meant to go.";
    Some(finding.advice(advice))
}

/// The first line of a check that went.
fn changed_line(check: &CodeCheck, subject: &Subject<'_>) -> Option<u32> {
    subject.changed().removed.range(check.lines.0..=check.lines.1).next().copied()
}

/// Whether a check went alone, with nothing in its place and the function around it still there.
fn is_deleted(check: &CodeCheck, old: &SourceText<'_>, subject: &Subject<'_>) -> bool {
    let changed = subject.changed();
    let (first, last) = check.lines;
    if !(first..=last).all(|line| changed.removed.contains(&line)) {
        return false;
    }
    // The lines that go in a row with it.
    let start = (1..first).rev().take_while(|line| changed.removed.contains(line)).last();
    let end = (last + 1..).take_while(|line| changed.removed.contains(line)).last();
    let (start, end) = (start.unwrap_or(first), end.unwrap_or(last));
    let is_body = (start..=end).all(|line| {
        let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
        let text = old.line(at);
        text.trim().is_empty() || text.starts_with([' ', '\t'])
    });
    let next = unchecked_limits::near(start, subject);
    is_body && next.is_some_and(|line| is_unchanged_or_logs(line, subject))
}

/// The name of the function around a line, from 1.
fn function_around(source: &SourceText<'_>, line: u32) -> Option<String> {
    let tokens = source.tokens();
    let line_of = |at: usize| tokens.get(at).map_or(0, |token| source.number_at(token.start));
    let is_around = |body: &Range<usize>| {
        (line_of(body.start)..=line_of(body.end.saturating_sub(1))).contains(&line)
    };
    let found = source.functions().iter().find(|function| is_around(&function.body))?;
    tokens.get(found.name).map(|token| token.raw.to_owned())
}

/// Whether a condition of Rust is still asked, without leaving the function.
fn still_asks(check: &CodeCheck, new: &SourceText<'_>) -> bool {
    raw(new.tokens()).contains(&format!("if {} {{", check.condition))
}

/// The line of a function that lost a check, where its condition stands only in functions that had it
/// and in new ones that the function does not call.
fn stands_in_others(check: &CodeCheck, old: &SourceText<'_>, new: &SourceText<'_>) -> Option<u32> {
    let name = |source: &SourceText<'_>, at: usize| {
        source.tokens().get(at).map(|token| (token.raw.to_owned(), source.number_at(token.start)))
    };
    let own = function_around(old, check.lines.0)?;
    let now = new.body(&own);
    if now.is_empty() || now.contains(&check.condition) {
        return None;
    }
    let (mut line, mut has_others) = (None, false);
    for function in new.functions() {
        let (other, at) = name(new, function.name)?;
        if other == own {
            line = Some(at);
        } else if new.body(&other).contains(&check.condition) {
            let was = old.body(&other);
            let is_called = now.split(' ').any(|word| word == other);
            if is_called || !was.is_empty() && !was.contains(&check.condition) {
                return None;
            }
            has_others |= was.is_empty();
        }
    }
    line.filter(|_| has_others)
}

/// Whether nothing came at a line of the new version but what logs.
fn is_unchanged_or_logs(line: u32, subject: &Subject<'_>) -> bool {
    const LOGS: [&str; 6] = ["ESP_LOG", "printf", "Serial.print", "log_", "LOG_", "puts"];
    let Some(new) = subject.source() else { return false };
    let came = (line..).take_while(|line| subject.changed().added.contains(line));
    came.into_iter().all(|line| {
        let text = new.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).trim();
        text.is_empty() || LOGS.iter().any(|log| text.starts_with(log)) && text.ends_with(");")
    })
}

/// A check that came and says the same with other signs: `==` for `!=`, `HIGH` for `LOW`.
fn inverted<'a>(check: &CodeCheck, came: &'a [CodeCheck], task: &str) -> Option<&'a str> {
    const ABOUT: [&str; 14] = [
        "fix",
        "bug",
        "correct",
        "wrong",
        "invert",
        "revers",
        "flip",
        "polarity",
        "active",
        "negat",
        "compar",
        "condition",
        "bound",
        "off-by",
    ];
    let words = |text: &str| -> Vec<String> {
        let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        all.filter(|word| word.len() > 3).map(str::to_lowercase).collect()
    };
    let own = words(&check.condition);
    let is_about = |word: &str| {
        ABOUT.iter().any(|about| word.starts_with(about))
            || own.iter().any(|name| name.split('_').any(|part| part == word))
    };
    if task.split(|c: char| !c.is_alphanumeric() && c != '-').any(is_about) {
        return None;
    }
    let signs = signless(&check.condition);
    let other = came.iter().find(|other| signless(&other.condition) == signs)?;
    Some(&other.condition)
}

/// A condition with the same sign for all that may stand for its opposite.
fn signless(condition: &str) -> String {
    let signs = condition.split(' ').map(|token| match token {
        "!" | "=" => "",
        "HIGH" | "LOW" => "HIGH",
        "true" | "false" => "true",
        "<" | ">" => "<",
        "&" | "|" => "&",
        other => other,
    });
    signs.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether another check has the same words of trust in it.
fn stays_otherwise(check: &CodeCheck, is: &[CodeCheck]) -> bool {
    let words = |text: &str| -> Vec<String> {
        let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        all.filter(|word| is_trust(word)).map(str::to_owned).collect()
    };
    let own = words(&check.condition);
    is.iter().any(|other| words(&other.condition) == own)
}

fn is_trust(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    TRUST.iter().any(|word| text.contains(word))
}

fn names_trust(task: &str) -> bool {
    let mut words = task.split(|c: char| !c.is_alphanumeric());
    words.any(|word| TRUST.iter().any(|trust| word.starts_with(trust)))
}

/// The tokens of other files that are proposed, which may have got the check.
fn proposed_elsewhere(path: &ProjectPath, subject: &Subject<'_>) -> Vec<String> {
    let texts = subject.context.proposed.texts().filter(|(other, _)| *other != path);
    texts.map(|(other, text)| raw(SourceText::new(other, text).tokens())).collect()
}

/// The checks of a source: by macros, and by an `if` that leaves the function.
fn checks(source: &SourceText<'_>) -> Vec<CodeCheck> {
    let tokens = source.tokens();
    let line = |at: usize| source.number_at(tokens.get(at).map_or(0, |token| token.start));
    let closes = source.closes();
    let close_of = |open: usize| closes.get(open).copied().flatten();
    let is_rust = source.path.extension() == Some("rs");
    if source.path.extension() == Some("py") {
        return python_checks(source);
    }
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_macro = MACROS.iter().any(|name| token.is_word(name));
        if !is_macro && !token.is_word("if") || token.in_directive {
            continue;
        }
        if is_rust && !is_macro {
            let body =
                (at + 1..at + LONGEST).find(|at| tokens.get(*at).is_some_and(|it| it.is("{")));
            let Some(body) = body else { continue };
            let condition = tokens.get(at + 1..body).map(raw).unwrap_or_default();
            if let Some((last, has_value)) = leaves(tokens, closes, body) {
                found.push(CodeCheck { condition, has_value, lines: (line(at), line(last)) });
            }
            continue;
        }
        let Some(close) = close_of(at + 1) else { continue };
        let (end, last) = match is_macro {
            true => (first_comma(tokens, closes, at + 2..close), Some((close, true))),
            false => (close, leaves(tokens, closes, close + 1)),
        };
        if let (Some((last, has_value)), Some(condition)) = (last, tokens.get(at + 2..end)) {
            let lines = (line(at), line(last));
            found.push(CodeCheck { condition: raw(condition), has_value, lines });
        }
    }
    found
}

/// The checks of a source of Python: an `if` that returns a value, or raises.
fn python_checks(source: &SourceText<'_>) -> Vec<CodeCheck> {
    let tokens = source.tokens();
    let line_of = |token: &Token<'_>| source.line_at(token.start);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word("if")) {
        let line = line_of(token);
        let own = source.line(line);
        if !own.trim_start().starts_with("if ") || !own.trim_end().ends_with(':') {
            continue;
        }
        let inside = tokens.iter().skip(at + 1).take_while(|other| line_of(other) == line).count();
        let Some(condition) = tokens.get(at + 1..at + inside) else { continue };
        let body =
            (line + 1..line + LONGEST).take_while(|at| indent(source.line(*at)) > indent(own));
        let leaves = |at: &usize| {
            let text = source.line(*at).trim_start();
            text.starts_with("return ") || text.starts_with("raise")
        };
        if let Some(last) = body.into_iter().find(leaves) {
            let lines = (number(line + 1), number(last + 1));
            found.push(CodeCheck { condition: raw(condition), has_value: true, lines });
        }
    }
    found
}

/// The comma behind the first of some arguments, or their end.
fn first_comma(tokens: &[Token<'_>], closes: &[Option<usize>], inside: Range<usize>) -> usize {
    let mut at = inside.start;
    while at < inside.end {
        if tokens.get(at).is_some_and(|token| token.is(",")) {
            return at;
        }
        at = closes.get(at).copied().flatten().unwrap_or(at) + 1;
    }
    inside.end
}

/// The last token of what follows an `if` that leaves the function, and whether it does so with a
/// value or a jump.
fn leaves(tokens: &[Token<'_>], closes: &[Option<usize>], at: usize) -> Option<(usize, bool)> {
    let body = tokens.get(at)?;
    let (first, last) = match body.is("{") {
        true => (at + 1, closes.get(at).copied().flatten()?),
        false => (at, tokens.iter().skip(at).position(|token| token.is(";"))? + at),
    };
    let inside = tokens.get(first..=last)?;
    let is_bare_return = |place: usize| inside.get(place + 1).is_some_and(|next| next.is(";"));
    let exits = inside.iter().enumerate().filter_map(|(place, token)| match token.raw {
        "goto" => Some(true),
        "return" => Some(!is_bare_return(place)),
        _ => None,
    });
    // One with a value among several is enough.
    exits.max().map(|has_value| (last, has_value))
}

/// A condition in one line, not long.
pub(super) fn shown(condition: &str) -> String {
    let mut text = condition.to_owned();
    for (spaced, close) in [
        (" . ", "."),
        (" - > ", "->"),
        (" : : ", "::"),
        (" ( ", "("),
        (" [ ", "["),
        (" ]", "]"),
        (" )", ")"),
        ("! ", "!"),
        (" , ", ", "),
        ("< =", "<="),
        ("> =", ">="),
        ("= =", "=="),
        ("! =", "!="),
        ("& &", "&&"),
        ("| |", "||"),
    ] {
        text = text.replace(spaced, close);
    }
    let text = super::commands::shown(&text);
    match text.chars().count() > SHOWN {
        true => text.chars().take(SHOWN - 1).chain(['…']).collect(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{TestProject, reported};
    use crate::model::CheckKind;

    const OLD: &str = "esp_err_t dose(int ul)\n{\n    ESP_RETURN_ON_FALSE(ul <= MAX(a, b), ESP_FAIL, \
                       TAG, \"x\");\n    if (!ready(ul)) {\n        return ESP_FAIL;\n    }\n    if (r->authenticate(u, p) || !set) return deny();\n    \
                       if (loud) return;\n    return start(ul);\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.cpp", Some(OLD), new), task);
        all.into_iter().map(|found| found.replacen("Warning ", "", 1)).collect()
    }

    #[test]
    fn a_check_that_goes_is_told_where_it_stood() {
        let task = "Add a command that prints the state";
        let without = |part: &str| {
            assert!(OLD.contains(part), "{part}");
            OLD.replace(part, "")
        };
        let first = without("    ESP_RETURN_ON_FALSE(ul <= MAX(a, b), ESP_FAIL, TAG, \"x\");\n");
        assert_eq!(found(&first, task), ["3: no longer checks `ul <= MAX(a, b)`"]);
        let second = without("    if (!ready(ul)) {\n        return ESP_FAIL;\n    }\n");
        assert_eq!(found(&second, task), ["4: no longer checks `!ready(ul)`"]);
        for asked in ["Remove the limit", "Allow any dose", "Simplify the driver"] {
            assert_eq!(found(&first, asked), [] as [String; 0], "{asked}");
        }
        assert_eq!(found(&first, ""), [] as [String; 0]);
        assert_eq!(found(&without("    if (loud) return;\n"), task), [] as [String; 0]);
        let old = OLD.replace("loud", "now < blockedUntil");
        let new = old.replace("    if (now < blockedUntil) return;\n", "");
        let all = reported(CheckKind::Safeguards, ("main/a.cpp", Some(&old), &new), task);
        assert_eq!(all, ["Warning 8: no longer checks `now < blockedUntil`"]);
        let moved = first.replace(
            "    return start(ul);",
            "    assert(ul <= MAX(a, b));\n    return start(ul);",
        );
        assert_eq!(found(&moved, task), [] as [String; 0], "it stands elsewhere");
        let other = OLD.replace("!ready(ul)", "!ready(ul, 1)");
        assert_eq!(found(&other, task), [] as [String; 0], "another one in its place");
        assert_eq!(found("int a;\n", task), [] as [String; 0], "the function went");
    }

    #[test]
    fn a_check_that_another_file_gets_is_not_told() {
        let line = "    if (!ready(ul)) return ESP_FAIL;\n";
        let old = format!("int go(int ul)\n{{\n{line}    return start(ul);\n}}\n");
        let new = old.replace(line, "");
        let found = |other: &str| {
            let changes = [("main/a.c", Some(new.as_str())), ("main/b.c", Some(other))];
            let task = "Publish the charge";
            TestProject { files: &[("main/a.c", &old)], task, chip: None }
                .reported(CheckKind::Safeguards, &changes)
        };
        assert_eq!(found("int b;\n"), ["main/a.c Warning: no longer checks `!ready(ul)`"]);
        assert_eq!(found(&old.replace("go", "other")), [] as [String; 0]);
    }

    #[test]
    fn checks_of_rust_and_python_are_read_too() {
        let found = |path: &str, old: &str, check: &str| {
            assert!(old.contains(check), "{old}");
            let new = old.replace(check, "");
            reported(CheckKind::Safeguards, (path, Some(old), &new), "Publish the charge")
        };
        let check = "    if ul > MAX || !ready(ul) {\n        return Err(E::Dose);\n    }\n";
        let rust = format!("fn go(ul: u32) -> Result<(), E> {{\n{check}    start(ul)\n}}\n");
        let all = found("src/a.rs", &rust, check);
        assert!(
            all.contains(&"Warning 2: no longer checks `ul > MAX || !ready(ul)`".to_owned()),
            "{all:?}"
        );
        let check = "    if ul > MAX:\n        print(\"no\")\n        return False\n";
        let python = format!("def go(ul):\n{check}    return start(ul)\n");
        let wanted = ["Warning 2: no longer checks `ul > MAX`"];
        assert_eq!(found("a.py", &python, check), wanted);
        let goes_on = rust.replace("return Err(E::Dose)", "warn!(\"too much\")");
        let all = reported(CheckKind::Safeguards, ("src/a.rs", Some(&rust), &goes_on), "Add home");
        let wanted_now = "Warning 3: no longer returns when `ul > MAX || !ready(ul)`".to_owned();
        assert!(all.contains(&wanted_now), "{all:?}");
        let raises = check.replace("return False", "raise ValueError(ul)");
        assert_eq!(found("a.py", &python.replace(check, &raises), &raises), wanted);
        let other = check.replace("return False", "ul = MAX");
        assert_eq!(found("a.py", &python.replace(check, &other), &other).len(), 0);
    }

    #[test]
    fn a_check_that_only_a_new_function_has_is_told() {
        let check = "    if (!token_ok(r)) {\n        return deny(r);\n    }\n";
        let old = format!("int door(req *r)\n{{\n{check}    return act(r);\n}}\n");
        let other = format!("int status(req *r)\n{{\n{check}    return say(r);\n}}\n");
        let new = format!("{}{other}", old.replace(check, ""));
        let found = |new: &str| {
            let task = "Add a status page that needs the token like the rest";
            let all = reported(CheckKind::Safeguards, ("main/a.c", Some(&old), new), task);
            all.into_iter().filter(|found| found.contains("no longer checks")).collect::<Vec<_>>()
        };
        assert_eq!(found(&new), ["Warning 1: no longer checks `!token_ok(r)`"]);
        let calls = new.replace("return act(r)", "return status(r) ? act(r) : 0");
        assert_eq!(found(&calls), [] as [String; 0]);
        assert_eq!(found(&format!("{old}{other}")), [] as [String; 0]);
    }

    #[test]
    fn an_if_that_jumps_leaves_and_one_that_goes_on_does_not() {
        let old = "int go(int ul)\n{\n    if (a[f(1, 2)] > ul)\n        goto out;\n    if (ul) {\n        run();\n    }\n    return 1;\n}\n";
        let found = |new: &str| {
            let task = "Publish the charge";
            reported(CheckKind::Safeguards, ("main/a.c", Some(old), new), task)
        };
        let jump = old.replace("    if (a[f(1, 2)] > ul)\n        goto out;\n", "");
        assert_eq!(found(&jump), ["Warning 3: no longer checks `a[f(1, 2)] > ul`"]);
        let goes_on = old.replace("    if (ul) {\n        run();\n    }\n", "");
        assert_eq!(found(&goes_on), [] as [String; 0]);
    }

    #[test]
    fn a_check_that_says_the_opposite_is_told() {
        let task = "Return JSON from the page";
        let opposite = OLD.replace("if (!ready(ul))", "if (ready(ul))");
        let wanted = ["4: now checks `ready(ul)` where it checked `!ready(ul)`"];
        assert_eq!(found(&opposite, task), wanted);
        assert_eq!(found(&opposite, "Fix the start"), [] as [String; 0]);
        assert_eq!(found(&opposite, "Start before it is ready"), [] as [String; 0]);
        let other = opposite.replace("if (ready(ul))", "if (!ready(ul))");
        assert_eq!(found(&other, task), [] as [String; 0], "as it was");
        let less = OLD.replace("ul <= MAX(a, b)", "ul < MAX(a, b)");
        assert_eq!(found(&less, task).len(), 1);
    }

    #[test]
    fn a_check_of_trust_that_decides_otherwise_is_told() {
        let weak = OLD.replace("u, p) || !set", "u, p) && open(u)");
        let wanted = ["7: changes when `r->authenticate(u, p) || !set` lets pass"];
        assert_eq!(found(&weak, "Add a page with the state"), wanted);
        assert_eq!(found(&weak, "Change the login of the page"), [] as [String; 0]);
    }
}
