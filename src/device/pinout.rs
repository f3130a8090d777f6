//! What each pin of a chip can do and must not be used for: the tables in `assets/pinout`.
//!
//! Owns the reading and checking of one table, and the names of chips and pins. Must not look at
//! the machine; a table of the person is read when it is asked for and never kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Serialize};

use crate::config::assets::Assets;
use crate::model::UserError;
use crate::text::lines::line_at;

/// Folder of the tables, one file for each chip.
pub const FOLDER: &str = "assets/pinout";

/// The pins of one chip.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinout {
    /// What its maker calls the chip, e.g. `ESP32-S3`.
    pub chip: String,
    /// Where the facts are from.
    pub source: Vec<String>,
    /// What the numbers of low-power pins are called, e.g. `RTC_GPIO`; empty when there are none.
    #[serde(default)]
    pub rtc_name: String,
    /// What to heed with a kind of pin.
    warnings: BTreeMap<Caution, String>,
    /// The pins that exist, by rising number.
    pub pins: Vec<Pin>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub gpio: u8,
    /// Whether it can be driven.
    #[serde(default = "yes")]
    pub output: bool,
    /// Its analog input.
    pub adc: Option<AdcInput>,
    /// Its touch channel, as the driver counts.
    pub touch: Option<u8>,
    /// Its number among the low-power pins.
    pub rtc: Option<u8>,
    /// Its analog output, from 0.
    pub dac: Option<u8>,
    /// Whether it wakes the chip from deep sleep.
    #[serde(default)]
    pub wakes: bool,
    /// What other parts of the chip use it for.
    #[serde(flatten)]
    pub roles: Roles,
}

/// What parts of the chip, or of the module around it, use a pin for unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Roles {
    /// What its level selects while the chip resets.
    pub strapping: Option<String>,
    /// Which line of the flash or PSRAM it is, and when.
    pub memory: Option<String>,
    /// Which line of USB it is.
    pub usb: Option<UsbLine>,
    /// Which signal of JTAG it is.
    pub jtag: Option<JtagSignal>,
    /// Signals of serial ports that reach it directly, e.g. `U0TXD`.
    #[serde(default)]
    pub uart: Vec<String>,
    /// Signals of SPI that reach it directly, e.g. `SPI2 CLK`.
    #[serde(default)]
    pub spi: Vec<String>,
    /// What else there is to know.
    pub note: Option<String>,
}

/// An analog input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdcInput {
    /// Converter, 1 or 2.
    pub unit: u8,
    /// Channel of it.
    pub channel: u8,
}

/// A data line of USB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsbLine {
    /// The positive one.
    #[serde(rename = "D+")]
    Plus,
    /// The negative one.
    #[serde(rename = "D-")]
    Minus,
}

/// A signal of JTAG, as the pins are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JtagSignal {
    Mtck,
    /// Data to the chip.
    Mtdi,
    /// Data from the chip.
    Mtdo,
    Mtms,
}

/// A kind of pin that a table has a warning for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// It cannot be driven.
    InputOnly,
    /// Its level at reset matters.
    Strapping,
    /// Flash or PSRAM are on it.
    Memory,
    /// Its converter is shared or faulty.
    Adc2,
    /// It carries USB.
    Usb,
    /// A debugger uses it.
    Jtag,
    /// The boot messages go through it.
    Console,
}

const fn yes() -> bool {
    true
}

impl Pinout {
    /// The table of a chip, named leniently: `esp32s3`, `ESP32-S3` and `esp32-s3` are one.
    ///
    /// # Errors
    /// When there is no such table, the advice naming those there are, or it is not right.
    pub fn load(assets: &Assets, chip: &str) -> Result<Self, UserError> {
        let path = path_of(chip);
        let known = assets.list(FOLDER);
        if !known.contains(&path) {
            let names: Vec<&str> = known.iter().filter_map(|path| stem_of(path)).collect();
            return Err(UserError::new(
                format!("Cannot find a pin table for `{chip}`"),
                "the chip is not among those that are described",
                format!("Use one of: {}.", names.join(", ")),
            ));
        }
        let file = assets.text(&path)?;
        Self::parse(&path, &file.origin.to_string(), &file.text)
    }

