//! Times in different units that a change compares: microseconds with a limit in milliseconds.
//!
//! Owns the units of the functions that tell the time. Sources: `esp_timer.h` and `task.h` of ESP-IDF
//! v5.5, and the Arduino core 3.x.

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use super::source::SourceText;
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Functions that tell the time, with the units that what they are compared with may have.
const CLOCKS: [(&str, &str, &[&str]); 4] = [
    ("esp_timer_get_time", "microseconds", &["us"]),
    ("micros", "microseconds", &["us"]),
    ("millis", "milliseconds", &["ms"]),
    ("xTaskGetTickCount", "ticks", &["ticks", "tick"]),
];

/// Units at the end of names, and what they are called.
const UNITS: [(&str, &str); 6] = [
    ("us", "microseconds"),
    ("ms", "milliseconds"),
    ("s", "seconds"),
    ("sec", "seconds"),
    ("min", "minutes"),
    ("ticks", "ticks"),
];

/// What is to be said of a source in which times in different units are compared.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    static COMPARED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?P<clock>esp_timer_get_time|micros|millis|xTaskGetTickCount)\s*\(\s*\)\s*(?:-\s*(?:\w+(?:->|\.|::))*\w+(?:\[[^\]]*\])?\s*)?\)?\s*[<>]=?\s*\(?\s*(?P<name>[A-Za-z_][\w.]*)\s*(?P<behind>[^\s;&|)]?)",
        )
        .ok()
    });
    if !super::beyond_task::is_code(path) {
        return Vec::new();
    }
    let (Some(source), Some(compared)) = (subject.source(), COMPARED.as_ref()) else {
        return Vec::new();
    };
    let code = source.code_of_any();
    let before = subject.base_source().map(SourceText::code_of_any).unwrap_or_default();
    let added = &subject.changed().added;
    let compares = |line: &str| line.contains(['<', '>']);
    let is_new = |(line, text): &(u32, &str)| added.contains(line) && compares(text);
    let lines: Vec<(u32, &str)> = (1..).zip(code.lines()).filter(is_new).collect();
    let mut found: Vec<Finding> = lines.iter().flat_map(|line| scaled(*line, &before)).collect();
    let of_lines = lines
        .iter()
        .flat_map(|(line, text)| compared.captures_iter(text).map(move |groups| (*line, groups)));
    for (line, groups) in of_lines {
        let (Some(whole), Some(clock), Some(name)) =
            (groups.get(0), groups.name("clock"), groups.name("name"))
        else {
            continue;
        };
        let is_scaled = groups
            .name("behind")
            .is_some_and(|sign| "*/(".contains(sign.as_str()) && !sign.as_str().is_empty());
        let Some((_, unit, fitting)) = CLOCKS.iter().find(|(of, _, _)| *of == clock.as_str())
        else {
            continue;
        };
        let Some((end, of_name)) = unit_of(name.as_str()) else { continue };
        let is_old = before.contains(whole.as_str());
        if is_scaled || fitting.contains(&end) || is_old {
            continue;
        }
        let text = format!(
            "compares `{}()`, in {unit}, with `{}`, in {of_name}",
            clock.as_str(),
            name.as_str()
        );
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
        found.push(finding.advice("Give both the same unit."));
    }
    found.truncate(4);
    found
}

/// Names with a unit that are compared with one in another unit: `run_ms / 1000 > MAX_RUN_MS`.
fn scaled((line, code): (u32, &str), before: &str) -> Vec<Finding> {
    static SCALED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?P<one>[A-Za-z_]\w*)\s*(?:(?P<sign>[*/])\s*(?P<by>1000000|1000|60)[uUlL]*\s*)?(?:[<>]=?)\s*(?P<other>[A-Za-z_]\w*)\s*(?P<behind>[^\s;&|)]?)",
        )
        .ok()
    });
    let mut found = Vec::new();
    for groups in SCALED.iter().flat_map(|scaled| scaled.captures_iter(code)) {
        let (Some(whole), Some(one), Some(other)) =
            (groups.get(0), groups.name("one"), groups.name("other"))
        else {
            continue;
        };
        let is_open = groups
            .name("behind")
            .is_none_or(|sign| !"*/([.".contains(sign.as_str()) || sign.is_empty());
        let preceded = code.get(..whole.start()).unwrap_or_default().trim_end();
        let is_part = preceded.ends_with(['*', '/', '+', '-', '%', '.', '>']) || !is_open;
        let (Some(is), Some(wanted)) = (micros(one.as_str()), micros(other.as_str())) else {
            continue;
        };
        let by = groups.name("by").and_then(|by| by.as_str().parse::<u64>().ok()).unwrap_or(1);
        let unit = match groups.name("sign").map(|sign| sign.as_str()) {
            Some("/") => is.checked_mul(by),
            Some("*") => is.checked_div(by).filter(|unit| unit * by == is),
            _ => Some(is),
        };
        let is_other = !is_part && unit.is_some_and(|unit| unit != wanted);
        if is_other && !before.contains(whole.as_str()) {
            let shown = whole.as_str().split(['<', '>']).next().unwrap_or_default().trim();
            let text =
                format!("compares `{shown}` with `{}`, which is in another unit", other.as_str());
            let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
            found.push(finding.advice("Give both the same unit."));
        }
    }
    found
}

