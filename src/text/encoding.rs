//! Reads the bytes of a document as text, in the encodings that people's documents have.
//!
//! Owns how an encoding is found out: by the mark at the start, else UTF-8, else Windows-1252, which
//! has the letters of Latin-1 too. Bytes that are not text are told apart.

use encoding_rs::{Encoding, WINDOWS_1252};

/// Of so many bytes at most one may be a control character that texts do not have, and one more; in
/// a short text, of so many.
const BYTES_FOR_A_CONTROL: usize = 50;
const SHORT: usize = 8;
/// Of so many bytes at most one may be beyond ASCII in a text with one byte for each letter.
const BYTES_FOR_A_LETTER: usize = 3;

/// The text in some bytes; `None` when they are no text. What cannot be read becomes U+FFFD.
#[must_use]
pub fn decode(bytes: Vec<u8>) -> Option<String> {
    let text = match Encoding::for_bom(&bytes) {
        Some((encoding, mark)) => {
            encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned()
        }
        None => without_mark(bytes)?,
    };
    let strange = text.chars().filter(|c| is_strange(*c)).count();
    let most = (1 + text.len() / BYTES_FOR_A_CONTROL).min(text.len() / SHORT);
    (strange <= most).then_some(text)
}

fn without_mark(bytes: Vec<u8>) -> Option<String> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Some(text),
        Err(error) => error.into_bytes(),
    };
    let (mut letters, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        letters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    // Some damage does not make it another encoding, nor does an end in the middle of a letter.
    if letters >= broken {
        return Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let is_text = high * BYTES_FOR_A_LETTER <= bytes.len() && !bytes.contains(&0);
    is_text.then(|| WINDOWS_1252.decode_without_bom_handling(&bytes).0.into_owned())
}

/// Whether a text for people has no such character.
fn is_strange(c: char) -> bool {
    let is_usual = matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{8}' | '\u{1b}');
    c == char::REPLACEMENT_CHARACTER || c.is_control() && !is_usual
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Option<String> {
        decode(bytes.to_vec())
    }

    #[test]
    fn texts_are_read_in_their_encoding() {
        assert_eq!(of("Größe: 5 µA".as_bytes()).unwrap(), "Größe: 5 µA");
        assert_eq!(of(b"\xEF\xBB\xBFGr\xC3\xB6").unwrap(), "Grö");
        assert_eq!(
            of(b"Die Gr\xF6\xDFe ist 5 \x80 \x96 teuer").unwrap(),
            "Die Größe ist 5 € – teuer"
        );
        let units = || "Größe 😀".encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        assert_eq!(of(&[&[0xFF, 0xFE], &little[..]].concat()).unwrap(), "Größe 😀");
        assert_eq!(of(&[&[0xFE, 0xFF], &big[..]].concat()).unwrap(), "Größe 😀");
        assert_eq!(of(b"").unwrap(), "");
    }

    #[test]
    fn a_damaged_text_stays_what_it_is() {
        let damaged = "ä".repeat(100).into_bytes();
        let damaged = [&damaged[..], b"\xFF", &damaged[..]].concat();
        assert!(of(&damaged).unwrap().starts_with("ää"));
        let cut = &"The longest text that is read ends here: ää".as_bytes();
        assert!(of(&cut[..cut.len() - 1]).unwrap().contains("here: ä"));
        assert!(
            of(b"I (31) boot: colour \x1b[0;32m and a stray \0 in a log of some length").is_some()
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let all: Vec<u8> = (0..=255).cycle().take(4096).collect();
        for bytes in
            [&all[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", b"\x7fELF\x02\x01\x01\0\0\0", &[0; 9]]
        {
            assert_eq!(of(bytes), None);
        }
    }
}
