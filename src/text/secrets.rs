//! The secrets that the program was given, in one place for all who let text out.
//!
//! Owns what counts as a secret. A key or a password counts from six bytes on. The value of a
//! header counts from eight bytes on, unless the header is one that tells everybody the same
//! (`accept`, `user-agent`, `x-title` …), or the value is a media type, an address, a number, a date
//! or a plain word of up to eleven letters: such texts are no secrets, and to look for them would
//! take words out of every answer. Under a name such as `x-api-key` or `cookie` every value counts
//! from six bytes on.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use super::redact::Redactor;

/// The shortest key that is looked for; shorter ones would take out words.
const SHORTEST_KEY: usize = 6;

/// The shortest value of a header that is looked for.
const SHORTEST_VALUE: usize = 8;

/// The shortest part of a header's value that is looked for by itself.
const SHORTEST_PART: usize = 12;

/// Letters from which on a plain word in a header is taken for a secret.
const LONGEST_WORD: usize = 11;

/// Headers whose values are meant for everybody.
const PUBLIC: [&str; 18] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "api-version",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "http-referer",
    "openai-beta",
    "origin",
    "referer",
    "user-agent",
    "x-github-api-version",
    "x-title",
];

/// What names of headers and of parameters hold whose values are secrets, whatever they look like.
const TELLING: [&str; 9] =
    ["auth", "key", "token", "secret", "cookie", "session", "pass", "credential", "signature"];

/// The secrets known so far. All clones are the same.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Arc<RwLock<KnownSecret>>,
}

#[derive(Default)]
struct KnownSecret {
    secrets: BTreeSet<String>,
    redactor: Arc<Redactor>,
}

impl Secrets {
    /// What takes the secrets known by now out of texts.
    #[must_use]
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner).redactor)
    }

    /// `text` without the secrets known by now.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        self.redactor().clean(text).into_owned()
    }

    /// Learns a key or a password.
    pub fn add_key(&self, key: &str) {
        self.add([key.trim()].into_iter().filter(|key| key.len() >= SHORTEST_KEY));
    }

    /// Learns a header that goes out with requests.
    pub fn add_header(&self, name: &str, value: &str) {
        self.add(secrets_of(name, value).iter().map(String::as_str));
        if is_address(value) {
            self.add_url(value);
        }
    }

    /// Learns the password of an address, and the parameters that are keys.
    pub fn add_url(&self, url: &str) {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((person, _)) = host.rsplit_once('@') {
            let password = person.split_once(':').map_or(person, |(_, password)| password);
            self.add_key(password);
            self.add_key(&percent_decode_str(password).decode_utf8_lossy());
        }
        let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
        for (name, value) in query.split(['&', '#']).filter_map(|pair| pair.split_once('=')) {
            if is_telling(name) {
                self.add_header(name, value);
                self.add_header(name, &percent_decode_str(value).decode_utf8_lossy());
            }
        }
    }

    /// Learns all that another one knows.
    pub fn add_all(&self, other: &Self) {
        if Arc::ptr_eq(&self.known, &other.known) {
            return;
        }
        let theirs = other.known.read().unwrap_or_else(PoisonError::into_inner).secrets.clone();
        self.add(theirs.iter().map(String::as_str));
    }

    fn add<'a>(&self, new: impl Iterator<Item = &'a str>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.secrets.len();
        known.secrets.extend(new.map(str::to_owned));
        if known.secrets.len() > before {
            known.redactor = Arc::new(Redactor::new(known.secrets.iter().map(String::as_str)));
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// What of a header must not be repeated: its value, and the parts of it that are secrets alone,
/// e.g. what stands behind `Bearer`, or the value of a cookie.
fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let (name, value) = (name.to_ascii_lowercase(), value.trim());
    let is_known = is_telling(&name);
    if PUBLIC.contains(&name.as_str()) || (!is_known && is_trivial(value)) {
        return Vec::new();
    }
    let counts = |text: &str| is_known || !is_trivial(text);
    let mut found = Vec::new();
    let shortest = if is_known { SHORTEST_KEY } else { SHORTEST_VALUE };
    if value.len() >= shortest && counts(value) {
        found.push(value.to_owned());
    }
    for part in value.split([' ', ';', ',', '"']) {
        let inner = part.split_once('=').map_or("", |(_, inner)| inner);
        let parts = [part, inner.trim_end_matches('=')].into_iter();
        found.extend(
            parts.filter(|part| part.len() >= SHORTEST_PART && counts(part)).map(str::to_owned),
        );
    }
    let login = value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let login = login.and_then(|(_, login)| STANDARD.decode(login.trim()).ok());
    if let Some(login) = login.and_then(|login| String::from_utf8(login).ok()) {
        let password = login.split_once(':').map_or(login.as_str(), |(_, password)| password);
        if password.len() >= SHORTEST_KEY {
            found.push(password.to_owned());
        }
    }
    found
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING.iter().any(|part| name.contains(part))
}

