//! Partition tables: whether one adds up, and what a new one does to what the old one holds.
//!
//! Judges by the rules of ESP-IDF's build and of its bootloader. Places are lines of the new file.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::Subject;
use super::app_size::AppSize;
use super::layout_change;
use super::layout_options::FlashLayout;
use super::limit::limited;
use super::partition_data::{amount, by_label, lost};
use super::wanted_layout::as_asked_for;
use crate::gate::table_offset::table_offset;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, Partition, ProjectPath};
use crate::toolchain::flash_map::{TABLE_BYTES, TABLE_OFFSET, addresses};
use crate::toolchain::partition_csv::{self, APP_ALIGN, CsvEntry, SECTOR, is_app, is_data};

/// Longest name of a partition, in bytes.
const LONGEST_LABEL: usize = 15;

/// Bytes that `otadata` has to have.
const OTADATA: u32 = 0x2000;

/// Fewer bytes make no storage that can be written.
const LEAST_NVS: u32 = 0x3000;

/// Fewer bytes hold no program of ESP-IDF: the smallest ones take about 0x20000.
const LEAST_APP: u32 = 0x1_8000;

/// Entries of 32 bytes in the 0xc00 bytes of a table, without the one for its checksum.
const MOST_ENTRIES: usize = 0xc00 / 32 - 1;

/// The check of a file that holds a partition table; `None` for other files.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    if !is_table(path, text, subject) {
        return None;
    }
    // A board of its own has its options in a file of its own: `sdkconfig.board`.
    let first = subject.context.proposed.paths().find(|other| {
        other.file_name().starts_with("sdkconfig.") && other.parent() == path.parent()
    });
    let first = first.map(ProjectPath::as_str);
    let layout = FlashLayout::of(&|file| subject.text_after(file), first);
    let configured = layout.offset.as_ref().map(|(offset, _)| *offset);
    let offset = configured.or_else(|| table_offset(subject.project_dir)).unwrap_or(TABLE_OFFSET);
    let first = offset.saturating_add(TABLE_BYTES);
    let (rows, faults) = partition_csv::read(text, first);
    let mut found: Vec<Finding> = Vec::new();
    for fault in faults {
        found.push(
            stop(format!("has a line that cannot be read: {}", fault.why)).at(line(fault.line)),
        );
    }
    let touched = &subject.changed().added;
    let app = AppSize::of(subject);
    found.extend(arithmetic(&rows, first, touched));
    found.extend(as_a_whole(&rows, touched));
    found.extend(limits(&rows, &layout, app.as_ref()));
    if let Some(base) = subject.base_text() {
        let (old, _) = partition_csv::read(base, first);
        found.extend(as_asked_for(against(&old, &rows), &rows, &subject.context.person_words()));
        found.extend(outgrown(&old, &rows).filter(|_| layout.size.is_none()));
        let mut known = arithmetic(&old, first, &BTreeSet::new());
        known.extend(limits(&old, &layout, app.as_ref()));
        at_the_cause(&mut found, &known, (&rows, touched));
    } else if let Some((base, first)) = layout_change::replaced(path, subject) {
        found.extend(against(&partition_csv::read(&base, first).0, &rows));
    }
    Some(limited(CheckKind::PartitionTable, found))
}

/// Whether a file holds a table: by what the project says, by its name, or by its lines.
fn is_table(path: &ProjectPath, text: &str, subject: &Subject<'_>) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    if !name.ends_with(".csv") {
        return false;
    }
    if name.contains("partition")
        || named_by_project(subject).iter().any(|named| path.as_str().ends_with(named.as_str()))
    {
        return true;
    }
    // Where its entries lie does not matter here.
    let (rows, faults) = partition_csv::read(text, 0);
    let known = |row: &CsvEntry| is_app(&row.partition.kind) || is_data(&row.partition.kind);
    !rows.is_empty() && rows.iter().all(known) && faults.len() <= rows.len()
}

/// The tables that the project's configuration names.
fn named_by_project(subject: &Subject<'_>) -> Vec<String> {
    const KEYS: [(&str, &str); 4] = [
        ("sdkconfig", "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME"),
        ("sdkconfig.defaults", "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME"),
        ("sdkconfig", "CONFIG_PARTITION_TABLE_FILENAME"),
        ("platformio.ini", "board_build.partitions"),
    ];
    KEYS.iter().filter_map(|(file, key)| setting(subject, file, key)).collect()
}

