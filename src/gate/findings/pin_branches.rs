//! The parts of a source that count for one chip, and the branches of a conditional value.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::c_tokens::{Token, TokenKind};

/// Branches of one value that are followed.
const MOST: usize = 8;

/// The values that an expression can have: the branches of `a ? b : c`, else the expression itself.
pub(super) fn choices(all: &[Token<'_>], range: Range<usize>) -> Vec<Range<usize>> {
    let has_choice = all.get(range.clone()).unwrap_or_default().iter().any(|token| token.is("?"));
    if !has_choice {
        return vec![range];
    }
    let (mut found, mut open) = (Vec::new(), vec![range]);
    while let Some(range) = open.pop().filter(|_| found.len() < MOST) {
        let range = bare(all, range);
        match split(all, &range) {
            Some((yes, no)) => open.extend([no, yes]),
            None => found.push(range),
        }
    }
    found
}

/// An expression without brackets and casts around it.
fn bare(all: &[Token<'_>], mut range: Range<usize>) -> Range<usize> {
    let is = |at: usize, mark: &str| all.get(at).is_some_and(|token| token.is(mark));
    while is(range.start, "(") {
        let mut depth = 0_usize;
        let close = range.clone().find(|at| {
            depth += usize::from(is(*at, "("));
            depth -= usize::from(is(*at, ")")).min(depth);
            depth == 0
        });
        let Some(close) = close else { break };
        if close + 1 == range.end {
            range = range.start + 1..close;
        } else if is(close + 1, "(") {
            range.start = close + 1;
        } else {
            break;
        }
    }
    range
}

/// Both branches of `a ? b : c`.
fn split(all: &[Token<'_>], range: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let is = |at: usize, mark: &str| all.get(at).is_some_and(|token| token.is(mark));
    let (mut depth, mut question, mut inner) = (0_usize, None, 0_usize);
    let mut at = range.start;
    while at < range.end {
        if ["(", "[", "{"].iter().any(|mark| is(at, mark)) {
            depth += 1;
        } else if [")", "]", "}"].iter().any(|mark| is(at, mark)) {
            depth = depth.checked_sub(1)?;
        } else if depth == 0 && is(at, "?") {
            match question {
                None => question = Some(at),
                Some(_) => inner += 1,
            }
        } else if depth == 0 && is(at, ":") && is(at + 1, ":") {
            at += 1;
        } else if depth == 0 && is(at, ":") {
            match (question, inner) {
                (Some(question), 0) => return Some((question + 1..at, at + 1..range.end)),
                (Some(_), _) => inner -= 1,
                (None, _) => return None,
            }
        }
        at += 1;
    }
    None
}

/// The value in `[2] = 7`, an entry of an array by its place; else all of it.
pub(super) fn behind_index(all: &[Token<'_>], range: Range<usize>) -> Range<usize> {
    let is = |at: usize, mark: &str| all.get(at).is_some_and(|token| token.is(mark));
    if !is(range.start, "[") {
        return range;
    }
    let close = range.clone().find(|at| is(*at, "]") && is(*at + 1, "="));
    close.map_or(range.clone(), |close| (close + 2).min(range.end)..range.end)
}

/// The tokens that are compiled for a chip: branches for other chips are left out.
pub(super) fn for_chip<'t, 'a>(all: &'t [Token<'a>], chip: &str) -> Cow<'t, [Token<'a>]> {
    let is_target =
        |token: &Token<'_>| token.kind == TokenKind::Word && target(token.raw).is_some();
    if !all.iter().any(|token| token.in_directive && is_target(token)) {
        return Cow::Borrowed(all);
    }
    let mut kept = Vec::with_capacity(all.len());
    // For each open `#if`: whether its branch is compiled, and whether one was for sure.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut at = 0;
    while let Some(token) = all.get(at) {
        if !(token.in_directive && token.is("#")) {
            if open.iter().all(|(active, _)| *active) {
                kept.push(*token);
            }
            at += 1;
            continue;
        }
        let rest = all.get(at..).unwrap_or_default();
        let length = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
        let line = rest.get(..=length.unwrap_or(rest.len().saturating_sub(1))).unwrap_or(rest);
        let name = line.get(1).map_or("", |name| name.raw);
        let says = condition(line, name, chip);
        match name {
            "if" | "ifdef" | "ifndef" => open.push((says.unwrap_or(true), says == Some(true))),
            "elif" | "else" => {
                if let Some((active, taken)) = open.last_mut() {
                    *active = !*taken && says.unwrap_or(true);
                    *taken |= says == Some(true);
                }
            }
            "endif" => {
                open.pop();
            }
            _ if open.iter().all(|(active, _)| *active) => kept.extend_from_slice(line),
            _ => {}
        }
        at += line.len().max(1);
    }
    Cow::Owned(kept)
}

/// Whether a condition about the chip holds; `None` when it is about something else.
fn condition(line: &[Token<'_>], name: &str, chip: &str) -> Option<bool> {
    let chips: Vec<String> = line.iter().filter_map(|token| target(token.raw)).collect();
    if chips.is_empty() {
        return None;
    }
    let is_negated = name == "ifndef" || line.iter().any(|token| token.is("!"));
    Some(chips.iter().any(|named| named == chip) != is_negated)
}

/// The chip in `CONFIG_IDF_TARGET_ESP32S3` and `ARDUINO_ESP32S3_DEV`.
fn target(word: &str) -> Option<String> {
    let rest = ["CONFIG_IDF_TARGET_", "ARDUINO_", "IDF_TARGET_"]
        .iter()
        .find_map(|start| word.strip_prefix(start))?;
    let chip = rest.split('_').next()?.to_ascii_lowercase();
    chip.starts_with("esp32").then_some(chip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    fn shown(source: &str) -> Vec<String> {
        let all = tokens(source, Style::C);
        let text = |range: Range<usize>| {
            all[range].iter().map(|token| token.raw).collect::<Vec<_>>().join(" ")
        };
        choices(&all, 0..all.len()).into_iter().map(text).collect()
    }

    #[test]
    fn each_branch_of_a_value_is_one() {
        for (source, wanted) in [
            ("5", vec!["5"]),
            ("a > 1 ? 5 : 9", vec!["5", "9"]),
            ("(gpio_num_t)(v2 ? 5 : 9)", vec!["5", "9"]),
            ("a ? b ? 1 : 2 : 3", vec!["1", "2", "3"]),
            ("a ? x::P : f(b ? 1 : 2)", vec!["x : : P", "f ( b ? 1 : 2 )"]),
            ("(a) ? 1 : (2)", vec!["1", "2"]),
            ("f(a ? 1 : 2)", vec!["f ( a ? 1 : 2 )"]),
        ] {
            assert_eq!(shown(source), wanted, "{source}");
        }
    }

    #[test]
    fn an_entry_by_its_place_is_its_value() {
        let all = tokens("[A + 1] = 7", Style::C);
        let value = behind_index(&all, 0..all.len());
        assert_eq!(all[value].iter().map(|token| token.raw).collect::<Vec<_>>(), ["7"]);
    }
}
