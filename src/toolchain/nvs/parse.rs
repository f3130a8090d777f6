//! From the bytes of a partition to its entries, as the firmware would load them.

use std::collections::BTreeMap;

use super::encoding::Encoding;
use super::{
    BLOB_INDEX, ENTRIES, ENTRIES_AT, ENTRY, LEAST_PAGES, NAMES, NvsEntry, NvsError, NvsPartition,
    PAGE, STATES_AT, StoredValue, entry_checksum, page_checksum,
};
use crate::model::NvsKind;

/// The first word of a page that is in use: active, full, or being freed.
const IN_USE: [u32; 3] = [0xffff_fffe, 0xffff_fffc, 0xffff_fff8];

/// The versions of the format.
const VERSION_1: u8 = 0xff;
pub(super) const VERSION_2: u8 = 0xfe;

/// An entry that is there.
const WRITTEN: u8 = 0b10;

/// One entry with what follows it.
#[derive(Debug, Clone, Copy)]
struct RawEntry<'a> {
    page: usize,
    at: usize,
    namespace: u8,
    kind: u8,
    chunk: u8,
    key: &'a [u8],
    /// The last eight bytes of the entry.
    about: &'a [u8],
    /// The entries after it that belong to it.
    rest: &'a [u8],
}

/// What was found in the pages.
#[derive(Default)]
struct Items<'a> {
    all: Vec<RawEntry<'a>>,
    damaged: u32,
}

/// Reads a partition.
///
/// # Errors
/// When it is none that this program could write again without losing something.
pub(super) fn parse(image: &[u8]) -> Result<NvsPartition, NvsError> {
    if !image.len().is_multiple_of(PAGE) || image.len() / PAGE < LEAST_PAGES {
        return Err(NvsError::Length(image.len()));
    }
    let items = items(&pages(image)?);
    if items.all.is_empty() && items.damaged > 0 {
        return Err(NvsError::Encrypted);
    }
    let mut names: BTreeMap<u8, String> = BTreeMap::new();
    let mut store = NvsPartition { damaged: items.damaged, ..NvsPartition::default() };
    for item in items.all.iter().filter(|item| item.namespace == NAMES) {
        let name = item.name()?;
        let number = item.about.first().copied().unwrap_or_default();
        if !store.namespaces.contains(&name) {
            store.namespaces.push(name.clone());
        }
        names.insert(number, name);
    }
    for item in items.all.iter().filter(|item| item.namespace != NAMES) {
        let Some(namespace) = names.get(&item.namespace) else {
            store.damaged += 1;
            continue;
        };
        if item.kind == Encoding::of(NvsKind::Blob).code {
            // A part; its index brings it.
            continue;
        }
        let key = item.name()?;
        let Some(value) = item.value(&key, &items.all)? else {
            store.damaged += 1;
            continue;
        };
        put(&mut store, NvsEntry { namespace: namespace.clone(), key, value });
    }
    Ok(store)
}

/// Of two entries of the same name and type, which a power failure leaves, the later one counts.
fn put(store: &mut NvsPartition, entry: NvsEntry) {
    let is_same = |known: &NvsEntry| {
        (&known.namespace, &known.key, known.value.kind)
            == (&entry.namespace, &entry.key, entry.value.kind)
    };
    store.entries.retain(|known| !is_same(known));
    store.entries.push(entry);
}

/// The pages in use with their numbers, by their age.
fn pages(image: &[u8]) -> Result<Vec<(usize, &[u8])>, NvsError> {
    let mut found: Vec<(u32, usize, &[u8])> = Vec::new();
    let mut is_erased = true;
    for (number, page) in image.chunks_exact(PAGE).enumerate() {
        is_erased = is_erased && page.iter().all(|byte| *byte == 0xff);
        let is_page = IN_USE.contains(&word(page, 0)) && word(page, 28) == page_checksum(page);
        if !is_page {
            continue;
        }
        match page.get(8) {
            Some(&VERSION_2) => found.push((word(page, 4), number, page)),
            Some(&VERSION_1) => return Err(NvsError::Version("version 1")),
            Some(_) | None => return Err(NvsError::Version("a newer version")),
        }
    }
    if found.is_empty() && !is_erased {
        return Err(NvsError::NoPages);
    }
    found.sort_by_key(|(age, ..)| *age);
    Ok(found.into_iter().map(|(_, number, page)| (number, page)).collect())
}

