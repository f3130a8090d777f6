//! Limits, timeouts and thresholds that a change makes ten times as large, or a tenth as large, or
//! more than that.
//!
//! Says so and never judges: what is right is known to the person.

use std::collections::BTreeMap;

use super::Subject;
use super::limit::limited;
use super::named_numbers::{self, NamedNumber};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace};
use crate::text::inspect;

/// From which factor on a change is told.
const FACTOR: f64 = 10.0;

/// Longest value that is repeated, in characters.
const LONGEST: usize = 32;

/// Words of names that bound something.
const LIMITS: [&str; 19] = [
    "limit",
    "limits",
    "lim",
    "max",
    "maximum",
    "min",
    "minimum",
    "timeout",
    "timeouts",
    "tmo",
    "threshold",
    "thresholds",
    "thresh",
    "deadline",
    "cutoff",
    "ceiling",
    "watchdog",
    "wdt",
    "bound",
];

/// Words of names whose value is the most that something may get.
const MOST: [&str; 8] = ["limit", "limits", "lim", "max", "maximum", "cutoff", "ceiling", "trip"];

/// Words of names that speak of heat, current, motion and the like: what may do harm.
const PHYSICAL: [&str; 58] = [
    "celsius",
    "temp",
    "temps",
    "temperature",
    "heat",
    "heater",
    "heating",
    "kiln",
    "oven",
    "current",
    "amp",
    "amps",
    "amperes",
    "ma",
    "volt",
    "volts",
    "voltage",
    "mv",
    "charge",
    "charging",
    "power",
    "watt",
    "watts",
    "pressure",
    "bar",
    "kpa",
    "psi",
    "speed",
    "rpm",
    "torque",
    "force",
    "duty",
    "pwm",
    "flow",
    "pump",
    "motor",
    "valve",
    "relay",
    "laser",
    "fan",
    "ramp",
    "brake",
    "throttle",
    "accel",
    "acceleration",
    "angle",
    "tilt",
    "dose",
    "dosing",
    "weight",
    "load",
    "battery",
    "cell",
    "discharge",
    "irrigation",
    "servo",
    "actuator",
    "degrees",
];

/// The check of a file; `None` where no limit changed that much.
pub(super) fn find(subject: &Subject<'_>) -> Option<Check> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let is_limit = |name: &str| is_limit(name) && !inspect::names_secret(name);
    let (old, new) = (named_numbers::find(old, is_limit), named_numbers::find(new, is_limit));
    let mut findings = Vec::new();
    let mut known = by_name(&old);
    for (name, new) in by_name(&new) {
        let Some(old) = known.remove(name) else { continue };
        findings
            .extend(pairs(subject, &old, &new).filter_map(|(was, now)| finding(was, now, subject)));
    }
    findings.sort_by_key(|finding| finding.place.as_ref().map(|place| place.line));
    (!findings.is_empty()).then(|| limited(CheckKind::Limits, findings))
}

fn by_name(all: &[NamedNumber]) -> BTreeMap<&str, Vec<&NamedNumber>> {
    let mut found: BTreeMap<&str, Vec<&NamedNumber>> = BTreeMap::new();
    for number in all {
        found.entry(&number.name).or_default().push(number);
    }
    found
}

