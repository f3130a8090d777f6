//! Finds the outcome of an I2C scan in what a board printed.
//!
//! Owns the forms such outcomes come in: lines that tell an address which answered, and tables as
//! `i2cdetect` prints them. Pure: lines in, addresses out.

use crate::text::pattern::Pattern;
use std::collections::BTreeSet;

/// A row of the table covers this many addresses.
const ROW: u8 = 16;

/// Addresses that a device can have; the others are reserved.
const FIRST: u8 = 0x03;
const LAST: u8 = 0x77;

/// So many other lines after the last address mean that the scan is over.
const LINES_AFTER: u32 = 3;

/// Lines that are told as evidence, at most.
const MAX_EVIDENCE: usize = 40;

/// One scan of a bus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan {
    /// 7-bit addresses that answered.
    pub devices: BTreeSet<u8>,
    /// Addresses that kept the bus busy or belong to a driver (`UU`).
    pub busy: BTreeSet<u8>,
    /// The lines that say so.
    pub evidence: Vec<String>,
    /// Whether it is known to be over.
    pub is_over: bool,
}

/// What a line says about a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScanLine {
    /// A scan begins.
    Start,
    /// These answered; with it the scan may be over.
    Found(Vec<u8>),
    /// A row of the table: its first address, those that answered, those that were busy.
    Row(u8, Vec<u8>, Vec<u8>),
    /// The scan is over.
    End,
    Else,
}

/// Reads lines one after the other.
#[derive(Debug, Clone, Default)]
pub struct ScanReader {
    /// The newest scan that is over.
    done: Option<Scan>,
    /// The one that goes on.
    open: Option<Scan>,
    /// The highest address so far; within one scan they rise.
    last: Option<u8>,
    others: u32,
}

impl ScanReader {
    /// Takes a line without escape sequences.
    pub fn push(&mut self, line: &str) {
        match parse_line(line) {
            ScanLine::Start => {
                self.close();
                self.note(line);
            }
            ScanLine::Found(addresses) => {
                if addresses.first().is_some_and(|first| self.last.is_some_and(|l| *first <= l)) {
                    self.close();
                }
                self.last = addresses.last().copied();
                self.note(line).devices.extend(addresses);
            }
            ScanLine::Row(base, found, busy) => {
                if self.last.is_some_and(|last| base <= last) {
                    self.close();
                }
                let end = base.saturating_add(ROW - 1);
                self.last = Some(end);
                let scan = self.note(line);
                scan.devices.extend(found);
                scan.busy.extend(busy);
                if end >= LAST {
                    self.over();
                }
            }
            ScanLine::End => {
                // Some firmware says only that it found nobody.
                self.note(line);
                self.over();
            }
            ScanLine::Else => {
                self.others += 1;
                let has_found = self.open.as_ref().is_some_and(|scan| !scan.devices.is_empty());
                if has_found && self.others >= LINES_AFTER {
                    self.over();
                }
            }
        }
    }

    /// The newest scan that is over; `None` while there is none.
    #[must_use]
    pub const fn finished(&self) -> Option<&Scan> {
        self.done.as_ref()
    }

    /// The newest scan that is over, or what is known of the one that goes on, if anybody answered.
    #[must_use]
    pub fn best(self) -> Option<Scan> {
        self.done.or_else(|| self.open.filter(|scan| !scan.devices.is_empty()))
    }

    fn note(&mut self, line: &str) -> &mut Scan {
        self.others = 0;
        let scan = self.open.get_or_insert_default();
        if scan.evidence.len() < MAX_EVIDENCE {
            scan.evidence.push(line.trim_end().to_owned());
        }
        scan
    }

    fn over(&mut self) {
        self.last = None;
        if let Some(mut scan) = self.open.take() {
            scan.is_over = true;
            self.done = Some(scan);
        }
    }

    /// Another scan begins; the one before is over if it had found somebody.
    fn close(&mut self) {
        self.last = None;
        if self.open.as_ref().is_some_and(|scan| !scan.devices.is_empty()) {
            self.over();
        } else {
            self.open = None;
        }
    }
}

