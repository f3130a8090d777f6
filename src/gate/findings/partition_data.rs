//! What a partition holds, how much, and what a board loses under another table.

use std::collections::HashMap;
use std::ops::Range;

use crate::model::Partition;
use crate::toolchain::flash_map::addresses;
use crate::toolchain::partition_csv::{is_app, is_data};

/// E.g. `4 MB`.
pub(super) fn amount(bytes: u64) -> String {
    match bytes >> 20 {
        megabytes if megabytes > 0 && bytes.is_multiple_of(1 << 20) => format!("{megabytes} MB"),
        _ => format!("{bytes} bytes"),
    }
}

/// Whether a partition holds what nobody can make again: settings, keys, files.
pub(super) fn keeps_data(partition: &Partition) -> bool {
    const MADE_AGAIN: [&str; 5] = ["ota", "phy", "coredump", "esphttpd", "tee_ota"];
    const PROGRAMS: [&str; 4] = ["bootloader", "partition_table", "0x02", "0x03"];
    let is_program = is_app(&partition.kind) || PROGRAMS.contains(&partition.kind.as_str());
    let is_made_again =
        is_data(&partition.kind) && MADE_AGAIN.contains(&partition.subtype.as_str());
    !is_program && !is_made_again
}

/// Entries by their names; of two with one name the first.
pub(super) fn by_label<'a>(
    entries: impl Iterator<Item = &'a Partition>,
) -> HashMap<&'a str, &'a Partition> {
    let mut found = HashMap::new();
    for entry in entries {
        found.entry(entry.label.as_str()).or_insert(entry);
    }
    found
}

/// What a board with the table `old` loses under `new`: the label, and what happens to it.
pub(super) fn lost<'a>(
    old: impl Iterator<Item = &'a Partition>,
    new: impl Iterator<Item = &'a Partition> + Clone,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let labels = by_label(new.clone());
    let mut places: HashMap<Range<u64>, &Partition> = HashMap::new();
    for part in new {
        places.entry(addresses(part)).or_insert(part);
    }
    for was in old.filter(|was| keeps_data(was)) {
        let label = &was.label;
        let text = match labels.get(label.as_str()) {
            None => match places.get(&addresses(was)) {
                Some(other) if other.subtype == was.subtype => {
                    format!("renames `{label}` to `{}`: what it holds is not found", other.label)
                }
                _ => format!("removes `{label}`: the stored data is lost"),
            },
            Some(now) if now.offset != was.offset => format!(
                "moves `{label}` from 0x{:x} to 0x{:x}: the stored data is lost",
                was.offset, now.offset
            ),
            Some(now) if now.bytes < was.bytes => format!(
                "shrinks `{label}` from 0x{:x} to 0x{:x} bytes: the data stored at the end is lost",
                was.bytes, now.bytes
            ),
            Some(now) if (&now.kind, &now.subtype) != (&was.kind, &was.subtype) => format!(
                "makes `{label}` {} {} instead of {} {}: the stored data is lost",
                now.kind, now.subtype, was.kind, was.subtype
            ),
            Some(_) => continue,
        };
        found.push((label.clone(), text));
    }
    found
}
