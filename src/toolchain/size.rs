//! How much memory a program takes, read from its ELF file.
//!
//! Owns which section lies in which memory of a chip. Reads the headers of sections and the
//! partition table only. Source: ESP-IDF's linker scripts, whose sections are called the same from
//! v4.4 to v6 and in the Arduino core.

use std::path::{Path, PathBuf};

use object::read::ReadCache;
use object::{Architecture, Object, ObjectSection, SectionFlags, SectionKind, elf};

use super::partitions;
use crate::files;
use crate::model::{Memory, MemoryUse, ProgramSize};

/// A longer partition table is none, in bytes.
const MAX_TABLE: u64 = 1 << 16;

/// Words in the names of sections that only keep room for others.
const RESERVED: &[&str] = &["dummy", "reserved", "heap_start", "skip_"];

/// What a program runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Home {
    /// A chip; the image of its partition table.
    Chip(PathBuf),
    /// This computer; what it is called. Its sizes are no measure for a chip.
    Host(&'static str),
}

/// A section that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ElfSection {
    name: String,
    bytes: u64,
    /// Whether the file holds its content.
    is_stored: bool,
    /// Whether the program may write to it.
    is_written: bool,
}

/// What the program `file` takes. `None` when it cannot be read or is no program.
pub(super) fn of(file: &Path, home: &Home) -> Option<ProgramSize> {
    let sections = sections(file)?;
    let (uses, host) = match home {
        Home::Chip(table) => (on_chip(&sections, smallest_app(table)), String::new()),
        Home::Host(label) => (on_host(&sections), (*label).to_owned()),
    };
    let program = file.file_name()?.to_string_lossy().into_owned();
    (!uses.is_empty()).then_some(ProgramSize { program, host, uses })
}

/// Whether a program runs on this kind of computer, and on no chip.
pub(super) fn is_for_host(file: &Path) -> bool {
    let Ok(file) = files::open(file) else { return false };
    let cache = ReadCache::new(file);
    let kind = object::File::parse(&cache).map(|program| program.architecture());
    matches!(kind, Ok(Architecture::X86_64 | Architecture::Aarch64))
}

fn sections(file: &Path) -> Option<Vec<ElfSection>> {
    let cache = ReadCache::new(files::open(file).ok()?);
    let program = object::File::parse(&cache).ok()?;
    let loaded = program.sections().filter_map(|section| {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        sh_flags.contains(elf::SHF_ALLOC).then(|| ElfSection {
            name: section.name().unwrap_or_default().to_owned(),
            bytes: section.size(),
            is_stored: !matches!(
                section.kind(),
                SectionKind::UninitializedData | SectionKind::UninitializedTls
            ),
            is_written: sh_flags.contains(elf::SHF_WRITE),
        })
    });
    Some(loaded.collect())
}

/// The memories of a chip. The flash holds all that is stored, also what is copied to RAM when the
/// chip starts.
fn on_chip(sections: &[ElfSection], of: Option<u64>) -> Vec<MemoryUse> {
    let real = || {
        sections.iter().filter(|section| !RESERVED.iter().any(|word| section.name.contains(word)))
    };
    let in_ram = |beginnings: &[&str]| -> u64 {
        let named = |section: &&ElfSection| beginnings.iter().any(|b| section.name.starts_with(b));
        total(real().filter(named))
    };
    let flash = total(real().filter(|section| section.is_stored));
    let uses = [
        (Memory::Flash, flash, of),
        (Memory::Iram, in_ram(&[".iram"]), None),
        (Memory::Dram, in_ram(&[".dram", ".noinit"]), None),
        (Memory::Rtc, in_ram(&[".rtc", ".lp_"]), None),
        (Memory::Psram, in_ram(&[".ext_ram"]), None),
    ];
    used(uses)
}

fn on_host(sections: &[ElfSection]) -> Vec<MemoryUse> {
    let sum = |fits: &dyn Fn(&ElfSection) -> bool| -> u64 {
        total(sections.iter().filter(|section| fits(section)))
    };
    used([
        (Memory::Text, sum(&|section| section.is_stored && !section.is_written), None),
        (Memory::Data, sum(&|section| section.is_stored && section.is_written), None),
        (Memory::Bss, sum(&|section| !section.is_stored), None),
    ])
}

