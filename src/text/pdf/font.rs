//! What the codes of a font mean, and how far each moves the pen.

use std::collections::HashMap;

use hayro_cmap::{BfString, CMap};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};

use super::encoding::{Encoding, UNKNOWN, glyph};

/// Width of a letter when a font of two-byte codes says nothing, in em.
const WIDE: f64 = 1.0;

/// Most bytes of a character map that are read.
const MOST_MAP: usize = 4 << 20;

/// One drawn letter.
pub(super) struct Letter<'a> {
    /// What it says; more than one character for a ligature.
    pub text: &'a str,
    /// How far the pen moves, in em.
    pub advance: f64,
    /// Whether word spacing applies: the single byte 32.
    pub is_space: bool,
}

pub(super) enum Font {
    /// One byte is one letter.
    Simple {
        /// Text and advance of each code.
        letters: Box<[(String, f64)]>,
    },
    /// Codes are longer.
    Composite(Box<Composite>),
}

/// A font of codes of two bytes, or of what its character map says.
pub(super) struct Composite {
    to_unicode: Option<CMap>,
    /// Whether the codes are UTF-16 themselves.
    is_utf16: bool,
    codes: Option<CMap>,
    widths: HashMap<u32, f64>,
    default_width: f64,
}

impl Font {
    /// Reads the font's dictionary.
    pub fn read(dict: &Dict<'_>) -> Self {
        let to_unicode = dict.get::<Stream<'_>>("ToUnicode").and_then(|stream| map(&stream));
        if dict.get::<Name<'_>>("Subtype").as_deref() == Some(b"Type0") {
            return Self::Composite(Box::new(Composite::read(dict, to_unicode)));
        }
        let letters = simple(dict, to_unicode.as_ref());
        Self::Simple { letters: letters.into_boxed_slice() }
    }

    /// Tells `take` the letters of a string.
    pub fn letters(&self, bytes: &[u8], take: &mut dyn FnMut(Letter<'_>)) {
        match self {
            Self::Simple { letters } => {
                for &byte in bytes {
                    let Some((text, advance)) = letters.get(usize::from(byte)) else { continue };
                    take(Letter { text, advance: *advance, is_space: byte == b' ' });
                }
            }
            Self::Composite(font) => font.letters(bytes, take),
        }
    }
}

impl Composite {
    fn read(dict: &Dict<'_>, to_unicode: Option<CMap>) -> Self {
        let descendants = dict.get::<Array<'_>>("DescendantFonts");
        let below = descendants.and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let below = below.unwrap_or_else(Dict::empty);
        let codes = dict.get::<Stream<'_>>("Encoding").and_then(|stream| map(&stream));
        let named = |key: &str| dict.get::<Name<'_>>(key);
        let says_utf16 = |name: Name<'_>| {
            let name = name.as_str();
            name.contains("UCS2") || name.contains("UTF16")
        };
        // Some writers name the map to Unicode instead of giving it; then codes are letters.
        let is_utf16 = named("Encoding").is_some_and(says_utf16) || named("ToUnicode").is_some();
        let mut widths = HashMap::new();
        if let Some(array) = below.get::<Array<'_>>("W") {
            read_widths(&array, &mut widths);
        }
        let default_width = below.get::<f64>("DW").map_or(WIDE, |width| width / 1000.0);
        Self { to_unicode, is_utf16, codes, widths, default_width }
    }

    /// Length and number of the code at the start.
    fn code(&self, bytes: &[u8]) -> (usize, u32, u32) {
        let value = |length: usize| {
            bytes.iter().take(length).fold(0, |code: u32, byte| code << 8 | u32::from(*byte))
        };
        if let Some(codes) = &self.codes {
            for length in 1..=bytes.len().min(4) {
                let width = u8::try_from(length).unwrap_or(4);
                if let Some(cid) = codes.lookup_cid_code(value(length), width) {
                    return (length, value(length), cid);
                }
            }
        }
        (2.min(bytes.len().max(1)), value(2), value(2))
    }

    fn letters(&self, bytes: &[u8], take: &mut dyn FnMut(Letter<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (length, code, cid) = self.code(rest);
            let text = match self.to_unicode.as_ref().and_then(|map| map.lookup_bf_string(code)) {
                Some(found) => in_letters(found),
                None if self.is_utf16 => char::from_u32(code).unwrap_or(UNKNOWN).to_string(),
                None => UNKNOWN.to_string(),
            };
            let advance = self.widths.get(&cid).copied().unwrap_or(self.default_width);
            take(Letter { text: &text, advance, is_space: length == 1 && code == 32 });
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

fn map(stream: &Stream<'_>) -> Option<CMap> {
    let data = stream.decoded_data().ok()?;
    CMap::parse(data.get(..data.len().min(MOST_MAP))?, |_| None)
}

fn in_letters(found: BfString) -> String {
    let text = match found {
        BfString::Char(letter) => letter.to_string(),
        BfString::String(text) => text,
    };
    // A map to nothing is a map to something that nobody knows.
    if text.chars().all(|c| c == '\0') { UNKNOWN.to_string() } else { text }
}

/// Text and advance of the 256 codes of a simple font.
fn simple(dict: &Dict<'_>, to_unicode: Option<&CMap>) -> Vec<(String, f64)> {
    let names = GlyphNames::read(dict);
    let scale = match dict.get::<Array<'_>>("FontMatrix") {
        // Fonts that are drawings have a scale of their own.
        Some(matrix) => matrix.iter::<f64>().next().unwrap_or(0.001).abs(),
        None => 0.001,
    };
    let first = dict.get::<i32>("FirstChar").unwrap_or(0);
    let widths: Vec<f64> = match dict.get::<Array<'_>>("Widths") {
        Some(widths) => widths.iter::<f64>().take(256).collect(),
        None => Vec::new(),
    };
    let descriptor = dict.get::<Dict<'_>>("FontDescriptor");
    let missing = descriptor.and_then(|dict| dict.get::<f64>("MissingWidth"));
    let base = dict.get::<Name<'_>>("BaseFont");
    let is_mono = base.as_ref().is_some_and(|name| name.as_str().contains("Courier"));
    (0..=255_u8)
        .map(|code| {
            let mapped = to_unicode.and_then(|map| map.lookup_bf_string(u32::from(code)));
            let text = match mapped.map(in_letters) {
                Some(text) => text,
                None => names.letters(code).unwrap_or_else(|| UNKNOWN.to_string()),
            };
            let place = usize::try_from(i32::from(code) - first).ok();
            let reported = place.and_then(|place| widths.get(place)).copied();
            let reported =
                reported.filter(|width| *width > 0.0).or(missing.filter(|_| !widths.is_empty()));
            let advance = match reported {
                Some(width) => width * scale,
                None if is_mono => 0.6,
                None => usual(&text),
            };
            (text, advance)
        })
        .collect()
}

