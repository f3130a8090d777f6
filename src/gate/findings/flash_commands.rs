//! Commands of `esptool` in scripts and build files that write a file to the wrong place of the flash
//! of a board, or for another chip.
//!
//! Reads words and compares addresses with the project's table. That a command runs at all is told by
//! [`host_code`](super::host_code).

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use crate::gate::table_offset::table_offset;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, Partition, ProjectPath};
use crate::toolchain::esp_image::Chip;
use crate::toolchain::flash_map::{TABLE_BYTES, TABLE_OFFSET};
use crate::toolchain::{partition_csv, partitions};

/// An image and its address in a list, as tools of a factory read it: `"0x1000": "bootloader.bin"`.
static MAP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<at>0x[0-9a-fA-F]{1,8})["']?\s*[:,=]\s*["'](?P<file>[^"']+\.bin)["']"#).ok()
});

/// The chip that such a list is for.
static CHIP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"["']?\b(?:chip|target|chip_family|mcu)["']?\s*[:=]\s*["']?([A-Za-z0-9-]+)"#).ok()
});

/// A word of a command, and its line, from 1.
type Word<'a> = (&'a str, u32);

/// The check of a file; `None` where no command writes to a wrong place.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text().filter(|_| is_read(path))?;
    let writes = ["write_flash", "write-flash"];
    let mut found = erased_at_build(path, text);
    found.extend(erased_by_script(path, subject));
    found.extend(rows_of_boards(text));
    found.extend(of_uploads(path, text, subject));
    let is_map = MAP.as_ref().is_some_and(|map| map.is_match(text));
    if found.is_empty() && !is_map && !writes.iter().any(|write| text.contains(write)) {
        return None;
    }
    let table = table_offset(subject.project_dir).unwrap_or(TABLE_OFFSET);
    let csv = subject.text_after("partitions.csv");
    let partitions = csv.and_then(|text| partitions::from_csv(&text)).unwrap_or_default();
    for command in commands(text) {
        let verb = command.iter().position(|(word, _)| writes.contains(word));
        let (before, behind) = command.split_at(verb.map_or(0, |at| at + 1));
        found.extend(other_chip(before, subject));
        found.extend(encrypted(behind, subject).filter(|_| verb.is_some()));
        // Lists that a script puts behind the verb: `WWW = ["0x110000", "build/www.bin"]`.
        let is_image = |file: &str| verb.is_some() || file.ends_with(".bin");
        for ((offset, line), file) in pairs(behind).into_iter().filter(|(_, file)| is_image(file)) {
            let wrong = boot_elsewhere(&command, (offset, file), subject);
            if let Some((level, text)) =
                wrong.or_else(|| misplaced(offset, file, table, &partitions))
            {
                found.push(Finding::new(level, text).at(FindingPlace::line(line)));
            }
        }
    }
    if is_map {
        found.extend(of_map(text, &partitions, subject));
    }
    let added = &subject.changed().added;
    found.retain(|finding| finding.place.as_ref().is_some_and(|at| added.contains(&at.line)));
    let advice = "Compare the address with the partition table of the project.";
    for finding in found.iter_mut().filter(|finding| finding.advice.is_empty()) {
        advice.clone_into(&mut finding.advice);
    }
    (!found.is_empty()).then(|| Check::with(CheckKind::BootUntouched, found))
}

