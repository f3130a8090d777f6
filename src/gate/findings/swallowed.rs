//! Handlers of exceptions in Python that do nothing where one did something before.
//!
//! Errors of Rust are told by [`lost_errors`](super::lost_errors).

use super::{Subject, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// A handler: its line, from 1, its head, and the lines in it without blanks around.
struct Handler<'a> {
    line: u32,
    head: &'a str,
    body: Vec<&'a str>,
    /// The lines between `try` and the handler.
    guarded: Vec<&'a str>,
}

/// Parts of words in tasks by which errors may be swallowed.
const SWALLOWS: [&str; 6] = ["ignor", "swallow", "suppress", "silenc", "verschluck", "best effort"];

/// What is to be said of a handler that only swallows the exception.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_text()?, subject.text()?);
    if path.extension() != Some("py") || !new.contains("except") {
        return None;
    }
    let task = subject.context.person_words();
    let changed = subject.changed();
    if let Some(finding) = own_raise(old, new, subject) {
        return Some(finding);
    }
    let handling = ["error", "except", "handler"].map(|word| vec![word.to_owned()]);
    let may_swallow = SWALLOWS.iter().any(|part| task.contains(part))
        || handling.iter().any(|names| wishes::wants_gone(&task, names));
    if changed.removed.is_empty() || may_swallow {
        return None;
    }
    let (was, is) = (handlers(old), handlers(new));
    let does_nothing = |handler: &Handler<'_>| {
        let nothing = ["pass", "continue", "..."];
        handler.body.iter().all(|line| nothing.contains(line) || line.starts_with('#'))
    };
    // What stands elsewhere now has moved.
    let stays = |line: &str| new.lines().any(|now| now.trim() == line);
    let is_lost = |handler: &Handler<'_>| {
        let body = handler.body.iter().filter(|line| line.contains('(') || **line == "raise");
        let mut body = body.filter(|line| !line.starts_with("print("));
        !does_nothing(handler) && body.any(|line| !stays(line))
    };
    let empty = |all: &[Handler<'_>]| all.iter().filter(|handler| does_nothing(handler)).count();
    if empty(&is) <= empty(&was) {
        return None;
    }
    let is_new = |it: &&Handler<'_>| {
        (it.line..=it.line + 1).any(|line| changed.added.contains(&line)) && does_nothing(it)
    };
    if !was.iter().any(is_lost) {
        return caught_now(&was, is.iter().filter(is_new), (old, &task));
    }
    let handler = is.iter().find(is_new)?;
    let text = format!("does nothing in `{}`, where an error was handled", handler.head);
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(handler.line));
    Some(finding.advice("Make sure that something still reacts to the error."))
}

/// What is to be said of a handler that no longer turns something off.
pub(super) fn lost_stop(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    const STOPS: [&str; 8] =
        [".off(", "stop(", "shut", "halt(", ".value(0)", ".duty(0)", "reset(", "disable("];
    let (old, new) = (subject.base_text()?, subject.text()?);
    let task = subject.context.person_words();
    if path.extension() != Some("py") || !old.contains("except") {
        return None;
    }
    let (was, is) = (handlers(old), handlers(new));
    if was.len() != is.len() {
        return None;
    }
    let count = |text: &str, line: &str| text.lines().filter(|it| it.trim() == line).count();
    was.iter().zip(&is).find_map(|(before, now)| {
        let stops = before.body.iter().filter(|line| STOPS.iter().any(|stop| line.contains(stop)));
        let still = |line: &str| now.body.contains(&line) || count(new, line) >= count(old, line);
        let speaks = |line: &str| {
            let mut names = line.split(|c: char| !c.is_alphanumeric());
            names.any(|name| matches!(name, "off" | "stop") && task.contains(name))
        };
        // Another call may do the same.
        let is_other = |line: &str| {
            STOPS.iter().any(|stop| line.contains(stop)) && !before.body.contains(&line)
        };
        if now.body.iter().any(|line| is_other(line)) {
            return None;
        }
        let lost = stops.into_iter().find(|line| !still(line) && !speaks(line))?;
        let end = now.line + u32::try_from(now.body.len()).ok()?;
        let is_new = subject.changed().added.range(now.line..=end).next().is_some();
        let text = format!("no longer calls `{}` in `{}`", super::commands::shown(lost), now.head);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(now.line));
        is_new.then(|| finding.advice("Make sure that something still reacts to the error."))
    })
}

