//! The tokens of a text in Reverty or Python: words, signs, and the lines and blocks that line
//! feeds and indentation make.
//!
//! Owns what a token looks like, and every fault of single characters. Must not know in which order
//! tokens may come.

use super::ast::Comment;
use super::fault::{Faults, Span};
use super::sign::{FOREIGN, Sign, in_python};
use super::words::{Dialect, Keyword, NameId, Names, Word};

/// Blocks within each other; Python has a bound of 100.
pub(super) const MOST_BLOCKS: usize = 60;

/// Digits of one number; Python reads no more in one integer.
pub(super) const MOST_DIGITS: usize = 4300;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tok {
    Newline,
    Indent,
    Dedent,
    End,
    Number,
    /// With its quotes.
    Str,
    Name(NameId),
    Key(Keyword),
    /// A keyword of Python that is none in this text.
    Python(NameId),
    Sign(Sign),
    /// Something that is no token; the fault is noted.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Tok,
    pub span: Span,
    pub line: u32,
    /// Bytes before it in its line.
    pub indent: u32,
}

/// Indentation of a line: as Python counts, with a tab up to the next multiple of eight, and with a
/// tab as one; where the two differ in order, it depends on the editor what is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Width {
    columns: usize,
    bytes: usize,
}

/// Reads token after token.
pub(super) struct Lexer<'s> {
    /// The one that was read last.
    pub token: Token,
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    line: u32,
    line_start: usize,
    /// Brackets that are open; in them the end of a line means nothing.
    pub brackets: u32,
    widths: Vec<Width>,
    state: LineState,
    pub names: Names<'s>,
    pub comments: Vec<Comment<'s>>,
    pub faults: Faults,
}

