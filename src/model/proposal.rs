//! A wish for an effect, the decision on it, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blob::{BlobRef, ContentHash};
use super::board::{BoardInfo, ErasePlan, FlashPlan, ReadPlan, SendPlan};
use super::check::{Check, Finding, FindingLevel};
use super::error::UserError;
use super::facts::Facts;
use super::ids::{AgentName, BatchId, CallId, ProposalId, ToolName, TurnId};
use super::nvs::NvsPlan;
use super::path::ProjectPath;

/// One effect that an agent wishes for. Nothing has happened yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub id: ProposalId,
    /// The turn it came from.
    pub turn: TurnId,
    /// The tool call it came from.
    pub call: CallId,
    /// Who wishes for it.
    pub agent: AgentName,
    /// Through which tool.
    pub tool: ToolName,
    /// The agent's stated reason; may be empty.
    pub reason: String,
    /// Its place among the proposals of the same call.
    pub batch: Batch,
    /// The effect itself.
    pub change: Change,
    /// Findings made before the person is asked.
    pub checks: Vec<Check>,
    /// Details beside the change.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
}

impl Proposal {
    /// Everything that was found, in the order of the checks.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.checks.iter().flat_map(|check| &check.findings)
    }

    /// How many findings no rule and no batch may pass, and that the plain key does not approve.
    #[must_use]
    pub fn stops(&self) -> u32 {
        let stops = self.findings().filter(|finding| finding.level == FindingLevel::Stop);
        u32::try_from(stops.count()).unwrap_or(u32::MAX)
    }

    /// What must be typed to approve it: what the change itself or one of its findings asks for;
    /// `None` where a key is enough.
    #[must_use]
    pub fn phrase(&self) -> Option<String> {
        self.change.phrase().or_else(|| self.findings().find_map(|found| found.phrase.clone()))
    }

    /// Why a phrase has to be typed, as a sentence; `None` where a key is enough.
    #[must_use]
    pub fn stake(&self) -> Option<String> {
        if let Some(stake) = self.change.stake() {
            return Some(stake.to_owned());
        }
        let found = self.findings().find(|found| found.phrase.is_some())?;
        Some(format!("It {}.", found.text))
    }

    /// Whether no rule may approve it: it reaches hardware, it needs a typed phrase, or a
    /// check has failed.
    #[must_use]
    pub fn needs_person(&self) -> bool {
        self.change.reaches_hardware() || self.phrase().is_some() || self.stops() > 0
    }
}

/// Place of a proposal among those that one tool call made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub id: BatchId,
    /// From 1.
    pub index: u32,
    /// How many there are in it.
    pub of: u32,
}

/// The kinds of effects.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Writing a whole file.
    Save,
    /// Removing a file.
    Delete,
    /// Inserting into a file.
    Insert,
    /// Writing to a board.
    Flash,
    /// Erasing a board's flash.
    Erase,
    /// Sending text to a board.
    Send,
    /// Reading a board's flash into a file.
    Read,
    /// Changing entries of a board's non-volatile storage.
    Nvs,
}

impl ChangeKind {
    /// Whether it touches no file.
    #[must_use]
    pub const fn is_of_board(self) -> bool {
        match self {
            Self::Save | Self::Delete | Self::Insert | Self::Read => false,
            Self::Flash | Self::Erase | Self::Send | Self::Nvs => true,
        }
    }

    /// What the screen and the policies call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Save => "save",
            Self::Delete => "delete",
            Self::Insert => "insert",
            Self::Flash => "flash",
            Self::Erase => "erase",
            Self::Send => "send",
            Self::Read => "read",
            Self::Nvs => "nvs",
        }
    }
}

/// The effect, with everything that the decision is bound to.
pub type Change = EffectOf<BlobRef>;

/// An effect whose contents of files are `C`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Change", rename_all = "snake_case")]
pub enum EffectOf<C> {
    /// Writes a whole file.
    Save {
        path: ProjectPath,
        /// What it held when the effect was proposed; `None` if it did not exist.
        base: Option<C>,
        /// What it shall hold.
        content: C,
    },
    /// Removes a file.
    Delete {
        path: ProjectPath,
        /// What it held when the effect was proposed.
        base: C,
    },
    /// Writes an existing file with something inserted.
    Insert {
        path: ProjectPath,
        /// What it held when the effect was proposed.
        base: C,
        /// The whole merged file.
        content: C,
    },
    /// Writes images to a board.
    Flash(FlashPlan),
    /// Erases a board's flash, or a part of it.
    Erase(ErasePlan),
    /// Sends text to a board's serial port.
    Send(SendPlan),
    /// Reads a part of a board's flash into a new file.
    Read(ReadPlan),
    /// Changes entries of a board's non-volatile storage.
    Nvs(NvsPlan),
}