/// A setting of a file of lines `KEY=value`, without quotes.
fn setting(subject: &Subject<'_>, file: &str, key: &str) -> Option<String> {
    let text = subject.text_after(file)?;
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    });
    value.filter(|value| !value.is_empty())
}

/// What comes of a line above, as where entries without an offset lie, is told at that line: the
/// nearest one that the change touched.
fn at_the_cause(
    found: &mut [Finding],
    known: &[Finding],
    (rows, touched): (&[CsvEntry], &BTreeSet<u32>),
) {
    for finding in found {
        let Some(place) = finding.place.as_mut().filter(|place| !touched.contains(&place.line))
        else {
            continue;
        };
        let lines = rows.iter().map(|row| row.line);
        let near = lines.filter(|line| *line < place.line && touched.contains(line)).max();
        if let Some(near) = near.filter(|_| known.iter().all(|was| was.text != finding.text)) {
            *place = line(near);
        }
    }
}

/// Of the lines that something has to do with the first that the change touched, else the first.
fn place_of(lines: &[u32], touched: &BTreeSet<u32>) -> FindingPlace {
    let is_touched = |line: &&u32| touched.contains(line);
    line(lines.iter().find(is_touched).or(lines.first()).copied().unwrap_or(1))
}

fn stop(text: impl Into<String>) -> Finding {
    Finding::new(FindingLevel::Stop, text)
}

const fn line(number: u32) -> FindingPlace {
    FindingPlace::line(number)
}

/// What is wrong with the numbers: each at its line.
fn arithmetic(rows: &[CsvEntry], first: u32, touched: &BTreeSet<u32>) -> Vec<Finding> {
    let mut found = Vec::new();
    let (mut labels, mut end) = (HashSet::new(), 0);
    // What comes after a full table is said of the table as a whole.
    for (place, row) in rows.iter().enumerate().take(MOST_ENTRIES + 1) {
        let wrongs = alone(&row.partition, first);
        found.extend(wrongs.into_iter().map(|text| stop(text).at(line(row.line))));
        let taken = addresses(&row.partition);
        // Nothing before it has its name, and all of it lies before: nothing can clash.
        let is_free = labels.insert(row.partition.label.as_str()) && taken.start >= end;
        end = end.max(taken.end);
        let before = rows.iter().take(if is_free { 0 } else { place });
        let clashes = before.filter_map(|other| {
            let text = clash(&other.partition, &row.partition)?;
            Some(stop(text).at(place_of(&[row.line, other.line], touched)))
        });
        found.extend(clashes);
        if let Some(previous) = place.checked_sub(1).and_then(|place| rows.get(place))
            && row.partition.offset < previous.partition.offset
        {
            let (label, other) = (&row.partition.label, &previous.partition.label);
            let text = format!("lists `{label}` after `{other}`, which lies behind it");
            let at = place_of(&[row.line, previous.line], touched);
            found.push(stop(text).at(at).advice("Order the lines by their offsets."));
        }
        if row.flags.iter().any(|flag| flag == "encrypted")
            && is_data(&row.partition.kind)
            && row.partition.subtype == "nvs"
        {
            let text = format!(
                "marks `{}` as encrypted, and NVS does not open such a partition",
                row.partition.label
            );
            let advice = "Leave the flag out; NVS has an encryption of its own (`nvs_keys`).";
            found.push(stop(text).at(line(row.line)).advice(advice));
        }
        if let Some(text) = unknown_subtype(&row.partition) {
            let at = line(row.line);
            found.push(
                Finding::new(FindingLevel::Warning, text)
                    .at(at)
                    .advice("The build of ESP-IDF refuses it; take a known name, or a number."),
            );
        }
        if row.partition.label.len() > LONGEST_LABEL {
            let text = format!(
                "names a partition `{}`, and only {LONGEST_LABEL} characters of it are kept",
                row.partition.label
            );
            found.push(Finding::new(FindingLevel::Warning, text).at(line(row.line)));
        }
    }
    found
}

