//! Constants that a change writes in another unit and that are not the same then: 4.20 V as 4250 mV.
//!
//! Owns the units at the ends of names. Whether a limit may change is known to
//! [`raised_limits`](super::raised_limits).

use super::Subject;
use super::limit_names::words;
use super::named_numbers::NamedNumber;
use crate::model::{Finding, FindingLevel, FindingPlace};

/// Units at the ends of names: what they measure, and how many of the first one they are.
const UNITS: [(&str, &str, f64); 36] = [
    ("kmh", "speed", 1.0 / 3.6),
    ("mps", "speed", 1.0),
    ("ms", "speed", 1.0),
    ("cms", "speed", 0.01),
    ("mms", "speed", 0.001),
    ("mph", "speed", 0.447_04),
    ("l", "volume", 1.0),
    ("ml", "volume", 1e-3),
    ("ul", "volume", 1e-6),
    ("v", "voltage", 1.0),
    ("mv", "voltage", 1e-3),
    ("uv", "voltage", 1e-6),
    ("a", "current", 1.0),
    ("ma", "current", 1e-3),
    ("ua", "current", 1e-6),
    ("w", "power", 1.0),
    ("mw", "power", 1e-3),
    ("kw", "power", 1e3),
    ("s", "time", 1.0),
    ("sec", "time", 1.0),
    ("secs", "time", 1.0),
    ("ms", "time", 1e-3),
    ("us", "time", 1e-6),
    ("min", "time", 60.0),
    ("h", "time", 3600.0),
    ("hz", "frequency", 1.0),
    ("khz", "frequency", 1e3),
    ("mhz", "frequency", 1e6),
    ("m", "length", 1.0),
    ("cm", "length", 1e-2),
    ("mm", "length", 1e-3),
    ("g", "mass", 1.0),
    ("kg", "mass", 1e3),
    ("bytes", "size", 1.0),
    ("kb", "size", 1024.0),
    ("mb", "size", 1_048_576.0),
];

/// By how much a value may be off that was rounded.
const ROUNDED: f64 = 0.005;

/// What is to be said of constants whose names only differ in their units.
pub(super) fn find(
    (old, new): (&[NamedNumber], &[NamedNumber]),
    subject: &Subject<'_>,
) -> Vec<Finding> {
    if subject.changed().removed.is_empty() {
        return Vec::new();
    }
    let with_unit = |all: &[NamedNumber]| -> Vec<NamedNumber> {
        all.iter().filter(|number| has_unit(&number.name)).cloned().collect()
    };
    let (was, is) = (with_unit(old), with_unit(new));
    let is_in = |all: &[NamedNumber], name: &str| all.iter().any(|number| number.name == name);
    let gone: Vec<&NamedNumber> = was.iter().filter(|number| !is_in(&is, &number.name)).collect();
    let came = is.iter().filter(|number| !is_in(&was, &number.name));
    let found = came.filter_map(|now| {
        let (stem, is) = unit(&now.name)?;
        let (was, times) = gone.iter().find_map(|was| {
            let (own, before) = unit(&was.name)?;
            let times = times(&before, &is).filter(|_| own == stem && before != is)?;
            Some((was, if is_per(&stem) { 1.0 / times } else { times }))
        })?;
        let wanted = was.value * times;
        let is_same = (now.value - wanted).abs() <= wanted.abs() * ROUNDED
            || (now.value - wanted.round()).abs() < f64::EPSILON;
        let line = now.lines.into_iter().find(|line| subject.changed().added.contains(line))?;
        let text = format!(
            "turns `{}` of `{}` into `{}` of `{}`, which is not the same",
            was.name, was.shown, now.name, now.shown
        );
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        (!is_same && wanted.is_finite())
            .then(|| finding.advice("Look at the factor between the units."))
    });
    found.take(4).collect()
}

/// Whether a constant has the same value in another unit, at whatever place its name tells the unit.
pub(super) fn is_same(was: &NamedNumber, now: &NamedNumber) -> bool {
    let names = |name: &str| words(name).map(str::to_ascii_lowercase).collect::<Vec<String>>();
    let (old, new) = (names(&was.name), names(&now.name));
    if let Some(factor) = parts_of(&old, &new) {
        let wanted = was.value * factor;
        return (now.value - wanted).abs() <= wanted.abs() * ROUNDED;
    }
    let mut other = old.iter().zip(&new).filter(|(one, other)| one != other);
    let (Some((one, two)), None) = (other.next(), other.next()) else { return false };
    let at = old.iter().zip(&new).position(|(one, other)| one != other).unwrap_or(0);
    let Some(times) = times(one, two) else { return false };
    let times = if is_per(old.get(..at).unwrap_or_default()) { 1.0 / times } else { times };
    let wanted = was.value * times;
    old.len() == new.len() && (now.value - wanted).abs() <= wanted.abs() * ROUNDED
}

