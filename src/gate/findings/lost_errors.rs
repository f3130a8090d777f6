//! Errors in Rust that nothing returns or looks at any longer: a checksum that is wrong, a value out of
//! its range, a reading that failed.
//!
//! Owns which errors protect, by their names, and what puts a value in the place of an error. What C
//! returns is the business of
//! [`error_results`](super::error_results).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::source::SourceText;
use super::{Subject, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// `Err(Error::Crc)` and the like; group 1 is the name of the error.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\bErr\(\s*(?:\w+::)+(\w*(?:Crc|Checksum|Sum|Signature|Auth|Denied|Range|Limit|Over|Invalid|Timeout|Verif|Stale|Fault)\w*)",
    )
    .ok()
});

/// `read(…).unwrap_or(0)` and the like; group 1 is the name of what is called.
static REPLACED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b([a-z_]\w*)\([^;{}]*\)(?:\s*\.await)?\s*\.(?:unwrap_or(?:_default|_else)?|ok|unwrap_unchecked)\(",
    )
    .ok()
});

/// Parts of words in tasks that speak of errors or of what takes their place.
const OF_ERRORS: [&str; 10] = [
    "default",
    "fallback",
    "fall back",
    "fail",
    "error",
    "fehler",
    "erreur",
    "missing",
    "fehlt",
    "unavailable",
];

/// What is to be said of an error that the old version returned or handled and the new one does not.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let task = subject.context.person_words();
    let is_rust = path.extension() == Some("rs");
    if !is_rust || task.is_empty() || wishes::may_want_less_checked(&task) {
        return None;
    }
    of_returned(subject, &task)
        .or_else(|| of_handled(subject, &task))
        .or_else(|| number_instead(subject, &task))
        .or_else(|| yes_instead(subject, &task))
}

/// A value in the place of an error that was returned or handled before.
fn of_handled(subject: &Subject<'_>, task: &str) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let replaced = REPLACED.as_ref()?;
    if OF_ERRORS.iter().any(|part| task.contains(part)) {
        return None;
    }
    let added = &subject.changed().added;
    let name_of = |text: &str| -> Option<String> {
        replaced.captures(text)?.get(1).map(|name| name.as_str().to_owned())
    };
    let is_handled = |name: &str| {
        let call = format!("{name}(");
        let mut lines = old.text.lines().filter(|line| line.contains(&call)).peekable();
        lines.peek().is_some()
            && lines.all(|line| {
                let (before, behind) = line.split_once(&call).unwrap_or_default();
                let is_matched = ["match ", "let Ok("].iter().any(|word| before.contains(word));
                is_matched || behind.contains(")?") || behind.contains(".await?")
            })
    };
    let mut lines = (1..).zip(new.text.lines()).filter(|(line, _)| added.contains(line));
    let (line, name) = lines.find_map(|(line, text)| {
        let name = name_of(text).filter(|name| is_handled(name))?;
        Some((line, name))
    })?;
    let text = format!("goes on with another value where `{name}` fails");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(finding.advice("Before, the error was returned or handled."))
}

/// A number in the place of a failure, where more of what handles failures goes than comes.
fn number_instead(subject: &Subject<'_>, task: &str) -> Option<Finding> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\.unwrap_or(?:_default\s*\(\s*\)|\s*\(\s*-?\d[\d._]*\w*\s*\))").ok()
    });
    static HANDLES: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bErr\s*\(|\?\s*;|\bmap_err\b|\bis_err\b").ok());
    let (number, handles) = (NUMBER.as_ref()?, HANDLES.as_ref()?);
    if ["default", "fallback", "fall back"].iter().any(|part| task.contains(part)) {
        return None;
    }
    let (old, new) = (subject.base_source()?, subject.source()?);
    let changed = subject.changed();
    let line = |source: &SourceText<'_>, line: u32| {
        source.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).to_owned()
    };
    let count = |source: &SourceText<'_>, lines: &BTreeSet<u32>| {
        lines.iter().map(|at| handles.find_iter(&line(source, *at)).count()).sum::<usize>()
    };
    let at = changed.added.iter().find(|at| number.is_match(&line(new, **at)))?;
    let is_less = count(new, &changed.added) < count(old, &changed.removed);
    let text = "goes on with a number where a failure was handled";
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*at));
    is_less.then(|| finding.advice("Before, the error was returned or handled."))
}

/// A yes in the place of a failure that stopped the program or was returned.
fn yes_instead(subject: &Subject<'_>, task: &str) -> Option<Finding> {
    static YES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\.unwrap_or_else\s*\(\s*\|[^|]*\|\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*?\b(true)\b\s*(?://[^\n]*)?\s*\}").ok()
    });
    let new = subject.source()?;
    let yes = YES.as_ref()?.captures(new.text)?.get(1)?;
    let line = new.number_at(yes.start());
    let is_asked_for = ["fail open", "fail-open", "true"].iter().any(|part| task.contains(part));
    let text = "takes a failure for a yes";
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    (subject.changed().added.contains(&line) && !is_asked_for)
        .then(|| finding.advice("Make sure that what it says yes to is safe."))
}