    /// The table of a chip among those that come with the program, which are read once each; `None`
    /// when there is none.
    #[must_use]
    pub fn built_in(chip: &str) -> Option<&'static Self> {
        static TABLES: LazyLock<BTreeMap<String, OnceLock<Option<Pinout>>>> = LazyLock::new(|| {
            let paths = Assets::built_in().list(FOLDER);
            paths.into_iter().map(|path| (path, OnceLock::new())).collect()
        });
        let table = TABLES.get(&path_of(chip))?;
        table.get_or_init(|| Self::load(&Assets::built_in(), chip).ok()).as_ref()
    }

    /// Reads a table. `path` is the name the program knows it by, `origin` names it in errors.
    ///
    /// # Errors
    /// When it is not JSON of the right shape, is of another chip than its name says, describes a
    /// pin or a channel twice, or says nothing where it must; names the line.
    pub fn parse(path: &str, origin: &str, text: &str) -> Result<Self, UserError> {
        let wrong = |line: usize, why: String| {
            let what = format!("{origin}:{line}: not a pin table");
            UserError::new(what, why, "Compare it with the shipped assets/pinout/esp32.json.")
        };
        let table: Self = serde_json::from_str(text)
            .map_err(|error| wrong(error.line().max(1), error.to_string()))?;
        let place = |key: &str| line_of(text, key, 0);
        if stem_of(path) != Some(normal(&table.chip).as_str()) {
            return Err(wrong(
                place("chip"),
                format!("the file is not named after {}", table.chip),
            ));
        }
        if table.source.is_empty() || table.source.iter().any(|source| source.trim().is_empty()) {
            return Err(wrong(place("source"), "it does not name the source of the facts".into()));
        }
        let mut seen = UsedPins::default();
        for (index, pin) in table.pins.iter().enumerate() {
            let checked = seen.take(pin).and_then(|()| table.is_whole(pin));
            checked.map_err(|why| wrong(line_of(text, "gpio", index), why))?;
        }
        if table.pins.is_empty() {
            return Err(wrong(place("pins"), "it describes no pin".to_owned()));
        }
        Ok(table)
    }

    /// Finds a pin by `21`, `GPIO21`, `IO21` or `GPIO_NUM_21`.
    ///
    /// # Errors
    /// When the chip has no such pin; the advice lists those it has.
    pub fn pin(&self, name: &str) -> Result<&Pin, UserError> {
        let number = pin_number(name);
        let found = number.and_then(|number| self.pins.iter().find(|pin| pin.gpio == number));
        found.ok_or_else(|| {
            let why = match number {
                Some(number) => format!("the chip has no GPIO{number}"),
                None => "it is not the name of a pin".to_owned(),
            };
            let fix = format!("Use one of GPIO {}.", ranges(self.pins.iter().map(|pin| pin.gpio)));
            UserError::new(format!("Cannot find the pin `{name}` on the {}", self.chip), why, fix)
        })
    }

    /// What to heed with a pin, the gravest first.
    #[must_use]
    pub fn warnings(&self, pin: &Pin) -> Vec<(Caution, &str)> {
        let reported = pin.cautions().into_iter();
        reported.filter_map(|kind| Some((kind, self.warnings.get(&kind)?.as_str()))).collect()
    }

    /// Whether everything is said that belongs to a pin.
    fn is_whole(&self, pin: &Pin) -> Result<(), String> {
        let name = format!("GPIO{}", pin.gpio);
        let roles = &pin.roles;
        let texts = [&roles.strapping, &roles.memory, &roles.note];
        if texts.into_iter().flatten().any(|text| text.trim().is_empty()) {
            return Err(format!("{name} has an empty text"));
        }
        if pin.rtc.is_some() && self.rtc_name.is_empty() {
            return Err(format!("{name} has an `rtc` number and the table no `rtc_name`"));
        }
        // The second converter is as good as the first where nothing else uses it.
        let must = |kind: &Caution| *kind != Caution::Adc2;
        let missing = |kind: &Caution| self.warnings.get(kind).is_none_or(|w| w.trim().is_empty());
        match pin.cautions().into_iter().filter(must).find(missing) {
            None => Ok(()),
            Some(kind) => Err(format!("{name} needs the warning {}", word(kind))),
        }
    }
}

