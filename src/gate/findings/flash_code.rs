//! Code of the firmware that erases or writes what the board starts from: the bootloader and the
//! partition table.
//!
//! Judges by addresses, followed through constants; what it cannot tell it leaves out. Must not know
//! partitions: where programs and data lie is the build's.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use super::constants::Constants;
use super::host_code;
use super::novelty;
use super::outer_constants::OuterConstants;
use super::pin_uses::is_code;
use super::source::SourceText;
use crate::gate::table_offset::table_offset;
use crate::model::{Check, CheckKind, Finding, FindingLevel, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Where the partition table lies when nothing says otherwise.
const USUAL_TABLE: u32 = 0x8000;

/// Bytes that a table takes.
const TABLE: i128 = 0x1000;

/// Functions that erase or write flash by address: the place of the address among the arguments,
/// what it is counted in, and the place of the length. Sources: `esp_flash.h`, `spi_flash.h` of
/// ESP-IDF v4.4, `rom/spi_flash.h`, `bootloader_flash.h`, `Esp.h` of the Arduino core, and the module
/// `esp` of MicroPython.
const CALLS: [(&str, usize, i128, Option<usize>); 18] = [
    ("esp_flash_erase_region", 1, 1, Some(2)),
    ("esp_flash_write", 2, 1, Some(3)),
    ("esp_flash_write_encrypted", 1, 1, Some(3)),
    ("spi_flash_erase_sector", 0, 0x1000, None),
    ("spi_flash_erase_range", 0, 1, Some(1)),
    ("spi_flash_write", 0, 1, Some(2)),
    ("spi_flash_write_encrypted", 0, 1, Some(2)),
    ("esp_rom_spiflash_erase_sector", 0, 0x1000, None),
    ("esp_rom_spiflash_erase_block", 0, 0x1_0000, None),
    ("esp_rom_spiflash_erase_area", 0, 1, Some(1)),
    ("esp_rom_spiflash_write", 0, 1, Some(2)),
    ("bootloader_flash_erase_range", 0, 1, Some(1)),
    ("bootloader_flash_erase_sector", 0, 0x1000, None),
    ("bootloader_flash_write", 0, 1, Some(2)),
    ("flashEraseSector", 0, 0x1000, None),
    ("flashWrite", 0, 1, Some(2)),
    ("flash_erase", 0, 0x1000, None),
    ("flash_write", 0, 1, None),
];

/// Functions that erase all of it.
const ALL: [&str; 3] =
    ["esp_flash_erase_chip", "esp_rom_spiflash_erase_chip", "spi_flash_erase_chip"];

/// The check of a source; `None` where nothing of that kind is found.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    let is_read = is_code(path.file_name()) || host_code::is_micropython(subject);
    if !is_read || !may_be(text) {
        return None;
    }
    let table = table_offset(subject.project_dir).unwrap_or(USUAL_TABLE);
    let outer = OuterConstants::of(path, text, |path| subject.text_after(path));
    let check = novelty::check(CheckKind::BootUntouched, subject, |source| {
        let mut found = in_source(source, i128::from(table), &outer);
        found.extend(from_the_start(source));
        found
    })?;
    (!check.findings.is_empty()).then_some(check)
}

/// Loops of Python that erase the sectors of a chip from the first one on.
fn from_the_start(source: &SourceText<'_>) -> Option<Finding> {
    static LOOP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^[ \t]*for (\w+) in range\((?:0[ ]*,)?[^,\n]*(?:,[ ]*1[ ]*)?\):[^\n]*\n?[^\n]*\bflash_erase\([ ]*(\w+)[ ]*\)")
            .ok()
    });
    if source.path.extension() != Some("py") {
        return None;
    }
    let found = LOOP.as_ref()?.captures(source.text)?;
    let (counted, erased) = (found.get(1)?, found.get(2)?);
    let text = "erases the bootloader and all that follows, from 0x0 on, while the program runs";
    let finding = Finding::new(FindingLevel::Stop, text).advice(ADVICE);
    (counted.as_str() == erased.as_str()).then(|| finding.at(source.place(&erased.range())))
}