fn parse_line(line: &str) -> ScanLine {
    if let Some(row) = row(line) {
        return row;
    }
    if HEADER.is_match(line) {
        return ScanLine::Start;
    }
    if FOREIGN.is_match(line) {
        return ScanLine::Else;
    }
    if NOBODY.is_match(line) {
        return ScanLine::End;
    }
    let found = addresses(line);
    if ANSWER.is_match(line) && !REFUSAL.is_match(line) && !found.is_empty() {
        return ScanLine::Found(found);
    }
    if END.is_match(line) {
        return ScanLine::End;
    }
    if START.is_match(line) { ScanLine::Start } else { ScanLine::Else }
}

/// A row such as `30: -- -- 32 UU`.
fn row(line: &str) -> Option<ScanLine> {
    let (base, cells) = line.trim().split_once(':')?;
    let is_base = base.len() == 2 && base.ends_with('0');
    let base = u8::from_str_radix(base, 16).ok().filter(|base| is_base && *base <= LAST)?;
    let cells: Vec<&str> = cells.split_whitespace().collect();
    let (mut found, mut busy) = (Vec::new(), Vec::new());
    // The reserved addresses are blank in the first and the last row of some.
    if cells.is_empty() || cells.len() > usize::from(ROW) {
        return None;
    }
    for (column, cell) in cells.iter().enumerate() {
        match *cell {
            "--" => {}
            "UU" => busy.push(base.checked_add(u8::try_from(column).ok()?)?),
            hex => {
                let address = u8::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 2)?;
                if !(base..base.saturating_add(ROW)).contains(&address) {
                    return None;
                }
                found.push(address);
            }
        }
    }
    Some(ScanLine::Row(base, found, busy))
}

