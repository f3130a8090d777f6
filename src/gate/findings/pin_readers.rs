//! Pins whose numbers a header names and other files of the project use.
//!
//! Owns which files read a header that changed. Must not know what a pin is on a chip.

use super::Subject;
use super::outer_constants::{self, OuterConstants};
use super::pin_use::PinUse;
use super::pin_uses;
use crate::model::ProjectPath;
use crate::text::c_tokens::{Style, tokens};

/// Files that are searched for the name of the header.
const MOST_READ: usize = 64;

/// Files that are read as code.
const MOST_PARSED: usize = 4;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 128 * 1024;

/// Longest text of a file with all its headers.
const MOST_TEXT: usize = 256 * 1024;

/// A pin that another file takes from the header.
pub(super) struct OuterPin {
    pub(super) used: PinUse,
    /// The file that uses it.
    pub(super) by: ProjectPath,
    /// The line of the header that names its number, from 1.
    pub(super) line: u32,
}

/// The pins that other files take from the lines of a header that change.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>, chip: &str) -> Vec<OuterPin> {
    if path.extension() == Some("py") {
        return in_python(path, subject, chip);
    }
    if !path.extension().is_some_and(is_header) {
        return Vec::new();
    }
    let Some(source) = subject.source() else { return Vec::new() };
    let added = &subject.changed().added;
    if added.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (other, text) in readers(path, subject).take(MOST_PARSED) {
        // All that the file takes in, as the compiler sees it.
        let outer = OuterConstants::of(&other, &text, |path| subject.text_after(path));
        let mut all = String::new();
        let mut own = None;
        let headers = outer_constants::headers(&other, &text, |path| subject.text_after(path));
        for (name, header) in headers {
            if name == path.as_str() {
                own = Some(all.len()..all.len() + header.len());
            }
            all.push_str(&header);
            all.push('\n');
        }
        let Some(own) = own.filter(|_| all.len() <= MOST_TEXT) else { continue };
        all.push_str(&text);
        let code = tokens(&all, Style::C);
        for used in pin_uses::find(&code, chip, &outer.values) {
            let here = used.ranges.iter().filter(|range| own.contains(&range.start));
            let lines = here.map(|range| source.line_at(range.start - own.start) + 1);
            let mut lines = lines.filter_map(|line| u32::try_from(line).ok());
            if let Some(line) = lines.find(|line| added.contains(line)) {
                found.push(OuterPin { used, by: other.clone(), line });
            }
        }
    }
    found
}

/// The pins that other modules of Python take from the lines of one that change: `Pin(config.RELAY)`.
fn in_python(path: &ProjectPath, subject: &Subject<'_>, chip: &str) -> Vec<OuterPin> {
    let (Some(source), added) = (subject.source(), &subject.changed().added) else {
        return Vec::new();
    };
    let module = path.file_name().trim_end_matches(".py");
    let line = |line: u32| source.line(usize::try_from(line - 1).unwrap_or(usize::MAX));
    let name = |line: &str| -> Option<String> {
        let (name, value) = line.split_once('=')?;
        let is_number = value.trim_start().starts_with(|c: char| c.is_ascii_digit());
        is_number.then(|| name.trim().to_owned())
    };
    let names: Vec<(u32, String)> =
        added.iter().filter_map(|at| Some((*at, name(line(*at))?))).collect();
    let files = subject.files().iter().filter(|file| file.bytes <= LONGEST && file.path != *path);
    let files = files.map(|file| &file.path).filter(|file| file.extension() == Some("py"));
    let takes = |text: &str| {
        text.lines().any(|line| {
            let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
            matches!(words.next(), Some("import" | "from")) && words.any(|word| word == module)
        })
    };
    let mut found = Vec::new();
    for other in files.take(MOST_READ).filter(|_| !names.is_empty()) {
        let Some(text) = subject.text_after(other.as_str()).filter(|text| takes(text)) else {
            continue;
        };
        if !pin_uses::is_micropython(other.file_name(), &text) {
            continue;
        }
        let outer = OuterConstants::of(other, &text, |path| subject.text_after(path));
        for used in pin_uses::find(&tokens(&text, Style::Python), chip, &outer.values) {
            let here = used.ranges.iter().filter_map(|range| {
                // The module stands before the name.
                let end =
                    text.get(range.end..)?.find(|c: char| !c.is_alphanumeric() && c != '_')?;
                text.get(range.start..range.end + end)
            });
            let is_named = |name: &String| {
                here.clone().any(|here| here.rsplit('.').next().is_some_and(|last| last == name))
            };
            if let Some((line, _)) = names.iter().find(|(_, name)| is_named(name)) {
                found.push(OuterPin { used, by: other.clone(), line: *line });
            }
        }
    }
    found
}