/// Bytes of sections together; a damaged program may say anything.
fn total<'a>(sections: impl Iterator<Item = &'a ElfSection>) -> u64 {
    sections.fold(0, |sum, section| sum.saturating_add(section.bytes))
}

/// Those of which anything is used.
fn used<const N: usize>(uses: [(Memory, u64, Option<u64>); N]) -> Vec<MemoryUse> {
    let uses = uses.into_iter().filter(|(_, bytes, _)| *bytes > 0);
    uses.map(|(memory, bytes, of)| MemoryUse { memory, bytes, of }).collect()
}

/// Bytes of the smallest partition for applications, into which every image has to fit.
fn smallest_app(table: &Path) -> Option<u64> {
    let image = files::read(table, MAX_TABLE).ok()?;
    let partitions = partitions::from_image(&image)?;
    let apps = partitions.iter().filter(|partition| partition.kind == "app");
    apps.map(|partition| u64::from(partition.bytes)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, bytes: u64, is_stored: bool) -> ElfSection {
        let is_written = !name.contains("text") && !name.contains("rodata");
        ElfSection { name: name.to_owned(), bytes, is_stored, is_written }
    }

    fn uses_of(uses: &[MemoryUse]) -> Vec<(Memory, u64)> {
        uses.iter().map(|used| (used.memory, used.bytes)).collect()
    }

    #[test]
    fn sections_of_a_chip_count_in_their_memory_and_kept_room_in_none() {
        let sections = [
            section(".rtc.text", 0x10, true),
            section(".rtc.dummy", 0x100, false),
            section(".rtc_slow_reserved", 0x18, false),
            section(".iram0.vectors", 0x400, true),
            section(".iram0.text", 0x8000, true),
            section(".dram0.dummy", 0x8400, false),
            section(".dram0.data", 0x2000, true),
            section(".noinit", 0x20, false),
            section(".dram0.bss", 0x1000, false),
            section(".flash.appdesc", 0x100, true),
            section(".flash_rodata_dummy", 0x2_0000, false),
            section(".flash.rodata", 0x6000, true),
            section(".flash.rodata_noload", 0x9, false),
            section(".flash.text", 0x1_0000, true),
            section(".ext_ram.bss", 0x40, false),
            section(".dram0.heap_start", 0, false),
        ];
        let uses = on_chip(&sections, Some(0x10_0000));
        let flash = 0x10 + 0x400 + 0x8000 + 0x2000 + 0x100 + 0x6000 + 0x1_0000;
        assert_eq!(
            uses_of(&uses),
            [
                (Memory::Flash, flash),
                (Memory::Iram, 0x8400),
                (Memory::Dram, 0x3020),
                (Memory::Rtc, 0x10),
                (Memory::Psram, 0x40),
            ]
        );
        assert_eq!((uses[0].of, uses[1].of), (Some(0x10_0000), None));
    }

    #[test]
    fn a_program_is_measured_and_what_is_none_is_not() {
        let file =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/panic/crash-xtensa.elf"));
        let size = of(file, &Home::Host("virtual board")).unwrap();
        assert_eq!(
            (size.program.as_str(), size.host.as_str()),
            ("crash-xtensa.elf", "virtual board")
        );
        assert_eq!(uses_of(&size.uses), [(Memory::Text, 0x6e), (Memory::Bss, 4)]);
        let none = |path: &Path| assert_eq!(of(path, &Home::Host("x")), None, "{}", path.display());
        none(Path::new("/no/such/file"));
        assert!(is_for_host(&std::env::current_exe().unwrap()) && !is_for_host(file));
        none(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
        none(Path::new(env!("CARGO_MANIFEST_DIR")));
    }

    #[test]
    fn the_smallest_partition_for_applications_is_the_measure() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("partition-table.bin");
        assert_eq!(smallest_app(&table), None);
        let entry = |kind: u8, offset: u32, bytes: u32| {
            let mut entry = vec![0xaa, 0x50, kind, 0];
            entry.extend(offset.to_le_bytes());
            entry.extend(bytes.to_le_bytes());
            entry.resize(32, 0);
            entry
        };
        let image = [
            entry(1, 0x9000, 0x6000),
            entry(0, 0x1_0000, 0x10_0000),
            entry(0, 0x11_0000, 0x8_0000),
        ];
        std::fs::write(&table, image.concat()).unwrap();
        assert_eq!(smallest_app(&table), Some(0x8_0000));
    }
}
