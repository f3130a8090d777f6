//! Errors in Rust that nothing returns any longer: a checksum that is wrong, a value out of its range.
//!
//! Owns which errors protect, by their names. What C returns is the business of
//! [`error_results`](super::error_results).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{Subject, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// `Err(Error::Crc)` and the like; group 1 is the name of the error.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\bErr\(\s*(?:\w+::)+(\w*(?:Crc|Checksum|Sum|Signature|Auth|Denied|Range|Limit|Over|Invalid|Timeout|Verif|Stale|Fault)\w*)",
    )
    .ok()
});

/// What is to be said of an error that the old version returned and the new one does not.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let task = subject.context.words();
    let is_rust = path.extension() == Some("rs");
    if !is_rust || task.is_empty() || wishes::may_want_less_checked(&task) {
        return None;
    }
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
}