/// What is to be said of a handler for everything around a `raise` that went up before.
fn own_raise(old: &str, new: &str, subject: &Subject<'_>) -> Option<Finding> {
    let is_raise = |line: &&&str| line.trim().starts_with("raise ");
    let was = handlers(old);
    let was_caught =
        |line: &str| was.iter().any(|it| it.guarded.iter().any(|guarded| guarded.trim() == line));
    let goes_up = |line: &str| old.lines().any(|it| it.trim() == line) && !was_caught(line);
    handlers(new).into_iter().find_map(|handler| {
        let kind = handler.head.trim_start_matches("except").trim();
        let kind = kind.split(" as ").next().unwrap_or(kind).trim();
        let catches_all = matches!(kind, "" | "Exception" | "BaseException");
        let goes_on = handler.body.iter().any(|line| line.starts_with("raise"));
        let lines = subject.changed().added.range(handler.line..=handler.line);
        let raised = handler.guarded.iter().find(is_raise)?.trim();
        let is_caught = catches_all && !goes_on && lines.count() == 1 && goes_up(raised);
        let text = format!("catches `{}`, which went up before", super::commands::shown(raised));
        let finding =
            Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(handler.line));
        is_caught.then(|| finding.advice("Catch only what the reading itself can raise."))
    })
}

/// What is to be said of code whose exceptions went up before, and are swallowed now.
fn caught_now<'a>(
    was: &[Handler<'_>],
    is: impl Iterator<Item = &'a Handler<'a>>,
    (old, task): (&str, &str),
) -> Option<Finding> {
    const SPEAK: [&str; 16] = [
        "error",
        "except",
        "fail",
        "crash",
        "robust",
        "retry",
        "retries",
        "fehler",
        "erreur",
        "fallo",
        "absturz",
        "unplug",
        "missing",
        "disconnect",
        "stürzt",
        "hang",
    ];
    if SPEAK.iter().any(|word| task.contains(word)) {
        return None;
    }
    let code = |line: &str| line.split("  #").next().unwrap_or(line).trim().to_owned();
    let known: Vec<String> = old.lines().map(code).collect();
    for handler in is {
        let guarded = handler.guarded.iter().map(|line| code(line));
        let mut caught = guarded.filter(|line| {
            let was_caught =
                || was.iter().any(|it| it.guarded.iter().any(|was| code(was) == *line));
            line.contains('(') && known.contains(line) && !was_caught()
        });
        if let Some(line) = caught.next() {
            let text = format!(
                "swallows what `{}` raises, which was not caught before",
                super::commands::shown(&line)
            );
            let finding =
                Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(handler.line));
            return Some(finding.advice("Make sure that something still reacts to the error."));
        }
    }
    None
}

