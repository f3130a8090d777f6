//! Secrets that are compared only as far as what was sent goes: an empty text is then equal to all.
//!
//! Owns how such a comparison is written.

use super::source::SourceText;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_calls::parts;
use crate::text::c_tokens::{Token, TokenKind};

const COMPARISONS: [&str; 5] = ["strncmp", "strncasecmp", "memcmp", "strnstr", "compare_n"];

/// Stands before the name of an array of which only one element is compared.
const ELEMENT: &str = "[0] of ";

/// Parts of names of what has to be compared as a whole.
const SECRETS: [&str; 18] = [
    "entered", "typed", "guess", "pass", "pin", "token", "sig", "mac", "hmac", "secret", "key",
    "hash", "digest", "code", "auth", "cred", "want", "expect",
];

/// What is to be said of a source whose comparison of a secret became as long as what was sent.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let source = subject.source().filter(|_| beyond_task::is_code(path))?;
    let may = ["strlen", "strnlen", "strcspn", "sizeof"];
    if !may.iter().any(|name| source.text.contains(name)) {
        return None;
    }
    let added = &subject.changed().added;
    let is_new = |(line, _): &(u32, String)| added.contains(line);
    let found: Vec<(u32, String)> = comparisons(source).into_iter().filter(is_new).collect();
    let before = subject.base_source().filter(|_| !found.is_empty()).map(comparisons);
    let before = before.unwrap_or_default();
    let is_other = |(_, what): &(u32, String)| before.iter().all(|(_, was)| was != what);
    let (line, sent) = found.into_iter().find(is_other)?;
    let text = match sent.strip_prefix(ELEMENT) {
        Some(array) => format!("compares only one element of `{array}`"),
        None => format!("compares only as many characters as `{sent}` has"),
    };
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(
        finding.advice(
            "An empty text or the beginning is taken for the whole. Compare the lengths, too.",
        ),
    )
}

/// The comparisons of secrets with the length of one side: line, from 1, and the side.
fn comparisons(source: &SourceText<'_>) -> Vec<(u32, String)> {
    let tokens = source.tokens();
    let closes = source.closes();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        found.extend(looped(tokens, at).map(|sent| (source.number_at(token.start), sent)));
        let is_call = tokens.get(at + 1).is_some_and(|next| next.is("("));
        if token.kind != TokenKind::Word || !is_call {
            continue;
        }
        let is_called = |parts: &[&str]| {
            let name = token.raw.to_ascii_lowercase();
            parts.iter().any(|part| name.contains(part))
        };
        if !is_called(&["cmp", "same", "equal", "match", "strnstr", "compare"]) {
            continue;
        }
        let arguments = parts(tokens, closes, at + 1).into_iter().filter_map(|at| tokens.get(at));
        let [one, other, length] = arguments.collect::<Vec<_>>()[..] else { continue };
        let of_element = element_of(length).or_else(|| pointer_of(tokens, (at, length)));
        let is_element = of_element.is_some();
        let is_known = COMPARISONS.iter().any(|name| token.is_word(name));
        let Some(sent) =
            of_element.or_else(|| length_of(tokens, (at, length)).filter(|_| is_known))
        else {
            continue;
        };
        let names = |part: &[Token<'_>]| part.iter().any(|token| token.is_word(&sent));
        let side = if names(one) { other } else { one };
        let is_literal = side.iter().any(|token| token.kind == TokenKind::Text);
        let is_secret = [one, other].iter().flat_map(|part| part.iter()).any(|token| {
            let name = token.raw.to_ascii_lowercase();
            let mut words = name.split(|c: char| !c.is_alphanumeric());
            words.any(|word| SECRETS.iter().any(|secret| word.starts_with(secret)))
        });
        if (names(one) || names(other)) && !is_literal && is_secret {
            let sent = if is_element { format!("{ELEMENT}{sent}") } else { sent };
            found.push((source.number_at(token.start), sent));
        }
    }
    found
}

/// `i < strlen(sent)` in the head of a loop that compares `sent[i]`.
fn looped(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    if !is(at, "<") || !tokens.get(at + 1)?.is_word("strlen") || !is(at + 2, "(") {
        return None;
    }
    let sent = tokens.get(at + 3)?.word()?;
    let place = at.checked_sub(1).and_then(|at| tokens.get(at))?.word()?;
    let body = tokens.get(at + 5..(at + 60).min(tokens.len()))?;
    let end = body.iter().position(|token| token.is("}")).unwrap_or(body.len());
    let body = body.get(..end)?;
    let of_place = |name: &str| {
        body.windows(4).any(|four| match four {
            [of, open, at, close] => {
                (name.is_empty() || of.is_word(name))
                    && open.is("[")
                    && at.is_word(&place)
                    && close.is("]")
            }
            _ => false,
        })
    };
    let others = body.windows(3).filter(|three| {
        matches!(three, [of, open, at] if open.is("[") && at.is_word(&place) && !of.is_word(&sent))
    });
    let compares = body.iter().any(|token| token.is("^"))
        || body
            .windows(2)
            .any(|two| matches!(two, [a, b] if (a.is("!") || a.is("=")) && b.is("=")));
    (of_place(&sent) && others.count() > 0 && compares).then(|| sent.into_owned())
}

