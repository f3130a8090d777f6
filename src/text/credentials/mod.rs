//! Finds keys and passwords that stand in a text as literals.
//!
//! Owns how each kind of file holds them: sources with their constants, split texts and arrays,
//! configurations, and comments. Says where and of what kind, and never repeats a secret. Must not
//! judge: what a finding means is the caller's.

mod calls;
mod code;
mod composed;
mod for_people;
mod key_names;
mod key_uses;
mod labels;
mod left_out;
mod masked;
mod plain;
mod positions;
mod secret;
mod spelled_out;
mod values;
mod without;
mod word_lists;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use key_uses::{ByteTable, becomes_key, tables};
pub use secret::Secret;
use secret::{known, lines_around};
pub use values::{NameSays, is_sequence, is_stand_in, name_says};
pub use without::without;

use super::c_tokens::{Style, Token, tokens};

/// How a file holds literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LiteralForm {
    Code(Style),
    /// `NAME=value`, `name: value`.
    Settings,
    Kconfig,
    /// Words for people.
    Prose,
}

fn form_of(path: &str) -> LiteralForm {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with("Kconfig") {
        return LiteralForm::Kconfig;
    }
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    match end.as_str() {
        "c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "ino" | "rs" | "js" | "ts"
        | "jsx" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "inc" | "tpp" | "ipp" => {
            LiteralForm::Code(Style::C)
        }
        "py" => LiteralForm::Code(Style::Python),
        "md" | "rst" | "html" | "htm" | "css" | "svg" => LiteralForm::Prose,
        _ => LiteralForm::Settings,
    }
}

/// The texts that a source gives names to: macros and constants; `all` gives its tokens.
#[must_use]
pub fn named_texts<'t>(
    path: &str,
    text: &str,
    all: impl FnOnce() -> &'t [Token<'t>],
) -> HashMap<String, String> {
    match form_of(path) {
        LiteralForm::Code(_) => code::constants(text, all()),
        LiteralForm::Settings | LiteralForm::Kconfig | LiteralForm::Prose => HashMap::new(),
    }
}

/// All secrets in the text of a file, by their place.
#[must_use]
pub fn secrets(path: &str, text: &str) -> Vec<Secret> {
    let all = match form_of(path) {
        LiteralForm::Code(style) => tokens(text, style),
        LiteralForm::Settings | LiteralForm::Kconfig | LiteralForm::Prose => Vec::new(),
    };
    secrets_with(path, text, || &all, &HashMap::new())
}

/// The same; `all` gives the tokens of a source, `outer` are the texts of names that it takes from
/// other files.
#[must_use]
pub fn secrets_with<'t>(
    path: &str,
    text: &str,
    all: impl FnOnce() -> &'t [Token<'t>],
    outer: &HashMap<String, String>,
) -> Vec<Secret> {
    let mut found = known(text);
    match form_of(path) {
        LiteralForm::Code(style) => {
            let all = all();
            found.extend(code::find(text, all, outer));
            found.extend(spelled(all));
            found.extend(masked::find(all));
            if style == Style::C {
                found.extend(positions::find(text, all));
            }
            found.extend(left_out::find(text, all));
            found.extend(plain::comments(text, all));
        }
        LiteralForm::Settings if is_netrc(path) => found.extend(plain::netrc(text)),
        LiteralForm::Settings => found.extend(plain::settings(text)),
        LiteralForm::Kconfig => found.extend(plain::kconfig(text)),
        LiteralForm::Prose => {
            found.extend(plain::prose(text));
            found.extend(left_out::in_lines(text, 0));
        }
    }
    if for_people::is_translation(path) {
        found.retain(|secret| {
            let literal = text.get(secret.range.clone()).unwrap_or_default();
            !for_people::is_of_words(literal.trim_matches(['"', '\'', '`']))
        });
    }
    let public = public_parts(text);
    let is_test = is_test(path);
    let is_vectors = is_test && speaks_of_digests(text);
    found.retain(|secret| {
        let literal = text.get(secret.range.clone()).unwrap_or_default();
        let inner = decoded(secret, literal).unwrap_or_else(|| carried(literal).to_owned());
        !is_test || !values::is_of_tests(inner.trim_matches(['"', '\'', '`']))
    });
    found.retain(|secret| {
        let is_vector = is_vectors
            && !secret.is_sure
            && is_digest(text, &secret.range)
            && !speaks_of_keys(lines_around(text, &secret.range, 2));
        let is_public = public.iter().any(|part| part.contains(&secret.range.start));
        secret.is_sure || !is_vector && !is_public
    });
    once_a_line(text, found)
}

