//! Where a line of code, or a word that is wider than its place, is broken.
//!
//! Owns the order of preference: after a blank, at a sign, and within a name only when the name
//! alone is wider than the place. No part loses a character.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::ui::line;

/// What lies between two characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Border {
    /// A blank ends.
    Blank,
    /// A name, a number or a sign ends.
    Sign,
    /// They belong together.
    None,
}

/// Cuts a line into parts of at most `columns`, but of at least one character; together they are
/// the line.
#[must_use]
pub fn code_parts(line: &str, columns: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let (part, tail) = rest.split_at(first_part(rest, columns.max(1)));
        parts.push(part);
        if tail.is_empty() {
            return parts;
        }
        rest = tail;
    }
}

/// Where the first part ends, in bytes.
fn first_part(rest: &str, columns: usize) -> usize {
    let end = line::fitting(rest, columns);
    if end == 0 {
        // A character that is wider than the place.
        return rest.graphemes(true).next().map_or(rest.len(), str::len);
    }
    if end >= rest.len() {
        return rest.len();
    }
    let (mut blank, mut sign, mut indent) = (None, None, None);
    let mut before = "";
    for (at, grapheme) in rest.grapheme_indices(true).take_while(|(at, _)| *at <= end) {
        let is_full = at == end && grapheme.trim().is_empty();
        match border(before, grapheme) {
            Border::None if is_full => blank = Some(at),
            Border::None => {}
            // A row of blanks alone is the last choice.
            _ if rest.get(..at).is_some_and(|head| head.trim().is_empty()) => indent = Some(at),
            Border::Blank => blank = Some(at),
            Border::Sign => sign = Some(at),
        }
        before = grapheme;
    }
    let fits = |at: &usize| {
        let name = rest.get(*at..).unwrap_or_default();
        let is_inside = |c: char| c.is_alphanumeric() || c == '_';
        let name = name.split(|c| !is_inside(c)).next().unwrap_or_default();
        line::width(name) <= columns
    };
    blank.filter(|at| *at >= end / 2).or(sign.max(blank)).or(indent.filter(fits)).unwrap_or(end)
}

fn border(before: &str, after: &str) -> Border {
    let (Some(a), Some(b)) = (before.chars().next_back(), after.chars().next()) else {
        return Border::None;
    };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    // Scripts without spaces break between any two of their wide characters.
    if before.width() > 1 || after.width() > 1 {
        return Border::Sign;
    }
    match (a, b) {
        (_, b) if b.is_whitespace() => Border::None,
        (a, _) if a.is_whitespace() => Border::Blank,
        (a, b) if is_name(a) && is_name(b) => Border::None,
        // An escape, and what goes with a name.
        ('\\' | '#' | '@' | '$', _) => Border::None,
        ('.', b) if b.is_ascii_digit() => Border::None,
        (a, '.') if a.is_ascii_digit() => Border::None,
        // No row begins with what ends something.
        (_, ',' | ';' | ')' | ']' | '}' | '"' | '\'') => Border::None,
        (',' | ';' | '(' | '[' | '{', _) => Border::Sign,
        // A sign of several characters.
        (a, b) if !is_name(a) && !is_name(b) => Border::None,
        _ => Border::Sign,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_breaks_after_blanks_and_signs() {
        let call = "    ESP_ERROR_CHECK(i2c_master_bus_add_device(bus, &config, &device));";
        assert_eq!(
            code_parts(call, 40),
            ["    ESP_ERROR_CHECK(", "i2c_master_bus_add_device(bus, &config, ", "&device));"]
        );
        assert_eq!(code_parts("a_name(other_name)", 12), ["a_name(", "other_name)"]);
        assert_eq!(code_parts("x->first->second", 12), ["x->first->", "second"]);
        assert_eq!(code_parts("\"one\\ntwo\"", 6), ["\"one", "\\ntwo\""]);
        assert_eq!(code_parts("v = 3.1415;", 6), ["v = ", "3.1415", ";"]);
    }

    #[test]
    fn a_name_is_broken_only_when_it_is_wider_than_the_place() {
        assert_eq!(code_parts("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(code_parts("        a_long_name", 12), ["        ", "a_long_name"]);
        assert_eq!(code_parts("漢字漢字x", 4), ["漢字", "漢字", "x"]);
        assert_eq!(code_parts("", 4), [""]);
    }

    proptest! {
        #[test]
        fn parts_are_the_line_and_none_is_too_wide(
            line in "[a-z_ .,;()>漢é👩\\\\-]{0,90}",
            columns in 2usize..30,
        ) {
            let parts = code_parts(&line, columns);
            prop_assert_eq!(parts.concat(), line.as_str());
            for part in parts {
                prop_assert!(part.width() <= columns, "{}", part);
            }
        }

        #[test]
        fn no_name_that_fits_is_broken(
            names in prop::collection::vec("[a-z_0-9]{1,12}", 1..12),
            columns in 12usize..40,
        ) {
            let line = names.join("(");
            let ends: Vec<usize> = code_parts(&line, columns)
                .iter()
                .scan(0, |at, part| { *at += part.len(); Some(*at) })
                .collect();
            let is_name = |at: usize| line.as_bytes().get(at).is_some_and(|b| *b != b'(');
            for end in ends.into_iter().filter(|end| *end < line.len()) {
                prop_assert!(!(is_name(end) && is_name(end - 1)), "{} at {}", line, end);
            }
        }
    }
}
