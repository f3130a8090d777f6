//! From entries to the bytes of a partition, laid out as ESP-IDF's generator does.

use super::encoding::Encoding;
use super::parse::VERSION_2;
use super::{
    BLOB_INDEX, ENTRIES, ENTRIES_AT, ENTRY, NAMES, NO_CHUNK, NvsError, NvsPartition, PAGE,
    STATES_AT, StoredValue, entry_checksum, page_checksum,
};
use crate::model::NvsKind;

/// The first word of the page that is written to, and of one before it.
const ACTIVE: u32 = 0xffff_fffe;
const FULL: u32 = 0xffff_fffc;

/// Namespaces that there may be.
const MOST_NAMESPACES: usize = 254;

/// Bytes of a name's place in an entry.
const NAME: usize = 16;

/// The names of a namespace and its number.
const NAME_KIND: u8 = 0x01;

/// A partition in the making.
struct Pages {
    bytes: Vec<u8>,
    /// The page that is written to.
    page: usize,
    /// Its first free entry.
    at: usize,
    /// Entries that are taken in all pages.
    used: usize,
}

/// Where a value goes.
struct EntrySlot<'a> {
    namespace: u8,
    kind: u8,
    chunk: u8,
    key: &'a str,
}

/// A partition of `bytes` bytes with what is stored, and how many entries are taken.
///
/// # Errors
/// When there is no room for it; one page has to stay free.
pub(super) fn write(store: &NvsPartition, bytes: usize) -> Result<(Vec<u8>, usize), NvsError> {
    let mut pages = Pages { bytes: vec![0xff; bytes], page: 0, at: 0, used: 0 };
    pages.begin();
    let mut names: Vec<&str> = Vec::new();
    for entry in &store.entries {
        let namespace = pages.namespace(&mut names, &entry.namespace)?;
        let place = EntrySlot {
            namespace,
            kind: Encoding::of(entry.value.kind).code,
            chunk: NO_CHUNK,
            key: &entry.key,
        };
        pages.value(place, &entry.value)?;
    }
    for name in &store.namespaces {
        pages.namespace(&mut names, name)?;
    }
    Ok((pages.bytes, pages.used))
}

/// Entries that may be taken in a partition of so many bytes.
pub(super) const fn entry_space(bytes: usize) -> usize {
    (bytes / PAGE).saturating_sub(1) * ENTRIES
}

impl Pages {
    fn begin(&mut self) {
        let number = u32::try_from(self.page).unwrap_or(u32::MAX);
        self.at = 0;
        self.put(0, &ACTIVE.to_le_bytes());
        self.put(4, &number.to_le_bytes());
        self.put(8, &[VERSION_2]);
        let sum = page_checksum(self.bytes.get(self.page * PAGE..).unwrap_or_default());
        self.put(28, &sum.to_le_bytes());
    }

    /// Puts bytes into the page.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        let from = self.page * PAGE + at;
        if let Some(there) = self.bytes.get_mut(from..from + bytes.len()) {
            there.copy_from_slice(bytes);
        }
    }

    fn turn(&mut self) -> Result<(), NvsError> {
        self.put(0, &FULL.to_le_bytes());
        if (self.page + 2) * PAGE >= self.bytes.len() {
            return Err(NvsError::Full { of: entry_space(self.bytes.len()) });
        }
        self.page += 1;
        self.begin();
        Ok(())
    }

    /// The number of a namespace, which is stored when it is new.
    fn namespace<'a>(&mut self, names: &mut Vec<&'a str>, name: &'a str) -> Result<u8, NvsError> {
        if let Some(known) = names.iter().position(|known| *known == name) {
            return u8::try_from(known + 1).map_err(|_| NvsError::Namespaces);
        }
        if names.len() == MOST_NAMESPACES {
            return Err(NvsError::Namespaces);
        }
        names.push(name);
        let number = u8::try_from(names.len()).map_err(|_| NvsError::Namespaces)?;
        let place = EntrySlot { namespace: NAMES, kind: NAME_KIND, chunk: NO_CHUNK, key: name };
        self.item(&place, &[number], &[])?;
        Ok(number)
    }

    fn value(&mut self, place: EntrySlot<'_>, value: &StoredValue) -> Result<(), NvsError> {
        match value.kind {
            NvsKind::Blob => self.blob(place, &value.bytes),
            NvsKind::String => self.data(&place, &value.bytes),
            _ => self.item(&place, &value.bytes, &[]),
        }
    }

    /// A blob in as many parts as pages make of it, then the index of the parts.
    fn blob(&mut self, mut place: EntrySlot<'_>, bytes: &[u8]) -> Result<(), NvsError> {
        let (mut rest, mut parts) = (bytes, 0_u8);
        loop {
            if self.at + 2 > ENTRIES {
                self.turn()?;
            }
            let (part, more) = rest.split_at(rest.len().min((ENTRIES - self.at - 1) * ENTRY));
            place.chunk = parts;
            self.data(&place, part)?;
            parts =
                parts.checked_add(1).ok_or(NvsError::Full { of: entry_space(self.bytes.len()) })?;
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        let [a, b, c, d] = length;
        let index = EntrySlot { kind: BLOB_INDEX, chunk: NO_CHUNK, ..place };
        self.item(&index, &[a, b, c, d, parts, 0], &[])
    }

    fn data(&mut self, place: &EntrySlot<'_>, data: &[u8]) -> Result<(), NvsError> {
        let full = NvsError::Full { of: entry_space(self.bytes.len()) };
        let [low, high] = u16::try_from(data.len()).map_err(|_| full)?.to_le_bytes();
        let [a, b, c, d] = super::checksum([data]).to_le_bytes();
        self.item(place, &[low, high, 0xff, 0xff, a, b, c, d], data)
    }

    /// One entry and the data behind it, which stay on one page.
    fn item(&mut self, place: &EntrySlot<'_>, about: &[u8], data: &[u8]) -> Result<(), NvsError> {
        let span = 1 + data.len().div_ceil(ENTRY);
        if self.at + span > ENTRIES {
            self.turn()?;
        }
        let full = NvsError::Full { of: entry_space(self.bytes.len()) };
        if span > ENTRIES {
            return Err(full);
        }
        let mut entry = [0xff; ENTRY];
        let head =
            [place.namespace, place.kind, u8::try_from(span).map_err(|_| full)?, place.chunk];
        let mut name = [0; NAME];
        name.iter_mut().zip(place.key.bytes()).for_each(|(to, from)| *to = from);
        let parts = head.iter().chain(&[0xff; 4]).chain(&name).chain(about);
        entry.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        let sum = entry_checksum(&entry).to_le_bytes();
        entry.iter_mut().skip(4).zip(sum).for_each(|(to, from)| *to = from);
        self.put(ENTRIES_AT + self.at * ENTRY, &entry);
        self.put(ENTRIES_AT + (self.at + 1) * ENTRY, data);
        for at in self.at..self.at + span {
            let states = self.page * PAGE + STATES_AT + at / 4;
            if let Some(states) = self.bytes.get_mut(states) {
                *states &= !(1 << (at % 4 * 2));
            }
        }
        self.at += span;
        self.used += span;
        Ok(())
    }
}