/// Whether a file holds logins for other machines.
fn is_netrc(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some(".netrc" | "_netrc" | "netrc"))
}

/// Secrets that are put together character by character.
fn spelled(all: &[Token<'_>]) -> Vec<Secret> {
    let found = spelled_out::find(all, 6).into_iter();
    let secrets = found.filter_map(|found| {
        let says = name_says(&found.name);
        let is_secret = !matches!(says, NameSays::Nothing | NameSays::Public);
        (is_secret && !is_stand_in(&found.text))
            .then(|| Secret::named(found.range, says, &found.name))
    });
    secrets.collect()
}

/// The password in a header of HTTP, `Basic dXNlcjpwYXNz`.
fn decoded(secret: &Secret, literal: &str) -> Option<String> {
    let value = literal.split_whitespace().last()?.trim_matches(['"', '\'', '`', '\\']);
    let bytes = BASE64.decode(value).ok().filter(|_| secret.what.ends_with("in a header"))?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.split_once(':')?.1.to_owned())
}

/// The password in an address, `mqtt://user:password@host`, or the text itself.
fn carried(literal: &str) -> &str {
    let user = literal.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    user.and_then(|(user, _)| user.split_once(':')).map_or(literal, |(_, password)| password)
}

/// Whether a file holds tests, by its path.
fn is_test(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let mut words = name.split('.');
    let stem = words.next().unwrap_or(name).to_ascii_lowercase();
    stem.starts_with("test_")
        || words.any(|word| matches!(word, "test" | "spec"))
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || parts.any(|folder| matches!(folder, "test" | "tests" | "test_apps" | "__tests__"))
}

fn speaks_of_keys(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["key", "secret", "token", "psk", "hmac"].iter().any(|word| lower.contains(word))
}

/// Whether a text works with digests.
fn speaks_of_digests(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["hashlib", "sha1", "sha2", "sha256", "sha512", "sha_", "md5", "blake", "digest"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a range holds a digest: hexadecimal digits, as many as a usual one has.
fn is_digest(text: &str, range: &Range<usize>) -> bool {
    let inner = text.get(range.clone()).unwrap_or_default().trim_matches(['"', '\'']);
    matches!(inner.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && inner.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Certificates and public keys in PEM, which look random and are for everybody.
fn public_parts(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut parts = Vec::new();
    let mut endless: Vec<&str> = Vec::new();
    for (start, _) in text.match_indices(BEGIN) {
        let rest = text.get(start + BEGIN.len()..).unwrap_or_default();
        let Some((label, _)) = rest.split_once("-----") else { continue };
        let is_public = label.ends_with("CERTIFICATE") || label.ends_with("PUBLIC KEY");
        let end = format!("-----END {label}");
        let is_inside = start < parts.last().map_or(0, |part: &Range<usize>| part.end);
        if !is_public || is_inside || label.len() > 80 || endless.contains(&label) {
            continue;
        }
        match text.get(start..).and_then(|part| part.find(&end)) {
            Some(length) => parts.push(start..start + length),
            None if endless.len() < 8 => endless.push(label),
            None => break,
        }
    }
    parts
}

/// The surest secret of each line, in the order of lines.
fn once_a_line(text: &str, found: Vec<Secret>) -> Vec<Secret> {
    if found.is_empty() {
        return found;
    }
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    let mut lines: BTreeMap<usize, Secret> = BTreeMap::new();
    for secret in found {
        let line = starts.partition_point(|start| *start <= secret.range.start);
        match lines.get(&line) {
            Some(known) if known.is_sure || !secret.is_sure => {}
            _ => {
                lines.insert(line, secret);
            }
        }
    }
    lines.into_values().collect()
}

#[cfg(test)]
mod tests;
