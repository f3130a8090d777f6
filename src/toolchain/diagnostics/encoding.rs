//! How the characters of a saved log are written.
//!
//! Owns the choice between UTF-8 and UTF-16: PowerShell writes the second when output goes to a file.

use std::borrow::Cow;

/// Bytes at the beginning that are looked at when no mark says how a log is written.
const LOOKED_AT: usize = 512;

/// The log as UTF-8, without a mark at its beginning.
#[must_use]
pub fn utf8(log: &[u8]) -> Cow<'_, [u8]> {
    match log {
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        [0xff, 0xfe, rest @ ..] => decoded(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => decoded(rest, u16::from_be_bytes),
        _ if are_mostly_zero(log, 1) => decoded(log, u16::from_le_bytes),
        _ if are_mostly_zero(log, 0) => decoded(log, u16::from_be_bytes),
        _ => Cow::Borrowed(log),
    }
}

fn decoded(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'static, [u8]> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
}

/// Whether every second byte is zero, as those of English text are in UTF-16, and the others are not.
fn are_mostly_zero(log: &[u8], first: usize) -> bool {
    let start = log.get(..LOOKED_AT.min(log.len())).unwrap_or_default();
    let zeros = |from: usize| start.iter().skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    start.len() >= 8 && zeros(first) * 4 > start.len() && zeros(1 - first) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn logs_are_read_however_they_are_written() {
        let text = "src/a.c:3:16: error: ‘é’ undeclared\r\n";
        for form in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            written(&format!("\u{feff}{text}"), u16::to_le_bytes),
            written(&format!("\u{feff}{text}"), u16::to_be_bytes),
            written(text, u16::to_le_bytes),
            written(text, u16::to_be_bytes),
        ] {
            assert_eq!(utf8(&form), text.as_bytes());
        }
        for other in [&b"a\0b"[..], b"", b"\xff", b"\0\0\0\0\0\0\0\0\0\0"] {
            assert_eq!(utf8(other), other);
        }
    }
}
