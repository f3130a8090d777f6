//! Secrets in bytes: private keys in DER, and bytes that the program turns into a text with XOR, so
//! that nobody reads them.
//!
//! Owns how such bytes begin and how they are unmasked. Names are not asked.

use std::ops::Range;

use super::secret::Secret;
use super::values::{NameSays, name_says};
use crate::text::c_tokens::{Token, TokenKind};

/// Fewest bytes that may hide a secret, and most: tables are longer.
const FEWEST: usize = 4;
const MOST: usize = 4_096;
const LONGEST_MASKED: usize = 200;

/// An array of bytes with its name.
struct Bytes {
    name: String,
    range: Range<usize>,
    bytes: Vec<u8>,
}

/// The secrets in the arrays of a source.
pub(super) fn find(tokens: &[Token<'_>]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((range, end)) = generated(tokens, at) {
            let what = "bytes that the program unmasks, as a secret may be".to_owned();
            found.push(Secret { range, what, is_sure: false });
            at = end;
            continue;
        }
        found.extend(decoded(tokens, at));
        let Some((array, end)) = array(tokens, at) else {
            at += 1;
            continue;
        };
        at = end;
        let secret = |what: &str, is_sure| Secret {
            range: array.range.clone(),
            what: what.to_owned(),
            is_sure,
        };
        if is_private_key(&array.bytes) {
            found.push(secret("a private key", true));
        } else if is_text(&array.bytes) {
            let what = format!("a text in `{}` that is written as numbers", array.name);
            found.push(secret(&what, false));
        } else if array.bytes.len() <= LONGEST_MASKED && is_unmasked(tokens, &array.name) {
            let what =
                format!("bytes in `{}` that the program unmasks, as a secret may be", array.name);
            found.push(secret(&what, false));
        }
    }
    found
}

/// Functions that turn a text into the bytes that it stands for.
const DECODERS: [&str; 8] = [
    "a2b_base64",
    "b64decode",
    "urlsafe_b64decode",
    "standard_b64decode",
    "unhexlify",
    "fromhex",
    "base64_decode",
    "atob",
];

