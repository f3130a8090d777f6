//! Data in a source that nobody can read: texts of base64, arrays and escapes of packed bytes, pages
//! that unpack themselves.
//!
//! Owns how such data is told from fonts, tables and certificates.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;

use super::source::number;
use crate::model::{Finding, FindingLevel, FindingPlace};

/// Characters of one literal, or of literals in a row, that make a package.
const PACKAGE: usize = 200;

/// Bits of information in each byte from which on data is packed or random.
const PACKED: f64 = 6.3;

/// A literal of letters that may be packed data.
static LITERAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""([A-Za-z0-9+/=_-]{24,})(?:\\n)?""#).ok());

/// Data that nobody can read: long texts of base64, arrays that begin like a program or archive.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut is_certificate = false;
    for (place, line) in text.lines().enumerate() {
        if line.contains("-----BEGIN") {
            is_certificate = true;
        }
        let pattern = LITERAL.as_ref().filter(|_| line.contains('"'));
        let literals = pattern.into_iter().flat_map(|pattern| pattern.captures_iter(line));
        let letters: String =
            literals.filter_map(|found| found.get(1)).map(|l| l.as_str()).collect();
        if letters.is_empty() {
            findings.extend(open.take().and_then(|(start, letters)| package(start, &letters)));
        } else if !is_certificate {
            open.get_or_insert_with(|| (place + 1, String::new())).1.push_str(&letters);
        }
        if line.contains("-----END") {
            is_certificate = false;
        }
    }
    findings.extend(open.and_then(|(start, letters)| package(start, &letters)));
    findings.extend(arrays(text));
    findings.extend(escapes(text));
    findings.extend(unpacked_in_pages(text));
    findings
}

/// Escapes of bytes in texts, `"\x46\x5b…"`, in lines that follow one another.
fn escapes(text: &str) -> Vec<Finding> {
    static ESCAPE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\\x([0-9a-fA-F]{2})").ok());
    let mut findings = Vec::new();
    let mut open: Option<(usize, Vec<u8>)> = None;
    let mut close = |open: &mut Option<(usize, Vec<u8>)>| {
        if let Some((line, bytes)) = open.take()
            && bytes.len() >= PACKAGE
            && entropy(&bytes) > PACKED
        {
            let text = format!("contains {} bytes of packed data that cannot be read", bytes.len());
            let at = FindingPlace::line(number(line));
            findings.push(Finding::new(FindingLevel::Warning, text).at(at));
        }
    };
    for (place, line) in text.lines().enumerate() {
        let pattern = ESCAPE.as_ref().filter(|_| line.contains('\\'));
        let found = pattern.into_iter().flat_map(|pattern| pattern.captures_iter(line));
        let bytes: Vec<u8> =
            found.filter_map(|found| u8::from_str_radix(found.get(1)?.as_str(), 16).ok()).collect();
        match bytes.len() >= 8 {
            true => open.get_or_insert_with(|| (place + 1, Vec::new())).1.extend(bytes),
            false => close(&mut open),
        }
    }
    close(&mut open);
    findings
}

/// Code of a page that unpacks other code and runs it.
fn unpacked_in_pages(text: &str) -> Vec<Finding> {
    static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:eval|Function|setTimeout)\s*\(\s*(?:atob|unescape|decodeURIComponent|String\.fromCharCode)\s*\(",
        )
        .ok()
    });
    if !text.contains("eval") && !text.contains("Function") && !text.contains("setTimeout") {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    let found = lines.filter(|(_, line)| RUNS.as_ref().is_some_and(|runs| runs.is_match(line)));
    let finding = |(place, _): (usize, &str)| {
        Finding::new(FindingLevel::Warning, "unpacks code of a page and runs it")
            .at(FindingPlace::line(number(place + 1)))
    };
    found.map(finding).collect()
}

fn package(line: usize, letters: &str) -> Option<Finding> {
    if letters.len() < PACKAGE || letters.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let whole = letters.get(..letters.len() - letters.len() % 4)?;
    let decoded = STANDARD.decode(whole).ok()?;
    let text = match magic(&decoded) {
        Some(what) => format!("contains {what}, packed as base64"),
        None if entropy(&decoded) > 6.0 => {
            format!("contains {} bytes of packed data that cannot be read", decoded.len())
        }
        None => return None,
    };
    Some(Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(number(line))))
}

/// Values of an array that are read.
const MOST_VALUES: usize = 4_096;

/// From so many bytes on, data without any order is told.
const FEWEST_VALUES: usize = 512;

/// Arrays that begin like a program or an archive, or whose bytes have no order at all.
fn arrays(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut start = 0;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        let open = line.find('{').filter(|_| line.contains(']') && line.contains('='));
        let values = open.and_then(|open| text.get(start + open + 1..)).map(values);
        start += line.len();
        let Some(values) = values else { continue };
        let text = match magic(&values) {
            Some(what) => format!("contains {what} as an array"),
            None if has_no_order(&values) => {
                "contains an array of packed data that cannot be read".to_owned()
            }
            None => continue,
        };
        let at = FindingPlace::line(number(place + 1));
        findings.push(Finding::new(FindingLevel::Warning, text).at(at));
    }
    findings
}

/// The bytes of an array, up to the first value that is none.
fn values(text: &str) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while found.len() < MOST_VALUES {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, next)| next).trim_start();
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, next)| next).trim_start();
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, next) = rest.split_at(end);
        let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) => u8::from_str_radix(digits, 16),
            None => word.parse(),
        };
        let Ok(value) = value else { break };
        found.push(value);
        let Some(next) = next.trim_start().strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    found
}

