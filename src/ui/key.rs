//! Keys as a person writes them in a keymap, e.g. `ctrl-p`, `G`, `pageup`, `g g`.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key with its modifiers. Shift counts only where it does not already make another
/// character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Keys by name; the first name of a key is the one that is shown.
const NAMED: [(&str, KeyCode); 20] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Esc),
    ("minus", KeyCode::Char('-')),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
];

impl Key {
    fn new(code: KeyCode, mut modifiers: KeyModifiers) -> Self {
        modifiers &= KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) => {
                let shifted = modifiers.contains(KeyModifiers::SHIFT);
                modifiers -= KeyModifiers::SHIFT;
                if modifiers.contains(KeyModifiers::CONTROL) {
                    KeyCode::Char(c.to_ascii_lowercase())
                } else if shifted && c.is_ascii_lowercase() {
                    KeyCode::Char(c.to_ascii_uppercase())
                } else {
                    KeyCode::Char(c)
                }
            }
            other => other,
        };
        Self { code, modifiers }
    }

    /// The key of a terminal's event.
    #[must_use]
    pub fn of(event: &KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }

    /// Reads one key, e.g. `ctrl-p`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('-').filter(|(_, tail)| !tail.is_empty()) {
            modifiers |= match head {
                "ctrl" => KeyModifiers::CONTROL,
                "alt" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => break,
            };
            rest = tail;
        }
        let code = code_named(rest).ok_or_else(|| {
            format!(
                "`{text}` is not a key; keys are written like a, G, ctrl-p, alt-enter, shift-tab, f1, pageup, space"
            )
        })?;
        Ok(Self::new(code, modifiers))
    }

    /// The digit it types, if it is one.
    #[must_use]
    pub fn digit(self) -> Option<usize> {
        let typed = self.code.as_char().filter(|_| self.modifiers.is_empty())?;
        usize::try_from(typed.to_digit(10)?).ok()
    }

    /// Whether it is the arrow up or down.
    #[must_use]
    pub const fn is_vertical(self) -> bool {
        matches!(self.code, KeyCode::Up | KeyCode::Down)
    }

    /// Whether it types or edits text, so that a text field wants it before anyone else.
    #[must_use]
    pub fn is_text(self) -> bool {
        let is_plain = !self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match self.code {
            KeyCode::Char(_) => is_plain,
            KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Home
            | KeyCode::End => true,
            _ => false,
        }
    }
}

fn code_named(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return (!only.is_control() && only != ' ').then_some(KeyCode::Char(only));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == lower) {
        return Some(*code);
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [
            (KeyModifiers::CONTROL, "ctrl-"),
            (KeyModifiers::ALT, "alt-"),
            (KeyModifiers::SHIFT, "shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code)
            && self.code != KeyCode::Char('-')
        {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Keys pressed one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeySequence(Vec<Key>);

impl KeySequence {
    /// Reads keys divided by spaces.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let keys: Result<Vec<Key>, String> = text.split_whitespace().map(Key::parse).collect();
        match keys? {
            keys if keys.is_empty() => Err("expected a key".to_owned()),
            keys => Ok(Self(keys)),
        }
    }

    /// The keys, at least one.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.0
    }
}

impl fmt::Display for KeySequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.0.iter().map(Key::to_string).collect();
        f.write_str(&keys.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_as_shown() {
        for text in [
            "a",
            "G",
            "ctrl-p",
            "alt-enter",
            "shift-tab",
            "f12",
            "pageup",
            "space",
            "-",
            "?",
            "ctrl-alt-x",
        ] {
            assert_eq!(Key::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(KeySequence::parse("g  g").unwrap().to_string(), "g g");
        assert_eq!(Key::parse("ctrl--").unwrap().to_string(), "ctrl--");
        assert_eq!(Key::parse("alt-minus"), Key::parse("alt--"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ctrl", "hyper-x", "f0", "f99", "pagup"] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
        assert!(KeySequence::parse("  ").is_err());
    }

    #[test]
    fn events_are_the_same_key_whatever_the_terminal_says_of_shift() {
        let event = |code, modifiers| Key::of(&KeyEvent::new(code, modifiers));
        let upper = Key::parse("G").unwrap();
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::SHIFT), upper);
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::NONE), upper);
        assert_eq!(event(KeyCode::Char('g'), KeyModifiers::SHIFT), upper);
        let tab = Key::parse("shift-tab").unwrap();
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), tab);
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::NONE), tab);
        assert_eq!(event(KeyCode::Char('?'), KeyModifiers::SHIFT), Key::parse("?").unwrap());
    }
}
