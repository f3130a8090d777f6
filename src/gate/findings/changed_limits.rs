//! Limits, timeouts and thresholds that a change makes ten times as large, or a tenth as large, or
//! more than that, and those that it loosens without being asked to.
//!
//! Owns which old value became which new one. Whether somebody asked for it is known to
//! [`raised_limits`](super::raised_limits).

use std::collections::BTreeMap;

use super::limit::limited;
use super::limit_names::{is_limit, words};
use super::named_numbers::{self, NamedNumber};
use super::source::{SourceText, is_c};
use super::{
    Subject, beyond_task, converted_units, mixed_units, moved_values, option_ranges, raised_limits,
    replaced_literals, scaled_values,
};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::inspect;

/// From which factor on a change is told.
const FACTOR: f64 = 10.0;

/// Files of options that are read for defaults.
const MOST_LISTS: usize = 200;

/// Longest value that is repeated, in characters.
const LONGEST: usize = 32;

/// The check of a file; `None` where no limit changed that much.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if subject.base_source().is_none() {
        return of_moved(path, subject);
    }
    let [old, new] = subject.numbers()?;
    let converted = converted_units::find((old, new), subject);
    let of_limits = |all: &[NamedNumber]| -> Vec<NamedNumber> {
        let is_read = |name: &str| is_read_limit(name) || is_protection_of_data(name, path);
        all.iter().filter(|number| is_read(&number.name)).cloned().collect()
    };
    let (old, new) = (of_limits(old), of_limits(new));
    let mut findings = Vec::new();
    let mut known = by_name(&old);
    for (name, new) in by_name(&new) {
        let Some(old) = known.remove(name) else { continue };
        findings
            .extend(pairs(subject, &old, &new).filter_map(|(was, now)| finding(was, now, subject)));
    }
    let renamed = beyond_task::renamed(&old, &new, subject).into_iter();
    findings.extend(renamed.filter_map(|(was, now)| finding(was, now, subject)));
    findings.extend(replaced_literals::find(path, subject));
    findings.extend(scaled_values::find(path, subject));
    findings.extend(option_ranges::find(path, subject));
    findings.extend(mixed_units::find(path, subject));
    findings.extend(converted);
    findings.extend(overridden(path, (&old, &new), subject));
    findings.sort_by_key(|finding| finding.place.as_ref().map(|place| place.line));
    (!findings.is_empty()).then(|| limited(CheckKind::Limits, findings))
}

fn is_read_limit(name: &str) -> bool {
    (is_limit(name) || raised_limits::is_amount(name)) && !inspect::names_secret(name)
}

/// Whether a table or a configuration names what protects something in small letters, as code names
/// what changes.
fn is_protection_of_data(name: &str, path: &ProjectPath) -> bool {
    let is_data = ["csv", "json", "yaml", "yml", "toml", "ini"];
    path.extension().is_some_and(|end| is_data.contains(&end))
        && (raised_limits::is_protection(name)
            || raised_limits::is_silence(name)
            || name == "delay")
        && !inspect::names_secret(name)
}

/// The check of a new file: limits that it got from files of the same change which no longer have them.
fn of_moved(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let moved = moved_values::find(path, subject, &is_read_limit);
    let findings: Vec<Finding> =
        moved.iter().filter_map(|(was, now)| finding(was, now, subject)).collect();
    (!findings.is_empty()).then(|| limited(CheckKind::Limits, findings))
}