/// What is wrong with the images of a list: a bootloader for another chip, and a program that went from its
/// partition to one for data.
fn of_map(text: &str, partitions: &[Partition], subject: &Subject<'_>) -> Vec<Finding> {
    let entries = |text: &str| -> Vec<(u32, String, u32)> {
        let mut all = Vec::new();
        for (line, row) in (1..).zip(text.lines()) {
            for groups in MAP.iter().flat_map(|map| map.captures_iter(row)) {
                let part = |name: &str| groups.name(name).map_or("", |part| part.as_str());
                let offset = partition_csv::number(part("at"));
                all.extend(offset.map(|offset| (offset, part("file").to_owned(), line)));
            }
        }
        all
    };
    let chip = CHIP.as_ref().and_then(|chip| chip.captures(text)?.get(1));
    let was = entries(subject.base_text().unwrap_or_default());
    let at = |offset: u32| partitions.iter().find(|part| part.offset == offset);
    let mut found = Vec::new();
    for (offset, file, line) in entries(text) {
        let command: Vec<Word<'_>> =
            chip.iter().flat_map(|chip| [("--chip", line), (chip.as_str(), line)]).collect();
        let before = was.iter().find(|(_, other, _)| *other == file).map(|(offset, ..)| *offset);
        let left = before.filter(|before| *before != offset).and_then(at);
        let data = at(offset).filter(|part| partition_csv::is_data(&part.kind));
        let moved = left.filter(|part| partition_csv::is_app(&part.kind)).zip(data);
        let moved = moved.map(|(left, data)| {
            let shown = super::commands::shown(&file);
            let text = format!(
                "writes `{shown}` over `{}` at {offset:#x}, and not to `{}`",
                data.label, left.label
            );
            (FindingLevel::Stop, text)
        });
        let wrong = boot_elsewhere(&command, (offset, &file), subject).or(moved);
        found.extend(
            wrong.map(|(level, text)| Finding::new(level, text).at(FindingPlace::line(line))),
        );
    }
    found
}

/// The same among the options that PlatformIO hands to what uploads.
fn of_uploads(path: &ProjectPath, text: &str, subject: &Subject<'_>) -> Option<Finding> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().starts_with(['#', ';']));
    let words =
        lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (word, line)));
    let words: Vec<Word<'_>> = words.filter(|_| path.file_name() == "platformio.ini").collect();
    encrypted(&words, subject)
}

/// An option by which the chip encrypts what is written, in a project that does not use encryption.
fn encrypted(words: &[Word<'_>], subject: &Subject<'_>) -> Option<Finding> {
    let is_option = |word: &str| ["--encrypt", "--encrypt-files"].contains(&word);
    let (option, line) = words.iter().find(|(word, _)| is_option(word))?;
    let is_used = |file: &str| {
        let text = subject.text_after(file).unwrap_or_default();
        text.lines().any(|line| line == "CONFIG_SECURE_FLASH_ENC_ENABLED=y")
    };
    if ["sdkconfig", "sdkconfig.defaults"].iter().any(|file| is_used(file)) {
        return None;
    }
    let text = format!("writes encrypted (`{option}`), and the project does not use encryption");
    let advice = "Leave the option out: a chip that does not decrypt cannot run what it holds.";
    Some(Finding::new(FindingLevel::Stop, text).at(FindingPlace::line(*line)).advice(advice))
}

/// Commands of a list of CMake that erase a board.
fn erased_at_build(path: &ProjectPath, text: &str) -> Vec<Finding> {
    let is_list = path.file_name() == "CMakeLists.txt" || path.extension() == Some("cmake");
    let erases = |line: &str| {
        let code = line.split('#').next().unwrap_or_default();
        ["erase_flash", "erase-flash", "erase_region", "erase-region"]
            .iter()
            .any(|verb| code.contains(verb))
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_list && erases(line));
    let finding = |line| {
        let text = "erases the flash of a board when the project is built";
        Finding::new(FindingLevel::Stop, text).at(FindingPlace::line(line))
    };
    lines.map(|(line, _)| finding(line)).collect()
}

/// Commands of a script that erase a board, where it erased nothing before and the task speaks of nothing
/// of the kind.
fn erased_by_script(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    const ASKS: [&str; 10] =
        ["eras", "lösch", "loesch", "effac", "borr", "wipe", "clear", "factory", "reset", "blank"];
    static ERASES: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\berase[_-](?:flash|region|parts)\b|\berase-otadata\b").ok());
    let is_list = path.file_name() == "CMakeLists.txt" || path.extension() == Some("cmake");
    let (source, erases) = (subject.source().filter(|_| !is_list)?, ERASES.as_ref()?);
    let task = subject.context.person_words();
    let erased_before = subject.base_text().is_some_and(|base| erases.is_match(base));
    if task.is_empty() || erased_before || ASKS.iter().any(|word| task.contains(word)) {
        return None;
    }
    let code = source.code_of_any();
    let is_whole = |erase: &regex::Match<'_>| erase.as_str().ends_with("flash");
    // The whole board first: that is what matters of several.
    let erase = erases.find_iter(&code).find(is_whole).or_else(|| erases.find(&code))?;
    let text = match is_whole(&erase) {
        true => "erases the flash of a board with all that it holds",
        false => "erases a part of the flash of a board",
    };
    let at = erase.start();
    if is_called_so(code.get(..at).unwrap_or_default()) {
        return None;
    }
    let finding = Finding::new(FindingLevel::Warning, text).at(source.place(&(at..at)));
    Some(finding.advice("The task does not ask for it. Settings and records are lost."))
}

/// Whether the function or the target that a text ends in is named after what it erases: who calls it
/// wants that.
fn is_called_so(text: &str) -> bool {
    static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:def\s+|function\s+)?([\w.-]+)\s*(?:\([^)]*\)|:)(?:\s|\{|$|->|:)").ok()
    });
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().rev();
    let mut inner = lines.next().map_or(0, depth);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        if depth(line) >= inner {
            continue;
        }
        inner = depth(line);
        let name = HEAD.as_ref().and_then(|head| head.captures(line.trim_start())?.get(1));
        let name = name.map_or_else(String::new, |name| name.as_str().to_lowercase());
        if ["eras", "wipe", "factory", "reset"].iter().any(|word| name.contains(word)) {
            return true;
        }
    }
    false
}

