//! Makes foreign text harmless for a terminal and honest for a reader.
//!
//! Owns the rule of what may reach the screen: no control, no escape sequence, no bidirectional
//! formatting, nothing invisible. What is replaced stays visible: `␛` for ESC, `\u{202e}` for a
//! right-to-left override. Must not know styles or widths of panes.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Columns between tab stops.
pub const TAB_STOP: usize = 4;

/// Marks on one letter that are drawn; more of them would paint over the lines above and below.
const MAX_MARKS: u32 = 4;

/// Makes `text` safe to show on one line: line feeds become `␊`, tabs are expanded.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    line_from(text, 0)
}

/// As [`line()`], for a piece of a line that starts at display column `column`, so that its tabs
/// end where they would in the whole line.
#[must_use]
pub fn line_from(text: &str, column: usize) -> Cow<'_, str> {
    clean(text, column, LineFeed::Shown)
}

/// Makes `text` safe to show on several lines: line feeds stay, `\r\n` becomes `\n`, a lone
/// carriage return becomes `␍`, tabs are expanded.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    clean(text, 0, LineFeed::Kept)
}

/// Makes one line of raw process or serial output safe to show: the line end is dropped, colour
/// and cursor sequences are dropped, bytes that are not UTF-8 become `\x` escapes.
#[must_use]
pub fn log_line(bytes: &[u8]) -> Cow<'_, str> {
    let end = bytes.iter().rposition(|&b| b != b'\n' && b != b'\r').map_or(0, |last| last + 1);
    let text = match decode(bytes.get(..end).unwrap_or_default()) {
        Cow::Borrowed(text) => strip_sequences(text),
        Cow::Owned(text) => Cow::Owned(strip_sequences(&text).into_owned()),
    };
    match text {
        Cow::Borrowed(text) => line(text),
        Cow::Owned(text) => Cow::Owned(line(&text).into_owned()),
    }
}

/// Reads bytes as UTF-8; those that are not become `\x` escapes, e.g. `\xff`.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(out)
}

/// Drops ECMA-48 sequences (colours, cursor movements, titles, clipboard). One that is cut off
/// at the end of `text` is dropped too. Other controls stay; [`line()`] shows them.
#[must_use]
pub fn strip_sequences(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_introducer) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_introducer) {
        let (before, sequence) = rest.split_at(start);
        out.push_str(before);
        rest = sequence.get(sequence_len(sequence)..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// ESC and the one-character forms of CSI, OSC, DCS, SOS, PM and APC.
const fn is_introducer(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{9b}' | '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}')
}

/// Length in bytes of the sequence that `text` starts with.
fn sequence_len(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let (kind, body) = if first == '\u{1b}' {
        match chars.next() {
            Some(c @ ('[' | ']' | 'P' | 'X' | '^' | '_')) => (c, chars.as_str()),
            // Two- and three-character sequences: intermediates, then one final.
            Some(' '..='/') => {
                let tail = chars.as_str();
                let end = tail.find(|c: char| !matches!(c, ' '..='/')).unwrap_or(tail.len());
                let last = tail.get(end..).and_then(|t| t.chars().next());
                return text.len() - tail.len()
                    + end
                    + last.filter(|c| matches!(c, '0'..='~')).map_or(0, char::len_utf8);
            }
            Some('0'..='~') => return 2,
            Some(_) | None => return 1,
        }
    } else {
        (if first == '\u{9b}' { '[' } else { ']' }, chars.as_str())
    };
    let head = text.len() - body.len();
    if kind == '[' {
        let end = body.find(|c: char| !matches!(c, ' '..='?')).unwrap_or(body.len());
        let last = body.get(end..).and_then(|t| t.chars().next());
        return head + end + last.filter(|c| matches!(c, '@'..='~')).map_or(0, char::len_utf8);
    }
    head + string_len(body)
}

/// Length of a control string with its terminator. It never runs over a line end: a board that
/// dies in the middle of one must not swallow what follows.
fn string_len(body: &str) -> usize {
    match body.find(['\u{7}', '\u{9c}', '\u{1b}', '\n', '\r']) {
        None => body.len(),
        Some(end) => {
            let tail = body.get(end..).unwrap_or_default();
            // ST in its two-character and its one-character form, both two bytes long.
            if tail.starts_with("\u{1b}\\") || tail.starts_with('\u{9c}') {
                end + 2
            } else if tail.starts_with('\u{7}') {
                end + 1
            } else {
                end
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineFeed {
    Kept,
    Shown,
}

fn clean(text: &str, column: usize, feed: LineFeed) -> Cow<'_, str> {
    let harmless = |b: u8| matches!(b, b' '..=b'~') || (b == b'\n' && feed == LineFeed::Kept);
    let Some(first) = text.bytes().position(|b| !harmless(b)) else {
        return Cow::Borrowed(text);
    };
    // The byte before is ASCII, so this is a boundary; one step back gives a mark its letter.
    let start = first.saturating_sub(1);
    if text.get(start..).is_some_and(|rest| is_clean(rest, feed)) {
        return Cow::Borrowed(text);
    }
    let mut cleaner = Cleaner {
        out: String::with_capacity(text.len() + 32),
        column,
        feed,
        previous: None,
        marks: 0,
    };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_crlf = feed == LineFeed::Kept && c == '\r' && chars.peek() == Some(&'\n');
        if !is_crlf {
            cleaner.push(c, chars.peek().copied());
        }
    }
    Cow::Owned(cleaner.out)
}

/// Whether `text`, which may be full of letters beyond ASCII, needs no change.
fn is_clean(text: &str, feed: LineFeed) -> bool {
    let (mut previous, mut marks) = (None, 0);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' && feed == LineFeed::Kept {
            (previous, marks) = (None, 0);
            continue;
        }
        if fate(c, previous, chars.peek().copied(), &mut marks) != Fate::Shown {
            return false;
        }
        previous = Some(c);
    }
    true
}

/// What happens to one character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Shown,
    Picture(char),
    Escaped,
    Tab,
    /// A combining mark with nothing to stand on gets a dotted circle.
    Based,
}

