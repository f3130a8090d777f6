//! Copies and reads with a length that comes from outside and is no longer compared with anything.
//!
//! Owns which functions copy. Checks that go by themselves are told by
//! [`removed_checks`](super::removed_checks).

use std::ops::Range;

use super::source::{SourceText, raw};
use super::{Subject, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};
use crate::text::c_calls::parts;
use crate::text::c_tokens::TokenKind;

/// Functions that copy or read, and the place of how many bytes among their arguments. Sources: `string.h`,
/// `unistd.h`, `sys/socket.h`, `esp_http_server.h`, `esp_http_client.h` and `driver/uart.h`.
const COPIES: [(&str, usize); 12] = [
    ("memcpy", 2),
    ("memmove", 2),
    ("strncpy", 2),
    ("mempcpy", 2),
    ("bcopy", 2),
    ("copy_nonoverlapping", 2),
    ("httpd_req_recv", 2),
    ("recv", 2),
    ("read", 2),
    ("uart_read_bytes", 2),
    ("esp_http_client_read", 2),
    ("readBytes", 1),
];

/// What bounds a value without a comparison.
const BOUNDS: [&str; 8] = ["min", "MIN", "clamp", "CLAMP", "constrain", "sizeof", "strlen", "size"];

/// A call that copies: its line, from 1, and how many bytes, as [`raw`].
struct Copy {
    line: u32,
    length: String,
    /// Whether it is always the same, or the size of the place.
    is_fixed: bool,
}

/// What is to be said of a function that copies without looking at the length, and looked at it before.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let changed = subject.changed();
    if changed.removed.is_empty()
        || !COPIES.iter().any(|(name, _)| new.text.contains(name))
        || wishes::may_want_less_checked(&subject.context.person_words())
    {
        return None;
    }
    let tokens = new.tokens();
    for function in new.functions() {
        let Some(name) = tokens.get(function.name).map(|token| token.raw) else { continue };
        let Some(before) = function_named(old, name) else { continue };
        let (was, is) = (copies(old, &before), copies(new, &function.body));
        let is_safe = |copy: &Copy| copy.is_fixed || is_bounded(old, &before, &copy.length);
        if was.is_empty() || !was.iter().all(is_safe) {
            continue;
        }
        let lost = is.iter().find(|copy| {
            !copy.is_fixed
                && changed.added.contains(&copy.line)
                && !is_bounded(new, &function.body, &copy.length)
        });
        let Some(lost) = lost else { continue };
        let length = super::removed_checks::shown(&lost.length);
        let text = format!("copies `{length}` bytes, which nothing is compared with any longer");
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(lost.line));
        return Some(finding.advice("A length from outside can be larger than the place for it."));
    }
    None
}

fn function_named(source: &SourceText<'_>, name: &str) -> Option<Range<usize>> {
    let tokens = source.tokens();
    let is = |at: usize| tokens.get(at).is_some_and(|token| token.is_word(name));
    let mut named = source.functions().iter().filter(|function| is(function.name));
    let found = named.next()?;
    named.next().is_none().then(|| found.body.clone())
}

fn copies(source: &SourceText<'_>, body: &Range<usize>) -> Vec<Copy> {
    let (tokens, closes) = (source.tokens(), source.closes());
    let mut found = Vec::new();
    for at in body.clone() {
        let Some(token) = tokens.get(at) else { continue };
        let Some((_, place)) = COPIES.iter().find(|(name, _)| token.is_word(name)) else {
            continue;
        };
        let arguments = parts(tokens, closes, at + 1);
        let Some(part) = arguments.get(*place).and_then(|part| tokens.get(part.clone())) else {
            continue;
        };
        let is_variable = |word: &str| word.bytes().any(|byte| byte.is_ascii_lowercase());
        let mut words = part.iter().filter(|token| token.kind == TokenKind::Word);
        let is_fixed = part.iter().any(|token| BOUNDS.iter().any(|name| token.is_word(name)))
            || !words.any(|token| is_variable(token.raw));
        found.push(Copy { line: source.number_at(token.start), length: raw(part), is_fixed });
    }
    found
}

/// Whether a function compares a length with something, or takes the least of it and something else.
fn is_bounded(source: &SourceText<'_>, body: &Range<usize>, length: &str) -> bool {
    let text = raw(source.tokens().get(body.clone()).unwrap_or_default());
    let text = format!(" {text} ");
    let compared = ["<", ">"].iter().any(|sign| {
        let before = [format!(" {length} {sign} "), format!(" {length} ) {sign} ")];
        let behind = [format!(" {sign} {length} "), format!(" {sign} = {length} ")];
        // `p -> n` compares nothing.
        let arrow = format!("- {}", behind[0].trim_start());
        before.iter().any(|part| text.contains(part.as_str()))
            || text.contains(behind[1].as_str())
            || text.matches(behind[0].as_str()).count() > text.matches(arrow.as_str()).count()
    });
    let assigned = format!(" {length} = ");
    let least = text.split(assigned.as_str()).skip(1).any(|rest| {
        let value = rest.split(" ;").next().unwrap_or_default();
        value.split(' ').any(|word| BOUNDS.contains(&word)) || value.contains(" ? ")
    });
    compared || least
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "bool P::feed(const uint8_t *data, size_t len)\n{\n    const size_t n = data[2];\n    if (n \
                       > sizeof(frame.payload) || n > len - 3) {\n        return false;\n    }\n    \
                       memcpy(frame.payload, data + 3, n);\n    return true;\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/p.cpp", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("copies")).collect()
    }

    #[test]
    fn a_length_that_nothing_is_compared_with_any_longer_is_reported() {
        let new = "bool P::feed(std::span<const uint8_t> in)\n{\n    const size_t n = in[2];\n    \
                   std::memcpy(frame.payload, in.data() + 3, n);\n    return true;\n}\n";
        let wanted =
            "Warning 4: copies `n` bytes, which nothing is compared with any longer".to_owned();
        assert_eq!(found(new, "Take a span"), [wanted]);
        let direct = new.replace("3, n", "3, in[2]").replace("    const size_t n = in[2];\n", "");
        assert_eq!(found(&direct, "Take a span").len(), 1);
        assert_eq!(found(new, "Drop the check of the length"), [] as [String; 0]);
        for (from, to) in [
            ("in[2];\n", "in[2];\n    if (n > in.size()) return false;\n"),
            ("in[2];\n", "std::min<size_t>(in[2], 64);\n"),
            ("3, n", "3, sizeof(frame.payload)"),
            ("3, n", "3, PAYLOAD"),
        ] {
            assert_eq!(found(&new.replace(from, to), "Take a span"), [] as [String; 0], "{to}");
        }
    }
}
