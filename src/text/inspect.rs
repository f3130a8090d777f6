//! Looks at a file's content for what a person would not see: other encodings, other line ends.
//!
//! Says where. Must not judge: what a finding means is the caller's.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

/// How a file's bytes are meant to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8 without a byte order mark.
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8Bom,
    /// UTF-16, by its byte order mark or its pattern of NUL bytes.
    Utf16,
    /// Not text: a NUL byte at this offset.
    Binary(usize),
    /// No valid UTF-8 from this offset on.
    Other(usize),
}

/// Tells how bytes are meant to be read.
#[must_use]
pub fn charset(bytes: &[u8]) -> Charset {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Charset::Utf16;
    }
    if let Some(nul) = memchr::memchr(0, bytes) {
        let start = bytes.get(..bytes.len().min(512)).unwrap_or(bytes);
        let nul_at =
            |parity: usize| start.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        // Latin text in UTF-16 without a mark: every other byte is NUL.
        let half = start.len() / 2;
        let is_wide = half >= 2 && (nul_at(0) * 4 > half * 3 || nul_at(1) * 4 > half * 3);
        let is_one_sided = nul_at(0) == 0 || nul_at(1) == 0;
        return if is_wide && is_one_sided { Charset::Utf16 } else { Charset::Binary(nul) };
    }
    match std::str::from_utf8(bytes) {
        Ok(_) if bytes.starts_with(b"\xef\xbb\xbf") => Charset::Utf8Bom,
        Ok(_) => Charset::Utf8,
        Err(error) => Charset::Other(error.valid_up_to()),
    }
}

/// How many lines end how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineEnds {
    /// Lines that end with a line feed alone.
    pub lf: usize,
    /// Lines that end with carriage return and line feed.
    pub crlf: usize,
}

/// Counts line ends.
#[must_use]
pub fn line_ends(bytes: &[u8]) -> LineEnds {
    let mut ends = LineEnds::default();
    for at in memchr::memchr_iter(b'\n', bytes) {
        match at.checked_sub(1).and_then(|before| bytes.get(before)) {
            Some(b'\r') => ends.crlf += 1,
            _ => ends.lf += 1,
        }
    }
    ends
}

/// A finding and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Counted from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is there, e.g. `U+202E`.
    pub what: String,
}

/// A name under which devices keep secrets, such as `sta.pswd` or `mqtt_token`.
static SECRET_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)pass(w|phrase|$|[^a-z]) | pswd | psw$ | pwd | psk | pmk | apinfo | secret | token |
          credential | (api|auth|priv|private|access|enc|device|dev|tls|client)[._-]?key",
    )
    .ok()
});

/// Parts of which each such name has one.
static SECRET_PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let parts = "pass pswd psw pwd psk pmk apinfo secret token credential key".split(' ');
    AhoCorasick::builder().ascii_case_insensitive(true).build(parts).ok()
});

/// Whether what is kept under that name may be a secret.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    // Without the pattern nothing may be told.
    may_name_secret(name) && SECRET_NAME.as_ref().is_none_or(|pattern| pattern.is_match(name))
}

/// Whether a text has a part that the name of a secret has: a quick look before the names in it are
/// told apart.
#[must_use]
pub fn may_name_secret(text: &str) -> bool {
    // The pattern takes some other letters for those of its words.
    !text.is_ascii() || SECRET_PARTS.as_ref().is_none_or(|parts| parts.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_distinguished() {
        let wide: Vec<u8> = "int main".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: [(&[u8], Charset); 7] = [
            (b"int a;\n", Charset::Utf8),
            ("grün".as_bytes(), Charset::Utf8),
            (b"\xef\xbb\xbfint a;", Charset::Utf8Bom),
            (b"\xff\xfei\0", Charset::Utf16),
            (&wide, Charset::Utf16),
            (b"\x7fELF\x01\0\0\0\x03", Charset::Binary(5)),
            (b"gr\xfcn", Charset::Other(2)),
        ];
        for (bytes, expected) in cases {
            assert_eq!(charset(bytes), expected, "{bytes:?}");
        }
        assert_eq!(line_ends(b"a\r\nb\nc"), LineEnds { lf: 1, crlf: 1 });
    }

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in [
            "password",
            "sta.pswd",
            "ap.passwd",
            "wifi_pass",
            "pass",
            "mqtt_token",
            "sta.pmk",
            "sta.apsw",
            "sta.apinfo",
            "psk",
            "API-Key",
            "apikey",
            "client_secret",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in ["ssid", "sta.ssid", "channel", "keyboard", "passes", "pin", "key"] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
