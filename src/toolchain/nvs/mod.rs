//! The non-volatile storage of ESP-IDF: a partition as entries, and entries as a partition.
//!
//! Source: ESP-IDF Programming Guide, "Non-Volatile Storage Library", version 2 of the format, and
//! the order in which `nvs_partition_gen.py` lays entries out. Works on bytes alone; must not touch
//! a file or a board.

mod change;
mod encoding;
mod parse;
mod stored_value;
mod terms;
mod write;

#[cfg(test)]
mod nvs_tests;

pub use change::{EntryChange, Planned, Rewritten, WhyNot, plan, rewrite};
pub use stored_value::StoredValue;
pub use terms::{name, of_file, value};

/// Bytes of a page, which is a sector of the flash.
const PAGE: usize = 4096;

/// Bytes of an entry.
const ENTRY: usize = 32;

/// Entries of a page.
const ENTRIES: usize = 126;

/// Where the states of a page's entries begin, and the entries themselves.
const STATES_AT: usize = 32;
const ENTRIES_AT: usize = 64;

/// Fewer pages make no partition that can be written to.
const LEAST_PAGES: usize = 3;

/// What a page without an index of its part is marked with.
const NO_CHUNK: u8 = 0xff;

/// The index of a blob's parts.
const BLOB_INDEX: u8 = 0x48;

/// The number of the namespace that names the others.
const NAMES: u8 = 0;

/// A value and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvsEntry {
    pub namespace: String,
    /// The key in it.
    pub key: String,
    pub value: StoredValue,
}

/// All that a partition holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NvsPartition {
    /// In the order in which they are stored.
    pub entries: Vec<NvsEntry>,
    /// Every namespace, those without an entry too.
    pub namespaces: Vec<String>,
    /// Entries that were damaged and left out, as the firmware leaves them out.
    pub damaged: u32,
}

/// Why bytes are no partition, or entries make none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NvsError {
    /// No length of a partition.
    #[error("{0} bytes are not an NVS partition: it needs at least three pages of 4,096 bytes")]
    Length(usize),
    /// No page can be read.
    #[error(
        "no page of it is one of NVS: the flash is encrypted, or it is another kind of partition"
    )]
    NoPages,
    /// Pages that can be read, and no entry in them that can.
    #[error("none of its entries can be read: it is encrypted, or damaged")]
    Encrypted,
    /// The format is of another version.
    #[error("it is in {0}; only version 2 (ESP-IDF v3.2 and newer) can be written")]
    Version(&'static str),
    /// A name that is no text.
    #[error("it holds a name that is not text (page {0}, entry {1})")]
    Name(usize, usize),
    /// A type that is not known.
    #[error("`{0}` is of the type 0x{1:02x}, which is unknown")]
    Kind(String, u8),
    #[error("there is no room for it: the partition has {of} entries of 32 bytes")]
    Full {
        /// All entries that may be taken.
        of: usize,
    },
    /// Too many namespaces.
    #[error("there can be at most 254 namespaces")]
    Namespaces,
}

/// The checksum of the format: CRC-32 as in zlib, begun with all ones.
fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut sum = 0_u32;
    for byte in parts.into_iter().flatten() {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let low = if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            sum = (sum >> 1) ^ low;
        }
    }
    !sum
}

/// The checksum of an entry, which stands in its second word; 0 for one that is too short.
fn entry_checksum(entry: &[u8]) -> u32 {
    checksum([entry.get(..4).unwrap_or_default(), entry.get(8..ENTRY).unwrap_or_default()])
}

/// The checksum of a page's head, which stands in its last word.
fn page_checksum(page: &[u8]) -> u32 {
    checksum([page.get(4..28).unwrap_or_default()])
}