/// Where in a line of the program the lexer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// Before its first token.
    Start,
    /// Before its first token, with so many blocks still to end.
    Closing(usize),
    Within,
    End,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(text: &'s str, dialect: Dialect) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let token = Token { kind: Tok::Newline, span: Span::default(), line: 1, indent: 0 };
        Self {
            token,
            text,
            bytes: text.as_bytes(),
            at,
            line: 1,
            line_start: at,
            brackets: 0,
            widths: Vec::new(),
            state: LineState::Start,
            names: Names::new(dialect),
            comments: Vec::new(),
            faults: Faults::default(),
        }
    }

    pub(super) fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Reads the next token; after the last one, [`Tok::End`] for ever.
    pub(super) fn advance(&mut self) {
        loop {
            match self.state {
                LineState::Within => {
                    if self.within() {
                        return;
                    }
                }
                LineState::Start => {
                    if self.line_begins() {
                        return;
                    }
                }
                LineState::Closing(0) => self.state = LineState::Within,
                LineState::Closing(left) => {
                    self.state = LineState::Closing(left - 1);
                    return self.found(Tok::Dedent, self.at);
                }
                LineState::End => {
                    let kind = if self.widths.pop().is_some() { Tok::Dedent } else { Tok::End };
                    return self.found(kind, self.at);
                }
            }
        }
    }

    /// Whether nothing but the ends of lines and blocks is left.
    pub(super) fn is_over(&self) -> bool {
        self.state == LineState::End
    }

    /// Whether the `=` of an assignment comes next on the line.
    pub(super) fn is_assignment_ahead(&self) -> bool {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default().iter();
        let first = rest.find(|byte| !matches!(byte, b' ' | b'\t'));
        first == Some(&b'=') && rest.next() != Some(&b'=')
    }

    /// Notes what was read from `start` to here.
    fn found(&mut self, kind: Tok, start: usize) {
        let span = Span { start: offset(start), end: offset(self.at) };
        let indent = offset(start.saturating_sub(self.line_start));
        self.token = Token { kind, span, line: self.line, indent };
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn line_feed(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Skips lines without a statement; then compares the indentation with the blocks around. Whether
    /// that made a token.
    fn line_begins(&mut self) -> bool {
        let mut width = Width { columns: 0, bytes: 0 };
        loop {
            match self.bytes.get(self.at) {
                Some(b' ') => width.columns += 1,
                Some(b'\t') => width.columns = width.columns / 8 * 8 + 8,
                Some(b'\x0c') => {
                    self.at += 1;
                    width = Width { columns: 0, bytes: 0 };
                    continue;
                }
                Some(b'\r') if self.peek(1) == b'\n' => {}
                Some(b'\n') => {
                    self.line_feed();
                    width = Width { columns: 0, bytes: 0 };
                    continue;
                }
                Some(b'#') => {
                    self.comment();
                    continue;
                }
                Some(_) => break,
                None => {
                    self.state = LineState::End;
                    return false;
                }
            }
            self.at += 1;
            width.bytes += 1;
        }
        self.indent(width)
    }

    fn indent(&mut self, width: Width) -> bool {
        let outer = self.widths.last().copied().unwrap_or(Width { columns: 0, bytes: 0 });
        self.state = LineState::Within;
        if width.columns > outer.columns && self.widths.len() < MOST_BLOCKS {
            self.check_tabs(width.bytes > outer.bytes);
            self.widths.push(width);
            self.found(Tok::Indent, self.at);
            return true;
        }
        if width.columns > outer.columns {
            let message = format!("there are more than {MOST_BLOCKS} blocks within each other");
            self.fault(self.at, self.at + 1, message, "Move an inner block into a function.");
            return false;
        }
        let mut closed = 0;
        while self.widths.last().is_some_and(|top| top.columns > width.columns) {
            self.widths.pop();
            closed += 1;
        }
        let reached = self.widths.last().copied().unwrap_or(Width { columns: 0, bytes: 0 });
        if reached.columns != width.columns {
            let message = "this indentation fits no block around it";
            self.fault(self.at, self.at + 1, message, "Indent it as the block that it belongs to.");
        } else {
            self.check_tabs(reached.bytes == width.bytes);
        }
        self.state = LineState::Closing(closed);
        false
    }

    fn check_tabs(&mut self, is_same_order: bool) {
        if !is_same_order {
            let message = "tabs and spaces are mixed in the indentation";
            self.fault(self.at, self.at + 1, message, "Indent with spaces only.");
        }
    }

    /// Reads on in the line; whether that made a token.
    fn within(&mut self) -> bool {
        while matches!(self.peek(0), b' ' | b'\t' | b'\x0c') {
            self.at += 1;
        }
        let start = self.at;
        let Some(byte) = self.bytes.get(self.at).copied() else {
            self.state = LineState::End;
            self.found(Tok::Newline, start);
            return true;
        };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(b'"'),
            b'\'' if self.names.dialect() == Dialect::Python => self.string(b'\''),
            b'\r' if self.peek(1) == b'\n' => {
                self.at += 1;
                return false;
            }
            b'\n' if self.brackets > 0 => {
                self.line_feed();
                return false;
            }
            b'\n' => {
                self.found(Tok::Newline, start);
                self.line_feed();
                self.state = LineState::Start;
            }
            b'#' => {
                self.comment();
                return false;
            }
            b'\\' => return self.continuation(),
            _ => self.sign(),
        }
        true
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if matches!(self.peek(0), b'"' | b'\'') && is_prefix(text) {
            let (message, hint) = match text.contains(['f', 'F']) {
                true => ("there are no f-strings", "Join the parts: `\"sum: \" + str(x)`."),
                false => ("a string begins with its quote", "Remove the letters before it."),
            };
            self.fault(start, self.at, message, hint);
            let quote = self.peek(0);
            self.string(quote);
            self.token.kind = Tok::Bad;
            return;
        }
        if self.peek(0) >= 0x80 && self.text.get(self.at..).is_some_and(begins_with_letter) {
            return self.bad_name(start);
        }
        let kind = match self.names.word(text) {
            Word::Keyword(keyword) => Tok::Key(keyword),
            Word::Python(id) => Tok::Python(id),
            Word::Name(id) => Tok::Name(id),
        };
        self.found(kind, start)
    }

    fn bad_name(&mut self, start: usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let more = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += more;
        let hint = "Write it with the letters a to z.";
        self.bad(start, self.at, "a name has only ASCII letters, digits and `_`", hint)
    }

    fn number(&mut self) {
        let start = self.at;
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        if self.at - start > MOST_DIGITS {
            let message = format!("a number has at most {MOST_DIGITS} digits");
            return self.bad(start, start + 1, message, "Compute it from smaller numbers.");
        }
        let is_hex = matches!(self.peek(0), b'x' | b'X' | b'b' | b'o' | b'e' | b'E' | b'_');
        if is_word(self.peek(0)) {
            while is_word(self.peek(0)) {
                self.at += 1;
            }
            let hint = match is_hex {
                true => "Numbers are decimal digits, such as `255` or `2.5`.",
                false => "A name begins with a letter or `_`.",
            };
            return self.bad(start, self.at, "this is neither a number nor a name", hint);
        }
        self.found(Tok::Number, start)
    }

    /// A string up to its quote. In Reverty a backslash before a quote does not keep the string from
    /// ending; in Python it does.
    fn string(&mut self, quote: u8) {
        let start = self.at;
        self.at += 1;
        let has_escapes = self.names.dialect() == Dialect::Python;
        if has_escapes && self.peek(0) == quote && self.peek(1) == quote {
            return self.triple(start, quote);
        }
        loop {
            match self.bytes.get(self.at).copied() {
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return self.found(Tok::Str, start);
                }
                None | Some(b'\n') => return self.open_string(start),
                Some(b'\r') if self.peek(1) == b'\n' => return self.open_string(start),
                Some(b'\\') if has_escapes && !matches!(self.peek(1), b'\r' | b'\n' | 0) => {
                    self.escape();
                }
                Some(byte) if is_control(byte) => self.control(),
                Some(_) => self.at += 1,
            }
        }
    }

    fn open_string(&mut self, start: usize) {
        let hint = "End it with the same quote on the same line.";
        self.bad(start, start + 1, "this string does not end", hint)
    }

    /// `"""…"""`, over any number of lines.
    fn triple(&mut self, start: usize, quote: u8) {
        let close = [quote; 3];
        self.at = start;
        self.found(Tok::Str, start);
        let Token { line, indent, .. } = self.token;
        self.at = start + 3;
        loop {
            match self.bytes.get(self.at).copied() {
                None => return self.open_string(start),
                Some(_) if self.bytes.get(self.at..).is_some_and(|it| it.starts_with(&close)) => {
                    self.at += 3;
                    self.found(Tok::Str, start);
                    self.token = Token { line, indent, ..self.token };
                    return;
                }
                Some(b'\n') => self.line_feed(),
                Some(b'\\') if self.peek(1) != b'\n' => self.escape(),
                Some(byte) if is_control(byte) && !(byte == b'\r' && self.peek(1) == b'\n') => {
                    self.control();
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// A backslash in Python, with what it is before.
    fn escape(&mut self) {
        if self.peek(1) == b'N' && self.peek(2) == b'{' {
            let hint = "Write the character itself.";
            self.fault(self.at, self.at + 2, "characters have no names in Reverty", hint);
        }
        self.at = self.bytes.len().min(self.at + 2);
    }

    fn control(&mut self) {
        let hint = "Write it as an escape such as `\\n`.";
        self.fault(self.at, self.at + 1, "a control character is in a string", hint);
        self.at += 1;
    }

    fn comment(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at += length;
        let text = self.text.get(start..self.at).unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        if let Some(at) = text.bytes().position(|byte| byte != b'\t' && is_control(byte)) {
            let hint = "Remove it.";
            let at = start + at;
            self.fault(at, at + 1, "a control character is in a comment", hint);
        }
        let indent = offset(start.saturating_sub(self.line_start));
        self.comments.push(Comment { text: text.trim_end(), line: self.line, indent });
    }

    /// A backslash before the end of a line joins the next one; anywhere else it is a bad token.
    fn continuation(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        while matches!(self.peek(0), b' ' | b'\t' | b'\x0c' | b'\r') {
            self.at += 1;
        }
        if self.peek(0) == b'\n' {
            self.line_feed();
            return false;
        }
        self.at = start + 1;
        let hint = "A backslash is the last character of a line that continues.";
        self.bad(start, self.at, "a backslash is not an operator", hint);
        true
    }

    /// Whether a digit stands right before or behind the point at `at`.
    fn is_part_of_number(&self, at: usize) -> bool {
        let is_digit = |place: Option<usize>| {
            place.and_then(|place| self.bytes.get(place)).is_some_and(u8::is_ascii_digit)
        };
        is_digit(at.checked_sub(1)) || is_digit(at.checked_add(1))
    }

    fn sign(&mut self) {
        let start = self.at;
        if let Some(sign) = Sign::of(self.peek(0), self.peek(1)) {
            self.at += sign.length();
            return self.found(Tok::Sign(sign), start);
        }
        let rest = self.bytes.get(start..).unwrap_or_default();
        if let Some((text, message, hint)) =
            FOREIGN.iter().find(|(text, ..)| rest.starts_with(text))
        {
            self.at += text.len();
            if *text == b"." && self.is_part_of_number(start) {
                let message = "a number has digits on both sides of its point";
                return self.bad(start, self.at, message, "Write `1.0`, or `0.5`.");
            }
            let hint = match self.names.dialect() {
                Dialect::Reverty => (*hint).to_owned(),
                Dialect::Python => in_python(hint),
            };
            self.fault(start, self.at, *message, &hint);
            self.skip_quoted(text);
            return self.found(Tok::Bad, start);
        }
        let rest = self.text.get(start..).unwrap_or_default();
        if begins_with_letter(rest) {
            return self.bad_name(start);
        }
        let character = rest.chars().next().unwrap_or_default();
        self.at += character.len_utf8().max(1);
        let code = u32::from(character);
        let message = match character {
            '\0' => "a NUL character is in the program".to_owned(),
            '\r' => "a carriage return without a line feed is in the program".to_owned(),
            _ if character.is_control() => {
                format!("the control character U+{code:04X} is in the program")
            }
            _ if character.is_ascii() => format!("`{character}` means nothing here"),
            _ => format!("the character U+{code:04X} means nothing outside of strings"),
        };
        let hint = match character.is_ascii_graphic() {
            true => "Reverty has no such sign.",
            false => "Remove it.",
        };
        self.bad(start, self.at, message, hint)
    }

    /// After a quote that begins no string: skips to the one that would end it on the line.
    fn skip_quoted(&mut self, quote: &[u8]) {
        let ends: &[char] = match quote {
            b"'" => &['\''],
            _ if quote == "\u{201c}".as_bytes() => &['\u{201d}', '"'],
            _ if quote == "\u{2018}".as_bytes() => &['\u{2019}'],
            _ => return,
        };
        let rest = self.text.get(self.at..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        if let Some((at, end)) = line.match_indices(ends).next() {
            self.at += at + end.len();
        }
    }

    /// Notes a fault, and takes what it is about for a token.
    fn bad(&mut self, start: usize, end: usize, message: impl Into<String>, hint: &str) {
        self.fault(start, end, message, hint);
        self.found(Tok::Bad, start);
    }

    fn fault(&mut self, start: usize, end: usize, message: impl Into<String>, hint: &str) {
        self.faults.add(Span { start: offset(start), end: offset(end) }, message, hint);
    }
}

/// Texts are bounded far below what does not fit.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

fn begins_with_letter(text: &str) -> bool {
    text.chars().next().is_some_and(|c| !c.is_ascii() && c.is_alphanumeric())
}

/// What Python writes before a quote.
fn is_prefix(word: &str) -> bool {
    word.len() <= 2 && word.bytes().all(|byte| b"fFrRbBuU".contains(&byte))
}
