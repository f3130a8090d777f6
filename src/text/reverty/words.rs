//! The words of Reverty and of Python: keywords, types, declared functions, exceptions; and the
//! names that a program makes, each with a number.
//!
//! Owns which words exist. Must not know where they may be written.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Which of the two languages a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Reverty,
    Python,
}

/// A word with a meaning of its own, by its name in Python. As wide as all that a token can hold, so
/// that tokens stay in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Keyword {
    Def,
    Return,
    If,
    Elif,
    Else,
    While,
    For,
    In,
    True,
    False,
    None,
    And,
    Or,
    Not,
    Try,
    Except,
    Break,
    Continue,
    /// The type, not the function.
    Int,
    Float,
    Str,
    Bool,
    List,
    Dict,
    Tuple,
}

/// Every keyword: itself, in Reverty, in Python. Its place is its number.
pub(super) const KEYWORDS: [(Keyword, &str, &str); 25] = [
    (Keyword::Def, "fed", "def"),
    (Keyword::Return, "nruter", "return"),
    (Keyword::If, "fi", "if"),
    (Keyword::Elif, "file", "elif"),
    (Keyword::Else, "esle", "else"),
    (Keyword::While, "elihw", "while"),
    (Keyword::For, "rof", "for"),
    (Keyword::In, "ni", "in"),
    (Keyword::True, "eurT", "True"),
    (Keyword::False, "eslaF", "False"),
    (Keyword::None, "enoN", "None"),
    (Keyword::And, "dna", "and"),
    (Keyword::Or, "ro", "or"),
    (Keyword::Not, "ton", "not"),
    (Keyword::Try, "yrt", "try"),
    (Keyword::Except, "tpecxe", "except"),
    (Keyword::Break, "kaerb", "break"),
    (Keyword::Continue, "eunitnoc", "continue"),
    (Keyword::Int, "tni", "int"),
    (Keyword::Float, "taolf", "float"),
    (Keyword::Str, "rts", "str"),
    (Keyword::Bool, "loob", "bool"),
    (Keyword::List, "tsil", "list"),
    (Keyword::Dict, "tcid", "dict"),
    (Keyword::Tuple, "elput", "tuple"),
];

/// The first of them that is a type only; in Python these words are names.
const FIRST_TYPE: usize = 18;

/// Keywords of Python, none of which can be a name in a program that becomes Python.
const PYTHON: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// A function that every program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    pub name: &'static str,
    pub least: usize,
    pub most: usize,
}

const fn declared(name: &'static str, least: usize, most: usize) -> Declared {
    Declared { name, least, most }
}

/// All of them.
pub const DECLARED: [Declared; 10] = [
    declared("print", 0, usize::MAX),
    declared("len", 1, 1),
    declared("str", 0, 1),
    declared("int", 0, 2),
    declared("float", 0, 1),
    declared("range", 1, 3),
    declared("abs", 1, 1),
    declared("min", 1, usize::MAX),
    declared("max", 1, usize::MAX),
    declared("input", 0, 1),
];

/// What `tpecxe` can name.
pub const EXCEPTIONS: [&str; 14] = [
    "ArithmeticError",
    "EOFError",
    "Exception",
    "IndexError",
    "KeyError",
    "LookupError",
    "MemoryError",
    "NameError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
];

/// Functions of Python that reach beyond the program. No program has them, and none can have the
/// name, so that no path through a program leads to them.
pub(super) const UNREACHABLE: [&str; 14] = [
    "breakpoint",
    "compile",
    "delattr",
    "dir",
    "eval",
    "exec",
    "getattr",
    "globals",
    "help",
    "locals",
    "memoryview",
    "open",
    "setattr",
    "vars",
];

/// The number of a name in one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameId(u32);

impl NameId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Keyword(Keyword),
    /// A keyword of Python that is none in this text.
    Python(NameId),
    Name(NameId),
}

/// The words of one text, each kept once.
#[derive(Debug)]
pub struct Names<'s> {
    /// Words of up to eight letters, which most are, as one number each.
    short: HashMap<u64, u32, RandomState>,
    long: HashMap<&'s str, u32, RandomState>,
    texts: Vec<&'s str>,
    dialect: Dialect,
}

impl<'s> Names<'s> {
    pub(super) fn new(dialect: Dialect) -> Self {
        let mut names = Self {
            short: HashMap::default(),
            long: HashMap::default(),
            texts: Vec::with_capacity(256),
            dialect,
        };
        for (number, (_, reverty, python)) in KEYWORDS.into_iter().enumerate() {
            match dialect {
                Dialect::Reverty => names.enter(reverty),
                Dialect::Python if number < FIRST_TYPE => names.enter(python),
                Dialect::Python => names.texts.push(""),
            }
        }
        for word in PYTHON {
            let next = names.next();
            // What is a keyword in both languages has its number already.
            let text = if *names.number(word) == next { word } else { "" };
            names.texts.push(text);
        }
        DECLARED.into_iter().for_each(|function| names.enter(function.name));
        names
    }

