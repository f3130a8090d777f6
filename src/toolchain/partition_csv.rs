//! A partition table as it is written in a CSV file, line by line.
//!
//! Source: ESP-IDF Programming Guide, "Partition Tables", and the rules by which its build reads
//! such a file. Reads text only; must not judge a table as a whole.

use crate::model::Partition;

/// Flash is erased in sectors of this many bytes, and partitions begin at one.
pub const SECTOR: u32 = 0x1000;

/// Applications begin at a multiple of this.
pub const APP_ALIGN: u32 = 0x1_0000;

/// One entry and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvEntry {
    /// Counted from 1.
    pub line: u32,
    /// The entry, its offset worked out where it is left to the build.
    pub partition: Partition,
    /// Words of the last column, e.g. `encrypted`.
    pub flags: Vec<String>,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFault {
    /// Counted from 1.
    pub line: u32,
    pub why: String,
}

/// Reads every line. `first` is where an entry without an offset may begin: right behind the table.
/// Entries without an offset follow the one before, applications at the next multiple of 64 KiB.
#[must_use]
pub fn read(text: &str, first: u32) -> (Vec<CsvEntry>, Vec<TableFault>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let mut next = first;
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        match row(line, text, next) {
            Ok(row) => {
                next = row.partition.offset.saturating_add(row.partition.bytes);
                rows.push(row);
            }
            Err(why) => faults.push(TableFault { line, why }),
        }
    }
    (rows, faults)
}

fn row(line: u32, text: &str, next: u32) -> Result<CsvEntry, String> {
    let mut fields = text.split(',').map(str::trim);
    let mut field = || fields.next().unwrap_or_default();
    let (label, kind, subtype, offset, size) = (field(), field(), field(), field(), field());
    let flags = field();
    let (kind, is_app) = (kind.to_ascii_lowercase(), is_app(kind));
    if kind.is_empty() {
        return Err(format!("`{label}` has no type"));
    }
    let offset = match offset {
        "" => {
            let align = if is_app { APP_ALIGN } else { SECTOR };
            next.checked_next_multiple_of(align).ok_or("the address is too high")?
        }
        offset => number(offset).ok_or_else(|| format!("`{offset}` is not an offset"))?,
    };
    let bytes = match size.strip_prefix('-') {
        // The entry ends at that address.
        Some(end) => number(end).and_then(|end| end.checked_sub(offset)),
        None => number(size),
    };
    let bytes = bytes.filter(|bytes| *bytes > 0);
    let bytes = bytes.ok_or_else(|| match size {
        "" => format!("`{label}` has no size"),
        size => format!("`{size}` is not a size"),
    })?;
    let flags = flags.split(':').map(str::trim).filter(|flag| !flag.is_empty());
    let flags = flags.map(str::to_ascii_lowercase).collect();
    let subtype = subtype.to_ascii_lowercase();
    let label = label.to_owned();
    let partition = Partition { label, kind, subtype, offset, bytes };
    Ok(CsvEntry { line, partition, flags })
}

/// Whether a type is that of applications.
#[must_use]
pub fn is_app(kind: &str) -> bool {
    kind.eq_ignore_ascii_case("app") || matches!(kind, "0" | "0x0" | "0x00")
}

/// Whether a type is that of data.
#[must_use]
pub fn is_data(kind: &str) -> bool {
    kind.eq_ignore_ascii_case("data") || matches!(kind, "1" | "0x1" | "0x01")
}

/// `0x1000`, `4096`, `4K` or `1M`.
#[must_use]
pub fn number(text: &str) -> Option<u32> {
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
        None => digits.trim().parse().ok()?,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_are_left_out_follow_the_entry_before() {
        let text = "# Name, Type, SubType, Offset, Size, Flags\nnvs, data, nvs, , 24K,\n\n\
                    phy,  DATA, phy, , 0x1000\nfactory, app, factory, , 1M, encrypted:readonly\n\
                    rest, data, fat, , -4M\n";
        let (rows, faults) = read(text, 0x9000);
        assert_eq!(faults, []);
        let seen: Vec<_> =
            rows.iter().map(|row| (row.line, row.partition.offset, row.partition.bytes)).collect();
        let rest = 0x40_0000 - 0x11_0000;
        assert_eq!(
            seen,
            [
                (2, 0x9000, 0x6000),
                (4, 0xf000, 0x1000),
                (5, 0x1_0000, 0x10_0000),
                (6, 0x11_0000, rest)
            ]
        );
        assert_eq!(rows[2].flags, ["encrypted", "readonly"]);
        assert_eq!(rows[1].partition.kind, "data");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let (rows, faults) =
            read("a, data, nvs, 0xzz, 4K\nb, data\nc\nd, data, nvs, , 4K\n", 0x9000);
        assert_eq!(rows.len(), 1);
        let reported: Vec<_> = faults.iter().map(|f| (f.line, f.why.as_str())).collect();
        assert_eq!(
            reported,
            [(1, "`0xzz` is not an offset"), (2, "`b` has no size"), (3, "`c` has no type")]
        );
    }
}
