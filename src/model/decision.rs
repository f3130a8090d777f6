//! What is said to a proposal, by whom, and what the words are bound to.

use serde::{Deserialize, Serialize};

use super::blob::{BlobRef, ContentHash};
pub use super::check::Side;
use super::proposal::Change;

/// What the person says about one line of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineComment {
    /// Which version the line is counted in.
    pub side: Side,
    /// Counted from 1.
    pub line: u32,
    pub text: String,
}

/// Words to the agent, and comments on lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DecisionNote {
    /// The words; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// In the order they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<LineComment>,
}

impl DecisionNote {
    /// Words without comments.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), comments: Vec::new() }
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.trim().is_empty() && self.comments.is_empty()
    }
}

/// How the content to be written came about, when it is not the one proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amended {
    /// Some of the changed lines were approved, the others refused.
    Lines,
    /// The person has edited the text.
    Edit,
}

/// What becomes of the run after a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterReject {
    /// It goes on; the agent is told.
    #[default]
    GoOn,
    /// It ends in order.
    Stop,
}

impl AfterReject {
    const fn is_default(&self) -> bool {
        matches!(self, Self::GoOn)
    }
}

/// What the person, or a policy for the person, says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Do it exactly as shown.
    Approve,
    /// Do it exactly as shown, confirmed by a phrase that was typed; see [`Change::phrase`].
    ApproveConfirmed {
        /// What was typed.
        phrase: String,
    },
    /// Do it exactly as shown, and tell the agent something.
    ApproveAndTell {
        /// What it is told.
        note: DecisionNote,
    },
    /// Write this content instead of the one proposed. The agent is told every difference.
    ApproveAmended {
        /// How the content came about.
        how: Amended,
        /// What is written.
        content: BlobRef,
        /// Why, and whatever else the agent is told.
        #[serde(default, skip_serializing_if = "DecisionNote::is_empty")]
        note: DecisionNote,
        /// The phrase that was typed, where what is written asks for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phrase: Option<String>,
    },
    /// Do not; the words go back to the agent and may be empty.
    Reject {
        /// The person's words.
        reason: String,
        /// Comments on lines, which go back as well.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        comments: Vec<LineComment>,
        /// Whether the run goes on.
        #[serde(default, skip_serializing_if = "AfterReject::is_default")]
        then: AfterReject,
    },
}

impl Verdict {
    /// A rejection with a reason and nothing else.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::Reject { reason: reason.into(), comments: Vec::new(), then: AfterReject::default() }
    }

    /// Whether something is done.
    #[must_use]
    pub const fn is_approval(&self) -> bool {
        match self {
            Self::Approve
            | Self::ApproveConfirmed { .. }
            | Self::ApproveAndTell { .. }
            | Self::ApproveAmended { .. } => true,
            Self::Reject { .. } => false,
        }
    }

    /// The person's words to the agent; may be empty.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Approve | Self::ApproveConfirmed { .. } => "",
            Self::ApproveAndTell { note } | Self::ApproveAmended { note, .. } => &note.words,
            Self::Reject { reason, .. } => reason,
        }
    }

    /// The person's comments on lines.
    #[must_use]
    pub fn comments(&self) -> &[LineComment] {
        match self {
            Self::Approve | Self::ApproveConfirmed { .. } => &[],
            Self::ApproveAndTell { note } | Self::ApproveAmended { note, .. } => &note.comments,
            Self::Reject { comments, .. } => comments,
        }
    }

    /// The phrase that was typed to confirm it.
    #[must_use]
    pub fn typed_phrase(&self) -> Option<&str> {
        match self {
            Self::ApproveConfirmed { phrase } => Some(phrase),
            Self::ApproveAmended { phrase, .. } => phrase.as_deref(),
            Self::Approve | Self::ApproveAndTell { .. } | Self::Reject { .. } => None,
        }
    }

    /// What is written instead of the proposed content, if anything.
    #[must_use]
    pub const fn amended(&self) -> Option<BlobRef> {
        match self {
            Self::ApproveAmended { content, .. } => Some(*content),
            Self::Approve
            | Self::ApproveConfirmed { .. }
            | Self::ApproveAndTell { .. }
            | Self::Reject { .. } => None,
        }
    }

    /// What the screen and the logs call it.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Approve | Self::ApproveAndTell { .. } => "approved",
            Self::ApproveConfirmed { .. } => "approved and confirmed",
            Self::ApproveAmended { how: Amended::Lines, .. } => "approved in part",
            Self::ApproveAmended { how: Amended::Edit, .. } => "edited and approved",
            Self::Reject { then: AfterReject::GoOn, .. } => "rejected",
            Self::Reject { then: AfterReject::Stop, .. } => "rejected, and the run stopped",
        }
    }
}

/// Who spoke the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// A person at the desk.
    Person,
    /// A rule of the configuration or of the session, in its own words.
    Policy(String),
    /// Nobody: the desk was lost or the run stopped, which denies.
    Nobody(String),
}

/// A verdict bound to what was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was said.
    pub verdict: Verdict,
    /// Who said it.
    pub by: DecidedBy,
    /// [`Change::hash`] of what was shown.
    pub shown: ContentHash,
    /// Changed lines that had not been on screen when it was approved all the same.
    #[serde(default, skip_serializing_if = "super::check::is_zero")]
    pub unseen: u32,
    /// Findings of level stop in spite of which it was approved.
    #[serde(default, skip_serializing_if = "super::check::is_zero")]
    pub stops: u32,
}

impl Decision {
    /// What the file holds once `change` is carried out as decided; `None` for a deletion, a
    /// flash, or when nothing is done.
    #[must_use]
    pub const fn written(&self, change: &Change) -> Option<BlobRef> {
        match (self.verdict.is_approval(), self.verdict.amended()) {
            (false, _) => None,
            (true, Some(amended)) => Some(amended),
            (true, None) => change.after(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_earlier_journals_read_and_plain_ones_are_written_as_before() {
        for (json, verdict) in [
            (r#""approve""#, Verdict::Approve),
            (r#"{"reject":{"reason":"no"}}"#, Verdict::reject("no")),
        ] {
            assert_eq!(serde_json::from_str::<Verdict>(json).unwrap(), verdict);
            assert_eq!(serde_json::to_string(&verdict).unwrap(), json);
        }
    }
}