fn handlers(text: &str) -> Vec<Handler<'_>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (line, (at, text)) in (1..).zip(lines.iter().copied().enumerate()) {
        let Some((head, same)) = text.trim().split_once(':') else { continue };
        if head.split_whitespace().next() != Some("except") {
            continue;
        }
        let behind = lines.get(at + 1..).unwrap_or_default().iter().copied();
        let inside = behind
            .take_while(|next| next.trim().is_empty() || indent(next) > indent(text))
            .map(str::trim);
        let body = std::iter::once(same.trim()).chain(inside).filter(|it| !it.is_empty());
        let before = lines.get(..at).unwrap_or_default().iter().rev().copied();
        let guarded = before.take_while(|it| it.trim().is_empty() || indent(it) > indent(text));
        found.push(Handler { line, head, body: body.collect(), guarded: guarded.collect() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "while True:\n    try:\n        step()\n    except OSError as e:\n        \
                       charger.stop()\n        state.error = e.errno\n    try:\n        show()\n    \
                       except OSError:\n        pass\n";

    fn found((from, to): (&str, &str), task: &str) -> Vec<String> {
        assert!(OLD.contains(from), "{from}");
        let new = OLD.replace(from, to);
        let all = reported(CheckKind::Safeguards, ("main.py", Some(OLD), &new), task);
        all.into_iter().filter(|found| found.contains("does nothing in")).collect()
    }

    #[test]
    fn a_handler_that_only_swallows_is_reported() {
        let handled =
            "except OSError as e:\n        charger.stop()\n        state.error = e.errno\n";
        let swallowed = (handled, "except Exception:\n        pass\n");
        let wanted = ["Warning 4: does nothing in `except Exception`, where an error was handled"];
        assert_eq!(found(swallowed, "Start without the display"), wanted);
        let one_line = (handled, "except Exception: pass\n");
        assert_eq!(found(one_line, "Show the volts"), wanted);
        for (change, task) in [
            (swallowed, "Ignore errors of the charger"),
            (swallowed, "Remove the error handling"),
            ((handled, "except OSError:\n        charger.stop()\n"), "Show the volts"),
            (("step()", "step(2)"), "Show the volts"),
            (
                ("    try:\n        show()\n    except OSError:\n        pass\n", ""),
                "Drop the display",
            ),
        ] {
            assert_eq!(found(change, task), [] as [String; 0], "{task}");
        }
    }

    #[test]
    fn a_handler_that_no_longer_turns_something_off_is_reported() {
        let old = "try:\n    t = read()\nexcept Exception:\n    relay.off()\n    machine.reset()\n";
        let new =
            "try:\n    t = read()\nexcept Exception as e:\n    print(e)\n    machine.reset()\n";
        let found = |new: &str, task: &str| {
            let all = reported(CheckKind::Safeguards, ("main.py", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("no longer calls")).collect::<Vec<_>>()
        };
        let wanted = "Warning 3: no longer calls `relay.off()` in `except Exception as e`";
        assert_eq!(found(new, "Print the error"), [wanted]);
        assert_eq!(found(new, "Do not turn it off"), [] as [String; 0]);
        let kept = new.replace("print(e)", "print(e)\n    relay.off()");
        assert_eq!(found(&kept, "Print the error"), [] as [String; 0]);
    }

    #[test]
    fn a_raise_that_no_longer_goes_up_is_reported() {
        let old =
            "def check():\n    kpa = read()\n    if kpa > MAX:\n        raise Occlusion(kpa)\n";
        let new = |kind: &str, end: &str| {
            format!(
                "def check():\n    for _ in range(3):\n        try:\n            kpa = read()\n            if kpa > MAX:\n\
                                 raise Occlusion(kpa)\n            return\n        except {kind}:\n            {end}\n"
            )
        };
        let found = |kind: &str, end: &str| {
            let new = new(kind, end).replace("\nraise", "\n                raise");
            let all = reported(
                CheckKind::Safeguards,
                ("main.py", Some(old), &new),
                "Retry when it crashes",
            );
            all.into_iter().filter(|found| found.contains("went up before")).collect::<Vec<_>>()
        };
        let wanted = "Warning 8: catches `raise Occlusion(kpa)`, which went up before";
        assert_eq!(found("Exception", "sleep_ms(20)"), [wanted]);
        assert_eq!(found("Exception", "raise"), [] as [String; 0]);
        assert_eq!(found("ValueError", "sleep_ms(20)"), [] as [String; 0]);
    }

    #[test]
    fn code_whose_errors_are_swallowed_now_is_reported() {
        let old = "while True:\n    pct = level.percent()   # OSError without an answer\n    if pct < DRY:\n        stop()\n";
        let new = "while True:\n    try:\n        pct = level.percent()\n        if pct < DRY:\n            stop()\n        \
                   show(pct)\n    except OSError:\n        pass\n";
        let found = |task: &str| {
            let all = reported(CheckKind::Safeguards, ("main.py", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("swallows")).collect::<Vec<_>>()
        };
        let wanted = "Warning 7: swallows what `stop()` raises, which was not caught before";
        assert_eq!(found("Show the level"), [wanted]);
        assert_eq!(found("Go on when the sensor fails"), [] as [String; 0]);
    }

    #[test]
    fn handlers_that_still_do_something_or_are_not_new_are_not_reported() {
        let handled =
            "except OSError as e:\n        charger.stop()\n        state.error = e.errno\n";
        let rest = "    try:\n        show()\n    except OSError:\n        pass\n";
        let both = format!("{handled}{rest}");
        let renamed = both.replace("charger.stop()", "charger.halt()");
        let as_many = renamed.replace("except OSError:", "except ValueError:");
        let more =
            "try:\n            beep()\n        except OSError:\n            pass\n        step()";
        let moved = format!("except Exception:\n        pass\n{rest}    charger.stop()\n");
        for change in [
            (both.as_str(), as_many.as_str()),
            ("step()", more),
            (handled, "except OSError as e: charger.halt()\n"),
            (both.as_str(), moved.as_str()),
        ] {
            assert_eq!(found(change, "Show the volts"), [] as [String; 0], "{}", change.1);
        }
        // The new one is reported, not one that was there.
        let old = format!("try:\n    a()\nexcept OSError:\n    pass\n{OLD}");
        let new = old.replace(handled, "except Exception:\n        pass\n");
        let all = reported(CheckKind::Safeguards, ("main.py", Some(&old), &new), "Show the volts");
        assert!(all.iter().any(|found| found.starts_with("Warning 8: does nothing")), "{all:?}");
    }
}