/// Rows of a table of boards with another place of the bootloader than that of their chip:
/// `"esp32s3", "8MB", 0x1000, 0x8000, 0x10000`.
fn rows_of_boards(text: &str) -> Vec<Finding> {
    static ROW: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?P<chip>esp32(?:-?[a-z]\d+)?)\b[^\n]{0,40}?\b(?P<at>0x[0-9a-f]+)\W{1,24}(?:\w+\W{1,8})?0x8000\b")
            .ok()
    });
    let rows = (1..).zip(text.lines()).filter(|(_, line)| line.contains("0x8000"));
    let finding = |(line, row): (u32, &str)| {
        let groups = ROW.as_ref()?.captures(row)?;
        let chip = Chip::named(groups.name("chip")?.as_str())?;
        let at = u32::from_str_radix(groups.name("at")?.as_str().get(2..)?, 16).ok()?;
        let is_place = [0, 0x1000, 0x2000].contains(&at) && at != chip.boot;
        let text = format!(
            "puts the bootloader of the {} at 0x{at:x}, and it starts from 0x{:x}",
            chip.name, chip.boot
        );
        is_place.then(|| Finding::new(FindingLevel::Stop, text).at(FindingPlace::line(line)))
    };
    rows.filter_map(finding).collect()
}

/// Whether a file may hold commands.
fn is_read(path: &ProjectPath) -> bool {
    let ends =
        ["sh", "bash", "bat", "cmd", "ps1", "py", "mk", "cmake", "yml", "yaml", "json", "ini"];
    path.extension().is_some_and(|end| ends.contains(&end))
        || matches!(path.file_name(), "Makefile" | "CMakeLists.txt" | "justfile")
}

/// The words of each command; a line that ends with a backslash, or in the middle of a list, goes on.
fn commands(text: &str) -> Vec<Vec<Word<'_>>> {
    let (mut all, mut open) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim();
        if bare.starts_with(['#', ';']) {
            continue;
        }
        let is_split = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']');
        let words = bare.split(is_split).filter(|word| !matches!(*word, "" | "\\" | "^"));
        open.extend(words.map(|word| (word, number)));
        if !bare.ends_with(['\\', ',', '^', '[']) {
            all.push(std::mem::take(&mut open));
        }
    }
    all.push(open);
    all
}

