//! Options of a configuration that are pins: their values, and their defaults in Kconfig.
//!
//! Reads line by line. Must not know what a pin is on a chip.

use std::ops::Range;

use super::outer_constants::DEFINED;
use super::pin_names::{Signals, is_driven, signal};
use super::pin_use::Direction;
use super::pin_use::PinUse;
use crate::text::lines::line_starts;

/// Whether a file declares options.
pub(super) fn is_kconfig(name: &str) -> bool {
    name == "Kconfig" || name == "Kconfig.projbuild" || name.starts_with("Kconfig.in")
}

/// Words in the name of an option that make it something else than a pin.
const NO_PINS: [&str; 14] = [
    "PSRAM", "FLASH", "SPIRAM", "RESERVED", "MAX", "COUNT", "CTRL", "ISR", "EXTI", "CACHE", "INT",
    "EFUSE", "RANGE", "NUM_OF",
];

/// Whether an option is called like a pin, without `CONFIG_`.
pub(super) fn is_pin(option: &str) -> bool {
    let mut parts = option.split('_');
    parts.clone().any(|part| matches!(part, "GPIO" | "PIN" | "IO"))
        && !parts.any(|part| NO_PINS.contains(&part))
        && !option.starts_with("SOC_")
}

/// A number that can be a pin, in these bytes.
pub(super) fn pin(value: &str, range: Range<usize>) -> Option<PinUse> {
    let number = value.parse::<i128>().ok().filter(|number| (0..100).contains(number))?;
    Some(PinUse::plain(number, range))
}

/// A pin with what the name of its option says.
fn of_option(option: &str, used: PinUse) -> PinUse {
    let direction = if is_driven(option) { Direction::Output } else { used.direction };
    PinUse { direction, ..used }
}

/// `CONFIG_LED_GPIO=6`.
pub(super) fn settings(text: &str) -> Vec<PinUse> {
    let setting = |(start, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let option = name.strip_prefix("CONFIG_").filter(|option| is_pin(option))?;
        Some(of_option(option, pin(value, start..start + line.len())?))
    };
    line_starts(text).filter_map(setting).collect()
}

/// Whether a file gives names to numbers for the compiler.
pub(super) fn defines(name: &str) -> bool {
    name == "platformio.ini" || name == "CMakeLists.txt"
}

/// `-DLED_PIN=6`, `LED_PIN=6` among definitions.
pub(super) fn definitions(text: &str) -> Vec<PinUse> {
    let mut found = Vec::new();
    let names = DEFINED.iter().flat_map(|pattern| pattern.captures_iter(text));
    let signals = Signals::of(names.filter_map(|groups| Some(groups.get(1)?.as_str())));
    for (start, line) in line_starts(text) {
        if line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        for groups in DEFINED.iter().flat_map(|pattern| pattern.captures_iter(line)) {
            let (Some(name), Some(value)) = (groups.get(1), groups.get(2)) else { continue };
            let way = signal(name.as_str(), &signals);
            if way.is_some() || is_pin(name.as_str()) {
                let used = pin(value.as_str(), start + name.start()..start + value.end());
                found.extend(used.map(|used| match way {
                    Some(direction) => PinUse { direction, ..used },
                    None => of_option(name.as_str(), used),
                }));
            }
        }
    }
    found
}

