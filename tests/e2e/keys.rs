//! Key names and the bytes a terminal sends for them.

/// The bytes for one key: a character, or a name such as `enter`, `ctrl-c`, `alt-a`, `f5`.
///
/// # Panics
/// For a name that no key has: the test is wrong.
pub fn bytes(key: &str) -> Vec<u8> {
    if let Some(inner) = key.strip_prefix("alt-") {
        return [b"\x1b".as_slice(), &bytes(inner)].concat();
    }
    if let Some(inner) = key.strip_prefix("ctrl-") {
        let &[letter @ (b'a'..=b'z' | b'@' | b'[' | b'\\' | b']' | b'^' | b'_')] = inner.as_bytes()
        else {
            panic!("no control character for {key}");
        };
        return vec![letter & 0x1f];
    }
    if key.chars().count() == 1 {
        return key.as_bytes().to_vec();
    }
    named(key).unwrap_or_else(|| panic!("no key is called {key}")).as_bytes().to_vec()
}

fn named(key: &str) -> Option<&'static str> {
    Some(match key {
        "enter" => "\r",
        "tab" => "\t",
        "shift-tab" => "\x1b[Z",
        "esc" => "\x1b",
        "space" => " ",
        "backspace" => "\x7f",
        "up" => "\x1b[A",
        "down" => "\x1b[B",
        "right" => "\x1b[C",
        "left" => "\x1b[D",
        "home" => "\x1b[H",
        "end" => "\x1b[F",
        "insert" => "\x1b[2~",
        "delete" => "\x1b[3~",
        "pageup" => "\x1b[5~",
        "pagedown" => "\x1b[6~",
        "f1" => "\x1bOP",
        "f2" => "\x1bOQ",
        "f3" => "\x1bOR",
        "f4" => "\x1bOS",
        "f5" => "\x1b[15~",
        "f6" => "\x1b[17~",
        "f7" => "\x1b[18~",
        "f8" => "\x1b[19~",
        "f9" => "\x1b[20~",
        "f10" => "\x1b[21~",
        "f11" => "\x1b[23~",
        "f12" => "\x1b[24~",
        _ => return None,
    })
}

#[test]
fn names_become_what_a_terminal_sends() {
    assert_eq!(bytes("a"), b"a");
    assert_eq!(bytes("ü"), "ü".as_bytes());
    assert_eq!(bytes("ctrl-c"), [3]);
    assert_eq!(bytes("ctrl-z"), [26]);
    assert_eq!(bytes("alt-a"), b"\x1ba");
    assert_eq!(bytes("alt-enter"), b"\x1b\r");
    assert_eq!(bytes("f1"), b"\x1bOP");
}

#[test]
#[should_panic(expected = "no key is called any")]
fn a_name_that_no_key_has_fails_the_test() {
    bytes("any");
}
