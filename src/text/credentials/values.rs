//! Whether a name speaks of a secret, and whether a text could be one.
//!
//! Owns the words of stand-ins such as `your-password`, and what looks random. Must not know
//! languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::word_lists::{self, NameWords, WORDS};

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSays {
    /// A password, passphrase or pre-shared key.
    Password,
    /// A token of a service.
    Token,
    /// A key or another secret.
    Key,
    /// A hash, a public key or the like, which looks random and is no secret.
    Public,
    Nothing,
}

pub(super) fn is_of(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

impl NameSays {
    /// What it says, or a password where it says nothing of a secret.
    pub(super) const fn or_password(self) -> Self {
        match self {
            Self::Public | Self::Nothing => Self::Password,
            says => says,
        }
    }
}

/// Parts of which each name that says something has one.
static HINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&WORDS.parts.names));

/// Finds any of several words, in small or large letters.
pub(super) fn finder(words: &[String]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

/// What the name of a variable, field, option or function says.
#[must_use]
pub fn name_says(name: &str) -> NameSays {
    if !HINTS.as_ref().is_none_or(|hints| hints.is_match(name)) {
        return NameSays::Nothing;
    }
    let parts = parts(name);
    let bare = |part: &str| part.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let bares: Vec<String> = parts.iter().map(|part| bare(part)).collect();
    let known = &WORDS.names;
    let has = |words: &HashSet<String>| parts.iter().chain(&bares).any(|part| words.contains(part));
    let is_bad = || {
        let ends = ["passwords", "tokens", "keys", "secrets", "list"];
        parts.iter().any(|part| known.bad_ones.contains(part))
            && parts.last().is_some_and(|last| ends.contains(&last.as_str()))
    };
    if parts.last().is_some_and(|last| known.about.contains(last)) || is_bad() {
        return NameSays::Nothing;
    }
    let ends = |part: &String| part.ends_with("password") || part.ends_with("passwd");
    let is_password =
        has(&known.passwords) || bares.iter().any(|part| part == "pass" || ends(part));
    if has(if is_password { &known.digests } else { &known.public }) {
        return NameSays::Public;
    }
    if is_password {
        return NameSays::Password;
    }
    if has(&known.tokens) {
        return NameSays::Token;
    }
    let is_key = parts.windows(2).any(|two| match two {
        [kind, key] => key == "key" && known.secret_keys.contains(kind),
        _ => false,
    });
    if has(&known.secrets) || is_key { NameSays::Key } else { NameSays::Nothing }
}

/// `wifiPass`, `WIFI_PASS` and `wifi-pass` as `wifi`, `pass`.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        let splits = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if splits && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if c.is_alphanumeric() {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Whether a literal is plainly not the secret itself.
#[must_use]
pub fn is_stand_in(literal: &str) -> bool {
    let literal = literal.trim();
    if literal.chars().count() < 4 || literal.starts_with("CONFIG_") {
        return true;
    }
    let holes = ["${", "$(", "{{", "%.", "%ESP", "!secret", "@@"];
    if holes.iter().any(|hole| literal.contains(hole))
        || has_format(literal)
        || is_bracketed(literal)
        || is_variable(literal)
        || is_file(literal)
        || is_pattern(literal)
        || literal.ends_with("EXAMPLEKEY")
    {
        return true;
    }
    // A bot's number, counted up, in front of its token.
    if let Some((number, token)) = literal.split_once(':')
        && number.len() > 2
        && "1234567890".contains(number)
        && is_stand_in(token)
    {
        return true;
    }
    let mut kinds: Vec<char> = literal.chars().filter(|c| c.is_alphanumeric()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() <= 1 {
        return true;
    }
    let words = parts(literal);
    let is_known = |word: &String| is_stand_in_word(word) || word_lists::is_between(word);
    let mut rest = words.iter().filter(|word| !is_known(word)).peekable();
    if rest.peek().is_none() && words.iter().any(|word| is_stand_in_word(word)) {
        return true;
    }
    if is_order(&words, literal) || is_denied(&words) {
        return true;
    }
    let invites = words.iter().any(|word| WORDS.stand_ins.invites.contains(word));
    let is_numbered = |word: &String| {
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = word.get(bare.len()..).unwrap_or_default();
        let is_counted = "0123456789".contains(digits) || digits.bytes().all(|digit| digit == b'0');
        is_counted && digits.len() < 6 && (bare.is_empty() || is_stand_in_word(bare))
    };
    if invites && rest.clone().all(is_numbered) {
        return true;
    }
    // A sentence that speaks of the secret.
    let is_sentence = literal.contains(' ') && words.len() > 1;
    let speaks = |word: &String| {
        speaks_of_secrets(word) || word != "my" && WORDS.stand_ins.invites.contains(word)
    };
    is_sentence && words.iter().any(speaks)
}

/// Whether a text says that it is no secret: `NOT-A-REAL-TOKEN`.
fn is_denied(words: &[String]) -> bool {
    const SAYS: [&[&str]; 6] = [
        &["not", "a", "real"],
        &["not", "real"],
        &["test", "only"],
        &["for", "tests", "only"],
        &["do", "not", "use"],
        &["not", "a", "secret"],
    ];
    let has =
        |phrase: &&[&str]| words.windows(phrase.len()).any(|words| words.iter().eq(phrase.iter()));
    SAYS.iter().any(has)
}

/// Whether a text tells to put the secret in its place: `CHANGE_ME_BEFORE_FLASHING`,
/// `dummy-token-for-all`.
fn is_order(words: &[String], literal: &str) -> bool {
    let first: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
    let orders = match first.as_slice() {
        [
            "change" | "put" | "set" | "fill" | "paste" | "add",
            "me" | "this" | "in" | "your" | "it" | "here",
        ] => true,
        [
            "replace" | "changeme" | "replaceme" | "insert" | "enter" | "todo" | "fixme"
            | "placeholder" | "dummy" | "your" | "fake",
            _,
        ] => words.len() > 2,
        _ => false,
    };
    let is_one_case = !literal.bytes().any(|byte| byte.is_ascii_lowercase())
        || !literal.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_plain = |c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | '-' | '_' | '.' | '!');
    orders && is_one_case && literal.chars().all(is_plain)
}

pub(super) fn speaks_of_secrets(word: &str) -> bool {
    let NameWords { passwords, tokens, secrets, .. } = &WORDS.names;
    [passwords, tokens, secrets].iter().any(|words| words.contains(word))
        || matches!(word, "pass" | "key" | "keys" | "tokens")
        || word_lists::is_foreign(word)
}

/// Whether a text holds a place of a format, e.g. `%s` or `%02x`, that is not the beginning of a
/// word.
fn has_format(literal: &str) -> bool {
    literal.match_indices('%').any(|(at, _)| {
        let rest = literal.get(at + 1..).unwrap_or_default();
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*".contains(c));
        let rest = rest.trim_start_matches(['h', 'l', 'z']);
        let mut rest = rest.chars();
        rest.next().is_some_and(|c| "sdiuxXcpfge".contains(c))
            && !rest.next().is_some_and(char::is_alphabetic)
    })
}

/// `<password>`, `{pass}`, `[key]`, `%WIFI_PASS%`.
fn is_bracketed(literal: &str) -> bool {
    let inner = [('<', '>'), ('{', '}'), ('[', ']'), ('%', '%')]
        .iter()
        .find_map(|(open, close)| literal.strip_prefix(*open)?.strip_suffix(*close));
    let between = literal.split_once('<').and_then(|(_, rest)| Some(rest.split_once('>')?.0));
    inner.is_some_and(|inner| inner.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c)))
        || between.is_some_and(|words| parts(words).iter().any(|word| is_stand_in_word(word)))
}