/// The files of code that name the header, or one of the headers that do, those in its folder first.
fn readers<'a>(
    path: &'a ProjectPath,
    subject: &'a Subject<'_>,
) -> impl Iterator<Item = (ProjectPath, String)> + 'a {
    let folder = |path: &ProjectPath| {
        path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
    };
    let own = folder(path);
    let mut files: Vec<&ProjectPath> = (subject.files().iter())
        .filter(|file| file.bytes <= LONGEST && file.path != *path)
        .map(|file| &file.path)
        .filter(|file| pin_uses::is_code(file.file_name()))
        .collect();
    files.sort_by_key(|file| folder(file) != own);
    let texts = files.into_iter().take(MOST_READ);
    let texts = texts.filter_map(|file| Some((file.clone(), subject.text_after(file.as_str())?)));
    let (headers, sources): (Vec<_>, Vec<_>) =
        texts.partition(|(file, _)| file.extension().is_some_and(is_header));
    let mut names = vec![path.file_name().to_owned()];
    for (header, text) in &headers {
        if includes(text, path.file_name()) {
            names.push(header.file_name().to_owned());
        }
    }
    sources.into_iter().filter(move |(_, text)| names.iter().any(|name| includes(text, name)))
}

fn is_header(end: &str) -> bool {
    matches!(end, "h" | "hh" | "hpp" | "hxx" | "inc")
}