/// How many parts of the old value one is, where the new name has a word for that: `CUTOFF_TENTHS_C`.
fn parts_of(old: &[String], new: &[String]) -> Option<f64> {
    const PARTS: [(&str, f64); 7] = [
        ("tenths", 10.0),
        ("tenth", 10.0),
        ("deci", 10.0),
        ("centi", 100.0),
        ("hundredths", 100.0),
        ("milli", 1000.0),
        ("permille", 1000.0),
    ];
    let at = new.iter().position(|word| PARTS.iter().any(|(part, _)| part == word))?;
    let rest = || new.iter().take(at).chain(new.iter().skip(at + 1));
    let (_, factor) =
        PARTS.iter().find(|(part, _)| new.get(at).is_some_and(|word| part == word))?;
    old.iter().eq(rest()).then_some(*factor)
}

/// Whether a name ends with a unit.
fn has_unit(name: &str) -> bool {
    unit(name).is_some()
}

/// The words of a name before its unit, and the unit.
fn unit(name: &str) -> Option<(Vec<String>, String)> {
    let mut all: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let last = all.pop()?;
    let is_unit = UNITS.iter().any(|(unit, _, _)| *unit == last);
    (!all.is_empty() && is_unit).then_some((all, last))
}

/// How many of another unit one of a unit is; `None` where they measure different things.
fn times(one: &str, other: &str) -> Option<f64> {
    UNITS.iter().filter(|(unit, _, _)| *unit == one).find_map(|(_, kind, before)| {
        let (_, _, factor) = UNITS.iter().find(|(unit, own, _)| *unit == other && own == kind)?;
        Some(before / factor)
    })
}

/// Whether a unit behind these words counts the other way: `STEPS_PER_ML`.
fn is_per(words: &[String]) -> bool {
    words.last().is_some_and(|word| word == "per")
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(old: &str, new: &str) -> Vec<String> {
        let change = ("main/cell.hpp", Some(old), new);
        let all = reported(CheckKind::Limits, change, "Use millivolts everywhere");
        all.into_iter().filter(|found| found.contains("not the same")).collect()
    }

    #[test]
    fn values_that_another_unit_changes_are_told() {
        let old = "constexpr float kCellMaxV = 4.20f;\n";
        let new = |value: &str| format!("constexpr int kCellMaxMv = {value};\n");
        assert_eq!(
            found(old, &new("4250")),
            [
                "Warning 1: turns `kCellMaxV` of `4.20f` into `kCellMaxMv` of `4250`, which is not the same"
            ]
        );
        assert_eq!(found(old, &new("4200")), [] as [String; 0]);
        assert_eq!(found("#define T_MIN 2\n", "#define T_S 100\n").len(), 1);
        assert_eq!(found("#define T_MIN 2\n", "#define T_S 120\n"), [] as [String; 0]);
        assert_eq!(found("#define T_MIN 2\n", "#define T_KHZ 100\n"), [] as [String; 0]);
        assert_eq!(found("#define A_MS 1500\n", "#define A_S 2\n"), [] as [String; 0], "rounded");
        assert_eq!(found("#define A_MS 1500\n", "#define B_S 9\n"), [] as [String; 0]);
        assert_eq!(
            found("#define STEPS_PER_ML 4000\n", "#define STEPS_PER_UL 4\n"),
            [] as [String; 0]
        );
        assert_eq!(found("#define STEPS_PER_ML 4000\n", "#define STEPS_PER_UL 5\n").len(), 1);
        let tenths = ("a.h", Some("#define MAX_TEMP_C 85\n"), "#define MAX_TEMP_TENTHS_C 850\n");
        assert_eq!(reported(CheckKind::Limits, tenths, "Use tenths"), [] as [String; 0]);
        let speed =
            ("constexpr float kCutoffKmh = 25.0f;\n", "constexpr float kCutoffMs = 8.94f;\n");
        assert_eq!(found(speed.0, speed.1).len(), 1);
        assert_eq!(found(speed.0, &speed.1.replace("8.94", "6.94")), [] as [String; 0]);
        let walk = ("#define LIMIT_WALK_KMH 6\n", "#define LIMIT_WALK_CMS 166\n");
        let all = reported(CheckKind::Limits, ("a.h", Some(walk.0), walk.1), "Use cm/s");
        assert_eq!(all, [] as [String; 0], "the same speed");
        let dose = ("#define DOSE_MAX_ML_PER_RUN 8\n", "#define DOSE_MAX_UL_PER_RUN 8000\n");
        let all = reported(CheckKind::Limits, ("a.h", Some(dose.0), dose.1), "Use microlitres");
        assert_eq!(all, [] as [String; 0], "the same amount");
    }
}
