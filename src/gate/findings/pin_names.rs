//! Names that say that a number is the number of a pin: `LED_PIN`, `TFT_SCLK`, `GPS_TX` beside
//! `GPS_RX`.
//!
//! Must not know what a pin is on a chip.

use foldhash::HashSet;

use super::pin_use::Direction;

/// Words of names that count, time or measure something about a pin, or mean a number to be typed.
const OTHER: [&str; 74] = [
    "COUNT",
    "MAX",
    "MASK",
    "BIT",
    "LEVEL",
    "MODE",
    "TIME",
    "DELAY",
    "HZ",
    "FREQ",
    "STATE",
    "CODE",
    "CHANNEL",
    "INTR",
    "MS",
    "US",
    "LEN",
    "SIZE",
    "TASK",
    "PRIO",
    "STACK",
    "QUEUE",
    "EVT",
    "EVENT",
    "FLAG",
    "ADDR",
    "REG",
    "INDEX",
    "NUMBER",
    "VALUE",
    "TYPE",
    "CMD",
    "PORT",
    "EXPANDER",
    "MCP",
    "PCF",
    "ACTIVE",
    "CONFIG",
    "DEBOUNCE",
    "PINS",
    "DIGITS",
    "DIGIT",
    "LENGTH",
    "TRIES",
    "RETRIES",
    "ATTEMPTS",
    "TIMEOUT",
    "MIN",
    "WIDTH",
    "HEIGHT",
    "PERIOD",
    "INTERVAL",
    "SPEED",
    "RATE",
    "BAUD",
    "THRESHOLD",
    "LIMIT",
    "TOTAL",
    "CHARS",
    "LOCKOUT",
    "OFFSET",
    "SHIFT",
    "COLOR",
    "COLOUR",
    "FUNC",
    "DRIVE",
    "STRENGTH",
    "MHZ",
    "KHZ",
    "DIV",
    "BUF",
    "BUFFER",
    "BYTES",
    "DEPTH",
];

/// Lines of buses that are called so and hardly ever anything else.
const LINES: [(&str, Direction); 10] = [
    ("MOSI", Direction::Output),
    ("MISO", Direction::Input),
    ("SCLK", Direction::Output),
    ("SDA", Direction::Output),
    ("SCL", Direction::Output),
    ("TXD", Direction::Output),
    ("RXD", Direction::Input),
    ("BCLK", Direction::Unknown),
    ("LRCLK", Direction::Unknown),
    ("DOUT", Direction::Unknown),
];

/// Lines that are called so beside others of the same device.
const COMPANIONS: [(&str, Direction); 14] = [
    ("SCK", Direction::Output),
    ("CLK", Direction::Unknown),
    ("CS", Direction::Output),
    ("SS", Direction::Output),
    ("DC", Direction::Output),
    ("RST", Direction::Output),
    ("RESET", Direction::Output),
    ("BL", Direction::Output),
    ("TX", Direction::Output),
    ("RX", Direction::Input),
    ("RTS", Direction::Output),
    ("CTS", Direction::Input),
    ("INT", Direction::Input),
    ("BUSY", Direction::Input),
];

/// Devices of which libraries name lines, and the lines that are pins there without others beside
/// them.
const DEVICES: [&str; 9] =
    ["TFT", "LCD", "OLED", "EPD", "EINK", "DISPLAY", "TOUCH", "SDCARD", "LORA"];
const DEVICE_LINES: [&str; 7] = ["CS", "SS", "DC", "RST", "BL", "SCK", "CLK"];

/// Pairs of lines that tell each other.
const PAIRS: [(&str, &str); 2] = [("TX", "RX"), ("SCK", "CS")];

/// Devices of which a source names lines.
#[derive(Debug, Default)]
pub(super) struct Signals {
    devices: HashSet<String>,
    /// Whether the chip is not the one that drives the bus.
    is_slave: bool,
}

impl Signals {
    /// `names`: every name of the source.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        let mut seen: HashSet<(String, String)> = HashSet::default();
        // Most names stand in many places.
        let names: HashSet<&str> = names.collect();
        for name in names {
            found.is_slave |= says_slave(name);
            let Some((device, line)) = Some(name).filter(|name| may_be(name)).and_then(split)
            else {
                continue;
            };
            if direction(&LINES, &line).is_some() {
                found.devices.insert(device.clone());
            }
            seen.insert((device, line));
        }
        for (one, other) in PAIRS {
            let both = seen.iter().filter(|(device, line)| {
                line == one
                    && !device.is_empty()
                    && seen.contains(&(device.clone(), other.to_owned()))
            });
            found.devices.extend(both.map(|(device, _)| device.clone()));
        }
        found
    }
}

fn says_slave(name: &str) -> bool {
    // Few names have that letter.
    let may_say = name.bytes().any(|byte| matches!(byte, b'v' | b'V'));
    may_say && (name.contains("slave") || name.contains("SLAVE"))
}

