//! What the serial output of a board calls for: nothing, a fix, a look at the I2C bus, a look at pins.
//!
//! Reads the answer of `monitor_serial`. Pure.

use serde::Deserialize;
use serde_json::Value;

use crate::model::ToolName;

/// Something that serial output can call for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogSign {
    /// A fault of any kind: a panic, a restart, a line that reports an error, or silence.
    Fault,
    /// A fault on the I2C bus.
    I2c,
    /// A fault at a pin.
    Pins,
}

/// What one answer calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogSigns {
    pub is_faulty: bool,
    is_bus: bool,
    is_pin: bool,
}

/// Words in the lines of a fault that tell of the I2C bus.
const BUS: &[&str] = &[
    "i2c",
    "[wire",
    " wire ",
    "wire.",
    "twowire",
    "nack",
    "sensor not",
    "sensor,",
    "no sensor",
    "ssd1306",
    "check wiring",
    "requestfrom",
];

/// Words in them that tell of pins.
const PINS: &[&str] =
    &["gpio", " pin ", "pinmode", "digitalwrite", "analogread", "ledc", "invalid io"];

/// Words by which libraries report that something did not work.
const FAILURES: &[&str] = &[
    "failed to ",
    "could not ",
    "couldn't ",
    "check wiring",
    "allocation failed",
    "not responding",
];

impl LogSigns {
    /// Reads an answer of `monitor_serial`. Its output shows no fault when it says something, tells
    /// no panic, at most one start and no error.
    #[must_use]
    pub fn of(answer: &Value) -> Self {
        let count = |key: &str| answer.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let log = answer.get("log").and_then(Value::as_str).unwrap_or_default();
        let faults: Vec<String> =
            log.lines().filter(|line| is_fault(line)).map(str::to_lowercase).collect();
        let has = |words: &[&str]| {
            faults.iter().any(|line| words.iter().any(|word| format!("{line} ").contains(word)))
        };
        let is_ok = answer.get("ok") == Some(&Value::Bool(true));
        let is_connected = answer.get("disconnected").is_none_or(Value::is_null);
        let is_well = is_ok
            && is_connected
            && count("panics") == 0
            && count("resets") <= 1
            && !log.trim().is_empty()
            && faults.is_empty();
        Self { is_faulty: !is_well, is_bus: has(BUS), is_pin: has(PINS) }
    }

    /// Reads the answer of any call; `None` when it brought no serial output.
    #[must_use]
    pub fn of_call(tool: &ToolName, answer: &Value) -> Option<Self> {
        (tool.as_str() == "monitor_serial").then(|| Self::of(answer))
    }

    /// Whether it calls for that.
    #[must_use]
    pub const fn has(self, sign: LogSign) -> bool {
        match sign {
            LogSign::Fault => self.is_faulty,
            LogSign::I2c => self.is_bus,
            LogSign::Pins => self.is_pin,
        }
    }
}

impl LogSign {
    /// Why a rework follows, for people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Fault => "the serial output shows a fault",
            Self::I2c => "the serial output shows a fault on the I2C bus",
            Self::Pins => "the serial output shows a fault at a pin",
        }
    }
}

fn is_fault(line: &str) -> bool {
    let line = line.trim_start();
    let lower = line.to_lowercase();
    line.starts_with("E (")
        || line.contains("][E][")
        || reports_error(line)
        || FAILURES.iter().any(|words| lower.contains(words))
}

/// Whether a line speaks of an error that there is: `errors=0` and `no error` do not.
fn reports_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.match_indices("error").any(|(at, word)| {
        let before = line.get(..at).unwrap_or_default().trim_end_matches(['_', ' ', '-', '(']);
        let after = line.get(at + word.len()..).unwrap_or_default();
        let after = after.strip_prefix('s').or_else(|| after.strip_prefix("(s)")).unwrap_or(after);
        let after = after.trim_start_matches("_count").trim_start_matches(" count");
        let value = after.trim_start_matches([' ', '=', ':', '\t']);
        let digits: String =
            value.chars().take_while(|&c| c.is_ascii_digit() || c == '.').collect();
        let is_zero = value.len() < after.len()
            && !digits.is_empty()
            && digits.chars().all(|c| matches!(c, '0' | '.'))
            && !value.starts_with("0x");
        let is_none = ["no", "0", "without", "zero"].iter().any(|none| {
            before.strip_suffix(none).is_some_and(|rest| {
                // The 0 of `errors=0` counts what stands before it.
                let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '=' | ':');
                rest.is_empty() || rest.ends_with(is_end)
            })
        });
        !is_zero && !is_none
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn signs(log: &str) -> Vec<LogSign> {
        let found = LogSigns::of(&json!({ "ok": true, "log": log, "panics": [], "resets": ["x"] }));
        [LogSign::Fault, LogSign::I2c, LogSign::Pins]
            .into_iter()
            .filter(|it| found.has(*it))
            .collect()
    }

    #[test]
    fn a_log_calls_for_what_its_faults_are_about() {
        for (log, expected) in [
            ("temp=21.5\nI (300) i2c: bus ready\nGPIO 4 high\n", &[][..]),
            ("E (310) i2c.master: I2C transaction unexpected nack detected\n", &[LogSign::I2c]),
            ("Could not find a valid BME280 sensor, check wiring!\n", &[LogSign::I2c]),
            ("[ 12][E][Wire.cpp:499] requestFrom(): i2cRead returned Error 263\n", &[LogSign::I2c]),
            ("E (50) gpio: gpio_set_level(226): GPIO output gpio_num error\n", &[LogSign::Pins]),
            (
                "[ 3][E][esp32-hal-gpio.c:102] __pinMode(): Invalid IO 40 selected\n",
                &[LogSign::Pins],
            ),
            ("E (1200) wifi: auth failed\n", &[]),
        ] {
            let is_quiet = !log.contains("E (") && !log.contains("[E]") && !log.contains("Could");
            let mut all: Vec<LogSign> = if is_quiet { vec![] } else { vec![LogSign::Fault] };
            all.extend(expected);
            assert_eq!(signs(log), all, "{log}");
        }
    }

    #[test]
    fn silence_panics_restarts_and_lost_ports_are_faults() {
        let good = json!({ "ok": true, "log": "a\n", "panics": [], "resets": [] });
        assert!(!LogSigns::of(&good).is_faulty);
        for (key, value) in [
            ("ok", json!(false)),
            ("log", json!(" \n")),
            ("panics", json!([{}])),
            ("resets", json!([{}, {}])),
            ("disconnected", json!("gone")),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            assert!(LogSigns::of(&bad).is_faulty, "{bad}");
        }
    }

    #[test]
    fn a_count_of_no_errors_is_no_error() {
        for good in [
            "errors=0",
            "I: 12 ok, 0 errors",
            "no error",
            "rx_errors: 0, tx_errors: 0",
            "error count: 0",
            "packets=9 error_count=0 ok",
            "Errors:\t0",
        ] {
            assert!(!reports_error(good), "{good}");
        }
        for bad in [
            "errors=3",
            "error",
            "Error: sensor",
            "errors=0 error=2",
            "10 errors",
            "error 0x107",
            "error -1",
            "I2C error",
            "error: 0x0101",
            "error rate 0 but error",
        ] {
            assert!(reports_error(bad), "{bad}");
        }
    }
}
