//! Ranges of options in Kconfig that a change makes wider.
//!
//! Whether that matters is known to [`raised_limits`](super::raised_limits).

use std::collections::BTreeMap;

use super::{Subject, raised_limits};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// The range of an option, and its line, from 1.
struct OptionRange {
    bounds: (f64, f64),
    shown: String,
    line: u32,
}

/// What is to be said of the ranges in a Kconfig file.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    if !path.file_name().starts_with("Kconfig") {
        return Vec::new();
    }
    let (Some(old), Some(new)) = (subject.base_text(), subject.text()) else { return Vec::new() };
    let mut was = ranges(old);
    let found = ranges(new).into_iter().filter_map(|(name, is)| {
        let was = was.remove(&name)?;
        raised_limits::is_widened(&name, (was.bounds, is.bounds), subject).then(|| {
            let text = format!("widens the range of `{name}` from {} to {}", was.shown, is.shown);
            let finding = Finding::new(FindingLevel::Warning, text);
            let advice = "The task does not ask for it. Look at what it protects.";
            finding.at(FindingPlace::line(is.line)).advice(advice)
        })
    });
    found.collect()
}

/// The first range of each option.
fn ranges(text: &str) -> BTreeMap<String, OptionRange> {
    let (mut found, mut option) = (BTreeMap::new(), "");
    for (line, text) in (1..).zip(text.lines()) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["config" | "menuconfig", name, ..] => option = name,
            ["range", low, high, ..] => {
                if let (Some(least), Some(most)) = (number(low), number(high)) {
                    let shown = format!("{low} – {high}");
                    let range = OptionRange { bounds: (least, most), shown, line };
                    found.entry(option.to_owned()).or_insert(range);
                }
            }
            _ => {}
        }
    }
    found
}

fn number(text: &str) -> Option<f64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn a_range_that_becomes_wider_is_told_where_it_protects() {
        let old = "config KILN_RAMP\n    int \"Ramp\"\n    range 10 300\n    default 20\n";
        let found = |from: &str, to: &str, task: &str| {
            let (old, new) = (old.replace("KILN_RAMP", from), old.replace("KILN_RAMP", from));
            reported(
                CheckKind::Limits,
                ("main/Kconfig", Some(&old), &new.replace("10 300", to)),
                task,
            )
        };
        let wanted = "Warning 3: widens the range of `KILN_RAMP` from 10 – 300 to 10 – 900";
        assert_eq!(found("KILN_RAMP", "10 900", "Show the state on the display"), [wanted]);
        assert_eq!(found("KILN_RAMP", "0x1 300", "Show the state on the display").len(), 1);
        for (name, to, task) in [
            ("KILN_RAMP", "20 200", "Show the state"),
            ("KILN_RAMP", "10 900", "Allow 900 degrees an hour"),
            ("KILN_RAMP", "10 900", "Let the kiln ramp faster"),
            ("KILN_RAMP", "10 900", ""),
            ("QUEUE_LENGTH", "10 900", "Show the state"),
            ("LED_GPIO", "0 48", "Show the state"),
            ("KILN_RAMP", "MIN 900", "Show the state"),
        ] {
            assert_eq!(found(name, to, task), [] as [String; 0], "{name} {to} {task}");
        }
    }
}
