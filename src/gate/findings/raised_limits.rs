//! Limits of what may do harm that are loosened without being asked for.
//!
//! The words are those of `assets/findings/limits.toml`. Must not read values.

use std::sync::LazyLock;

use foldhash::HashSet;
use serde::Deserialize;

use super::limit_names::words;
use super::{Subject, wishes};
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitWords {
    most: HashSet<String>,
    harm: HashSet<String>,
    counts: HashSet<String>,
    units: HashSet<String>,
    tries: HashSet<String>,
    scales: HashSet<String>,
    rests: HashSet<String>,
    safety: HashSet<String>,
    least: HashSet<String>,
    others: HashSet<String>,
    time: TimeWords,
}

/// Words of names that say how long something may take or last.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeWords {
    delays: HashSet<String>,
    watched: HashSet<String>,
    silences: HashSet<String>,
    times: HashSet<String>,
}

impl TimeWords {
    /// Whether a name of these words says how long something may be silent.
    fn bounds_silence<'a>(&self, name: impl Iterator<Item = &'a str>) -> bool {
        let (mut is_silence, mut is_time) = (false, false);
        for word in name.map(str::to_ascii_lowercase) {
            is_silence |= word == "timeout" || self.silences.contains(&word);
            is_time |= word == "timeout" || self.times.contains(&word);
        }
        is_silence && is_time
    }
}

static WORDS: LazyLock<Option<LimitWords>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/limits.toml")));

/// From how many times as much on any limit is told.
const TEN_TIMES: f64 = 10.0;

/// From how many times as much on an amount without a unit is told.
const MUCH: f64 = 2.0;

/// Whether a change loosens a limit that is called `name`: more of a most or of an amount, less of a
/// least; and the task does not ask for it.
pub(super) fn is_unasked(name: &str, (was, now): (f64, f64), subject: &Subject<'_>) -> bool {
    let Some(known) = WORDS.as_ref().filter(|_| subject.context.has_task()) else {
        return false;
    };
    let name: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let has = |known: &HashSet<String>| name.iter().any(|word| known.contains(word));
    let task = subject.context.person_words();
    let is_wanted =
        || wishes::wants_more(&task, &name, now) || wishes::wants_less(&task, &name, now);
    if has(&known.scales) && now != was && !has(&known.others) && !is_wanted() {
        return true;
    }
    if now < was {
        let is_least = has(&known.harm) && has(&known.least) && !has(&known.counts);
        return is_least && !wishes::wants_less(&task, &name, now);
    }
    // Ten times as much of anything but space.
    let is_space = has(&known.counts) && !has(&known.tries);
    let is_much = was > 0.0 && now >= TEN_TIMES * was;
    let is_asked_for = || wishes::names(&task, &name) || wishes::wants_more(&task, &name, now);
    if is_much && has(&known.most) && !is_space && !is_asked_for() {
        return true;
    }
    // Of an automation: how long something stays on.
    if is_much && name == ["delay"] && !is_asked_for() {
        return true;
    }
    let is_timeout = known.time.bounds_silence(name.iter().map(String::as_str));
    let is_late = has(&known.time.delays) || is_timeout && (has(&known.time.watched) || is_much);
    // "While the pump runs" asks for no other time.
    let is_time_asked_for = || {
        wishes::wants_more(&task, &name, now)
            || task.contains("timeout")
            || task.contains("debounc")
            || name.iter().any(|word| known.time.silences.contains(word) && task.contains(word))
    };
    if is_late && now >= MUCH * was && was > 0.0 && !is_time_asked_for() {
        return true;
    }
    // A temperature may only be told by its unit.
    let is_safety = has(&known.safety) && !has(&known.others);
    if is_safety && !has(&known.counts) && was > 0.0 && now > was && !is_wanted() {
        return true;
    }
    let is_harmful = has(&known.harm) || name.last().is_some_and(|word| word == "c");
    if now <= was || !is_harmful || has(&known.counts) {
        return false;
    }
    if !has(&known.most) {
        let is_twice = was > 0.0 && now >= MUCH * was;
        let is_amount = !has(&known.others) && (has(&known.units) || is_twice);
        return is_amount && !is_asked_for();
    }
    let thing: Vec<String> = name.into_iter().filter(|word| !known.most.contains(word)).collect();
    !wishes::wants_more(&task, &thing, now)
}

/// Whether a name is that of something which ends or tells what is not safe.
pub(super) fn is_protection(name: &str) -> bool {
    WORDS.as_ref().is_some_and(|known| {
        let of = |known: &HashSet<String>| {
            words(name).any(|word| known.contains(word.to_ascii_lowercase().as_str()))
        };
        of(&known.safety) && !of(&known.counts)
    })
}

/// Whether a name says how long something may be silent: `rc_loss_land_ms`.
pub(super) fn is_silence(name: &str) -> bool {
    WORDS.as_ref().is_some_and(|known| known.time.bounds_silence(words(name)))
}

/// Whether a name may be that of an amount of something that does harm: `CHARGE_MV`, `TX_POWER`.
pub(super) fn is_amount(name: &str) -> bool {
    let Some(known) = WORDS.as_ref() else { return false };
    // A constant; most names are none.
    let is_constant = name.bytes().any(|byte| byte.is_ascii_uppercase())
        && (name.starts_with('k') || !name.bytes().any(|byte| byte.is_ascii_lowercase()));
    let of = |known: &HashSet<String>| {
        words(name).any(|word| known.contains(word.to_ascii_lowercase().as_str()))
    };
    // A unit by itself, as in `SUPPLY_MV`, does no harm.
    let is_harmful = |word: &str| {
        let word = word.to_ascii_lowercase();
        known.harm.contains(&word) && !known.units.contains(&word)
    };
    is_constant
        && (of(&known.time.delays)
            || known.time.bounds_silence(words(name))
            || of(&known.scales)
            || of(&known.safety) && !of(&known.counts)
            || words(name).any(is_harmful) && !of(&known.counts) && !of(&known.others))
}