/// An error that the old version returned and the new one does not.
fn of_returned(subject: &Subject<'_>, task: &str) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let error = ERROR.as_ref()?;
    let removed = &subject.changed().removed;
    let lines = (1..).zip(old.text.lines()).filter(|(line, _)| removed.contains(line));
    let names = |text: &str| -> BTreeSet<String> {
        let all = error.captures_iter(text).filter_map(|found| found.get(1));
        all.map(|name| name.as_str().to_owned()).collect()
    };
    let mut still = names(new.text);
    still.extend(subject.context.proposed.texts().flat_map(|(_, text)| names(text)));
    let (line, name) = lines
        .filter_map(|(line, text)| Some((line, error.captures(text)?.get(1)?.as_str())))
        .find(|(_, name)| !still.contains(*name) && !task.contains(&name.to_lowercase()))?;
    let text = format!("returns the error `{name}` no longer");
    let finding = Finding::new(FindingLevel::Warning, text)
        .advice("Make sure that what it told of is still refused.");
    Some(match unchecked_limits::near(line, subject) {
        Some(line) => finding.at(FindingPlace::line(line)),
        None => finding,
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "pub fn read(raw: &[u8]) -> Result<f32, Error> {\n    if crc8(raw) != raw[2] {\n        \
                       return Err(Error::Crc);\n    }\n    if raw.len() > 6 {\n        \
                       return Err(Error::Long);\n    }\n    Ok(1.0)\n}\n";

    fn found((from, to): (&str, &str), task: &str) -> Vec<String> {
        let new = OLD.replace(from, to);
        assert!(new != OLD, "{from}");
        let all = reported(CheckKind::Safeguards, ("src/sht31.rs", Some(OLD), &new), task);
        all.into_iter().filter(|found| found.contains("returns the error")).collect()
    }

    #[test]
    fn a_value_in_the_place_of_an_error_is_reported() {
        let old = "fn step(i2c: &mut I2c) -> Result<()> {\n    match read_mbar(i2c) {\n        \
                   Ok(mbar) => run(mbar)?,\n        Err(e) => motor.set_low()?,\n    }\n    \
                   let t = temperature(i2c)?;\n    show(t, volts().unwrap_or(0));\n}\n";
        let found = |from: &str, to: &str, task: &str| -> Vec<String> {
            let new = old.replace(from, to);
            assert!(new != old, "{from}");
            let all = reported(CheckKind::Safeguards, ("src/main.rs", Some(old), &new), task);
            all.into_iter().filter(|found| found.contains("goes on with")).collect()
        };
        let matched = "    match read_mbar(i2c) {\n        Ok(mbar) => run(mbar)?,\n        \
                       Err(e) => motor.set_low()?,\n    }\n";
        let default = "    let mbar = read_mbar(i2c).unwrap_or(0);\n    run(mbar)?;\n";
        let wanted = ["Warning 2: goes on with another value where `read_mbar` fails"];
        assert_eq!(found(matched, default, "Log the pressure"), wanted);
        let wanted = ["Warning 6: goes on with another value where `temperature` fails"];
        let any = "temperature(i2c).unwrap_or_default()";
        assert_eq!(found("temperature(i2c)?", any, "Log the pressure"), wanted);
        let read = "    let t = temperature(i2c)?;\n";
        let kept = "    let t = temperature(i2c);\n    let t = t.unwrap_or(0.0);\n";
        let wanted = ["Warning 7: goes on with a number where a failure was handled"];
        assert_eq!(found(read, kept, "Count the errors"), wanted);
        for (from, to, task) in [
            (matched, default, "Take 0 as default where the sensor does not answer"),
            ("volts().unwrap_or(0)", "volts().unwrap_or(1)", "Log the pressure"),
            ("    show(", "    let p = power().unwrap_or(0);\n    show(", "Log the power"),
        ] {
            assert_eq!(found(from, to, task), [] as [String; 0], "{task}");
        }
    }

    #[test]
    fn an_error_that_protects_and_goes_is_reported() {
        let only_printed = (
            "raw[2] {\n        return Err(Error::Crc);",
            "raw[2] || is_wet(raw) {\n        println!(\"crc\");",
        );
        let wanted = ["Warning 2: returns the error `Crc` no longer"];
        assert_eq!(found(only_printed, "Read humidity, too"), wanted);
        for (change, task) in [
            (only_printed, "Only print a wrong CRC"),
            (only_printed, "Ignore wrong readings"),
            (("return Err(Error::Crc);", "return Err(SensorError::Crc { at: 2 });"), "Read more"),
            (("1.0", "2.0"), "Read more"),
        ] {
            assert_eq!(found(change, task), [] as [String; 0], "{task}");
        }
    }

    #[test]
    fn a_yes_in_the_place_of_a_failure_is_reported() {
        let old =
            "fn step(b: &mut B) {\n    if b.is_clear().unwrap() {\n        down();\n    }\n}\n";
        let new = "fn step(b: &mut B) {\n    let clear = b.is_clear().unwrap_or_else(|e| {\n        \
                   warn!(\"barrier: {e:?}\");\n        true // keep the door usable\n    });\n    if clear {\n        \
                   down();\n    }\n}\n";
        let found = |new: &str, task: &str| {
            let all = reported(CheckKind::Safeguards, ("src/door.rs", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("for a yes")).collect::<Vec<_>>()
        };
        let task = "Log it instead of panicking";
        assert_eq!(found(new, task), ["Warning 4: takes a failure for a yes"]);
        assert_eq!(found(&new.replace("true //", "false //"), task), [] as [String; 0]);
        assert_eq!(found(new, "Fail open when the barrier is silent"), [] as [String; 0]);
    }
}
