//! What to write instead: for Python written forwards, for constructs in the order of Python, for
//! names that are nearly right.
//!
//! Owns these sentences. Must not decide what is wrong.

use super::ast::Type;
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
        _ => words::reverty(keyword),
    };
    format!("Write `{form}`.")
}

/// What to write where this token cannot be; empty when nothing is sure.
pub(super) fn instead(kind: Tok, dialect: Dialect) -> String {
    match (kind, dialect) {
        (Tok::Key(Keyword::In), Dialect::Reverty) => {
            "No operator tells whether a value is in another one; a loop that compares does: \
             `: VALUES ni NAME rof`."
                .to_owned()
        }
        (Tok::Key(Keyword::In), Dialect::Python) => {
            "In Reverty no operator tells whether a value is in another one; compare in a loop."
                .to_owned()
        }
        (Tok::Key(keyword), Dialect::Reverty) => form(keyword),
        (Tok::Sign(Sign::Assign), _) => {
            "Compare with `==`; assign to a name or an index.".to_owned()
        }
        (Tok::Sign(Sign::Colon), Dialect::Reverty) => {
            "The colon comes first: `: CONDITION fi`.".to_owned()
        }
        (Tok::Indent, _) => "Indent it as the line before it.".to_owned(),
        _ => String::new(),
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
pub(super) fn of_unknown<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    otherwise: &str,
) -> String {
    let mirrored: String = name.chars().rev().collect();
    let keyword = words::from_reverty(&mirrored).or_else(|| words::from_python(&mirrored));
    match keyword {
        Some(keyword) if Type::of(keyword).is_some_and(|own| own != Type::None) => {
            return otherwise.to_owned();
        }
        Some(_) => return format!("Write `{mirrored}`."),
        None => {}
    }
    let bound = 1 + name.len() / 5;
    let near = known
        .filter(|other| other.len().abs_diff(name.len()) <= bound && name.len() <= 40)
        .map(|other| {
            let letters = strsim::levenshtein(name, other);
            (letters, other.len().abs_diff(name.len()), other)
        })
        .filter(|(letters, ..)| *letters <= bound)
        .min();
    match near {
        Some((.., other)) => format!("Is it `{other}`?"),
        None => otherwise.to_owned(),
    }
}

/// About a type where a value is wanted.
pub(super) fn of_type_as_value(own: Type) -> String {
    match own {
        Type::Int | Type::Float | Type::Str => {
            format!("Write `{}(…)` to convert a value.", words::python(own.keyword()))
        }
        Type::Bool | Type::None | Type::List | Type::Dict | Type::Tuple => {
            "A type is before a parameter, or after the name that is assigned.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        assert_eq!(strsim::levenshtein("kitten", "sitting"), 3);
        assert_eq!(strsim::levenshtein("", "abc"), 3);
        let known = ["factorial", "result", "x"];
        let hint = |name| of_unknown(name, known.into_iter(), "no idea");
        assert_eq!(hint("factorail"), "Is it `factorial`?");
        assert_eq!(hint("reslt"), "Is it `result`?");
        assert_eq!(hint("banana"), "no idea");
        assert_eq!(hint("bool"), "no idea", "a type is no function");
    }
}