impl<C> EffectOf<C> {
    /// The file it touches; `None` for what is done to a board.
    #[must_use]
    pub fn path(&self) -> Option<&ProjectPath> {
        match self {
            Self::Save { path, .. } | Self::Delete { path, .. } | Self::Insert { path, .. } => {
                Some(path)
            }
            Self::Read(plan) => Some(&plan.path),
            Self::Flash(_) | Self::Erase(_) | Self::Send(_) | Self::Nvs(_) => None,
        }
    }

    /// The board it is done to; `None` for what touches files alone.
    #[must_use]
    pub const fn board(&self) -> Option<&BoardInfo> {
        match self {
            Self::Save { .. } | Self::Delete { .. } | Self::Insert { .. } => None,
            Self::Flash(plan) => Some(&plan.board),
            Self::Erase(plan) => Some(&plan.board),
            Self::Send(plan) => Some(&plan.board),
            Self::Read(plan) => Some(&plan.board),
            Self::Nvs(plan) => Some(&plan.board),
        }
    }
}

impl Change {
    /// Whether it is done to a board that is not simulated.
    #[must_use]
    pub fn reaches_hardware(&self) -> bool {
        self.board().is_some_and(|board| !board.simulated)
    }

    /// What the screen and the policies call this kind of effect.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.change_kind().as_str()
    }

    #[must_use]
    pub const fn change_kind(&self) -> ChangeKind {
        match self {
            Self::Save { .. } => ChangeKind::Save,
            Self::Delete { .. } => ChangeKind::Delete,
            Self::Insert { .. } => ChangeKind::Insert,
            Self::Flash(_) => ChangeKind::Flash,
            Self::Erase(_) => ChangeKind::Erase,
            Self::Send(_) => ChangeKind::Send,
            Self::Read(_) => ChangeKind::Read,
            Self::Nvs(_) => ChangeKind::Nvs,
        }
    }

    /// What must be typed to approve any change of this kind; `None` where a key is enough. What is erased is
    /// gone, so no single key may start that, nor what erases settings to write them anew. What a
    /// flash asks for is among the findings.
    #[must_use]
    pub fn phrase(&self) -> Option<String> {
        let (verb, board, object, _) = self.danger()?;
        Some(format!("{verb} {} {object}", board.chip))
    }

    /// Why a phrase has to be typed, as a sentence; `None` where a key is enough.
    #[must_use]
    pub fn stake(&self) -> Option<&'static str> {
        self.danger().map(|(.., stake)| stake)
    }

    /// Of what no single key may start: (what is done, on which board, to what, why not).
    fn danger(&self) -> Option<(&'static str, &BoardInfo, String, &'static str)> {
        match self {
            // Of an earlier journal; what a flash touches is told by the findings.
            Self::Flash(plan) if plan.touches_boot == Some(true) => Some((
                "flash",
                &plan.board,
                "boot".to_owned(),
                "It writes what the board boots from. If it is broken, the board does not start.",
            )),
            Self::Erase(plan) => {
                Some(("erase", &plan.board, plan.name(), "Erased data cannot be restored."))
            }
            Self::Nvs(plan) => Some((
                "edit",
                &plan.board,
                plan.region.name(),
                "The partition is erased and written again with these changes.",
            )),
            Self::Save { .. }
            | Self::Delete { .. }
            | Self::Insert { .. }
            | Self::Flash(_)
            | Self::Send(_)
            | Self::Read(_) => None,
        }
    }

    /// Content before the change; `None` when there is none.
    #[must_use]
    pub const fn before(&self) -> Option<BlobRef> {
        match self {
            Self::Save { base, .. } => *base,
            Self::Delete { base, .. } | Self::Insert { base, .. } => Some(*base),
            Self::Flash(_) | Self::Erase(_) | Self::Send(_) | Self::Read(_) | Self::Nvs(_) => None,
        }
    }

    /// Content after the change; `None` when there is none, or only the board knows it.
    #[must_use]
    pub const fn after(&self) -> Option<BlobRef> {
        match self {
            Self::Save { content, .. } | Self::Insert { content, .. } => Some(*content),
            _ => None,
        }
    }

    /// The same change with another content; `None` when it writes none.
    #[must_use]
    pub fn with_content(&self, content: BlobRef) -> Option<Self> {
        let mut changed = self.clone();
        match &mut changed {
            Self::Save { content: old, .. } | Self::Insert { content: old, .. } => *old = content,
            _ => return None,
        }
        Some(changed)
    }

    /// What a decision is bound to: the hash of this change in its JSON form, which names path,
    /// base and content (or target and images) by their own hashes.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        // A `Change` holds only strings, numbers and plain maps, which always serialise.
        ContentHash::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// What came of a decided proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done and looks as approved.
    Applied,
    /// It was not done because it was not approved.
    Denied,
    /// It was not done because the file on disk was no longer the base; the hash found instead
    /// (`None`: no file).
    Stale {
        /// What the file holds now.
        found: Option<ContentHash>,
    },
    /// It was tried and did not work.
    Failed(UserError),
    /// The program ended between decision and effect; the text says what the disk holds now.
    Interrupted(String),
}
