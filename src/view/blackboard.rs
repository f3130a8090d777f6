//! The blackboard as the screen shows it: its newest entries, however long the session is.
//!
//! Must not hold what artifacts contain; their titles alone are many in a long session.

use std::collections::{BTreeMap, VecDeque};

use crate::model::{Artifact, ArtifactKind, Timestamp};

/// Most entries that are kept; the journal has all of them.
const MOST: usize = 256;

/// An entry of the blackboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedArtifact {
    /// What was put there.
    pub artifact: Artifact,
    /// Which one of its kind it is, counted from 1.
    pub version: u32,
    /// When it was put there.
    pub at: Timestamp,
}

/// The newest entries of the blackboard, and how many there were before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blackboard {
    entries: VecDeque<PostedArtifact>,
    versions: BTreeMap<ArtifactKind, u32>,
    older: usize,
    started: Option<Timestamp>,
}

impl Blackboard {
    /// Something was put on it.
    pub fn post(&mut self, artifact: Artifact, at: Timestamp) {
        self.started.get_or_insert(at);
        let version = self.versions.entry(artifact.kind).or_default();
        *version += 1;
        self.entries.push_back(PostedArtifact { artifact, version: *version, at });
        if self.entries.len() > MOST {
            self.entries.pop_front();
            self.older += 1;
        }
    }

    /// The newest entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &PostedArtifact> {
        self.entries.iter()
    }

    /// Whether nothing was ever put on it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many older entries were dropped.
    #[must_use]
    pub const fn older(&self) -> usize {
        self.older
    }

    /// When the first entry was put there.
    #[must_use]
    pub fn started(&self) -> Timestamp {
        self.started.unwrap_or(Timestamp(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_session_keeps_the_newest_entries_with_their_versions() {
        let mut board = Blackboard::default();
        for number in 1..=100_000 {
            let kind = if number % 2 == 0 { ArtifactKind::Code } else { ArtifactKind::Result };
            let artifact = Artifact { number, kind, title: "it".into(), by: None, tokens: 1 };
            board.post(artifact, Timestamp(i64::from(number)));
        }
        assert_eq!((board.entries().count(), board.older()), (MOST, 100_000 - MOST));
        let last = board.entries().last().unwrap();
        assert_eq!((last.artifact.number, last.version), (100_000, 50_000));
        assert_eq!(board.started(), Timestamp(1));
    }
}
