//! Reads the lines of ESP-IDF's and Arduino's logs.
//!
//! Owns the forms they come in: log library v1 and v2 with every kind of timestamp, and Arduino's
//! core. Pure and without allocation, because every line a board prints goes through it.

use std::fmt;

/// How important a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// `E`
    Error,
    /// `W`
    Warning,
    /// `I`
    Info,
    /// `D`
    Debug,
    /// `V`
    Verbose,
}

impl LogLevel {
    /// All of them, the gravest first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warning, Self::Info, Self::Debug, Self::Verbose];

    /// From its letter.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.letter() == char::from(letter))
    }

    #[must_use]
    pub const fn letter(self) -> char {
        ['E', 'W', 'I', 'D', 'V'][self as usize]
    }
}

/// The parts of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EspLog<'a> {
    /// How important it is.
    pub level: LogLevel,
    /// The board's own time, as printed; empty when it prints none.
    pub time: &'a str,
    /// Who wrote it.
    pub tag: &'a str,
    /// Where the message begins, in bytes.
    pub message: usize,
}

/// Longest tag that is believed, in bytes.
const MAX_TAG: usize = 48;

/// Reads a line without escape sequences. `None` when it is no log line.
#[must_use]
pub fn parse(text: &str) -> Option<EspLog<'_>> {
    let bytes = text.as_bytes();
    match (bytes.first()?, bytes.get(1)?) {
        (b'[', _) => arduino(text),
        (letter, b' ') => idf(text, LogLevel::from_letter(*letter)?),
        _ => None,
    }
}

/// `I (1234) tag: text`, `I (12:00:01.123) tag: text`, `I tag: text`
fn idf(text: &str, level: LogLevel) -> Option<EspLog<'_>> {
    let rest = text.get(2..)?;
    let (time, rest) = match rest.strip_prefix('(') {
        Some(inside) => {
            let (time, rest) = inside.split_once(") ")?;
            if time.is_empty() || !time.bytes().all(is_of_time) {
                return None;
            }
            (time, rest)
        }
        None => ("", rest),
    };
    let colon = rest.bytes().take(MAX_TAG + 1).position(|b| b == b':')?;
    let tag = rest.get(..colon)?;
    // Without a time an English sentence with a colon must not pass for a log line.
    let is_tag = !tag.is_empty() && (!time.is_empty() || tag.bytes().all(is_of_name));
    let after = rest.get(colon + 1..)?;
    let spaces = usize::from(after.starts_with(' '));
    if !is_tag || (time.is_empty() && spaces == 0) {
        return None;
    }
    Some(EspLog { level, time, tag, message: text.len() - after.len() + spaces })
}

/// `[  1234][I][main.cpp:12] setup(): text`
fn arduino(text: &str) -> Option<EspLog<'_>> {
    let (time, rest) = text.get(1..)?.split_once(']')?;
    let time = time.trim_start();
    let is_time = !time.is_empty() && time.bytes().all(|b| b.is_ascii_digit());
    let rest = rest.strip_prefix('[').filter(|_| is_time)?;
    let level = LogLevel::from_letter(*rest.as_bytes().first()?)?;
    let (place, message) = rest.get(1..)?.strip_prefix("][")?.split_once(']')?;
    let tag = place.split(':').next().unwrap_or(place);
    let spaces = usize::from(message.starts_with(' '));
    Some(EspLog { level, time, tag, message: text.len() - message.len() + spaces })
}

const fn is_of_time(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b' ' | b'T' | b'Z' | b'+')
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/')
}

/// The tag that stands for all of them.
pub const ANY: &str = "*";

/// Which log lines to show: `tag:level` words, `*` for every tag, the last one that fits counts.
///
/// `wifi:E` hides what `wifi` says below errors; `*:W` everything below warnings. Lines that are
/// no log lines always show, so that a panic can never be filtered away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagFilter {
    rules: Vec<(String, Option<LogLevel>)>,
}