/// What is to be said of a subtype that the build does not know. Source: `gen_esp32part.py` of
/// ESP-IDF v5.5 and v6.0.
fn unknown_subtype(partition: &Partition) -> Option<String> {
    const DATA: [&str; 13] = [
        "ota",
        "phy",
        "nvs",
        "coredump",
        "nvs_keys",
        "efuse",
        "undefined",
        "esphttpd",
        "fat",
        "spiffs",
        "littlefs",
        "tee_ota",
        "emul",
    ];
    let Partition { label, kind, subtype, .. } = partition;
    let slot = |prefix: &str, slots: u32| {
        let number = subtype.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| number < slots)
    };
    let is_number = subtype.starts_with("0x") || subtype.bytes().all(|byte| byte.is_ascii_digit());
    let is_known = match (is_app(kind), is_data(kind)) {
        (true, _) => {
            matches!(subtype.as_str(), "factory" | "test") || slot("ota_", 16) || slot("tee_", 2)
        }
        (false, true) => DATA.contains(&subtype.as_str()),
        (false, false) => true,
    };
    (!is_known && !is_number)
        .then(|| format!("gives `{label}` the subtype `{subtype}`, which the build does not know"))
}

/// What is wrong with one entry.
fn alone(partition: &Partition, first: u32) -> Vec<String> {
    let Partition { label, kind, subtype, offset, bytes } = partition;
    let mut found = Vec::new();
    if matches!(kind.as_str(), "bootloader" | "partition_table") {
        // The build works out where these lie.
        return found;
    }
    if *offset < first {
        found.push(format!(
            "puts `{label}` at 0x{offset:x}, where the bootloader or the table lies (free from \
             0x{first:x} on)"
        ));
    }
    let align = if is_app(kind) { APP_ALIGN } else { SECTOR };
    if !offset.is_multiple_of(align) {
        found.push(format!(
            "puts `{label}` at 0x{offset:x}, which is not a multiple of 0x{align:x}"
        ));
    }
    if !bytes.is_multiple_of(SECTOR) {
        found.push(format!("gives `{label}` 0x{bytes:x} bytes, which is not a multiple of 4 KB"));
    }
    if is_data(kind) && subtype == "ota" && *bytes != OTADATA {
        found.push(format!("gives `{label}` 0x{bytes:x} bytes, and otadata has 0x{OTADATA:x}"));
    }
    if is_app(kind) && *bytes < LEAST_APP {
        found.push(format!("gives `{label}` 0x{bytes:x} bytes, too few for any program"));
    }
    if is_data(kind) && subtype == "nvs" && *bytes < LEAST_NVS {
        found.push(format!("gives `{label}` 0x{bytes:x} bytes, and NVS needs 0x{LEAST_NVS:x}"));
    }
    found
}

/// What two entries have in common and must not.
fn clash(one: &Partition, two: &Partition) -> Option<String> {
    if one.label == two.label {
        return Some(format!("names two partitions `{}`", two.label));
    }
    let (a, b) = (addresses(one), addresses(two));
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    (shared > 0)
        .then(|| format!("lets `{}` overlap `{}` by 0x{shared:x} bytes", two.label, one.label))
}

/// The name of the subtype of a partition where a number says it.
fn by_name(partition: &Partition) -> Option<String> {
    let text = partition.subtype.to_ascii_lowercase();
    let number: u8 = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }?;
    Some(match (is_app(&partition.kind), is_data(&partition.kind), number) {
        (true, _, 0) => "factory".to_owned(),
        (true, _, 0x10..=0x1f) => format!("ota_{}", number - 0x10),
        (true, _, 0x20) => "test".to_owned(),
        (_, true, 0) => "ota".to_owned(),
        (_, true, 1) => "phy".to_owned(),
        (_, true, 2) => "nvs".to_owned(),
        _ => return None,
    })
}

/// An entry whose subtype has its name.
fn named(row: &CsvEntry) -> Cow<'_, CsvEntry> {
    match by_name(&row.partition) {
        Some(subtype) => {
            let mut row = row.clone();
            row.partition.subtype = subtype;
            Cow::Owned(row)
        }
        None => Cow::Borrowed(row),
    }
}

