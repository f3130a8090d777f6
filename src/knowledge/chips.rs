//! Which chips a text applies to.
//!
//! Owns sets of chips and the conditions that the framework's documents put on their parts, such as
//! `esp32 or SOC_WIFI_SUPPORTED`. Must not read files.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Chips by the names that the framework gives its targets; the place is the number in a set.
const NAMES: [&str; 13] = [
    "esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61",
    "esp32h2", "esp32h21", "esp32h4", "esp32p4", "esp32s31",
];

/// Chips with Xtensa cores; all others have RISC-V cores.
const XTENSA: [&str; 3] = ["esp32", "esp32s2", "esp32s3"];

/// Most words of a condition; a longer text is not taken for one.
const MOST_WORDS: usize = 100;

/// A set of chips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChipSet(u32);

impl ChipSet {
    pub const ALL: Self = Self((1 << NAMES.len()) - 1);
    pub const NONE: Self = Self(0);

    /// The chip of that name, in any of its spellings such as `ESP32-C3`.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let plain: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        NAMES.iter().position(|name| *name == plain).map(|place| Self(1 << place))
    }

    /// From the bits in an index.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The bits for an index.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Chips that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Chips that are in one of the sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Chips that are not in this set.
    #[must_use]
    pub const fn others(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }

    /// Whether there is none in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u32 {
        (self.0 & Self::ALL.0).count_ones()
    }

    /// The names, in the order of the chips.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let has = |place: &usize| self.0 & (1 << place) != 0;
        (0..NAMES.len()).filter(has).map(|place| NAMES[place]).collect()
    }
}

/// What the framework says that each chip can do: for a name such as `SOC_WIFI_SUPPORTED`, the chips
/// that have it.
#[derive(Debug, Clone, Default)]
pub struct ChipFacts {
    capabilities: HashMap<String, ChipSet>,
    /// Chips whose list was there.
    listed: ChipSet,
}

impl ChipFacts {
    /// Adds what one chip's list of capabilities (`Kconfig.soc_caps.in`) says.
    pub fn add(&mut self, chip: ChipSet, list: &str) {
        self.listed = self.listed.or(chip);
        let mut name = "";
        for line in list.lines() {
            let line = line.trim();
            if let Some(found) = line.strip_prefix("config ") {
                name = found.trim();
            } else if let Some(value) = line.strip_prefix("default ")
                && !matches!(value.trim(), "n" | "0")
                && !name.is_empty()
            {
                let chips = self.capabilities.entry(name.to_owned()).or_insert(ChipSet::NONE);
                *chips = chips.or(chip);
            }
        }
    }

    /// The chips whose lists were there.
    #[must_use]
    pub const fn listed(&self) -> ChipSet {
        self.listed
    }

    /// The chips for which a condition holds: names, `and`, `or`, `not` and brackets. A name that is
    /// not known holds for every chip, so that nothing is left out for it.
    #[must_use]
    pub fn holds_for(&self, condition: &str) -> ChipSet {
        let spaced = condition.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().take(MOST_WORDS + 1).collect();
        // Each bracket is a step deeper.
        if words.len() > MOST_WORDS {
            return ChipSet::ALL;
        }
        let mut place = 0;
        self.any(&words, &mut place)
    }

    fn any(&self, words: &[&str], place: &mut usize) -> ChipSet {
        let mut chips = self.all(words, place);
        while words.get(*place) == Some(&"or") {
            *place += 1;
            chips = chips.or(self.all(words, place));
        }
        chips
    }

    fn all(&self, words: &[&str], place: &mut usize) -> ChipSet {
        let mut chips = self.one(words, place);
        while words.get(*place) == Some(&"and") {
            *place += 1;
            chips = chips.and(self.one(words, place));
        }
        chips
    }

    fn one(&self, words: &[&str], place: &mut usize) -> ChipSet {
        let Some(word) = words.get(*place) else { return ChipSet::ALL };
        *place += 1;
        match *word {
            "not" => {
                let chips = self.one(words, place);
                // The opposite of a name that nobody knows is not known either.
                if chips == ChipSet::ALL { chips } else { chips.others() }
            }
            "(" => {
                let chips = self.any(words, place);
                if words.get(*place) == Some(&")") {
                    *place += 1;
                }
                chips
            }
            "CONFIG_IDF_TARGET_ARCH_XTENSA" => xtensa(),
            "CONFIG_IDF_TARGET_ARCH_RISCV" => xtensa().others(),
            name => {
                let target = name.strip_prefix("CONFIG_IDF_TARGET_").unwrap_or(name);
                ChipSet::of(target)
                    .or_else(|| self.capabilities.get(name).copied())
                    .unwrap_or(ChipSet::ALL)
            }
        }
    }
}

fn xtensa() -> ChipSet {
    XTENSA.iter().filter_map(|name| ChipSet::of(name)).fold(ChipSet::NONE, ChipSet::or)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_for_chips() {
        let mut facts = ChipFacts::default();
        let list = "config SOC_X\n    bool\n    default y\nconfig SOC_Y\n    bool\n    default n\n";
        facts.add(ChipSet::of("ESP32-C3").unwrap(), list);
        let names = |condition: &str| facts.holds_for(condition).names();
        assert_eq!(names("esp32 or esp32s3"), ["esp32", "esp32s3"]);
        assert_eq!(names("SOC_X"), ["esp32c3"]);
        assert_eq!(names("SOC_X and (esp32c3 or esp32)"), ["esp32c3"]);
        assert!(!names("not SOC_X").contains(&"esp32c3"));
        assert_eq!(names("not CONFIG_IDF_TARGET_ARCH_RISCV"), XTENSA);
        assert_eq!(facts.holds_for("SOC_NEVER_HEARD_OF"), ChipSet::ALL);
        assert_eq!(facts.holds_for("((("), ChipSet::ALL);
        assert_eq!(facts.holds_for(&"(".repeat(1 << 20)), ChipSet::ALL);
        assert_eq!(facts.listed().names(), ["esp32c3"]);
    }
}
