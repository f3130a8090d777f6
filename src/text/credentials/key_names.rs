//! Whether what is called a key is one: many things are called so.
//!
//! Owns the words beside `key`, and what the bytes of a key look like.

use super::values::{NameSays, is_stand_in, name_says, parts};
use super::word_lists::WORDS;

/// Whether a name ends with `key`, and with nothing that makes it another kind of key.
pub(super) fn is_key_name(name: &str) -> bool {
    let parts = parts(name);
    let is_end = |part: &&String| {
        WORDS.names.key_ends.contains(*part) || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut rest = parts.iter().rev().skip_while(is_end);
    let last = rest.next().map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    last == Some("key") && !rest.any(|part| WORDS.names.other_keys.contains(part))
}

/// What a name says without its last word, where that only tells the form: `PASSWORD_CHARS`.
pub(super) fn form_says(name: &str) -> Option<NameSays> {
    let parts = parts(name);
    let (last, rest) = parts.split_last()?;
    let is_form = matches!(last.as_str(), "chars" | "text" | "characters" | "bytes" | "letters");
    let says = name_says(&rest.join("_"));
    (is_form && !matches!(says, NameSays::Nothing | NameSays::Public)).then_some(says)
}

/// Whether an array of bytes is a key by its name and what it holds.
pub(super) fn is_key_array(name: &str, bytes: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let bare = lower.split_once('_').filter(|(start, _)| start.len() == 1);
    let bare = bare.map_or(lower.as_str(), |(_, rest)| rest);
    let is_key_size = matches!(bytes.len(), 16 | 24 | 32 | 48 | 64);
    if is_key_size && (matches!(bare, "key" | "k" | "lmk" | "pmk") || lower.starts_with("key_")) {
        return !lower.contains("nvs");
    }
    // Of other lengths only what was taken from a random source.
    is_key_name(name) && (is_key_size || bytes.len() >= 8 && is_random(bytes))
}

/// Whether bytes have the length of a key, and the look of one.
pub(super) fn is_random_key(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 16 | 24 | 32 | 48 | 64) && is_random(bytes)
}

fn is_random(bytes: &[u8]) -> bool {
    let spread =
        |range: std::ops::RangeInclusive<u8>| bytes.iter().any(|byte| range.contains(byte));
    let mut kinds = bytes.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    spread(0x80..=0xff) && spread(0..=0x7f) && kinds.len() * 4 > bytes.len() * 3
}

/// Whether a text has digits and letters of both cases, and nothing that words and paths have.
pub(super) fn is_mixed(literal: &str) -> bool {
    let count = |is: fn(&u8) -> bool| literal.bytes().filter(is).count();
    literal.len() >= 12
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2
        && !literal.contains([' ', '/', '.', '_', '%', ':', '<', '{'])
        && !is_stand_in(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_things_are_called_keys() {
        for name in ["kImageKey", "doorKey", "DOOR_KEY", "key0", "door_key_bytes", "kUnlockKey2"] {
            assert!(is_key_name(name), "{name}");
        }
        for name in ["keyMap", "kHotKey", "keyRows", "kModifierKeys", "menu_key", "nvs_key", "keys"]
        {
            assert!(!is_key_name(name), "{name}");
        }
        let random = [143, 58, 145, 92, 39, 228, 11, 214];
        assert!(
            is_key_array("doorKey", &random) && !is_key_array("doorKey", &[1, 2, 3, 4, 9, 7, 8, 5])
        );
        assert!(
            is_mixed("Xq7Rm2Kp9LwT") && !is_mixed("wifi_volume2") && !is_mixed("volumeLevel12")
        );
    }
}