/// Of which pointer that a function takes a part is the size: `sizeof(want)` for `uint8_t *want`.
fn pointer_of(tokens: &[Token<'_>], (at, length): (usize, &[Token<'_>])) -> Option<String> {
    let [size, open, name, close] = length else { return None };
    let name = name.word().filter(|_| size.is_word("sizeof") && open.is("(") && close.is(")"))?;
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let declared = (0..at).rev().take(300).find(|at| {
        let is_declared = |before: &usize| {
            tokens.get(*before).is_some_and(|token| token.kind == TokenKind::Word)
                || is(*before, "*")
        };
        tokens.get(*at).is_some_and(|token| token.is_word(&name))
            && at.checked_sub(1).as_ref().is_some_and(is_declared)
    })?;
    let is_pointer =
        is(declared.checked_sub(1)?, "*") && (is(declared + 1, ",") || is(declared + 1, ")"));
    is_pointer.then(|| name.into_owned())
}

/// Of which array a part is the size of one element: `sizeof(*hash)`, `sizeof(hash[0])`.
fn element_of(length: &[Token<'_>]) -> Option<String> {
    let [size, open, rest @ .., close] = length else { return None };
    if !size.is_word("sizeof") || !open.is("(") || !close.is(")") {
        return None;
    }
    let name = |part: &[Token<'_>]| {
        part.iter().rev().find_map(Token::word).map(std::borrow::Cow::into_owned)
    };
    match rest {
        [star, of @ ..] if star.is("*") => name(of),
        [of @ .., open, _, close] if open.is("[") && close.is("]") => name(of),
        _ => None,
    }
}

/// Of which text a part is the length: `strlen(sent)`, or a name that was given that.
fn length_of(tokens: &[Token<'_>], (at, length): (usize, &[Token<'_>])) -> Option<String> {
    const LENGTHS: [&str; 3] = ["strlen", "strnlen", "strcspn"];
    fn is_length(call: &Token<'_>) -> bool {
        LENGTHS.iter().any(|name| call.is_word(name))
    }
    fn of_call(part: &[Token<'_>]) -> Option<String> {
        match part {
            [call, open, text, ..] if is_length(call) && open.is("(") => {
                Some(text.word()?.into_owned())
            }
            _ => None,
        }
    }
    if let Some(text) = of_call(length) {
        return Some(text);
    }
    let [name] = length else { return None };
    let name = name.word()?;
    let assigned = (0..at).rev().take(200).find(|at| {
        tokens.get(*at).is_some_and(|token| token.is_word(&name))
            && tokens.get(at + 1).is_some_and(|token| token.is("="))
    })?;
    of_call(tokens.get(assigned + 2..)?)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "bool ok(const char *sig)\n{\n    return strcmp(want, sig) == 0;\n}\n";

    fn found(line: &str) -> Vec<String> {
        let new = OLD.replace("return strcmp(want, sig) == 0;", line);
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), &new), "Ignore case");
        all.into_iter().filter(|found| found.contains("compares")).collect()
    }

    #[test]
    fn a_secret_that_is_compared_in_part_is_told() {
        let wanted = "compares only as many characters as `sig` has";
        for line in [
            "return strncasecmp(want, sig, strlen(sig)) == 0;",
            "size_t n = strlen(sig); return strncmp(want, sig, n) == 0;",
            "size_t n = strcspn(sig, \"\\n\"); return strncmp(want, sig, n) == 0;",
        ] {
            assert_eq!(found(line), [format!("Warning 3: {wanted}")], "{line}");
        }
        let element = "return same(want, rec.sig, sizeof(*rec.sig));";
        let wanted_of = "Warning 3: compares only one element of `sig`";
        assert_eq!(found(element), [wanted_of]);
        let old = "bool ok(const uint8_t *sig)\n{\n    return strcmp(want, sig) == 0;\n}\n";
        let new = old.replace("strcmp(want, sig) == 0", "ct_equal(want, sig, sizeof(sig))");
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(old), &new), "Move it");
        assert!(all.iter().any(|found| found.contains("one element of `sig`")), "{all:?}");
        let looped = "int d = 0; for (size_t i = 0; i < strlen(sig); i++) { d |= sig[i] ^ want[i]; } return !d;";
        assert_eq!(found(looped), [format!("Warning 3: {wanted}")]);
        for line in [
            "for (size_t i = 0; i < strlen(sig); i++) { sum += sig[i]; } return sum == 4;",
            "for (size_t i = 0; i < strlen(sig); i++) { out[i] = sig[i]; } return true;",
            "return strncmp(want, sig, sizeof(want)) == 0;",
            "return same(want, rec.sig, sizeof(rec.sig));",
            "return strncmp(sig, \"v1=\", strlen(\"v1=\")) == 0;",
            "return strlen(sig) == 64 && memcmp(want, sig, 64) == 0;",
            "return strncmp(topic, base, strlen(base)) == 0;",
        ] {
            assert_eq!(found(line), [] as [String; 0], "{line}");
        }
    }
}
