//! The memory of a board that is a process of this machine: its program and its settings, a file each.
//!
//! Owns what stands at which address, and what is behind none. Must not start or end the program.

#![expect(clippy::disallowed_methods, reason = "flashing and erasing write the board's memory")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{CANNOT_ERASE, CANNOT_READ, CANNOT_REWRITE, RewriteOrder};
use crate::files;
use crate::model::{FlashRegion, Partition, UserError};

/// Bytes written to the board between two reports of progress.
const CHUNK: usize = 16 * 1024;

/// The board's memory, in its folder.
const FLASH: &str = "flash.elf";

/// What the firmware stores in its `nvs` partition, in the same folder.
const SETTINGS: &str = "nvs.bin";

/// Flash address of a program in ESP-IDF's default partition table.
pub(super) const APP_OFFSET: u32 = 0x1_0000;

/// What the board's memory has: one file each.
const PARTS: [MemoryPart; 2] = [
    MemoryPart { label: "nvs", kind: "data", offset: 0x9000, bytes: 0x6000, file: SETTINGS },
    MemoryPart { label: "factory", kind: "app", offset: APP_OFFSET, bytes: 0x10_0000, file: FLASH },
];

/// What erased flash reads as.
const ERASED: u8 = 0xff;

/// A part of the memory, where ESP-IDF's default partition table has it.
struct MemoryPart {
    /// Its name, and its kind within `kind`.
    label: &'static str,
    kind: &'static str,
    offset: u32,
    bytes: u32,
    file: &'static str,
}

impl MemoryPart {
    const fn end(&self) -> u32 {
        self.offset + self.bytes
    }
}

/// Such a memory.
#[derive(Debug)]
pub struct HostMemory {
    /// What the screen calls the board.
    label: &'static str,
    folder: PathBuf,
}

impl HostMemory {
    /// The memory in that folder, which is made when something is written.
    #[must_use]
    pub fn new(label: &'static str, folder: PathBuf) -> Self {
        Self { label, folder }
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the program lies.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.folder.join(FLASH)
    }

    /// Whether there is a part of that name, or no name.
    ///
    /// # Errors
    /// When there is none.
    pub fn is_part(&self, label: Option<&str>) -> Result<(), UserError> {
        match label.filter(|label| PARTS.iter().all(|part| part.label != *label)) {
            None => Ok(()),
            Some(label) => {
                let why = format!("it has no partition `{label}`");
                let fix = "Erase `nvs`, `factory`, or everything.";
                Err(UserError::new(CANNOT_ERASE, why, fix))
            }
        }
    }

    /// Erases the part of that name, or all of it.
    ///
    /// # Errors
    /// When there is none of that name, or a file cannot be removed.
    pub fn erase(&self, label: Option<&str>) -> Result<(), UserError> {
        self.is_part(label)?;
        let is_meant = |part: &&MemoryPart| label.is_none_or(|label| label == part.label);
        for part in PARTS.iter().filter(is_meant) {
            match fs::remove_file(self.folder.join(part.file)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let why = format!("{}: {error}", part.file);
                    return Err(UserError::new(CANNOT_ERASE, why, "Make the folder writable."));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// What it is divided into; there is no table in the memory itself.
    #[must_use]
    pub fn partitions() -> Vec<Partition> {
        let named = |part: &MemoryPart| Partition {
            label: part.label.to_owned(),
            kind: part.kind.to_owned(),
            subtype: part.label.to_owned(),
            offset: part.offset,
            bytes: part.bytes,
        };
        PARTS.iter().map(named).collect()
    }

    /// The settings as the firmware stored them, the program as it was loaded, and erased flash in
    /// the rest of each.
    ///
    /// # Errors
    /// When the region is not inside one of [`HostMemory::partitions`], or cannot be read.
    pub fn read(&self, region: &FlashRegion) -> Result<Vec<u8>, UserError> {
        let to = region.offset.checked_add(region.bytes);
        let holds = |part: &&MemoryPart| {
            part.offset <= region.offset
                && to.is_some_and(|to| (part.offset..=part.end()).contains(&to))
        };
        let Some(part) = PARTS.iter().find(holds) else {
            let there = PARTS
                .each_ref()
                .map(|part| format!("`{}` (0x{:x} – 0x{:x})", part.label, part.offset, part.end()));
            let why = format!(
                "the {} holds only {}: nothing is behind other addresses, and it has no bootloader \
                 and no partition table",
                self.label,
                there.join(" and ")
            );
            return Err(UserError::new(CANNOT_READ, why, "Read within one of them."));
        };
        let held = match files::read(&self.folder.join(part.file), files::PROGRAM) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            held => held.map_err(|error| UserError::from_cause(CANNOT_READ, &error))?,
        };
        let start = (region.offset - part.offset) as usize;
        let mut content = held.get(start..).unwrap_or_default().to_vec();
        content.resize(region.bytes as usize, ERASED);
        Ok(content)
    }

    /// Writes what is made of a part.
    ///
    /// # Errors
    /// When the region is not the whole of a part that holds data, or cannot be read or written.
    pub fn rewrite(&self, order: &RewriteOrder) -> Result<(), UserError> {
        let failed = |why: String, fix: &str| UserError::new(CANNOT_REWRITE, why, fix);
        let region = &order.region;
        let is_meant = |part: &&MemoryPart| {
            (part.kind, part.offset, part.bytes) == ("data", region.offset, region.bytes)
        };
        let Some(part) = PARTS.iter().find(is_meant) else {
            let why = format!("the {} has no settings at 0x{:x}", self.label, region.offset);
            return Err(failed(why, "Name `nvs`."));
        };
        let held = self.read(region)?;
        let Some(content) = (order.remake)(&held) else { return Ok(()) };
        let total = content.len() as u64;
        (order.progress)(0, total);
        self.replace(part.file, &content)
            .map_err(|error| failed(error.to_string(), "Make the folder writable."))?;
        (order.progress)(total, total);
        match self.read(region)? == content {
            true => Ok(()),
            false => Err(failed("it holds something else now".to_owned(), "Try it again.")),
        }
    }

    /// Puts a file of the memory in place, whole.
    fn replace(&self, file: &str, content: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(file);
        let fresh = path.with_extension("new");
        fs::write(&fresh, content)?;
        fs::rename(&fresh, &path)
    }

    /// Writes the program in chunks. After each, `goes_on` is told how many bytes are written and
    /// says whether to go on.
    ///
    /// # Errors
    /// Why the file cannot be written; or it was told to stop.
    pub fn write_program(
        &self,
        content: &[u8],
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<(), String> {
        let failed = |error: io::Error| error.to_string();
        let path = self.program();
        fs::create_dir_all(&self.folder).map_err(failed)?;
        // A new file, because a program that still ends may have the old one open.
        let fresh = path.with_extension("new");
        let mut file = File::create(&fresh).map_err(failed)?;
        let mut done = 0;
        for part in content.chunks(CHUNK) {
            file.write_all(part).map_err(failed)?;
            done += part.len() as u64;
            if !goes_on(done) {
                return Err("it was stopped".to_owned());
            }
        }
        let executable = fs::Permissions::from_mode(0o700);
        file.set_permissions(executable).map_err(failed)?;
        drop(file);
        fs::rename(&fresh, path).map_err(failed)
    }
}
