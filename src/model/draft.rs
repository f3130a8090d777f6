//! What a tool hands to the gate, and what the gate hands back.

use super::board::{BoardInfo, ErasePlan, FlashPlan, ReadPlan, SendPlan};
use super::check::Check;
use super::decision::Decision;
use super::ids::ProposalId;
use super::nvs::NvsPlan;
use super::path::ProjectPath;
use super::proposal::Outcome;

/// A proposal in the making: contents are still bytes, numbers are not given yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub change: DraftChange,
    /// The agent's stated reason; may be empty.
    pub reason: String,
    /// Findings made so far.
    pub checks: Vec<Check>,
}

/// The effect of a [`Draft`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftChange {
    /// Writes a whole file; `base` is what it holds now.
    Save {
        path: ProjectPath,
        /// What it holds now; `None` if it does not exist.
        base: Option<Vec<u8>>,
        /// What it shall hold.
        content: Vec<u8>,
    },
    /// Removes a file.
    Delete {
        path: ProjectPath,
        /// What it holds now.
        base: Vec<u8>,
    },
    /// Writes an existing file with something inserted.
    Insert {
        path: ProjectPath,
        /// What it holds now.
        base: Vec<u8>,
        /// The whole merged file.
        content: Vec<u8>,
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

impl DraftChange {
    /// The file it touches; `None` for what is done to a board alone.
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

/// How one draft ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The number it was given.
    pub proposal: ProposalId,
    /// What was decided, and by whom.
    pub decision: Decision,
    /// What came of it.
    pub outcome: Outcome,
}
