//! Finds numbers with names in a line: `temp=23.4`, `temp: 23.4 C`, `{"temp":23.4}`.
//!
//! Pure and without allocation, because every line a board prints may go through it.

use super::esp_log;

/// Longest name that is believed, in bytes.
const MAX_NAME: usize = 32;

/// Longest number, in bytes.
const MAX_NUMBER: usize = 24;

/// Values taken from one line.
const MAX_VALUES: usize = 16;

/// The names and values in a line without escape sequences, from the left. What is the number of a
/// place, a date, an address or a version is none.
pub fn values(line: &str) -> impl Iterator<Item = (&str, f64)> {
    let log = esp_log::parse(line);
    let message = log.map_or(0, |log| log.message);
    // `I (12) temp: 23.4` has its name for a tag.
    let tagged = log.and_then(|log| Some((log.tag, number(line.get(message..)?)?)));
    let rest = line.get(message..).unwrap_or_default();
    let named = rest.char_indices().filter_map(move |(place, c)| {
        let value = matches!(c, '=' | ':').then(|| rest.get(place + 1..)).flatten()?;
        let name = name(rest.get(..place)?)?;
        Some((name, number(value.trim_start_matches([' ', '\t']))?))
    });
    tagged.into_iter().chain(named).take(MAX_VALUES)
}

/// The name at the end of `before`.
fn name(before: &str) -> Option<&str> {
    let before = before.trim_end_matches(' ');
    let quoted = before.strip_suffix('"');
    let before = quoted.unwrap_or(before);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = before.bytes().rev().take(MAX_NAME + 1).take_while(is_of_name).count();
    let (rest, name) = before.split_at_checked(before.len() - length)?;
    let is_apart =
        rest.is_empty() || rest.ends_with([' ', '\t', ',', ';', '(', '[', '{', '|', '"']);
    let is_name = name.len() <= MAX_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_apart && is_name).then_some(name)
}

/// The number at the start of `text`, with a unit at most after it.
fn number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut has_point = false;
    let digits = bytes.iter().skip(sign).take(MAX_NUMBER).take_while(|&&byte| {
        let is_point = byte == b'.' && !has_point;
        has_point |= is_point;
        byte.is_ascii_digit() || is_point
    });
    let mut end = sign + digits.count();
    let exponent = bytes.get(end..).and_then(|rest| match rest {
        [b'e' | b'E', b'-' | b'+', digits @ ..] => Some((2, digits)),
        [b'e' | b'E', digits @ ..] => Some((1, digits)),
        _ => None,
    });
    if let Some((lead, digits)) = exponent {
        let count = digits.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        end += if count > 0 { lead + count } else { 0 };
    }
    let unit = text.get(end..)?;
    let letters = unit.chars().take_while(|c| c.is_alphabetic() || matches!(c, '%' | '°')).count();
    let after = unit.chars().nth(letters);
    let is_hex = unit.starts_with(['x', 'X']);
    let goes_on = matches!(after, Some('.' | ':' | '-' | '/' | '_' | '0'..='9')) && {
        // A full stop at the end of a sentence is no part of a number.
        after != Some('.') || unit.chars().nth(letters + 1).is_some_and(|c| c.is_ascii_digit())
    };
    if is_hex || goes_on || letters > 5 {
        return None;
    }
    text.get(..end)?.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_found_and_what_only_looks_like_one_is_not() {
        let cases: [(&str, &[(&str, f64)]); 18] = [
            ("temp=23.4", &[("temp", 23.4)]),
            ("I (12) app: temp: 23.4 C, hum: 40%", &[("temp", 23.4), ("hum", 40.0)]),
            ("I (12) temp: 23.4", &[("temp", 23.4)]),
            ("x = -1.5e-3; y=+2", &[("x", -0.0015), ("y", 2.0)]),
            ("{\"t\":21,\"rssi\": -67}", &[("t", 21.0), ("rssi", -67.0)]),
            ("free heap: 263248 bytes.", &[("heap", 263_248.0)]),
            ("v=3.3V i=12mA", &[("v", 3.3), ("i", 12.0)]),
            ("done in t=5.", &[("t", 5.0)]),
            ("ip: 192.168.4.1", &[]),
            ("main.c:14: error", &[]),
            ("at 10:20:30", &[]),
            ("day: 2026-01-02", &[]),
            ("addr: 0x3c", &[]),
            ("id=12ab34", &[]),
            ("mac: 24:0a:c4", &[]),
            ("n=", &[]),
            ("=5", &[]),
            ("température=21", &[]),
        ];
        for (line, wanted) in cases {
            assert_eq!(values(line).collect::<Vec<_>>(), wanted, "{line}");
        }
        assert_eq!(values(&"a=1 ".repeat(99)).count(), MAX_VALUES);
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(line in "([a-zé_]{0,3}[=:] ?[-+]?[0-9.eE°x]{0,6}[ ,\"]?){0,5}") {
            for (name, value) in values(&line) {
                prop_assert!(line.contains(name) && value.is_finite());
            }
        }

        #[test]
        fn what_is_printed_is_read_back(value in -1.0e9_f64..1.0e9) {
            let line = format!("I (1) app: v={value:.3} C");
            let found: Vec<_> = values(&line).collect();
            prop_assert!(found.len() == 1 && (found[0].1 - value).abs() < 0.001, "{line} {found:?}");
        }
    }
}