/// What a name got before and gets now, where it is clear which is which.
fn pairs<'a>(
    subject: &Subject<'_>,
    old: &[&'a NamedNumber],
    new: &[&'a NamedNumber],
) -> impl Iterator<Item = (&'a NamedNumber, &'a NamedNumber)> {
    let changed = subject.changed();
    let is_same = old.len() == new.len();
    let old = old.iter().filter(move |was| is_same || changed.removed.contains(&was.lines[0]));
    let new = new.iter().filter(move |now| is_same || changed.added.contains(&now.lines[0]));
    let (old, new): (Vec<_>, Vec<_>) = (old.copied().collect(), new.copied().collect());
    old.into_iter().zip(new)
}

fn finding(was: &NamedNumber, now: &NamedNumber, subject: &Subject<'_>) -> Option<Finding> {
    if was.unit != now.unit && !was.value.is_infinite() && !now.value.is_infinite() {
        return None;
    }
    let line = now.lines.into_iter().find(|line| subject.changed().added.contains(line));
    let Some(times) = times(was.value, now.value) else { return raised(was, now, line, subject) };
    let (old, new) = match was.shown == now.shown {
        true => (format!("`{}`", was.value), format!("`{}`", now.value)),
        false => (shown(was), shown(now)),
    };
    let text = format!("changes `{}` from {old} to {new}, {times}", now.name);
    let advice = "Make sure that so large a change of a limit is meant.";
    let place = FindingPlace::line(line.unwrap_or(now.lines[0]));
    Some(Finding::new(FindingLevel::Note, text).at(place).advice(advice))
}

/// A bound of something that may do harm, which a task raises that speaks of neither it nor the value.
fn raised(
    was: &NamedNumber,
    now: &NamedNumber,
    line: Option<u32>,
    subject: &Subject<'_>,
) -> Option<Finding> {
    let name: Vec<String> = words(&now.name).map(str::to_ascii_lowercase).collect();
    let has = |known: &[&str]| name.iter().any(|word| known.contains(&word.as_str()));
    if now.value <= was.value || !subject.context.has_task() || !has(&MOST) || !has(&PHYSICAL) {
        return None;
    }
    let task = subject.context.words();
    let of_task = |word: &str| {
        let mut all = task.split(|c: char| !c.is_alphanumeric());
        word.len() > 2
            && all.any(|own| own.starts_with(word) || word.starts_with(own) && own.len() > 3)
    };
    let is_named = name.iter().any(|word| !MOST.contains(&word.as_str()) && of_task(word));
    let is_bounds = ["limit", "maximum", "bound"].iter().any(|word| task.contains(word));
    if is_named || is_bounds || task.contains(&now.value.to_string()) {
        return None;
    }
    let text = format!("raises `{}` from {} to {}", now.name, shown(was), shown(now));
    let place = FindingPlace::line(line.unwrap_or(now.lines[0]));
    let advice = "Nobody asked for that. Make sure that what it protects takes it.";
    Some(Finding::new(FindingLevel::Warning, text).at(place).advice(advice))
}

/// By how much a limit changes, in words; `None` when that is not much, or there was no limit.
fn times(was: f64, now: f64) -> Option<String> {
    if was == 0.0 || was.is_infinite() {
        return None;
    }
    if now.is_infinite() {
        return Some("which sets no limit".to_owned());
    }
    let factor = now / was;
    if now == 0.0 || factor < 0.0 {
        return (now <= 0.0 && was > 0.0).then(|| "which may mean no limit".to_owned());
    }
    let round = |factor: f64| {
        let digits = usize::from(factor < 100.0 && (factor - factor.round()).abs() > 0.05);
        format!("{factor:.digits$}")
    };
    if factor >= FACTOR {
        return Some(format!("{} times as much", round(factor)));
    }
    (factor <= 1.0 / FACTOR).then(|| format!("1/{} of it", round(1.0 / factor)))
}

/// A value as it is written, if it is short.
fn shown(number: &NamedNumber) -> String {
    match number.shown.chars().count() <= LONGEST {
        true => format!("`{}`", number.shown),
        false => number.value.to_string(),
    }
}

/// Whether a name says that its value bounds something.
pub(super) fn is_limit(name: &str) -> bool {
    let mut was_time = false;
    words(name).any(|word| {
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        let is_it = LIMITS.iter().any(|limit| is(limit)) || was_time && is("out");
        was_time = is("time");
        is_it
    })
}

/// The words of a name: `MAX_TEMP`, `maxTemp`, `max-temp`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let mut at = 0;
    std::iter::from_fn(move || {
        while !bytes.get(at)?.is_ascii_alphabetic() {
            at += 1;
        }
        // A word ends before a capital letter behind a small one.
        let mut end = at + 1;
        while bytes.get(end).is_some_and(u8::is_ascii_alphabetic)
            && (!is_upper(end) || is_upper(end - 1))
        {
            end += 1;
        }
        let word = name.get(at..end);
        at = end;
        word
    })
}

