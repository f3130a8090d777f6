//! The partition table of an ESP chip, as an image or as CSV, and what an erasing does to it.
//!
//! Source: ESP-IDF Programming Guide, "Partition Tables". Reads bytes only; must not touch a file.

use super::flash_map::{TABLE_BYTES, TABLE_OFFSET, addresses};
use super::partition_csv;
use crate::model::{ErasePlan, FlashArea, Landing, Partition};

/// Bytes of one entry of the image.
const ENTRY: usize = 32;

/// First bytes of an entry.
const MAGIC: [u8; 2] = [0xaa, 0x50];

/// Reads the image of a table; `None` when it is none.
#[must_use]
pub fn from_image(bytes: &[u8]) -> Option<Vec<Partition>> {
    let mut partitions = Vec::new();
    for entry in bytes.chunks_exact(ENTRY) {
        if !entry.starts_with(&MAGIC) {
            break;
        }
        let number = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(entry.get(at..at + 4)?.try_into().ok()?))
        };
        let (kind, subtype) = (*entry.get(2)?, *entry.get(3)?);
        let label = entry.get(12..28)?;
        let label = label.split(|&byte| byte == 0).next().unwrap_or_default();
        partitions.push(Partition {
            label: crate::text::sanitize::decode(label).into_owned(),
            kind: kind_name(kind),
            subtype: subtype_name(kind, subtype),
            offset: number(4)?,
            bytes: number(8)?,
        });
    }
    partitions.sort_by_key(|partition| partition.offset);
    (!partitions.is_empty()).then_some(partitions)
}

/// Reads a table as CSV whose image lies at the usual place; `None` when a line cannot be read.
#[must_use]
pub fn from_csv(text: &str) -> Option<Vec<Partition>> {
    let (rows, faults) = partition_csv::read(text, TABLE_OFFSET + TABLE_BYTES);
    let mut partitions: Vec<Partition> = rows.into_iter().map(|row| row.partition).collect();
    partitions.sort_by_key(|partition| partition.offset);
    (faults.is_empty() && !partitions.is_empty()).then_some(partitions)
}

fn kind_name(kind: u8) -> String {
    let known = ["app", "data", "bootloader", "partition_table"].get(usize::from(kind));
    known.map_or_else(|| format!("0x{kind:02x}"), |name| (*name).to_owned())
}

fn subtype_name(kind: u8, subtype: u8) -> String {
    let name = match (kind, subtype) {
        (0, 0) => "factory",
        (0, 0x20) => "test",
        (0, 0x10..=0x1f) => return format!("ota_{}", subtype - 0x10),
        (1, 0) => "ota",
        (1, 1) => "phy",
        (1, 2) => "nvs",
        (1, 3) => "coredump",
        (1, 4) => "nvs_keys",
        (1, 5) => "efuse",
        (1, 0x81) => "fat",
        (1, 0x82) => "spiffs",
        (1, 0x83) => "littlefs",
        _ => return format!("0x{subtype:02x}"),
    };
    name.to_owned()
}

/// The table of a project, and the file it was found in: the image `own` if it is named, else the
/// one that the last build left, else the project's `partitions.csv`. `read` gives a file of the
/// project.
pub fn of_project(
    own: &str,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<(String, Vec<Partition>)> {
    let images = [own, "build/partition_table/partition-table.bin", ".pio/firmhand/partitions.bin"];
    let from_images =
        images.iter().find_map(|file| Some(((*file).to_owned(), from_image(&read(file)?)?)));
    from_images.or_else(|| {
        let text = String::from_utf8(read("partitions.csv")?).ok()?;
        Some(("partitions.csv".to_owned(), from_csv(&text)?))
    })
}

/// What an erasing does to the partitions.
#[must_use]
pub fn erased(plan: &ErasePlan, partitions: &[Partition]) -> Vec<Landing> {
    let (from, to) = match &plan.region {
        None => (0, u32::MAX),
        Some(region) => (region.offset, region.offset.saturating_add(region.bytes)),
    };
    let range = u64::from(from)..u64::from(to);
    let hit = |part: &&Partition| {
        let held = addresses(part);
        held.start < range.end && held.end > range.start
    };
    let names: Vec<&str> = partitions.iter().filter(hit).map(|part| part.label.as_str()).collect();
    let place = names.join(", ");
    let touches = names.iter().map(|label| FlashArea::Partition((*label).to_owned())).collect();
    vec![Landing {
        file: String::new(),
        place,
        erased_from: from,
        erased_to: to,
        overflow: 0,
        touches,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One entry as `gen_esp32part.py` writes it.
    fn entry(kind: u8, subtype: u8, offset: u32, bytes: u32, label: &str) -> Vec<u8> {
        let mut entry = vec![0xaa, 0x50, kind, subtype];
        entry.extend_from_slice(&offset.to_le_bytes());
        entry.extend_from_slice(&bytes.to_le_bytes());
        let mut name = [0; 16];
        name[..label.len()].copy_from_slice(label.as_bytes());
        entry.extend_from_slice(&name);
        entry.extend_from_slice(&[0; 4]);
        entry
    }

    const CSV: &str = "# Name, Type, SubType, Offset, Size, Flags\nnvs, data, nvs, 0x9000, 24K,\n\
                       phy_init, data, phy, , 4K,\nfactory, app, factory, , 1M,\n";

    #[test]
    fn image_and_csv_of_the_same_table_read_alike() {
        let mut image = entry(1, 2, 0x9000, 0x6000, "nvs");
        image.extend(entry(1, 1, 0xf000, 0x1000, "phy_init"));
        image.extend(entry(0, 0, 0x1_0000, 0x10_0000, "factory"));
        image.extend([0xeb; 32]);
        image.resize(0xc00, 0xff);
        assert_eq!(from_image(&image), from_csv(CSV));
        assert_eq!(from_image(b"no table at all, whatever the length may be"), None);
        assert_eq!(from_csv("nvs, data, nvs, 0xzz, 24K"), None);
    }
}
