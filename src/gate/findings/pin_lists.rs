//! Headers that are lists of pins by their names: `pins.h`, `pinout.hpp`, `pin_map.h`.
//!
//! In them every small number that gets a name is a pin, unless the name says something else.

use std::sync::LazyLock;

use regex::Regex;

use super::limit_names::words;
use super::pin_names::measures;
use super::pin_use::PinUse;

/// `#define BUZZER 35`, `constexpr int kBuzzer = 35;`.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t]*(?:#[ \t]*define[ \t]+(\w+)[ \t]+|(?:static[ \t]+|inline[ \t]+)*const(?:expr)?[ \t]+(?:static[ \t]+)?\w+[ \t]+(\w+)[ \t]*(?:=|\{)[ \t]*)(?:GPIO_NUM_)?(\d{1,2})\b[ \t]*[;}]*[ \t]*(?:/[/*].*)?$",
    )
    .ok()
});

/// Whether a file is such a list.
pub(super) fn is_list(name: &str) -> bool {
    let Some((stem, "h" | "hpp" | "hh" | "hxx")) = name.rsplit_once('.') else { return false };
    let stem = stem.to_ascii_lowercase();
    let parts: Vec<&str> = stem.split(['_', '-']).collect();
    parts.iter().any(|part| matches!(*part, "pins" | "pinout" | "gpios" | "pinmap"))
        || parts
            .windows(2)
            .any(|pair| matches!(pair, ["pin", "map" | "defs" | "config" | "defines"]))
}

/// The pins of a list.
pub(super) fn find(text: &str) -> Vec<PinUse> {
    let all = NAMED.iter().flat_map(|pattern| pattern.captures_iter(text));
    let found = all.filter_map(|groups| {
        let name = groups.get(1).or(groups.get(2))?;
        let number = groups.get(3)?;
        let parts: Vec<String> = words(name.as_str()).map(str::to_ascii_uppercase).collect();
        let is_other = parts.iter().any(|part| measures(part));
        let range = name.start()..number.end();
        (!is_other).then_some(PinUse::plain(number.as_str().parse().ok()?, range))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_pins_is_known_by_its_name() {
        for name in ["pins.h", "board_pins.hpp", "pin_config.h", "Pinout.h"] {
            assert!(is_list(name), "{name}");
        }
        for name in ["spins.h", "pins.c", "board.h", "pin.h", "pin_reader.h"] {
            assert!(!is_list(name), "{name}");
        }
        let text = "#define BUZZER 35\n#define LED_COUNT 8\n#define A (4)\nconstexpr int kFan = 7; // 4\n\
                    static constexpr gpio_num_t kLed{GPIO_NUM_6};\nconst int kRevision = 3;\nint x = 5;\n";
        let found: Vec<i128> = find(text).iter().map(|pin| pin.number).collect();
        assert_eq!(found, [35, 7, 6]);
    }
}
