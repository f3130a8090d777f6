//! What the first bytes of an image for an ESP chip tell about it.
//!
//! Owns the chips' numbers, addresses and the header's fields. Sources: ESP-IDF's
//! `esp_app_format.h`, `soc.h` of each chip, and `components/bootloader/Kconfig.projbuild`.
//! Reads bytes only; must not touch a file.

use std::ops::Range;

/// The first byte of a bootloader or an application.
pub const MAGIC: u8 = 0xe9;

/// Bytes of the header, after which the segments follow.
const HEADER: usize = 24;

/// Bytes before the content of each segment: its address and its length.
const SEGMENT: usize = 8;

/// More segments make no image.
const MOST_SEGMENTS: u8 = 16;

/// The first word of an application's description, at the beginning of its first segment.
const APP_DESCRIPTION: u32 = 0xabcd_5432;

/// The unit of flash sizes.
const MEGABYTE: u64 = 1 << 20;

/// A kind of ESP chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chip {
    /// As `esptool` calls it.
    pub name: &'static str,
    /// Its number in an image's header.
    pub id: u16,
    /// Where its ROM looks for the bootloader in flash.
    pub boot: u32,
    /// Addresses at which flash is mapped: data, then instructions.
    mapped: [(u32, u32); 2],
}

const fn chip(name: &'static str, id: u16, boot: u32, mapped: [(u32, u32); 2]) -> Chip {
    Chip { name, id, boot, mapped }
}

/// Where chips with one window for both have flash.
const LOW: [(u32, u32); 2] = [(0x4200_0000, 0x4400_0000), (0, 0)];

const C3: [(u32, u32); 2] = [(0x3c00_0000, 0x3d00_0000), (0x4200_0000, 0x4300_0000)];

/// The chips that are known.
const CHIPS: [Chip; 12] = [
    chip("esp32", 0, 0x1000, [(0x3f40_0000, 0x3f80_0000), (0x400c_2000, 0x4040_0000)]),
    chip("esp32s2", 2, 0x1000, [(0x3f00_0000, 0x3ff8_0000), (0x4008_0000, 0x4180_0000)]),
    chip("esp32c3", 5, 0, C3),
    chip("esp32s3", 9, 0, [(0x3c00_0000, 0x3e00_0000), (0x4200_0000, 0x4400_0000)]),
    chip("esp32c2", 12, 0, C3),
    chip("esp32c6", 13, 0, LOW),
    chip("esp32h2", 16, 0, LOW),
    chip("esp32p4", 18, 0x2000, [(0x4000_0000, 0x4c00_0000), (0, 0)]),
    chip("esp32c61", 20, 0, LOW),
    chip("esp32c5", 23, 0x2000, LOW),
    chip("esp32h21", 25, 0, LOW),
    chip("esp32h4", 28, 0x2000, LOW),
];

impl Chip {
    /// The chip of that name, however it is written: `esp32s3`, `ESP32-S3`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
        CHIPS.into_iter().find(|chip| chip.name == plain)
    }

    /// The chip with that number in an image's header.
    #[must_use]
    pub fn with_id(id: u16) -> Option<Self> {
        CHIPS.into_iter().find(|chip| chip.id == id)
    }

    fn maps(&self, address: u32) -> bool {
        self.mapped.iter().any(|(from, to)| (*from..*to).contains(&address))
    }
}

/// What an image is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageRole {
    /// It runs from flash.
    App,
    /// It runs from memory alone, as a bootloader does.
    Bootloader,
    /// The first bytes do not tell.
    Unknown,
}

/// The header of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageHeader {
    /// The chip's number.
    pub chip: u16,
    /// The flash size that it was made for; `None` when the field holds none.
    pub flash_bytes: Option<u64>,
    /// What it is for.
    pub role: ImageRole,
}

impl ImageHeader {
    /// Reads the header at the beginning of `image`; `None` when there is none.
    #[must_use]
    pub fn read(image: &[u8]) -> Option<Self> {
        let (&[magic, segments, _, speed_and_size], id) =
            (image.first_chunk::<4>()?, image.get(12..14)?);
        if magic != MAGIC || segments > MOST_SEGMENTS || image.len() < HEADER {
            return None;
        }
        let chip = u16::from_le_bytes(id.try_into().ok()?);
        let size = speed_and_size >> 4;
        let flash_bytes = (size < 8).then(|| MEGABYTE << size);
        Some(Self { chip, flash_bytes, role: role(image, segments, chip) })
    }
}