impl Pin {
    /// The kinds of pin that it is, the gravest first.
    fn cautions(&self) -> Vec<Caution> {
        let roles = &self.roles;
        let is_console = roles.uart.iter().any(|signal| signal == "U0TXD" || signal == "U0RXD");
        let kinds = [
            (Caution::Memory, roles.memory.is_some()),
            (Caution::InputOnly, !self.output),
            (Caution::Strapping, roles.strapping.is_some()),
            (Caution::Usb, roles.usb.is_some()),
            (Caution::Adc2, self.adc.is_some_and(|adc| adc.unit == 2)),
            (Caution::Console, is_console),
            (Caution::Jtag, roles.jtag.is_some()),
        ];
        kinds.into_iter().filter(|(_, is)| *is).map(|(kind, _)| kind).collect()
    }
}

fn word(kind: Caution) -> String {
    serde_json::to_string(&kind).unwrap_or_default().replace('"', "`")
}

/// What the pins so far have taken.
#[derive(Default)]
struct UsedPins {
    last: Option<u8>,
    taken: BTreeSet<String>,
}

impl UsedPins {
    fn take(&mut self, pin: &Pin) -> Result<(), String> {
        if self.last.is_some_and(|last| last >= pin.gpio) {
            return Err(format!("GPIO{} is listed twice, or out of order", pin.gpio));
        }
        self.last = Some(pin.gpio);
        if pin.adc.is_some_and(|adc| !matches!(adc.unit, 1 | 2)) {
            return Err(format!("GPIO{} names a converter that is neither 1 nor 2", pin.gpio));
        }
        let roles = &pin.roles;
        let mut taken: Vec<String> = roles.uart.iter().chain(&roles.spi).cloned().collect();
        taken.extend(pin.adc.map(|adc| format!("ADC{} channel {}", adc.unit, adc.channel)));
        taken.extend(pin.touch.map(|touch| format!("touch channel {touch}")));
        taken.extend(pin.rtc.map(|rtc| format!("low-power pin {rtc}")));
        taken.extend(pin.dac.map(|dac| format!("DAC {dac}")));
        taken.extend(roles.jtag.map(|signal| format!("{signal:?}").to_uppercase()));
        for what in taken {
            if !self.taken.insert(what.clone()) {
                return Err(format!("GPIO{} has {what}, which another pin has", pin.gpio));
            }
        }
        Ok(())
    }
}

/// The name of the file that describes a chip.
fn path_of(chip: &str) -> String {
    format!("{FOLDER}/{}.json", in_full(normal(chip)))
}

/// `ESP32-S3` as the files are named: `esp32s3`.
fn normal(chip: &str) -> String {
    chip.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The family's name before the part that tells its chips apart: `s3` is `esp32s3`.
fn in_full(chip: String) -> String {
    let mut letters = chip.chars();
    let is_part = letters.next().is_some_and(|letter| letter.is_ascii_lowercase())
        && letters.next().is_some_and(|digit| digit.is_ascii_digit())
        && letters.all(|digit| digit.is_ascii_digit());
    if is_part { format!("esp32{chip}") } else { chip }
}

fn stem_of(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".json")
}

/// The number in `21`, `GPIO21`, `GPIO_NUM_21`, `IO21`, `io 21`.
fn pin_number(name: &str) -> Option<u8> {
    let name = name.trim().to_ascii_uppercase();
    let rest = ["GPIO_NUM_", "GPIO", "IO"].iter().find_map(|start| name.strip_prefix(start));
    // A number below zero stands for no pin.
    let digits = match rest {
        Some(rest) => rest.trim_start_matches([' ', '_']),
        None => &name,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// `0–5, 12, 14–19`.
fn ranges(numbers: impl Iterator<Item = u8>) -> String {
    let mut spans: Vec<(u8, u8)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => spans.push((number, number)),
        }
    }
    let reported = spans.iter().map(|(start, end)| match start == end {
        true => start.to_string(),
        false => format!("{start}–{end}"),
    });
    reported.collect::<Vec<_>>().join(", ")
}