fn may_be(text: &str) -> bool {
    ["flash_erase", "flash_write", "spiflash_", "flashEraseSector", "flashWrite"]
        .iter()
        .any(|part| text.contains(part))
}

fn in_source(source: &SourceText<'_>, table: i128, outer: &OuterConstants) -> Vec<Finding> {
    let all = source.tokens();
    let constants = Constants::with(all, &outer.values);
    let mut found = Vec::new();
    for (at, token) in all.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word) {
        let Some(arguments) = arguments(all, at) else { continue };
        if ALL.iter().any(|name| token.is_word(name)) {
            let text = "erases the whole flash, the program and stored settings too";
            let finding = Finding::new(FindingLevel::Stop, text);
            found.push(finding.at(source.place(&token.range())).advice(ADVICE));
            continue;
        }
        let Some((_, place, unit, length)) = CALLS.iter().find(|(name, ..)| token.is_word(name))
        else {
            continue;
        };
        let value = |place: usize| Some(constants.value(arguments.get(place)?.clone())?.number);
        let Some(start) = value(*place).and_then(|at| at.checked_mul(*unit)) else {
            let partition = all.get(arguments.first().map_or(0..0, Range::clone));
            let address = arguments.get(*place).and_then(|part| all.get(part.clone()));
            if is_relative(source, partition.unwrap_or_default(), address.unwrap_or_default()) {
                let text = "erases or writes the chip at an address without the partition's start";
                let finding = Finding::new(FindingLevel::Warning, text);
                let advice = "Add the partition's `address`, or use esp_partition_erase_range and \
                              esp_partition_write.";
                found.push(finding.at(source.place(&token.range())).advice(advice));
            }
            continue;
        };
        let bytes =
            length.and_then(value).unwrap_or(1).max(1).max(if *unit > 1 { *unit } else { 1 });
        let end = start.saturating_add(bytes);
        let reaches = |from: i128, to: i128| start < to && end > from;
        let areas: Vec<&str> = [
            (reaches(0, table), "the bootloader"),
            (reaches(table, table + TABLE), "the partition table"),
        ]
        .into_iter()
        .filter_map(|(is, name)| is.then_some(name))
        .collect();
        if start < 0 || areas.is_empty() {
            continue;
        }
        let verb =
            if token.raw.to_ascii_lowercase().contains("erase") { "erases" } else { "writes" };
        let text = format!("{verb} {} at 0x{start:x} while the program runs", areas.join(" and "));
        let finding = Finding::new(FindingLevel::Stop, text).advice(ADVICE);
        found.push(finding.at(source.place(&token.range())));
    }
    found
}

/// Whether an address is counted from a partition's start while the function takes the whole chip:
/// `esp_flash_erase_region(part->flash_chip, slot * SIZE, …)`.
fn is_relative(source: &SourceText<'_>, chip: &[Token<'_>], address: &[Token<'_>]) -> bool {
    let names_start = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["addr", "base", "start"].iter().any(|part| text.contains(part))
    };
    let tokens = source.tokens();
    // What a name was made of, or what a function of that name does.
    let is_made_of_start = |name: &str| {
        let made = tokens.iter().enumerate().filter(|(at, token)| {
            token.raw == name && tokens.get(at + 1).is_some_and(|next| next.is("="))
        });
        let mut values = made.map(|(at, _)| {
            let value = tokens.iter().skip(at + 2).take_while(|token| !token.is(";"));
            value.map(|token| token.raw).collect::<Vec<_>>().join(" ")
        });
        values.any(|value| names_start(&value)) || names_start(&source.body(name))
    };
    let mut words = address.iter().filter_map(|token| token.word());
    chip.iter().any(|token| token.is_word("flash_chip"))
        && !address.is_empty()
        && !words.any(|word| names_start(&word) || is_made_of_start(&word))
}

const ADVICE: &str = "The board does not start again without it, until it is flashed over a cable.";

