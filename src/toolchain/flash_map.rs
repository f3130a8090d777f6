//! Where things lie in the flash of an ESP chip, and what of it bytes at an address touch.
//!
//! The one computation behind what the screen says of a flash, what is checked and what has to be
//! typed. Computes with numbers only; must not look at the name of a file.

use std::ops::Range;

use super::esp_image::{Chip, erased};
use crate::model::{FlashArea, FlashPlan, Landing, Partition};

/// Flash is erased in sectors of this many bytes.
pub const SECTOR: u32 = 0x1000;

/// Where the table lies unless the project says otherwise.
pub const TABLE_OFFSET: u32 = 0x8000;
/// Bytes that a table has.
pub const TABLE_BYTES: u32 = 0x1000;

/// The division of a chip's flash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlashMap {
    /// Where the partition table lies. All that is before it belongs to the bootloader.
    pub table: u32,
    /// By rising offset.
    pub partitions: Vec<Partition>,
}

impl FlashMap {
    /// The flash of a chip whose table lies at `table`; at the usual place when that cannot be.
    #[must_use]
    pub fn new(chip: &str, table: Option<u32>, mut partitions: Vec<Partition>) -> Self {
        let boot = Chip::named(chip).map_or(0, |chip| chip.boot);
        let may_be = |table: &u32| *table > boot && table.is_multiple_of(SECTOR);
        let table = table.filter(may_be).unwrap_or(TABLE_OFFSET);
        partitions.sort_by_key(|partition| partition.offset);
        Self { table, partitions }
    }

    /// Every area and its addresses.
    fn areas(&self) -> impl Iterator<Item = (FlashArea, Range<u64>)> {
        let table = u64::from(self.table);
        let fixed = [
            (FlashArea::Bootloader, 0..table),
            (FlashArea::PartitionTable, table..table + u64::from(TABLE_BYTES)),
        ];
        // A table may name the bootloader and itself.
        let is_named =
            move |partition: &&Partition| addresses(partition).end > table + u64::from(TABLE_BYTES);
        let named =
            self.partitions.iter().filter(is_named).map(|partition| {
                (FlashArea::Partition(partition.label.clone()), addresses(partition))
            });
        fixed.into_iter().chain(named)
    }

    /// What bytes of that range belong to, by rising address.
    #[must_use]
    pub fn touched(&self, range: &Range<u64>) -> Vec<FlashArea> {
        if range.is_empty() {
            return Vec::new();
        }
        let hit = |area: &Range<u64>| area.start < range.end && area.end > range.start;
        self.areas().filter(|(_, area)| hit(area)).map(|(name, _)| name).collect()
    }

    /// The area that holds an address, and its end.
    #[must_use]
    pub fn holding(&self, address: u64) -> Option<(FlashArea, u64)> {
        let mut areas = self.areas();
        areas.find(|(_, area)| area.contains(&address)).map(|(name, area)| (name, area.end))
    }

    /// The partition of that label.
    #[must_use]
    pub fn partition(&self, label: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.label == label)
    }

    /// Where each image of a plan lands, and what is erased for it.
    #[must_use]
    pub fn landings(&self, plan: &FlashPlan) -> Vec<Landing> {
        plan.images
            .iter()
            .map(|image| {
                let (offset, end) =
                    (u64::from(image.offset), u64::from(image.offset).saturating_add(image.bytes));
                let (place, limit) = match self.holding(offset) {
                    Some((area, limit)) => (area.name().to_owned(), limit),
                    None => (String::new(), offset),
                };
                let range = match image.same {
                    true => offset..offset,
                    false => erased(image.offset, image.bytes, SECTOR),
                };
                Landing {
                    file: image.file.clone(),
                    place,
                    erased_from: address(range.start),
                    erased_to: address(range.end),
                    overflow: end.saturating_sub(limit),
                    touches: self.touched(&range),
                }
            })
            .collect()
    }
}

/// The addresses of a partition.
#[must_use]
pub fn addresses(partition: &Partition) -> Range<u64> {
    let from = u64::from(partition.offset);
    from..from + u64::from(partition.bytes)
}

fn address(of: u64) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BoardInfo, BuildId, ContentHash, FlashImage, Timestamp};
    use crate::toolchain::partitions::from_csv;

    const CSV: &str = "nvs, data, nvs, 0x9000, 24K,\nphy_init, data, phy, , 4K,\n\
                       factory, app, factory, , 1M,\n";

    fn landings(chip: &str, images: &[(u32, u64)]) -> Vec<(String, u64, Vec<String>)> {
        let images = images.iter().map(|(offset, bytes)| FlashImage {
            file: "build/app.bin".into(),
            offset: *offset,
            bytes: *bytes,
            hash: ContentHash::of(b""),
            same: false,
        });
        let board =
            BoardInfo { label: "b".into(), chip: chip.into(), port: "p".into(), simulated: false };
        let plan = FlashPlan::new(board, images.collect(), BuildId(1), Timestamp(0));
        let map = FlashMap::new(chip, None, from_csv(CSV).unwrap());
        let reported = |landing: Landing| {
            let touches = landing.touches.iter().map(|area| area.name().to_owned()).collect();
            (landing.place, landing.overflow, touches)
        };
        map.landings(&plan).into_iter().map(reported).collect()
    }

    #[test]
    fn images_are_set_against_their_areas() {
        let found = landings(
            "esp32",
            &[(0x1000, 0x6800), (0x8000, 0xc00), (0x1_0000, 0x10_0001), (0x90_0000, 1)],
        );
        let reported: Vec<_> = found.iter().map(|l| (l.0.as_str(), l.1)).collect();
        assert_eq!(reported, [("bootloader", 0), ("partition table", 0), ("factory", 1), ("", 1)]);
    }

    #[test]
    fn whole_sectors_count_and_not_names() {
        let found = landings(
            "esp32",
            &[(0xf000, 5000), (0x8000, 5120), (0, 0x2_0000), (0x7000, 0x1001), (0x9000, 0x6000)],
        );
        let touches: Vec<String> = found.iter().map(|l| l.2.join(" + ")).collect();
        assert_eq!(
            touches,
            [
                "phy_init + factory",
                "partition table + nvs",
                "bootloader + partition table + nvs + phy_init + factory",
                "bootloader + partition table",
                "nvs"
            ]
        );
    }

    #[test]
    fn a_table_elsewhere_moves_the_end_of_the_bootloader() {
        let map = FlashMap::new("esp32", Some(0x1_0000), Vec::new());
        assert_eq!(map.touched(&(0xc000..0xd000)), [FlashArea::Bootloader]);
        for wrong in [0x1000, 0x8100, 0] {
            assert_eq!(FlashMap::new("esp32", Some(wrong), Vec::new()).table, TABLE_OFFSET);
        }
    }
}