/// Whether bytes look as if they were drawn by lot, as packed or encrypted ones do: neither they nor
/// the steps between them prefer any value, and they are not dealt out evenly either.
fn has_no_order(bytes: &[u8]) -> bool {
    if bytes.len() < FEWEST_VALUES || is_known_format(bytes) {
        return false;
    }
    let steps: Vec<u8> =
        bytes.iter().zip(bytes.iter().skip(1)).map(|(one, next)| next.wrapping_sub(*one)).collect();
    let is_random = |of: &[u8]| (170.0..=380.0).contains(&deviation(of));
    is_random(bytes) && is_random(&steps)
}

/// How far the counts of byte values are from even ones: the sum of squares of chi-square with 255
/// degrees of freedom, 255 ± 23 for bytes by lot.
fn deviation(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "lengths of files")]
    let even = bytes.len() as f64 / 256.0;
    counts.iter().map(|count| (f64::from(*count) - even).powi(2) / even).sum()
}

/// Whether data begins as pictures, sounds, fonts and certificates do.
fn is_known_format(bytes: &[u8]) -> bool {
    let known: [&[u8]; 10] = [
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"GIF8",
        b"RIFF",
        b"OggS",
        b"ID3",
        b"wOF2",
        b"fLaC",
        b"0\x82",
        b"0\x81",
    ];
    known.iter().any(|start| bytes.starts_with(start))
}

/// What data begins like.
fn magic(bytes: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 8] = [
        (b"\x7fELF", "a program (ELF)"),
        (b"MZ\x90\0", "a Windows program"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"BZh", "a bzip2 archive"),
        (b"#!/", "a script"),
        (b"\xca\xfe\xba\xbe", "a program"),
    ];
    let found = known.iter().find(|(start, _)| bytes.starts_with(start))?;
    Some(found.1)
}

/// Bits of information in each byte, 0 to 8.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
    for byte in bytes {
        *counts.entry(*byte).or_default() += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "lengths of files")]
    let total = bytes.len() as f64;
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_and_code_that_unpacks_itself_are_found() {
        let byte = |at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8;
        let row = |row: u32| {
            let bytes: String =
                (0..20).map(|at| format!("\\x{:02x}", byte(row * 20 + at))).collect();
            format!("    \"{bytes}\"\n")
        };
        let rows: String = (0..20).map(row).collect();
        let found = find(&format!("const char a[] =\n{rows}    ;\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, Some(FindingPlace::line(2)));
        let font = "    \"\\x00\\x18\\x24\\x24\\x7e\\x42\\x42\\x00\"\n".repeat(60);
        assert!(find(&font).is_empty());
        let page = find("<html>\n<script>eval(atob(\"YWxlcnQ=\"))</script>\n");
        assert_eq!(page.len(), 1);
        assert_eq!(page[0].place, Some(FindingPlace::line(2)));
        assert!(find("<script>const e = atob(x); show(e)</script>\n").is_empty());
    }

    #[test]
    fn packed_data_is_found_and_readable_data_is_not() {
        let noise: Vec<u8> =
            (0_u32..400).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let packed = STANDARD.encode(&noise);
        assert_eq!(find(&format!("const char *p = \"{packed}\";\n")).len(), 1);
        let mut archive = vec![0x1f, 0x8b, 8, 0];
        archive.extend(&noise[..200]);
        let found = find(&format!("x(\"{}\");\n", STANDARD.encode(&archive)));
        assert!(found[0].text.contains("gzip"), "{found:?}");
        let program = "static const uint8_t p[] = {\n 0x7f, 0x45, 0x4c, 0x46, 0x01,\n};\n";
        assert!(find(program)[0].text.contains("ELF"));
        let key = "\"-----BEGIN CERTIFICATE-----\\n\"\n";
        let lines = format!("\"{}\\n\"\n", &packed[..64]).repeat(8);
        assert!(find(&format!("{key}{lines}\"-----END CERTIFICATE-----\"\n")).is_empty());
        assert!(find("static const uint8_t font[] = { 0x00, 0x7e, 0x81 };\n").is_empty());
    }

    /// Bytes by lot.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn bytes_without_any_order_are_told_from_tables_and_pictures() {
        let array = |bytes: &[u8]| {
            let rows: String =
                bytes.iter().map(|byte| format!("0x{byte:02x}, /* a */\n")).collect();
            format!("// {{ \nconst uint8_t a[] = {{ // table\n{rows}}};\n")
        };
        let found = find(&array(&noise(800)));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, Some(FindingPlace::line(2)));
        assert!(find(&array(&noise(500))).is_empty(), "too short to tell");
        let mut picture = b"\x89PNG".to_vec();
        picture.extend(noise(800));
        assert!(find(&array(&picture)).is_empty());
        let steps: Vec<u8> = noise(800)
            .iter()
            .scan(0_u8, |at, byte| {
                *at = at.wrapping_add(byte % 9);
                Some(*at)
            })
            .collect();
        assert!(find(&array(&steps)).is_empty(), "a curve");
        let even: Vec<u8> = (0..1024_u32).map(|at| (at * 167 % 256) as u8).collect();
        assert!(find(&array(&even)).is_empty(), "every value as often");
        let text = b"the quick brown fox jumps over the lazy dog ".repeat(20);
        assert!(find(&array(&text)).is_empty());
        assert_eq!(values("1, 0xff,/* a, b */ 256, 3 }"), [1, 255]);
    }
}