/// The arguments of a call at `at`, as places of tokens; `None` for what is no call.
fn arguments(all: &[Token<'_>], at: usize) -> Option<Vec<Range<usize>>> {
    if !all.get(at + 1)?.is("(") {
        return None;
    }
    let (mut depth, mut start, mut found) = (0_usize, at + 2, Vec::new());
    for end in at + 2..all.len().min(at + 200) {
        let token = all.get(end)?;
        match token.raw {
            _ if token.kind != TokenKind::Mark => {}
            "(" | "{" | "[" => depth += 1,
            ")" if depth == 0 => {
                found.push(start..end);
                return Some(found);
            }
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                found.push(start..end);
                start = end + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let path = ProjectPath::new("main/a.c").unwrap();
        let source = SourceText::new(&path, text);
        let all = in_source(&source, 0x8000, &OuterConstants::default()).into_iter();
        all.map(|finding| finding.text).collect()
    }

    #[test]
    fn a_loop_of_python_that_erases_from_the_first_sector_on_is_found() {
        use super::super::test_changes::TestProject;

        let found = |range: &str, erased: &str| {
            let text = format!(
                "import esp\n\ndef wipe():\n    for sector in range({range}):\n        esp.flash_erase({erased})\n"
            );
            let files = [("main.py", "import machine\nimport rawlog\n")];
            let project = TestProject { files: &files, chip: Some("esp32"), task: "Clear the log" };
            project.reported(CheckKind::BootUntouched, &[("rawlog.py", Some(&text))]).len()
        };
        assert_eq!(found("LOG_SECTORS", "sector"), 1);
        assert_eq!(found("0, esp.flash_size() // 4096", "sector"), 1);
        assert_eq!(found("0x3C0, 0x400", "sector"), 0);
        assert_eq!(found("LOG_SECTORS", "0x3C0 + sector"), 0);
    }

    #[test]
    fn what_the_board_starts_from_is_told_by_its_address() {
        for (text, says) in [
            (
                "esp_flash_erase_region(NULL, 0x8000, 0x1000);",
                "erases the partition table at 0x8000",
            ),
            ("#define AT 0x1000\nesp_flash_write(chip, data, AT, n);", "writes the bootloader"),
            ("esp_flash_write(chip, data, 0, 0x9000);", "the bootloader and the partition table"),
            ("spi_flash_erase_sector(8);", "erases the partition table at 0x8000"),
            ("esp_rom_spiflash_erase_block(0);", "the bootloader and the partition table"),
            ("ESP.flashEraseSector(1);", "erases the bootloader at 0x1000"),
            ("esp_flash_erase_region(NULL, 0x7000, 0x2000);", "and the partition table"),
            ("esp_flash_erase_region(of(a, b), 0x8000, n);", "the partition table at 0x8000"),
            ("esp_flash_write((esp_flash_t *)f[a, 1], g(1, 2), 0x1000, n);", "the bootloader"),
            ("esp_flash_erase_region(NULL, 0x7fff, 1);", "erases the bootloader at 0x7fff"),
            ("esp_flash_erase_chip(NULL);", "the whole flash"),
            (
                "esp_flash_erase_region(part->flash_chip, slot_off(slot), 4096);",
                "without the partition's start",
            ),
        ] {
            let all = found(text);
            assert!(all.len() == 1 && all[0].contains(says), "{text}: {all:?}");
        }
        for text in [
            "esp_flash_erase_region(NULL, 0x9000, 0x6000);",
            "esp_flash_erase_region(part->flash_chip, part->address, part->size);",
            "esp_flash_erase_region(part->flash_chip, base + slot_off(slot), 4096);",
            "void f() { uint32_t off = part->address + i; esp_flash_erase_region(part->flash_chip, off, 4096); }",
            "uint32_t at(int i) { return part->address + i; }\nvoid f() { esp_flash_erase_region(part->flash_chip, at(2), 4096); }",
            "spi_flash_erase_sector(9);",
            "esp_flash_read(NULL, buffer, 0x8000, 4096);",
            "esp_flash_erase_region(of(a, 0x8000, b), part->address, 0x1000);",
            "// esp_flash_erase_chip(NULL);",
            "esp_err_t (*erase)(void) = esp_flash_erase_chip_later;",
        ] {
            assert_eq!(found(text), [] as [String; 0], "{text}");
        }
    }
}