/// `$WIFI_PASS` and `$wifi_password`.
fn is_variable(literal: &str) -> bool {
    let Some(name) = literal.strip_prefix('$') else { return false };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_loud = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    is_name && (is_loud || parts(name).iter().all(|word| is_stand_in_word(word)))
}

/// A word of stand-ins, or some of them joined: `yourpassword`.
pub(super) fn is_stand_in_word(word: &str) -> bool {
    let is_word = |word: &str| WORDS.stand_ins.words.contains(word) || word_lists::is_foreign(word);
    if is_word(word) || word.chars().all(|c| c == 'x') {
        return true;
    }
    // Greedy from the left suffices: longer words first.
    let mut rest = word;
    let mut taken = 0;
    while !rest.is_empty() {
        let fits = (2..=rest.len().min(18)).rev().find_map(|length| {
            let start = rest.get(..length)?;
            is_word(start).then_some(length)
        });
        let Some(length) = fits else { return false };
        rest = rest.get(length..).unwrap_or_default();
        taken += 1;
    }
    taken > 0 && word.chars().any(char::is_alphabetic)
}

/// The name of a file, or a path.
fn is_file(literal: &str) -> bool {
    const ENDS: [&str; 12] = [
        ".pem", ".bin", ".key", ".csv", ".crt", ".der", ".txt", ".json", ".h", ".c", ".html",
        ".cer",
    ];
    !literal.contains(' ')
        && (ENDS.iter().any(|end| literal.ends_with(end))
            || literal.starts_with("/spiffs/")
            || literal.starts_with("./")
            || literal.starts_with("../"))
}