/// Whether a text includes a header of that name.
fn includes(text: &str, name: &str) -> bool {
    let mut lines = text.lines().filter(|line| line.trim_start().starts_with('#'));
    lines.any(|line| line.contains("include") && line.contains(name))
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::{CheckKind, FindingLevel};

    /// What is found of the pins in a header of a project with a source that uses them.
    fn found(old: &str, new: &str, source: &str) -> Vec<(FindingLevel, String, u32)> {
        let files = [("main/board.h", old), ("main/valve.c", source)];
        let project = TestProject { files: &files, chip: Some("esp32c3"), task: "" };
        let all = project.findings(CheckKind::Pins, &[("main/board.h", Some(new))]).into_iter();
        all.map(|(_, found)| (found.level, found.text, found.place.map_or(0, |at| at.line)))
            .collect()
    }

    #[test]
    fn a_module_of_python_is_read_where_others_use_its_numbers() {
        let old = "PUMP_RELAY = 26\nFLOAT_LOW = 32\n";
        let pump = "from machine import Pin\nimport config\n\nrelay = Pin(config.PUMP_RELAY, Pin.OUT, value=0)\n\
                    low = Pin(config.FLOAT_LOW, Pin.IN)\n";
        let files = [("config.py", old), ("pump.py", pump)];
        let found = |new: &str| {
            let project =
                TestProject { files: &files, chip: Some("esp32"), task: "Move the relay" };
            project.reported(CheckKind::Pins, &[("config.py", Some(new))])
        };
        let wanted = "config.py Stop: drives GPIO35, which is input-only on the ESP32";
        assert_eq!(found(&old.replace("26", "35")), [wanted]);
        assert_eq!(found(&old.replace("26", "27")), [] as [String; 0]);
        assert_eq!(found(&old.replace("32", "35")), [] as [String; 0]);
    }

    #[test]
    fn a_header_is_read_through_another_one_too() {
        let old = "#pragma once\n#define BOARD_VALVE 10\n";
        let usb = old.replace("10", "18");
        let files = [
            ("main/rev_c3.h", old),
            ("main/all.h", "#include \"rev_c3.h\"\n"),
            ("main/b.c", &USES.replace("board.h", "all.h")),
        ];
        let found = |files: &[(&str, &str)], chip: Option<&str>, new: &str| {
            let project = TestProject { files, chip, task: "x" };
            project.reported(CheckKind::Pins, &[("main/rev_c3.h", Some(new))])
        };
        assert_eq!(found(&files, None, &usb), [] as [String; 0], "the chip is not known");
        assert_eq!(found(&files, Some("esp32c3"), &usb).len(), 1);
        assert_eq!(found(&files[..2], Some("esp32c3"), &usb), [] as [String; 0], "nobody uses it");
    }

    const USES: &str =
        "#include \"board.h\"\nvoid open(void) { gpio_set_level(BOARD_VALVE, 1); }\n";

    #[test]
    fn a_number_is_judged_where_another_file_uses_it() {
        let old = "#pragma once\n#define BOARD_LED 3\n#define BOARD_VALVE 10\n";
        let usb = old.replace("VALVE 10", "VALVE 18");
        let wanted = "uses GPIO18, a USB pin of the ESP32-C3".to_owned();
        assert_eq!(found(old, &usb, USES), [(FindingLevel::Warning, wanted, 3)]);
        assert_eq!(found(old, &old.replace("VALVE 10", "VALVE 1"), USES), []);
        assert_eq!(found(old, &old.replace("LED 3", "LED 18"), USES), [], "nobody uses it");
        assert_eq!(found(&usb, &usb.replace("LED 3", "LED 4"), USES), [], "it was so before");
        let other =
            USES.replace("BOARD_VALVE", "OTHER").replace("#include", "// BOARD_VALVE\n#include");
        assert_eq!(found(old, &usb, &other), []);
        let alone = USES.replace("#include \"board.h\"", "");
        assert_eq!(found(old, &usb, &alone), [], "it is another name there");
    }

    #[test]
    fn a_program_for_micropython_takes_numbers_from_its_modules() {
        let found = |number: u8, code: &str| {
            let config = format!("FAN_PIN = {number}\n");
            let files = [("config.py", config.as_str()), ("main.py", "import fan\n")];
            let project = TestProject { files: &files, chip: Some("esp32"), task: "x" };
            let all = project.findings(CheckKind::Pins, &[("fan.py", Some(code))]).into_iter();
            all.map(|(_, found)| found.text).collect::<Vec<_>>()
        };
        let wanted = ["drives GPIO35, which is input-only on the ESP32"];
        for code in [
            "from machine import Pin\nimport config\nfan = Pin(config.FAN_PIN, Pin.OUT)\n",
            "from machine import Pin\nimport config as cfg\nfan = Pin(cfg.FAN_PIN, Pin.OUT)\n",
            "from machine import Pin\nfrom config import FAN_PIN\nfan = Pin(FAN_PIN, Pin.OUT)\n",
            "from machine import PWM, Pin\nimport config\nfan = PWM(Pin(config.FAN_PIN), freq=9)\n",
        ] {
            assert_eq!(found(35, code), wanted, "{code}");
            assert_eq!(found(25, code), [] as [String; 0], "{code}");
        }
    }

    #[test]
    fn a_module_of_numbers_in_a_program_for_micropython_is_read_by_its_names() {
        let found = |config: &str, main: &str| {
            let files = [("config.py", "I2C_SDA = 8\n"), ("main.py", main)];
            let project = TestProject { files: &files, chip: Some("esp32s3"), task: "x" };
            let all = project.findings(CheckKind::Pins, &[("config.py", Some(config))]);
            all.into_iter().map(|(_, found)| found.text).collect::<Vec<_>>()
        };
        let usb = "I2C_SDA = 8\nWIND_TX = 19\nWIND_RX = 20\n";
        let main = "from machine import Pin\nimport config\n";
        assert!(
            found(usb, main).iter().any(|text| text.contains("GPIO19")),
            "{:?}",
            found(usb, main)
        );
        assert_eq!(found(&usb.replace("19", "17").replace("20", "18"), main), [] as [String; 0]);
        assert!(!found(usb, "import network\n").is_empty());
        assert_eq!(found(usb, "import argparse\n"), [] as [String; 0], "not for the board");
    }
}
