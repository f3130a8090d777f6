//! Characters that cannot be seen, or that change the order of others on the screen.
//!
//! Owns which of them a script or a picture needs where they stand. Must not judge the text.

use super::inspect::Located;

/// An invisible character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invisible {
    /// Where it is.
    pub place: Located,
    /// Whether texts that hide nothing have no use for it; false for marks of typesetting.
    pub is_harmful: bool,
}

/// Controls other than tab, and what hides text or changes its order on screen. What emoji and
/// scripts such as Persian or Hindi are written with is left out where it belongs.
#[must_use]
pub fn invisible(text: &str) -> Vec<Invisible> {
    let is_odd = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    if text.is_ascii() && !text.bytes().any(is_odd) && !has_lone_return(text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.bytes().all(|byte| matches!(byte, 0x20..=0x7e | b'\t')) || line == "\u{c}" {
            continue;
        }
        let mut chars = line.chars().enumerate().peekable();
        let mut before = Before::default();
        while let Some((column, c)) = chars.next() {
            // The mark at the very start is told by the encoding.
            let is_mark = c == '\u{feff}' && number == 0 && column == 0;
            let after = chars.peek().map(|(_, after)| *after);
            let harm = if is_mark { None } else { harm(c, before, after) };
            if let Some(is_harmful) = harm {
                let what = format!("U+{:04X}", u32::from(c));
                let place = Located { line: number + 1, column: column + 1, what };
                found.push(Invisible { place, is_harmful });
            }
            before = before.then(c, harm.is_some());
        }
    }
    found
}

/// Whether a carriage return stands anywhere but at the end of a line.
fn has_lone_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1).is_some_and(|next| *next != b'\n'))
}

/// What stands before a character.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    /// The one right before it; `None` also where that has no business there.
    last: Option<char>,
    /// The last one that is not a part of an emoji's form.
    base: Option<char>,
    /// Whether a flag of tags has begun.
    in_flag: bool,
}

impl Before {
    fn then(self, c: char, is_found: bool) -> Self {
        if is_found {
            return Self::default();
        }
        let is_form = is_selector(c) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{20e3}');
        let in_flag = c == '\u{1f3f4}' || (self.in_flag && is_tag(c));
        Self { last: Some(c), base: if is_form { self.base } else { Some(c) }, in_flag }
    }
}

/// Whether a character harms where it stands; `None` for what can be seen or belongs there.
fn harm(c: char, before: Before, after: Option<char>) -> Option<bool> {
    let is_by = |of: fn(char) -> bool| before.base.is_some_and(of) || after.is_some_and(of);
    match c {
        '\t' => None,
        // Joiners of emoji and of scripts whose letters join.
        '\u{200c}' | '\u{200d}' => {
            let joins = before.base.is_some_and(is_joining);
            let is_emoji = c == '\u{200d}'
                && before.base.is_some_and(is_pictograph)
                && after.is_some_and(is_pictograph);
            (!joins && !is_emoji).then_some(true)
        }
        // Marks of direction, in texts that have one.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => Some(!is_by(is_right_to_left)),
        '\u{ad}' | '\u{2800}' => Some(false),
        _ if is_selector(c) => {
            let fits = before.last.is_some_and(|last| takes_selector(last, c));
            (!fits).then_some(true)
        }
        _ if is_tag(c) => (!before.in_flag).then_some(true),
        _ => is_hidden(c).then_some(true),
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{e0100}'..='\u{e01ef}')
}

const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

/// Emoji, and symbols that can be drawn as such.
const fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{a9}' | '\u{ae}'
        | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}')
}

/// Whether a variation selector has a meaning after a character.
const fn takes_selector(last: char, selector: char) -> bool {
    let is_ideograph = matches!(last, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(last) || last.is_ascii_digit() || matches!(last, '#' | '*')
        }
        '\u{fe00}'..='\u{fe0d}' => {
            is_ideograph || is_pictograph(last) || matches!(last, '\u{2200}'..='\u{22ff}')
        }
        '\u{180b}'..='\u{180d}' => matches!(last, '\u{1800}'..='\u{18af}'),
        _ => is_ideograph,
    }
}

/// Scripts that write with joiners: Arabic, those of India and around it, Mongolian.
const fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{7ff}' | '\u{860}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_of(text: &str) -> Vec<(usize, usize, String, bool)> {
        let found = invisible(text).into_iter();
        found.map(|i| (i.place.line, i.place.column, i.place.what, i.is_harmful)).collect()
    }

    #[test]
    fn hidden_characters_are_found_where_they_are() {
        let text = "int a;\r\nint \u{202e}b;\n\u{200b}c\x1b[2J\tok\n";
        let found: Vec<_> =
            findings_of(text).into_iter().map(|(line, column, ..)| (line, column)).collect();
        assert_eq!(found, [(2, 5), (3, 1), (3, 3)]);
        assert!(findings_of("\u{feff}int a;\t\n\u{c}\nint b;\n").is_empty());
        for text in [
            "int max\u{200d}_temp;",
            "a\u{200c}b",
            "x\u{fe0f}\u{fe0f}",
            "ok\u{e0101}\u{e0123}",
            "\u{1f600}\u{fe0f}\u{fe01}",
            "note\u{e0061}\u{e0070}",
            "\u{1f600}\u{200d}b",
            "a\u{200f}b",
            "int \u{3164};",
            "a\u{2066}b",
            "x;\ry",
        ] {
            assert!(findings_of(text).iter().any(|(.., is_harmful)| *is_harmful), "{text:?}");
        }
    }

    #[test]
    fn what_scripts_and_emoji_need_is_left() {
        for text in [
            "// 👩\u{200d}🌾 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 🏳\u{fe0f}\u{200d}🌈 1\u{fe0f}\u{20e3}",
            "👩🏽\u{200d}💻",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "می\u{200c}شود",
            "क\u{94d}\u{200d}ष",
            "葛\u{e0100}",
        ] {
            assert_eq!(findings_of(text), [], "{text:?}");
        }
        assert!(findings_of("hy\u{ad}phen").iter().all(|(.., is_harmful)| !is_harmful));
        assert!(findings_of("שלום\u{200f}.").iter().all(|(.., is_harmful)| !is_harmful));
    }
}