    fn enter(&mut self, word: &'s str) {
        *self.number(word) = self.next();
        self.texts.push(word);
    }

    /// The number of the next word that is new.
    fn next(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    /// The number of a word; that of the next one when it is new.
    fn number(&mut self, word: &'s str) -> &mut u32 {
        let next = self.next();
        match word.len() {
            // No letter is 0, so that words of different lengths stay different.
            0..=8 => {
                let letters = word.bytes().fold(0, |word, byte| (word << 8) | u64::from(byte));
                self.short.entry(letters).or_insert(next)
            }
            _ => self.long.entry(word).or_insert(next),
        }
    }

    /// What a word of the text is; a new one becomes a name.
    pub(super) fn word(&mut self, text: &'s str) -> Word {
        let next = self.next();
        let id = *self.number(text);
        if id == next {
            self.texts.push(text);
        }
        let index = id as usize;
        match KEYWORDS.get(index) {
            Some((keyword, ..)) => Word::Keyword(*keyword),
            None if index < KEYWORDS.len() + PYTHON.len() => Word::Python(NameId(id)),
            None => Word::Name(NameId(id)),
        }
    }

    #[must_use]
    pub fn text(&self, id: NameId) -> &'s str {
        self.texts.get(id.index()).copied().unwrap_or_default()
    }

    /// How many words there are; every number is below.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// A keyword as the text writes it.
    pub(super) fn keyword(&self, keyword: Keyword) -> &'static str {
        match self.dialect {
            Dialect::Reverty => reverty(keyword),
            Dialect::Python => python(keyword),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The names that the program itself made.
    pub(super) fn own(&self) -> impl Iterator<Item = (NameId, &'s str)> {
        let first = KEYWORDS.len() + PYTHON.len() + DECLARED.len();
        let ids = (0..).map(NameId).zip(self.texts.iter().copied());
        ids.skip(first)
    }
}

/// The declared function with that number.
pub(super) fn declared_function(id: NameId) -> Option<Declared> {
    let index = id.index().checked_sub(KEYWORDS.len() + PYTHON.len())?;
    DECLARED.get(index).copied()
}

/// The word of Reverty for a keyword.
#[must_use]
pub fn reverty(keyword: Keyword) -> &'static str {
    KEYWORDS.iter().find(|(own, ..)| *own == keyword).map_or("", |(_, word, _)| *word)
}

/// The word of Python for a keyword.
#[must_use]
pub fn python(keyword: Keyword) -> &'static str {
    KEYWORDS.iter().find(|(own, ..)| *own == keyword).map_or("", |(.., word)| *word)
}

/// The keyword that is written so in Python.
pub(super) fn from_python(word: &str) -> Option<Keyword> {
    KEYWORDS.iter().find(|(.., python)| *python == word).map(|(keyword, ..)| *keyword)
}

/// The keyword that is written so in Reverty.
pub(super) fn from_reverty(word: &str) -> Option<Keyword> {
    KEYWORDS.iter().find(|(_, reverty, _)| *reverty == word).map(|(keyword, ..)| *keyword)
}

/// Whether a program may not use this name, because Python gives it a meaning beyond the program.
pub(super) fn is_refused(name: &str) -> bool {
    (name.starts_with("__") && name.ends_with("__")) || UNREACHABLE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_mirrored_and_numbered_by_their_place() {
        for (number, (keyword, reverty, python)) in KEYWORDS.into_iter().enumerate() {
            let mirrored: String = python.chars().rev().collect();
            assert_eq!(mirrored, reverty);
            assert_eq!(keyword as usize, number, "{reverty}");
        }
        assert_eq!(KEYWORDS[FIRST_TYPE].0, Keyword::Int);
    }

    #[test]
    fn a_word_is_a_keyword_in_one_language_only() {
        let mut names = Names::new(Dialect::Reverty);
        assert_eq!(names.word("fi"), Word::Keyword(Keyword::If));
        assert!(matches!(names.word("if"), Word::Python(_)));
        assert!(matches!(names.word("print"), Word::Name(id) if declared_function(id).is_some()));
        let own = names.word("x");
        assert_eq!(names.word("x"), own);
        assert!(matches!(own, Word::Name(id) if names.text(id) == "x"));
        let mut names = Names::new(Dialect::Python);
        assert_eq!(names.word("if"), Word::Keyword(Keyword::If));
        assert!(matches!(names.word("int"), Word::Name(id) if declared_function(id).is_some()));
        assert!(matches!(names.word("fi"), Word::Name(_)));
    }
}
