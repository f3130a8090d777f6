//! What an Arduino sketch is made of: where it begins, which libraries it uses, and which hardware
//! it talks to on which pins.
//!
//! Pure: sources come in, the map goes out. Finds what is written out; must not guess what is
//! computed.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

/// Findings of one kind at most.
const MOST: usize = 200;

/// Somewhere in the sketch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SketchSpot {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is there: a function, a header, the call that sets hardware up.
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SketchMap {
    /// `setup` and `loop`, tasks that are created, interrupt handlers.
    pub entry_points: Vec<SketchSpot>,
    /// Headers in angle brackets.
    pub libraries: Vec<SketchSpot>,
    pub i2c: Vec<SketchSpot>,
    pub spi: Vec<SketchSpot>,
    pub uart: Vec<SketchSpot>,
    /// Pins that are set up or given a name.
    pub pins: Vec<SketchSpot>,
}

/// A list of the map, and what belongs in it.
type ListPattern = (fn(&mut SketchMap) -> &mut Vec<SketchSpot>, Option<Regex>);

static PATTERNS: LazyLock<[ListPattern; 7]> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).ok();
    [
        (
            |map| &mut map.entry_points,
            regex(r"^\s*(?:extern\s+.C.\s+)?void\s+((?:setup|loop|app_main)\s*\([^)]*\))"),
        ),
        (
            |map| &mut map.entry_points,
            regex(r"\b((?:xTaskCreate\w*|attachInterrupt\w*)\s*\([^;]*)"),
        ),
        (|map| &mut map.libraries, regex(r"^\s*#\s*include\s*<([^>]+)>")),
        (
            |map| &mut map.i2c,
            regex(
                r"\b(Wire1?\s*\.\s*(?:begin|setPins|setClock)\s*\([^;]*\)|i2c_(?:new_master_bus|driver_install|param_config)\s*\([^;]*\))",
            ),
        ),
        (
            |map| &mut map.spi,
            regex(
                r"\b(SPI\s*\.\s*begin\s*\([^;]*\)|(?:SPIClass|SPISettings)\s*\w*\s*\([^;]*\)|spi_bus_initialize\s*\([^;]*\))",
            ),
        ),
        (
            |map| &mut map.uart,
            regex(r"\b(Serial\d?\s*\.\s*begin\s*\([^;]*\)|uart_driver_install\s*\([^;]*\))"),
        ),
        (
            |map| &mut map.pins,
            regex(
                r"\b(pinMode\s*\([^;]*\)|ledcAttach\w*\s*\([^;]*\)|(?:#\s*define\s+\w*PIN\w*\s+\d+)|(?:const\s+)?\w+\s+\w*(?:PIN|Pin|LED|SDA|SCL)\w*\s*=\s*\d+)",
            ),
        ),
    ]
});

impl SketchMap {
    /// Maps sources: names and texts.
    #[must_use]
    pub fn of<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut map = Self::default();
        for (file, text) in sources {
            let mut in_comment = false;
            for (index, line) in text.lines().enumerate() {
                let code = without_comments(line, &mut in_comment);
                map.line(file, index + 1, &code);
            }
        }
        map
    }

    fn line(&mut self, file: &str, line: usize, code: &str) {
        for (list, pattern) in &*PATTERNS {
            let list = list(self);
            let found = pattern.iter().flat_map(|pattern| pattern.captures_iter(code));
            for found in found.take(MOST.saturating_sub(list.len())) {
                let what = found.get(1).map_or("", |found| found.as_str()).trim().to_owned();
                list.push(SketchSpot { file: file.to_owned(), line, what });
            }
        }
    }
}

/// The code of a line; `in_comment` carries a comment that goes over lines.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let mut code = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        if *in_comment {
            let Some((_, after)) = rest.split_once("*/") else { return code };
            *in_comment = false;
            rest = after;
            continue;
        }
        let (line_comment, block) = (rest.find("//"), rest.find("/*"));
        match (line_comment, block) {
            (Some(at), block) if block.is_none_or(|block| at < block) => {
                code.push_str(rest.get(..at).unwrap_or_default());
                return code;
            }
            (_, Some(at)) => {
                code.push_str(rest.get(..at).unwrap_or_default());
                *in_comment = true;
                rest = rest.get(at + 2..).unwrap_or_default();
            }
            (_, None) => {
                code.push_str(rest);
                return code;
            }
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(places: &[SketchSpot]) -> Vec<String> {
        places.iter().map(|at| format!("{}:{} {}", at.file, at.line, at.what)).collect()
    }

    #[test]
    fn entry_points_libraries_and_interfaces_are_found_with_their_places() {
        let main = "#include <Wire.h>\n#include \"own.h\"\n// Wire.begin(1, 2);\n\
                    static const uint8_t LED_PIN = 2;\nvoid setup() {\n  Serial.begin(115200);\n  \
                    Wire.begin(21, 22); SPI.begin();\n  pinMode(LED_PIN, OUTPUT);\n}\n\
                    void loop() {}\n/* void loop() {\n Serial1.begin(9600); */ void task(void *) {}\n";
        let other = "void start() { xTaskCreate(task, \"t\", 2048, NULL, 1, NULL); }\n";
        let map = SketchMap::of([("a.ino", main), ("b.cpp", other)]);
        let entries = lines_of(&map.entry_points);
        assert_eq!(entries[..2], ["a.ino:5 setup()", "a.ino:10 loop()"]);
        assert!(entries[2].starts_with("b.cpp:1 xTaskCreate(task"), "{entries:?}");
        assert_eq!(lines_of(&map.libraries), ["a.ino:1 Wire.h"]);
        assert_eq!(lines_of(&map.uart), ["a.ino:6 Serial.begin(115200)"]);
        assert_eq!(lines_of(&map.i2c), ["a.ino:7 Wire.begin(21, 22)"]);
        assert_eq!(lines_of(&map.spi), ["a.ino:7 SPI.begin()"]);
        assert_eq!(lines_of(&map.pins).len(), 2, "{:?}", map.pins);
    }
}
