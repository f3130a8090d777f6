//! Operators and punctuation, and what people write who come from another language.
//!
//! Must not know where a sign may be.

/// As wide as all that a token can hold, so that tokens stay in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Sign {
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Assign,
    PlusAssign,
    MinusAssign,
    StarAssign,
    SlashAssign,
    PercentAssign,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    Open,
    Close,
    OpenList,
    CloseList,
    OpenDict,
    CloseDict,
    Colon,
    Comma,
    Arrow,
}

/// Every sign as it is written, in the order of [`Sign`].
const SIGNS: [&str; 26] = [
    "+", "-", "*", "/", "%", "=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<", ">", "<=", ">=",
    "(", ")", "[", "]", "{", "}", ":", ",", "->",
];

impl Sign {
    /// As it is written.
    pub(super) const fn text(self) -> &'static str {
        SIGNS[self as usize]
    }

    /// The sign that two bytes begin with.
    pub(super) const fn of(first: u8, second: u8) -> Option<Self> {
        Some(match (first, second) {
            (b'/', b'/') | (b'*', b'*') | (b':', b'=') => return None,
            (b'-', b'>') => Self::Arrow,
            (b'+', b'=') => Self::PlusAssign,
            (b'-', b'=') => Self::MinusAssign,
            (b'*', b'=') => Self::StarAssign,
            (b'/', b'=') => Self::SlashAssign,
            (b'%', b'=') => Self::PercentAssign,
            (b'=', b'=') => Self::Eq,
            (b'!', b'=') => Self::Ne,
            (b'<', b'=') => Self::Le,
            (b'>', b'=') => Self::Ge,
            (b'<', _) => Self::Lt,
            (b'>', _) => Self::Gt,
            (b'=', _) => Self::Assign,
            (b'+', _) => Self::Plus,
            (b'-', _) => Self::Minus,
            (b'*', _) => Self::Star,
            (b'/', _) => Self::Slash,
            (b'%', _) => Self::Percent,
            (b'(', _) => Self::Open,
            (b')', _) => Self::Close,
            (b'[', _) => Self::OpenList,
            (b']', _) => Self::CloseList,
            (b'{', _) => Self::OpenDict,
            (b'}', _) => Self::CloseDict,
            (b':', _) => Self::Colon,
            (b',', _) => Self::Comma,
            _ => return None,
        })
    }

    /// Bytes that it takes.
    pub(super) const fn length(self) -> usize {
        self.text().len()
    }
}

/// What `//` means for whole numbers.
const FLOOR: &str = "For whole numbers write `int((a - a % b) / b)`; it is exact up to 2 to the power of \
                     53. `int(a / b)` is not the same below 0.";

/// What people write who come from another language: the sign, what is wrong with it, what to write.
pub(super) const FOREIGN: [(&[u8], &str, &str); 22] = [
    (b"//", "there is no operator `//`", FLOOR),
    (b"**", "there is no operator `**`", "Multiply in a loop."),
    (b"&&", "there is no operator `&&`", "Write `dna`."),
    (b"||", "there is no operator `||`", "Write `ro`."),
    (b"&", "there is no operator `&`", "Compute it with `+`, `-`, `*`, `/` and `%`."),
    (b"|", "there is no operator `|`", "Compute it with other operators; a name has one type."),
    (b"^", "there is no operator `^`", "Compute it with `+`, `-`, `*`, `/` and `%`."),
    (b"@", "there are no decorators", "Call the function in the place where it is needed."),
    (b":=", "there is no operator `:=`", "Assign on a line of its own, with `=`."),
    (b"!", "there is no operator `!`", "Write `ton`, or `!=` to compare."),
    (b";", "`;` does not end a statement", "Write each statement on a line of its own."),
    (b".", "there are no attributes and methods", "Call functions: `len(text)`."),
    (b"'", "strings are in double quotes", "Write `\"text\"`."),
    (b"```", "a fence is not part of a program", "Give the program without such lines."),
    (b"`", "strings are in double quotes", "Write `\"text\"`."),
    ("\u{201c}".as_bytes(), "this quote does not begin a string", "Write `\"`."),
    ("\u{201d}".as_bytes(), "this quote does not end a string", "Write `\"`."),
    ("\u{2018}".as_bytes(), "this quote does not begin a string", "Write `\"`."),
    ("\u{2019}".as_bytes(), "this quote does not end a string", "Write `\"`."),
    ("\u{2192}".as_bytes(), "this arrow is not an operator", "Write `->`."),
    ("\u{2212}".as_bytes(), "this minus sign is not an operator", "Write `-`."),
    ("\u{a0}".as_bytes(), "this is a no-break space", "Write a usual space."),
];

/// The words of a hint that is about Reverty, for a text in Python.
pub(super) fn in_python(hint: &str) -> String {
    let mut hint = hint.to_owned();
    for (reverty, python) in [("`dna`", "`and`"), ("`ro`", "`or`"), ("`ton`", "`not`")] {
        hint = hint.replace(reverty, python);
    }
    hint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_read_as_it_is_written() {
        for (place, text) in SIGNS.into_iter().enumerate() {
            let bytes = text.as_bytes();
            let second = bytes.get(1).copied().unwrap_or(b' ');
            let sign = Sign::of(bytes[0], second).unwrap();
            assert_eq!(sign as usize, place, "{text}");
            assert_eq!((sign.length(), sign.text()), (text.len(), text));
        }
        assert_eq!((Sign::of(b'/', b'/'), Sign::of(b'*', b'*')), (None, None));
        assert_eq!(Sign::of(b':', b'='), None);
    }
}
