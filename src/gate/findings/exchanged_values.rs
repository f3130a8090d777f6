//! Names that exchange their values: `FILL` was 18 and `DRAIN` 19, and now it is the other way round.
//!
//! Names may get other words in front: `PIN_A_FILL` that becomes the field `fill`. Must not judge single
//! values.

use foldhash::HashMap;

use super::Subject;
use super::limit_names::words;
use super::named_numbers::NamedNumber;
use crate::model::{Finding, FindingLevel, FindingPlace};

/// Words of names that say what kind of number it is.
const KINDS: [&str; 6] = ["pin", "gpio", "num", "no", "io", "number"];

/// Beginnings of words of tasks that ask for it.
const ASKS: [&str; 8] =
    ["swap", "exchang", "vertausch", "tausch", "échang", "invers", "intercambi", "switch around"];

/// A value as it is written, and the line of its name, from 1.
type Value = (String, u32);

/// What is to be said of two names that exchange their values.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let [old, new] = subject.numbers()?;
    let task = subject.context.person_words();
    if ASKS.iter().any(|word| task.contains(word)) {
        return None;
    }
    let (was, is) = (values(old), values(new));
    // Names that get another value in a line of the change, by both values.
    let mut changed: HashMap<(&str, &str), (&str, u32)> = HashMap::default();
    let mut all: Vec<(&String, &Value)> =
        is.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).collect();
    all.sort();
    for (name, (now, line)) in all {
        let Some((before, _)) = was.get(name).and_then(Option::as_ref) else { continue };
        if before == now || !subject.changed().added.contains(line) {
            continue;
        }
        if let Some((other, at)) = changed.get(&(now.as_str(), before.as_str())) {
            let text =
                format!("`{other}` and `{name}` exchange their values, `{now}` and `{before}`");
            let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*at));
            return Some(finding.advice("The names stay, and what they stand for changes."));
        }
        changed.insert((before, now), (name, *line));
    }
    None
}

/// Numbers by the last words of their names; `None` where several names end in one.
fn values(all: &[NamedNumber]) -> HashMap<String, Option<Value>> {
    let mut found: HashMap<String, Option<Value>> = HashMap::default();
    for number in all {
        let own = words(&number.name).map(str::to_lowercase);
        let Some(last) = own.filter(|word| !KINDS.contains(&word.as_str())).last() else {
            continue;
        };
        let value = Some((number.shown.clone(), number.lines[0]));
        found.entry(last).and_modify(|known| *known = None).or_insert(value);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn names_that_exchange_their_values_are_reported() {
        let old = "#define PIN_A_FILL   18\n#define PIN_A_DRAIN  19\n#define PIN_A_FLOAT  20\n";
        let found = |new: &str, task: &str| -> Vec<String> {
            let all = reported(CheckKind::BeyondTask, ("src/pins.h", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("exchange")).collect()
        };
        let fields = "constexpr TankPins TANK_A = { .drain = 18, .fill = 19, .floats = 20 };\n";
        let wanted = ["Warning 1: `drain` and `fill` exchange their values, `19` and `18`"];
        let task = "Refactor: one struct per tank instead of the macros";
        assert_eq!(found(fields, task), wanted);
        assert_eq!(
            found(&old.replace("18", "x").replace("19", "18").replace('x', "19"), task).len(),
            1
        );
        for (new, task) in [
            (fields, "Swap the fill and the drain pin"),
            ("constexpr TankPins TANK_A = { .drain = 19, .fill = 18 };\n", task),
            ("constexpr TankPins TANK_A = { .drain = 21, .fill = 19 };\n", task),
            ("#define FILL 19\n#define B_FILL 3\n#define DRAIN 18\n", task),
        ] {
            assert_eq!(found(new, task), [] as [String; 0], "{new}");
        }
    }
}
