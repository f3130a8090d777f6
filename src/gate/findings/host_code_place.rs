//! A place in a text that runs on the developer's machine, or is fetched from elsewhere.

use std::ops::Range;

use super::commands;
use crate::model::FindingLevel;

/// Something that runs or is fetched, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostCode {
    pub(super) range: Range<usize>,
    pub(super) level: FindingLevel,
    /// The sentence for people. What a task allows is decided by the deed, never by these words.
    pub(super) text: String,
    pub(super) deed: HostDeed,
}

/// What happens on the machine, as far as a task can ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostDeed {
    /// A command runs; it is whole.
    Runs(String),
    /// Something else that a task may name with these words: an assignment, a call.
    Does(String),
    /// Code comes from another place.
    Fetches,
    /// Data goes to another computer or comes from there.
    Talks,
    /// Files of the developer change or are read.
    TouchesFiles,
    /// All else, which no task allows.
    Other,
}

impl HostCode {
    pub(super) fn new(
        range: Range<usize>,
        (level, text): (FindingLevel, impl Into<String>),
        deed: HostDeed,
    ) -> Self {
        Self { range, level, text: text.into(), deed }
    }

    /// A command with the sentence about it.
    pub(super) fn runs(
        range: Range<usize>,
        level: FindingLevel,
        (command, when): (&str, &str),
    ) -> Self {
        let reported = (level, commands::sentence(command, when));
        Self::new(range, reported, HostDeed::Runs(command.to_owned()))
    }

    pub(super) fn other(range: Range<usize>, reported: (FindingLevel, impl Into<String>)) -> Self {
        Self::new(range, reported, HostDeed::Other)
    }
}

impl HostDeed {
    /// The words by which a task may ask for it.
    pub(super) fn words(&self) -> Option<&str> {
        match self {
            Self::Runs(words) | Self::Does(words) => Some(words),
            Self::Fetches | Self::Talks | Self::TouchesFiles | Self::Other => None,
        }
    }
}
