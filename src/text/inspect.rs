//! Looks at a file's content for what a person would not see or would not want: other encodings,
//! hidden characters, letters that pose as others.
//!
//! Says where. Must not judge: what a finding means is the caller's.

use std::sync::LazyLock;

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
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is there, e.g. `U+202E`.
    pub what: String,
}

/// Controls other than tab, and what hides text or changes its order on screen.
#[must_use]
pub fn hidden(text: &str) -> Vec<Place> {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control() && !is_plain(byte)) {
        return Vec::new();
    }
    let mut places = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        for (column, c) in line.chars().enumerate() {
            // The mark at the very start is told by the encoding.
            let is_mark = c == '\u{feff}' && number == 0 && column == 0;
            if is_hidden(c) && !is_mark {
                let what = format!("U+{:04X}", u32::from(c));
                places.push(Place { line: number + 1, column: column + 1, what });
            }
        }
    }
    places
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}')
}

/// The Latin character that this one poses as; `None` for all others.
#[must_use]
pub fn poses_as(c: char) -> Option<char> {
    const PAIRS: &str = "аaеeоoрpсcуyхxіiјjѕsԁdһhӏlԛqԝwАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSҮY\
                         αaοoρpνvιiκkυuΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX";
    if c.is_ascii() {
        return None;
    }
    if let Some(offset) = u32::from(c).checked_sub(0xff01).filter(|offset| *offset < 94) {
        return char::from_u32(0x21 + offset);
    }
    let mut pairs = PAIRS.chars();
    while let (Some(other), Some(latin)) = (pairs.next(), pairs.next()) {
        if other == c {
            return Some(latin);
        }
    }
    None
}

/// A text with every posing letter as the one it poses as.
#[must_use]
pub fn skeleton(text: &str) -> String {
    text.chars().map(|c| poses_as(c).unwrap_or(c)).collect()
}

/// Posing letters within words that are Latin otherwise.
#[must_use]
pub fn lookalikes(text: &str) -> Vec<Place> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut places = Vec::new();
    for (number, line) in text.split('\n').enumerate().filter(|(_, line)| !line.is_ascii()) {
        let mut word: Vec<(usize, char)> = Vec::new();
        for (column, c) in line.chars().chain(Some(' ')).enumerate() {
            if c.is_alphanumeric() || c == '_' {
                word.push((column, c));
                continue;
            }
            if word.iter().any(|(_, c)| c.is_ascii_alphabetic()) {
                places.extend(word.iter().filter_map(|(column, c)| {
                    let latin = poses_as(*c)?;
                    let what = format!("U+{:04X}, which looks like `{latin}`", u32::from(*c));
                    Some(Place { line: number + 1, column: column + 1, what })
                }));
            }
            word.clear();
        }
    }
    places
}

/// A name under which devices keep secrets, such as `sta.pswd` or `mqtt_token`.
static SECRET_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)pass(w|phrase|$|[^a-z]) | pswd | psw$ | pwd | psk | pmk | apinfo | secret | token |
          credential | (api|auth|priv|private|access|enc|device|dev|tls|client)[._-]?key",
    )
    .ok()
});

/// Whether what is kept under that name may be a secret.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    // Without the pattern nothing may be told.
    SECRET_NAME.as_ref().is_none_or(|pattern| pattern.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(places: &[Place]) -> Vec<(usize, usize, &str)> {
        places.iter().map(|place| (place.line, place.column, place.what.as_str())).collect()
    }

    #[test]
    fn encodings_are_told_apart() {
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
    fn hidden_characters_are_found_where_they_are() {
        let text = "int a;\r\nint \u{202e}b;\n\u{200b}c\x1b[2J\tok\n";
        assert_eq!(told(&hidden(text)), [(2, 5, "U+202E"), (3, 1, "U+200B"), (3, 3, "U+001B")]);
        assert!(hidden("\u{feff}int a;\t\n").is_empty());
    }

    #[test]
    fn letters_that_pose_as_others_are_found_in_latin_words_only() {
        let text = "// привет\nint c\u{43e}unt = 0;\n";
        let places = lookalikes(text);
        assert_eq!((places.len(), places[0].line, places[0].column), (1, 2, 6));
        assert!(places[0].what.contains("looks like `o`"));
        assert_eq!(skeleton("m\u{430}in.c"), "main.c");
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