/// `password = a2b_base64(b'…')` whose function stands at `at`: what gets the name of a secret.
fn decoded(tokens: &[Token<'_>], at: usize) -> Option<Secret> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let function = tokens.get(at)?;
    let literal = tokens.get(at + 2).filter(|token| token.kind == TokenKind::Text)?;
    let text = literal.text()?;
    if !DECODERS.iter().any(|name| function.is_word(name))
        || !is(at + 1, "(")
        || !(FEWEST..=LONGEST_MASKED).contains(&text.len())
    {
        return None;
    }
    let mut before = at.checked_sub(1)?;
    // `base64.b64decode`, `bytes.fromhex`
    if is(before, ".") {
        before = before.checked_sub(2)?;
    }
    let name = tokens.get(before.checked_sub(1)?).filter(|_| is(before, "="))?.word()?;
    let says = name_says(&name);
    let is_secret = matches!(says, NameSays::Password | NameSays::Token | NameSays::Key);
    is_secret.then(|| Secret::named(literal.range(), says, &name))
}

/// `c ^ 0x5A for c in (0x29, 0x31, …)` of Python whose bracket opens at `at`, and what follows.
fn generated(tokens: &[Token<'_>], at: usize) -> Option<(Range<usize>, usize)> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let start = at.checked_sub(6).filter(|_| is(at, "(") || is(at, "["))?;
    let name = tokens.get(at - 2)?.word()?;
    let is_masked = is_word(at - 1, "in") && is_word(at - 3, "for") && is(at - 5, "^");
    let mut sides = [start, at - 4].into_iter();
    if !is_masked || !sides.any(|side| is_word(side, &name)) {
        return None;
    }
    let inside = tokens.iter().skip(at + 1).take(LONGEST_MASKED * 2);
    let inside = inside.take_while(|it| it.kind == TokenKind::Number || it.is(","));
    let end = at + 1 + inside.clone().count();
    let count = inside.filter(|it| it.kind == TokenKind::Number).count();
    let is_closed = is(end, ")") || is(end, "]");
    let range = tokens.get(start)?.start..tokens.get(end)?.range().end;
    (is_closed && count >= FEWEST).then_some((range, end))
}

/// `NAME[] = { 0x29, 0x31, … }` whose bracket opens at `at`, and what follows.
fn array(tokens: &[Token<'_>], at: usize) -> Option<(Bytes, usize)> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    if !is(at, "{") && !is(at, "[") {
        return None;
    }
    let mut before = at.checked_sub(1)?;
    if is(before, "(") {
        before = before.checked_sub(2)?;
    }
    let equal = if is(before, "=") { before } else { return None };
    let mut name = equal.checked_sub(1)?;
    while is(name, "]") {
        name = (0..name).rev().take(12).find(|at| is(*at, "["))?.checked_sub(1)?;
    }
    // `DEVICE: [u8; 121]`, of Rust.
    let name = if is(name, ":") { name.checked_sub(1)? } else { name };
    let name = tokens.get(name)?.word()?.into_owned();
    let mut bytes = Vec::new();
    let mut end = at + 1;
    while let Some(token) = tokens.get(end) {
        match token.kind {
            TokenKind::Number => bytes.push(u8::try_from(token.number()?).ok()?),
            TokenKind::Mark if token.is(",") => {}
            TokenKind::Mark if token.is("}") || token.is("]") => break,
            _ => return None,
        }
        end += 1;
    }
    let range = tokens.get(at)?.start..tokens.get(end)?.range().end;
    (FEWEST..=MOST).contains(&bytes.len()).then_some((Bytes { name, range, bytes }, end))
}

/// Whether bytes spell a text that nobody is to read: letters and digits, with few signs between them,
/// and in no order, as alphabets and tables have it.
fn is_text(bytes: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"-_.!@#$%&*+=:/".contains(byte);
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let signs = bytes.iter().filter(|byte| is_sign(byte)).count();
    let steps =
        bytes.windows(2).filter(|pair| matches!(pair, [a, b] if b.abs_diff(*a) <= 2)).count();
    (8..=64).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
        && letters * 2 >= bytes.len()
        && signs * 4 <= bytes.len()
        && steps * 2 <= bytes.len()
}

/// Whether bytes begin as a private key does: SEC 1 (RFC 5915), PKCS #1 (RFC 8017) or PKCS #8 (RFC 5958).
fn is_private_key(bytes: &[u8]) -> bool {
    let Some([0x30, rest @ ..]) = bytes.get(..) else { return false };
    let inner = match rest {
        [0x82, _, _, inner @ ..] | [0x81, _, inner @ ..] => inner,
        [length, inner @ ..] if *length < 0x80 => inner,
        _ => return false,
    };
    match inner {
        // The version, then a key of 16 bytes or more.
        [2, 1, 1, 4, length, ..] => (0x10..=0x42).contains(length),
        // The version, then a long number that is not small, as in a certificate.
        [2, 1, 0, 2, 0x81 | 0x82, ..] => true,
        // The version, then the name of the algorithm of a key.
        [2, 1, 0, 0x30, _, 6, length, ..] => matches!(length, 3 | 7 | 9),
        _ => false,
    }
}

/// Whether the bytes of a name are each changed with XOR: `NAME[i] ^ 0x5A`, or `for (b : NAME)` with
/// `b ^`.
fn is_unmasked(tokens: &[Token<'_>], name: &str) -> bool {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let places = tokens.iter().enumerate().filter(|(_, token)| token.is_word(name));
    for (at, _) in places {
        if is(at + 1, "[") {
            // A simple place; the place in a table of a sum is an expression.
            let is_repeated = is(at + 3, "%") && is(at + 5, "]");
            let is_simple = is(at + 3, "]") || is_repeated;
            let end = if is(at + 3, "]") { at + 4 } else { at + 6 };
            let is_masked = |sign: usize, mask: usize| {
                let inside = if is(mask, "(") { mask..mask + 6 } else { mask..mask + 1 };
                let is_number = inside
                    .into_iter()
                    .any(|at| tokens.get(at).is_some_and(|token| token.kind == TokenKind::Number));
                is(sign, "^") && (is_number || is_repeated)
            };
            let before = at.checked_sub(2).is_some_and(|mask| is_masked(mask + 1, mask));
            if is_simple && (is_masked(end, end + 1) || before) {
                return true;
            }
        }
        // `for (uint8_t b : NAME)`, `for b in NAME`
        let each = at.checked_sub(2).and_then(|at| tokens.get(at)).and_then(Token::word);
        let is_each = at.checked_sub(1).is_some_and(|before| {
            is(before, ":") || tokens.get(before).is_some_and(|token| token.is_word("in"))
        });
        if let Some(each) = each.filter(|_| is_each) {
            let from = at.saturating_sub(20);
            let near = tokens.get(from..(at + 30).min(tokens.len())).unwrap_or_default();
            let is_masked = |two: &[Token<'_>]| match two {
                [one, other] => {
                    one.is_word(&each) && other.is("^") || one.is("^") && other.is_word(&each)
                }
                _ => false,
            };
            if near.windows(2).any(is_masked) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::secrets;

    fn found(path: &str, source: &str) -> Vec<String> {
        secrets(path, source).into_iter().map(|secret| secret.what).collect()
    }

    #[test]
    fn private_keys_are_known_by_how_they_begin() {
        let tail = ", 0x11".repeat(60);
        for (head, is_key) in [
            ("0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20", true),
            ("0x30, 0x82, 0x04, 0xa4, 0x02, 0x01, 0x00, 0x02, 0x82, 0x01, 0x01", true),
            ("0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a", true),
            ("0x30, 0x82, 0x04, 0xa4, 0x30, 0x82, 0x03, 0x8c, 0xa0", false),
            ("0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86", false),
        ] {
            let source = format!("const uint8_t blob[] = {{ {head}{tail} }};\n");
            let rust = format!("static BLOB: [u8; 67] = [{head}{tail}];\n");
            for (path, source) in [("a.c", source), ("a.rs", rust)] {
                let has_key = found(path, &source).contains(&"a private key".to_owned());
                assert_eq!(has_key, is_key, "{path}: {head}");
            }
        }
    }

    #[test]
    fn bytes_that_a_generator_unmasks_may_be_a_secret() {
        let bytes = "17, 53, 51, 119, 14, 63, 51, 57";
        for source in [
            format!("_K = bytes(c ^ 0x5A for c in ({bytes}))\n"),
            format!("_K = bytes([0x5A ^ c for c in [{bytes}]])\n"),
        ] {
            assert_eq!(found("link.py", &source).len(), 1, "{source}");
        }
        for source in [
            format!("total = sum(c + 2 for c in ({bytes}))\n"),
            format!("total = [a ^ b for c in ({bytes})]\n"),
            "_K = bytes(c ^ 0x5A for c in data)\n".to_owned(),
        ] {
            assert_eq!(found("link.py", &source), [] as [String; 0], "{source}");
        }
    }

    #[test]
    fn a_secret_that_the_program_decodes_is_one() {
        for source in [
            "pw = a2b_base64(b'R3IzM25ob3VzZS03NzQxIQ==')\n",
            "connect(ssid, password=base64.b64decode(\"R3IzM25ob3VzZS03NzQxIQ==\"))\n",
            "api_key = bytes.fromhex('9f3a77c1')\n",
        ] {
            assert_eq!(found("main.py", source).len(), 1, "{source}");
        }
        for source in [
            "icon = a2b_base64(b'R3IzM25ob3VzZS03NzQxIQ==')\n",
            "pw = a2b_base64(cfg['pw'])\n",
            "public_key = bytes.fromhex('9f3a77c1')\n",
        ] {
            assert_eq!(found("main.py", source), [] as [String; 0], "{source}");
        }
    }

    #[test]
    fn bytes_that_are_unmasked_may_be_a_secret() {
        let bytes = "static const uint8_t pattern[] = { 0x29, 0x31, 0x28, 0x05, 0x36, 0x33, 0x2c, 0x3f };\n";
        for line in [
            "void f(char *o) { for (int i = 0; i < 8; i++) o[i] = pattern[i] ^ 0x5a; }",
            "void f(char *o) { for (int i = 0; i < 8; i++) o[i] = key[i] ^ pattern[i % 8]; }",
            "void f(char *o) { for (int i = 0; i < 8; i++) o[i] = pattern[i] ^ (0x3d + i); }",
            "bool f(const char *p) { return (p[0] ^ pattern[0] ^ 0x55) == 0; }",
            "void f() { for (const uint8_t b : pattern) s.push_back(static_cast<char>(b ^ 0x5a)); }",
        ] {
            let all = found("a.cpp", &format!("{bytes}{line}\n"));
            assert!(all.iter().any(|what| what.contains("`pattern`")), "{line}: {all:?}");
        }
        for line in [
            "uint8_t f(uint8_t c, uint8_t b) { return pattern[(c ^ b) & 7] ^ (c >> 4); }",
            "void f() { for (const uint8_t b : pattern) send(b); }",
            "uint8_t f(int i) { return pattern[i]; }",
            "void f(uint8_t *s) { for (int i = 0; i < 8; i++) s[i] = pattern[i] ^ round[i]; }",
        ] {
            assert_eq!(found("a.cpp", &format!("{bytes}{line}\n")), [] as [String; 0], "{line}");
        }
        let python = "P = [0x29, 0x31, 0x28, 0x05, 0x36, 0x33, 0x2c, 0x3f]\nT = bytes(b ^ 0x5a for b in P)\n";
        assert_eq!(found("a.py", python).len(), 1);
    }
}
