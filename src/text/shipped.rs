//! Tables of words and rules that ship with the program.
//!
//! Must not read files of the person: an error here names no line.

use serde::de::DeserializeOwned;

/// A table in TOML that is part of the program; `None` only when it is not of this form, which a test of
/// its owner tells.
///
/// It is read by way of JSON, for which a type is compiled once; the reader of TOML needs each three
/// times, for tables, places and dates.
#[must_use]
pub fn shipped_table<T: DeserializeOwned>(text: &str) -> Option<T> {
    let value: serde_json::Value = toml::from_str(text).ok()?;
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Row {
        name: String,
        factor: f64,
        pins: Vec<u8>,
    }

    #[test]
    fn a_table_is_read_whole_or_not_at_all() {
        let row = Row { name: "a".into(), factor: 1.5, pins: vec![1, 2] };
        assert_eq!(shipped_table("name = 'a'\nfactor = 1.5\npins = [1, 2]\n"), Some(row));
        for broken in ["name = 'a'", "name = ", "name = 'a'\nfactor = 1.5\npins = []\nx = 1"] {
            assert_eq!(shipped_table::<Row>(broken), None, "{broken}");
        }
    }
}