fn fate(c: char, previous: Option<char>, next: Option<char>, marks: &mut u32) -> Fate {
    match c {
        ' '..='~' => *marks = 0,
        '\t' => return Fate::Tab,
        '\0'..='\u{1f}' => {
            return Fate::Picture(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␦'));
        }
        '\u{7f}' => return Fate::Picture('␡'),
        '\u{200d}' => {
            // A selector after a joiner styles nothing and will be escaped, so it joins nothing.
            let joins = previous.is_some_and(is_pictograph)
                && next.is_some_and(|n| is_pictograph(n) && n != '\u{fe0f}');
            return if joins { Fate::Shown } else { Fate::Escaped };
        }
        '\u{fe0e}' | '\u{fe0f}' => {
            let styles = previous.is_some_and(|p| is_pictograph(p) && p != c);
            return if styles { Fate::Shown } else { Fate::Escaped };
        }
        _ if is_invisible(c) => return Fate::Escaped,
        _ if c.width() == Some(0) => {
            *marks += 1;
            return match previous {
                _ if *marks > MAX_MARKS => Fate::Escaped,
                None => Fate::Based,
                Some(_) => Fate::Shown,
            };
        }
        _ => *marks = 0,
    }
    Fate::Shown
}

/// Whether `c` is shown as it is wherever it stands: no control, nothing invisible, no mark.
pub(super) fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~') || (!is_invisible(c) && c.width().is_some_and(|width| width > 0))
}

/// C1 controls, bidirectional formatting, and characters that take no room and leave no trace.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters that emoji sequences are made of.
const fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
        && !matches!(c, '\u{2060}'..='\u{206f}')
}

struct Cleaner {
    out: String,
    column: usize,
    feed: LineFeed,
    /// The last character of `out` on this line: what a mark or a joiner will really stand on.
    previous: Option<char>,
    marks: u32,
}

impl Cleaner {
    fn push(&mut self, c: char, next: Option<char>) {
        if c == '\n' && self.feed == LineFeed::Kept {
            self.out.push('\n');
            (self.column, self.previous, self.marks) = (0, None, 0);
            return;
        }
        match fate(c, self.previous, next, &mut self.marks) {
            Fate::Shown => self.show(c),
            Fate::Picture(picture) => self.show(picture),
            Fate::Based => {
                self.show('\u{25cc}');
                self.show(c);
                self.marks = 1;
            }
            Fate::Tab => {
                for _ in 0..TAB_STOP - self.column % TAB_STOP {
                    self.show(' ');
                }
            }
            Fate::Escaped => {
                // A tower of marks stays escaped from where it got too high.
                let marks = self.marks;
                for c in c.escape_unicode() {
                    self.show(c);
                }
                self.marks = marks;
            }
        }
    }