/// How many microseconds one of the unit at the end of a name is.
fn micros(name: &str) -> Option<u64> {
    let (unit, _) = unit_of(name)?;
    match unit {
        "us" => Some(1),
        "ms" => Some(1_000),
        "s" | "sec" => Some(1_000_000),
        _ => None,
    }
}

/// The unit at the end of a name, as it is written there and as it is called.
fn unit_of(name: &str) -> Option<(&'static str, &'static str)> {
    let last = name.rsplit(['_', '.']).next()?.to_ascii_lowercase();
    let is_part = last.len() < name.len();
    let camel = |unit: &str| {
        let mut capital = unit.to_owned();
        if let Some(first) = capital.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        unit.len() > 1 && name.ends_with(&capital) && name.bytes().any(|b| b.is_ascii_lowercase())
    };
    UNITS.iter().find(|(unit, _)| is_part && last == *unit || camel(unit)).copied()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(line: &str) -> Vec<String> {
        let old = "int64_t since;\nvoid f(void) {\n    int a = 0;\n}\n";
        let new = old.replace("int a = 0;", line);
        let all = reported(CheckKind::Limits, ("main/a.c", Some(old), &new), "Lock it");
        all.into_iter().filter(|found| found.contains("compares")).collect()
    }

    #[test]
    fn times_in_different_units_are_told() {
        for (line, wanted) in [
            (
                "if (esp_timer_get_time() - since < LOCKOUT_MS) return;",
                "compares `esp_timer_get_time()`, in microseconds, with `LOCKOUT_MS`, in milliseconds",
            ),
            (
                "if ((millis() - last) >= PAUSE_S) go();",
                "compares `millis()`, in milliseconds, with `PAUSE_S`, in seconds",
            ),
            (
                "if (xTaskGetTickCount() - s->started > TIMEOUT_MS) return;",
                "compares `xTaskGetTickCount()`, in ticks, with `TIMEOUT_MS`, in milliseconds",
            ),
            (
                "if (micros() > kLimitMs) return;",
                "compares `micros()`, in microseconds, with `kLimitMs`, in milliseconds",
            ),
        ] {
            assert_eq!(found(line), [format!("Warning 3: {wanted}")], "{line}");
        }
    }

    #[test]
    fn names_in_different_units_are_told() {
        for (line, wanted) in [
            (
                "if (run_ms / 1000 > MAX_RUN_MS) return;",
                "compares `run_ms / 1000` with `MAX_RUN_MS`",
            ),
            ("if (age_s < LOCKOUT_MS) return;", "compares `age_s` with `LOCKOUT_MS`"),
            ("while (t_us / 1000 >= limit_s) go();", "compares `t_us / 1000` with `limit_s`"),
        ] {
            let wanted = format!("Warning 3: {wanted}, which is in another unit");
            assert_eq!(found(line), [wanted], "{line}");
        }
        for line in [
            "if (run_ms > MAX_RUN_MS) return;",
            "if (run_us / 1000 > MAX_RUN_MS) return;",
            "if (age_s * 1000 < LOCKOUT_MS) return;",
            "if (age_s < LOCKOUT_MS / 1000) return;",
            "if (now_us - start_us > (int64_t)MAX_S * 1000000) return;",
            "if (a_min < b_max) return;",
            "if (temp_min > temp_s) return;",
            "vector<time_s> x_ms;",
        ] {
            assert_eq!(found(line), [] as [String; 0], "{line}");
        }
    }

    #[test]
    fn times_in_the_same_unit_or_with_a_factor_are_not() {
        for line in [
            "if (esp_timer_get_time() - since < LOCKOUT_US) return;",
            "if (esp_timer_get_time() - since < LOCKOUT_MS * 1000LL) return;",
            "if (millis() - last > interval_ms) go();",
            "if (xTaskGetTickCount() - t > pdMS_TO_TICKS(TIMEOUT_MS)) go();",
            "if (millis() - last > PAUSES) go();",
            "if (esp_timer_get_time() / 1000 - since > LOCKOUT_MS) return;",
            "if (millis() > limits) go();",
        ] {
            assert_eq!(found(line), [] as [String; 0], "{line}");
        }
    }
}