/// Whether the end of a name may be that of a line: a quick look before its words are told apart.
fn may_be(name: &str) -> bool {
    // The last letters of the lines below, and of what is left out behind them.
    let is_last = |byte: &u8| b"_NOMIKALDTSCXY".contains(&byte.to_ascii_uppercase());
    if !name.as_bytes().last().is_some_and(is_last) {
        return false;
    }
    let ends = |name: &str, end: &str| {
        let (name, end) = (name.as_bytes(), end.as_bytes());
        let last = |bytes: &[u8]| bytes.last().map(u8::to_ascii_uppercase);
        last(name) == last(end)
            && name
                .len()
                .checked_sub(end.len())
                .and_then(|at| name.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    let mut rest = name;
    while let Some(end) = ["_", "PIN", "GPIO", "NUM", "IO"].iter().find(|end| ends(rest, end)) {
        rest = rest.get(..rest.len() - end.len()).unwrap_or_default();
    }
    LINES.iter().chain(&COMPANIONS).any(|(line, _)| ends(rest, line) || ends(name, line))
}

fn direction(lines: &[(&str, Direction)], name: &str) -> Option<Direction> {
    lines.iter().find(|(line, _)| *line == name).map(|(_, direction)| *direction)
}

/// `TFT_SCLK` and `tftSclk` as `TFT`, `SCLK`; what else is said of a pin does not count.
fn split(name: &str) -> Option<(String, String)> {
    let words = words(name);
    let mut rest = words.as_slice();
    while let Some((last, before)) = rest.split_last() {
        if !matches!(last.as_str(), "PIN" | "GPIO" | "IO" | "NUM") {
            break;
        }
        rest = before;
    }
    let (line, device) = rest.split_last()?;
    let is_known = direction(&LINES, line).is_some() || direction(&COMPANIONS, line).is_some();
    let is_other = device.iter().any(|word| OTHER.contains(&word.as_str()));
    (is_known && !is_other).then(|| (device.join("_"), line.clone()))
}

/// A name in its words, in capital letters.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split('_') {
        let mut word = String::new();
        let mut was_lower = false;
        for c in part.chars() {
            if c.is_ascii_uppercase() && was_lower {
                words.push(std::mem::take(&mut word));
            }
            was_lower = c.is_ascii_lowercase();
            word.push(c.to_ascii_uppercase());
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// Which way a pin works whose name is that of a line of a bus; `None` for other names.
pub(super) fn signal(name: &str, signals: &Signals) -> Option<Direction> {
    let (device, line) = Some(name).filter(|name| may_be(name)).and_then(split)?;
    let is_line = !device.is_empty() || line.len() >= 4;
    let found = direction(&LINES, &line).filter(|_| is_line).or_else(|| {
        let is_known =
            || DEVICES.contains(&device.as_str()) && DEVICE_LINES.contains(&line.as_str());
        let is_sibling = !device.is_empty() && signals.devices.contains(&device) || is_known();
        direction(&COMPANIONS, &line).filter(|_| is_sibling)
    })?;
    Some(if signals.is_slave && !is_wire(name) { Direction::Unknown } else { found })
}

/// Whether a name is that of a line that is only ever pulled low.
pub(super) fn is_wire(name: &str) -> bool {
    split(name).is_some_and(|(_, line)| matches!(line.as_str(), "SDA" | "SCL"))
}

/// Whether a word of a name, in capital letters, says that its value is something else than a pin.
pub(super) fn measures(word: &str) -> bool {
    OTHER.contains(&word) || matches!(word, "REVISION" | "VERSION" | "REV" | "ID" | "BUS" | "HOST")
}

/// Whether a name says that its value is the number of a pin.
pub(super) fn is_pin(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let ends = |end: &str| {
        upper.strip_suffix(end).is_some_and(|name| name.is_empty() || name.ends_with('_'))
    };
    let is_called = name.ends_with("Pin")
        || name.ends_with("Gpio")
        || upper == "PIN"
        || upper.starts_with("PIN_")
        || ends("PIN")
        || ends("GPIO")
        || ["_GPIO_NUM", "_IO_NUM", "_PIN_NUM"].iter().any(|end| upper.ends_with(end));
    if !is_called || upper.contains("NUM_PINS") {
        return false;
    }
    // The pins of a chip beside this one.
    let is_elsewhere = |part: &str| {
        matches!(part, "EXP" | "IOX" | "EXT")
            || ["MCP23", "PCF85", "TCA95", "PCA95", "AW95", "XL95", "SX15", "CH422"]
                .iter()
                .any(|chip| part.starts_with(chip))
    };
    !upper.split('_').any(|part| is_elsewhere(part) || OTHER.contains(&part))
}

/// Things that a pin drives.
const DRIVEN: [&str; 38] = [
    "RELAY",
    "SSR",
    "TRIAC",
    "VALVE",
    "PUMP",
    "MOTOR",
    "LED",
    "BUZZER",
    "BEEPER",
    "HEATER",
    "FAN",
    "SERVO",
    "LAMP",
    "SOLENOID",
    "BACKLIGHT",
    "PWM",
    "STEP",
    "DIR",
    "OUT",
    "OUTPUT",
    "DOSER",
    "LASER",
    "IGNITER",
    "SIREN",
    "COMPRESSOR",
    "ACTUATOR",
    "BLOWER",
    "CHARGER",
    "VIBRATOR",
    "STROBE",
    "GATE",
    "LATCH",
    "BOLT",
    "MIXER",
    "SOCKET",
    "OUTLET",
    "CONTACTOR",
    "HORN",
];

/// Whether a name ends with a thing that a pin drives: `PUMP_RELAY_GPIO`, `valve 2`, but not
/// `PUMP_CURRENT_PIN`.
pub(super) fn is_driven(name: &str) -> bool {
    let all: Vec<String> = super::limit_names::words(name).map(str::to_ascii_uppercase).collect();
    let is_pin = |word: &&String| {
        matches!(word.as_str(), "PIN" | "PINS" | "GPIO" | "GPIOS" | "IO" | "NUM" | "NO")
    };
    let last = all.iter().rev().find(|word| !is_pin(word));
    last.is_some_and(|last| {
        let one = last.strip_suffix('S').filter(|one| DRIVEN.contains(one));
        one.is_some() || DRIVEN.contains(&last.as_str())
    })
}

/// Which way a pin works whose name is that of a thing that a pin drives. What opens or shuts is as often
/// looked at by a contact.
pub(super) fn direction_named(name: &str) -> Direction {
    const LOOKED_AT: [&str; 5] = ["GATE", "LATCH", "BOLT", "SOCKET", "OUTLET"];
    let mut words = super::limit_names::words(name).map(str::to_ascii_uppercase);
    match is_driven(name) && !words.any(|word| LOOKED_AT.contains(&word.as_str())) {
        true => Direction::Output,
        false => Direction::Unknown,
    }
}

/// Whether a name says that its values are the numbers of pins.
pub(super) fn is_pins(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.ends_with("PINS") || upper.ends_with("GPIOS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lines_say_which_way_a_pin_works() {
        let all = "TFT_SCLK TFT_CS TFT_RST GPS_TX GPS_RX LORA_SCK LORA_CS";
        let signals = Signals::of(all.split(' '));
        for (name, way) in [
            ("TFT_SCLK", Some(Direction::Output)),
            ("TFT_RST", Some(Direction::Output)),
            ("tftCs", Some(Direction::Output)),
            ("I2C_SDA_PIN", Some(Direction::Output)),
            ("SPI_MISO_IO_NUM", Some(Direction::Input)),
            ("GPS_RX", Some(Direction::Input)),
            ("LORA_SCK", Some(Direction::Output)),
            ("RADIO_SCK", None),
            ("SCL", None),
            ("MOSI", Some(Direction::Output)),
            ("SPI_SCLK_MHZ", None),
            ("MAX_TX", None),
            ("FLOW_CS", None),
            ("LCD_DC", Some(Direction::Output)),
            ("LCD_BUSY", None),
            ("SPI_CLK", None),
        ] {
            assert_eq!(signal(name, &signals), way, "{name}");
        }
        let slave = Signals::of(["SPI_MOSI", "spi_slave_initialize"].into_iter());
        assert_eq!(signal("SPI_MOSI", &slave), Some(Direction::Unknown));
        assert_eq!(signal("I2C_SCL", &slave), Some(Direction::Output));
    }

    #[test]
    fn a_name_ends_with_what_its_pin_drives() {
        for name in ["PUMP_RELAY_GPIO", "valves", "valve 2", "LED_PIN", "ledGpio", "outputs"] {
            assert!(is_driven(name), "{name}");
        }
        for name in ["PUMP_CURRENT_PIN", "PIN", "", "relay_sense", "LEVEL", "FAN_TACH_GPIO"] {
            assert!(!is_driven(name), "{name}");
        }
    }

    #[test]
    fn a_pin_is_also_a_number_to_be_typed() {
        for name in ["LED_PIN", "PIN_NUM_MOSI", "ledPin", "BUTTON_GPIO", "PIN_LED"] {
            assert!(is_pin(name), "{name}");
        }
        for name in [
            "PIN_DIGITS",
            "PIN_MAX_TRIES",
            "PIN_CODE",
            "EXP_LED_PIN",
            "LED_PIN_COUNT",
            "PIN_TIMEOUT",
        ] {
            assert!(!is_pin(name), "{name}");
        }
    }
}
