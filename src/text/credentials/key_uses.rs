//! Tables of bytes that code uses as keys, whatever they are called.
//!
//! Owns which functions and fields take a key. Must not know files.

use std::ops::Range;

use super::key_names::{is_key_name, is_random_key};
use crate::text::c_tokens::{Token, TokenKind};

/// Tokens of a table that are read.
const LONGEST: usize = 512;

/// Tokens of the arguments of a call that are read.
const LONGEST_CALL: usize = 40;

/// A table of bytes with the length and the look of a key.
#[derive(Debug, PartialEq, Eq)]
pub struct ByteTable {
    /// What it is called.
    pub name: String,
    /// Where it stands, in bytes: the name and what follows it.
    pub range: Range<usize>,
}

/// The tables of a source that may be keys: `uint8_t a[16] = {…}`, `const A: [u8; 16] = […]`.
#[must_use]
pub fn tables(tokens: &[Token<'_>]) -> Vec<ByteTable> {
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let opens = (1..tokens.len()).filter(|at| (is(*at, "{") || is(*at, "[")) && is(at - 1, "="));
    let table = |open: usize| {
        let (bytes, end) = bytes(tokens, open)?;
        let start = open.checked_sub(2).filter(|at| is(*at, "]"))?;
        let bracket = (0..start).rev().take(12).find(|at| is(*at, "["))?;
        let before = bracket.checked_sub(1)?;
        let named = if is(before, ":") { before.checked_sub(1)? } else { before };
        let token = tokens.get(named)?;
        let name = token.word().filter(|_| is_random_key(&bytes))?.into_owned();
        Some(ByteTable { name, range: token.start..end })
    };
    opens.filter_map(table).collect()
}

/// The numbers between the marks that begin at `open`, and where they end; `None` where there is
/// anything else.
fn bytes(tokens: &[Token<'_>], open: usize) -> Option<(Vec<u8>, usize)> {
    let mut found = Vec::new();
    for token in tokens.get(open + 1..)?.iter().take(LONGEST) {
        match token.kind {
            TokenKind::Number => found.push(u8::try_from(token.number()?).ok()?),
            TokenKind::Mark if token.is(",") => {}
            TokenKind::Mark if token.is("}") || token.is("]") => {
                return Some((found, token.range().end));
            }
            _ => return None,
        }
    }
    None
}

/// Whether a table is copied to a key, or handed to a function that takes one.
#[must_use]
pub fn becomes_key(tokens: &[Token<'_>], name: &str) -> bool {
    const TAKES: [&str; 10] = [
        "setkey",
        "set_key",
        "import_key",
        "hmac_starts",
        "hmac_init",
        "hmac_hmac",
        "set_pmk",
        "set_lmk",
        "set_psk",
        "new_from_slice",
    ];
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let word = |at: usize| tokens.get(at).and_then(Token::word);
    let is_own = |at: usize| word(at).is_some_and(|word| word == name);
    let is_key = |at: usize| {
        word(at).is_some_and(|to| is_key_name(&to) || matches!(&*to, "lmk" | "pmk" | "psk"))
    };
    (0..tokens.len()).any(|at| {
        let Some(function) = word(at).filter(|_| is(at + 1, "(")) else { return false };
        let inside = || (at + 2..at + LONGEST_CALL).take_while(|at| !is(*at, ";"));
        if matches!(&*function, "memcpy" | "memmove") {
            let comma = inside().find(|at| is(*at, ","));
            return comma.is_some_and(|comma| is_key(comma - 1) && is_own(comma + 1));
        }
        let lower = function.to_ascii_lowercase();
        // `Key::from_slice(…)`, `hmac.new(…)`, `Aes128::new(…)`.
        let is_path = |at: &usize| {
            word(*at).is_some() || [":", "<", ">", "."].iter().any(|mark| is(*at, mark))
        };
        let owners = (at.saturating_sub(8)..at).rev().take_while(is_path).filter_map(word);
        let is_of_keys = matches!(lower.as_str(), "from_slice" | "new" | "from")
            && owners.into_iter().any(|owner| {
                let owner = owner.to_ascii_lowercase();
                ["key", "hmac", "aes", "cipher", "chacha", "cmac"]
                    .iter()
                    .any(|it| owner.contains(it))
            });
        let takes = is_of_keys || TAKES.iter().any(|part| lower.contains(part));
        takes && inside().any(is_own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    const BYTES: &str = "0x18, 0x40, 0xe1, 0x19, 0x05, 0xe4, 0xd3, 0x0b, 0x0a, 0x08, 0x10, 0x5b, \
                         0xea, 0xa7, 0x12, 0xaf";

    #[test]
    fn tables_that_may_be_keys_are_found_with_their_names() {
        let names = |source: &str| -> Vec<String> {
            let all = tokens(source, Style::C);
            let found = tables(&all).into_iter();
            found.map(|table| format!("{} {}", table.name, table.range.start)).collect()
        };
        assert_eq!(names(&format!("static const uint8_t seed[16] = {{ {BYTES}, }};")), ["seed 21"]);
        assert_eq!(names(&format!("const SEED: [u8; 16] = [{BYTES}];")), ["SEED 6"]);
        for source in [
            format!("uint8_t seed[17] = {{ {BYTES}, 1 }};"),
            format!("uint16_t seed[16] = {{ {}, 300 }};", BYTES.rsplit_once(',').unwrap().0),
            format!("uint8_t seed[16] = {{ {BYTES}, LAST }};"),
            format!("f({{ {BYTES} }});"),
            "uint8_t steps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};".into(),
        ] {
            assert_eq!(names(&source), [] as [String; 0], "{source}");
        }
    }

    #[test]
    fn what_takes_a_key_makes_one_of_a_table() {
        let is = |source: &str| becomes_key(&tokens(source, Style::C), "seed");
        for source in [
            "memcpy(aes_key, seed, 16);",
            "memcpy(peer.lmk, seed + 16, 16);",
            "esp_now_set_pmk(seed);",
            "mbedtls_aes_setkey_enc(&aes, seed, 128);",
            "let mac = Hmac::<Sha256>::new_from_slice(&seed).ok()?;",
            "let key = Key::<Aes128>::from_slice(&seed);",
            "let aes = Aes128::new(&seed.into());",
            "mac = hmac.new(seed, data)",
            "mbedtls_md_hmac_starts(&md, seed, sizeof(seed));",
        ] {
            assert!(is(source), "{source}");
        }
        for source in [
            "memcpy(buffer, seed, 16);",
            "memcpy(aes_key, other, 16); use(seed);",
            "esp_now_set_pmk(other); send(seed);",
            "setkey = seed;",
            "let list = Vec::from_slice(&seed);",
            "let sensor = Sensor::new(&seed);",
        ] {
            assert!(!is(source), "{source}");
        }
    }
}
