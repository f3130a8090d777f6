//! GPIO numbers in the change that the chip uses for something else, or does not have.
//!
//! Owns what a number means on the chip; where a number is a pin is
//! [`pin_uses`](super::pin_uses)'s business. The facts are those of `assets/pinout`.

use super::limit_names::words;
use super::outer_constants::OuterConstants;
use super::pin_use::Direction;
use super::pin_use::PinUse;
use super::pin_uses;
use super::source::SourceText;
use super::{Subject, chip as chips};
use super::{host_code, novelty};
use super::{pin_data, pin_lists, pin_options, pin_readers};
use crate::device::{Pin, Pinout};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};

/// What ESP-IDF builds for when nothing says otherwise.
const DEFAULT_CHIP: &str = "esp32";

/// What is known of the chip.
struct ChipFacts<'a> {
    /// Somebody says which one it is.
    is_named: bool,
    /// Its flash or PSRAM takes eight lines.
    has_octal_memory: bool,
    /// The project turns PSRAM on.
    has_psram: bool,
    /// The text that uses the pins.
    source: &'a str,
}

impl<'a> ChipFacts<'a> {
    fn of(chip: Option<&str>, outer: &OuterConstants, source: &'a str) -> Self {
        Self {
            is_named: chip.is_some(),
            has_octal_memory: outer.has_octal_memory(),
            has_psram: outer.has_psram(),
            source,
        }
    }

    /// Whether the source speaks of a button, as it is on the pins that start the boot loader.
    fn names_button(&self) -> bool {
        const BUTTON: [&str; 8] =
            ["button", "boot", "key", "btn", "taster", "knopf", "boton", "bouton"];
        let mut names = self.source.split(|c: char| !c.is_alphanumeric());
        names.any(|name| {
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let is = |word: &&str| word.eq_ignore_ascii_case(name);
            BUTTON.iter().any(is)
                || words(name).any(|part| BUTTON.iter().any(|it| it.eq_ignore_ascii_case(part)))
        })
    }
}

/// The check of a text; `None` for what is not text, or names no pins.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let name = path.file_name();
    let is_settings = name.starts_with("sdkconfig")
        || pin_options::is_kconfig(name)
        || pin_options::defines(name)
        || pin_data::is_data(path.as_str());
    let is_on_chip = subject.text().is_some_and(|text| pin_uses::is_micropython(name, text))
        || host_code::is_micropython(subject);
    if !pin_uses::is_code(name) && !is_settings && !is_on_chip {
        let is_python = path.extension() == Some("py");
        let text = subject.text().filter(|_| is_python)?;
        let outer = OuterConstants::of(path, text, |path| subject.text_after(path));
        let found = elsewhere(path, subject, &outer);
        return (!found.is_empty()).then(|| Check::with(CheckKind::Pins, found));
    }
    let chip = subject.context.chip.as_deref();
    if is_settings {
        let outer = OuterConstants::of(path, subject.text()?, |path| subject.text_after(path));
        return novelty::check(CheckKind::Pins, subject, |source| in_source(source, chip, &outer));
    }
    let project = |path: &str| subject.text_after(path);
    let (after, before) = (subject.text()?, subject.base_text().unwrap_or_default());
    let outer_after = OuterConstants::of(path, after, project);
    let outer_before = OuterConstants::of(path, before, |path| subject.text_before(path));
    let find = |source: &SourceText<'_>| match std::ptr::eq(source.text, after) {
        true => in_source(source, chip, &outer_after),
        false => in_source(source, chip, &outer_before),
    };
    let mut check = novelty::check(CheckKind::Pins, subject, find)?;
    for finding in elsewhere(path, subject, &outer_after) {
        if check.findings.iter().all(|known| known.text != finding.text) {
            check.findings.push(finding);
        }
    }
    check.findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    Some(check)
}

