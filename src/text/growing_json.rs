//! Reads JSON that is still being written, piece by piece, for people who look on.
//!
//! Owns bounded memory of what came: of every text its newest lines, of all texts the newest ones.
//! It refuses nothing: what is no JSON is shown as it is, and whoever acts on the whole reads it
//! with a parser.

use std::collections::VecDeque;

use crate::model::open_call::OpenArg;

/// Values that are kept.
const MOST_ARGS: usize = 32;

/// Lines of one value that are kept.
const MOST_LINES: usize = 8;

/// Bytes of one value that are kept.
const MOST_BYTES: usize = 2_048;

/// Bytes of one name.
const MOST_NAME: usize = 120;

/// Objects and lists within each other that are read; what lies deeper is left out.
const DEEPEST: usize = 32;

/// JSON as far as it has come.
#[derive(Debug, Default)]
pub struct GrowingJson {
    frames: Vec<Frame>,
    /// Objects and lists that are open below the deepest that is read.
    too_deep: usize,
    place: JsonPlace,
    escape: Escape,
    /// Objects so far.
    objects: usize,
    values: VecDeque<OpenArg>,
    bytes: usize,
}

/// An object or list that is open.
#[derive(Debug)]
enum Frame {
    Object { number: usize, name: String, wants_name: bool },
    List { place: usize },
}

/// What the next character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum JsonPlace {
    /// Nothing has come but blanks.
    #[default]
    Start,
    Between,
    Name,
    Text,
    /// A number, `true`, `false` or `null`.
    Bare,
    /// It is no JSON: a text as it is.
    Plain,
}

/// How far an escape has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Escape {
    #[default]
    None,
    Backslash,
    /// Digits of `\u` so far, their value, and the first half of a pair before.
    Digits {
        digits: u32,
        value: u32,
        high: Option<u32>,
    },
    /// The first half of a pair has come.
    High(u32),
    HighBackslash(u32),
}

impl GrowingJson {
    /// Takes what came next.
    pub fn push(&mut self, piece: &str) {
        self.bytes += piece.len();
        for c in piece.chars() {
            self.take(c);
        }
    }

    /// Bytes so far.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The newest values, the oldest first.
    #[must_use]
    pub fn values(&self) -> Vec<OpenArg> {
        self.values.iter().cloned().collect()
    }

    fn take(&mut self, c: char) {
        match self.place {
            JsonPlace::Start if c.is_whitespace() => {}
            JsonPlace::Start if !matches!(c, '{' | '[' | '"') => {
                self.begin_value();
                self.place = JsonPlace::Plain;
                self.add(c);
            }
            JsonPlace::Start | JsonPlace::Between => self.between(c),
            JsonPlace::Name | JsonPlace::Text => self.quoted(c),
            JsonPlace::Bare if matches!(c, ',' | '}' | ']') || c.is_whitespace() => {
                self.end_value();
                self.between(c);
            }
            JsonPlace::Bare | JsonPlace::Plain => self.add(c),
        }
    }

    fn between(&mut self, c: char) {
        self.place = JsonPlace::Between;
        match c {
            '{' | '[' => self.open(c),
            '}' | ']' => match self.too_deep.checked_sub(1) {
                Some(less) => self.too_deep = less,
                None => drop(self.frames.pop()),
            },
            ',' if self.too_deep == 0 => match self.frames.last_mut() {
                Some(Frame::Object { wants_name, .. }) => *wants_name = true,
                Some(Frame::List { place }) => *place += 1,
                None => {}
            },
            ':' if self.too_deep == 0 => {
                if let Some(Frame::Object { wants_name, .. }) = self.frames.last_mut() {
                    *wants_name = false;
                }
            }
            ',' | ':' => {}
            '"' => match self.frames.last_mut() {
                Some(Frame::Object { name, wants_name: true, .. }) => {
                    name.clear();
                    self.place = JsonPlace::Name;
                }
                Some(_) | None => {
                    self.begin_value();
                    self.place = JsonPlace::Text;
                }
            },
            c if c.is_whitespace() => {}
            c => {
                self.begin_value();
                self.place = JsonPlace::Bare;
                self.add(c);
            }
        }
    }

    fn open(&mut self, c: char) {
        if self.frames.len() >= DEEPEST {
            self.too_deep += 1;
            return;
        }
        self.frames.push(match c {
            '{' => {
                self.objects += 1;
                Frame::Object { number: self.objects, name: String::new(), wants_name: true }
            }
            _ => Frame::List { place: 1 },
        });
    }