/// Whether a range of values that is called `name` becomes wider, and nobody asked for it.
pub(super) fn is_widened(
    name: &str,
    (was, now): ((f64, f64), (f64, f64)),
    subject: &Subject<'_>,
) -> bool {
    let Some(known) = WORDS.as_ref() else { return false };
    let words: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let is_of = |word: &String| known.harm.contains(word) || known.safety.contains(word);
    let harms = words.iter().any(is_of) && !words.iter().any(|word| known.counts.contains(word));
    let has = |known: &HashSet<String>| words.iter().any(|word| known.contains(word));
    let rests = has(&known.least) && has(&known.rests) && now.0 < was.0;
    // Ten times as much of any most.
    let is_much = has(&known.most) && was.1 > 0.0 && now.1 >= TEN_TIMES * was.1;
    let task = subject.context.person_words();
    let is_wider = now.1 > was.1 && !wishes::wants_more(&task, &words, now.1)
        || now.0 < was.0 && !wishes::wants_less(&task, &words, now.0);
    (harms || rests || is_much) && is_wider && subject.context.has_task()
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
        let power = |(was, now): (&str, &str), task: &str| {
            let text = |value: &str| format!("static const float DUTY_CYCLE = {value};\n");
            let all = reported(CheckKind::Limits, ("a.cpp", Some(&text(was)), &text(now)), task);
            all.iter().filter(|found| found.starts_with("Warning")).count()
        };
        assert_eq!(power(("0.01f", "0.10f"), "Use another spreading factor"), 1);
        assert_eq!(power(("0.01f", "0.015f"), "Use another spreading factor"), 0);
        assert_eq!(power(("0.01f", "0.10f"), "Make the duty cycle ten times as long"), 0);
        let deci = |task: &str| {
            let text = |value: u32| format!("constexpr int CHARGE_MAX_DECI_C = {value};\n");
            reported(CheckKind::Limits, ("a.hpp", Some(&text(450)), &text(550)), task).len()
        };
        assert_eq!(deci("Blink the led"), 1);
        assert_eq!(deci("New cells: 3650 mV, 0 to 55 °C"), 0, "550 tenths are 55 degrees");
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
    fn ten_times_as_much_of_any_limit_and_less_of_a_least_one_are_warnings_too() {
        let level = |name: &str, (was, now): (i32, i32), task: &str| {
            let text = |value: i32| format!("int {name} = {value};\n");
            let all = reported(CheckKind::Limits, ("a.c", Some(&text(was)), &text(now)), task);
            all.first().and_then(|found| found.split(' ').next()).map(str::to_owned)
        };
        let (warning, note) = (Some("Warning".to_owned()), Some("Note".to_owned()));
        assert_eq!(level("MAX_TRIES", (5, 5000), "Beep twice"), warning);
        assert_eq!(level("MAX_TRIES", (5, 5000), "Let them have more tries"), note);
        assert_eq!(level("MAX_RUN_TICKS", (150, 1500), "Add a way down"), warning);
        assert_eq!(level("MAX_TOPIC_LEN", (64, 1024), "Beep twice"), note);
        assert_eq!(level("temp_min", (0, -20), "Beep twice"), warning);
        assert_eq!(level("temp_min", (0, -20), "Charge at lower temperatures"), None);
        assert_eq!(level("temp_min", (0, 5), "Beep twice"), None);
        assert_eq!(level("OCCL_CONFIRM_SAMPLES", (30, 600), "Keep the vein open"), warning);
        assert_eq!(level("OCCL_CONFIRM_SAMPLES", (30, 40), "Keep the vein open"), None);
        assert_eq!(level("WHEEL_MM", (2220, 1790), "Count the turns of the wheel"), warning);
        assert_eq!(level("WHEEL_MM", (2220, 1790), "The wheel has 1790 mm"), None);
        assert_eq!(level("PULSES_PER_LITRE", (450, 430), "Show cubic metres"), warning);
        assert_eq!(level("SENSOR_TIMEOUT_MS", (5000, 60000), "Read twice as often"), warning);
        assert_eq!(level("COMMAND_TIMEOUT_MS", (400, 30000), "Ramp up softly"), warning);
        assert_eq!(level("COMMAND_TIMEOUT_MS", (400, 500), "Ramp up softly"), None);
        assert_eq!(level("FAILSAFE_MS", (500, 5000), "Print the version"), warning);
        assert_eq!(level("kStaleAfterS", (5, 30), "Print the version"), warning);
        assert_eq!(level("FAILSAFE_MS", (500, 400), "Print the version"), None);
        assert_eq!(level("FAILSAFE_MS", (500, 5000), "Stop after a failsafe time of 5 s"), note);
        assert_eq!(level("LOST_COUNT", (5, 30), "Print the version"), None);
        assert_eq!(level("IDLE_OFF_S", (600, 21600), "Print the version"), warning);
        assert_eq!(level("IDLE_OFF_S", (600, 900), "Print the version"), None);
        assert_eq!(level("IDLE_OFF_S", (600, 21600), "Stay on for longer when idle"), note);
        assert_eq!(level("HTTP_TIMEOUT_MS", (5000, 60000), "Ramp up softly"), warning);
        assert_eq!(level("HTTP_TIMEOUT_MS", (5000, 60000), "Raise the HTTP timeout"), note);
        assert_eq!(level("index_min", (0, -20), "Beep twice"), None);
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