/// A regular expression: a class or a group that looks ahead, and how often or where it is.
fn is_pattern(literal: &str) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?:\(\?[=!:<]|\\[dwsDWS]|\[[^\]\s]*[!-~]-[!-~][^\]\s]*\]).*(?:\{\d+(?:,\d*)?\}|[+*$])",
        )
        .ok()
    });
    literal.contains(['[', '(', '\\'])
        && PATTERN.as_ref().is_some_and(|pattern| pattern.is_match(literal))
}

/// The characters from which something is put together: many, each once, some of them in a row.
pub(super) fn is_alphabet(literal: &str) -> bool {
    let kinds: HashSet<u8> = literal.bytes().collect();
    literal.len() >= 20 && kinds.len() == literal.len() && has_run(literal)
}

/// Whether a text that nothing names has the form of a password: letters of both cases, digits and
/// signs that words and formats do not have.
#[must_use]
pub fn is_like_password(literal: &str) -> bool {
    let has = |is: fn(char) -> bool| literal.chars().any(is);
    (8..=64).contains(&literal.len())
        && has(|c| c.is_ascii_lowercase())
        && has(|c| c.is_ascii_uppercase())
        && has(|c| c.is_ascii_digit())
        && has(|c| "!@#$&?^~§*".contains(c))
        && !has(|c| c.is_whitespace() || "/:<>{}%\\=|,".contains(c))
}

/// Passwords that everybody tries first, as tests of password rules use them.
#[must_use]
pub(super) fn is_everybodys(literal: &str) -> bool {
    const FIRST: &str = "password password1 password123 thisisapassword 12345678 1234567 123456789 123456 \
        1234 0000 admin letmein qwerty qwertyuiop abc123 iloveyou secret changeme test";
    literal.len() < 4 || is_of(FIRST, &literal.to_ascii_lowercase())
}

/// Whether a secret in a test is one that was made up for it: one that everybody tries first, plain
/// small words, or such with digits for letters.
#[must_use]
pub(super) fn is_of_tests(literal: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || matches!(c, ' ' | '-' | '_' | '.');
    let letter = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        c => c,
    };
    let spelled: String = literal.chars().map(letter).collect();
    is_everybodys(literal)
        || literal.len() <= 24 && literal.chars().all(is_plain)
        || spelled != literal && is_stand_in(&spelled)
}

/// Names of formats and the like, which hold digits and are no secret.
static TECHNICAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:sha-?\d+|aes-?\d+\S*|wpa\d?\S*|esp\d*\S*|utf-?\d+|base\d+|md\d|rfc-?\d+|x\d+|0x[0-9a-f]{1,16}|v?\d+(?:\.\d+)+|\d+-?[a-z]+|ieee\S*|802\S*|oauth\d?\S*|hs\d+|rs\d+|u?int\d+\S*|len\d*|gpio\d+|uart\d|i2c\d?|ble\d?|tls\S*|ssl\S*|\d+)[.)]?$",
    )
    .ok()
});

/// Whether a word that nothing quotes, in a comment, is a secret rather than prose.
#[must_use]
pub fn is_secret_word(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let mixes = has(|c| c.is_ascii_digit()) && has(char::is_alphabetic);
    word.len() >= 6
        && mixes
        && !word.contains(['(', '_', '<', '[', '=', '*'])
        && !word.contains("->")
        && !word.contains("::")
        && !TECHNICAL.as_ref().is_some_and(|pattern| pattern.is_match(word))
        && !is_stand_in(word)
}