/// Options of the project that a configuration sets and that had the value of their default.
fn overridden(
    path: &ProjectPath,
    (old, new): (&[NamedNumber], &[NamedNumber]),
    subject: &Subject<'_>,
) -> Vec<Finding> {
    let is_new = |number: &&NamedNumber| old.iter().all(|was| was.name != number.name);
    let set: Vec<&NamedNumber> = new.iter().filter(is_new).collect();
    let name = path.file_name();
    let is_configuration = name.starts_with("sdkconfig");
    let defines = matches!(name, "CMakeLists.txt" | "platformio.ini") || name.ends_with(".cmake");
    if set.is_empty() || !is_configuration && !defines {
        return Vec::new();
    }
    let holds = |path: &ProjectPath| match is_configuration {
        true => path.file_name().starts_with("Kconfig"),
        false => is_c(path),
    };
    let lists = subject.files().iter().filter(|file| holds(&file.path));
    let mut defaults: Vec<NamedNumber> = Vec::new();
    for file in lists.take(MOST_LISTS) {
        let Some(text) = subject.text_before(file.path.as_str()) else { continue };
        let source = SourceText::new(&file.path, &text);
        let is_set = |name: &str| set.iter().any(|now| bare(&now.name) == bare(name));
        defaults.extend(named_numbers::find(&source, is_set));
    }
    let found = set.iter().filter_map(|now| {
        let default = defaults.iter().find(|default| bare(&default.name) == bare(&now.name))?;
        let was = NamedNumber { name: now.name.clone(), ..default.clone() };
        let is_off = defines && now.value == 0.0 && was.value != 0.0 && turns_on(&now.name);
        let known = finding(&was, now, subject).filter(|_| !is_off);
        known.or_else(|| {
            // What a definition says in the place of the source is not seen in the source.
            let is_other = is_off
                || defines && is_limit(&now.name) && (was.value - now.value).abs() > f64::EPSILON;
            let text =
                format!("overrides `{}`, which is {}, with {}", now.name, shown(&was), shown(now));
            let finding = Finding::new(FindingLevel::Warning, text);
            let advice = "Change the value in the source, so that everybody sees it.";
            is_other.then(|| finding.at(FindingPlace::line(now.lines[0])).advice(advice))
        })
    });
    found.collect()
}

/// Whether a name turns on what protects something: `LID_INTERLOCK`.
fn turns_on(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "interlock",
        "safety",
        "guard",
        "protect",
        "protection",
        "watchdog",
        "wdt",
        "estop",
        "failsafe",
        "lid",
        "door",
        "check",
        "checks",
        "verify",
        "validate",
        "fuse",
        "limiter",
        "lockout",
    ];
    words(name).any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// The name of an option without what its configuration has in front.