fn role(image: &[u8], segments: u8, chip: u16) -> ImageRole {
    if word(image, HEADER + SEGMENT) == Some(APP_DESCRIPTION) {
        return ImageRole::App;
    }
    let Some(chip) = Chip::with_id(chip) else { return ImageRole::Unknown };
    if segments == 0 {
        return ImageRole::Unknown;
    }
    let mut at = HEADER;
    for _ in 0..segments {
        let (Some(address), Some(length)) = (word(image, at), word(image, at + 4)) else {
            return ImageRole::Unknown;
        };
        if chip.maps(address) {
            return ImageRole::App;
        }
        let next = (at + SEGMENT).checked_add(length as usize);
        let Some(next) = next.filter(|next| *next <= image.len()) else {
            return ImageRole::Unknown;
        };
        at = next;
    }
    ImageRole::Bootloader
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Whether bytes look like ciphertext: no value stands out. Short ones never do.
#[must_use]
pub fn looks_encrypted(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 64 * 1024;
    const LEAST: usize = 1024;
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    if sample.len() < LEAST {
        return false;
    }
    let mut counts = [0_u32; 256];
    for byte in sample {
        counts[usize::from(*byte)] += 1;
    }
    // Each value comes about as often as any other: 6 deviations of a fair die.
    let mean = f64::from(u32::try_from(sample.len()).unwrap_or(u32::MAX)) / 256.0;
    let most = mean + 6.0 * mean.sqrt() + 1.0;
    counts.iter().all(|count| f64::from(*count) <= most)
}

/// The application that otadata makes start: its number among `slots`, from 0; `None` when it
/// chooses none.
#[must_use]
pub fn chosen_slot(otadata: &[u8], slots: u32) -> Option<u32> {
    const SECTOR: usize = 0x1000;
    let sequence = |copy: usize| {
        let number = word(otadata, copy * SECTOR)?;
        // Erased flash, and a number that nobody gives.
        (number != u32::MAX && number != 0).then_some(number)
    };
    let latest = [sequence(0), sequence(1)].into_iter().flatten().max()?;
    (latest - 1).checked_rem(slots)
}

/// What writing bytes there erases: whole sectors.
#[must_use]
pub fn erased(offset: u32, bytes: u64, sector: u32) -> Range<u64> {
    let (from, sector) = (u64::from(offset), u64::from(sector));
    let to = from.saturating_add(bytes).div_ceil(sector).saturating_mul(sector);
    from - from % sector..to
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image for `chip` with one segment at `address`.
    fn image(chip: &str, address: u32, size: u8, content: &[u8]) -> Vec<u8> {
        let id = Chip::named(chip).unwrap().id.to_le_bytes();
        let mut image = vec![MAGIC, 1, 2, size << 4, 0, 0, 0, 0, 0xee, 0, 0, 0, id[0], id[1]];
        image.resize(HEADER, 0);
        image.extend(address.to_le_bytes());
        image.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
        image.extend(content);
        image
    }

    #[test]
    fn a_header_tells_chip_size_and_role() {
        let app = image("esp32", 0x3f40_0020, 2, &[0; 64]);
        let reported =
            ImageHeader { chip: 0, flash_bytes: Some(4 * MEGABYTE), role: ImageRole::App };
        assert_eq!(ImageHeader::read(&app), Some(reported));
        let boot = image("esp32s3", 0x3fce_2810, 4, &[0; 64]);
        let reported =
            ImageHeader { chip: 9, flash_bytes: Some(16 * MEGABYTE), role: ImageRole::Bootloader };
        assert_eq!(ImageHeader::read(&boot), Some(reported));
        let described = image("esp32c3", 0x3fc8_0000, 0, &APP_DESCRIPTION.to_le_bytes());
        assert_eq!(ImageHeader::read(&described).unwrap().role, ImageRole::App);
        let cut = &boot[..40];
        assert_eq!(ImageHeader::read(cut).unwrap().role, ImageRole::Unknown);
        for none in [&b""[..], b"\xe9", b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0", &[MAGIC; 64]] {
            assert_eq!(ImageHeader::read(none), None);
        }
    }

    #[test]
    fn chips_are_known_however_they_are_written() {
        let boot = |name: &str| Chip::named(name).map(|chip| chip.boot);
        assert_eq!(
            (boot("ESP32-S2"), boot("esp32c5"), boot("esp32h2")),
            (Some(0x1000), Some(0x2000), Some(0))
        );
        assert_eq!((boot("linux"), boot("esp8266")), (None, None));
        assert_eq!(Chip::with_id(20).map(|chip| chip.name), Some("esp32c61"));
    }

    #[test]
    fn only_what_has_no_pattern_looks_encrypted() {
        let mut state = 1_u32;
        let noise = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 11) as u8
        });
        let noise: Vec<u8> = noise.take(8192).collect();
        assert!(looks_encrypted(&noise) && !looks_encrypted(&noise[..512]));
        assert!(!looks_encrypted(&[0xff; 8192]));
        assert!(!looks_encrypted("int app_main(void) { }\n".repeat(400).as_bytes()));
    }

    #[test]
    fn otadata_chooses_the_latest() {
        let mut data = vec![0xff; 0x2000];
        assert_eq!(chosen_slot(&data, 2), None);
        data[..4].copy_from_slice(&1_u32.to_le_bytes());
        assert_eq!(chosen_slot(&data, 2), Some(0));
        data[0x1000..0x1004].copy_from_slice(&4_u32.to_le_bytes());
        assert_eq!((chosen_slot(&data, 2), chosen_slot(&data, 0)), (Some(1), None));
    }

    #[test]
    fn whole_sectors_are_erased() {
        assert_eq!(erased(0xf000, 5000, 0x1000), 0xf000..0x1_1000);
        assert_eq!(erased(0x1010, 1, 0x1000), 0x1000..0x2000);
    }
}