fn is_address(value: &str) -> bool {
    value.starts_with("http://") || value.starts_with("https://")
}

/// Whether a header's value is of the kind that everybody sends.
fn is_trivial(value: &str) -> bool {
    let has_letter = value.chars().any(char::is_alphabetic);
    let is_number = !has_letter && value.len() < 16;
    let is_word = value.len() <= LONGEST_WORD
        && value.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '.' | ','));
    let is_media_type = value.split_once('/').is_some_and(|(kind, rest)| {
        let kinds = [
            "application",
            "audio",
            "font",
            "image",
            "message",
            "model",
            "multipart",
            "text",
            "video",
        ];
        (kinds.contains(&kind) && !rest.contains('/')) || value == "*/*"
    });
    is_number || is_word || is_address(value) || is_media_type
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Secrets {
        let secrets = Secrets::default();
        secrets.add_header(name, value);
        secrets
    }

    #[test]
    fn values_of_headers_are_secrets_unless_everybody_sends_them() {
        for (name, value) in [
            ("x-extra", "hdr-TOPSECRET-0815-zyxwvu"),
            ("x-extra", "abcd1234"),
            ("x-extra", "twelveletters"),
            ("X-Api-Key", "topsecret"),
            ("x-api-key", "abc123"),
            ("cookie", "sessionid"),
            ("x-extra", "1234567890123456"),
        ] {
            let clean = of(name, value).clean(&format!("({value})"));
            assert_eq!(clean, "(•••)", "{name}");
        }
        for (name, value) in [
            ("x-extra", "1"),
            ("x-extra", "true"),
            ("x-extra", "abc1234"),
            ("x-extra", "application/json"),
            ("x-extra", "text/event-stream; charset=utf-8"),
            ("x-extra", "production"),
            ("x-extra", "2026-11-22"),
            ("x-extra", "https://example.com/desk"),
            ("Accept", "application/vnd.github+json"),
            ("User-Agent", "firmhand for ACME 12345"),
            ("x-title", "Firmware desk of ACME 12345"),
        ] {
            assert_eq!(of(name, value).clean(value), value, "{name}");
        }
    }

    #[test]
    fn the_part_that_is_the_secret_is_found_alone() {
        let secrets = of("authorization", "Bearer abcdef0123456789");
        assert_eq!(secrets.clean("it is abcdef0123456789"), "it is •••");
        let secrets = of("cookie", "theme=dark; sid=abcdef0123456789==");
        assert_eq!(secrets.clean("it is abcdef0123456789"), "it is •••");
        assert_eq!(secrets.clean("theme=dark"), "theme=dark");
        // user:hunter2
        let secrets = of("proxy-authorization", "Basic dXNlcjpodW50ZXIy");
        assert_eq!(secrets.clean("hunter2 dXNlcjpodW50ZXIy"), "••• •••");
    }

    #[test]
    fn passwords_and_keys_of_addresses_are_secrets() {
        let secrets = Secrets::default();
        secrets.add_url("http://name:pass%2Fword1@proxy.example.com:8080/path");
        secrets.add_url("https://host/v1?api-version=2024-10-21&key=AIzaSomething123#x");
        let text = "pass/word1 pass%2Fword1 name proxy.example.com 2024-10-21 AIzaSomething123";
        assert_eq!(secrets.clean(text), "••• ••• name proxy.example.com 2024-10-21 •••");
        assert!(!format!("{secrets:?}").contains("pass"));
        let other = Secrets::default();
        other.add_all(&secrets);
        other.add_key("short");
        assert_eq!(other.clean("short pass/word1"), "short •••");
    }
}