/// What is found of the numbers of a header where other files use them.
fn elsewhere(path: &ProjectPath, subject: &Subject<'_>, outer: &OuterConstants) -> Vec<Finding> {
    let chip = subject.context.chip.as_deref();
    let name = chip.unwrap_or(DEFAULT_CHIP);
    let Some(table) = Pinout::built_in(name) else { return Vec::new() };
    let facts = ChipFacts::of(chip, outer, subject.text().unwrap_or_default());
    let found = pin_readers::find(path, subject, name).into_iter().filter_map(|pin| {
        let (level, text, advice) = judge(table, &pin.used, &facts)?;
        let advice = match advice.is_empty() {
            true => format!("`{}` takes the number from here.", pin.by),
            false => format!("{advice} `{}` takes the number from here.", pin.by),
        };
        Some(Finding::new(level, text).at(FindingPlace::line(pin.line)).advice(advice))
    });
    found.collect()
}

fn in_source(source: &SourceText<'_>, chip: Option<&str>, outer: &OuterConstants) -> Vec<Finding> {
    let (name, known) = (source.path.file_name(), chip.unwrap_or(DEFAULT_CHIP));
    let mut uses = match pin_options::is_kconfig(name) {
        true => pin_options::defaults(source.text, known),
        false if pin_options::defines(name) => pin_options::definitions(source.text),
        false if pin_uses::is_code(name) || name.ends_with(".py") => {
            pin_uses::find(source.tokens(), known, &outer.values)
        }
        false if pin_data::is_data(source.path.as_str()) => pin_data::find(source.text),
        false => pin_options::settings(source.text),
    };
    if pin_lists::is_list(name) {
        uses.extend(pin_lists::find(source.text));
    }
    if uses.is_empty() {
        return Vec::new();
    }
    let own = chips::of_options(name, source.text);
    let sections = match name {
        "platformio.ini" => chips::of_sections(source.text),
        _ => Vec::new(),
    };
    let chip_of = |pin: &PinUse| {
        let start = pin.ranges.first().map_or(0, |range| range.start);
        let section = sections.iter().rfind(|(from, _)| *from <= start);
        let section = section.and_then(|(_, chip)| chip.as_deref());
        section.or(own.as_deref()).or(chip)
    };
    let mut found: Vec<Finding> = Vec::new();
    for pin in &uses {
        let chip = chip_of(pin);
        let name = chip.unwrap_or(DEFAULT_CHIP);
        let Some(table) = Pinout::built_in(name) else { continue };
        let facts = ChipFacts::of(chip, outer, source.text);
        let Some((level, text, advice)) = judge(table, pin, &facts) else { continue };
        // A pin is reported once, by the use that matters most.
        let known = found.iter_mut().find(|known| known.text == text);
        if known.as_ref().is_some_and(|known| known.level >= level) {
            continue;
        }
        let place = source.place(source.newest(&pin.ranges));
        let finding = Finding::new(level, text).at(place).advice(advice);
        match known {
            Some(known) => *known = finding,
            None => found.push(finding),
        }
    }
    found
}

/// What is to be said of a pin, and what to do about it.
fn judge(
    table: &Pinout,
    used: &PinUse,
    facts: &ChipFacts<'_>,
) -> Option<(FindingLevel, String, String)> {
    let is_known = facts.is_named;
    use FindingLevel::{Note, Stop, Warning};
    let number = used.number;
    let chip = &table.chip;
    let on = if is_known { format!("the {chip}") } else { format!("the {chip}, the default chip") };
    let Some(pin) = table.pins.iter().find(|pin| i128::from(pin.gpio) == number) else {
        let text = format!("uses GPIO{number}, which {on} does not have");
        return is_known.then(|| (Stop, text, "Take a pin that the chip has.".to_owned()));
    };
    let free = "Take a free pin.".to_owned();
    if let Some(memory) = &pin.roles.memory {
        if memory.contains("VDD_SPI") {
            let text = format!("uses GPIO{number}, which supplies the flash of {on}");
            let advice =
                "The flash loses its supply with it, unless an eFuse makes it an ordinary pin.";
            return is_known.then(|| (Warning, text, advice.to_owned()));
        }
        return of_memory(number, memory, facts, &on);
    }
    if !is_known {
        return None;
    }
    if !pin.output && used.direction == Direction::Output {
        let text = format!("drives GPIO{number}, which is input-only on {on}");
        return Some((Stop, text, free));
    }
    if !pin.output && used.has_pull {
        let text = format!("pulls GPIO{number} up or down, which has no pulls on {on}");
        return Some((Warning, text, "Add a resistor, or take another pin.".to_owned()));
    }
    if let Some(strapping) = &pin.roles.strapping {
        return Some(strapped((pin, strapping), used, facts, &on));
    }
    if is_second_usb(table, pin) {
        let text = format!("uses GPIO{number}, which can be a USB pin of {on}");
        return Some((Note, text, String::new()));
    }
    if pin.roles.usb.is_some() && !used.is_peripheral_clock {
        let text = format!("uses GPIO{number}, a USB pin of {on}");
        return Some((Warning, text, "This ends flashing and the console over USB.".to_owned()));
    }
    let text = match (
        pin.roles.jtag,
        pin.roles.uart.iter().any(|signal| matches!(&**signal, "U0TXD" | "U0RXD")),
    ) {
        (Some(_), _) => format!("uses GPIO{number}, a JTAG pin of {on}"),
        (None, true) => format!("uses GPIO{number}, the console of {on}"),
        (None, false) => return None,
    };
    Some((Note, text, String::new()))
}

