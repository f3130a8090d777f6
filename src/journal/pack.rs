//! The form of the file that holds contents, one entry behind the other.
//!
//! An entry is `blob <SHA-256> <bytes>`, a line feed, the content, a line feed. Reads, and never
//! writes. A program that was killed, or a disk that forgot, may leave a torn or overwritten entry
//! anywhere: it is stepped over, and what follows is found again.

use std::fs::File;
use std::io;

use memchr::memmem;

use super::reader::read_up_to;
use crate::model::ContentHash;

/// Where a content lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackSlot {
    /// Of its first byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

impl PackSlot {
    /// The first byte behind it.
    pub const fn end(self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

const MAGIC: &[u8] = b"blob ";

/// Longest header: magic, 64 digits, a space, the 20 digits of the largest number, a line feed.
const MAX_HEADER: usize = 5 + 64 + 1 + 20 + 1;

/// Bytes that are searched at once for the next entry.
const BLOCK: usize = 64 * 1024;

/// What stands before a content.
pub(super) fn header(hash: &ContentHash, bytes: usize) -> String {
    format!("blob {hash} {bytes}\n")
}

/// Hands every whole entry from `from` on to `found`; the later one counts when a content is there
/// twice. Returns where to go on: behind the last entry, or before the first that is not whole yet.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn entries(
    file: &File,
    from: u64,
    mut found: impl FnMut(ContentHash, PackSlot),
) -> io::Result<u64> {
    let len = file.metadata()?.len();
    let (mut at, mut is_lost) = (from, false);
    let mut unfinished = None;
    while at < len {
        if let Some((hash, place)) = entry_at(file, at)? {
            if let Some(behind) = behind(file, &hash, place, len, is_lost)? {
                found(hash, place);
                (at, is_lost) = (behind, false);
                continue;
            }
            if place.end() > len {
                // It is being written, or was never finished: the end of the file cannot tell.
                unfinished.get_or_insert(at);
            }
        }
        match next_header(file, at + 1, len)? {
            Some(next) => (at, is_lost) = (next, true),
            None => break,
        }
    }
    Ok(unfinished.unwrap_or(at))
}

/// The bytes of a content, be they right or not.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read(file: &File, place: PackSlot) -> io::Result<Vec<u8>> {
    // Never more than the file has, whatever a damaged header says.
    let bytes = place.bytes.min(file.metadata()?.len().saturating_sub(place.offset));
    let mut content = vec![0; usize::try_from(bytes).unwrap_or(0)];
    let got = read_up_to(file, &mut content, place.offset)?;
    content.truncate(got);
    Ok(content)
}

fn entry_at(file: &File, at: u64) -> io::Result<Option<(ContentHash, PackSlot)>> {
    let mut head = [0; MAX_HEADER];
    let got = read_up_to(file, &mut head, at)?;
    let head = head.get(..got).unwrap_or_default();
    let parsed = parse(head);
    Ok(parsed.map(|(hash, bytes, length)| (hash, PackSlot { offset: at + length, bytes })))
}

/// Hash, length of the content, and length of the header.
fn parse(head: &[u8]) -> Option<(ContentHash, u64, u64)> {
    let line = head.strip_prefix(MAGIC)?.split(|&byte| byte == b'\n').next()?;
    let length = MAGIC.len() + line.len() + 1;
    if length > head.len() {
        return None;
    }
    let (hash, bytes) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    Some((hash.parse().ok()?, bytes.parse().ok()?, length as u64))
}

/// Where the entry ends whose header says `place`; `None` when no such entry stands there. What
/// follows it tells; where that is damaged, or the place was only searched for and might lie inside
/// of some content, the content itself does.
fn behind(
    file: &File,
    hash: &ContentHash,
    place: PackSlot,
    len: u64,
    is_lost: bool,
) -> io::Result<Option<u64>> {
    if place.end() > len {
        return Ok(None);
    }
    let mut next = [0; 1 + MAGIC.len()];
    let got = read_up_to(file, &mut next, place.end())?;
    let (has_line_feed, is_followed) = match next.get(..got).and_then(<[u8]>::split_first) {
        Some((b'\n', next)) => (true, MAGIC.starts_with(next)),
        _ => (false, false),
    };
    let content = read(file, place)?;
    // A torn entry may end, by its header, just where one that was written behind it ends.
    let may_hold_another = memmem::find(&content, MAGIC).is_some();
    let is_certain = is_followed && !is_lost && !may_hold_another;
    let is_entry = is_certain || ContentHash::of(&content) == *hash;
    Ok(is_entry.then_some(place.end() + u64::from(has_line_feed)))
}

/// Where the next header stands, from `from` on.
fn next_header(file: &File, from: u64, len: u64) -> io::Result<Option<u64>> {
    let mut block = vec![0; BLOCK];
    let mut start = from;
    while start < len {
        let got = read_up_to(file, &mut block, start)?;
        let bytes = block.get(..got).unwrap_or_default();
        for position in memmem::find_iter(bytes, MAGIC) {
            let candidate = start + position as u64;
            if entry_at(file, candidate)?.is_some() {
                return Ok(Some(candidate));
            }
        }
        if got < block.len() {
            return Ok(None);
        }
        // The word may lie across two blocks.
        start += (BLOCK - MAGIC.len()) as u64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_header_is_whole_with_its_line_feed() {
        let hash = ContentHash::of(b"x");
        let whole = header(&hash, 12);
        let length = whole.len() as u64;
        assert_eq!(parse(whole.as_bytes()), Some((hash, 12, length)));
        assert_eq!(parse(format!("{whole}blob ").as_bytes()), Some((hash, 12, length)));
        assert_eq!(parse(whole.trim_end().as_bytes()), None, "the length may go on");
        assert_eq!(parse(b"blob x 12\n"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn a_header_is_found_behind_anything() {
        let head = header(&ContentHash::of(b"x"), 12);
        for before in [0, 1, BLOCK - 80, BLOCK - 4, BLOCK - 1, BLOCK, 2 * BLOCK + 7] {
            let mut file = tempfile::tempfile().unwrap();
            let lost = b"blob no header ".repeat(before / 15 + 1);
            file.write_all(&lost[..before]).unwrap();
            file.write_all(head.as_bytes()).unwrap();
            let len = (before + head.len()) as u64;
            assert_eq!(next_header(&file, 0, len).unwrap(), Some(before as u64), "{before}");
            assert_eq!(next_header(&file, before as u64 + 1, len).unwrap(), None, "{before}");
        }
    }
}