/// Line of the key `key` when it comes for the `nth` time, from 0.
fn line_of(text: &str, key: &str, nth: usize) -> usize {
    // Within a text the quotes would be escaped.
    let quoted = format!("\"{key}\"");
    let keys = text.match_indices(&quoted).filter(|(at, quoted)| {
        let after = text.get(at + quoted.len()..).unwrap_or_default();
        after.trim_start().starts_with(':')
    });
    let at = keys.map(|(at, _)| at).nth(nth).unwrap_or(0);
    line_at(text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(chip: &str) -> Pinout {
        Pinout::load(&Assets::built_in(), chip).unwrap()
    }

    #[test]
    fn chips_and_pins_are_named_leniently() {
        for name in ["esp32s3", "ESP32-S3", "esp32-s3", "ESP32_S3", " Esp32 S3 ", "S3", "s3"] {
            assert_eq!(load(name).chip, "ESP32-S3", "{name}");
        }
        let table = load("esp32");
        for name in ["21", "GPIO21", "gpio21", "IO21", "GPIO_NUM_21", "GPIO 21", "io_21"] {
            assert_eq!(table.pin(name).unwrap().gpio, 21, "{name}");
        }
    }

    #[test]
    fn what_does_not_exist_is_told_with_what_does() {
        let error = Pinout::load(&Assets::built_in(), "esp8266").unwrap_err();
        assert!(error.what.contains("esp8266") && error.fix.contains("esp32c3"), "{error:?}");
        let error = Pinout::load(&Assets::built_in(), "../boards/usb").unwrap_err();
        assert!(error.what.contains("pin table"), "{error:?}");
        let table = load("esp32");
        for (name, why) in [
            ("24", "no GPIO24"),
            ("GPIO300", "not the name"),
            ("A0", "not the"),
            ("", "not the"),
            ("GPIO-1", "not the"),
            ("IO -1", "not the"),
            ("gpio--1", "not the"),
            ("io-21", "not the"),
        ] {
            let error = table.pin(name).unwrap_err();
            assert!(error.why.contains(why), "{name}: {error:?}");
            assert_eq!(error.fix, "Use one of GPIO 0–23, 25–27, 32–39.");
        }
    }

    #[test]
    fn the_warnings_of_a_pin_come_gravest_first() {
        let table = load("esp32");
        let kinds = |name: &str| -> Vec<Caution> {
            let pin = table.pin(name).unwrap();
            table.warnings(pin).into_iter().map(|(kind, _)| kind).collect()
        };
        assert_eq!(kinds("12"), [Caution::Strapping, Caution::Adc2, Caution::Jtag]);
        assert_eq!(kinds("6"), [Caution::Memory]);
        assert_eq!(kinds("36"), [Caution::InputOnly]);
        assert_eq!(kinds("1"), [Caution::Console]);
        assert_eq!(kinds("21"), []);
        let (p4, c3) = (load("esp32p4"), load("esp32c3"));
        assert!(p4.warnings(p4.pin("49").unwrap()).is_empty(), "no Wi-Fi beside its ADC2");
        assert!(c3.warnings(c3.pin("5").unwrap())[0].1.contains("unstable"));
    }

    #[test]
    fn the_persons_own_table_goes_first_and_its_errors_name_it() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(FOLDER);
        std::fs::create_dir_all(&own).unwrap();
        let text = r#"{"chip": "ESP32-X9", "source": ["me"], "warnings": {}, "pins": [
            {"gpio": 3},
            {"gpio": 3}]}"#;
        std::fs::write(own.join("esp32x9.json"), text).unwrap();
        let assets = Assets::with_user_folder(folder.path());
        let error = Pinout::load(&assets, "ESP32-X9").unwrap_err();
        assert!(error.what.contains("esp32x9.json:3:"), "{error:?}");
        let text = text.replace("{\"gpio\": 3}]", "{\"gpio\": 4}]");
        std::fs::write(own.join("esp32x9.json"), text).unwrap();
        assert_eq!(Pinout::load(&assets, "esp32x9").unwrap().pins.len(), 2);
    }
}
