//! Whether a text only names a secret: the topic, address, command, event or setting it has to do with.
//!
//! Owns what names say of such texts. Must not know languages.

use super::for_people::is_of_words;
use super::values::{Randomness, is_of, is_stand_in_word, looks, parts, speaks_of_secrets};

/// First or last words of names that say what kind of text the value is.
const TOPICS: &str = "topic topics";
const PLACES: &str = "url uri endpoint route path href link cookie server host broker";
const COMMANDS: &str = "cmd command at";
const EVENTS: &str = "event evt err error state status action msg reason cause opcode type";
const FIELDS: &str = "nvs prefs pref field json param attr column form query header";

/// First words of names of texts that are shown to people.
const SHOWN: &str = "txt lbl label caption title heading hint prompt tooltip placeholder";

/// What happens to a secret, in names of events.
const HAPPENS: &str = "expired lost invalid missing refreshed changed failed timeout ok error denied \
    ready rotated revoked wrong required rejected accepted updated cleared saved stored unknown";

/// Whether a text only names what the name speaks of: a topic, an address, a command, an event, the
/// key of a setting.
#[must_use]
pub fn is_label(name: &str, literal: &str) -> bool {
    let words = parts(name);
    let ends = [words.first(), words.last()];
    let is = |kinds: &str| ends.iter().flatten().any(|word| is_of(kinds, word));
    let has = |set: &str| literal.chars().all(|c| c.is_ascii_alphanumeric() || set.contains(c));
    let has_digit = literal.bytes().any(|byte| byte.is_ascii_digit());
    let says = parts(literal);
    let speaks = says.iter().any(|word| speaks_of_secrets(word) || is_stand_in_word(word));
    let squeezed = |text: &str| parts(text).concat();
    let bare = squeezed(literal);
    if bare.len() > 3 && !has_digit && speaks && has("_-. ") && squeezed(name).contains(&bare) {
        return true;
    }
    let is_shown = words.first().is_some_and(|word| is_of(SHOWN, word));
    if is_shown && is_of_words(literal) {
        return true;
    }
    let has_place = words.iter().any(|word| is_of(PLACES, word));
    if has_place && is_plain_address(literal) {
        return true;
    }
    let is_short = |part: &str| part.len() < 20 && looks(part) == Randomness::Ordinary;
    let is_path = literal.contains('/') && literal.split('/').all(is_short);
    let is_path = is_path && (speaks || literal.split('/').count() > 2);
    let names_it =
        |word: &String| word.len() <= 3 || speaks_of_secrets(word) || is_stand_in_word(word);
    let is_bare_command = literal.strip_prefix("AT+").is_some_and(|rest| {
        rest.bytes().all(|byte| byte.is_ascii_uppercase() || b"_?=+".contains(&byte))
    });
    (is(TOPICS) && is_path && has("/_+#%-."))
        || (is(PLACES) && is_path && !literal.contains("://") && has("/_%-.:?=&"))
        || (is(COMMANDS)
            && (is_bare_command || !has_digit && has("_ +?=") && says.iter().all(names_it)))
        || (is(EVENTS)
            && !has_digit
            && has("_-:. ")
            && (speaks || says.iter().any(|word| is_of(HAPPENS, word))))
        || (is(FIELDS)
            && !has_digit
            && literal.len() <= 24
            && has("_-.")
            && speaks
            && says.iter().all(names_it))
}

/// An address that carries nothing: no user, no query, no part that could be a key.
fn is_plain_address(literal: &str) -> bool {
    let Some((scheme, rest)) = literal.split_once("://") else { return false };
    let is_key = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() >= 16 && digits >= 3
    };
    is_of("http https mqtt mqtts ws wss coap coaps tcp ssl ftp sntp", scheme)
        && !rest.contains(['@', '?', '#', ' '])
        && !rest.split(['/', '.']).any(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_no_secrets() {
        for (name, literal) in [
            ("TOPIC_TOKEN", "gh/token/refresh"),
            ("TOPIC_PASSWORD_CHANGE", "gh/unit1/password/set"),
            ("URL_PASSWORD_RESET", "https://example.com/password/reset"),
            ("URL_TOKEN", "https://auth.example.com/oauth2/token"),
            ("token_server", "https://auth.example.com/oauth2/token"),
            ("CMD_PASSWORD", "AT+PASSWORD"),
            ("NVS_PASSWORD", "sta.pswd"),
            ("EVENT_TOKEN_EXPIRED", "TOKEN_EXPIRED"),
            ("EVT_SECRET_LOST", "secret lost"),
            ("LABEL_TOKEN", "Vstupní kód"),
            ("lbl_password", "Ange ord:"),
        ] {
            assert!(is_label(name, literal), "{name} {literal}");
        }
        for (name, literal) in [
            ("WIFI_PASSWORD", "hunter2"),
            ("TOPIC_TOKEN", "k8Jq2mVt9wLzR4xP"),
            ("NVS_PASSWORD", "Sommer2024!"),
            ("nvs_password", "giesskanne"),
            ("URL_TOKEN", "https://u:pw@example.com/x"),
            ("API_TOKEN", "https://example.com/hook/8f7a9d0c1b2e3f4a5b6c"),
            ("EVENT_TOKEN", "a8f3k2m9x1"),
            ("mqtt_password", "pass/word77"),
            ("CMD_WIFI_PASS", "AT+CWJAP=\"halle3\",\"Spaten77\""),
            ("cmd_password", "OpenSesame"),
            ("CMD_PASSWORD", "sonnenblume"),
            ("STATUS_TOKEN", "sonnenblumeblau"),
            ("JSON_PASSWORD", "MySunflower"),
            ("NVS_PASSWORD", "my.sunflower"),
            ("TOPIC_PASSWORD", "giess/kanne"),
            ("API_TOKEN", "https://hooks.example.com/qwertzuiop"),
            ("WIFI_PASSWORD", "a://hunter2x"),
            ("URL_PASSWORD", "a://hunter2x"),
            ("WIFI_PW_GARTEN", "garten"),
            ("label_password", "Garten77"),
        ] {
            assert!(!is_label(name, literal), "{name} {literal}");
        }
    }
}
