//! Values in the terms of ESP-IDF's partition generator.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::StoredValue;
use super::encoding::Encoding;
use crate::model::{NvsKind, NvsValue};

/// Bytes of a namespace or a key, at most.
const MAX_NAME: usize = 15;

/// Bytes of a text with its NUL, and of a blob, at most.
const MAX_STRING: usize = 4000;
const MAX_BLOB: usize = 508_000;

/// Looks at a namespace or a key.
///
/// # Errors
/// When it is none: what is wrong with it, as the end of a sentence.
pub fn name(text: &str) -> Result<(), String> {
    match text.len() {
        0 => Err("is empty".to_owned()),
        1..=MAX_NAME if text.chars().any(char::is_control) => {
            Err(format!("`{}` has control characters", text.escape_debug()))
        }
        1..=MAX_NAME => Ok(()),
        length => Err(format!("`{text}` has {length} bytes; the limit is {MAX_NAME}")),
    }
}

/// The value that `text` stands for in an encoding of the generator: `u8` to `i64`, `string`,
/// `hex2bin` or `base64`.
///
/// # Errors
/// When it stands for none: why, as a sentence without its full stop.
pub fn value(encoding: &str, text: &str) -> Result<StoredValue, String> {
    match encoding {
        "string" => string(text),
        "hex2bin" => blob(hex(text)?),
        "base64" => {
            let packed: String = text.split_whitespace().collect();
            blob(STANDARD.decode(packed).map_err(|error| format!("it is not base64: {error}"))?)
        }
        other => {
            let kind = NvsKind::ALL.into_iter().find(|kind| kind.as_str() == other);
            match kind.and_then(|kind| Some((kind, Encoding::of(kind).width?))) {
                Some((kind, width)) => number(kind, width, text),
                None => Err(unknown(other)),
            }
        }
    }
}

/// The value that the content of a file stands for; `binary` takes it as it is.
///
/// # Errors
/// As [`value`].
pub fn of_file(encoding: &str, content: Vec<u8>) -> Result<StoredValue, String> {
    if encoding == "binary" {
        return blob(content);
    }
    let text = String::from_utf8(content).map_err(|_| "the file is not text".to_owned())?;
    value(encoding, &text)
}

fn unknown(encoding: &str) -> String {
    format!(
        "`{encoding}` is not a type; use u8, i8, u16, i16, u32, i32, u64, i64, string, hex2bin or base64"
    )
}

fn number(kind: NvsKind, width: usize, text: &str) -> Result<StoredValue, String> {
    let text = text.trim();
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // More digits than any type takes.
    let number = i128::from_str_radix(digits, radix);
    let number = number.map_err(|_| format!("`{text}` is not an integer"))?;
    let bits = width * 8;
    let (least, most) = match Encoding::of(kind).is_signed() {
        false => (0, (1_i128 << bits) - 1),
        true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
    };
    if number < least || number > most {
        let kind = kind.as_str();
        return Err(format!("{number} does not fit into {kind}, which holds {least} to {most}"));
    }
    let bytes = number.to_le_bytes().into_iter().take(width).collect();
    Ok(StoredValue { kind, bytes })
}

fn string(text: &str) -> Result<StoredValue, String> {
    if text.contains('\0') {
        return Err("a text ends at its first NUL, so it cannot contain one".to_owned());
    }
    if text.len() >= MAX_STRING {
        let most = MAX_STRING - 1;
        return Err(format!("the text has {} bytes; the limit is {most}", text.len()));
    }
    let bytes = text.bytes().chain([0]).collect();
    Ok(StoredValue { kind: NvsKind::String, bytes })
}

fn blob(bytes: Vec<u8>) -> Result<StoredValue, String> {
    match bytes.len() {
        0..=MAX_BLOB => Ok(StoredValue { kind: NvsKind::Blob, bytes }),
        more => Err(format!("{more} bytes are too many for a blob; the limit is {MAX_BLOB}")),
    }
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u32>> = text.trim().chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.ok_or("it has characters that are not hexadecimal digits")?;
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} hexadecimal digits are not whole bytes", digits.len()));
    }
    let byte = |pair: &[u32]| pair.iter().fold(0, |byte, digit| byte * 16 + digit);
    Ok(digits.chunks(2).map(|pair| u8::try_from(byte(pair)).unwrap_or_default()).collect())
}

/// The value that a plan names.
///
/// # Errors
/// As [`value`].
pub(super) fn of_plan(planned: &NvsValue) -> Result<StoredValue, String> {
    match planned.kind {
        NvsKind::Blob => value("hex2bin", &planned.text),
        kind => value(kind.as_str(), &planned.text),
    }
}
