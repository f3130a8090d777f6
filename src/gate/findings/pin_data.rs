//! Pins in the settings that a program reads when it runs, JSON, YAML and TOML: by the names of the
//! settings, of what they stand in, and of what stands next to them.
//!
//! Reads by patterns and indentation, so that a file that does not parse is read, too. Must not know
//! what a pin is on a chip.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::limit_names::words;
use super::pin_names::is_driven;
use super::pin_options::{is_pin, pin};
use super::pin_use::{Direction, PinUse};

/// Whether a file holds settings that a program reads when it runs.
pub(super) fn is_data(path: &str) -> bool {
    let ends = [".json", ".yaml", ".yml", ".toml"];
    ends.iter().any(|end| path.ends_with(end)) && !path.split('/').any(|part| part.starts_with('.'))
}

/// `"pin": 6`, `led_gpio: 6`, `"pins": [4, 5]`, and lists of YAML.
pub(super) fn find(text: &str) -> Vec<PinUse> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?x)"?(?P<name>[A-Za-z_][\w-]*)"?[^\S\n]*[:=]\s*
            (?:\[(?P<list>[^\[\]{}]{1,400})\]
            |(?P<rows>(?:-[^\S\n]+["']?(?:GPIO_?(?:NUM_)?)?\d{1,2}\b[^\n]*(?:\n[^\S\n]*)?){1,40})
            |"?(?:(?P<says>GPIO_?(?:NUM_)?)|IO)?(?P<one>\d{1,2})\b)"#,
        )
        .ok()
    });
    let mut found = Vec::new();
    for groups in NAMED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (Some(whole), Some(name)) = (groups.get(0), groups.get(1)) else { continue };
        if let Some(value) = groups.name("one") {
            // `sda: GPIO35`, whatever the name.
            let says_so = groups.name("says").is_some() && is_whole(text, whole.end());
            let is_named = || {
                says_so
                    || is_pin(&option(name.as_str()))
                    || is_among_pins(text, name.as_str(), whole.start())
            };
            if let Some(used) = pin(value.as_str(), whole.range()).filter(|_| is_named()) {
                let direction = direction(text, name.as_str(), whole.start());
                found.push(PinUse { direction, ..used });
            }
        } else if let Some(list) = groups.name("list").or_else(|| groups.name("rows"))
            && let Some(one) = option(name.as_str()).strip_suffix('S').filter(|one| is_pin(one))
        {
            let direction = direction(text, one, whole.start());
            let pins = numbers(list.as_str(), list.start());
            found.extend(pins.map(|used| PinUse { direction, ..used }));
        }
    }
    found
}

/// Whether a value ends at the byte `at`.
fn is_whole(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default().trim_start_matches(['"', '\'', ' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', '\r', ',', '}', ']', '#'])
}

/// Whether what a setting stands in is called pins: `"pins": { "relay": 4 }`.
fn is_among_pins(text: &str, name: &str, at: usize) -> bool {
    // Most files speak of none.
    let speaks = || ["pins", "gpio", "Pins", "PINS", "GPIO"].iter().any(|word| text.contains(word));
    let of = || around(text, at).into_iter().next().map(|around| option(&around));
    !words(name).any(|word| super::pin_names::measures(&word.to_ascii_uppercase()))
        && speaks()
        && of().is_some_and(|around| {
            let one = around.strip_suffix('S').unwrap_or(&around);
            is_pin(one) && one != "IO"
        })
}

/// A name as options are written.
fn option(name: &str) -> String {
    words(name).map(str::to_ascii_uppercase).collect::<Vec<_>>().join("_")
}

/// The numbers of a list that starts at the byte `start`, each alone.
fn numbers(list: &str, start: usize) -> impl Iterator<Item = PinUse> {
    let mut at = start;
    list.split([',', '\n']).filter_map(move |part| {
        let from = at;
        at += part.len() + 1;
        let value = part.split('#').next().unwrap_or_default();
        let value = value.trim().trim_start_matches("- ").trim().trim_matches(['"', '\'']);
        let value = value.trim_start_matches("GPIO_NUM_").trim_start_matches("GPIO");
        let inner = from + part.find(value)?;
        pin(value, inner..inner + value.len())
    })
}

/// Which way a pin works, by its name, by what it stands in, and by what stands next to it.
fn direction(text: &str, name: &str, at: usize) -> Direction {
    let is_alone = words(name).all(|word| is_pin(&word.to_ascii_uppercase()));
    let says = match is_alone {
        false => is_driven(name),
        true => sibling(text, at).map_or_else(
            || around(text, at).first().is_some_and(|name| is_driven(name)),
            |name| is_driven(&name),
        ),
    };
    if says { Direction::Output } else { Direction::Unknown }
}

/// What the object at `at` is called by a setting of its own: `"name": "valve 2"`.
fn sibling(text: &str, at: usize) -> Option<String> {
    static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let names = "name|id|role|type|kind|device|label|mode|direction|function";
        Regex::new(&format!(r#"(?:^|[\s{{,-])"?(?:{names})"?\s*[:=]\s*"?([A-Za-z][\w -]*)"#)).ok()
    });
    let object = object(text, at);
    let inner = text.get(object)?;
    let mut all = CALLED.as_ref()?.captures_iter(inner).filter_map(|groups| groups.get(1));
    let called: Vec<&str> = all.by_ref().map(|called| called.as_str()).collect();
    called
        .iter()
        .find(|name| is_driven(name))
        .or_else(|| called.first())
        .map(|name| (*name).to_owned())
}

