//! What an argument of a call is, by the name of its function and its place.
//!
//! Owns the functions that take passwords and keys. Must not know tokens.

use std::borrow::Cow;

use super::values::{NameSays, is_stand_in, name_says, parts};

/// Functions with the position, from 0, of the argument that is a password. Sources: the Arduino
/// core for ESP32 (WiFi, WiFiMulti, HTTPClient, WebServer) and PubSubClient.
const POSITIONS: [(&str, usize); 11] = [
    ("begin", 1),
    ("softAP", 1),
    ("addAP", 1),
    ("connect", 2),
    ("setAuthorization", 1),
    ("authenticate", 1),
    ("setAuthentication", 1),
    ("beginAP", 1),
    ("wifi_connect", 1),
    ("wifi_init_sta", 1),
    ("setCredentials", 1),
];

/// Functions that copy or compare texts.
const COPIES: [&str; 13] = [
    "strcpy", "strncpy", "strlcpy", "memcpy", "strcat", "strncat", "strlcat", "strcmp", "strncmp",
    "memcmp", "sprintf", "snprintf", "memmove",
];

/// What names an argument, and what its place in the call says.
pub(super) type ArgumentName = (String, Option<(String, NameSays)>);

/// What an argument is by the verb in the name of its function: the second of two texts that join,
/// log in or connect, and the key of a cipher.
pub(super) fn credential(
    function: &str,
    (commas, texts): (usize, &[String]),
    literal: &str,
) -> Option<NameSays> {
    let lower = function.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mixes = literal.bytes().any(|byte| !byte.is_ascii_alphabetic());
    let is_other = literal.contains("://") || literal.starts_with('/') || is_stand_in(literal);
    if commas == texts.len() && texts.len() == 1 && !is_other {
        let joins = has(&["join", "login", "log_in", "signin"])
            || has(&["auth"]) && !has(&["author"])
            || has(&["connect"]) && mixes && !literal.contains('.') && literal.len() >= 8;
        let names = parts(function);
        let reads = names.iter().any(|word| matches!(&**word, "get" | "path" | "string"));
        if joins && literal.len() >= 6 && !reads && !has(&["disconnect"]) {
            return Some(NameSays::Password);
        }
    }
    let ciphers = ["aes", "des", "gcm", "ccm", "hmac", "cipher", "crypt", "psa_", "chacha", "_md_"];
    let takes_key = has(&["setkey"])
        || has(&["set_key", "hmac_starts", "import_key", "hmac_init", "key_init"]) && has(&ciphers);
    (takes_key && commas > 0 && texts.is_empty() && literal.len() >= 8).then_some(NameSays::Key)
}

/// What names an argument of a call after `commas` others.
pub(super) fn call(
    function: &str,
    commas: usize,
    words: &[Cow<'_, str>],
    texts: &[String],
) -> ArgumentName {
    let is_name = |name: &&str| name_says(name) != NameSays::Nothing;
    if COPIES.contains(&function) {
        let named = words.iter().map(|word| &**word).find(is_name);
        return (named.unwrap_or_default().to_owned(), None);
    }
    let lower = function.to_ascii_lowercase();
    let is_of_key = |text: &&String| !text.contains([' ', '%', ':', '/']) && !text.is_empty();
    let sets = ["set", "put", "add", "write", "store", "save", "insert", "define", "header"];
    if sets.iter().any(|verb| lower.contains(verb))
        && let Some(key) = texts.first().filter(is_of_key)
        && is_name(&key.as_str())
    {
        return (key.clone(), None);
    }
    let at_place = POSITIONS.iter().any(|(name, at)| *name == function && *at == commas);
    // `LittleFS.begin(false, "/littlefs")` mounts.
    let mounts = words.iter().any(|word| matches!(&**word, "true" | "false"));
    if at_place && !mounts && (function != "begin" || texts.len() == 1 || !words.is_empty()) {
        return (String::new(), Some((String::new(), NameSays::Password)));
    }
    let sets_after_handle = commas == 1 && texts.is_empty() && lower.contains("set_");
    let asks = [
        "get", "has", "find", "parse", "read", "load", "remove", "erase", "is_", "verify", "log",
        "valid", "check", "accept", "strength",
    ];
    let is_question = asks.iter().any(|verb| lower.contains(verb))
        || function.ends_with("_ok")
        || function.ends_with("Ok")
        || commas > 0 && !sets_after_handle;
    (if is_question { String::new() } else { function.to_owned() }, None)
}