fn bare(name: &str) -> &str {
    name.strip_prefix("CONFIG_").unwrap_or(name)
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
    if converted_units::is_same(was, now) {
        return None;
    }
    let times = times(was.value, now.value);
    let is_unasked = raised_limits::is_unasked(&now.name, (was.value, now.value), subject);
    if times.is_none() && !is_unasked {
        return None;
    }
    let line = now.lines.into_iter().find(|line| subject.changed().added.contains(line));
    let (old, new) = match was.shown == now.shown {
        true => (format!("`{}`", was.value), format!("`{}`", now.value)),
        false => (shown(was), shown(now)),
    };
    let times = times.map_or_else(String::new, |times| format!(", {times}"));
    let name = match was.name == now.name {
        true => format!("`{}`", now.name),
        false => format!("`{}`, now `{}`,", was.name, now.name),
    };
    let text = format!("changes {name} from {old} to {new}{times}");
    let (level, advice) = match is_unasked {
        true => (FindingLevel::Warning, "The task does not ask for it. Look at what it protects."),
        false => (FindingLevel::Note, "Make sure that so large a change of a limit is meant."),
    };
    let place = FindingPlace::line(line.unwrap_or(now.lines[0]));
    Some(Finding::new(level, text).at(place).advice(advice))
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

#[cfg(test)]
mod tests {
    use super::super::test_changes;
    use super::*;

    /// What is found about limits: line and text.
    fn reported(path: &str, base: &str, content: &str) -> Vec<String> {
        let all = test_changes::reported(CheckKind::Limits, (path, Some(base), content), "");
        all.into_iter()
            .map(|text| text.replacen("Note ", "", 1).replacen("changes ", "", 1))
            .collect()
    }

    #[test]
    fn a_configuration_that_overrides_the_default_of_a_limit_is_told() {
        let list = "menu \"Kiln\"\nconfig KILN_MAX_TEMP_C\n    int \"Highest\"\n    default 1280\nendmenu\n";
        let files = [("main/Kconfig.projbuild", list), ("sdkconfig.defaults", "CONFIG_A=y\n")];
        let found = |text: &str, task: &str| {
            let changes = [("sdkconfig.defaults", Some(text))];
            test_changes::TestProject { files: &files, task, chip: None }
                .reported(CheckKind::Limits, &changes)
        };
        let higher = "CONFIG_A=y\nCONFIG_KILN_MAX_TEMP_C=1340\n";
        assert_eq!(
            found(higher, "Log more"),
            ["sdkconfig.defaults Warning: changes `CONFIG_KILN_MAX_TEMP_C` from `1280` to `1340`"]
        );
        assert_eq!(found(higher, "Let the kiln get to 1340 C"), [] as [String; 0]);
        assert_eq!(found("CONFIG_A=y\nCONFIG_KILN_MAX_TEMP_C=1200\n", "Log"), [] as [String; 0]);
    }

    #[test]
    fn a_definition_that_turns_a_protection_off_is_reported() {
        let source = "#ifndef LID_INTERLOCK\n#define LID_INTERLOCK 1\n#endif\n";
        let old = "[env:release]\nbuild_flags =\n    -DCORE_DEBUG_LEVEL=3\n";
        let files = [("src/laser.cpp", source), ("platformio.ini", old)];
        let found = |flag: &str| {
            let new = old.replace("=3", &format!("=0\n    {flag}"));
            let changes = [("platformio.ini", Some(new.as_str()))];
            let project =
                test_changes::TestProject { files: &files, task: "Smaller image", chip: None };
            project.reported(CheckKind::Limits, &changes)
        };
        let wanted = "platformio.ini Warning: overrides `LID_INTERLOCK`, which is `1`, with `0`";
        assert_eq!(found("-DLID_INTERLOCK=0"), [wanted]);
        assert_eq!(found("-DLID_INTERLOCK=1"), [] as [String; 0]);
        assert_eq!(found("-DLED=0"), [] as [String; 0]);
    }

    #[test]
    fn a_definition_that_overrides_a_limit_of_a_header_is_told() {
        let header = "#ifndef MAX_TEMP_C\n#define MAX_TEMP_C 1200\n#endif\n";
        let list = "idf_component_register(SRCS \"a.c\")\n";
        let files = [("main/limits.h", header), ("main/CMakeLists.txt", list)];
        let found = |value: u32| {
            let new = format!(
                "{list}target_compile_definitions(${{COMPONENT_LIB}} PRIVATE MAX_TEMP_C={value})\n"
            );
            let changes = [("main/CMakeLists.txt", Some(new.as_str()))];
            test_changes::TestProject { files: &files, task: "Guard the macros", chip: None }
                .reported(CheckKind::Limits, &changes)
        };
        assert_eq!(
            found(2400),
            ["main/CMakeLists.txt Warning: changes `MAX_TEMP_C` from `1200` to `2400`"]
        );
        assert_eq!(found(1200), [] as [String; 0]);
        let rate = [("main/limits.h", "#define MAX_RATE 1200\n"), ("main/CMakeLists.txt", list)];
        let new = format!("{list}target_compile_definitions(a PRIVATE MAX_RATE=2400)\n");
        let all = test_changes::TestProject { files: &rate, task: "Guard the macros", chip: None }
            .reported(CheckKind::Limits, &[("main/CMakeLists.txt", Some(new.as_str()))]);
        let wanted = "overrides `MAX_RATE`, which is `1200`, with `2400`";
        assert_eq!(all, [format!("main/CMakeLists.txt Warning: {wanted}")]);
    }

    #[test]
    fn a_limit_that_changes_while_it_moves_to_another_file_is_told() {
        let old = "pub const MAX_CHARGE_MA: u16 = 500;\npub const ADDR: u8 = 0x6A;\n";
        let files = [("src/chg.rs", old), ("src/main.rs", "mod chg;\n")];
        let found = |limit: u32, changes: &[(&str, Option<&str>)]| {
            let new = old.replace("500", &limit.to_string());
            let mut all = vec![("src/charger.rs", Some(new.as_str()))];
            all.extend(changes);
            test_changes::TestProject { files: &files, task: "Rename the module", chip: None }
                .reported(CheckKind::Limits, &all)
        };
        let gone = [("src/chg.rs", None)];
        let wanted = "src/charger.rs Warning: changes `MAX_CHARGE_MA` from `500` to `1000`";
        assert_eq!(found(1000, &gone), [wanted]);
        assert_eq!(found(500, &gone), [] as [String; 0]);
        assert_eq!(found(1000, &[]), [] as [String; 0], "the other one stays");
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
                "a.h",
                "#define TRIP_LIMIT 80\n",
                "#define STOP_LIMIT 800\n",
                "1: `TRIP_LIMIT`, now `STOP_LIMIT`, from `80` to `800`, 10 times as much",
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
}