/// How random a text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Randomness {
    /// A key or token as hexadecimal digits or base64.
    Random,
    Ordinary,
}

/// Whether a literal that no name explains looks like a key.
#[must_use]
pub fn looks(literal: &str) -> Randomness {
    let length = literal.len();
    if !(20..=512).contains(&length) || !literal.is_ascii() {
        return Randomness::Ordinary;
    }
    if is_base85(literal) {
        return Randomness::Random;
    }
    if length < 32 {
        return Randomness::Ordinary;
    }
    if literal.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let is_even = length.is_multiple_of(2);
        let random = is_even && entropy(literal) > 3.0 && !is_sequence(&hex_bytes(literal));
        return if random { Randomness::Random } else { Randomness::Ordinary };
    }
    let body = literal.trim_end_matches('=');
    let is_base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let has = |is: fn(u8) -> bool| body.bytes().filter(|byte| is(*byte)).count();
    let (upper, lower) = (has(|b| b.is_ascii_uppercase()), has(|b| b.is_ascii_lowercase()));
    let digits = has(|b| b.is_ascii_digit());
    let marks = body.len() - upper - lower - digits;
    let mixes = upper * 8 > body.len() && lower * 8 > body.len() && digits * 24 > body.len();
    let random = body.bytes().all(is_base64)
        && mixes
        && marks * 8 < body.len()
        && entropy(body) > 4.0
        && changes_of_class(body) * 3 > body.len()
        && !has_run(body);
    if random { Randomness::Random } else { Randomness::Ordinary }
}

/// Whether a text could be base85: characters of all kinds without any order.
fn is_base85(text: &str) -> bool {
    const MARKED: [&str; 14] =
        ["://", "A-Z", "a-z", "0-9", "[^", "(?", "\\", "\",", "\":", "</", "==", "&&", "||", "::"];
    if !text.bytes().all(|byte| byte.is_ascii_graphic())
        || MARKED.iter().any(|part| text.contains(part))
        || has_run(text)
    {
        return false;
    }
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let (digits, marks) = (count(u8::is_ascii_digit), count(u8::is_ascii_punctuation));
    let length = text.len();
    let mut kinds: Vec<u8> = text.bytes().filter(u8::is_ascii_punctuation).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mixes = upper * 10 >= length
        && lower * 6 >= length
        && digits * 20 >= length
        && marks * 8 >= length
        && marks * 2 <= length;
    // Words have longer runs of small letters, and formats repeat their marks.
    let letters = |c: char| !c.is_ascii_lowercase();
    let longest = text.split(letters).map(str::len).max().unwrap_or(0);
    mixes
        && kinds.len() >= 5
        && kinds.len() * 3 >= marks * 2
        && longest <= 5
        && changes_of_class(text) * 2 > length
        && entropy(text) > 4.0
}

/// How often neighbours are of another class: seldom in words, often in what is random.
fn changes_of_class(text: &str) -> usize {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    text.as_bytes().windows(2).filter(|two| matches!(two, [a, b] if class(*a) != class(*b))).count()
}

/// An alphabet: six characters in a row that follow one another.
fn has_run(text: &str) -> bool {
    let follows = |two: &[u8]| matches!(two, [a, b] if *b == a.wrapping_add(1));
    text.as_bytes().windows(6).any(|six| six.windows(2).all(follows))
}

/// Bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let whole = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / whole;
    counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum()
}

fn hex_bytes(text: &str) -> Vec<u8> {
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    text.as_bytes().chunks(2).filter_map(byte).collect()
}

/// Bytes that no one took from a random source: equal, counting, or few different ones.
#[must_use]
pub fn is_sequence(bytes: &[u8]) -> bool {
    let steps: HashSet<u8> =
        bytes.windows(2).filter_map(|two| Some(two.get(1)?.wrapping_sub(*two.first()?))).collect();
    let kinds: HashSet<u8> = bytes.iter().copied().collect();
    steps.len() <= 3 || kinds.len() * 3 <= bytes.len()
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