impl TagFilter {
    /// Reads words such as `*:W wifi:V app:N`, separated by spaces or commas.
    ///
    /// # Errors
    /// When a word is none; the text names it and says what one looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rules = Vec::new();
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (tag, level) = word.rsplit_once(':').unwrap_or((word, "V"));
            let mut letters = level.bytes().map(|b| b.to_ascii_uppercase());
            let level = match (letters.next(), letters.next()) {
                (Some(b'N'), None) => None,
                (Some(letter), None) => Some(LogLevel::from_letter(letter).ok_or_else(|| {
                    format!(
                        "`{word}`: `{level}` is not a level; use E, W, I, D, V, or N for nothing"
                    )
                })?),
                _ => return Err(format!("`{word}` is not of the form tag:level, e.g. wifi:W")),
            };
            if tag.is_empty() {
                return Err(format!("`{word}` names no tag; `*` stands for all of them"));
            }
            rules.push((tag.to_owned(), level));
        }
        Ok(Self { rules })
    }

    /// Whether it hides nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The last level that shows of what `tag` says; `None`: it is silent.
    #[must_use]
    pub fn level_of(&self, tag: &str) -> Option<LogLevel> {
        let rule = self.rules.iter().rev().find(|rule| rule.0 == ANY || rule.0 == tag);
        rule.map_or(Some(LogLevel::Verbose), |rule| rule.1)
    }

    /// Shows `tag` up to `level`; `None` silences it. `*` stands for every tag without a rule of
    /// its own.
    pub fn set(&mut self, tag: &str, level: Option<LogLevel>) {
        self.rules.retain(|rule| rule.0 != tag);
        if self.level_of(tag) == level {
            return;
        }
        let place = if tag == ANY { 0 } else { self.rules.len() };
        self.rules.insert(place, (tag.to_owned(), level));
    }

    /// Whether a line without escape sequences is to be shown.
    #[must_use]
    pub fn shows(&self, text: &str) -> bool {
        if self.rules.is_empty() {
            return true;
        }
        let Some(log) = parse(text) else { return true };
        self.level_of(log.tag).is_some_and(|level| log.level <= level)
    }
}

/// As [`TagFilter::parse`] reads it, except for tags with blanks or colons in them.
impl fmt::Display for TagFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (tag, level)) in self.rules.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            write!(f, "{gap}{tag}:{}", level.map_or('N', LogLevel::letter))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> Option<(char, &str, &str, &str)> {
        let log = parse(text)?;
        Some((log.level.letter(), log.time, log.tag, &text[log.message..]))
    }

    #[test]
    fn every_form_of_a_log_line_is_read() {
        let cases = [
            ("I (806) app: tick 0", Some(('I', "806", "app", "tick 0"))),
            ("E (1) wifi:no: x", Some(('E', "1", "wifi", "no: x"))),
            ("W (12:00:01.123) app: late", Some(('W', "12:00:01.123", "app", "late"))),
            ("D (24-05-01 12:00:01.123) a: b", Some(('D', "24-05-01 12:00:01.123", "a", "b"))),
            ("V (1714564801123) a b: c", Some(('V', "1714564801123", "a b", "c"))),
            ("I main_task: Started on CPU0", Some(('I', "", "main_task", "Started on CPU0"))),
            ("I (29) boot: ", Some(('I', "29", "boot", ""))),
            (
                "[  1234][E][Wire.cpp:420] requestFrom(): no",
                Some(('E', "1234", "Wire.cpp", "requestFrom(): no")),
            ),
            ("I am here", None),
            ("I have seen: it", None),
            ("I (am) here: yes", None),
            ("I () a: b", None),
            ("[12] x", None),
            ("E", None),
            ("", None),
            ("É (1) a: b", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(parts(text), wanted, "{text}");
        }
    }

    #[test]
    fn filters_take_the_last_rule_that_fits_and_never_hide_other_lines() {
        let filter = TagFilter::parse("*:W wifi:V,noisy:n").unwrap();
        assert!(filter.shows("I (1) wifi: connected"));
        assert!(!filter.shows("I (1) app: hello") && filter.shows("W (1) app: careful"));
        assert!(!filter.shows("E (1) noisy: broken"));
        assert!(filter.shows("Backtrace: 0x1:0x2") && filter.shows(""));
        assert!(TagFilter::default().shows("V (1) a: b"));
        assert!(TagFilter::parse("wifi:X").unwrap_err().contains("wifi:X"));
        assert!(TagFilter::parse(":E").unwrap_err().contains("names no tag"));
        assert!(TagFilter::parse("a:EE").unwrap_err().contains("tag:level"));
    }

    #[test]
    fn rules_are_set_one_by_one_and_read_back_from_their_words() {
        let mut filter = TagFilter::default();
        filter.set("wifi", Some(LogLevel::Info));
        filter.set(ANY, Some(LogLevel::Warning));
        filter.set("noisy", None);
        assert_eq!(filter.to_string(), "*:W wifi:I noisy:N");
        assert_eq!(TagFilter::parse(&filter.to_string()), Ok(filter.clone()));
        assert_eq!(filter.level_of("app"), Some(LogLevel::Warning));
        assert_eq!(
            (filter.level_of("wifi"), filter.level_of("noisy")),
            (Some(LogLevel::Info), None)
        );
        // What is as usual needs no rule.
        filter.set("wifi", Some(LogLevel::Warning));
        filter.set("noisy", Some(LogLevel::Warning));
        filter.set(ANY, Some(LogLevel::Verbose));
        assert!(filter.is_empty(), "{filter}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "[EWIDV\\[] ?\\(?[0-9:é]{0,4}\\)?.{0,20}") {
            if let Some(log) = parse(&text) {
                prop_assert!(text.get(log.message..).is_some());
            }
        }
    }
}
