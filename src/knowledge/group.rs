//! The words of a question, in groups that mean one thing.
//!
//! Pure.

/// Words of which a passage should have one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Each with what it counts for.
    pub words: Vec<(String, f32)>,
    pub weight: f32,
    /// Whether the person wrote it; else it was added for what was written.
    pub origin: Origin,
}

/// Hexadecimal digits from which on a number is the code of an error.
const CODE_DIGITS: usize = 3;

impl Group {
    /// Whether its word is a name of programs or the code of an error: in no other field it means
    /// something else.
    #[must_use]
    pub fn is_term(&self) -> bool {
        self.is_code() || self.word().contains('_')
    }

    /// Whether its word is the code of an error, such as `0x110d`.
    #[must_use]
    pub fn is_code(&self) -> bool {
        self.word().strip_prefix("0x").is_some_and(|digits| digits.len() >= CODE_DIGITS)
    }

    fn word(&self) -> &str {
        self.words.first().map_or("", |(word, _)| word.as_str())
    }
}

/// Where a group is from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// The person wrote it.
    Written,
    /// It stands for these groups, by their numbers.
    For(Vec<usize>),
    /// It is a part of an identifier that was written.
    Part,
}