/// Addresses in a line, rising; numbers that are said to be something else are left out.
fn addresses(line: &str) -> Vec<u8> {
    let all = ADDRESS.get().into_iter().flat_map(|pattern| pattern.captures_iter(line));
    let mut found: Vec<u8> = all
        .filter(|captures| captures.get(1).is_none())
        .filter_map(|captures| u8::from_str_radix(captures.get(2)?.as_str(), 16).ok())
        .filter(|address| (FIRST..=LAST).contains(address))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Head of the table.
static HEADER: Pattern = Pattern::new(r"(?i)^\s*0\s+1\s+2\s+3\s+.*\bd\s+e\s+f\s*$");

/// Parts of the framework that report finds of their own.
static FOREIGN: Pattern = Pattern::new(
    r"(?i)\b(spi_flash|esp_image|boot|bootloader|partition|flash|psram|segment|wifi|ota|nvs)\b",
);

static ANSWER: Pattern = Pattern::new(
    r"(?i)\b(found|detected|discovered|present|acked|ack|acknowledged|acknowledges|responds|responded|answers|answered)\b",
);

static REFUSAL: Pattern = Pattern::new(
    r"(?i)\b(not|no|nobody|none|nothing|error|errors|fail|failed|failure|missing|timeout|nack|lost)\b",
);

static NOBODY: Pattern = Pattern::new(
    r"(?i)\b(no|0|zero)\s+(i2c\s+)?(devices?|slaves?|addresses)\b|\bnobody answers\b|\bno(thing| one) (was )?found\b",
);

static START: Pattern = Pattern::new(r"(?i)\bscan(ning)?\b");

static END: Pattern = Pattern::new(
    r"(?i)\bscan(ning)?( is)? (done|complete|completed|finished|ended|over)\b|\b(done|finished)\b.*\bscan|^\s*done\b|\b\d+ (i2c )?(devices?|slaves?)\b",
);

/// A number that is an address, or in the first group the word that says it is not.
static ADDRESS: Pattern = Pattern::new(
    r"(?i)(\b(?:id|reg|register|value|version|rev|revision|status|chip|code|data)\b\W{0,4})?\b0x([0-9a-f]{1,2})\b",
);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ScanReader {
        let mut reader = ScanReader::default();
        text.lines().for_each(|line| reader.push(line));
        reader
    }

    fn found(text: &str) -> Option<Vec<u8>> {
        read(text).best().map(|scan| scan.devices.into_iter().collect())
    }

    #[test]
    fn scanners_of_many_makers_are_understood() {
        for text in [
            "Scanning...\nI2C device found at address 0x3C  !\nI2C device found at address 0x76  !\ndone\n",
            "I (312) i2c_scan: scanning 0x08 to 0x77\nI (320) i2c_scan: found a device at 0x3C\n\
             I (330) i2c_scan: found a device at 0x76\nI (340) main: 2 devices on the bus\n\
             I (350) main: chip id of 0x76 (register 0xD0): 0x60\n",
            "I2C scan\n0x3c: ack\n0x40: no answer\n0x76: ack\nscan complete\n",
            "Found 0x3C, 0x76 on the bus\nScan done.\n",
            "[  1234][I][main.cpp:12] scan(): device at 0x3c responded\n\
             [  1235][I][main.cpp:12] scan(): device at 0x76 responded\n\
             [  1236][I][main.cpp:19] scan(): 2 devices\n",
        ] {
            assert_eq!(found(text), Some(vec![0x3c, 0x76]), "{text}");
            assert!(read(text).finished().is_some(), "{text}");
        }
    }

    #[test]
    fn tables_are_read_with_their_busy_places() {
        let table = "i2c-tools> i2cdetect\n\
             \x20    0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f\n\
             00: -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- \n\
             10: -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- \n\
             20: -- -- -- -- -- -- -- UU -- -- -- -- -- -- -- -- \n\
             30: -- -- -- -- -- -- -- -- -- -- -- -- 3c -- -- -- \n\
             40: -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- \n\
             50: -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- \n\
             60: -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- \n\
             70: -- -- -- -- -- -- 76 -- -- -- -- -- -- -- -- -- \n";
        let reader = read(table);
        let scan = reader.finished().unwrap();
        assert_eq!(scan.devices, [0x3c, 0x76].into());
        assert_eq!(scan.busy, [0x27].into());
        let half: String = table.lines().take(6).map(|line| format!("{line}\n")).collect();
        assert!(read(&half).finished().is_none());
        assert_eq!(found(&half), Some(vec![0x3c]));
    }

    #[test]
    fn the_newest_whole_scan_counts() {
        let first = "scanning\nfound 0x3C\nfound 0x50\nfound 0x76\nscan done\n";
        let again = "scanning\nfound 0x3C\nfound 0x76\nscan done\n";
        assert_eq!(found(&format!("{first}{again}")), Some(vec![0x3c, 0x76]));
        assert_eq!(found(&format!("{again}scanning\nfound 0x3C\n")), Some(vec![0x3c, 0x76]));
        // Without words around it a scan ends where addresses begin anew.
        assert_eq!(found("found 0x3C\nfound 0x50\nfound 0x3C\n"), Some(vec![0x3c, 0x50]));
        assert_eq!(found("found 0x3C\na\nb\n\nfound 0x10\n"), Some(vec![0x3c]));
    }

    #[test]
    fn an_empty_bus_is_an_outcome_and_silence_is_none() {
        assert_eq!(found("Scanning...\nNo I2C devices found\n"), Some(vec![]));
        let text = "I (1) i2c_scan: scanning 0x08 to 0x77\n\
                    W (9) i2c_scan: nobody answers; are the lines pulled up?\n";
        assert_eq!(found(text), Some(vec![]));
        for text in [
            "",
            "I (31) boot: chip revision: v3.0\nI (36) spi_flash: detected chip: 0x16\n",
            "hello\nE (40) main: no chip id from 0x76: ESP_ERR_NOT_FOUND\n",
            "Unknown error at address 0x4C\n",
            "I (5) main: 0x3C not found\n",
            "segment 0: paddr=0x10 found\n12: 34 56\nscanning\n",
            "I (9) wifi: found 0x0A networks\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_addresses_are_left_out() {
        assert_eq!(addresses("found chip id 0x60 at 0x76"), [0x76]);
        assert_eq!(addresses("0x00 0x02 0x78 0xff 0x123 0x3c"), [0x3c]);
        assert_eq!(addresses("register 0xD0: 0x60"), [0x60]);
    }

    #[test]
    fn every_pattern_is_right() {
        let all = [&HEADER, &FOREIGN, &ANSWER, &REFUSAL, &NOBODY, &START, &END, &ADDRESS];
        assert!(all.iter().all(|pattern| pattern.get().is_some()));
    }

    proptest::proptest! {
        #[test]
        fn any_lines_are_survived(lines in proptest::collection::vec(".{0,60}", 0..20)) {
            let mut reader = ScanReader::default();
            lines.iter().for_each(|line| reader.push(line));
            if let Some(scan) = reader.best() {
                proptest::prop_assert!(scan.devices.iter().all(|a| *a < 0x80));
            }
        }
    }
}