/// The addresses and files behind `write_flash`.
fn pairs<'a>(words: &[Word<'a>]) -> Vec<((u32, u32), &'a str)> {
    let mut found = Vec::new();
    let mut words = words.iter().peekable();
    while let Some((word, line)) = words.next() {
        let is_number = word.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        let Some(offset) = partition_csv::number(word).filter(|_| is_number) else { continue };
        if let Some((file, _)) = words.next_if(|(file, _)| !file.starts_with('-')) {
            found.push(((offset, *line), *file));
        }
    }
    found
}

/// What is wrong with a bootloader at the place of that of another chip.
fn boot_elsewhere(
    command: &[Word<'_>],
    (offset, file): (u32, &str),
    subject: &Subject<'_>,
) -> Option<(FindingLevel, String)> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_ascii_lowercase();
    let at = command.iter().position(|(word, _)| matches!(*word, "--chip" | "-c"));
    let named = at.and_then(|at| Some(command.get(at + 1)?.0)).or(subject.context.chip.as_deref());
    let chip = Chip::named(named?)?;
    let is_other = [0, 0x1000, 0x2000].contains(&offset) && offset != chip.boot;
    let text = format!(
        "writes the bootloader of the {} to {offset:#x}, and it starts from {:#x}",
        chip.name, chip.boot
    );
    (name.starts_with("bootloader") && is_other).then_some((FindingLevel::Stop, text))
}

/// What is wrong with a file at an address.
fn misplaced(
    offset: u32,
    file: &str,
    table: u32,
    partitions: &[Partition],
) -> Option<(FindingLevel, String)> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_ascii_lowercase();
    let is_named = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let whole = ["merged", "full", "factory", "all", "image", "combined", "backup", "flash"];
    let shown = super::commands::shown(file);
    let at = format!("{offset:#x}");
    if is_named(&whole) || name.starts_with(['$', '%', '{']) {
        return None;
    }
    if (table..table + TABLE_BYTES).contains(&offset) && !is_named(&["part", "table"]) {
        let text = format!("writes `{shown}` over the partition table at {at}");
        return Some((FindingLevel::Stop, text));
    }
    if offset < table && !is_named(&["boot"]) {
        let text = format!("writes `{shown}` over the bootloader at {at}");
        return Some((FindingLevel::Stop, text));
    }
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let own = partitions.iter().find(|part| part.label.eq_ignore_ascii_case(stem));
    let start = partitions.iter().find(|part| part.offset == offset);
    if let (Some(own), Some(start)) = (own, start.filter(|start| start.label.as_str() != stem)) {
        let text = format!(
            "writes `{shown}` over `{}` at {at}, and `{}` starts from {:#x}",
            start.label, own.label, own.offset
        );
        return own.offset.ne(&offset).then_some((FindingLevel::Stop, text));
    }
    let within = partitions
        .iter()
        .find(|part| offset > part.offset && offset < part.offset.saturating_add(part.bytes))?;
    let text = format!("writes `{shown}` at {at}, into the middle of `{}`", within.label);
    Some((FindingLevel::Warning, text))
}