    fn show(&mut self, c: char) {
        self.out.push(c);
        self.previous = Some(c);
        let width = c.width().unwrap_or(0);
        self.column += width;
        if width > 0 {
            self.marks = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn harmless_text_is_not_copied() {
        for text in ["", "plain", "größer ✓ 漢字 👩‍🚀 ☀️ e\u{301}", "a │ b"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert!(matches!(block("two\nlines — ok"), Cow::Borrowed(_)));
        assert!(matches!(
            log_line(b"I (312) scan: found\r\n"),
            Cow::Borrowed("I (312) scan: found")
        ));
    }

    #[test]
    fn controls_and_sequences_become_visible() {
        assert_eq!(line("a\x1b[31mb\x07\x7f"), "a␛[31mb␇␡");
        assert_eq!(line("x\u{9b}2J\u{85}"), "x\\u{9b}2J\\u{85}");
        assert_eq!(line("one\ntwo\r"), "one␊two␍");
        assert_eq!(block("one\r\ntwo\rthree"), "one\ntwo␍three");
    }

    #[test]
    fn what_turns_or_hides_text_becomes_visible() {
        // "Trojan Source", CVE-2021-42574: an override that makes a comment look like code.
        assert_eq!(line("/*\u{202e} } if (x)\u{2066}"), "/*\\u{202e} } if (x)\\u{2066}");
        assert_eq!(line("pass\u{200b}word\u{feff}\u{ad}"), "pass\\u{200b}word\\u{feff}\\u{ad}");
        assert_eq!(line("a\u{200d}b\u{fe0f}"), "a\\u{200d}b\\u{fe0f}");
        assert_eq!(line("👨\u{200d}\u{fe0f}"), "👨\\u{200d}\\u{fe0f}");
        assert_eq!(line("☀\u{fe0f}\u{fe0f}\u{200d}☀"), "☀\u{fe0f}\\u{fe0f}\\u{200d}☀");
        assert_eq!(line("\u{301}x"), "◌\u{301}x");
        let tower = format!("e{}", "\u{301}".repeat(6));
        assert_eq!(line(&tower), format!("e{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(4)));
    }

    #[test]
    fn tabs_end_at_stops() {
        assert_eq!(line("\tif\tx"), "    if  x");
        assert_eq!(line("漢\t|"), "漢  |");
        assert_eq!(line_from("\t|", 3), " |");
        assert_eq!(block("ab\tc\n\td"), "ab  c\n    d");
    }

    #[test]
    fn log_lines_lose_their_sequences_only() {
        assert_eq!(log_line(b"\x1b[0;32mI (3) a: b\x1b[0m\r\n"), "I (3) a: b");
        assert_eq!(log_line(b"\x1b]0;title\x07x\x1b]52;c;QQ==\x1b\\y"), "xy");
        assert_eq!(log_line(b"\x1b(Bz\x1b7\x1b[?25lw\x1bc!"), "zw!");
        assert_eq!(log_line(b"\xff\xfeok\x1b[3"), "\\xff\\xfeok");
        assert_eq!(log_line(b"10%\r20%"), "10%␍20%");
        assert_eq!(log_line("\u{9b}31mred".as_bytes()), "red");
    }

    fn is_harmless(text: &str, feeds: bool) -> bool {
        text.chars().all(|c| {
            (feeds && c == '\n')
                || !(c.is_control()
                    || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
                        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}'
                        | '\u{e0000}'..='\u{e0fff}'))
        })
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(
            text in any::<String>(),
            wild in "[\\x00-\\xa0\u{200b}-\u{2069}\u{1f468}\u{fe0f}\\[\\]0-9;m]{0,30}",
            joined in "(\u{1f468}|\u{200d}|\u{fe0e}|\u{fe0f}|\u{301}|\u{1f3fd}|\u{ad}|\t|a|漢){0,12}",
        ) {
            for text in [&text, &wild, &joined, &format!("{text}{wild}{joined}")] {
                prop_assert!(is_harmless(&line(text), false));
                prop_assert!(is_harmless(&block(text), true));
                prop_assert!(is_harmless(&log_line(text.as_bytes()), false));
                let once = line(text).into_owned();
                prop_assert_eq!(line(&once), once.as_str());
            }
        }

        #[test]
        fn any_bytes_make_a_log_line(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(is_harmless(&log_line(&bytes), false));
        }
    }
}