/// `default 6` of `config LED_GPIO`, as far as it can hold for the chip.
pub(super) fn defaults(text: &str, chip: &str) -> Vec<PinUse> {
    let chip = chip.to_ascii_uppercase();
    let mut found = Vec::new();
    // Conditions around what follows: `if …` of the file.
    let mut around: Vec<bool> = Vec::new();
    let mut option = None;
    let mut is_decided = false;
    for (start, line) in line_starts(text) {
        let inside = line.trim_start();
        let mut words = inside.split_whitespace();
        match words.next() {
            Some("if") => around.push(may_hold(inside.trim_start_matches("if"), &chip)),
            Some("endif") => {
                around.pop();
            }
            Some("config" | "menuconfig") => {
                option = words.next().filter(|name| is_pin(name));
                is_decided = false;
            }
            Some("menu" | "endmenu" | "choice" | "endchoice" | "comment" | "source") => {
                option = None;
            }
            Some("depends") if !may_hold(inside.trim_start_matches("depends on"), &chip) => {
                option = None;
            }
            Some("default") if option.is_some() && !is_decided => {
                let (Some(value), condition) = (words.next(), inside.split_once(" if ")) else {
                    continue;
                };
                let holds = condition.is_none_or(|(_, condition)| may_hold(condition, &chip));
                if holds && around.iter().all(|holds| *holds) {
                    let used = pin(value, start..start + line.len());
                    found.extend(used.map(|used| of_option(option.unwrap_or_default(), used)));
                    // Of several defaults the first whose condition holds is taken.
                    is_decided = condition.is_none_or(|(_, text)| names_a_chip(text));
                }
            }
            Some(_) | None => {}
        }
    }
    found
}

/// The chips that a condition names, `!` before what it excludes.
fn chips(condition: &str) -> impl Iterator<Item = (bool, &str)> {
    condition.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|' | '&')).filter_map(
        |word| {
            let name = word.trim_start_matches('!').strip_prefix("IDF_TARGET_")?;
            Some((word.starts_with('!'), name))
        },
    )
}

fn names_a_chip(condition: &str) -> bool {
    chips(condition).next().is_some()
}

/// Whether a condition can hold for a chip, as far as it is about chips.
fn may_hold(condition: &str, chip: &str) -> bool {
    let mut named = chips(condition).peekable();
    named.peek().is_none() || named.any(|(is_excluded, name)| (name == chip) != is_excluded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(found: &[PinUse]) -> Vec<i128> {
        found.iter().map(|pin| pin.number).collect()
    }

    #[test]
    fn options_called_like_pins_are_read_and_others_are_not() {
        let text = "CONFIG_LED_GPIO=6\nCONFIG_MAX_GPIO=7\nCONFIG_SPI_FLASH_IO=8\nA_PIN=9\n\
                    CONFIG_PUMP_PIN=10\r\nCONFIG_X_PIN=y\n";
        assert_eq!(numbers(&settings(text)), [6, 10]);
    }

    #[test]
    fn definitions_called_like_pins_are_read() {
        let text = "[env:a]\nbuild_flags = -DLED_PIN=6 -DPIN_COUNT=7 -D RELAY_GPIO=GPIO_NUM_8\n\
                    ; -DFAN_PIN=9\n";
        assert_eq!(numbers(&definitions(text)), [6, 8]);
        assert_eq!(&text[definitions(text)[0].ranges[0].clone()], "LED_PIN=6");
        assert_eq!(numbers(&definitions("add_compile_definitions(FAN_PIN=9)\n")), [9]);
    }

    #[test]
    fn of_the_defaults_of_an_option_the_one_of_the_chip_counts() {
        let text = "menu \"Pump\"\n    config PUMP_GPIO\n        int \"Pump\"\n        \
                    range 0 39\n        default 8 if IDF_TARGET_ESP32C3 || IDF_TARGET_ESP32C6\n\
                            default 9\n    config PUMP_COUNT\n        int\n        default 7\n\
                    endmenu\nif IDF_TARGET_ESP32S3\nconfig LED_PIN\n    default 6\nendif\n\
                    config BUTTON_PIN\n    depends on !IDF_TARGET_ESP32C3\n    default 10\n";
        assert_eq!(numbers(&defaults(text, "esp32c3")), [8]);
        assert_eq!(numbers(&defaults(text, "esp32")), [9, 10]);
        assert_eq!(numbers(&defaults(text, "esp32s3")), [9, 6, 10]);
        assert_eq!(defaults(text, "esp32c3")[0].direction, Direction::Output, "a pump");
        assert_eq!(settings("CONFIG_RELAY_PIN=34\n")[0].direction, Direction::Output);
        assert_eq!(settings("CONFIG_FLOW_PIN=34\n")[0].direction, Direction::Unknown);
        let place = &defaults(text, "esp32c3")[0].ranges[0];
        assert!(text[place.clone()].contains("default 8 if"));
    }
}