/// What is to be said of a pin that flash or PSRAM may take.
fn of_memory(
    number: i128,
    memory: &str,
    facts: &ChipFacts<'_>,
    on: &str,
) -> Option<(FindingLevel, String, String)> {
    use FindingLevel::{Note, Stop, Warning};
    let is_known = facts.is_named;
    let sometimes = [" on modules", "only with", "where there is"];
    if sometimes.iter().any(|part| memory.contains(part)) {
        if facts.has_octal_memory && is_known && memory.contains("octal") {
            let text = format!("uses GPIO{number}, which carries octal flash or PSRAM on {on}");
            return Some((Stop, text, "Take a free pin.".to_owned()));
        }
        // Other modules than the ESP32's with PSRAM have it on pins of its own.
        if facts.has_psram && is_known && memory.contains("modules with PSRAM") {
            let text = format!("uses GPIO{number}, which carries PSRAM on modules of {on}");
            let advice = "The project turns PSRAM on. Take a free pin.".to_owned();
            return Some((Warning, text, advice));
        }
        let text = format!("uses GPIO{number}, which may carry flash or PSRAM on {on}");
        return is_known.then(|| (Note, text, memory.to_owned()));
    }
    let text = format!("uses GPIO{number}, a flash pin of {on}");
    Some((if is_known { Stop } else { Warning }, text, "Take a free pin.".to_owned()))
}

/// Whether a pin carries USB besides an earlier one with the same line: flashing and the console take
/// the first pair, and boards use the second for anything.
fn is_second_usb(table: &Pinout, pin: &Pin) -> bool {
    let is_earlier = |other: &Pin| other.gpio < pin.gpio && other.roles.usb == pin.roles.usb;
    pin.roles.usb.is_some() && table.pins.iter().any(is_earlier)
}

/// A pin whose level at reset matters: driving what selects the flash voltage or the boot loader
/// can keep the board from starting; all others are used by many boards.
fn strapped(
    (pin, strapping): (&Pin, &str),
    used: &PinUse,
    facts: &ChipFacts<'_>,
    on: &str,
) -> (FindingLevel, String, String) {
    let drives =
        used.direction == Direction::Output && !used.is_peripheral_clock && !used.is_open_drain;
    // An input is harmless as long as nothing pulls it.
    let is_input = used.direction == Direction::Input && !used.has_pull;
    let is_voltage = strapping.starts_with("Flash voltage") && !is_input;
    // What closes to ground may be closed at reset; nobody holds a button then.
    let is_contact =
        || used.direction == Direction::Input && used.has_pull && !facts.names_button();
    let boots = strapping.contains("low at reset starts the serial boot loader")
        && (drives || is_contact());
    let level = match is_voltage || boots {
        true => FindingLevel::Warning,
        false => FindingLevel::Note,
    };
    let text = format!("uses GPIO{}, a strapping pin of {on}", pin.gpio);
    (level, text, strapping.to_owned())
}

#[cfg(test)]
#[path = "pin_tests.rs"]
mod tests;