    fn quoted(&mut self, c: char) {
        match std::mem::take(&mut self.escape) {
            Escape::None if c == '"' => match self.place {
                JsonPlace::Text => self.end_value(),
                _ => self.place = JsonPlace::Between,
            },
            Escape::None if c == '\\' => self.escape = Escape::Backslash,
            Escape::None => self.add(c),
            Escape::Backslash => self.escaped(c, None),
            Escape::High(high) if c == '\\' => self.escape = Escape::HighBackslash(high),
            Escape::High(_) => {
                self.add(char::REPLACEMENT_CHARACTER);
                self.quoted(c);
            }
            Escape::HighBackslash(high) => self.escaped(c, Some(high)),
            Escape::Digits { digits, value, high } => match c.to_digit(16) {
                Some(digit) if digits < 3 => {
                    let value = value * 16 + digit;
                    self.escape = Escape::Digits { digits: digits + 1, value, high };
                }
                Some(digit) => self.unicode(value * 16 + digit, high),
                None => {
                    self.add(char::REPLACEMENT_CHARACTER);
                    self.quoted(c);
                }
            },
        }
    }

    /// What follows a backslash, perhaps after the first half of a pair.
    fn escaped(&mut self, c: char, high: Option<u32>) {
        if c == 'u' {
            self.escape = Escape::Digits { digits: 0, value: 0, high };
            return;
        }
        if high.is_some() {
            self.add(char::REPLACEMENT_CHARACTER);
        }
        self.add(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        });
    }

    fn unicode(&mut self, code: u32, high: Option<u32>) {
        match (high, code) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                self.add(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (Some(_), code) => {
                self.add(char::REPLACEMENT_CHARACTER);
                self.unicode(code, None);
            }
            (None, 0xd800..=0xdbff) => self.escape = Escape::High(code),
            (None, code) => self.add(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    fn begin_value(&mut self) {
        if self.too_deep > 0 {
            return;
        }
        let (object, name) = match self.frames.last() {
            Some(Frame::Object { number, name, .. }) => (*number, name.clone()),
            Some(Frame::List { .. }) | None => (0, String::new()),
        };
        let steps = self.frames.iter().map(|frame| match frame {
            Frame::Object { name, .. } => name.clone(),
            Frame::List { place } => place.to_string(),
        });
        let label = steps.collect::<Vec<_>>().join(" ");
        if self.values.len() == MOST_ARGS {
            self.values.pop_front();
        }
        self.values.push_back(OpenArg { object, name, label, ..OpenArg::default() });
    }

    fn end_value(&mut self) {
        self.place = JsonPlace::Between;
        if self.too_deep == 0
            && let Some(value) = self.values.back_mut()
        {
            value.is_whole = true;
        }
    }

    /// Adds a character to the name or value that is open.
    fn add(&mut self, c: char) {
        if self.place == JsonPlace::Name {
            if let Some(Frame::Object { name, .. }) = self.frames.last_mut()
                && name.len() < MOST_NAME
            {
                name.push(c);
            }
            return;
        }
        if self.too_deep == 0
            && let Some(value) = self.values.back_mut().filter(|value| !value.is_whole)
        {
            grow(value, c);
        }
    }
}

/// Adds a character and gives up what is too old.
fn grow(value: &mut OpenArg, c: char) {
    // A line counts from its first character on.
    if value.lines == 0 || value.newest.ends_with('\n') {
        value.lines += 1;
        let kept = value.newest.matches('\n').count();
        if kept >= MOST_LINES
            && let Some(end) = value.newest.find('\n')
        {
            value.newest.drain(..=end);
            value.is_cut = true;
        }
    }
    value.newest.push(c);
    if value.newest.len() > MOST_BYTES {
        let half = value.newest.len() / 2;
        let is_end = |(at, c): &(usize, char)| *at >= half && c.is_whitespace();
        let word = value.newest.char_indices().find(is_end).map(|(at, c)| at + c.len_utf8());
        // One word without an end is cut anywhere.
        let any = || (half..).find(|at| value.newest.is_char_boundary(*at));
        let from = word.filter(|at| *at < value.newest.len()).or_else(any).unwrap_or(0);
        value.newest.drain(..from);
        value.is_cut = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> GrowingJson {
        let mut growing = GrowingJson::default();
        growing.push(text);
        growing
    }

    fn lines(text: &str) -> Vec<String> {
        let line = |value: OpenArg| format!("{}: {}", value.label, value.newest);
        read(text).values().into_iter().map(line).collect()
    }

    #[test]
    fn every_value_has_the_names_that_lead_to_it() {
        let args = json!({
            "path": "a.c", "count": 12, "is_new": true,
            "files": [{ "file_name": "b.c", "code": "int b;\n" }, { "file_name": "c.c" }],
            "names": ["x", "y"],
        });
        let expected = [
            "count: 12",
            "files 1 code: int b;\n",
            "files 1 file_name: b.c",
            "files 2 file_name: c.c",
            "is_new: true",
            "names 1: x",
            "names 2: y",
            "path: a.c",
        ];
        let mut found = lines(&args.to_string());
        found.sort();
        assert_eq!(found, expected);
        let values = read(&args.to_string()).values();
        let object = |label: &str| values.iter().find(|it| it.label == label).unwrap().object;
        assert_eq!(object("files 1 code"), object("files 1 file_name"));
        assert_ne!(object("files 1 code"), object("files 2 file_name"));
        assert_eq!(object("path"), object("count"));
    }

    #[test]
    fn a_value_grows_with_every_piece_and_escapes_are_characters() {
        let text = r#"{"text": "a \"b\" \\ \n\u00e9 \ud83d\ude00 \ud83d! end"}"#;
        let mut growing = GrowingJson::default();
        let mut before = String::new();
        for c in text.chars() {
            growing.push(&c.to_string());
            let now = growing.values().pop().map(|value| value.newest).unwrap_or_default();
            assert!(now.starts_with(&before), "{before:?} {now:?}");
            before = now;
        }
        assert_eq!(before, "a \"b\" \\ \né 😀 \u{fffd}! end");
        assert!(growing.values()[0].is_whole && growing.values()[0].lines == 2);
    }

    #[test]
    fn the_newest_lines_are_kept_and_all_are_counted() {
        let code: String = (1..=5_000).map(|line| format!("int line_{line};\n")).collect();
        let growing = read(&json!({ "code": code }).to_string());
        let value = growing.values().pop().unwrap();
        assert_eq!(value.lines, 5_000);
        assert!(value.is_cut && value.newest.lines().count() == MOST_LINES, "{}", value.newest);
        assert!(value.newest.ends_with("int line_5000;\n"));
        let long = read(&json!({ "text": "word ".repeat(10_000) }).to_string()).values();
        assert!(long[0].newest.len() <= MOST_BYTES && long[0].newest.starts_with("word"));
        let many: Vec<usize> = (0..1_000).collect();
        assert_eq!(read(&json!(many).to_string()).values().len(), MOST_ARGS);
    }

    #[test]
    fn what_is_no_json_is_shown_as_it_is_and_depth_is_bounded() {
        assert_eq!(lines("I call it, now"), [": I call it, now"]);
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&deep).values(), []);
        assert_eq!(lines(&format!("{}{deep}, \"a\": 1}}", "{\"x\": ")), ["a: 1"]);
        assert_eq!(lines("{}}]],,::{\"a\" 1"), ["a: 1"]);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            "[a-z é\"\\\\\n\t😀]{0,30}".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn leaves(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| leaves(item, out)),
            Value::Object(fields) => fields.values().for_each(|item| leaves(item, out)),
            Value::String(text) => out.push(text.clone()),
            other => out.push(other.to_string()),
        }
    }

    proptest! {
        #[test]
        fn whole_json_in_any_pieces_gives_its_values(
            value in prop::collection::vec(json_value(), 0..3),
            cut in 1usize..7,
        ) {
            let value = Value::from(value);
            let text: Vec<char> = value.to_string().chars().collect();
            let mut growing = GrowingJson::default();
            for piece in text.chunks(cut) {
                growing.push(&piece.iter().collect::<String>());
            }
            let mut expected = Vec::new();
            leaves(&value, &mut expected);
            let found = growing.values();
            for (expected, found) in expected.iter().rev().zip(found.iter().rev()) {
                prop_assert!(found.is_whole && expected.ends_with(&found.newest));
                prop_assert!(found.is_cut || expected == &found.newest);
            }
            prop_assert_eq!(found.len(), expected.len().min(MOST_ARGS));
        }

        #[test]
        fn nothing_makes_it_fail(text in "[{}\\[\\]\",:\\\\u0d8a-f \n😀]{0,80}") {
            read(&text);
        }
    }
}
