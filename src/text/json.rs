//! JSON on one line that a terminal can show as it is and a program can parse.
//!
//! Owns which characters are written as `\uXXXX`: those that `sanitize` would
//! not show. The parsed value is the same, character by character.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use super::sanitize;

/// Writes `value` as JSON in one line, without a line feed.
///
/// # Errors
/// When it cannot be written as JSON, e.g. because a map has keys that are no text.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Escaped))?;
    // The formatter writes whole characters only.
    String::from_utf8(bytes).map_err(|error| serde::ser::Error::custom(error.utf8_error()))
}

/// Compact, with everything escaped that a terminal might act on or hide.
struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c| !sanitize::is_plain(c)) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut chars = tail.chars();
            if let Some(c) = chars.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_a_terminal_acts_on_or_hides_is_escaped_and_parses_to_the_same() {
        let text = "soft\u{ad}hyphen \u{9b}31m \u{7f}\u{202e}\u{1b}[2J\t\r\n\u{e0041} größer 漢 🦀";
        let value = json!({ text: [text, 1.5, null, true, {}] });
        let line = line(&value).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert!(line.contains(r"soft\u00adhyphen \u009b31m \u007f\u202e\u001b[2J\t\r\n"), "{line}");
        assert!(line.contains(r"\udb40\udc41 größer 漢 🦀"), "{line}");
    }

    fn value() -> impl Strategy<Value = Value> {
        let wild =
            "[\\x00-\\xad\u{200b}-\u{206f}\u{fe0f}\u{feff}\u{301}\u{e0041}\u{1f468}\\\\u\"]{0,24}";
        let text = prop_oneof![any::<String>(), wild.prop_map(|text| text)];
        let leaf = prop_oneof![
            text.prop_map(Value::from),
            // As models write them: escapes of half a character, which are text here.
            "(\\\\u(d800|dfff|009b)|x){0,6}".prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_one_harmless_line_that_parses_to_it(value in value()) {
            let line = line(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
            prop_assert!(line.chars().all(|c| !c.is_control()));
            prop_assert_eq!(sanitize::line(&line), line.as_str());
        }
    }
}
