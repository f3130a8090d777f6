//! What is searched for: passages, their kinds, and where they are from.
//!
//! Owns the vocabulary of the search. Must not read files, and must not know how passages are
//! stored.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chips::ChipSet;

/// What sort of text a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageKind {
    /// A section of a guide or a reference.
    Guide,
    /// A documented declaration of a header.
    Api,
    /// Program text, or what is said about an example.
    Example,
    /// An option of `menuconfig`.
    Option,
    /// An error message, and what to do about it.
    Hint,
    /// A note that ships with the program.
    Note,
    /// A text of the project itself.
    Project,
    /// What a past session of the project came to.
    Session,
}

/// The name of each kind, and what texts of that kind are.
const KINDS: [(&str, &str); 8] = [
    ("guide", "Guides and references"),
    ("api", "Declarations with their comments"),
    ("example", "Programs"),
    ("option", "Options of `menuconfig`"),
    ("hint", "Errors and what to do about them"),
    ("note", "Notes that ship with the program"),
    ("project", "Texts of the project itself; only when named"),
    ("session", "What past sessions of the project came to; only when named"),
];

impl PassageKind {
    /// All kinds, in the order of their numbers in an index.
    pub const ALL: [Self; 8] = [
        Self::Guide,
        Self::Api,
        Self::Example,
        Self::Option,
        Self::Hint,
        Self::Note,
        Self::Project,
        Self::Session,
    ];
    /// Kinds that are searched only when a search names them.
    pub const OWN: [Self; 2] = [Self::Project, Self::Session];

    /// As arguments and answers name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        KINDS[self as usize].0
    }

    /// What texts of that kind are, for a help text.
    #[must_use]
    pub const fn about(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its number in an index.
    #[must_use]
    pub const fn number(self) -> u64 {
        self as u64
    }

    /// The kind with that number.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self::ALL.into_iter().find(|kind| kind.number() == number).unwrap_or(Self::Guide)
    }
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Path of the file, relative to the root of its corpus.
    pub path: String,
    /// The section, symbol or page in that file; empty when it is the file's start.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub anchor: String,
    /// Title of the document.
    pub title: String,
    /// Headings above the text, the outermost first, without the title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    pub kind: PassageKind,
    /// Chips it applies to.
    pub chips: ChipSet,
    /// Names that are declared here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// The text, near to Markdown.
    pub text: String,
}

impl Passage {
    /// The file, and the place in it: what a person can open.
    #[must_use]
    pub fn source(&self) -> String {
        match self.anchor.as_str() {
            "" => self.path.clone(),
            anchor => format!("{}#{anchor}", self.path),
        }
    }

    /// The title, and the innermost heading if it says more.
    #[must_use]
    pub fn full_title(&self) -> String {
        match self.headings.last() {
            Some(heading) if *heading != self.title => format!("{}: {heading}", self.title),
            Some(_) | None => self.title.clone(),
        }
    }

    /// A number that only this text under these headings has.
    #[must_use]
    pub fn key(&self) -> u64 {
        let mut hash = Sha256::new();
        for part in [&self.title, &self.headings.join("\n"), &self.text] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.finalize().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Headings and text in at most so many bytes, as a model is asked about it.
    #[must_use]
    pub fn as_asked(&self, most: usize) -> String {
        let mut text = format!("{}\n\n{}", self.full_title(), self.text);
        text.truncate(text.floor_char_boundary(most));
        text
    }

    /// The component of the framework that the file belongs to.
    #[must_use]
    pub fn component(&self) -> Option<&str> {
        component_of(&self.path)
    }
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub passage: Passage,
    /// The corpus it is from.
    pub corpus: String,
    pub version: String,
    /// Comparable within one search only.
    pub score: f32,
    /// Which words fit, and what else counted.
    pub why: String,
}

impl Found {
    /// Whether both are one answer: a text that two files include, or a section in several pieces.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_place =
            self.corpus == other.corpus && self.passage.source() == other.passage.source();
        is_place || self.passage.text == other.passage.text
    }
}

/// The component that a path of the framework lies in.
#[must_use]
pub fn component_of(path: &str) -> Option<&str> {
    let mut parts = path.split('/');
    match parts.next() {
        Some("components" | "managed_components") => parts.next(),
        Some(_) | None => None,
    }
}

/// The name of a section as links have it: lower case, words joined with hyphens.
#[must_use]
pub fn slug(heading: &str) -> String {
    let mut slug = String::with_capacity(heading.len());
    for c in heading.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_named_as_links_name_them() {
        assert_eq!(slug("I2C: Reading & Writing (v2)"), "i2c-reading-writing-v2");
        assert_eq!(slug("---"), "");
    }

    #[test]
    fn every_kind_is_found_by_name_and_number() {
        for kind in PassageKind::ALL {
            assert_eq!(PassageKind::from_name(kind.name()), Some(kind));
            assert_eq!(PassageKind::from_number(kind.number()), kind);
        }
    }
}
