//! What to write instead: for Python written forwards, for constructs in the order of Python, for
//! names that are nearly right.
//!
//! Owns these sentences. Must not decide what is wrong.

use super::lexer::Tok;
use super::sign::Sign;
use super::words::{self, Dialect, Keyword};

/// About a keyword of Python where none can be: what is wrong, and what to write.
pub(super) fn of_python_word(word: &str, dialect: Dialect) -> (String, String) {
    if dialect == Dialect::Python {
        let message = format!("`{word}` is not part of the Python that Reverty mirrors");
        return (message, "Write it with functions, conditions and loops.".to_owned());
    }
    let message = format!("`{word}` is a keyword of Python");
    let hint = match words::from_python(word) {
        Some(keyword) => form(keyword),
        None if word == "pass" => "Write `enoN` as the only statement of the block.".to_owned(),
        None if word == "global" => "Assign the name; it is global already.".to_owned(),
        None => "It has no counterpart in Reverty, and it cannot be a name.".to_owned(),
    };
    (message, hint)
}

/// How a keyword is written in Reverty, with what belongs to it.
pub(super) fn form(keyword: Keyword) -> String {
    let form = match keyword {
        Keyword::Def => ": TYPE -> (TYPE: NAME) NAME fed",
        Keyword::Return => "nruter VALUE",
        Keyword::If => ": CONDITION fi",
        Keyword::Elif => ": CONDITION file",
        Keyword::Else => ": esle",
        Keyword::While => ": CONDITION elihw",
        Keyword::For | Keyword::In => ": range(N) ni NAME rof",
        Keyword::Try => ": yrt",
        Keyword::Except => ": EXCEPTION tpecxe",
        Keyword::True
        | Keyword::False
        | Keyword::None
        | Keyword::And
        | Keyword::Or
        | Keyword::Not
        | Keyword::Break
        | Keyword::Continue
        | Keyword::Int
        | Keyword::Float
        | Keyword::Str
        | Keyword::Bool
        | Keyword::List
        | Keyword::Dict
        | Keyword::Tuple => words::reverty(keyword),
    };
    format!("Write `{form}`.")
}

/// What to write where this token cannot be; empty when nothing is sure.
pub(super) fn instead(kind: Tok, dialect: Dialect) -> String {
    match (kind, dialect) {
        (Tok::Key(keyword), Dialect::Reverty) => form(keyword),
        (Tok::Sign(Sign::Assign), _) => {
            "Compare with `==`; assign to a name or an index.".to_owned()
        }
        (Tok::Sign(Sign::Colon), Dialect::Reverty) => {
            "The colon comes first: `: CONDITION fi`.".to_owned()
        }
        (Tok::Indent, _) => "Indent it as the line before it.".to_owned(),
        (
            Tok::Newline
            | Tok::Dedent
            | Tok::End
            | Tok::Number
            | Tok::Str
            | Tok::Name(_)
            | Tok::Key(_)
            | Tok::Python(_)
            | Tok::Sign(_)
            | Tok::Bad,
            _,
        ) => String::new(),
    }
}

/// About a type that is none: what to write.
pub(super) fn of_type(word: &str, dialect: Dialect) -> String {
    let mirrored = words::from_python(word).filter(|_| dialect == Dialect::Reverty);
    match (mirrored, dialect) {
        (Some(keyword), _) => format!("Write `{}`.", words::reverty(keyword)),
        (None, Dialect::Reverty) => {
            "Types are `tni`, `taolf`, `rts`, `loob`, `enoN`, `tsil`, `tcid` and `elput`."
                .to_owned()
        }
        (None, Dialect::Python) => {
            "Types are `int`, `float`, `str`, `bool`, `None`, `list`, `dict` and `tuple`."
                .to_owned()
        }
    }
}

/// About a name that means nothing: what may have been meant.
pub(super) fn of_unknown<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mirrored: String = name.chars().rev().collect();
    if words::from_reverty(&mirrored).is_some() || words::from_python(&mirrored).is_some() {
        return format!("Write `{mirrored}`.");
    }
    let bound = 1 + name.len() / 5;
    let near = known
        .filter(|other| other.len().abs_diff(name.len()) <= bound && name.len() <= 40)
        .map(|other| {
            let letters = distance(name.as_bytes(), other.as_bytes());
            (letters, other.len().abs_diff(name.len()), other)
        })
        .filter(|(letters, ..)| *letters <= bound)
        .min();
    match near {
        Some((.., other)) => format!("Is it `{other}`?"),
        None => "Assign it before, or correct the name.".to_owned(),
    }
}

/// Letters to change, add or remove between two words.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (number, letter) in one.iter().enumerate() {
        let mut before = number;
        let mut left = number + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, counterpart) in row.iter_mut().skip(1).zip(other) {
            let changed = before + usize::from(letter != counterpart);
            before = *cell;
            left = changed.min(before + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"", b"abc"), 3);
        let known = ["factorial", "result", "x"];
        assert_eq!(of_unknown("factorail", known.into_iter()), "Is it `factorial`?");
        assert_eq!(of_unknown("reslt", known.into_iter()), "Is it `result`?");
        assert!(of_unknown("banana", known.into_iter()).starts_with("Assign it"));
    }
}