/// What is wrong with a table as a whole, at the last line that has to do with it, or that the change
/// touched of those.
fn as_a_whole(rows: &[CsvEntry], touched: &BTreeSet<u32>) -> Vec<Finding> {
    let rows: Vec<Cow<'_, CsvEntry>> = rows.iter().map(named).collect();
    let all = |wanted: &dyn Fn(&Partition) -> bool| -> Vec<&CsvEntry> {
        rows.iter().map(|row| &**row).filter(|row| wanted(&row.partition)).collect()
    };
    let apps = all(&|part| is_app(&part.kind));
    let factories = all(&|part| is_app(&part.kind) && part.subtype == "factory");
    let slots = all(&|part| is_app(&part.kind) && part.subtype.starts_with("ota_"));
    let otadata = all(&|part| is_data(&part.kind) && part.subtype == "ota");
    let mut found = Vec::new();
    let last = |rows: &[&CsvEntry]| {
        let lines: Vec<u32> = rows.iter().rev().map(|row| row.line).collect();
        place_of(&lines, touched)
    };
    if apps.is_empty() {
        found.push(stop("has no partition for an application: nothing would start"));
    }
    if factories.len() > 1 {
        let text = format!("has {} `factory` partitions, and only one can be", factories.len());
        found.push(stop(text).at(last(&factories)));
    }
    if otadata.len() > 1 {
        let text = format!("has {} otadata partitions, and only one can be", otadata.len());
        found.push(stop(text).at(last(&otadata)));
    }
    if !slots.is_empty() && otadata.is_empty() {
        let text = "has OTA slots and no otadata, which says which of them starts";
        let advice = "Add a line `otadata, data, ota, , 0x2000`.";
        found.push(stop(text).at(last(&slots)).advice(advice));
    }
    if let [one] = slots.as_slice()
        && factories.is_empty()
    {
        let text = "has one OTA slot only: it cannot be updated over the air";
        found.push(Finding::new(FindingLevel::Note, text).at(line(one.line)));
    }
    let size = |row: &&&CsvEntry| row.partition.bytes;
    if let (Some(least), Some(most)) =
        (slots.iter().min_by_key(size), slots.iter().max_by_key(size))
        && size(&least) < size(&most)
        && [least, most].iter().any(|row| touched.contains(&row.line))
    {
        let (small, large) = (&least.partition.label, &most.partition.label);
        let text = format!("makes `{small}` smaller than `{large}`: an update may not fit into it");
        let advice = "Give all OTA slots the same size.";
        let lines = [least.line, most.line];
        let finding = Finding::new(FindingLevel::Warning, text).at(place_of(&lines, touched));
        found.push(finding.advice(advice));
    }
    found.extend(numbering(&slots));
    if let Some(row) = rows.get(MOST_ENTRIES) {
        let text = format!("has {} partitions, and a table holds {MOST_ENTRIES}", rows.len());
        found.push(stop(text).at(line(row.line)));
    }
    found
}

/// Slots with the same number, and one that no update reaches: they are counted from `ota_0` on, up to
/// the first that is missing. Source: `get_ota_partition_count` in ESP-IDF's `esp_ota_ops.c`.
fn numbering(slots: &[&CsvEntry]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for row in slots {
        if !seen.insert(row.partition.subtype.as_str()) {
            let text = format!("has two slots `{}`", row.partition.subtype);
            found.push(stop(text).at(line(row.line)));
        }
    }
    let number = |row: &CsvEntry| row.partition.subtype.strip_prefix("ota_")?.parse::<u32>().ok();
    let all: BTreeSet<u32> = slots.iter().filter_map(|row| number(row)).collect();
    let missing = (0..).find(|slot| !all.contains(slot)).unwrap_or_default();
    let is_beyond = |row: &&&CsvEntry| number(row).is_some_and(|slot| slot > missing);
    if let Some(row) = slots.iter().find(is_beyond) {
        let Partition { label, subtype, .. } = &row.partition;
        let text =
            format!("has no `ota_{missing}`, so that updates never use `{label}` ({subtype})");
        let advice =
            format!("Make it `ota_{missing}`: slots are counted up to the first that is missing.");
        let finding = Finding::new(FindingLevel::Warning, text).at(line(row.line));
        found.push(finding.advice(advice));
    }
    found
}

