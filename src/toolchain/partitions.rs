//! The partition table of an ESP chip, as an image or as CSV, and what a flash does to it.
//!
//! Source: ESP-IDF Programming Guide, "Partition Tables". Reads bytes only; must not touch a file.

use crate::model::{ErasePlan, FlashImage, FlashPlan, Landing, Partition};

/// Bytes of one entry of the image.
const ENTRY: usize = 32;

/// First bytes of an entry.
const MAGIC: [u8; 2] = [0xaa, 0x50];

/// Flash is erased in sectors of this many bytes.
const SECTOR: u32 = 0x1000;

/// Where the table lies unless the project says otherwise, and how long it may be.
pub const TABLE_OFFSET: u32 = 0x8000;
const TABLE_BYTES: u32 = 0x1000;

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

/// Reads a table as CSV; `None` when a line cannot be read. Entries without an offset follow the
/// one before, applications at the next multiple of 64 KiB.
#[must_use]
pub fn from_csv(text: &str) -> Option<Vec<Partition>> {
    let mut partitions: Vec<Partition> = Vec::new();
    let mut next = TABLE_OFFSET + TABLE_BYTES;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let mut fields = line.split(',').map(str::trim);
        let mut field = || fields.next().unwrap_or_default().to_owned();
        let (label, kind, subtype, offset, bytes) = (field(), field(), field(), field(), field());
        let offset = match offset.as_str() {
            "" => {
                let align: u32 = if kind == "app" || kind == "0" { 0x1_0000 } else { SECTOR };
                next.checked_next_multiple_of(align)?
            }
            offset => number(offset)?,
        };
        let bytes = number(&bytes)?;
        next = offset.checked_add(bytes)?;
        partitions.push(Partition { label, kind, subtype, offset, bytes });
    }
    partitions.sort_by_key(|partition| partition.offset);
    (!partitions.is_empty()).then_some(partitions)
}

/// `0x1000`, `4096`, `4K` or `1M`.
fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix('k') {
        Some(digits) => (digits, 1024),
        None => match lower.strip_suffix('m') {
            Some(digits) => (digits, 1024 * 1024),
            None => (lower.as_str(), 1),
        },
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    number.checked_mul(unit)
}

fn kind_name(kind: u8) -> String {
    match kind {
        0 => "app".to_owned(),
        1 => "data".to_owned(),
        other => format!("0x{other:02x}"),
    }
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
    let hit = |part: &&Partition| part.offset < to && part.offset.saturating_add(part.bytes) > from;
    let names: Vec<&str> = partitions.iter().filter(hit).map(|part| part.label.as_str()).collect();
    vec![Landing {
        file: String::new(),
        place: names.join(", "),
        erased_from: from,
        erased_to: to,
        overflow: 0,
    }]
}

/// Where each image of a plan lands, and what is erased for it.
#[must_use]
pub fn landings(plan: &FlashPlan, partitions: &[Partition]) -> Vec<Landing> {
    plan.images.iter().map(|image| landing(image, partitions)).collect()
}

fn landing(image: &FlashImage, partitions: &[Partition]) -> Landing {
    let end = u64::from(image.offset) + image.bytes;
    let erased_from = image.offset - image.offset % SECTOR;
    let sector = u64::from(SECTOR);
    let erased_to = u32::try_from(end.div_ceil(sector) * sector).unwrap_or(u32::MAX);
    let (place, limit) = match image.offset {
        TABLE_OFFSET => ("partition table".to_owned(), u64::from(TABLE_OFFSET + TABLE_BYTES)),
        0..TABLE_OFFSET => ("bootloader".to_owned(), u64::from(TABLE_OFFSET)),
        offset => {
            let ends = |p: &Partition| u64::from(p.offset) + u64::from(p.bytes);
            let held = |p: &&Partition| p.offset <= offset && u64::from(offset) < ends(p);
            match partitions.iter().find(held) {
                Some(partition) => (partition.label.clone(), ends(partition)),
                None => (String::new(), u64::from(offset)),
            }
        }
    };
    let file = image.file.clone();
    Landing { file, place, erased_from, erased_to, overflow: end.saturating_sub(limit) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BoardInfo, BuildId, ContentHash, Timestamp};

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

    #[test]
    fn images_are_set_against_their_partitions() {
        let image = |offset, bytes| FlashImage {
            file: format!("build/{offset:x}.bin"),
            offset,
            bytes,
            hash: ContentHash::of(b""),
        };
        let board = BoardInfo {
            label: "b".into(),
            chip: "esp32".into(),
            port: "p".into(),
            simulated: false,
        };
        let images = vec![
            image(0x1000, 0x6800),
            image(0x8000, 0xc00),
            image(0x1_0000, 0x10_0001),
            image(0x90_0000, 1),
        ];
        let (build, built_at) = (BuildId(1), Timestamp(0));
        let plan = FlashPlan { board, images, touches_boot: true, build, built_at };
        let found = landings(&plan, &from_csv(CSV).unwrap());
        let told: Vec<_> = found.iter().map(|l| (l.place.as_str(), l.overflow)).collect();
        assert_eq!(told, [("bootloader", 0), ("partition table", 0), ("factory", 1), ("", 1)]);
        assert_eq!((found[0].erased_from, found[0].erased_to), (0x1000, 0x8000));
    }
}
