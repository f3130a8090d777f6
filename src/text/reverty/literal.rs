//! Numbers and strings: from the text of one language to that of the other.
//!
//! Owns what a backslash means in a string: in Reverty a string ends at the next quote, so there is
//! no escape for a quote but `\x22`; the other escapes are those of Python, and a backslash that
//! begins none is a backslash.

use std::borrow::Cow;

/// A number without zeros before it, which Python refuses.
pub(super) fn number(digits: &str) -> &str {
    if !digits.starts_with('0') || digits.contains('.') {
        return digits;
    }
    let short = digits.trim_start_matches('0');
    if short.is_empty() { "0" } else { short }
}

/// What is between the quotes in Python, for what is between them in Reverty.
pub(super) fn to_python(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut python = String::with_capacity(inner.len() + 2);
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        python.push_str(before);
        let length = escape_length(escape.as_bytes());
        let (escape, tail) = escape.split_at(length.max(1));
        python.push_str(if length == 0 { "\\\\" } else { escape });
        rest = tail;
    }
    python.push_str(rest);
    Cow::Owned(python)
}

/// The length of the escape that the bytes begin with, 0 when they begin with none.
fn escape_length(bytes: &[u8]) -> usize {
    let hex = |digits: usize| {
        let found = bytes.get(2..2 + digits).unwrap_or_default();
        found.len() == digits && found.iter().all(u8::is_ascii_hexdigit)
    };
    match bytes.get(1) {
        Some(b'\\' | b'\'' | b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v') => 2,
        Some(b'x') if hex(2) => 4,
        Some(b'u') if hex(4) => 6,
        // The last character there is has the number 0x10ffff.
        Some(b'U') if hex(8) && is_character(bytes.get(2..10).unwrap_or_default()) => 10,
        Some(b'0'..=b'7') => {
            let digits = bytes.iter().skip(1).take(3);
            let length = digits.take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            // Three digits from 400 on are more than a byte.
            if length == 3 && bytes.get(1).is_some_and(|first| *first > b'3') {
                3
            } else {
                1 + length
            }
        }
        _ => 0,
    }
}

fn is_character(hex: &[u8]) -> bool {
    let text = std::str::from_utf8(hex).unwrap_or_default();
    u32::from_str_radix(text, 16).is_ok_and(|number| number <= 0x0010_ffff)
}

/// What is between the quotes in Reverty, for what is between them in Python.
pub(super) fn from_python(inner: &str) -> Cow<'_, str> {
    if !inner.contains(['"', '\'']) {
        return Cow::Borrowed(inner);
    }
    let mut reverty = String::with_capacity(inner.len() + 8);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => reverty.push_str("\\x22"),
            '\\' => match characters.next() {
                Some('"') => reverty.push_str("\\x22"),
                Some('\'') => reverty.push('\''),
                Some(other) => reverty.extend(['\\', other]),
                None => reverty.push('\\'),
            },
            other => reverty.push(other),
        }
    }
    Cow::Owned(reverty)
}

/// What is between the quotes of a string over several lines in Python, as it is on one line.
pub(super) fn on_one_line(inner: &str) -> String {
    let inner = inner.replace("\r\n", "\n");
    let mut line = String::with_capacity(inner.len() + 8);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\n' => line.push_str("\\n"),
            '\\' => match characters.next() {
                Some('\n') => {}
                other => line.extend(std::iter::once('\\').chain(other)),
            },
            other => line.push(other),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_the_same_in_python() {
        for (reverty, python) in [
            ("plain", "plain"),
            (r"a\nb", r"a\nb"),
            (r"end\", r"end\\"),
            (r"end\\", r"end\\"),
            (r"\d\q", r"\\d\\q"),
            (r"\x4", r"\\x4"),
            (r"\x41\u00e4", r"\x41\u00e4"),
            (r"\u12", r"\\u12"),
            (r"\U00110000", r"\\U00110000"),
            (r"\U0001f600", r"\U0001f600"),
            (r"\N{DIGIT ONE}", r"\\N{DIGIT ONE}"),
            (r"\777", r"\777"),
            (r"\08", r"\08"),
            ("\\\u{e4}", "\\\\\u{e4}"),
        ] {
            assert_eq!(to_python(reverty), python);
        }
    }

    #[test]
    fn strings_of_python_have_no_quotes_in_them() {
        for (python, reverty) in [
            ("it's", "it's"),
            (r"it\'s", "it's"),
            (r#"say \"x\""#, r"say \x22x\x22"),
            (r#"say "x""#, r"say \x22x\x22"),
            (r"back\\", r"back\\"),
        ] {
            assert_eq!(from_python(python), reverty);
        }
    }

    #[test]
    fn numbers_have_no_zeros_before_them() {
        for (text, number) in [("007", "7"), ("000", "0"), ("0", "0"), ("10", "10"), ("0.5", "0.5")]
        {
            assert_eq!(super::number(text), number);
        }
    }
}