/// A table against the flash and the last build, as far as the project tells of them.
fn limits(rows: &[CsvEntry], layout: &FlashLayout, app: Option<&AppSize>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some((bytes, place)) = &layout.size {
        for row in rows.iter().filter(|row| addresses(&row.partition).end > *bytes) {
            let (label, end) = (&row.partition.label, addresses(&row.partition).end);
            let text = format!(
                "lets `{label}` end at 0x{end:x}, beyond the {} of flash that {} says",
                amount(*bytes),
                place.file
            );
            found.push(stop(text).at(line(row.line)));
        }
    }
    if let Some(AppSize { file, bytes }) = app {
        let apps = rows.iter().filter(|row| is_app(&row.partition.kind));
        for row in apps.filter(|row| u64::from(row.partition.bytes) < *bytes) {
            let Partition { label, bytes: available, .. } = &row.partition;
            let gives = format!("gives `{label}` {available} bytes, and `{file}`");
            // A report may be older than the program.
            let finding = match file.starts_with("build/") {
                true => stop(format!("{gives} has {bytes}")),
                false => {
                    let text = format!("{gives} says that the program has {bytes}");
                    Finding::new(FindingLevel::Warning, text)
                }
            };
            found.push(finding.at(line(row.line)));
        }
    }
    found
}

/// A table that ends beyond the flash into which it fitted before, of 4 MB and more, where nothing tells
/// its size.
fn outgrown(old: &[CsvEntry], rows: &[CsvEntry]) -> Option<Finding> {
    const MEGABYTE: u64 = 0x10_0000;
    let end = |rows: &[CsvEntry]| rows.iter().map(|row| addresses(&row.partition).end).max();
    let fitted = (2..=6)
        .map(|power| MEGABYTE << power)
        .find(|size| end(old).is_some_and(|end| end <= *size))?;
    let row = rows.iter().find(|row| addresses(&row.partition).end > fitted)?;
    let (label, end) = (&row.partition.label, addresses(&row.partition).end);
    let flash = amount(fitted);
    let text =
        format!("lets `{label}` end at 0x{end:x}, and the table fitted into {flash} of flash");
    let advice = "Make sure that the board has more.";
    Some(Finding::new(FindingLevel::Warning, text).at(line(row.line)).advice(advice))
}

/// What the new table does to what boards hold that have the old one.
fn against(old: &[CsvEntry], rows: &[CsvEntry]) -> Vec<Finding> {
    let old = old.iter().map(|row| &row.partition);
    let new = rows.iter().map(|row| &row.partition);
    let mut lines = HashMap::new();
    for row in rows {
        lines.entry(row.partition.label.as_str()).or_insert(row.line);
    }
    let at_entry = |finding: Finding, label: &str| match lines.get(label) {
        Some(number) => finding.at(line(*number)),
        None => finding,
    };
    let lost = lost(old.clone(), new.clone()).into_iter().map(|(label, text)| {
        let finding =
            stop(text).advice("Boards in use lose it. Keep the entry as it is, or say so.");
        at_entry(finding, &label)
    });
    let apps = by_label(old.filter(|was| is_app(&was.kind)));
    let moved = new.filter(|part| is_app(&part.kind)).filter_map(|part| {
        let was = apps.get(part.label.as_str())?;
        let (from, to, label) = (was.offset, part.offset, &part.label);
        (from != to).then(|| {
            let text = format!("moves `{label}` from 0x{from:x} to 0x{to:x}");
            let advice = "Boards in use have to be flashed by cable.";
            at_entry(Finding::new(FindingLevel::Warning, text).advice(advice), label)
        })
    });
    let moved: Vec<Finding> = moved.collect();
    lost.chain(moved).collect()
}

/// What is wrong with the image of a table that lies at `offset`, in words.
pub(super) fn unsound(table: &[Partition], offset: u32) -> Vec<String> {
    let rows: Vec<CsvEntry> = table
        .iter()
        .map(|partition| CsvEntry { line: 1, partition: partition.clone(), flags: Vec::new() })
        .collect();
    let none = BTreeSet::new();
    let found = arithmetic(&rows, offset.saturating_add(TABLE_BYTES), &none);
    let found = found.into_iter().chain(as_a_whole(&rows, &none));
    found.filter(|found| found.level == FindingLevel::Stop).map(|found| found.text).collect()
}
