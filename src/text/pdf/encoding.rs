//! Which letters the codes and glyph names of simple fonts stand for.
//!
//! Source: ISO 32000-1, annex D; names as in the Adobe Glyph List, which `glyphs.txt` holds the
//! part of that documents in Latin and Greek letters use.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Stands where nobody can tell the letter.
pub(super) const UNKNOWN: char = char::REPLACEMENT_CHARACTER;

/// Codes from 0x80 of the encoding of Windows in western Europe.
const WINDOWS: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";

/// Codes from 0x80 of the encoding of early Macintosh systems.
const MACINTOSH: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\
    \u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{fffd}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Codes of the standard encoding that are not those of ASCII.
const STANDARD: &str = "27’ 60‘ A1¡ A2¢ A3£ A4⁄ A5¥ A6ƒ A7§ A8¤ A9' AA“ AB« AC‹ AD› AEﬁ AFﬂ B1– B2† \
    B3‡ B4· B6¶ B7• B8‚ B9„ BA” BB» BC… BD‰ BF¿ C1` C2´ C3ˆ C4˜ C5¯ C6˘ C7˙ C8¨ CA˚ CB¸ CD˝ CE˛ CFˇ \
    D0— E1Æ E3ª E8Ł E9Ø EAŒ EBº F1æ F5ı F8ł F9ø FAœ FBß";

/// A named encoding of single bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// What fonts of Type 1 have when nothing is said.
    Standard,
    /// `WinAnsiEncoding`.
    Windows,
    /// `MacRomanEncoding`.
    Macintosh,
}

impl Encoding {
    /// The encoding of that name.
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"WinAnsiEncoding" | b"PDFDocEncoding" => Some(Self::Windows),
            b"MacRomanEncoding" => Some(Self::Macintosh),
            b"StandardEncoding" => Some(Self::Standard),
            _ => None,
        }
    }

    /// The letter of a code.
    pub fn letter(self, code: u8) -> Option<char> {
        let high = |table: &str| table.chars().nth(usize::from(code.wrapping_sub(0x80)));
        let found = match (self, code) {
            (Self::Standard, 0x27 | 0x60 | 0x80..) => {
                STANDARD.split_whitespace().find_map(|entry| {
                    let (hex, letter) = entry.split_at_checked(2)?;
                    (u8::from_str_radix(hex, 16).ok()? == code).then(|| letter.chars().next())?
                })
            }
            (_, 0x20..=0x7e) => Some(char::from(code)),
            (Self::Windows, 0x80..) => high(WINDOWS),
            (Self::Macintosh, 0x80..) => high(MACINTOSH),
            (_, 0..=0x1f | 0x7f) => None,
        };
        found.filter(|letter| *letter != UNKNOWN)
    }
}

/// The letters that a glyph of this name draws: a known name, `uni20AC`, `u1F600`, or one of these
/// with an ending such as `.alt`.
pub(super) fn glyph(name: &str) -> Option<String> {
    static GLYPHS: LazyLock<HashMap<&str, char>> = LazyLock::new(|| {
        let entries = include_str!("glyphs.txt").lines().filter_map(|line| {
            let (name, hex) = line.split_once(' ')?;
            Some((name, char::from_u32(u32::from_str_radix(hex, 16).ok()?)?))
        });
        entries.collect()
    });
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if let Some(letter) = GLYPHS.get(name) {
        return Some(letter.to_string());
    }
    let hex = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    if let Some(digits) = name.strip_prefix("uni").filter(|d| d.len() >= 4 && d.len() % 4 == 0) {
        let parts = (0..digits.len()).step_by(4).map(|at| hex(digits.get(at..at + 4)?));
        return parts.collect();
    }
    let digits = name.strip_prefix('u').filter(|d| (4..=6).contains(&d.len()))?;
    hex(digits).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_has_its_letters() {
        for (encoding, code, letter) in [
            (Encoding::Windows, 0x80, Some('€')),
            (Encoding::Windows, 0x41, Some('A')),
            (Encoding::Windows, 0xff, Some('ÿ')),
            (Encoding::Windows, 0x81, None),
            (Encoding::Macintosh, 0x80, Some('Ä')),
            (Encoding::Macintosh, 0xff, Some('ˇ')),
            (Encoding::Standard, 0x27, Some('’')),
            (Encoding::Standard, 0xae, Some('ﬁ')),
            (Encoding::Standard, 0xfb, Some('ß')),
            (Encoding::Standard, 0x80, None),
            (Encoding::Standard, 0x07, None),
        ] {
            assert_eq!(encoding.letter(code), letter, "{encoding:?} {code:x}");
        }
        assert_eq!((WINDOWS.chars().count(), MACINTOSH.chars().count()), (128, 128));
    }

    #[test]
    fn glyphs_are_known_by_name_or_number() {
        let known = |name| glyph(name).unwrap_or_default();
        assert_eq!(
            ["eacute", "a.alt", "Omega", "uni20AC", "uni00480069", "u1F600"].map(known),
            ["é", "a", "Ω", "€", "Hi", "😀"]
        );
        assert_eq!([".notdef", "g17", "", "unix", "uniD800"].map(glyph), [const { None }; 5]);
    }
}
