//! Limits of what may do harm that are raised without being asked for.
//!
//! The words are those of `assets/findings/limits.toml`. Must not read values.

use std::sync::LazyLock;

use foldhash::HashSet;
use serde::Deserialize;

use super::limit_names::words;
use super::{Subject, wishes};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitWords {
    most: HashSet<String>,
    harm: HashSet<String>,
    counts: HashSet<String>,
    units: HashSet<String>,
}

static WORDS: LazyLock<Option<LimitWords>> =
    LazyLock::new(|| toml::from_str(include_str!("../../../assets/findings/limits.toml")).ok());

/// Whether a change raises such a limit, which is called `name`, and the task asks for no more of it.
pub(super) fn is_unasked(name: &str, (was, now): (f64, f64), subject: &Subject<'_>) -> bool {
    let Some(known) = WORDS.as_ref().filter(|_| now > was && subject.context.has_task()) else {
        return false;
    };
    let is_amount = is_amount(name);
    let name: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let has = |known: &HashSet<String>| name.iter().any(|word| known.contains(word));
    if !has(&known.harm) || has(&known.counts) {
        return false;
    }
    let task = subject.context.words();
    if !has(&known.most) {
        return is_amount && !wishes::names(&task, &name) && !wishes::wants_more(&task, &name, now);
    }
    let thing: Vec<String> = name.into_iter().filter(|word| !known.most.contains(word)).collect();
    !wishes::wants_more(&task, &thing, now)
}

/// Whether a name is that of an amount of something that does harm, and says its unit: `CHARGE_MV`.
pub(super) fn is_amount(name: &str) -> bool {
    let Some(known) = WORDS.as_ref() else { return false };
    // The unit comes last; most names have none.
    let is_unit = |word: &str| known.units.iter().any(|unit| unit.eq_ignore_ascii_case(word));
    if !words(name).last().is_some_and(is_unit) {
        return false;
    }
    let name: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let count = |of: &HashSet<String>| name.iter().filter(|word| of.contains(*word)).count();
    count(&known.harm) > count(&known.units) && count(&known.counts) == 0
}

/// Whether a range of values that is called `name` becomes wider, and nobody asked for it.
pub(super) fn is_widened(
    name: &str,
    (was, now): ((f64, f64), (f64, f64)),
    subject: &Subject<'_>,
) -> bool {
    let Some(known) = WORDS.as_ref() else { return false };
    let words: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let harms = words.iter().any(|word| known.harm.contains(word))
        && !words.iter().any(|word| known.counts.contains(word));
    let task = subject.context.words();
    let is_asked_for = |value: f64| wishes::wants_more(&task, &words, value);
    let is_wider = now.1 > was.1 && !is_asked_for(now.1) || now.0 < was.0 && !is_asked_for(now.0);
    harms && is_wider && subject.context.has_task()
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn an_amount_with_its_unit_counts_when_the_task_names_none_of_its_words() {
        let found = |name: &str, task: &str| {
            let text = |value: u32| format!("constexpr int {name} = {value};\n");
            reported(CheckKind::Limits, ("a.hpp", Some(&text(4200)), &text(4350)), task)
        };
        let wanted = "Warning 1: changes `kChargeMv` from `4200` to `4350`";
        assert_eq!(found("kChargeMv", "Blink the led"), [wanted]);
        assert_eq!(found("MOTOR_RPM", "Blink the led").len(), 1);
        for (name, task) in [
            ("kChargeMv", "Charge to 4.35 V"),
            ("kChargeMv", "Use the value 4350"),
            ("kChargeMv", ""),
            ("SUPPLY_MV", "Blink the led"),
            ("PRESSURE", "Blink the led"),
            ("MOTOR_COUNT_RPM", "Blink the led"),
        ] {
            assert_eq!(found(name, task), [] as [String; 0], "{name} {task}");
        }
    }

    #[test]
    fn a_limit_that_nobody_asked_to_raise_is_a_warning() {
        let found = |(path, old, new): (&str, &str, &str), task: &str| {
            reported(CheckKind::Limits, (path, Some(old), new), task)
        };
        let heater =
            ("a.h", "#define HEATER_MAX_CELSIUS 1100.0f\n", "#define HEATER_MAX_CELSIUS 1350.0f\n");
        let raised = ["Warning 1: changes `HEATER_MAX_CELSIUS` from `1100.0f` to `1350.0f`"];
        for task in [
            "The relay of the heater chatters: use a hysteresis of 4 degrees",
            "Tidy the limits of the heater in the header",
            "Say in celsius how hot it is",
        ] {
            assert_eq!(found(heater, task), raised, "{task}");
        }
        for task in ["", "let the kiln get to 1350", "raise the limits", "a hotter heater"] {
            assert_eq!(found(heater, task), [] as [String; 0], "{task}");
        }
        assert_eq!(found((heater.0, heater.2, heater.1), "x"), [] as [String; 0], "it is lowered");
        let json = ("limits.json", "{\"max_current_a\": 18}\n", "{\"max_current_a\": 32}\n");
        assert_eq!(found(json, "make the display brighter").len(), 1);
        let much = ("a.h", "#define PUMP_LIMIT_S 30\n", "#define PUMP_LIMIT_S 3600\n");
        let level = |task: &str| found(much, task)[0].split(' ').next().map(str::to_owned);
        assert_eq!(level("blink the led").as_deref(), Some("Warning"), "120 times as much, too");
        assert_eq!(level("run the pump longer").as_deref(), Some("Note"));
        for name in ["MAX_LINES", "MAX_CURRENT_INDEX", "MOTOR_MAX_RETRIES", "CELSIUS"] {
            let text = |value: u32| format!("#define {name} {value}\n");
            assert_eq!(found(("a.h", &text(10), &text(20)), "x"), [] as [String; 0], "{name}");
        }
    }
}