/// How a font names what it draws.
struct GlyphNames {
    base: Encoding,
    differences: HashMap<u8, String>,
}

impl GlyphNames {
    fn read(dict: &Dict<'_>) -> Self {
        let is_truetype = dict.get::<Name<'_>>("Subtype").as_deref() == Some(b"TrueType");
        let usual = if is_truetype { Encoding::Windows } else { Encoding::Standard };
        let mut names = Self { base: usual, differences: HashMap::new() };
        match dict.get::<Object<'_>>("Encoding") {
            Some(Object::Name(name)) => names.base = Encoding::named(&name).unwrap_or(usual),
            Some(Object::Dict(dict)) => {
                let base = dict.get::<Name<'_>>("BaseEncoding");
                names.base = base.and_then(|name| Encoding::named(&name)).unwrap_or(usual);
                if let Some(differences) = dict.get::<Array<'_>>("Differences") {
                    names.read_differences(&differences);
                }
            }
            _ => {}
        }
        names
    }

    fn read_differences(&mut self, differences: &Array<'_>) {
        let mut code = 0_u32;
        for item in differences.iter::<Object<'_>>() {
            match item {
                Object::Number(number) => code = u32::try_from(number.as_i64()).unwrap_or(256),
                Object::Name(name) => {
                    if let Ok(place) = u8::try_from(code) {
                        self.differences.insert(place, name.as_str().to_owned());
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }

    fn letters(&self, code: u8) -> Option<String> {
        match self.differences.get(&code) {
            Some(name) => glyph(name),
            None => self.base.letter(code).map(String::from),
        }
    }
}

/// The widths of a composite font: `first [w w w]` and `first last w`.
fn read_widths(array: &Array<'_>, widths: &mut HashMap<u32, f64>) {
    let items: Vec<Object<'_>> = array.iter::<Object<'_>>().collect();
    let number = |at: usize| match items.get(at) {
        Some(Object::Number(number)) => Some(number.as_f64()),
        _ => None,
    };
    let whole = |at: usize| number(at).filter(|n| (0.0..65_536.0).contains(n)).map(|n| n as u32);
    let mut at = 0;
    while let Some(first) = whole(at) {
        if let Some(Object::Array(list)) = items.get(at + 1) {
            for (cid, width) in (first..).zip(list.iter::<f64>()) {
                widths.insert(cid, width / 1000.0);
            }
            at += 2;
        } else if let (Some(last), Some(width)) = (whole(at + 1), number(at + 2)) {
            widths.extend((first..=last).map(|cid| (cid, width / 1000.0)));
            at += 3;
        } else {
            break;
        }
    }
}

/// How wide letters usually are, in em: enough to tell a gap between words from none.
fn usual(text: &str) -> f64 {
    match text.chars().next() {
        Some('i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | ' ') => 0.28,
        Some('f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/') => 0.33,
        Some('m' | 'w' | 'M' | 'W' | '—') => 0.86,
        Some(c) if c.is_uppercase() => 0.69,
        _ => 0.54,
    }
}