/// A chip that is named and is not the one of the project.
fn other_chip(words: &[Word<'_>], subject: &Subject<'_>) -> Option<Finding> {
    let own = subject.context.chip.as_deref()?;
    let at = words.iter().position(|(word, _)| matches!(*word, "--chip" | "-c"))?;
    let (named, line) = words.get(at + 1)?;
    Chip::named(named).filter(|_| *named != own)?;
    // A project may be for several chips.
    let options = format!("sdkconfig.defaults.{named}");
    if subject.files().iter().any(|file| file.path.file_name() == options) {
        return None;
    }
    let text = format!("flashes a board with an {named}, and the project is for the {own}");
    Some(Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line)))
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;

    const TABLE: &str = "nvs, data, nvs, 0x9000, 0x6000\nfactory, app, factory, 0x10000, 1M\n";

    fn found(path: &str, content: &str) -> Vec<(FindingLevel, String, u32)> {
        let files = [("partitions.csv", TABLE)];
        let project = TestProject { files: &files, chip: Some("esp32c6"), task: "" };
        let all = project.findings(CheckKind::BootUntouched, &[(path, Some(content))]).into_iter();
        all.map(|(_, found)| (found.level, found.text, found.place.map_or(0, |at| at.line)))
            .collect()
    }

    #[test]
    fn a_build_that_erases_and_a_table_with_the_place_of_another_chip_are_found() {
        let list = "project(a)\nadd_custom_command(TARGET a POST_BUILD\n    COMMAND ${python} -m esptool erase_flash)\n";
        let wanted = "erases the flash of a board when the project is built".to_owned();
        assert_eq!(found("CMakeLists.txt", list), [(FindingLevel::Stop, wanted, 3)]);
        assert_eq!(found("Makefile", list), [], "one asks for it there");
        let rows = "BOARDS = {\n  \"v2\": Board(\"esp32\", \"4MB\", 0x1000, 0x8000, 0x10000),\n  \
                    \"v3\": Board(\"esp32s3\", \"8MB\", 0x1000, 0x8000, 0x10000),\n}\n";
        let wanted =
            "puts the bootloader of the esp32s3 at 0x1000, and it starts from 0x0".to_owned();
        assert_eq!(found("tools/boards.py", rows), [(FindingLevel::Stop, wanted, 3)]);
        assert_eq!(found("tools/boards.py", &rows.replace("8MB\", 0x1000", "8MB\", 0x0")), []);
    }

    #[test]
    fn a_script_that_erases_is_told_where_nobody_asks_for_it() {
        let found = |text: &str, task: &str| {
            TestProject { files: &[], task, chip: None }
                .reported(CheckKind::BootUntouched, &[("tools/a.sh", Some(text))])
        };
        let (whole, part) =
            ("esptool.py erase_flash\n", "parttool.py erase_region 0x9000 0x6000\n");
        let task = "Pass the port";
        let expected = |text: &str| [format!("tools/a.sh Warning: erases {text}")];
        assert_eq!(found(whole, task), expected("the flash of a board with all that it holds"));
        assert_eq!(found(part, task), expected("a part of the flash of a board"));
        let both = format!("{part}{whole}");
        assert_eq!(found(&both, task), expected("the flash of a board with all that it holds"));
        assert_eq!(found(whole, "Erase the board first"), [] as [String; 0]);
        for named in ["erase_all() {", "function wipe() {", "factory-reset() {"] {
            assert_eq!(
                found(&format!("{named}\n    {whole}}}\n"), task),
                [] as [String; 0],
                "{named}"
            );
        }
        for named in ["flash() {", "if reset; then"] {
            assert_eq!(found(&format!("{named}\n    {whole}}}\n"), task).len(), 1, "{named}");
        }
        assert_eq!(found(&format!("erase() {{\n    true\n}}\n{whole}"), task).len(), 1);
    }

    #[test]
    fn images_of_a_list_are_compared_with_chip_and_partitions() {
        let list = |boot: &str, app: &str| {
            format!(
                "{{\n  \"chip\": \"esp32c6\",\n  \"files\": {{\n    \"{boot}\": \"boot/bootloader.bin\",\n    \"{app}\": \
                 \"build/meter.bin\"\n  }}\n}}\n"
            )
        };
        let old = list("0x0", "0x10000");
        let files = [("partitions.csv", TABLE), ("factory/layout.json", old.as_str())];
        let found = |new: &str| {
            let project = TestProject { files: &files, chip: Some("esp32c6"), task: "Add pages" };
            project.reported(CheckKind::BootUntouched, &[("factory/layout.json", Some(new))])
        };
        let wanted = "factory/layout.json Stop: writes the bootloader of the esp32c6 to 0x1000, and it starts from 0x0";
        assert_eq!(found(&list("0x1000", "0x10000")), [wanted]);
        let wanted = "factory/layout.json Stop: writes `build/meter.bin` over `nvs` at 0x9000, and not to `factory`";
        assert_eq!(found(&list("0x0", "0x9000")), [wanted]);
        assert_eq!(found(&list("0x0", "0x10000").replace("boot/", "b/")), [] as [String; 0]);
    }

    #[test]
    fn what_is_written_encrypted_needs_a_project_that_uses_encryption() {
        let found = |options: &str, config: &str| {
            let text = format!("esptool.py write_flash {options} 0x10000 build/a.bin\n");
            let files = [("sdkconfig.defaults", config)];
            TestProject { files: &files, task: "Pass the port", chip: None }
                .reported(CheckKind::BootUntouched, &[("flash.sh", Some(&text))])
        };
        let wanted = "flash.sh Stop: writes encrypted (`--encrypt`), and the project does not use encryption";
        assert_eq!(found("--encrypt", "CONFIG_A=y\n"), [wanted]);
        let upload = "[env:a]\nupload_flags =\n    --encrypt\n";
        let all = TestProject { files: &[], task: "Upload faster", chip: None }
            .reported(CheckKind::BootUntouched, &[("platformio.ini", Some(upload))]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(found("--encrypt", "CONFIG_SECURE_FLASH_ENC_ENABLED=y\n"), [] as [String; 0]);
        assert_eq!(found("--compress", "CONFIG_A=y\n"), [] as [String; 0]);
    }

    #[test]
    fn files_at_the_wrong_place_are_told_at_their_line() {
        use FindingLevel::{Stop, Warning};
        let script = "#!/bin/sh\nesptool.py --chip esp32c6 -p \"$PORT\" \\\n    write_flash --flash_mode \
                      dio 0x0 build/bootloader/bootloader.bin \\\n    0x8000 \"$BUILD/app.bin\"\n";
        let wanted = "writes `$BUILD/app.bin` over the partition table at 0x8000".to_owned();
        assert_eq!(found("tools/a.sh", script), [(Stop, wanted, 4)]);
        let right = script.replace("app.bin", "partition-table.bin");
        assert_eq!(found("tools/a.sh", &right), []);
        assert_eq!(found("notes.md", script), []);
        let list = "run([\"esptool\", \"write-flash\",\n  \"0x10000\", app,\n  \"0x18000\", \"assets.bin\"])\n";
        let wanted = "writes `assets.bin` at 0x18000, into the middle of `factory`".to_owned();
        assert_eq!(found("tools/a.py", list), [(Warning, wanted, 3)]);
        let list = "NVS = [\"0x10000\", \"build/nvs.bin\"]\nAPP = [\"0x10000\", \"app.bin\"]\nrun([\"write_flash\"] + NVS)\n";
        let wanted =
            "writes `build/nvs.bin` over `factory` at 0x10000, and `nvs` starts from 0x9000"
                .to_owned();
        assert_eq!(found("tools/a.py", list), [(Stop, wanted, 1)]);
        assert_eq!(found("tools/a.py", &list.replacen("0x10000", "0x9000", 1)), []);
        let other = right.replace("--chip esp32c6", "--chip esp32s3");
        let wanted =
            "flashes a board with an esp32s3, and the project is for the esp32c6".to_owned();
        assert_eq!(found("tools/a.sh", &other), [(Warning, wanted, 2)]);
        let auto =
            right.replace("--chip esp32c6", "--chip auto").replace("bootloader.bin", "app.bin");
        let wanted = "writes `build/bootloader/app.bin` over the bootloader at 0x0".to_owned();
        assert_eq!(found("tools/a.sh", &auto), [(Stop, wanted, 3)]);
        assert_eq!(found("tools/a.sh", "esptool.py write_flash 0x0 merged.bin\n"), []);
        assert_eq!(found("tools/a.sh", "# esptool.py write_flash 0x0 app.bin\n"), []);
    }
}
