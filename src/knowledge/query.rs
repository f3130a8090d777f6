//! What a question asks for: its words with those that mean the same, its form, its filters.
//!
//! Pure. Must not know how passages are stored.

use super::chips::ChipSet;
use super::group::{Group, Origin};
use super::index::PassageFacts;
use super::passage::PassageKind;
use super::synonyms::Synonyms;
use super::words::{Splitter, Word, WordRole};

/// Most groups of words of one question: one bit each.
const MOST_GROUPS: usize = 48;
/// Most bytes of a question that are looked at.
const MOST_BYTES: usize = 4_000;

/// What sort of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The name of something that is declared.
    Symbol,
    /// The name of an option.
    Option,
    /// What a compiler or a board said.
    Error,
    /// It asks for an example.
    Example,
    /// Anything else.
    Plain,
}

impl Form {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "a symbol",
            Self::Option => "an option",
            Self::Error => "an error",
            Self::Example => "an example",
            Self::Plain => "a question",
        }
    }
}

/// A question as it is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub groups: Vec<Group>,
    pub form: Form,
    /// Whether it is about the way from one version to another.
    pub asks_migration: bool,
}

/// What results must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// One of these kinds; any when empty.
    pub kinds: Vec<PassageKind>,
    /// For this chip, or for all.
    pub chip: Option<ChipSet>,
    /// In this component of the framework.
    pub component: Option<String>,
    /// In the corpus of this name.
    pub corpus: Option<String>,
    /// Of a version that begins so.
    pub version: Option<String>,
}

impl Filter {
    /// Whether a passage with these facts may be a result.
    #[must_use]
    pub fn takes(&self, facts: PassageFacts) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&facts.kind))
            && self.chip.is_none_or(|chip| !facts.chips.and(chip).is_empty())
    }
}

impl Question {
    /// Reads a question.
    #[must_use]
    pub fn read(text: &str, words: &mut Splitter, synonyms: &Synonyms) -> Self {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let written = words.words(text);
        let mut groups: Vec<Group> = Vec::new();
        let mut places: Vec<(String, Option<usize>)> = Vec::new();
        for Word { text: word, role } in written {
            if groups.len() >= MOST_GROUPS / 2 {
                break;
            }
            if role == WordRole::Silent {
                places.push((word, None));
                continue;
            }
            let known = groups.iter().position(|group| group.words[0].0 == word);
            if role == WordRole::Plain || role == WordRole::Joined {
                places.push((word.clone(), Some(known.unwrap_or(groups.len()))));
            }
            if known.is_some() {
                continue;
            }
            let (weight, origin) = match role {
                WordRole::Plain => (1.0, Origin::Written),
                WordRole::Identifier => (1.6, Origin::Written),
                WordRole::Part => (0.45, Origin::Part),
                WordRole::Joined | WordRole::Silent => (0.9, Origin::Part),
            };
            groups.push(Group { words: vec![(word, 1.0)], weight, origin });
        }
        synonyms.extend(&mut groups, &places, MOST_GROUPS);
        let form = form_of(text);
        let lower = text.to_lowercase();
        let asks_migration = [
            "migrat",
            "upgrad",
            "deprecated",
            "removed in",
            "breaking",
            "moved from",
            "v4",
            "v5",
            "v6",
            "5.0",
            "6.0",
            "port from",
        ]
        .iter()
        .any(|word| lower.contains(word));
        Self { groups, form, asks_migration }
    }
}

fn form_of(text: &str) -> Form {
    let lower = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_name = |word: &&str| word.contains('_') && !word.contains("__");
    if words.len() <= 3 && words.iter().any(|word| word.contains("CONFIG_")) {
        return Form::Option;
    }
    if words.len() <= 2 && words.iter().any(is_name) {
        return Form::Symbol;
    }
    let errors = [
        "error:",
        "undefined reference",
        "fatal error",
        "implicit declaration",
        "no such file",
        "guru meditation",
        "cannot find",
        "warning:",
        "failed to",
        "multiple definition",
    ];
    if errors.iter().any(|error| lower.contains(error)) {
        return Form::Error;
    }
    if ["example", "sample code", "demo ", "sample project"].iter().any(|word| lower.contains(word))
    {
        return Form::Example;
    }
    Form::Plain
}