fn items<'a>(pages: &[(usize, &'a [u8])]) -> Items<'a> {
    let mut items = Items::default();
    for &(page, bytes) in pages {
        let mut at = 0;
        while at < ENTRIES {
            let span =
                if is_written(bytes, at) { item(page, bytes, at) } else { ParsedEntry::Nothing };
            at += match span {
                ParsedEntry::Item(item) => {
                    items.all.push(item);
                    1 + item.rest.len() / ENTRY
                }
                ParsedEntry::Damage => {
                    items.damaged += 1;
                    1
                }
                ParsedEntry::Nothing => 1,
            };
        }
    }
    items
}

enum ParsedEntry<'a> {
    Item(RawEntry<'a>),
    Damage,
    Nothing,
}

/// The entry at that place, if its checksum is right.
fn item(page: usize, bytes: &[u8], at: usize) -> ParsedEntry<'_> {
    let from = ENTRIES_AT + at * ENTRY;
    let Some(entry) = bytes.get(from..from + ENTRY) else { return ParsedEntry::Nothing };
    let span = usize::from(byte(entry, 2));
    let rest = bytes.get(from + ENTRY..from + span.max(1) * ENTRY);
    match rest {
        Some(rest) if span > 0 && word(entry, 4) == entry_checksum(entry) => {
            ParsedEntry::Item(RawEntry {
                page,
                at,
                namespace: byte(entry, 0),
                kind: byte(entry, 1),
                chunk: byte(entry, 3),
                key: entry.get(8..24).unwrap_or_default(),
                about: entry.get(24..).unwrap_or_default(),
                rest,
            })
        }
        Some(_) | None => ParsedEntry::Damage,
    }
}

fn is_written(page: &[u8], at: usize) -> bool {
    (byte(page, STATES_AT + at / 4) >> (at % 4 * 2)) & 0b11 == WRITTEN
}

impl RawEntry<'_> {
    fn name(&self) -> Result<String, NvsError> {
        let end = self.key.iter().position(|byte| *byte == 0).unwrap_or(self.key.len());
        let name = std::str::from_utf8(self.key.get(..end).unwrap_or_default());
        let is_name = |name: &&str| !name.is_empty() && end < self.key.len();
        let name = name.ok().filter(is_name).map(str::to_owned);
        name.ok_or(NvsError::Name(self.page, self.at))
    }

    /// The value; `None` when it is damaged.
    fn value(&self, key: &str, all: &[RawEntry<'_>]) -> Result<Option<StoredValue>, NvsError> {
        if self.kind == BLOB_INDEX {
            let bytes = self.blob(all);
            return Ok(bytes.map(|bytes| StoredValue { kind: NvsKind::Blob, bytes }));
        }
        let kind = Encoding::kind_of(self.kind);
        let kind = kind.ok_or_else(|| NvsError::Kind(key.to_owned(), self.kind))?;
        let bytes = match Encoding::of(kind).width {
            Some(width) => self.about.get(..width).map(<[u8]>::to_vec),
            None => self.data(),
        };
        Ok(bytes.map(|bytes| StoredValue { kind, bytes }))
    }

    /// What follows the entry; `None` when it is damaged.
    fn data(&self) -> Option<Vec<u8>> {
        let length = u16::from_le_bytes([byte(self.about, 0), byte(self.about, 1)]);
        let data = self.rest.get(..usize::from(length))?;
        (word(self.about, 4) == super::checksum([data])).then(|| data.to_vec())
    }

    /// The parts of a blob, put together.
    fn blob(&self, all: &[RawEntry<'_>]) -> Option<Vec<u8>> {
        let (count, first) = (byte(self.about, 4), byte(self.about, 5));
        let mut bytes = Vec::new();
        for chunk in 0..count {
            let number = first.checked_add(chunk)?;
            let is_part = |item: &&RawEntry<'_>| {
                (item.namespace, item.kind, item.chunk, item.key)
                    == (self.namespace, Encoding::of(NvsKind::Blob).code, number, self.key)
            };
            bytes.extend(all.iter().rev().find(is_part)?.data()?);
        }
        (bytes.len() as u64 == u64::from(word(self.about, 0))).then_some(bytes)
    }
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0xff)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|more| byte(bytes, at + more)))
}