/// The innermost braces around `at`; in YAML the lines of the same depth.
fn object(text: &str, at: usize) -> Range<usize> {
    let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    if let Some(open) = before.rfind(['{', '}']).filter(|open| before[*open..].starts_with('{')) {
        return open..at + behind.find(['}', '{']).unwrap_or(behind.len());
    }
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut lines = before.rsplit('\n');
    let own = depth(lines.next().unwrap_or_default()).max(usize::from(!before.is_empty()));
    let mut start = before.rfind('\n').map_or(0, |end| end + 1);
    let is_first = |line: &str| line.trim_start().starts_with('-');
    if !is_first(text.get(start..).unwrap_or_default().lines().next().unwrap_or_default()) {
        for line in lines.take_while(|line| depth(line) == own && !line.trim().is_empty()) {
            start -= line.len() + 1;
            if is_first(line) {
                break;
            }
        }
    }
    let mut end = at + behind.find('\n').map_or(behind.len(), |end| end + 1);
    for line in text.get(end..).unwrap_or_default().split_inclusive('\n') {
        if depth(line) != own || is_first(line) {
            break;
        }
        end += line.len();
    }
    start..end
}

/// The names of what `at` stands in, the innermost first: what opens on lines that are less indented.
fn around(text: &str, at: usize) -> Vec<String> {
    static OPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^[\s{\[-]*"?(?P<name>[A-Za-z_][\w-]*)"?\s*:\s*[\[{]*\s*$|^\s*\[+(?P<table>[\w.-]+)\]+"#).ok()
    });
    let Some(opens) = OPENS.as_ref() else { return Vec::new() };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let mut least = indent(line);
    let mut found = Vec::new();
    for line in text.get(..start).unwrap_or_default().lines().rev() {
        let Some(groups) = opens.captures(line) else { continue };
        let is_table = groups.name("table").is_some();
        let name = groups.name("name").or_else(|| groups.name("table"));
        // The rows of a list in YAML may stand under its name.
        if indent(line) < least || is_table || indent(line) == least && line.ends_with(':') {
            least = indent(line);
            found.extend(name.map(|name| name.as_str().to_owned()));
        }
        if is_table {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<i128> {
        find(text).iter().map(|pin| pin.number).collect()
    }

    fn driven(text: &str) -> Vec<i128> {
        let all = find(text);
        let driven = all.iter().filter(|pin| pin.direction == Direction::Output);
        driven.map(|pin| pin.number).collect()
    }

    #[test]
    fn data_of_a_program_names_pins() {
        let json =
            "{ \"id\": 4, \"pin\": 18, \"ledGpio\": 6, \"pins\": 9, \"pinMax\": 3, \"x\": 1 }";
        assert_eq!(numbers(json), [18, 6]);
        assert_eq!(numbers("led_gpio: 7\nspin: 3\npin: 1234\nname: pin 4\n"), [7]);
        assert!(is_data("data/config.json") && !is_data(".vscode/a.json") && !is_data("a.c"));
    }

    #[test]
    fn lists_of_pins_are_read_and_each_number_has_its_place() {
        let json = "{\n  \"valve_pins\": [18,\n    19, 35],\n  \"spins\": [6]\n}\n";
        assert_eq!(numbers(json), [18, 19, 35]);
        let places = find(json).into_iter().map(|pin| json[pin.ranges[0].clone()].to_owned());
        assert_eq!(places.collect::<Vec<_>>(), ["18", "19", "35"]);
        let yaml = "relay_gpios:\n  - 4\n  - 34 # pump\n  - GPIO_NUM_5\nids:\n  - 6\n";
        assert_eq!(numbers(yaml), [4, 34, 5]);
        assert_eq!(driven(yaml), [4, 34, 5]);
        assert_eq!(numbers("pins: [ ]\npins:\n"), [] as [i128; 0]);
    }

    #[test]
    fn what_is_driven_is_known_by_its_name_or_by_what_is_around_it() {
        for (text, wanted) in [
            ("{\"valve_pin\": 35, \"sensor_pin\": 34, \"pump_current_pin\": 36}", vec![35]),
            ("{\n  \"valves\": [\n    { \"pin\": 35 },\n    { \"pin\": 4 }\n  ]\n}\n", vec![35, 4]),
            ("{\n  \"inputs\": [\n    { \"pin\": 35 }\n  ]\n}\n", vec![]),
            ("[{\"name\": \"relay 1\", \"pin\": 34}, {\"name\": \"flow\", \"pin\": 36}]", vec![34]),
            ("zones:\n  - name: valve\n    pin: 34\n  - name: rain\n    pin: 35\n", vec![34]),
            ("relays:\n  - pin: 34\nsensors:\n  - pin: 35\n", vec![34]),
            ("relays:\n- pin: 34\nsensors:\n- pin: 35\n", vec![34]),
            (
                "{\n  \"pins\": {\n    \"relay\": 46,\n    \"count\": 2\n  },\n  \"led\": 3\n}\n",
                vec![46],
            ),
            ("[pump]\npin = 34\n[level]\npin = 35\n", vec![34]),
        ] {
            assert_eq!(driven(text), wanted, "{text}");
        }
    }
}