#[cfg(test)]
mod tests {
    use super::super::FindingsContext;
    use super::*;
    use crate::model::{Draft, DraftChange, ProjectPath};

    /// What is found about limits: line and text.
    fn reported(path: &str, base: &str, content: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(path), base).unwrap();
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let (path, base) = (ProjectPath::new(path).unwrap(), Some(base.as_bytes().to_vec()));
        let change = DraftChange::Save { path, base, content: content.as_bytes().to_vec() };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], &FindingsContext::default());
        let checks = made[0].checks.iter().filter(|check| check.kind == CheckKind::Limits);
        let found = checks.flat_map(|check| &check.findings);
        let shown_as = |finding: &Finding| {
            assert_eq!(finding.level, FindingLevel::Note);
            let line = finding.place.as_ref().map_or(0, |place| place.line);
            format!("{line}: {}", finding.text.strip_prefix("changes ").unwrap())
        };
        found.map(shown_as).collect()
    }

    #[test]
    fn a_bound_that_nobody_asked_to_raise_is_a_warning() {
        let found = |(path, old, new): (&str, &str, &str), task: &str| -> Vec<String> {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(path), old).unwrap();
            let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
            let (path, base) = (ProjectPath::new(path).unwrap(), Some(old.as_bytes().to_vec()));
            let change = DraftChange::Save { path, base, content: new.as_bytes().to_vec() };
            let draft = Draft { change, reason: String::new(), checks: Vec::new() };
            let mut context = FindingsContext::default();
            context.task = task.to_owned();
            let made = crate::gate::examine(&project_dir, vec![draft], &context);
            let checks = made[0].checks.iter().filter(|check| check.kind == CheckKind::Limits);
            let all = checks.flat_map(|check| &check.findings);
            all.map(|found| format!("{:?} {}", found.level, found.text)).collect()
        };
        let kiln =
            ("a.h", "#define KILN_MAX_CELSIUS 1100.0f\n", "#define KILN_MAX_CELSIUS 1350.0f\n");
        let raised = ["Warning raises `KILN_MAX_CELSIUS` from `1100.0f` to `1350.0f`"];
        assert_eq!(found(kiln, "The relay chatters: use a hysteresis of 4 degrees"), raised);
        for task in ["", "let the kiln reach 1350", "fire porcelain: 1350", "raise the limits"] {
            assert_eq!(found(kiln, task), [] as [String; 0], "{task}");
        }
        let lowered = (kiln.0, kiln.2, kiln.1);
        assert_eq!(found(lowered, "use a hysteresis"), [] as [String; 0]);
        let json = ("limits.json", "{\"max_current_a\": 18}\n", "{\"max_current_a\": 32}\n");
        assert_eq!(found(json, "make the display brighter").len(), 1);
        let buffer = ("a.h", "#define MAX_LINES 10\n", "#define MAX_LINES 20\n");
        assert_eq!(found(buffer, "make the display brighter"), [] as [String; 0]);
    }

    #[test]
    fn the_words_of_a_name_end_at_marks_and_capitals() {
        let all = |name: &str| words(name).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(all("MAX_TEMP2_C"), ["MAX", "TEMP", "C"]);
        assert_eq!(all("kChargeMv"), ["k", "Charge", "Mv"]);
        assert_eq!(all("max-current.a"), ["max", "current", "a"]);
        assert_eq!(all("__1"), [] as [String; 0]);
    }

    #[test]
    fn a_limit_that_changes_by_ten_times_is_told_at_its_line() {
        for (path, old, new, wanted) in [
            (
                "a.c",
                "int a;\n#define PUMP_LIMIT 30\n",
                "int a;\n#define PUMP_LIMIT 3600\n",
                "2: `PUMP_LIMIT` from `30` to `3600`, 120 times as much",
            ),
            (
                "a.c",
                "static const uint32_t timeout_ms = 5000;\n",
                "static const uint32_t timeout_ms = 50;\n",
                "1: `timeout_ms` from `5000` to `50`, 1/100 of it",
            ),
            (
                "a.c",
                "#define RUN_S 30\n\n#define PUMP_MAX_MS (RUN_S * 1000)\n",
                "#define RUN_S 600\n\n#define PUMP_MAX_MS (RUN_S * 1000)\n",
                "1: `PUMP_MAX_MS` from `30000` to `600000`, 20 times as much",
            ),
            (
                "a.c",
                "void f(void) {\n  take(m, 1);\n  timeout = pdMS_TO_TICKS(10);\n}\n",
                "void f(void) {\n  take(m, 1);\n  timeout = portMAX_DELAY;\n}\n",
                "3: `timeout` from `pdMS_TO_TICKS(10)` to `portMAX_DELAY`, which sets no limit",
            ),
            (
                "a.cpp",
                "constexpr float kTempThreshold = 8.5f;\n",
                "constexpr float kTempThreshold = 85.0f;\n",
                "1: `kTempThreshold` from `8.5f` to `85.0f`, 10 times as much",
            ),
            (
                "sdkconfig.defaults",
                "CONFIG_ESP_TASK_WDT_TIMEOUT_S=5\n",
                "CONFIG_ESP_TASK_WDT_TIMEOUT_S=60\n",
                "1: `CONFIG_ESP_TASK_WDT_TIMEOUT_S` from `5` to `60`, 12 times as much",
            ),
            (
                "a.yaml",
                "retry_limit: 5\n",
                "retry_limit: 0\n",
                "1: `retry_limit` from `5` to `0`, which may mean no limit",
            ),
        ] {
            assert_eq!(reported(path, old, new), [wanted], "{new}");
        }
    }

    #[test]
    fn small_changes_other_units_and_other_names_are_not() {
        for (path, old, new) in [
            ("a.c", "#define PUMP_LIMIT 30\n", "#define PUMP_LIMIT 45\n"),
            ("a.c", "#define TIMEOUT_MS 5000\n", "#define TIMEOUT_MS (5 * 1000)\n"),
            ("a.c", "#define TIMEOUT_S 5\n", "#define TIMEOUT_MS 5000\n"),
            ("a.c", "t.timeout = pdMS_TO_TICKS(5000);\n", "t.timeout = SECONDS(5);\n"),
            ("a.c", "auto timeout = 5s;\n", "auto timeout = 5000ms;\n"),
            ("a.c", "#define LED_GPIO 2\n", "#define LED_GPIO 21\n"),
            ("a.c", "#define BAUD 9600\n", "#define BAUD 115200\n"),
            ("a.c", "int limit = 0;\n", "int limit = 40;\n"),
            ("a.c", "#define SAMPLES 4\n", "#define SAMPLES 64\n"),
            (
                "a.c",
                "a_t a = { .timeout = 5 };\n",
                "b_t b = { .timeout = 500 };\na_t a = { .timeout = 5 };\n",
            ),
        ] {
            assert_eq!(reported(path, old, new), [] as [String; 0], "{new}");
        }
    }

    #[test]
    fn names_say_whether_they_bound_something() {
        for name in ["PUMP_LIMIT", "pumpLimit", "kMaxTemp", "CONFIG_X_TIMEOUT_S", "time_out_ms"] {
            assert!(is_limit(name), "{name}");
        }
        for name in ["CLIMATE", "maxim", "minute", "unlimited", "timer", "LED_GPIO"] {
            assert!(!is_limit(name), "{name}");
        }
    }
}
